"""`minimize` with workers, journals and earlier results."""

import math
import os
import signal
import subprocess
import sys
import threading
import time
from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy.stats import uniform
from sklearn.dummy import DummyClassifier

from sksearch import Bound, RandomSearchCV, When, load_history, minimize
from sksearch.samplers import (
    QuasiRandomSampler,
    RandomSampler,
    TPESampler,
)
from sksearch.schedulers import ASHA, Hyperband
from sksearch.search import SearchMismatchError, earlier_results
from sksearch.watch import page
from tests import scripts
from tests.losses import SPACE, bowl, curve, measured, trials, two


def noted(log, func, *args):
    """Call a function, and note it in a file."""
    with open(log, "a") as file:
        file.write("called\n")
    return func(*args)


def count(log):
    return len(log.read_text().splitlines()) if log.exists() else 0


# ---- workers


@pytest.mark.few(1)
@pytest.mark.slow
@pytest.mark.parametrize(
    ("func", "kwargs"),
    [
        (bowl, {"sampler": RandomSampler()}),
        (bowl, {}),
        (bowl, {"sampler": TPESampler()}),
        (measured, {"known": {"constraints": Bound("memory", "<=", 0.5)}}),
        (curve, {"scheduler": Hyperband(), "max_resources": 9}),
    ],
    ids=["random", "gp", "tpe", "bound", "hyperband"],
)
def test_the_count_of_workers_changes_nothing(func, kwargs):
    one, two, three = (
        minimize(
            func, SPACE, n_iter=12, workers={"batch_size": 2}, n_jobs=n, random_state=0, **kwargs
        )
        for n in (None, 2, 3)
    )
    assert trials(one) == trials(two) == trials(three)
    assert (one.x, one.fun) == (two.x, two.fun) == (three.x, three.fun)


