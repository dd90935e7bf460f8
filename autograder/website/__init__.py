"""The website: pages generated from the homeworks and the course."""
