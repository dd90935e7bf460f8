"""The instructor's tool: build, release, verify, grade untrusted submissions, report."""
