"""Errors about packages that are not there."""

import re
import tomllib

from sksearch._utils._on_demand import missing
from tests.test_docs import ROOT


def test_an_error_names_a_way_that_works_for_a_package_on_no_index():
    text = str(missing("to_mlflow needs MLflow", "mlflow"))
    assert 'pip install ".[mlflow]" in the folder of this checkout' in text


def test_each_extra_that_an_error_names_is_one():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    files = [path.read_text() for path in (ROOT / "sksearch").rglob("*.py")]
    named = {name for text in files for name in re.findall(r'missing\([^)]*"(\w+)"\)', text)}
    assert len(named) >= 6
    assert named <= project["optional-dependencies"].keys()


def test_nobody_is_sent_to_an_index_that_has_no_such_package():
    folders = [ROOT / name for name in ("sksearch", "docs", "examples")]
    paths = [path for folder in folders for path in folder.rglob("*")]
    texts = {path: path.read_text() for path in paths if path.suffix in (".py", ".md")}
    assert not [path for path, text in texts.items() if 'pip install "sksearch[' in text]
