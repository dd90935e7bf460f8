"""Templates of the files that only the students' repository has."""
