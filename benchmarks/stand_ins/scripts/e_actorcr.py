"""Poles on carts."""

from played import old_games

old_games.install("CartPole-v1", 12)
