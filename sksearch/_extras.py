"""How to install what only some parts of the library need."""


def missing(what: str, extra: str) -> ImportError:
    """Return the error about a package that is not there.

    Parameters
    ----------
    what : str
        The need for a package, such as "to_mlflow needs MLflow".
    extra : str
        The extra of this library that has it.
    """
    # The package is on no index yet.
    return ImportError(
        f'{what}, which is not installed: pip install ".[{extra}]" in the folder of this checkout '
        "of sksearch."
    )
