"""What a student hands in: read as data, recognised cell by cell, restored where it was changed."""