@pytest.mark.whole
@pytest.mark.slow
def test_functions_that_only_this_process_knows_travel_to_workers():
    shift = 0.25
    found = minimize(
        lambda params: abs(params["x"] - shift) + 0 * os.getpid(),
        SPACE, sampler=RandomSampler(), n_iter=6, n_jobs=2, random_state=0,
    )  # fmt: skip
    assert found.fun == abs(found.x["x"] - shift)
    script = (
        "from scipy.stats import uniform; from sksearch import minimize\n"
        "shift = 0.25\n"
        "def func(params): return abs(params['x'] - shift)\n"
        "print(minimize(func, {'x': uniform(0, 1)}, n_iter=4, n_jobs=2, random_state=0).nfev)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout.strip() == "4", done.stderr


@pytest.mark.slow
def test_workers_work_at_the_same_time():
    def slow(params):
        time.sleep(0.3)
        return bowl(params)

    found = minimize(slow, SPACE, n_iter=8, n_jobs=2, random_state=0)
    spans = [t.results[1].spans[0] for t in found.history.trials]
    assert len({span.worker for span in spans}) == 2
    assert any(a.began < b.began < a.ended for a in spans for b in spans)


def troublesome(params):
    x = params["x"]
    if x > 0.75:
        os._exit(3)
    if x > 0.5:
        time.sleep(600)
    if x > 0.25:
        raise SystemExit(2)
    if x > 0.0:
        return None
    if x > -0.25:
        return "0.5"
    return math.inf if x > -0.5 else bowl(params)


@pytest.mark.whole
@pytest.mark.slow
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_whatever_a_call_does_costs_only_itself(n_jobs):
    guesses = [{"x": x, "y": 0.0} for x in (0.8, 0.6, 0.3, 0.1, -0.1, -0.4, -0.9)]
    with pytest.warns(UserWarning, match="6 of 7 evaluations failed"):
        found = minimize(
            troublesome, SPACE, known={"params": guesses}, n_iter=7, workers={"timeout": 1},
            n_jobs=n_jobs, random_state=0,
        )  # fmt: skip
    results = [t.results[1] for t in found.history.trials]
    assert [r.status for r in results] == [
        "crash", "timeout", "error", "error", "error", "nan", "ok",
    ]  # fmt: skip
    assert "None" in results[3].error
    assert "'0.5'" in results[4].error
    assert found.x == guesses[-1]


@pytest.mark.slow
def test_errors_of_workers_are_told_where_all_fail():
    with pytest.raises(
        RuntimeError, match=r"All 2 evaluations failed.*ZeroDivisionError"
    ) as caught:
        minimize(lambda params: 1 / 0, SPACE, n_iter=2, n_jobs=2, random_state=0)
    assert "1 / 0" in caught.value.__notes__[0]


@pytest.mark.slow
def test_what_cannot_travel_is_named():
    lock = threading.Lock()
    with pytest.raises(TypeError, match=r"func cannot be sent to worker processes.*lock"):
        minimize(lambda params: lock.locked(), SPACE, n_iter=2, n_jobs=2)
    search = RandomSearchCV(DummyClassifier(), {"strategy": ["prior", "uniform"]}, n_iter=2)
    search.set_params(scoring=lambda model, X, y: lock.locked(), n_jobs=2, cv=2)
    with pytest.raises(TypeError, match=r"the search cannot be sent to worker processes.*lock"):
        search.fit([[0.0]] * 8, [0, 1] * 4)


# ---- journals


@pytest.mark.few(3)
@pytest.mark.parametrize(
    ("func", "kwargs"),
    [
        (bowl, {}),
        (bowl, {"sampler": TPESampler()}),
        (
            measured,
            {"known": {"constraints": [Bound("memory", "<=", 0.4), lambda p: p["y"] < 0.5]}},
        ),
        (two, {"objectives": ["a", "b"]}),
        (curve, {"scheduler": Hyperband(), "max_resources": 9}),
        (curve, {"scheduler": ASHA(9), "max_resources": 9}),
    ],
    ids=["gp", "tpe", "constraints", "objectives", "hyperband", "asha"],
)
def test_a_search_that_was_ended_continues_and_calls_nothing_twice(tmp_path, func, kwargs):
    log = tmp_path / "log"
    args = {"n_iter": 10, "random_state": 0} | kwargs
    whole = minimize(func, SPACE, **args)
    args["checkpoint_dir"] = tmp_path / "run"
    for n in (2, 5):
        part = minimize(
            partial(noted, log, func), SPACE, **args,
            callback=lambda history, n=n: len(history.log) >= 2 * n,
        )  # fmt: skip
        assert part.message == "The callback stopped the search."
    again = minimize(partial(noted, log, func), SPACE, **args)
    assert trials(again) == trials(whole)
    assert (again.x, again.fun) == (whole.x, whole.fun)
    assert count(log) == whole.nfev
    minimize(partial(noted, log, func), SPACE, **args)
    assert count(log) == whole.nfev


KILLED = """
import os, signal, sys, time, warnings
from scipy.stats import uniform
from sksearch import minimize
warnings.simplefilter("ignore")
os.environ["MASTER"] = str(os.getpid())

def func(params):
    log = os.environ["LOG"]
    with open(log, "a") as file:
        file.write("called\\n")
    if sum(1 for _ in open(log)) in (4, 9):
        os.kill(int(os.environ["MASTER"]), signal.SIGKILL)
        time.sleep(600)
    if params["x"] > 0.6:
        raise ValueError("too far")
    return (params["x"] - 0.3) ** 2

found = minimize(
    func, {"x": uniform(-1, 2)}, n_iter=12, random_state=0, workers={"batch_size": 2},
    checkpoint_dir=os.environ["FOLDER"], n_jobs=int(os.environ["WORKERS"]),
)
print(found.x, found.fun, [
    (t.params, t.results[1].score, t.results[1].status) for t in found.history.trials
])
"""


@pytest.mark.whole
@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="signals of Unix")
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_after_a_kill_it_ends_with_the_same_bits(tmp_path, n_jobs):
    def run(name):
        log = tmp_path / f"{name}.log"
        if name == "whole":
            log.write_text("called\n" * 20)
        env = {"LOG": str(log), "FOLDER": str(tmp_path / name), "WORKERS": str(n_jobs)}
        return scripts.run(["-c", KILLED], env=os.environ | env)

    ends = [run("killed") for _ in range(3)]
    assert [end.returncode for end in ends] == [-signal.SIGKILL, -signal.SIGKILL, 0], ends[
        -1
    ].stderr
    assert ends[-1].stdout == run("whole").stdout
    # What ran when it was killed is called again, and nothing else.
    assert 12 + 2 <= count(tmp_path / "killed.log") <= 12 + 2 * n_jobs


