"""Examples on the site: code without prompts, and its output beneath.

The pages themselves contain doctests, so their outputs are checked.
"""

import doctest
import re

BLOCK = re.compile(r"^```python\n(>>> .*?)^```$", flags=re.DOTALL | re.MULTILINE)
ONLY_FOR_TESTS = re.compile(r"^(\s*)_ = |\s*# doctest: .*$", flags=re.MULTILINE)
LAST_IMPORT = re.compile(
    r"^((?:from|import) .*[^(\n]\n)(?!from |import |\n)(?=.)", flags=re.MULTILINE
)
TRUTH = re.compile(r"^bool\((.*)\)$")


def without_prompts(page: str) -> str:
    """Replace each doctest of a page by blocks of code, each followed by its output.

    Parameters
    ----------
    page : str
        Markdown.

    Returns
    -------
    page : str
        Markdown of MyST. Unused results, conversions to bool and options of doctest are left out.
    """
    return BLOCK.sub(lambda block: "\n\n".join(_blocks(block[1])), page)


def _blocks(examples):
    """Blocks of code and of output, in turns."""
    code = ""
    for example in doctest.DocTestParser().get_examples(examples):
        source = ONLY_FOR_TESTS.sub(r"\1", example.source)
        code += TRUTH.sub(r"\1", source.rstrip()) + "\n"
        if example.want:
            yield _code(code)
            yield f"```{{code-block}} text\n:class: output\n\n{example.want}```"
            code = ""
    if code:
        yield _code(code)


def _code(code):
    """A block of code, with an empty line below its imports."""
    return "```python\n" + LAST_IMPORT.sub(r"\1\n", code) + "```"
