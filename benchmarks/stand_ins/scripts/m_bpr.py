"""Ratings of users."""

import ratings

ratings.install()
