"""
Which model? A table with gaps and text, and half a minute
==========================================================

No model, no search space and no preparation: a DataFrame, a target and a time limit. `SearchCV`
prepares the columns, tries linear models, trees, boosting, a net and a kernel model, tunes the
promising ones, and averages the best of what it has fitted.

Run it as a script, with ``--out quickstart.png`` to save the figure.
"""

import sys

from sklearn.model_selection import train_test_split

from sksearch import SearchCV
from sksearch.datasets import load

# %%
# The passengers of the Titanic: names, tickets and cabins are text, and a fifth of the ages is
# missing.

titanic = load("titanic")
X_train, X_test, y_train, y_test = train_test_split(
    titanic.data, titanic.target, random_state=0, stratify=titanic.target
)
print(X_train.head(3))

# %%
# The search.

search = SearchCV("auto", timeout=30, ensemble=True, random_state=0).fit(X_train, y_train)
print(search.leaderboard().to_string())
print(f"\nAccuracy on {len(y_test)} other passengers: {search.score(X_test, y_test):.3f}\n")

# %%
# The report lists how each column was prepared, how far the score can be trusted, and what to do
# next.

print(search.report())

# %%
# Each model with the 95 % confidence interval of its best candidate's score.

import matplotlib.pyplot as plt  # noqa: E402

board = search.leaderboard().dropna(subset="score")
fig, ax = plt.subplots(figsize=(6, 2.6), layout="constrained")
ax.hlines(board["model"], board["low"], board["high"], color="#d5dae0", linewidth=6)
ax.plot(board["score"], board["model"], "o", color="#174a73")
ax.invert_yaxis()
ax.set_xlabel("accuracy in cross-validation")
ax.spines[["top", "right", "left"]].set_visible(False)
ax.tick_params(axis="y", length=0)
if "--out" in sys.argv:
    fig.savefig(sys.argv[sys.argv.index("--out") + 1], dpi=150)
