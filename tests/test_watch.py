"""The page of a `checkpoint_dir`, while its search runs, after it and after a forger was there."""

import html
import json
import pickle
import re
import threading
import time
import zlib

import numpy as np
import pytest
from scipy.stats import uniform
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from sksearch import HyperbandSearchCV, SearchCV, load_history
from sksearch.reader._read import read
from sksearch.reporting._leaderboard import standings
from sksearch.reporting._looks import SCRIPT
from sksearch.samplers import RandomSampler
from sksearch.schedulers import FullFidelity
from sksearch.search import JournalError
from sksearch.watch import main, page
from tests.fakes import Curve, Failing

X, Y = np.zeros((12, 1)), np.zeros(12)
SPACE = {"quality": uniform(0, 1)}
EVIL = "<script>alert('x')</script>"
FAILURES = pytest.mark.filterwarnings("ignore:.*non-finite", "ignore:(?s).*fits failed")


class Looker(Curve):
    """Writes the page of the search that trains it, and keeps it in a file."""

    folder = None

    def partial_fit(self, X, y=None):
        if self.folder is not None:
            (self.folder / "seen").write_text(page(self.folder, every=5))
        return super().partial_fit(X, y)


def hyperband(folder, estimator=None, **kwargs):
    kwargs = {"resource": "epochs", "max_resources": 9, "cv": 2, "random_state": 0} | kwargs
    return HyperbandSearchCV(estimator or Curve(), SPACE, checkpoint_dir=folder, **kwargs)


def is_closed(text):
    """Whether a page loads nothing, and runs no script but its own."""
    text = text.replace(f"<script>{SCRIPT}</script>", "", 1)
    tags = re.findall(r"<(\w+)", text)
    links = re.findall(r'href="(.)', text)
    loads = {"script", "link", "img", "iframe", "object"} & {*tags}
    return not loads and {*links} <= {"#"} and "url(" not in text


def words(text):
    """The words of a page, without its style and script."""
    body = text.split("<main", 1)[1].split("</main>")[0]
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", f"<{body}")).split())


def picture(text, title):
    """The figure of this title."""
    return next(f for f in re.findall("(?s)<figure.*?</figure>", text) if f"<b>{title}.</b>" in f)


def test_a_page_of_an_ended_search_has_the_best_the_rungs_and_the_workers(tmp_path):
    search = hyperband(tmp_path).fit(X, Y)
    text = page(tmp_path, every=5)
    assert is_closed(text)
    assert 'http-equiv="refresh"' not in text
    said = words(text)
    assert "HyperbandSearchCV" in said
    assert "Finished." in said
    assert "15 of 15 candidates" in said
    assert f"{search.best_score_:.5g} best score" in said
    assert f"Winner 9 epochs quality {search.best_params_['quality']:.4g}" in said
    rows = re.findall(r"<tr><td class=\"n\">(\d)</td><td class=\"n\">(\d)</td>", text)
    assert [(int(b), int(r)) for b, r in rows] == [
        (rung.bracket, rung.n_resources) for rung in search.plan_.rungs
    ]
    assert picture(text, "Scores").count("<circle") == len(search.cv_results_["params"])
    assert picture(text, "Workers").count("<rect") == search.plan_.n_fits - 1
    for title in ("Best candidates", "Parameters", "Rungs"):
        assert 'data-t="' in picture(text, title)


def test_the_page_of_a_running_search_is_written_without_its_lock(tmp_path):
    folder = tmp_path / "run"
    Looker.folder = folder
    try:
        hyperband(folder, Looker(), refit=False).fit(X, Y)
    finally:
        Looker.folder = None
    text = (folder / "seen").read_text()
    assert is_closed(text)
    assert '<meta http-equiv="refresh" content="5">' in text
    said = words(text)
    assert "Not finished" in said
    assert "Running" in said
    assert re.search(r"1[45] of 15 candidates", said)


