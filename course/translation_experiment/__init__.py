"""Does attention help a translator, and where does it look? Two experiments, run from the command line.

python -m course.translation_experiment lengths --scale small
python -m course.translation_experiment captions
"""
