"""Nets, one per file. A net is made from the shape of a row and the number of classes, and returns
logits.

`stacks = False` says that training several one after the other is faster than training them
together.
"""
