"""What is loaded again in the process that it comes from is the same class, function or module."""

import os
import sys
import types

import pytest

from sksearch._utils._compat import cloudpickle
from sksearch._utils._pickles import dumps, loads
from sksearch.executors.local._process import WorkerProcess

FACTOR = 2


@pytest.fixture
def main(monkeypatch):
    """A module whose classes cannot be imported elsewhere, as ``__main__``."""
    module = types.ModuleType("users_notebook")
    monkeypatch.setitem(sys.modules, "users_notebook", module)
    cloudpickle.register_pickle_by_value(module)
    exec(
        "import enum\nSCALE = 1\n"
        "def scaled(x): return x * SCALE\n"
        "class Model:\n"
        "    def predict(self): return scaled(10)\n"
        "    class Part: pass\n"
        "class Kind(enum.Enum):\n    ODD = 1\n"
        "class OwnError(Exception):\n"
        "    def __init__(self, text, number=1):\n"
        "        super().__init__(text)\n",
        vars(module),
    )
    yield module
    cloudpickle.unregister_pickle_by_value(module)


@pytest.mark.parametrize("name", ["Model", "Model.Part", "Kind", "scaled", "Model.predict"])
def test_what_has_a_name_here_is_what_the_name_leads_to(main, name):
    value = main
    for part in name.split("."):
        value = getattr(value, part)
    assert loads(dumps(value)) is value
    assert loads(dumps([value]), is_live=True)[0] is value


def test_an_instance_is_copied_and_its_class_is_not_touched(main):
    model, before = main.Model(), dict(vars(main.Model))
    model.x = [1]
    copy = loads(dumps(model))
    assert copy is not model
    assert copy.x == [1]
    assert copy.x is not model.x
    assert type(copy) is main.Model
    assert all(vars(main.Model)[name] is value for name, value in before.items())
    main.SCALE = 7
    assert copy.predict() == 70
    main.scaled = lambda x: "redefined"
    assert copy.predict() == "redefined"


def test_a_class_without_a_name_is_found_by_its_number():
    class Local:
        n = 1

        def method(self):
            return FACTOR

    method = Local.method
    content = dumps(Local())
    Local.n = 2
    assert type(loads(content)) is Local
    assert Local.n == 2
    assert Local.method is method


def test_a_module_of_nobody_and_a_lambda_without_data_stay_what_they_are(main):
    module = types.ModuleType("of_nobody")
    module.x = 1
    double = eval("lambda x: x * SCALE", vars(main))
    assert loads(dumps(module)) is module
    assert loads(dumps(double)) is double


def test_a_function_that_holds_what_it_belongs_to_is_copied_with_it():
    class Model:
        def __init__(self):
            self.n = 1
            self.count = lambda: self.n
            self.default = eval("lambda self=self: self.n", {"self": self})

    model = Model()
    copy = loads(dumps(model))
    copy.n = 2
    assert (model.count(), copy.count()) == (1, 2)
    assert (model.default(), copy.default()) == (1, 2)


def test_an_error_with_a_class_of_the_user_comes_back_as_that_class(main):
    before = main.OwnError.__init__
    error = loads(dumps((True, main.OwnError("text"))))[1]
    assert type(error) is main.OwnError
    assert error.args == ("text",)
    assert main.OwnError.__init__ is before


IN_WORKER = """
from sksearch._utils._pickles import dumps, loads

def is_left_alone(model):
    before = type(model).predict
    copy = loads(dumps(model))
    return type(copy) is type(model) and type(model).predict is before

def predicted(model):
    return model.predict()

def returned(model):
    return [model, type(model), scaled]
"""


@pytest.fixture
def worker():
    process = WorkerProcess()
    yield process
    process.kill()


@pytest.mark.slow
def test_a_worker_makes_classes_again_for_news_and_leaves_its_own_copies_alone(main, worker):
    exec(IN_WORKER, vars(main))
    model = main.Model()
    for scale in (1, 3):
        main.SCALE = scale
        assert worker.call(main.predicted, model) == 10 * scale
        assert worker.call(main.is_left_alone, model)
        assert worker.call(main.predicted, model) == 10 * scale
    predict = main.Model.predict
    copy, cls, function = worker.call(main.returned, model)
    assert copy is not model
    assert type(copy) is cls is main.Model
    assert function is main.scaled
    assert cls.predict is predict
    main.scaled = lambda x: "redefined"
    assert worker.call(main.predicted, model) == "redefined"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks are of Unix")
@pytest.mark.filterwarnings("ignore:This process.*multi-threaded:DeprecationWarning")
def test_what_its_parent_changes_is_news_to_a_forked_process(main):
    (to_child, from_parent), (to_parent, from_child) = os.pipe(), os.pipe()
    if os.fork() == 0:
        try:
            os.close(from_parent)
            with open(to_child, "rb") as file:
                model = loads(file.read(), is_live=True)
            os.write(from_child, str(model.predict()).encode())
        finally:
            os._exit(0)
    os.close(to_child)
    os.close(from_child)
    main.SCALE = 5
    with open(from_parent, "wb") as file:
        file.write(dumps(main.Model()))
    with open(to_parent, "rb") as file:
        assert file.read() == b"50"
    os.wait()
