"""The last tense of a fit: what was found, and the best candidate trained on all rows."""

from sksearch._finish._found import Found as Found
from sksearch._finish._refit import follow as follow
