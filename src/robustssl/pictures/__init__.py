"""What t does to rows, drawn."""
