"""What is not collected where an extra is not installed."""

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("torch") and find_spec("skorch") else ["sksearch/neural/*"]
