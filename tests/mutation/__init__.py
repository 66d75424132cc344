"""What share of small faults in the code the tests would find: mutation testing.

    python -m tests.mutation sksearch/checkpoint --sample 300 --seed 0 --record FILE

One place at a time is broken (`mutants.py`) in a copy of the repository, and the tests that touch
it are run in a fork (`nursery.py`), the fast ones first (`touching.py`). A fault that no test
notices is printed: write the test, delete the needless code, or say in `equivalent.txt` why
nothing can tell.
"""
