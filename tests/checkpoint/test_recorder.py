"""What a search finds in its directory, changed in one place: used, made again, or an error."""

import re
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import uniform
from sklearn.svm import SVC

import sksearch as sks
from sksearch import load_history
from sksearch.checkpoint._checkpoint import Checkpoint, read_journal
from sksearch.checkpoint._evaluations import Evaluations
from sksearch.checkpoint._folder import write_splits, write_spool
from sksearch.checkpoint._lines import decode, encode
from sksearch.checkpoint._recorder import JournalRecorder
from sksearch.checkpoint._records import (
    Asked,
    Kept,
    Spool,
    ToldEvent,
    decode_record,
    output_to_record,
)
from sksearch.fitting.run._tasks import Output
from sksearch.search import JournalError
from tests.checkpoint.test_resume import fit_and_stop, leftovers, lines, make, outcome
from tests.interrupted import Noisy, X, Y, scorer

N = len(X)


def records_of(folder):
    return [decode(line) for line in (folder / "journal.jsonl").read_bytes().splitlines(True)]


def rewrite(folder, change):
    """Change the records of a journal, whose lines stay whole."""
    records = records_of(folder)
    change(records)
    (folder / "journal.jsonl").write_bytes(b"".join(map(encode, records)))


def first(records, kind):
    return next(record for record in records if record["k"] == kind)


# ---- folds


def without_folds(records):
    """A header of before the rows of folds were compared."""
    del records[0]["parts"]["folds"]


def halves(n):
    return [(np.arange(0, n, 2), np.arange(1, n, 2)), (np.arange(1, n, 2), np.arange(0, n, 2))]


@pytest.mark.parametrize("splits", [halves(N), halves(N)[:1]], ids=["other rows", "fewer"])
def test_folds_that_are_not_those_of_the_journal_are_an_error(splits, tmp_path):
    fit_and_stop(make("random", tmp_path), 5)
    write_splits(tmp_path / "splits.npz", splits)
    with pytest.raises(
        JournalError, match=r"splits\.npz does not contain the folds of .*journal\.jsonl"
    ):
        make("random", tmp_path).fit(X, Y)


def test_folds_of_an_older_journal_are_counted_only(tmp_path):
    fit_and_stop(make("random", tmp_path), 5)
    rewrite(tmp_path, without_folds)
    write_splits(tmp_path / "splits.npz", halves(N))
    assert len(make("random", tmp_path).fit(X, Y).cv_results_["params"]) == 12
    write_splits(tmp_path / "splits.npz", halves(N)[:1])
    with pytest.raises(JournalError, match="does not contain the folds"):
        make("random", tmp_path).fit(X, Y)


@pytest.mark.parametrize(("row", "is_there"), [(N - 1, 1), (N, 0), (-N, 1), (-N - 1, 0)])
@pytest.mark.parametrize("part", [0, 1])
def test_rows_that_the_data_have_not_are_an_error(part, row, is_there, tmp_path):
    fit_and_stop(make("random", tmp_path), 5)
    rewrite(tmp_path, without_folds)
    splits = halves(N)
    splits[1][part][3] = row
    write_splits(tmp_path / "splits.npz", splits)
    if is_there:
        make("random", tmp_path).fit(X, Y)
    else:
        with pytest.raises(JournalError, match="contains rows that the data do not have"):
            make("random", tmp_path).fit(X, Y)


# ---- jobs


def lose_a_fold(records):
    first(records, "tell")["o"].pop()


def of_another_bracket(records):
    first(records, "ask")["b"] = 7


def outside(records):
    first(records, "ask")["p"] = {"quality": 1.5}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lose_a_fold, r"line 3, .*it has 1 of 2 folds"),
        (of_another_bracket, r"line 2, .*bracket 7 has no rung at 1"),
        (outside, r"line 2, .*its candidate.*quality"),
    ],
)
def test_a_job_that_this_search_cannot_have_had_is_an_error(change, words, tmp_path):
    fit_and_stop(make("random", tmp_path, known={"params": None}), 5)
    rewrite(tmp_path, change)
    with pytest.raises(JournalError, match=words):
        make("random", tmp_path, known={"params": None}).fit(X, Y)


