"""Acquisition functions, and their maximisation over mixed spaces."""

from sksearch.acquisition._criterion import Criterion as Criterion
from sksearch.acquisition._criterion import InteriorPrior as InteriorPrior
from sksearch.acquisition._criterion import Penalty as Penalty
from sksearch.acquisition._criterion import UserPrior as UserPrior
from sksearch.acquisition._criterion import beliefs as beliefs
from sksearch.acquisition._functions import UCB, Acquisition, LogEI, LogPI
from sksearch.acquisition._functions import Indifferent as Indifferent
from sksearch.acquisition._functions import log_h as log_h
from sksearch.acquisition._hypervolume import HypervolumeCriterion as HypervolumeCriterion
from sksearch.acquisition._hypervolume import PosteriorDraws as PosteriorDraws
from sksearch.acquisition._hypervolume import Strips as Strips
from sksearch.acquisition._knowledge_gradient import GainPerCost as GainPerCost
from sksearch.acquisition._maximise import SCALES as SCALES
from sksearch.acquisition._maximise import all_points as all_points
from sksearch.acquisition._maximise import candidates as candidates
from sksearch.acquisition._maximise import draw as draw
from sksearch.acquisition._maximise import enumerate_points as enumerate_points
from sksearch.acquisition._maximise import maximise as maximise
from sksearch.acquisition._maximise import perturb as perturb
from sksearch.acquisition._maximise import reflected as reflected

# Names written twice are for other packages of the house, not for users.
__all__ = ["UCB", "Acquisition", "LogEI", "LogPI"]
