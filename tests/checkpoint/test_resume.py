"""A search that ends before its time, and the same `fit` again."""

import os
import signal
import subprocess
import threading
import time
import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import uniform
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import KFold

import sksearch as sks
from sksearch.checkpoint._checkpoint import Checkpoint, read_journal
from sksearch.checkpoint._recorder import JournalRecorder
from sksearch.search import SearchLockedError, SearchMismatchError
from tests.interrupted import Big, Noisy, Other, Trouble, X, Y, scorer


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "checkpoint"


@pytest.fixture
def log(tmp_path):
    return tmp_path / "log"


SPACE = {"quality": uniform()}
EPOCHS = {"resource": "epochs", "max_resources": 9}
SEARCHES = {
    "hyperband": (sks.HyperbandSearchCV, EPOCHS),
    "rows": (sks.HyperbandSearchCV, {"resource": "n_samples", "min_resources": 2}),
    "folds": (sks.SuccessiveHalvingSearchCV, {"resource": "folds", "cv": 9}),
    "units": (sks.SuccessiveHalvingSearchCV, {"resource": "n_units", "min_resources": 1}),
    "halving": (sks.SuccessiveHalvingSearchCV, EPOCHS),
    "bohb": (sks.BOHBSearchCV, EPOCHS),
    "incremental": (sks.search.IncrementalEvaluationSearchCV, EPOCHS | {"budget": 40}),
    "asha": (sks.ASHASearchCV, EPOCHS | {"n_candidates": 12}),
    "random": (sks.RandomSearchCV, {"n_iter": 12}),
    "tpe": (sks.TPESearchCV, {"n_iter": 12}),
    "gp": (sks.GPBayesSearchCV, {"n_iter": 12}),
    **{
        method: (
            sks.search.EvolutionSearchCV,
            {"n_iter": 12, "population_size": 4, "method": method},
        )
        for method in ("cma-es", "de", "genetic", "pso")
    },
    "dehb": (sks.search.DEHBSearchCV, EPOCHS),
    "pbt": (sks.PBTSearchCV, EPOCHS | {"population_size": 6, "step": 2}),
    "fabolas": (sks.search.FabolasSearchCV, EPOCHS | {"n_iter": 12}),
}


def make(name="hyperband", folder=None, log=None, **kwargs):
    cls, defaults = SEARCHES[name]
    kwargs = {"cv": 2, "random_state": 0, "scoring": scorer, "refit": False} | defaults | kwargs
    log = None if log is None else str(log)
    return cls(Noisy(log=log), SPACE, checkpoint_dir=folder, **kwargs)


def lines(log):
    return log.read_text().splitlines() if log.exists() else []


def outcome(search):
    """Everything but times, as text: NaN does not equal itself."""
    return {
        name: repr(list(values))
        for name, values in search.cv_results_.items()
        if not name.endswith("_time")
    } | {"statuses": search.statuses_, "errors": search.errors_, "best": search.best_params_}


def files(folder):
    """All there is in a folder, by name."""
    return {str(f.relative_to(folder)): f.read_bytes() for f in folder.rglob("*") if f.is_file()}


def leftovers(folder):
    return [*(folder / "states").iterdir(), *(folder / "spool").iterdir()]


ENDS = {
    "Ctrl-C": (lambda: signal.raise_signal(signal.SIGINT), KeyboardInterrupt),
    "SIGTERM": (lambda: signal.raise_signal(signal.SIGTERM), SystemExit),
}


def fit_and_stop(search, after, end="Ctrl-C"):
    """Fit, and be stopped when so many scores have been computed in this process."""
    happens, error = ENDS[end]
    Trouble.after, Trouble.happens = after, happens
    with pytest.raises(error):
        search.fit(X, Y)
    assert search.interrupted_ or after < 2


# ---- it goes on