class Arrays:
    """A distribution whose values a journal cannot hold."""

    def rvs(self, random_state=None):
        return np.arange(random_state.randint(2, 9))


def with_arrays(n_iter, folder=None):
    space = {"quality": uniform(), "n_units": Arrays()}
    return sks.RandomSearchCV(
        Noisy(random_state=0), space, n_iter=n_iter, cv=2, random_state=0, scoring=scorer,
        refit=False, checkpoint_dir=folder,
    )  # fmt: skip


def test_what_looks_alike_is_not_taken_over_by_a_larger_search(tmp_path):
    with_arrays(4, tmp_path).fit(X, Y)
    with pytest.warns(UserWarning, match="8 of the 8"):
        found = with_arrays(8, tmp_path).fit(X, Y)
    expected = with_arrays(8).fit(X, Y)
    assert str(outcome(found)) == str(outcome(expected))


def test_a_candidate_that_cannot_be_stored_is_proposed_again(tmp_path):
    fit_and_stop(with_arrays(6, tmp_path), 8)
    found, expected = with_arrays(6, tmp_path).fit(X, Y), with_arrays(6).fit(X, Y)
    assert str(outcome(found)) == str(outcome(expected))


def test_a_candidate_that_is_another_one_now_is_an_error(tmp_path):
    fit_and_stop(with_arrays(6, tmp_path), 8)

    def change(records):
        first(records, "ask")["p"]["quality"] = 0.25

    rewrite(tmp_path, change)
    with pytest.raises(JournalError, match="candidate 0 differs"):
        with_arrays(6, tmp_path).fit(X, Y)


def test_jobs_are_noted_once_however_often_a_search_is_stopped(tmp_path):
    search = make("hyperband", tmp_path)
    for after in (7, 1, 1, 9):
        fit_and_stop(search, after)
    search.fit(X, Y)
    asked = [(r["t"], r["r"]) for r in records_of(tmp_path) if r["k"] == "ask"]
    assert len(asked) == len(set(asked))
    with_params = [r["t"] for r in records_of(tmp_path) if r["k"] == "ask" and r["p"] is not None]
    assert with_params == list(range(len(search.history_.trials)))


@pytest.mark.filterwarnings("ignore:The total space of parameters 3 is smaller")
def test_a_space_that_has_no_more_is_noted_once(tmp_path):
    def search():
        return sks.RandomSearchCV(
            Noisy(), {"quality": [0.1, 0.2, 0.3]}, n_iter=9, cv=2, random_state=0, scoring=scorer,
            refit=False, checkpoint_dir=tmp_path,
        )  # fmt: skip

    fit_and_stop(search(), 4)
    for _ in range(2):
        assert len(search().fit(X, Y).cv_results_["params"]) == 3
    kinds = [record["k"] for record in records_of(tmp_path)]
    assert kinds.count("exhausted") <= 1
    assert (kinds.count("header"), kinds.count("ask"), kinds.count("tell")) == (1, 3, 3)


class Few:
    """A distribution of three values, which only draws can tell."""

    def rvs(self, random_state=None):
        return random_state.randint(3) / 10


@pytest.mark.filterwarnings("ignore:The search space has no new candidate")
def test_that_a_space_has_no_more_is_noted_before_what_is_resumed(tmp_path):
    def search():
        return sks.SuccessiveHalvingSearchCV(
            Noisy(), {"quality": Few()}, resource="epochs", max_resources=9, cv=2, random_state=0,
            scoring=scorer, refit=False, checkpoint_dir=tmp_path,
        )  # fmt: skip

    fit_and_stop(search(), 9)
    search().fit(X, Y)
    asked = [r["t"] if r["k"] == "ask" else r["k"] for r in records_of(tmp_path)]
    begun = [each for each in asked if each not in ("header", "tell", "stop", "won")]
    assert begun == [0, 1, 2, "exhausted", 1, 1]


