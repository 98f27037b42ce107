"""Words as pictures."""

import written_words

written_words.install()
