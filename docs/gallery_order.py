"""The order of the gallery: what to begin with, then by title."""

FIRST = ("plot_quickstart.py", "plot_drop_in.py", "plot_after_the_search.py", "plot_hyperband.py")


class FirstThingsFirst:
    """A key for sorting file names, made as sphinx-gallery makes its own.

    Parameters
    ----------
    src_dir : str
        Folder of the examples.
    """

    def __init__(self, src_dir: str):
        self.src_dir = src_dir

    def __call__(self, filename: str) -> tuple[int, str]:
        """Return the place of a file."""
        return FIRST.index(filename) if filename in FIRST else len(FIRST), filename
