"""One submission judged, and a class of them.

plan        prepared once: the homework, its references, the limits
clerk       gives each submission to a judge, and writes down what comes back
pool        judges as forked processes, one per core
paper       one submission as plain data, and `mark`, the one way to a verdict
judge       puts each check to the student's process, by way of a stand-in for every name
"""
