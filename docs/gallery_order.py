"""The order of the gallery: what to begin with, then by title, then the experiments."""

from pathlib import Path

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

    def __call__(self, filename: str) -> tuple[bool, int, str]:
        """Return the place of a file."""
        place = FIRST.index(filename) if filename in FIRST else len(FIRST)
        return not filename.startswith("plot_"), place, filename


def untitled(folder: Path) -> list[str]:
    """Return names of scripts whose docstring does not begin with a title, which are no page.

    Parameters
    ----------
    folder : Path
        Folder of the examples.

    Returns
    -------
    names : list of str
        Names of files, in order.
    """
    titled = '"""\n'
    scripts = sorted(folder.glob("*.py"))
    return [path.name for path in scripts if not path.read_text("utf-8").startswith(titled)]
