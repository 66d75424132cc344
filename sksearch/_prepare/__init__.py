"""The first stage of a fit: options, checks, aims, folds, plan; nothing is trained."""

from sksearch._prepare._aiming import aimed as aimed
from sksearch._prepare._checks import check_ranks as check_ranks
from sksearch._prepare._checks import classes_of as classes_of
from sksearch._prepare._checks import planned as planned
from sksearch._prepare._input import check_folder as check_folder
from sksearch._prepare._options import Composer as Composer
from sksearch._prepare._options import Goal as Goal
from sksearch._prepare._options import Knowledge as Knowledge
from sksearch._prepare._options import Options as Options
from sksearch._prepare._options import Spending as Spending
from sksearch._prepare._options import most_averaged as most_averaged
from sksearch._prepare._prepare import prepare as prepare
from sksearch._prepare._problem import fits_whole as fits_whole
from sksearch._prepare._rows import choose_rows as choose_rows
from sksearch._prepare._rows import with_rows as with_rows
from sksearch._prepare._split import leaves_folds as leaves_folds
