"""Interfaces of samplers, schedulers and resources, and the decisions that they return.

A sampler chooses parameters, a scheduler chooses the next trial and its resource, and a resource
defines one unit of effort. They do not depend on each other's classes.
"""

from sksearch.base._decisions import Job, Plan, Resume, Rung, Start
from sksearch.base._declarations import Reads, Told
from sksearch.base._protocols import Sampler, Scheduler
from sksearch.base._resource import Resource
from sksearch.base._state import State

__all__ = [
    "Plan",
    "Reads",
    "Resource",
    "Resume",
    "Rung",
    "Sampler",
    "Scheduler",
    "Start",
    "Told",
]

# They are imported from here, so signatures and pickles use this name.
for _cls in (Job, Plan, Reads, Resource, Resume, Rung, Sampler, Scheduler, Start, State, Told):
    _cls.__module__ = __name__
