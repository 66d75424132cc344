"""One fit: its preparation, its run, and its outcome.

`prepare` checks options and data and makes the plan, `run` evaluates candidates, and `finish`
chooses the winner and fits it on all rows.
"""

from sksearch._utils._on_demand import on_demand

__getattr__, __dir__, __all__ = on_demand(__name__)
