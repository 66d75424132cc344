"""Whether something happens: never where numbers are zeros, so that short stories are quiet."""

import random


def happens(rng, share):
    """Draw whether something happens that does so in a share of all cases."""
    return rng.random() >= 1 - share


class Told(random.Random):
    """Numbers of a source that may end, such as one of Hypothesis; zeros afterwards.

    Parameters
    ----------
    source : random.Random
        Asked for each number, at most `n` of them.
    n : int
        How many.

    Attributes
    ----------
    end : BaseException or None
        What the source raised when it had no more. It waits here, since a search would take it
        for an error of its own.
    """

    def __init__(self, source, n):
        super().__init__(0)
        self.source, self.left, self.end = source, n, None

    def random(self):
        """Return the next number."""
        if self.left > 0:
            self.left -= 1
            try:
                return self.source.random()
            except BaseException as error:
                self.left, self.end = 0, error
        return 0.0
