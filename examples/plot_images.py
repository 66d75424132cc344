"""
Nets for images
===============

Pictures in, labels out: `ConvNetClassifier` is a convolutional net that scikit-learn takes for
any other classifier, and that a search trains epoch by epoch. Candidates that do badly after one
epoch get no more of them.

It needs PyTorch and skorch: ``pip install ".[neural]"`` in a checkout. Run it as a script, with
``--out images.png`` to save the figure.
"""

import sys

import numpy as np
from sklearn.model_selection import train_test_split

from sksearch import HyperbandSearchCV
from sksearch.datasets import load
from sksearch.neural import ConvNetClassifier

# %%
# The handwritten digits of scikit-learn, or MNIST where ``SKSEARCH_DATA`` names a folder with it.
# Images may be arrays of shape (n, height, width), with or without an axis for colours, or flat
# rows.

digits = load("mnist", n_samples=1_200)
X_train, X_test, y_train, y_test = train_test_split(
    digits.data, digits.target, test_size=200, stratify=digits.target, random_state=0
)
print(f"{len(X_train)} images of {X_train.shape[1]} pixels from {digits.source}")

# %%
# The space is an ordinary dict, to print and to edit. Here it is cut down to what two CPU cores
# can train in a minute.

MAX_EPOCHS = 9
space = ConvNetClassifier.space(horizon=MAX_EPOCHS) | {
    "n_filters": [4, 8],
    "n_blocks": [1],
    "batch_size": [16, 32],
    "cutout": [0],
}
for name, values in space.items():
    print(f"{name:<16} {values if isinstance(values, list) else type(values).__name__}")

# %%
# One third of the rows judges the candidates. On a GPU leave out ``device`` and ``n_jobs``.

search = HyperbandSearchCV(
    ConvNetClassifier(device="cpu", random_state=0),
    space,
    resource="epochs",
    max_resources=MAX_EPOCHS,
    cv=[train_test_split(np.arange(len(y_train)), test_size=1 / 3, random_state=0)],
    random_state=0,
    n_jobs=2,
).fit(X_train, y_train)

default = ConvNetClassifier(device="cpu", n_filters=8, max_epochs=MAX_EPOCHS, random_state=0)
scores = {
    "best of the search": search.score(X_test, y_test),
    "default": default.fit(X_train, y_train).score(X_test, y_test),
}
for name, score in scores.items():
    print(f"{name:<20} accuracy {score:.3f} on {len(y_test)} new images")
print(search.best_params_)

# %%
# Each line is a candidate: its score after one, three and nine epochs. Red is the best one. Some
# brackets begin with three or nine epochs, so some candidates have a single point there.

try:
    import matplotlib.pyplot as plt
except ImportError:
    plt = None

if plt is not None:
    results = search.cv_results_
    fig, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
    for trial in np.unique(results["trial_id"]):
        rows = results["trial_id"] == trial
        epochs, accuracy = results["n_resources"][rows], results["mean_test_score"][rows]
        order = np.argsort(epochs)
        best = trial == results["trial_id"][search.best_index_]
        style = (
            {"color": "#d1495b", "lw": 2, "zorder": 3} if best else {"color": "#9db4c8", "lw": 1}
        )
        ax.plot(epochs[order], accuracy[order], "o-", ms=4, **style)
    ax.set_xscale("log")
    ax.set_xticks([1, 3, 9], ["1", "3", "9"])
    ax.set_xticks([], minor=True)
    ax.set_xlabel("Epochs")
    ax.set_ylabel("Accuracy on the held-out third")
    ax.grid(axis="y", color="#e9edf1")
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    ax.set_title("Epochs go to the candidates that do well", loc="left", fontsize=11)
    if __name__ == "__main__" and "--out" in sys.argv[:-1]:
        fig.savefig(sys.argv[sys.argv.index("--out") + 1], dpi=150)
