"""A small web application: students hand in and read their verdicts, instructors see who handed in what.

Two processes share a database of attempts. The web process knows neither solutions nor gradebook; it writes
attempts and reads verdicts that were rendered for it. The grader (`watching`) grades the attempts as
`autograder grade` would and renders the verdicts.
"""
