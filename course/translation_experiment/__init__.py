"""Does attention help a translator, and does it find the alignment? Two experiments, run as commands.

python -m course.translation_experiment lengths --scale small
python -m course.translation_experiment captions
"""
