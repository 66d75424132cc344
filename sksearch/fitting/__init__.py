"""One fit: its preparation, its run, and its outcome.

`prepare` checks options and data and makes the plan, `run` evaluates candidates, and `finish`
chooses the winner and fits it on all rows.
"""