@pytest.mark.few(4)
@pytest.mark.parametrize("name", SEARCHES)
def test_a_search_that_was_interrupted_continues_as_if_it_were_not(name, folder, log, tmp_path):
    expected = make(name, log=tmp_path / "undisturbed").fit(X, Y)
    search = make(name, folder, log)
    for after in (7, 1, 4):
        fit_and_stop(search, after)
    assert outcome(search.fit(X, Y)) == outcome(expected)
    n_again = len(lines(log)) - len(lines(tmp_path / "undisturbed"))
    assert n_again <= 3 * 9  # one evaluation for each interrupt, of nine steps at most
    assert leftovers(folder) == []


@pytest.mark.parametrize("end", ENDS)
def test_whatever_ended_it(end, folder):
    search = make(folder=folder)
    fit_and_stop(search, 10, end)
    assert outcome(search.fit(X, Y)) == outcome(make().fit(X, Y))


def test_a_search_that_ran_out_of_time_continues(folder, log):
    search = make(folder=folder, log=log, timeout=1e-9).fit(X, Y)
    assert len(search.cv_results_["params"]) == 1
    assert outcome(search.set_params(timeout=None).fit(X, Y)) == outcome(make(log=log).fit(X, Y))


# Ctrl-C in the instant in which a state's file is opened leaves the file object to the garbage
# collector, which warns: Python has no way to open a file and to enter its context at once.
@pytest.mark.few(1)
@pytest.mark.slow
@pytest.mark.filterwarnings(
    "ignore::pytest.PytestUnraisableExceptionWarning", "ignore:unclosed file:ResourceWarning"
)
@pytest.mark.timeout(120)
@pytest.mark.parametrize(("before", "after"), [(2, 1), (1, 2), (2, 3)])
def test_the_number_of_workers_may_change(before, after, folder, log):
    search = make(folder=folder, log=log, n_jobs=before)

    def interrupt():
        while len(lines(log)) < 12:
            time.sleep(0.005)
        # This thread runs where the search waits for a file, often for one that is being opened.
        subprocess.run(["sh", "-c", f"sleep 0.01; kill -INT {os.getpid()}"], check=True)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        search.fit(X, Y)
    thread.join()
    assert outcome(search.set_params(n_jobs=after).fit(X, Y)) == outcome(make().fit(X, Y))
    assert leftovers(folder) == []


def test_an_asynchronous_search_repeats_the_history_that_it_had(folder):
    search = make("asha", folder)
    fit_and_stop(search, 20)
    header, events, _ = read_journal(folder)
    search.fit(X, Y)
    header_after, events_after, _ = read_journal(folder)
    assert header_after == header
    begun = [e for e in events if e["k"] != "stop"]
    assert [e for e in events_after if e["k"] != "stop"][: len(begun)] == begun
    for event in begun:
        if event["k"] == "tell":
            result = search.history_.trials[event["t"]].results[event["r"]]
            assert result.score == np.mean([out["test_scores"] for out in event["o"]])


@pytest.mark.parametrize("name", ["hyperband", "random", "tpe"])
def test_without_a_seed_it_continues_with_the_one_that_it_drew(name, folder):
    np.random.seed(5)
    expected = outcome(make(name, random_state=None).fit(X, Y))
    np.random.seed(5)
    search = make(name, folder, random_state=None)
    fit_and_stop(search, 9)
    np.random.seed(6)
    assert outcome(search.fit(X, Y)) == expected
    assert outcome(search.fit(X, Y)) == expected


@pytest.mark.parametrize("name", ["hyperband", "random"])
def test_a_generator_as_seed_is_the_one_that_it_was(name, folder):
    expected = outcome(make(name, random_state=np.random.RandomState(5)).fit(X, Y))
    search = make(name, folder, random_state=np.random.RandomState(5))
    fit_and_stop(search, 9)
    assert outcome(search.fit(X, Y)) == expected  # it has drawn its numbers
    search.set_params(random_state=np.random.RandomState(5))
    assert outcome(search.fit(X, Y)) == expected
    for seed in (6, np.random.RandomState(6)):
        with pytest.raises(SearchMismatchError, match="random_state differs"):
            search.set_params(random_state=seed).fit(X, Y)