def test_a_larger_count_takes_over_what_it_has_in_common(tmp_path):
    log, args = tmp_path / "log", {"sampler": TPESampler(n_initial=5), "random_state": 0}
    func = partial(noted, log, bowl)
    minimize(func, SPACE, n_iter=8, checkpoint_dir=tmp_path / "run", **args)
    larger = minimize(func, SPACE, n_iter=12, checkpoint_dir=tmp_path / "run", **args)
    assert count(log) == 12
    assert trials(larger) == trials(minimize(bowl, SPACE, n_iter=12, **args))
    with pytest.raises(SearchMismatchError, match="n_iter was 12, now 8"):
        minimize(func, SPACE, n_iter=8, checkpoint_dir=tmp_path / "run", **args)


def other_bowl(params):
    return (params["x"] - 0.3) ** 2 + (params["y"] + 0.1) ** 2


def shifted(shift):
    return lambda params: (params["x"] - shift) ** 2


@pytest.mark.parametrize(
    ("func", "changes", "said"),
    [
        (bowl, {"func": other_bowl}, "func differs"),
        (shifted(0.1), {"func": shifted(0.2)}, "func differs"),
        (partial(noted, "log", bowl), {"func": partial(noted, "log", other_bowl)}, "func differs"),
        (bowl, {"space": {"x": uniform(-1, 2), "y": uniform(-1, 3)}}, "space differs: y"),
        (bowl, {"random_state": 1}, "random_state differs"),
        (bowl, {"sampler": TPESampler()}, "settings differs: sampler"),
        (bowl, {"known": {"constraints": lambda params: True}}, r'constraints"\] was None'),
        (bowl, {"workers": {"batch_size": 2}}, "batch_size"),
    ],
)
def test_another_search_is_refused_and_what_differs_is_named(
    tmp_path, monkeypatch, func, changes, said
):
    monkeypatch.chdir(tmp_path)
    args = {"func": func, "space": SPACE, "n_iter": 3, "random_state": 0, "checkpoint_dir": "run"}
    minimize(**args)
    with pytest.raises(SearchMismatchError, match=said) as caught:
        minimize(**(args | changes))
    assert "Compared: class, settings, func, space, code, globals, random_state." in str(
        caught.value
    )


def test_what_only_ends_a_search_may_change(tmp_path):
    args = {"n_iter": 6, "random_state": 0, "checkpoint_dir": tmp_path}
    first = minimize(bowl, SPACE, **args)
    for changes in (
        {"timeout": 100},
        {"target": -1},
        {"workers": {"timeout": 9}},
        {"callback": id},
    ):
        assert trials(minimize(bowl, SPACE, **args, **changes)) == trials(first)


def test_a_search_that_had_its_candidates_in_time_has_not_run_out_of_it_later(tmp_path):
    args = {"n_iter": 4, "random_state": 0, "checkpoint_dir": tmp_path}
    first = minimize(bowl, SPACE, timeout=60, **args)
    again = minimize(bowl, SPACE, timeout=1e-9, **args)
    assert first.message == again.message == "All candidates were evaluated."
    assert trials(first) == trials(again)