def test_only_the_estimator_as_it_is_may_be_outside_of_the_space(tmp_path):
    def search():
        return sks.SearchCV(
            SVC(C=1e9), n_iter=3, cv=2, random_state=0, refit=False, checkpoint_dir=tmp_path
        )

    found = search().fit(X, Y)
    assert found.history_.problem.has_baseline
    assert found.history_.trials[0].params["C"] == 1e9
    assert outcome(search().fit(X, Y)) == outcome(found)

    def change(records):
        next(r for r in records if r["k"] == "ask" and r["t"] == 1)["p"]["C"] = 1e9

    rewrite(tmp_path, change)
    with pytest.raises(JournalError, match=r"its candidate.*C"):
        search().fit(X, Y)


# ---- what workers have left


def test_an_output_that_a_worker_has_left_is_used(tmp_path):
    log, folder = tmp_path / "log", tmp_path / "c"
    fit_and_stop(make("random", folder, log), 4)  # in the second fold of the second candidate
    left = Output(test_scores=9.0)
    Spool(folder / "spool", spool_name(folder)).write("1.1.1", left)
    n_lines = len(lines(log))
    search = make("random", folder, log).fit(X, Y)
    assert search.cv_results_["split1_test_score"][1] == 9.0
    assert len(lines(log)) - n_lines == 20
    assert leftovers(folder) == []


def spool_name(folder):
    """What tells the outputs of the search from those of others."""
    file = next((folder / "spool").glob("*.json"))
    return decode(file.read_bytes())["of"]


def test_an_output_of_what_was_told_is_removed_at_the_next_start(tmp_path):
    fit_and_stop(make("random", tmp_path, tmp_path / "log"), 4)
    Spool(tmp_path / "spool", spool_name(tmp_path)).write("0.1.0", Output(test_scores=9.0))
    fit_and_stop(make("random", tmp_path, tmp_path / "log"), 2)
    assert "0.1.0.json" not in [file.name for file in (tmp_path / "spool").iterdir()]


def test_an_output_that_an_older_version_has_left_is_used(tmp_path):
    fit_and_stop(make("random", tmp_path), 4)
    write_spool(tmp_path / "spool", "1.1.1", output_to_record(Output(test_scores=9.0)))
    search = make("random", tmp_path).fit(X, Y)
    assert search.cv_results_["split1_test_score"][1] == 9.0


def test_what_a_worker_of_the_smaller_search_writes_late_is_not_used(tmp_path):
    fit_and_stop(make("random", tmp_path, n_iter=6), 4)
    smaller = spool_name(tmp_path)
    fit_and_stop(make("random", tmp_path), 3)
    assert spool_name(tmp_path) != smaller
    for name in ("2.1.1", "3.1.0"):
        Spool(tmp_path / "spool", smaller).write(name, Output(test_scores=9.0))
    assert outcome(make("random", tmp_path).fit(X, Y)) == outcome(make("random").fit(X, Y))


def test_an_output_that_is_none_is_warned_of_and_made_again(tmp_path):
    fit_and_stop(make("random", tmp_path), 4)
    write_spool(tmp_path / "spool", "1.1.1", {"status": "fine"})
    with pytest.warns(UserWarning, match=r"1\.1\.1\.json was not written by a worker"):
        search = make("random", tmp_path).fit(X, Y)
    assert outcome(search) == outcome(make("random").fit(X, Y))


def test_a_fold_that_had_ended_is_taken_over_by_a_larger_search(tmp_path):
    log, folder = tmp_path / "log", tmp_path / "c"

    def search(n_iter):
        random = make("random", folder, log, n_iter=n_iter)
        return random.set_params(estimator__random_state=0)

    fit_and_stop(search(6), 4)  # in the second fold of the second candidate
    n_lines = len(lines(log))
    search(9).fit(X, Y)
    assert len(lines(log)) - n_lines == 9 * 2 - 3
    kept = [(r["t"], r["r"], r["f"]) for r in records_of(folder) if r["k"] == "kept"]
    assert kept == [(1, 1, 0)]


