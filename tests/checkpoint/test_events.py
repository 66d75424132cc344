"""In which order events of a search can come."""

from pathlib import Path

import pytest
from scipy.stats import uniform

from sksearch import HyperbandSearchCV
from sksearch.checkpoint import JournalError
from sksearch.checkpoint._checkpoint import read_journal
from sksearch.checkpoint._events import blaming, check_scores, read_events
from sksearch.checkpoint._records import (
    Accepted,
    Asked,
    Exhausted,
    Header,
    Kept,
    Stopped,
    ToldEvent,
    Won,
    decode_record,
    output_of_record,
    output_to_record,
)
from sksearch.fitting.run._tasks import Output
from sksearch.history import Prediction
from tests.fakes import Curve

PATH = Path("journal.jsonl")


@pytest.fixture(scope="module")
def header(tmp_path_factory):
    """The header of a search with two folds, up to a resource of nine."""
    folder = tmp_path_factory.mktemp("events")
    search = HyperbandSearchCV(
        Curve(), {"quality": uniform()}, resource="epochs", max_resources=9, cv=2, refit=False,
        return_train_score=True, random_state=0, checkpoint_dir=folder,
    )  # fmt: skip
    search.fit([[0.0]] * 6, [0.0, 1.0] * 3)
    return read_journal(folder)[0]


def ask(i, resource=1, params=None, parent=None):
    return Asked(i, resource, 0, {"quality": 0.5} if params is None else params, parent)


def resume(i, resource):
    return Asked(i, resource, 0, None, None)


def tell(i, resource=1, n_folds=2):
    return ToldEvent(i, resource, [Output(test_scores=0.5, train_scores=0.5)] * n_folds)


def kept(i, resource, fold):
    return Kept(i, resource, fold, Output(test_scores=0.5, train_scores=0.5))


def enter(header, *events, line=1):
    return list(read_events([header, *(event.to_record() for event in events)], PATH, line))


