"""The rules of tpulint: one folder a category, one card a rule, Python beside a card where a table is not enough."""