def test_an_old_output_in_the_spool_hides_none_that_is_taken_over(tmp_path):
    """A loss of power may bring back a file that was removed."""
    log, folder = tmp_path / "log", tmp_path / "c"

    def search(n_iter):
        random = make("random", folder, log, n_iter=n_iter)
        return random.set_params(estimator__random_state=0)

    fit_and_stop(search(6), 4)  # in the second fold of the second candidate
    smaller = spool_name(folder)
    fit_and_stop(search(9), 1)  # there again, after what is taken over
    Spool(folder / "spool", smaller).write("1.1.0", Output(test_scores=9.0))
    n_lines = len(lines(log))
    search(9).fit(X, Y)
    assert len(lines(log)) - n_lines == 9 * 2 - 3
    assert leftovers(folder) == []


def test_an_output_without_training_scores_is_not_used_where_there_should_be_some(tmp_path):
    fit_and_stop(make("random", tmp_path, return_train_score=True), 8)
    write_spool(tmp_path / "spool", "1.1.1", output_to_record(Output(test_scores=9.0)))
    with pytest.warns(UserWarning, match="training scores are missing"):
        search = make("random", tmp_path, return_train_score=True).fit(X, Y)
    assert outcome(search) == outcome(make("random", return_train_score=True).fit(X, Y))


def test_an_output_from_elsewhere_is_kept_unless_the_worker_has_done_so(tmp_path):
    first, second = SimpleNamespace(name="0.1.0"), SimpleNamespace(name="0.1.1")
    with Checkpoint(tmp_path) as checkpoint:
        recorder = JournalRecorder(checkpoint)
        recorder.keep(first, Output(test_scores=1.0))
        recorder.keep(first, Output(test_scores=2.0))
        output = Output(test_scores=3.0, state=b"a model")
        recorder.keep(second, output)
        assert checkpoint.spooled("0.1.0")["test_scores"] == 1.0
        assert checkpoint.spooled("0.1.1")["state"]["f"] == output.state.path.name
    assert output.state.path.parent == tmp_path / "states"
    assert output.state.path.read_bytes() == b"a model"
    assert output.state.path.name.startswith("0.1.1")


def test_a_model_that_the_disk_refuses_travels_on(tmp_path, monkeypatch):
    output = Output(test_scores=3.0, state=b"a model")
    with Checkpoint(tmp_path) as checkpoint:
        recorder = JournalRecorder(checkpoint)
        (tmp_path / "states").rmdir()
        recorder.adopt(SimpleNamespace(name="0.1.0"), output)
    assert output.state == b"a model"


# ---- a smaller search


def legs(*events, folds=lambda n_splits, resource, spent: range(n_splits)):
    """What a search has evaluated, by params and resources of each leg, resource and fold."""
    memo = {}
    resource = SimpleNamespace(folds=folds)
    setup = SimpleNamespace(context=SimpleNamespace(resource=resource, splits=[0, 1]))
    known = Evaluations(setup, memo, lambda *key: key)
    for event in events:
        known.read(event)
    return memo, known


def ended(i, resource):
    return ToldEvent(i, resource, [Output(test_scores=i + fold / 10) for fold in range(2)])


def asked(i, resource, params=None, parent=None):
    return Asked(i, resource, 0, params, parent)


def test_an_evaluation_is_known_by_all_that_went_before_it():
    memo, _ = legs(
        asked(0, 1, "a"), ended(0, 1), asked(0, 3), ended(0, 3), asked(1, 3, "b", parent=0),
        ended(1, 3), asked(2, 4, "c", parent=0), ended(2, 4), asked(2, 9), ended(2, 9),
    )  # fmt: skip
    after = ("a", 1), ("a", 3)
    expected = {
        ((), "a", 1): 0, (after[:1], "a", 3): 0, (after[:1], "b", 3): 1, (after, "c", 4): 2,
        ((*after, ("c", 4)), "c", 9): 2,
    }  # fmt: skip
    assert memo == {
        (*key, fold): Output(test_scores=i + fold / 10)
        for key, i in expected.items()
        for fold in range(2)
    }