def test_every_writes_until_the_search_has_ended(tmp_path, capsys):
    folder, output = tmp_path / "run", tmp_path / "page.html"
    statuses = []
    args = [str(folder), "--every", "0.05", "--output", str(output)]
    thread = threading.Thread(target=lambda: statuses.append(main(args)))
    thread.start()
    deadline = time.monotonic() + 60
    while not output.exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert "No search yet" in output.read_text()
    hyperband(folder).fit(X, Y)
    thread.join(60)
    assert statuses == [0]
    assert "Finished." in output.read_text()
    assert str(output) in capsys.readouterr().out


def test_the_command_writes_next_to_the_journal_for_the_user_alone(tmp_path, capsys):
    hyperband(tmp_path).fit(X, Y)
    assert main([str(tmp_path)]) == 0
    written = tmp_path / "watch.html"
    assert capsys.readouterr().out == f"{written}\n"
    assert written.stat().st_mode & 0o077 == 0
    hyperband(tmp_path).fit(X, Y)  # which the file does not disturb
    assert written.exists()


def test_a_folder_without_a_search_is_an_error(tmp_path, capsys):
    assert main([str(tmp_path / "nothing")]) == 1
    assert "No search to show" in capsys.readouterr().err
    with pytest.raises(FileNotFoundError):
        page(tmp_path)
    with pytest.raises(SystemExit):
        main([str(tmp_path), "--every", "0"])
    assert "'0' must be a number of seconds above 0" in capsys.readouterr().err
    for output in (tmp_path, tmp_path / "nothing" / "page.html"):
        with pytest.raises(SystemExit):
            main([str(tmp_path), "--output", str(output)])
        assert "must be a file in an existing folder" in capsys.readouterr().err


@FAILURES
def test_failures_are_grouped(tmp_path):
    search = hyperband(tmp_path, Failing()).fit(X, Y)
    said = words(page(tmp_path))
    assert "Failures" in said
    assert "RuntimeError: quality" in said
    n_failed = sum(status != "ok" for status in search.statuses_)
    assert n_failed > 3


@FAILURES
@pytest.mark.filterwarnings("ignore:No candidate has a finite score")
def test_a_search_without_any_score_has_a_page(tmp_path):
    with pytest.raises(ValueError, match="fits failed"):
        hyperband(tmp_path, Failing(threshold=-1)).fit(X, Y)
    assert "No candidate has a score yet." in words(page(tmp_path))


def test_several_searches_are_on_one_page_with_links_to_each(tmp_path, capsys):
    for name in ("first", "second & third"):
        hyperband(tmp_path / name).fit(X, Y)
    assert main([str(tmp_path)]) == 0
    text = (tmp_path / "watch.html").read_text()
    assert is_closed(text)
    said = words(text)
    assert said.startswith("2 searches directory search state candidates best score first")
    assert said.count("Finished.") == 2
    links, places = re.findall('href="#(.*?)"', text), re.findall('h1 id="(.*?)"', text)
    assert links == places == ["first", "second%20%26%20third"]
    assert words(page([tmp_path / "first", tmp_path / "second & third"])).startswith("2 searches")
    alone = words(page([tmp_path / "first"]))
    assert "first" not in alone
    with pytest.raises(FileNotFoundError):
        page([tmp_path / "first", tmp_path / "fourth"])


def test_a_list_of_models_has_its_leaderboard(tmp_path):
    models = {"low": Curve(), "high & wide": Curve()}
    space = {"low__quality": uniform(0, 0.5), "high & wide__quality": uniform(0.5, 0.5)}
    search = SearchCV(models, space, n_iter=8, cv=2, random_state=0, checkpoint_dir=tmp_path)
    search.fit(X, Y)
    text = page(tmp_path)
    assert is_closed(text)
    assert ">high &amp; wide</text>" in picture(text, "Models")
    said = words(text)
    assert "rank model score low high candidates training 1 high & wide" in said
    assert search.best_params_["model"] == "high & wide"


