"""The first tense of a fit: options, checks, aims, folds, plan; nothing is trained."""

from sksearch.prepare._aiming import aimed as aimed
from sksearch.prepare._checks import check_ranks as check_ranks
from sksearch.prepare._checks import classes_of as classes_of
from sksearch.prepare._checks import planned as planned
from sksearch.prepare._input import check_folder as check_folder
from sksearch.prepare._options import Composer as Composer
from sksearch.prepare._options import Goal as Goal
from sksearch.prepare._options import Knowledge as Knowledge
from sksearch.prepare._options import Options as Options
from sksearch.prepare._options import Spending as Spending
from sksearch.prepare._prepare import prepare as prepare
from sksearch.prepare._problem import fits_whole as fits_whole
from sksearch.prepare._rows import choose_rows as choose_rows
from sksearch.prepare._rows import with_rows as with_rows
from sksearch.prepare._split import leaves_folds as leaves_folds
