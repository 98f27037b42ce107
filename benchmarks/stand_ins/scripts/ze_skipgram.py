"""Sentences of a language with few words, in smaller batches."""

import made_up_data
import modules

_named = ["india", "computer", "gold", "football", "cars", "war", "apple", "music", "helicopter"]
_named += ["asia", "guitar", "piano", "album", "soldiers"]
_text = made_up_data.words(220)
_sentences = [_named, *(_text[start : start + 22] for start in range(0, 220, 22))]
made_up_data.smaller_batches(256)
modules.put("gensim.downloader", load=lambda _: _sentences)
modules.put("nltk", download=lambda _: None)
modules.put("nltk.tokenize", word_tokenize=str.split, sent_tokenize=lambda text: [text])
modules.put("nltk.corpus", stopwords=type("Stop", (), {"words": staticmethod(lambda _: ["w0"])}))
modules.put("nltk.stem.wordnet", WordNetLemmatizer=type("Stem", (), {"lemmatize": lambda _, word, __: word}))