def test_a_search_without_rungs_or_end_has_a_page(tmp_path):
    parts = {"sampler": RandomSampler(), "scheduler": FullFidelity(None), "timeout": 0.2}
    SearchCV(Curve(), SPACE, **parts, cv=2, random_state=0, checkpoint_dir=tmp_path).fit(X, Y)
    said = words(page(tmp_path))
    assert "Rungs" not in said
    assert "1000000000" not in said.replace(",", "")


def forge(folder, change):
    """Write each record of a journal again after `change`, with a sum that is right."""
    path = folder / "journal.jsonl"
    lines = []
    for line in path.read_bytes().splitlines():
        record = json.loads(line[9:])
        change(record)
        text = json.dumps(record).encode()
        lines.append(b"%08x %b\n" % (zlib.crc32(text), text))
    path.write_bytes(b"".join(lines))


def test_a_journal_without_times_has_a_page(tmp_path):
    hyperband(tmp_path).fit(X, Y)

    def change(record):
        for output in record.get("o", []):
            del output["span"]

    forge(tmp_path, change)
    said = words(page(tmp_path))
    assert "Workers" not in said
    assert "15 of 15 candidates" in said


def poison(record):
    """Put a script into every text that a page may show."""
    if record["k"] == "header":
        record.update({"class": EVIL, "unit": EVIL, "names": [EVIL]})
    if record["k"] == "ask" and record.get("p"):
        record["p"] = {EVIL: EVIL}
    if record["k"] == "tell":
        for output in record["o"]:
            output["span"][2] = EVIL
        if record["t"] == 0:
            for output in record["o"]:
                output.update({"status": "error", "error": EVIL, "fit_error": EVIL})


def test_texts_of_a_forged_journal_are_escaped_and_nothing_is_unpickled(tmp_path, monkeypatch):
    hyperband(tmp_path).fit(X, Y)
    forge(tmp_path, poison)

    def never(*args, **kwargs):
        raise AssertionError("something was unpickled")

    monkeypatch.setattr(pickle, "loads", never)
    monkeypatch.setattr(pickle, "load", never)
    text = page(tmp_path)
    assert is_closed(text)
    assert EVIL in words(text)


@pytest.mark.parametrize("junk", [[2, 1, "w"], [0, float("inf"), "w"], [0, 1], "x", [0, 1, 5], {}])
def test_forged_times_are_refused(tmp_path, junk, capsys):
    hyperband(tmp_path).fit(X, Y)

    def change(record):
        if record["k"] == "tell":
            record["o"][0]["span"] = junk

    forge(tmp_path, change)
    with pytest.raises(JournalError, match="span"):
        page(tmp_path)
    assert main([str(tmp_path)]) == 1
    assert "is not a valid entry" in capsys.readouterr().err


def test_times_far_apart_and_thousands_of_workers_make_a_page(tmp_path):
    hyperband(tmp_path).fit(X, Y)
    n = iter(range(10**6))

    def change(record):
        if record["k"] == "tell":
            for output in record["o"]:
                i = next(n)
                output["span"] = [-1e11 + i, 1e11 + i, f"worker {i}"]

    forge(tmp_path, change)
    text = page(tmp_path)
    assert is_closed(text)
    assert "nan" not in text


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 10**400, 1])
def test_forged_bounds_are_refused(tmp_path, value):
    hyperband(tmp_path).fit(X, Y)

    def change(record):
        if record["k"] == "header":
            record["bounds"] = [["score", "<=", value]]

    forge(tmp_path, change)
    with pytest.raises(JournalError, match="bounds"):
        page(tmp_path)


def test_intervals_of_saved_models_keep_the_limits_of_the_metric(tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), np.arange(40) % 2
    models = [("tree", DecisionTreeClassifier(random_state=0)), ("bayes", GaussianNB())]
    search = SearchCV(models, n_iter=4, cv=2, random_state=0, checkpoint_dir=tmp_path).fit(X, y)
    found = standings(read(load_history(tmp_path)))
    assert [each.low for each in found] == search.leaderboard()["low"].tolist()
    assert [each.high for each in found] == search.leaderboard()["high"].tolist()
    assert min(each.low for each in found) == 0
