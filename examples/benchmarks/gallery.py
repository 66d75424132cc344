"""One import away: scikit-learn's own examples, with nothing but the import of the search changed.

Each script of the gallery that uses one of scikit-learn's four searches and downloads nothing runs
as it is, and then with the searches of the same names from `sksearch`. It counts as equal if all
searches that it fits have the same ``best_params_``, in the same order. Where they differ, the
script runs four times more: some choose by measured seconds, and are different each time.

    pip download --no-binary scikit-learn --no-deps "scikit-learn==1.9.*"    # and unpack it
    python examples/benchmarks/gallery.py scikit_learn-1.9.1 [--only PART_OF_A_NAME]

Exit status 1 if a script does not run, or finds something else.
"""

import argparse
import ast
import functools
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np

import sksearch

SEARCHES = {"GridSearchCV", "RandomizedSearchCV", "HalvingGridSearchCV", "HalvingRandomSearchCV"}
DOWNLOAD = re.compile(r"\bfetch_\w+\(")
SECONDS = 1800  # for one script


def names_of(source):
    """Searches that a script imports from scikit-learn."""
    return {
        alias.name
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.ImportFrom) and node.module == "sklearn.model_selection"
        for alias in node.names
    } & SEARCHES


def with_our_import(source):
    """The script with its searches imported from `sksearch.model_selection`."""
    lines = source.splitlines()
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.ImportFrom) or node.module != "sklearn.model_selection":
            continue
        names = [alias.name for alias in node.names]
        parts = {
            "sksearch.model_selection": [name for name in names if name in SEARCHES],
            node.module: [name for name in names if name not in SEARCHES],
        }
        imports = [
            f"from {module} import {', '.join(own)}" for module, own in parts.items() if own
        ]
        first = node.lineno - 1
        lines[first : node.end_lineno] = [
            " " * node.col_offset + "; ".join(imports),
            *[""] * (node.end_lineno - node.lineno),  # other imports keep their lines
        ]
    return "\n".join(lines)


def run_here(source, found):
    """Run a script in this process, and note what each search finds."""
    import matplotlib

    matplotlib.use("Agg")
    from sklearn.model_selection._search import BaseSearchCV
    from sklearn.model_selection._search_successive_halving import BaseSuccessiveHalving

    running = []

    def noted(fit):
        @functools.wraps(fit)
        def wrapper(search, *args, **kwargs):
            running.append(search)
            try:
                fitted = fit(search, *args, **kwargs)
            finally:
                running.pop()
            if search not in running:  # and not in the fit of its base class
                params = getattr(search, "best_params_", {})
                found.append({name: text_of(params[name]) for name in sorted(params)})
            return fitted

        return wrapper

    for cls in (BaseSearchCV, BaseSuccessiveHalving, sksearch.search.BaseSearch):
        cls.fit = noted(cls.fit)
    exec(compile(source, "example", "exec"), {"__name__": "__main__"})


def text_of(value):
    """A value as text, the same for NumPy's scalars and Python's."""
    return repr(value.item() if isinstance(value, np.generic) else value)


def run_apart(source):
    """What the searches of a script find, its error or "", and its seconds."""
    with tempfile.TemporaryDirectory() as folder:
        script, found = Path(folder, "example.py"), Path(folder, "found.json")
        script.write_text(source)
        command = [sys.executable, Path(__file__).resolve(), "--script", script, found]
        paths = [Path(sksearch.__file__).parents[1], os.environ.get("PYTHONPATH", "")]
        env = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, paths))}
        start = time.monotonic()
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=SECONDS, cwd=folder, env=env
            )
        except subprocess.TimeoutExpired:
            return None, f"not at its end after {SECONDS} s", SECONDS
        error = done.stderr.strip().splitlines()[-1] if done.returncode else ""
        seconds = time.monotonic() - start
        return json.loads(found.read_text()) if not error else None, error, seconds


def compare(source):
    """Say how a script fares, in a word, with what there is to tell."""
    theirs, error, seconds = run_apart(source)
    if error:
        return "fails as it is", error
    ours, error, our_seconds = run_apart(with_our_import(source))
    if error:
        return "FAILS", error
    text = f"{len(theirs)} searches, {seconds:.0f} s and {our_seconds:.0f} s"
    if ours == theirs:
        return "equal", text
    again = [run_apart(each)[0] for each in (source, source)]
    ours_again = [run_apart(with_our_import(source))[0] for _ in range(2)]
    if ours in again or theirs in ours_again:
        return "different each time", text
    pairs = [f"{a} and {b}" for a, b in zip(theirs, ours, strict=False) if a != b]
    return "DIFFERENT", f"{text}; {len(ours)} with ours; {'; '.join(pairs)}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", type=Path, help="scikit-learn's source distribution, unpacked")
    parser.add_argument("--only", default="", help="a part of the scripts' names")
    args = parser.parse_args()
    counts = Counter()
    for path in sorted((args.source / "examples").rglob("*.py")):
        source = path.read_text()
        names = names_of(source)
        if not names or args.only not in path.stem:
            continue
        if DOWNLOAD.search(source):
            word, text = "downloads", ""
        else:
            word, text = compare(source)
        counts[word] += 1
        print(f"{word:20} {path.stem}  {text}", flush=True)
    print("\n" + ", ".join(f"{n} {word}" for word, n in counts.most_common()))
    return 1 if counts["FAILS"] or counts["DIFFERENT"] else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--script"]:
        outcome = []
        run_here(Path(sys.argv[2]).read_text(), outcome)
        Path(sys.argv[3]).write_text(json.dumps(outcome))
    else:
        sys.exit(main())
