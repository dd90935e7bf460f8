"""What is made from a homework's source: notebooks, fingerprints, pages, and the students' version."""
