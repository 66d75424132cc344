"""sksearch: hyperparameter search for scikit-learn users, one import away from GridSearchCV."""

from sksearch._utils._on_demand import on_demand

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = on_demand(__name__)
