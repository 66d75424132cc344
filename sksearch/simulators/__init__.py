"""Trainings that are imitated in microseconds, to test a search before a model is trained."""

from sksearch.simulators._estimator import SimulatedEstimator
from sksearch.simulators._families import FAMILIES, CurveFamily
from sksearch.simulators._functions import (
    Ackley,
    Branin,
    DropWave,
    EggHolder,
    Function,
    Hartmann3,
    Hartmann6,
    Levy,
    Rastrigin,
    Rosenbrock,
    SixHumpCamel,
    StyblinskiTang,
)
from sksearch.simulators._gamma import GammaCurves
from sksearch.simulators._gamma_process import gamma_curves, gamma_parameters
from sksearch.simulators._mnist import load_mnist_curves
from sksearch.simulators._nearest import ApproximationError, NearestCurves
from sksearch.simulators._play import play
from sksearch.simulators._problem import CurveProblem
from sksearch.simulators._surrogate import SurrogateProblem
from sksearch.simulators._tables import TabularProblem, load_task, task_names

__all__ = [
    "FAMILIES",
    "Ackley",
    "ApproximationError",
    "Branin",
    "CurveFamily",
    "CurveProblem",
    "DropWave",
    "EggHolder",
    "Function",
    "GammaCurves",
    "Hartmann3",
    "Hartmann6",
    "Levy",
    "NearestCurves",
    "Rastrigin",
    "Rosenbrock",
    "SimulatedEstimator",
    "SixHumpCamel",
    "StyblinskiTang",
    "SurrogateProblem",
    "TabularProblem",
    "gamma_curves",
    "gamma_parameters",
    "load_mnist_curves",
    "load_task",
    "play",
    "task_names",
]
