"""The porting report: how much of a code base ports, how, and where its step loops are."""
