"""Small faults: each is one piece of the text of a file, and what stands there instead."""

import ast
from collections import Counter
from dataclasses import dataclass, field

COMPARED_AS = {
    ast.Eq: [ast.NotEq],
    ast.NotEq: [ast.Eq],
    ast.Lt: [ast.LtE, ast.GtE],
    ast.LtE: [ast.Lt, ast.Gt],
    ast.Gt: [ast.GtE, ast.LtE],
    ast.GtE: [ast.Gt, ast.Lt],
    ast.Is: [ast.IsNot],
    ast.IsNot: [ast.Is],
    ast.In: [ast.NotIn],
    ast.NotIn: [ast.In],
}
COMPUTED_AS = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
}
JOINED_AS = {ast.And: ast.Or, ast.Or: ast.And}
#: Where a warning points to is no fault, nor is how much memory an object takes.
LEFT_ALONE = {"stacklevel", "slots"}
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclass(frozen=True)
class Mutant:
    """One fault.

    Parameters
    ----------
    path : str
        The file, from the root of the repository.
    function : str
        Name of the function or class that it is in, "" for the module itself.
    text : str
        The line on which it begins.
    change : str
        What stood there, and what stands there now; with a number, if that is on the line twice.
    source : bytes
        The file without it.
    start, end : int
        Bytes that are replaced.
    new : str
        What replaces them.
    lines, function_lines : range
        Lines of what is replaced, and of the function.
    in_body : bool
        Whether it is in the body of a function, and not run by an import.
    """

    path: str
    function: str
    text: str
    change: str
    source: bytes = field(repr=False)
    start: int
    end: int
    new: str
    lines: range
    function_lines: range
    in_body: bool

    @property
    def key(self):
        """What tells it from all others, wherever it stands in its function."""
        return f"{self.path}: {self.function}".rstrip(), self.text, self.change

    @property
    def broken(self):
        """The source with the fault in it."""
        return self.source[: self.start] + self.new.encode() + self.source[self.end :]


def mutants_of(path, source):
    """List the faults of a file, of its name and bytes."""
    lines = source.splitlines(keepends=True)
    begins = [0]
    for line in lines:
        begins.append(begins[-1] + len(line))
    found, seen = [], Counter()
    tree = ast.parse(source)
    for node, function, function_lines, in_body in _walk(tree, "", range(1, len(lines) + 1)):
        for (first, last), new in _changes(node):
            start = begins[first.lineno - 1] + first.col_offset
            end = begins[last.end_lineno - 1] + last.end_col_offset
            old = " ".join(source[start:end].decode().split())
            text = lines[first.lineno - 1].decode().strip()
            change = f"{old} -> {new}"
            seen[function, text, change] += 1
            if (number := seen[function, text, change]) > 1:
                change += f" #{number}"
            touched = range(first.lineno, last.end_lineno + 1)
            place = path, function, text, change, source
            found.append(Mutant(*place, start, end, new, touched, function_lines, in_body))
    return found


def _walk(node, function, lines, in_body=False):
    """Yield what can be broken, and where; no annotations, no texts."""
    yield node, function, lines, in_body
    is_function = isinstance(node, FUNCTIONS[:2])
    if _is_choice(node):
        return
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns"):
            continue
        is_inner = in_body or (is_function and name == "body")
        for child in value if isinstance(value, list) else [value]:
            if not isinstance(child, ast.AST) or isinstance(child, (ast.JoinedStr, ast.pattern)):
                continue
            if isinstance(child, ast.keyword) and child.arg in LEFT_ALONE:
                continue
            if isinstance(child, FUNCTIONS):
                inner = f"{function}.{child.name}".lstrip(".")
                yield from _walk(child, inner, range(child.lineno, child.end_lineno + 1), is_inner)
            else:
                yield from _walk(child, function, lines, is_inner)


def _is_choice(node):
    """Whether it is a number with a name, such as a limit: a test would only repeat it."""
    if not (isinstance(node, ast.Assign) and ast.unparse(node.targets).isupper()):
        return False
    numbers = (ast.Constant, ast.BinOp, ast.operator)
    return all(isinstance(each, numbers) for each in ast.walk(node.value))


def _changes(node):
    """Yield the first and the last node that are replaced, and what replaces them."""
    if isinstance(node, ast.expr):
        for new in _other_expressions(node):
            yield (node, node), new
    elif isinstance(node, ast.ExceptHandler):
        if ast.unparse(node.body) != "raise":
            yield (node.body[0], node.body[-1]), "raise"
    elif isinstance(node, ast.stmt):
        yield from _other_statements(node)
    if isinstance(node, (ast.If, ast.While, ast.IfExp)) and not _is_logical(node.test):
        yield (node.test, node.test), f"not ({ast.unparse(node.test)})"


def _other_expressions(node):
    match node:
        case ast.Compare(left, ops, comparators):
            for i, op in enumerate(ops):
                for other in COMPARED_AS[type(op)]:
                    yield _text(ast.Compare(left, [*ops[:i], other(), *ops[i + 1 :]], comparators))
        case ast.BoolOp(op, values):
            yield _text(ast.BoolOp(JOINED_AS[type(op)](), values))
        case ast.UnaryOp(ast.Not(), operand):
            yield _text(operand)
        case ast.BinOp(left, op, right) if type(op) in COMPUTED_AS:
            if not isinstance(left, (ast.JoinedStr, ast.Constant)) or _is_number(left):
                yield _text(ast.BinOp(left, COMPUTED_AS[type(op)](), right))
        case ast.Constant(bool(value)):
            yield repr(not value)
        case ast.Constant(int(value) | float(value)):
            yield from (repr(value + 1), repr(value - 1))
        case ast.Call(func, args, keywords):
            for i, keyword in enumerate(keywords):
                if keyword.arg is not None and keyword.arg not in LEFT_ALONE:
                    yield ast.unparse(ast.Call(func, args, keywords[:i] + keywords[i + 1 :]))
            is_needed = len(args) > 1 and ast.unparse(args[-1]) != "UserWarning"  # the default
            if is_needed or (args and ast.unparse(func).endswith("suppress")):
                yield ast.unparse(ast.Call(func, args[:-1], keywords))


def _other_statements(node):
    match node:
        case ast.Assign(value=value) | ast.AnnAssign(value=ast.expr() as value):
            if not isinstance(value, ast.Constant):
                yield (value, value), "None"
        case ast.AugAssign(target, op, value):
            yield (node, node), "pass"
            if type(op) in COMPUTED_AS:
                yield (
                    (node, node),
                    ast.unparse(ast.AugAssign(target, COMPUTED_AS[type(op)](), value)),
                )
        case ast.Return(value=ast.expr() as value):
            if not isinstance(value, ast.Constant) or isinstance(value.value, (str, bytes)):
                yield (value, value), "None"
        case ast.Expr(value=ast.Call()) | ast.Raise() | ast.Delete():
            yield (node, node), "pass"
        case ast.Break():
            yield (node, node), "continue"
        case ast.Continue():
            yield (node, node), "break"


def _is_logical(node):
    """Whether it is broken by what it is."""
    is_not = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
    return is_not or isinstance(node, (ast.Compare, ast.BoolOp))


def _is_number(node):
    return isinstance(node, ast.Constant) and isinstance(node.value, (int, float))


def _text(node):
    """The text of an expression, wherever it is put."""
    text = ast.unparse(node)
    return text if isinstance(node, (ast.Compare, ast.Name, ast.Call)) else f"({text})"
