from sksearch.simulators._estimator import SimulatedEstimator as SimulatedEstimator
from sksearch.simulators._families import FAMILIES as FAMILIES, CurveFamily as CurveFamily
from sksearch.simulators._functions import (
    Ackley as Ackley,
    Branin as Branin,
    DropWave as DropWave,
    EggHolder as EggHolder,
    Function as Function,
    Hartmann3 as Hartmann3,
    Hartmann6 as Hartmann6,
    Levy as Levy,
    Rastrigin as Rastrigin,
    Rosenbrock as Rosenbrock,
    SixHumpCamel as SixHumpCamel,
    StyblinskiTang as StyblinskiTang,
)
from sksearch.simulators._gamma import GammaCurves as GammaCurves
from sksearch.simulators._gamma_process import (
    gamma_curves as gamma_curves,
    gamma_parameters as gamma_parameters,
)
from sksearch.simulators._mnist import load_mnist_curves as load_mnist_curves
from sksearch.simulators._nearest import (
    ApproximationError as ApproximationError,
    NearestCurves as NearestCurves,
)
from sksearch.simulators._play import play as play
from sksearch.simulators._problem import CurveProblem as CurveProblem
from sksearch.simulators._surrogate import SurrogateProblem as SurrogateProblem
from sksearch.simulators._tables import (
    TabularProblem as TabularProblem,
    load_task as load_task,
    task_names as task_names,
)
