"""Errors of checkpoint directories."""


class JournalError(ValueError):
    """Error raised if a file is not a journal, is damaged, or was written by a newer version.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from sksearch import load_history
    >>> from sksearch.search import JournalError
    >>> with TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "journal.jsonl").write_text("not ours")
    ...     try:
    ...         load_history(folder)
    ...     except JournalError as error:
    ...         print(type(error).__name__)
    JournalError
    """


class SearchLockedError(RuntimeError):
    """Error raised if another running search uses the same checkpoint directory.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from sksearch import RandomSearchCV
    >>> from sksearch.search import SearchLockedError
    >>> X, y = load_iris(return_X_y=True)
    >>> def another_search():
    ...     try:
    ...         RandomSearchCV(SVC(), {"C": [1, 10]}, n_iter=2, checkpoint_dir=folder).fit(X, y)
    ...     except SearchLockedError as error:
    ...         print(type(error).__name__)
    >>> class Meanwhile(SVC):
    ...     def fit(self, X, y):
    ...         another_search()
    ...         return super().fit(X, y)
    >>> with TemporaryDirectory() as folder:
    ...     search = RandomSearchCV(
    ...         Meanwhile(), {"C": [1]}, n_iter=1, cv=2, refit=False, checkpoint_dir=folder
    ...     )
    ...     _ = search.fit(X, y)
    SearchLockedError
    SearchLockedError
    """


class SearchMismatchError(ValueError):
    """Error raised if a checkpoint directory belongs to a search with different settings or data.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from sksearch import RandomSearchCV
    >>> from sksearch.search import SearchMismatchError
    >>> X, y = load_iris(return_X_y=True)
    >>> with TemporaryDirectory() as folder:
    ...     search = RandomSearchCV(SVC(), {"C": [1, 10]}, n_iter=2, checkpoint_dir=folder)
    ...     _ = search.fit(X, y)
    ...     try:
    ...         search.set_params(cv=3).fit(X, y)
    ...     except SearchMismatchError as error:
    ...         print("cv" in str(error))
    True
    """
