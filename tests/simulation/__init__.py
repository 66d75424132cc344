"""Searches on a simulated computer that dies, fills its disk and loses power, a million times.

The search is the real one, from `fit` down to the journal. Simulated are the disk (`disk.py`),
processes, signals and the clock (`computer.py`), and workers (`workers.py`). `searches.py` draws a
search, `stories.py` torments it until it has ended, and says what was promised and not kept.

    python -m tests.simulation --seeds 1000 [--from 0] [--workers 2]

Each seed is a story. A few of them are tests (`test_simulation.py`), where Hypothesis makes the
shortest one of a story that ends badly.
"""
