"""Nets, one a file: made of the shape of a row and the number of classes, they give logits.

`stacks = False` says that many are trained quicker one after the other than together.
"""