@pytest.mark.parametrize("kind", ["the same generator", "a new one"])
@pytest.mark.parametrize("more", [0, 3])
@pytest.mark.parametrize(
    "cls", [sks.model_selection.RandomizedSearchCV, sks.RandomSearchCV, sks.SearchCV]
)
def test_a_generator_that_the_folds_share_is_the_one_that_it_was(cls, more, kind, folder):
    def of(rng, n_iter, folder=None):
        cv = KFold(2, shuffle=True, random_state=rng)
        options = {"cv": cv, "random_state": rng, "refit": False, "n_iter": n_iter}
        return cls(Noisy(), SPACE, scoring=scorer, checkpoint_dir=folder, **options)

    rng = np.random.RandomState(5)
    of(rng, 4, folder).fit(X, Y)
    first = of(np.random.RandomState(5), 4).fit(X, Y)
    again = rng if kind == "the same generator" else np.random.RandomState(5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the generator's own state in cv is not compared
        found = of(again, 4 + more, folder).fit(X, Y)
    assert len(found.history_.trials) == 4 + more
    assert found.cv_results_["params"][:4] == first.cv_results_["params"]
    scores = [s.cv_results_["split1_test_score"][:4] for s in (found, first)]
    np.testing.assert_array_equal(*scores)


@pytest.mark.parametrize("name", ["hyperband", "random"])
def test_who_leaves_the_seed_out_gets_the_one_of_the_checkpoint(name, folder):
    fit_and_stop(make(name, folder, random_state=3), 9)
    search = make(name, folder, random_state=None).fit(X, Y)
    assert outcome(search) == outcome(make(name, random_state=3).fit(X, Y))
    more = {"n_iterations": 2} if name == "hyperband" else {"n_iter": 15}
    for seed in (None, 3):
        search.set_params(random_state=seed, **more).fit(X, Y)


@pytest.mark.parametrize("kind", ["shuffled", "generator"])
def test_folds_that_cannot_be_made_again_are_kept(kind, folder):
    def cv():
        folds = KFold(3, shuffle=True)
        return folds if kind == "shuffled" else folds.split(X)

    search = make("random", folder, cv=cv())
    fit_and_stop(search, 9)
    search.set_params(cv=cv(), scoring=scorer).fit(X, Y)
    _, events, _ = read_journal(folder)
    sizes = [[out["n_test_samples"] for out in e["o"]] for e in events if e["k"] == "tell"]
    assert sizes == [[12, 12, 12]] * 12
    with Checkpoint(folder) as checkpoint:
        splits = checkpoint.load_splits()
    again = make("random", cv=splits).fit(X, Y)
    assert outcome(search) == outcome(again)


# ---- another search


OTHERS = {
    "estimator": lambda s: s.set_params(estimator__n_units=5),
    "estimator's class": lambda s: s.set_params(estimator=Other()),
    "space": lambda s: s.set_params(param_distributions={"quality": uniform(0, 2)}),
    "scoring": lambda s: s.set_params(scoring="accuracy"),
    "cv": lambda s: s.set_params(cv=3),
    "settings": lambda s: s.set_params(factor=2),
    "settings that shrink": lambda s: s.set_params(max_resources=3),
    "class": lambda s: make("asha", s.checkpoint_dir),
    "random_state": lambda s: s.set_params(random_state=1),
}


@pytest.mark.parametrize("what", OTHERS)
def test_the_checkpoint_of_another_search_is_left_as_it_is(what, folder):  # row 41
    search = make(folder=folder)
    fit_and_stop(search, 10)
    before = files(folder)
    part = what.split("'")[0].split()[0]
    with pytest.raises(SearchMismatchError, match=f"{part} differs"):
        OTHERS[what](search).fit(X, Y)
    assert {**files(folder), "lock": b""} == {**before, "lock": b""}


def test_a_directory_in_use_is_refused_to_a_larger_search_as_well(folder):  # row 40
    make("random", folder).fit(X, Y)
    with Checkpoint(folder), pytest.raises(SearchLockedError, match="in use"):
        make("random", folder, n_iter=20).fit(X, Y)
    assert len(make("random", folder, n_iter=20).fit(X, Y).cv_results_["params"]) == 20


# ---- it had finished


@pytest.mark.few(2)
@pytest.mark.parametrize("name", SEARCHES)
def test_a_finished_search_is_only_refitted(name, folder, log):  # row 46
    search = make(name, folder, log, refit=True).fit(X, Y)
    expected, n_lines, total = outcome(search), len(lines(log)), search.best_estimator_.total_
    search.fit(X, Y)
    assert outcome(search) == expected
    assert search.best_estimator_.total_ == total
    assert {line.split()[2] for line in lines(log)[n_lines:]} == {str(len(Y))}
    assert leftovers(folder) == []


def test_to_read_what_is_known_trains_nothing_but_the_best(folder, log):
    search = make("random", folder, log, n_iter=30).fit(X, Y)
    n_lines = len(lines(log))
    search.fit(X, Y)
    assert len(search.cv_results_["params"]) == 30
    assert len(lines(log)) == n_lines


# ---- more of the same

AGAIN = "ignore:The (larger search cannot reuse|fitted models of).*:UserWarning"
MORE = {
    "random": {"n_iter": 20},
    "tpe": {"n_iter": 20},
    "gp": {"n_iter": 20},
    "hyperband": {"max_resources": 27},
    "halving": {"max_resources": 27},
    "bohb": {"n_iterations": 2},
    "incremental": {"max_resources": 18},
}


def growing(name, folder=None, log=None, larger=True):
    """A search of seeded estimators: its scores do not depend on the numbers of trials."""
    extra = {"n_initial": 3} if name in ("tpe", "gp") else {}
    search = make(name, folder, log, **extra, **(MORE[name] if larger else {}))
    return search.set_params(estimator__random_state=0)


def evaluations(folder):
    """Params and resource of all that is in the journal; once for each header."""
    header, events, earlier = read_journal(folder)
    found, params = [], {}
    for event in (*earlier, header, *events):
        if event["k"] == "header":
            found, params = [*found, []], {}
        elif event["k"] == "ask":
            params.setdefault(event["t"], event["p"]["quality"] if event["p"] else None)
        elif event["k"] == "tell":
            found[-1].append((params[event["t"]], event["r"]))
    return [set(each) for each in found]


@pytest.mark.few(2)
@pytest.mark.filterwarnings(AGAIN)
@pytest.mark.slow
@pytest.mark.parametrize("name", MORE)
def test_a_larger_search_continues_from_a_smaller_one(name, folder, log, tmp_path):
    growing(name, folder, log, larger=False).fit(X, Y)
    search = growing(name, folder, log).fit(X, Y)
    assert outcome(search) == outcome(growing(name, log=tmp_path / "alone").fit(X, Y))
    smaller, larger = evaluations(folder)
    n_more = len(larger - smaller)
    assert n_more < len(larger)
    if name in ("random", "tpe", "gp", "bohb"):  # the others may train again what they dropped
        assert len(lines(log)) == len(lines(tmp_path / "alone"))
    assert leftovers(folder) == []


@pytest.mark.few(1)
@pytest.mark.filterwarnings(AGAIN)
@pytest.mark.slow
@pytest.mark.parametrize("name", MORE)
def test_it_may_be_interrupted_before_it_grows_and_while_it_does(name, folder, log, tmp_path):
    fit_and_stop(growing(name, folder, log, larger=False), 12)
    search = growing(name, folder, log)
    for after in (3, 3):
        fit_and_stop(search, after)
    search.fit(X, Y)
    assert outcome(search) == outcome(growing(name, log=tmp_path / "alone").fit(X, Y))
    if name in ("random", "tpe", "gp", "bohb"):
        assert len(lines(log)) - len(lines(tmp_path / "alone")) <= 3 * 9
    assert leftovers(folder) == []


def test_what_a_smaller_search_knows_survives_an_interrupt_while_it_is_taken_over(
    folder, log, monkeypatch
):
    growing("random", folder, log, larger=False).fit(X, Y)
    search = growing("random", folder, log)
    n_jobs = 0

    def record_four(recorder, *args):
        nonlocal n_jobs
        n_jobs += 1
        if n_jobs == 5:
            raise KeyboardInterrupt
        return original(recorder, *args)

    original = JournalRecorder.record_outputs
    monkeypatch.setattr(JournalRecorder, "record_outputs", record_four)
    with pytest.raises(KeyboardInterrupt):
        search.fit(X, Y)
    monkeypatch.undo()
    assert len(lines(log)) == 12 * 2
    assert outcome(search.fit(X, Y)) == outcome(growing("random").fit(X, Y))
    assert len(lines(log)) == 20 * 2


def test_a_search_may_grow_twice(folder, log):
    for n_iter in (5, 12, 20):
        search = growing("random", folder, log).set_params(n_iter=n_iter).fit(X, Y)
        assert len(lines(log)) == 2 * n_iter
    assert outcome(search) == outcome(growing("random").fit(X, Y))
    with pytest.raises(SearchMismatchError, match="n_iter was 20, now 12"):
        search.set_params(n_iter=12).fit(X, Y)


@pytest.mark.filterwarnings(AGAIN)
def test_an_asynchronous_search_may_have_more_candidates(folder, log):
    make("asha", folder, log).fit(X, Y)
    search = make("asha", folder, log, n_candidates=20).fit(X, Y)
    assert len(search.history_.trials) == 20
    assert leftovers(folder) == []


# ---- states that are not what they were


def remove(file, tmp_path):
    file.unlink()


def truncate(file, tmp_path):
    file.write_bytes(file.read_bytes()[:-10])


def flip(file, tmp_path):
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)


