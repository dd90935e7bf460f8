"""Grading one submission, and a whole class.

plan        prepared once: the homework, its references, the limits
clerk       gives each submission to a judge, and writes the results
pool        judges as forked processes, one per core
paper       one submission as plain data, and `mark`, the one way to a verdict
judge       runs each check against the student's process, through a stand-in for every name
"""
