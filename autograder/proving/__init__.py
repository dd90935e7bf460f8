"""Test whether a homework's checks tell right from wrong, by trying right and wrong solutions."""
