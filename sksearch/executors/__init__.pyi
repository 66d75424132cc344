from sksearch._utils._clock import spend as spend
from sksearch.executors._limits import EngineLostError as EngineLostError
from sksearch.executors._virtual import VirtualClock as VirtualClock
from sksearch.executors.local._pool import end_idle_workers as end_idle_workers
from sksearch.executors.remote._futures import FuturesBackend as FuturesBackend
