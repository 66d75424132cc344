"""What `examples/benchmarks/tables.py` says that a search has found by a time."""

import os
import sys
import time
from argparse import Namespace
from pathlib import Path

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

sys.path.insert(0, str(Path(__file__).parents[1] / "examples" / "benchmarks"))
import _tables_cases as cases
import _tables_clock as clock
import _tables_report as reports
import _tables_tools as tools
import tables

sys.path.pop(0)

forks = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="runs are forked"),
    pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning"),
]


@pytest.fixture
def case(monkeypatch, tmp_path):
    monkeypatch.setenv("SKSEARCH_DATA", str(tmp_path))  # bundled data
    cases.whole_table.cache_clear()
    yield cases.make_case("magic", "svm", 0)
    cases.whole_table.cache_clear()


def compute(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        sum(range(1000))


class Counter:
    """Imitates a search that counts until it is interrupted or has computed long enough."""

    def __init__(self, seconds):
        self.seconds, self.count = seconds, 0

    def fit(self):
        end = time.process_time() + self.seconds
        while time.process_time() < end:
            compute(0.01)
            self.count += 1


class TestRuns:
    pytestmark = forks

    def test_a_peer_is_killed_when_its_seconds_are_over(self):
        def search(trace):
            while True:
                trace.note({"a": (1, 2)}, 0.5)
                compute(0.02)

        entries = clock.run_for(0.4, 0.5, search)
        assert entries[0]["params"] == {"a": (1, 2)}
        assert 2 <= len(entries) <= 12  # in 0.2 s of processor time, give or take a tick
        assert all(entry["at"] < 0.45 for entry in entries)

    def test_an_error_of_a_search_is_told(self):
        def search(trace):
            trace.note({}, 1)
            raise ValueError("no such space")

        with pytest.raises(RuntimeError, match="ValueError: no such space"):
            clock.run_for(5, 1, search)

    def test_ours_is_read_by_interrupting_copies_while_it_continues(self):
        def search(trace):
            counter = Counter(0.4)
            clock.snapshots(
                [0.1, 0.2], trace, lambda at: trace.note({"n": counter.count}, 0, of=at)
            )(counter.fit)
            trace.note({"n": counter.count}, 0, of=None)

        entries = clock.run_for(1, 1, search, ends_itself=True)
        counts = {entry["of"]: entry["params"]["n"] for entry in entries}
        assert set(counts) == {0.1, 0.2, None}
        assert 1 <= counts[0.1] < counts[0.2] < counts[None]


class TestReading:
    def test_what_was_not_complete_does_not_count(self):
        entries = [{"at": 1, "cv": 0.5}, {"at": 9, "cv": 0.7}, {"at": 11, "cv": 0.9}]
        assert tables.best_of(entries, 10) == {"at": 9, "cv": 0.7, "n": 2}
        assert tables.best_of(entries, 0.5) is None

    def test_the_first_of_equal_candidates_is_returned(self):
        entries = [{"at": 1, "cv": 0.5}, {"at": 2, "cv": 0.5}]
        assert tables.best_of(entries, 10)["at"] == 1

    @pytest.mark.parametrize(("end", "read"), [(28, "final"), (31, "copy")])
    def test_ours_may_end_before_its_time(self, end, read):
        entries = [
            {"at": 0, "of": 10, "what": "early"},
            {"at": 0, "of": 30, "what": "copy"},
            {"at": end, "of": None, "what": "final"},
        ]
        assert tables.ours_at(entries, 10, is_last=False)["what"] == "early"
        assert tables.ours_at(entries, 30, is_last=True)["what"] == read

    def test_a_candidate_is_noted_after_its_last_fold(self, case, tmp_path):
        trace = clock.Trace(tmp_path / "trace", clock.Clock(1))
        watcher = tools.Watcher(trace, ["max_depth"], n_folds=2)
        X, y = np.arange(8.0)[:, None], np.arange(8) % 2
        for depth, n_folds in ((1, 2), (2, 1), (3, 2)):
            model = DecisionTreeClassifier(max_depth=depth).fit(X, y)
            for _ in range(n_folds):
                watcher(model, X, y)
        noted = [entry["params"] for entry in clock._entries(trace.path)]
        assert noted == [{"max_depth": 1}, {"max_depth": 3}]


class TestCases:
    def test_rows_to_test_on_are_others(self, case):
        rows = [{row.tobytes() for row in X} for X in (case.X, case.X_test)]
        assert not rows[0] & rows[1]
        assert len(case.folds) == 3
        assert len(case.X) > len(case.X_test) > 100

    def test_a_case_is_the_same_each_time_and_differs_by_its_seed(self, case):
        again, other = (cases.make_case("magic", "svm", seed) for seed in (0, 1))
        assert case.seed == again.seed != other.seed
        np.testing.assert_array_equal(case.X, again.X)
        np.testing.assert_array_equal(case.folds[0][1], again.folds[0][1])
        assert not np.array_equal(case.X, other.X)

    def test_peers_search_the_count_of_iterations(self, case):
        space = cases.space_of(cases.make_case("magic", "histgb", 0))
        assert (space["max_iter"].low, space["max_iter"].high) == (25, 501)
        assert "early_stopping" not in space


class TestReport:
    @pytest.fixture
    def records(self, tmp_path):
        records = reports.Records(tmp_path)
        for table, scores in (("adult", (0.8, 0.81, None)), ("magic", (0.9, 0.8, 0.9))):
            names = ("SearchCV", "Optuna TPE", "RandomizedSearchCV")
            for tool, score in zip(names, scores, strict=True):
                records.add(record(tool, table, {"30": {"cv": score, "test": score}}))
            variants = {"as is": {"cv": 0.7, "test": 0.79}, "early stopping": {"test": 0.812}}
            records.add(record("untuned", table, variants))
        return reports.Records(tmp_path)  # as they are read

    @pytest.fixture
    def results(self, records):
        runs = [("adult", "svm", 0), ("magic", "svm", 0), ("churn", "svm", 0)]
        rows = ["SearchCV", "Optuna TPE", "RandomizedSearchCV"]
        return reports.Results(records, rows, runs, 30)

    def test_who_has_nothing_yet_is_last(self, results):
        assert results.ranks("test", 30).tolist() == [[2, 1, 3], [1.5, 3, 1.5]]

    def test_behind_is_more_than_half_a_percent_below_the_best_variant(self, results):
        assert results.behind(30).tolist() == [0.5, 0.5, 0.5]  # the limit is 0.80794

    def test_runs_that_a_row_lacks_are_left_out(self, results):
        assert results.runs == [("adult", "svm", 0), ("magic", "svm", 0)]

    def test_a_record_of_another_version_is_missing(self, records):
        key = ("SearchCV", "adult", "svm", 0, 30)
        assert records.has(key)
        assert records.has(key, "1")
        assert not records.has(key, "2")

    def test_a_bar_fails_where_another_is_better(self, records, capsys):
        args = Namespace(tools=None, tables=["adult"], estimators=["svm"], seeds=1, seconds=30)
        assert not reports.report(records, args, [30])
        out = capsys.readouterr().out
        assert "| Optuna TPE | 2.00 |" in out  # behind early stopping
        assert "bar: SearchCV: best rank by test @30: FAILED" in out


def record(tool, table, at):
    """A record with what reports need."""
    return {
        "tool": tool,
        "table": table,
        "estimator": "svm",
        "seed": 0,
        "seconds": 30,
        "version": "1",
        "scale": 1,
        "at": at,
    }
