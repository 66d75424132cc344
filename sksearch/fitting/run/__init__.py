"""The run of a search: tasks, results, fitted states, callbacks and early stopping."""