def test_where_folds_are_the_resource_a_leg_has_the_folds_of_its_own():
    memo, _ = legs(
        asked(0, 1, "a"), ToldEvent(0, 1, [Output(test_scores=0.0)]), asked(0, 2),
        ToldEvent(0, 2, [Output(test_scores=1.0)]), asked(1, 2, "b"), ended(1, 2),
        folds=lambda n_splits, resource, spent: range(spent, resource),
    )  # fmt: skip
    assert list(memo) == [
        ((), "a", 1, 0), ((("a", 1),), "a", 2, 1), ((), "b", 2, 0), ((), "b", 2, 1),
    ]  # fmt: skip


def test_a_fold_that_had_ended_of_a_job_that_had_not_is_known():
    output = Output(test_scores=5.0)
    events = [asked(0, 1, "a"), ended(0, 1), asked(0, 3), asked(1, 1, "b")]
    memo, known = legs(*events, Kept(0, 3, 1, output))
    assert memo[(("a", 1),), "a", 3, 1] is output
    assert len(memo) == 3
    left = {"0.3.0": output, "1.1.1": output, "0.1.0": output}
    assert known.in_spool(left.get) == [Kept(0, 3, 0, output), Kept(1, 1, 1, output)]


def test_a_larger_search_counts_its_candidates_again(tmp_path):
    fit_and_stop(make("random", tmp_path, n_iter=3), 6)
    header = decode_record(read_journal(tmp_path)[0])
    memo, known = legs(asked(0, 1, "a"), header, asked(0, 1, "b"), ended(0, 1))
    assert list(memo) == [((), "b", 1, 0), ((), "b", 1, 1)]
    assert known.in_spool({"0.1.0": 1}.get) == []


def test_a_job_with_too_few_outputs_is_not_known():
    with pytest.raises(ValueError, match="shorter"):
        legs(asked(0, 1, "a"), ToldEvent(0, 1, [Output()]))


# ---- what is said


def test_results_and_ends_are_synced_and_what_begins_is_not(tmp_path, monkeypatch):
    append, flags = Checkpoint.append, {}

    def watched(checkpoint, record, sync=True):
        flags.setdefault(record["k"], set()).add(sync)
        append(checkpoint, record, sync)

    monkeypatch.setattr(Checkpoint, "append", watched)
    make("random", tmp_path, refit=True).fit(X, Y)
    assert flags == {"ask": {False}, "tell": {True}, "stop": {True}, "won": {True}}


def test_a_prediction_is_noted_with_its_candidate(tmp_path):
    search = make("gp", tmp_path, n_iter=5, n_initial=3)
    fit_and_stop(search, 9)
    search.fit(X, Y)
    predictions = [trial.prediction for trial in search.history_.trials]
    assert any(predictions)
    assert [trial.prediction for trial in load_history(tmp_path).history_.trials] == predictions


def test_a_resumed_search_reports_it_if_verbose(tmp_path, capsys):
    fit_and_stop(make("random", tmp_path), 5)
    capsys.readouterr()
    make("random", tmp_path).fit(X, Y)
    assert "Resuming" not in capsys.readouterr().out
    make("random", tmp_path, verbose=1).fit(X, Y)
    assert re.search("Resuming the search in '.*'. Compared: ", capsys.readouterr().out)


def test_an_end_is_noted_once(tmp_path):
    for _ in range(3):
        make("random", tmp_path, refit=True).fit(X, Y)
    kinds = [record["k"] for record in records_of(tmp_path)]
    assert kinds[-2:] == ["stop", "won"] or kinds[-2:] == ["won", "stop"]
    assert (kinds.count("stop"), kinds.count("won")) == (1, 1)
    assert read_journal(tmp_path)[1][-1].keys() >= {"seconds"}
