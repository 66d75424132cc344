"""The three stages of ``fit``: preparation, run and results.

`prepare` checks options and data and makes the plan, `run` evaluates candidates, and `finish`
chooses the winner and fits it on all rows.
"""
