"""Runs a search: tasks of jobs, results, fitted states, callbacks, early ends."""
