"""Pages of the site that are made from the homeworks and the course."""