def lead_outside(file, tmp_path):
    outside = tmp_path / f"outside {file.name}"
    outside.write_bytes(b"cos\nsystem\n(S'exit 1'\ntR.")
    file.unlink()
    file.symlink_to(outside)


@pytest.mark.few(3)
@pytest.mark.parametrize("harm", [remove, truncate, flip, lead_outside])
@pytest.mark.parametrize("n_jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", ["hyperband", "units"])
def test_a_state_that_is_damaged_is_trained_again(harm, n_jobs, name, folder, tmp_path):  # row 43
    search = make(name, folder)
    fit_and_stop(search, 21)
    states = list((folder / "states").iterdir())
    assert states or name == "units"
    for file in states:
        harm(file, tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        search.set_params(n_jobs=n_jobs).fit(X, Y)
    assert outcome(search) == outcome(make(name).fit(X, Y))
    assert leftovers(folder) == []


def test_states_of_another_scikit_learn_are_trained_again(folder, monkeypatch):  # row 42
    search = make(folder=folder)
    fit_and_stop(search, 21)
    monkeypatch.setattr("sklearn.__version__", "99.0.0")
    with pytest.warns(UserWarning, match="was written with scikit-learn"):
        search.fit(X, Y)
    monkeypatch.undo()
    assert outcome(search) == outcome(make().fit(X, Y))


@pytest.mark.skipif(os.name == "nt", reason="limits of Unix")
@pytest.mark.parametrize("n_jobs", [1])
def test_a_disk_that_is_full_costs_time_only(n_jobs, folder):  # row 44
    import resource

    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    search = make(folder=folder, n_jobs=n_jobs).set_params(estimator=Big())
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, limit[1]))
    try:
        with pytest.warns(UserWarning, match="trained again from scratch"):
            search.fit(X, Y)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    assert outcome(search) == outcome(make().set_params(estimator=Big()).fit(X, Y))
    assert leftovers(folder) == []


def test_a_real_estimator_without_a_seed_continues_bit_by_bit(folder):
    def search(folder=None):
        return sks.HyperbandSearchCV(
            SGDClassifier(), {"alpha": uniform(1e-4, 1)}, cv=2, random_state=0, scoring=scorer,
            checkpoint_dir=folder, **EPOCHS,
        )  # fmt: skip

    stopped = search(folder)
    fit_and_stop(stopped, 21)
    for file in list((folder / "states").iterdir())[::2]:
        Path(file).unlink()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        stopped.fit(X, Y)
    expected = search().fit(X, Y)
    assert outcome(stopped) == outcome(expected)
    np.testing.assert_array_equal(stopped.best_estimator_.coef_, expected.best_estimator_.coef_)
