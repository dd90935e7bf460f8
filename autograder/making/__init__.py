"""What is made from a homework's source: notebooks, fingerprints and the students' version."""
