"""
Look at a search: what mattered, and where
==========================================

``search.show()`` draws four pictures on one sheet: the scores of all candidates, which parameters
made them differ, the score over each of these, and how well each rung ordered the candidates, or
the two most important parameters together. Each is a display of its own, too, and also takes
fitted searches of scikit-learn.

Run it as a script, with ``--out sheet.png`` to save the figure.
"""

import sys

from scipy.stats import loguniform, uniform
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import RandomizedSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from sksearch import RandomSearchCV, When
from sksearch.plotting import ContourDisplay, ImportanceDisplay, ParallelDisplay
from sksearch.stats import importance

# %%
# A support vector machine, whose ``gamma`` is a parameter of one kernel only.

X, y = load_breast_cancer(return_X_y=True)
pipe = make_pipeline(StandardScaler(), SVC())
space = {
    "svc__C": loguniform(1e-3, 1e3),
    "svc__kernel": ["linear", "rbf"],
    "svc__gamma": When(loguniform(1e-5, 10), "svc__kernel", "==", "rbf"),
    "svc__class_weight": [None, "balanced"],
}
search = RandomSearchCV(pipe, space, n_iter=80, cv=3, random_state=0).fit(X, y)
sheet = search.show()
if "--out" in sys.argv:
    sheet.figure_.savefig(sys.argv[sys.argv.index("--out") + 1], dpi=100)

# %%
# The shares of the variance as numbers, with intervals. The last line says how far they can be
# believed: a model of the scores predicts so much of candidates that it has not seen.

print(importance(search))

# %%
# The best tenth of the candidates are dark lines.

ParallelDisplay.from_search(search)

# %%
# A fitted search of scikit-learn is drawn in the same way.

known = {
    "svc__C": loguniform(1e-3, 1e3),
    "svc__gamma": loguniform(1e-5, 10),
    "svc__tol": uniform(1e-4, 1e-2),
}
other = RandomizedSearchCV(pipe, known, n_iter=40, cv=3, random_state=0).fit(X, y)
ImportanceDisplay.from_search(other)
ContourDisplay.from_search(other)