#: What can come after a header.
RIGHT = {
    "nothing": [],
    "two at once": [ask(0), ask(1), tell(1), tell(0)],
    "further": [ask(0), tell(0), resume(0, 3), tell(0, 3), resume(0, 9), tell(0, 9)],
    "a fold of two": [ask(0), tell(0, n_folds=1)],
    "a fold that ended": [ask(0), kept(0, 1, 0), kept(0, 1, 1)],
    "a child": [ask(0), tell(0), ask(1, parent=0), tell(1)],
    "an end": [ask(0), tell(0), Exhausted(), Stopped("finished"), Won(0, 1), Accepted(["a.B"])],
}
#: What cannot, and how the error begins.
WRONG = {
    "a number is left out": ([ask(1)], "candidate 1 begins, and there are 0"),
    "one that is running": ([ask(0), resume(0, 3)], "candidate 0 is running"),
    "a result again": ([ask(0), tell(0), resume(0, 1)], "candidate 0 has a result there"),
    "a smaller one": (
        [ask(0, 3), tell(0, 3), resume(0, 1)], "candidate 0 has a result there"
    ),
    "no params": ([resume(0, 1)], "candidate 0 has no parameters"),
    "too much": ([ask(0, 10)], "more than the largest resource"),
    "a parent that is not there": ([ask(0, parent=0)], "no parent 0"),
    "never begun": ([tell(0)], "candidate 0 is not running to 1"),
    "told twice": ([ask(0), tell(0), tell(0)], "candidate 0 is not running to 1"),
    "told elsewhere": ([ask(0), tell(0, 3)], "candidate 0 is not running to 3"),
    "no folds": ([ask(0), tell(0, n_folds=0)], "it has 0 folds"),
    "three folds of two": ([ask(0), tell(0, n_folds=3)], "it has 3 folds"),
    "a third fold": ([ask(0), kept(0, 1, 2)], "there is no fold 2"),
    "a fold of nobody": ([kept(0, 1, 0)], "candidate 0 is not running to 1"),
    "a fold without training scores": (
        [ask(0), Kept(0, 1, 0, Output(test_scores=0.5))], "training scores are missing"
    ),
    "no training scores": (
        [ask(0), ToldEvent(0, 1, [Output(test_scores=0.5)])], "training scores are missing"
    ),
    "no training scores on the way": (
        [ask(0), ToldEvent(0, 1, [Output(
            test_scores=0.5, train_scores=0.5, curve=[[1, 0.5, 0.5], [2, 0.5, None]])])],
        "training scores are missing",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", RIGHT)
def test_what_a_search_does_comes_back_with_its_line(what, header):
    events = RIGHT[what]
    found = enter(header, *events, line=5)
    assert [line for line, _ in found] == list(range(5, 6 + len(events)))
    assert [event for _, event in found[1:]] == events
    assert isinstance(found[0][1], Header)


@pytest.mark.parametrize("what", WRONG)
def test_what_no_search_does_is_an_error_with_its_line(what, header):
    events, words = WRONG[what]
    with pytest.raises(
        JournalError, match=rf"line {4 + len(events)}, .*\(ValueError: {words}\)"
    ) as caught:
        enter(header, *events, line=4)
    assert isinstance(caught.value.__cause__, ValueError)


def test_an_error_that_names_its_line_is_not_blamed_on_another():
    error = JournalError("line 3")
    with pytest.raises(JournalError) as caught, blaming(PATH, 5):
        raise error
    assert caught.value is error


def test_a_larger_search_begins_with_no_candidates(header):
    records = [header, ask(0).to_record(), header, ask(1).to_record()]
    with pytest.raises(JournalError, match=r"line 4, .*candidate 1 begins, and there are 0"):
        list(read_events(records, PATH))


def test_a_journal_begins_with_a_header():
    with pytest.raises(JournalError, match=r"line 1, .*it is not preceded by a header"):
        list(read_events([ask(0).to_record()], PATH))


def test_a_kind_of_later_versions_is_passed_over(header):
    records = [header, {"k": "later", "x": 1}, ask(0).to_record()]
    assert [event for _, event in read_events(records, PATH)][1:] == [None, ask(0)]


def test_training_scores_are_missed_only_where_there_should_be_some(header):
    without = decode_record(header | {"return_train_score": False})
    check_scores(Output(test_scores=0.5, curve=[[1, 0.5, None]]), without)


def test_resources_of_a_header_are_in_order(header):
    assert decode_record(header | {"min_resources": 9}).min_resources == 9
    with pytest.raises(ValueError, match="min_resources is greater than max_resources"):
        decode_record(header | {"min_resources": 10})


@pytest.mark.parametrize("name", ["refit", "any_rung_wins", "seed", "plan", "names", "whole"])
def test_a_header_that_lacks_an_entry_is_refused_by_its_name(name, header):
    with pytest.raises(ValueError, match=f"'{name}' is missing"):
        decode_record({key: value for key, value in header.items() if key != name})


def test_a_header_comes_back_as_it_was_written(header):
    one = decode_record(header)
    assert decode_record({"k": "header", **one.to_record()}) == one
    other = decode_record(header | {
        "objectives": ["score", "-time"], "bounds": [["time", "<=", 2.0]],
        "sample": [5, 1, 2, 3, 0],
    })  # fmt: skip
    assert decode_record({"k": "header", **other.to_record()}) == other
    assert other.aims().names == ("score", "time")
    assert other.aims().bounds[0].value == 2.0
    assert other.search_plan().n_splits == 2
    assert not other.search_plan().refit
    assert other.search_plan().any_rung_wins


def test_a_prediction_is_kept():
    event = Asked(0, 1, 0, {"C": 1}, None, Prediction(0.5, 0.4, 0.6, 1))
    assert decode_record(event.to_record()) == event


@pytest.mark.parametrize("seconds", [None, 0.0, 5])
def test_seconds_may_stand_in_any_record(seconds):
    assert decode_record(Won(1, 9).to_record() | {"seconds": seconds}) == Won(1, 9)
    assert decode_record(Stopped("stopped", 60.0).to_record()).timeout == 60.0
    with pytest.raises(ValueError, match="'seconds' is -1"):
        decode_record(Won(1, 9).to_record() | {"seconds": -1})


#: Records that no search writes.
POISONED = [
    Asked(-1, 1, 0, {}, None), Asked(0, 0, 0, {}, None), Asked(0, 1, -1, {}, None),
    Asked(0, 1, 0, [], None), Asked(0, 1, 0, {}, -1), ToldEvent(-1, 1, []), ToldEvent(0, 0, []),
    Kept(-1, 1, 0, Output()), Kept(0, 0, 0, Output()), Kept(0, 1, -1, Output()), Stopped(1),
    Stopped("stopped", -1), Won(-1, 1), Won(0, 0), Accepted("a.B"), Accepted([1]),
]  # fmt: skip


@pytest.mark.parametrize("event", POISONED, ids=str)
def test_a_record_of_other_kinds_of_values_is_an_error(event):
    with pytest.raises(ValueError, match=r"' is "):
        decode_record(event.to_record())


def test_an_output_comes_back_and_what_it_has_not_is_not_written():
    empty = Output(test_scores=0.5)
    record = output_to_record(empty)
    assert record.keys().isdisjoint({"train_scores", "curve", "span", "measures", "rows"})
    assert output_of_record(record) == empty
    full = Output(
        test_scores={"a": 0.5}, train_scores={"a": 0.6}, curve=[[1, 0.1, None]],
        span=[0.0, 1.0, "w"], measures={"size": 1.0}, rows=b"\0\1\2\3\4\5\6\7",
    )  # fmt: skip
    assert output_of_record(output_to_record(full)) == full
