from sksearch.simulators._estimator import SimulatedEstimator as SimulatedEstimator
from sksearch.simulators._families import FAMILIES as FAMILIES
from sksearch.simulators._functions import FUNCTIONS as FUNCTIONS, Branin as Branin
from sksearch.simulators._gamma import GammaCurves as GammaCurves
from sksearch.simulators._mnist import load_mnist_curves as load_mnist_curves
from sksearch.simulators._nearest import NearestCurves as NearestCurves
from sksearch.simulators._play import play as play
from sksearch.simulators._surrogate import SurrogateProblem as SurrogateProblem
from sksearch.simulators._tables import TabularProblem as TabularProblem
