"""The parts of taught: simple learners, a net that reads their answers, and its contexts."""