def test_its_folder_is_read_without_the_function(tmp_path):
    bound = Bound("memory", "<=", 0.5)
    args = {
        "n_iter": 8,
        "random_state": 0,
        "checkpoint_dir": tmp_path,
        "known": {"constraints": bound},
    }
    found = minimize(measured, SPACE, **args)
    saved = load_history(tmp_path)
    assert saved.finished
    assert saved.best_params_ == found.x
    assert saved.best_score_ == -found.fun
    assert [t.results for t in saved.history_.trials] == [t.results for t in found.history.trials]
    table = pd.DataFrame(saved.cv_results_)
    np.testing.assert_array_equal(table["mean_memory"], table["param_x"].abs())
    assert ">Minimize</h1>" in page(tmp_path)


def test_the_folder_of_a_search_over_units_is_read_as_well(tmp_path):
    found = minimize(
        curve, SPACE, scheduler=Hyperband(), max_resources=9, random_state=0,
        checkpoint_dir=tmp_path,
    )  # fmt: skip
    saved = load_history(tmp_path)
    assert saved.best_params_ == found.x
    assert len(saved.cv_results_["n_resources"]) == found.nfev
    assert '<th class="n">units</th>' in page(tmp_path)


# ---- earlier results


def earlier(kind, tmp_path):
    """What is known of the bowl, in a form of that kind."""
    args = {"n_iter": 15, "sampler": QuasiRandomSampler(), "random_state": 0}
    found = minimize(bowl, SPACE, checkpoint_dir=tmp_path / "old", **args)
    params = [trial.params for trial in found.history.trials]
    scores = [-bowl(each) for each in params]
    table = pd.DataFrame(params).assign(score=scores)
    forms = {
        "result": found, "history": found.history, "folder": tmp_path / "old",
        "saved": load_history(tmp_path / "old"), "table": table,
    }  # fmt: skip
    return found, forms[kind]


@pytest.mark.parametrize("kind", ["result", "history", "folder", "saved", "table"])
def test_what_is_known_of_the_function_comes_first(tmp_path, kind):
    old, form = earlier(kind, tmp_path)
    known = earlier_results(form, same_task=True)
    found = minimize(bowl, SPACE, n_iter=3, known={"results": known}, random_state=0)
    assert found.history.trials[0].params == old.x
    assert found.fun <= old.fun
    assert found.history.problem.known


@pytest.mark.parametrize("as_list", [True, False])
def test_results_of_another_function_are_followed(tmp_path, as_list):
    form = earlier("result", tmp_path)[1]

    def similar(params):
        return 3 * bowl(params) + 1

    def mean(prior_results):
        return np.mean(
            [
                minimize(
                    similar, SPACE, n_iter=3, known={"results": prior_results}, random_state=s
                ).fun
                for s in range(3)
            ]
        )

    assert mean([form, form] if as_list else form) < mean(None)


def test_earlier_results_go_with_objectives_as_another_task():
    old = minimize(two, SPACE, objectives=["a", "b"], n_iter=6, random_state=0)
    args = {"objectives": ["a", "b"], "n_iter": 4, "random_state": 1}
    assert minimize(two, SPACE, known={"results": old}, **args).nfev == 4
    with pytest.raises(ValueError, match=r"results.* of the same task contain only scores"):
        minimize(two, SPACE, known={"results": earlier_results(old, same_task=True)}, **args)


def test_a_space_of_thousands_of_conditions_is_searched(tmp_path):
    space = {"p0": [0, 1]} | {f"p{i}": When([0, 1], f"p{i - 1}", "==", 1) for i in range(1, 1200)}

    def found(**options):
        return minimize(lambda params: -len(params), space, n_iter=5, random_state=0, **options)

    assert found(sampler=RandomSampler(), checkpoint_dir=tmp_path / "chain").nit == 5
