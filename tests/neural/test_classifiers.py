"""The classifiers of images: what they take, and that they are scikit-learn's estimators."""

import os
import pickle
import subprocess
import sys
import tracemalloc
import warnings
from contextlib import contextmanager

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import check_estimator

pytest.importorskip("torch")
pytest.importorskip("skorch")

import torch

from sksearch.neural import (
    BlockConvNetClassifier,
    ConvNetClassifier,
    LayeredConvNetClassifier,
    PixelLogisticClassifier,
)
from sksearch.neural._images import layout, scale_of

pytestmark = pytest.mark.timeout(120)


def quick(**params):
    return ConvNetClassifier(
        n_filters=4, n_stages=2, max_epochs=2, batch_size=50, device="cpu", random_state=0
    ).set_params(**params)


@pytest.mark.whole
def test_logistic_regression_passes_the_checks_of_scikit_learn():
    estimator = PixelLogisticClassifier(device="cpu", random_state=0, learning_rate=0.1)
    # Weighted and repeated rows fall into other batches.
    other_batches = {"check_sample_weight_equivalence_on_dense_data": "other batches"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(
            estimator, expected_failed_checks=other_batches, on_fail=None, on_skip=None
        )
    failed = [(r["check_name"], str(r["exception"])) for r in results if r["status"] == "failed"]
    assert failed == []
    assert sum(r["status"] == "passed" for r in results) > 40


def test_each_family_is_cloned_with_its_params_and_learns(make, images):
    X, y = images
    net = clone(make(max_epochs=4))
    assert net.get_params() == make(max_epochs=4).get_params()
    assert net.set_params(batch_size=10).fit(X, y).score(X, y) > 0.9
    assert set(net.predict(X)) == {"top", "bottom"}


def test_each_family_is_cloned_with_strange_params_before_it_says_no(make, images):
    net = make(learning_rate=-1.0)
    with pytest.raises(ValueError, match="learning_rate"):
        clone(net).fit(*images)


def layouts(X):
    colour = np.repeat(X[..., None], 3, axis=3)
    return {
        "gray": (X, None),
        "gray floats": (X.astype(float), None),
        "gray integers": (X.astype(np.int64), None),
        "gray flat": (X.reshape(len(X), -1), None),
        "gray of one channel": (X[..., None], None),
        "colours last": (colour, None),
        "colours first": (colour.transpose(0, 3, 1, 2), None),
        "colours last flat": (colour.reshape(len(X), -1), (8, 8, 3)),
        "colours first flat": (colour.transpose(0, 3, 1, 2).reshape(len(X), -1), (3, 8, 8)),
    }


@pytest.mark.parametrize("name", layouts(np.zeros((1, 8, 8))))
def test_images_come_in_any_layout(name, images):
    X, image_shape = layouts(images[0])[name]
    net = quick(image_shape=image_shape).fit(X, images[1])
    like = name.replace(" flat", "").replace("first", "last")
    same = "gray" if name.startswith("gray") else like
    expected = quick().fit(layouts(images[0])[same][0], images[1]).predict_proba
    np.testing.assert_allclose(
        net.predict_proba(X), expected(layouts(images[0])[same][0]), rtol=1e-3, atol=1e-4
    )


def test_read_only_arrays_and_files_are_taken_as_they_are(images, tmp_path):
    np.save(tmp_path / "X.npy", images[0])
    X = np.load(tmp_path / "X.npy", mmap_mode="r")
    assert quick().fit(X, images[1]).score(X, images[1]) > 0.5


def test_images_may_be_higher_than_wide():
    X = np.random.default_rng(0).integers(256, size=(60, 12, 6), dtype=np.uint8)
    assert quick().fit(X, np.arange(60) % 3).predict_proba(X).shape == (60, 3)


def test_rows_that_are_no_square_need_a_shape():
    with pytest.raises(ValueError, match="set image_shape to"):
        quick().fit(np.zeros((10, 12)), np.arange(10) % 2)
    with pytest.raises(ValueError, match="correct image_shape"):
        quick(image_shape=(3, 5)).fit(np.zeros((10, 12)), np.arange(10) % 2)


def test_other_images_than_those_of_the_training_are_refused(images):
    net = quick().fit(*images)
    with pytest.raises(ValueError, match="same layout"):
        net.predict(np.zeros((3, 8, 9), dtype=np.uint8))


@pytest.mark.parametrize(
    "labels", [np.array([3, -7]), np.array([True, False]), np.array([2.0, 5.0]), ["b", "a"]]
)
def test_labels_are_of_any_type(labels, images):
    y = np.asarray(labels)[(images[1] == "top").astype(int)]
    net = quick(max_epochs=1).fit(images[0], y)
    assert net.classes_.tolist() == sorted(labels)
    assert net.predict(images[0]).dtype == y.dtype


def test_a_label_that_was_not_announced_is_refused(images):
    X, y = images
    net = quick().partial_fit(X, y)
    with pytest.raises(ValueError, match="pass all labels as classes"):
        net.partial_fit(X, np.where(y == "top", "left", y))


def test_labels_of_other_rows_can_be_announced(images):
    net = quick().partial_fit(*images, classes=["left", "top", "bottom"])
    assert net.predict_proba(images[0]).shape == (200, 3)


def test_it_is_the_last_step_of_a_pipeline(images):
    pipeline = make_pipeline(FunctionTransformer(lambda X: 255 - X), quick(batch_size=10))
    assert cross_val_score(pipeline, *images, cv=2).mean() > 0.9


def test_weights_of_zero_are_rows_that_teach_nothing(images):
    X, y = images
    wrong = np.arange(200) % 4 == 0
    y = np.where(wrong, "wrong", y)
    plain = quick(max_epochs=4).fit(X, y)
    weighted = quick(max_epochs=4).fit(X, y, sample_weight=1.0 - wrong)
    taught = weighted.predict_proba(X)[:, 2].mean()
    assert taught < 0.5 * plain.predict_proba(X)[:, 2].mean()


def test_weights_of_classes_are_weights_of_their_rows(images):
    X, y = images
    by_class = quick(class_weight={"top": 3.0}).fit(X, y)
    by_row = quick().fit(X, y, sample_weight=np.where(y == "top", 3.0, 1.0))
    assert np.array_equal(by_class.predict_proba(X), by_row.predict_proba(X))
    rare = np.r_[np.flatnonzero(y == "top"), np.flatnonzero(y == "bottom")[:10]]
    counts = {"top": np.sum(y == "top"), "bottom": 10}
    weights = {name: len(rare) / 2 / count for name, count in counts.items()}
    balanced = quick(class_weight="balanced").fit(X[rare], y[rare])
    by_hand = quick(class_weight=weights).fit(X[rare], y[rare])
    assert np.array_equal(balanced.predict_proba(X), by_hand.predict_proba(X))


def test_training_neither_uses_nor_changes_global_generators(images):
    torch.manual_seed(1)
    np.random.seed(1)
    before = torch.get_rng_state(), np.random.get_state()[1].copy()
    first = quick(dropout=0.3, flip=True, shift=1).fit(*images)
    assert torch.equal(torch.get_rng_state(), before[0])
    assert np.array_equal(np.random.get_state()[1], before[1])
    torch.manual_seed(2)
    second = quick(dropout=0.3, flip=True, shift=1).fit(*images)
    assert np.array_equal(first.predict_proba(images[0]), second.predict_proba(images[0]))


def test_the_count_of_threads_is_given_back(images):
    before = torch.get_num_threads()
    quick(n_jobs=2).fit(*images)
    assert torch.get_num_threads() == before


@contextmanager
def default(get, set_, value):
    """Set one of PyTorch's defaults for a while."""
    before = get()
    set_(value)
    try:
        yield
    finally:
        assert get() == value, "as the user has set it"
        set_(before)


DTYPE = torch.get_default_dtype, torch.set_default_dtype
EXACT = torch.are_deterministic_algorithms_enabled, torch.use_deterministic_algorithms


@pytest.mark.parametrize(
    "setting",
    [
        lambda: default(*DTYPE, torch.float64), lambda: default(*DTYPE, torch.bfloat16),
        lambda: default(*EXACT, True), lambda: torch.device("meta"), torch.no_grad,
        torch.inference_mode, lambda: torch.autocast("cpu", dtype=torch.bfloat16),
        lambda: np.errstate(all="raise"),
    ],
)  # fmt: skip
def test_what_a_user_has_set_for_pytorch_is_not_for_our_nets(setting, images):
    X, y = images[0][:50], images[1][:50]
    expected = quick(dropout=0.2, ema_decay=0.9).fit(X, y).predict_proba(X)
    with setting():
        net = quick(dropout=0.2, ema_decay=0.9).fit(X, y)
        found = net.predict_proba(X)
    assert found.dtype == np.float32
    assert np.array_equal(found, expected)
    assert np.array_equal(net.predict_proba(X), expected)


def test_training_stops_early_and_keeps_the_best_epoch(images):
    X, y = images
    y = np.random.default_rng(0).permutation(y)  # there is nothing to be learnt but by heart
    net = quick(early_stopping=True, max_epochs=60, learning_rate=0.3, validation_fraction=0.3)
    net.fit(X, y)
    losses = net.net_.history[:, "valid_loss"]
    assert net.n_epochs_ == len(losses) == np.argmin(losses) + 1 + net.patience < 60


def test_early_stopping_is_refused_where_training_continues(images):
    with pytest.raises(ValueError, match="needs fit"):
        quick(early_stopping=True).partial_fit(*images)


def test_an_architecture_that_leaves_no_pixel_is_reported():
    X, y = load_digits(return_X_y=True)  # 8 x 8 pixels
    with pytest.raises(
        ValueError, match=r"too small for this architecture: .* 8 x 8 pixels are only 1 x 1 before"
    ):
        BlockConvNetClassifier(n_blocks=4, device="cpu").fit(X, y)
    nets = LayeredConvNetClassifier(n_layers=5, device="cpu")
    with pytest.raises(ValueError, match="too small for this architecture"):
        nets.fit(X, y)


def test_full_memory_is_a_memory_error(images):
    net = BlockConvNetClassifier(n_blocks=1, head=(10**9, 10**5), device="cpu")
    with pytest.raises(MemoryError):
        net.fit(*images)


def test_a_training_that_diverges_is_reported(images):
    net = PixelLogisticClassifier(learning_rate=1e38, device="cpu", max_epochs=3, random_state=0)
    with pytest.raises(FloatingPointError, match="training diverged with learning_rate=1e"):
        net.fit(*images)


def test_the_precision_of_a_gpu_is_available_on_the_cpu(images):
    assert quick(precision="bf16", batch_size=10).fit(*images).score(*images) > 0.9
    with pytest.raises(ValueError, match="needs a GPU"):
        quick(precision="fp16").fit(*images)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_gpu_that_is_not_there_is_named(images):
    with pytest.raises(ValueError, match="none was found"):
        quick(device="cuda").fit(*images)


def test_a_fitted_net_is_pickled_with_its_predictions(make, images):
    net = make().fit(*images)
    copy = pickle.loads(pickle.dumps(net))
    assert np.array_equal(copy.predict_proba(images[0]), net.predict_proba(images[0]))
    assert copy.net_.history[-1]["train_loss"] > 0


# ---- what is refused before training, and what would harm the machine


@pytest.mark.parametrize(
    ("params", "weight", "match"),
    [
        ({"class_weight": {"topp": 2.0}}, None, r"labels \['topp'\], but the classes are"),
        ({"class_weight": {"top": -1.0}}, None, r"class_weight\['top'\]=-1.0 must be a finite"),
        ({"class_weight": {"top": np.nan}}, None, r"class_weight\['top'\]=nan must be a finite"),
        ({}, -1.0, "negative weight -1: pass weights of at least 0"),
        ({"n_stages": 8}, None, "images of 8 x 8.*set n_stages to at most 4"),
    ],
)
def test_weights_and_depths_that_make_no_sense_are_refused(params, weight, match, images):
    X, y = images
    weights = None if weight is None else np.where(np.arange(len(y)) == 3, weight, 1.0)
    with pytest.raises(ValueError, match=match):
        quick(**params).fit(X, y, sample_weight=weights)


@pytest.mark.parametrize("side", [1, 2, 3, 5, 8, 9])
def test_as_many_stages_as_there_are_halves_are_taken(side):
    X, y = np.random.default_rng(0).random((20, side, side)), np.arange(20) % 2
    most = {1: 1, 2: 2, 3: 3, 5: 4, 8: 4, 9: 5}[side]
    assert quick(n_stages=most, n_filters=2).fit(X, y).predict(X).shape == (20,)
    with pytest.raises(ValueError, match=f"set n_stages to at most {most}"):
        quick(n_stages=most + 1).fit(X, y)


def test_a_class_with_one_member_is_named_under_early_stopping(images):
    X, y = images
    y = np.where(np.arange(len(y)) == 5, "lonely", y)
    with pytest.raises(ValueError, match=r"(?s)early_stopping=True holds out .*smallest.* has 1 "):
        quick(early_stopping=True).fit(X, y)


@pytest.mark.parametrize(
    ("one", "channels_last"),
    [
        ((64, 8, 8), False),
        ((8, 8, 64), True),
        ((3, 32, 32), False),
        ((32, 32, 3), True),
        ((1, 28, 28), False),
        ((3, 40, 30), False),
        ((40, 30, 3), True),
        ((8, 8, 8), True),
    ],
)
def test_square_images_tell_where_the_channels_are(one, channels_last):
    assert layout((10, *one), None) == (one, channels_last)


@pytest.mark.parametrize("channels_last", [True, False])
@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_scales_match_numpy_without_a_copy_of_the_images(channels_last, dtype):
    rng = np.random.default_rng(0)
    X = (rng.random((600, 64, 64, 3)) * [50, 100, 250]).astype(dtype)
    X = X if channels_last else np.ascontiguousarray(X.transpose(0, 3, 1, 2))
    axes = (0, 1, 2) if channels_last else (0, 2, 3)
    tracemalloc.start()
    mean, deviation = scale_of(X, channels_last)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    np.testing.assert_allclose(mean, X.mean(axis=axes, dtype=np.float64), rtol=1e-12)
    np.testing.assert_allclose(deviation, X.std(axis=axes, dtype=np.float64), rtol=1e-9)
    assert peak < 0.5 * 8 * X.size  # of a copy in float64


HEAP = """
import numpy as np
from sksearch.neural import ConvNetClassifier
X, y = np.random.default_rng(0).integers(255, size=(60, 8, 8)).astype(np.uint8), np.arange(60) % 2
for n_filters in range(3, 16):
    ConvNetClassifier(
        n_filters=n_filters, n_stages=2, max_epochs=2, batch_size=50, device="cpu", random_state=0
    ).fit(X, y).predict(X)
print("whole")
"""


@pytest.mark.few(1)
@pytest.mark.slow
@pytest.mark.parametrize("isa", ["AVX2", "AVX512_CORE"])
def test_nets_of_few_filters_leave_the_heap_whole(isa):
    env = os.environ | {"ONEDNN_MAX_CPU_ISA": isa, "MALLOC_CHECK_": "3"}
    done = subprocess.run([sys.executable, "-c", HEAP], env=env, capture_output=True, text=True)
    assert done.stdout == "whole\n", done.stderr[-2000:]
