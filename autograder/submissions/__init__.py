"""What a student hands in: read as data, recognised cell by cell, put back where it was changed."""
