"""What a newcomer writes for a net of skorch: an estimator, data and a time."""

import time

import pytest
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sksearch import SearchCV

torch = pytest.importorskip("torch")
skorch = pytest.importorskip("skorch")


def test_a_torch_net():
    X, y = load_iris(return_X_y=True)
    net = skorch.NeuralNetClassifier(
        torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.Softmax(dim=-1)),
        max_epochs=5,
        verbose=0,
        train_split=None,
    )
    X, model = X.astype("float32"), make_pipeline(StandardScaler(), net)
    begin = time.perf_counter()
    SearchCV(model, n_iter=2).fit(X, y)
    timeout = 1 + 2 * (time.perf_counter() - begin)  # a busy machine takes longer
    search = SearchCV(model, timeout=timeout).fit(X, y)
    assert search.best_score_ >= search.history_.trials[0].results[5].score
    assert len(search.history_.trials) >= 2
