"""Whether a homework's checks tell right from wrong: right and wrong solutions tried."""
