"""Links from a name in a text to its page: a public name to the API, an example to the gallery.

An author writes ``HyperbandSearchCV`` or ``examples/plot_trees.py`` as code, and nothing else.
"""

import re

from docutils import nodes
from public_lists import SECTIONS, public_objects
from sphinx import addnodes
from sphinx.transforms import SphinxTransform

NAME = re.compile(r"(?P<module>sksearch(?:\.[a-z]\w*)*\.)?(?P<name>[A-Za-z]\w*)(?P<call>\(.*\))?")
EXAMPLE = re.compile(r"(?:python )?examples/(plot_\w+)\.py.*")
NO_LINKS_IN = (nodes.reference, nodes.title, addnodes.pending_xref, addnodes.desc_signature)


class LinkNames(SphinxTransform):
    """Make a link of each literal that is a public name, or the file of an example.

    What docstrings have between single backticks is a literal, too.
    """

    default_priority = 300

    def apply(self) -> None:
        """Wrap literals into references that Sphinx resolves, where there are none yet."""
        for quoted in list(self.document.findall(nodes.title_reference)):
            quoted.replace_self(nodes.literal("", quoted.astext()))
        for literal in list(self.document.findall(nodes.literal)):
            if not any(isinstance(node, NO_LINKS_IN) for node in _ancestors(literal)):
                role = self._role(literal.astext())
                if role:
                    literal.replace_self(
                        addnodes.pending_xref("", literal.deepcopy(), refexplicit=True, **role)
                    )

    def _role(self, text):
        """Domain, type and target of what a text names; None if it names nothing of ours."""
        if example := EXAMPLE.fullmatch(text):
            target = f"/gallery/{example[1]}"
            return {"refdomain": "std", "reftype": "doc", "reftarget": target}
        target = target_of(text)
        return target and {"refdomain": "py", "reftype": "obj", "reftarget": target}


def target_of(text: str) -> str | None:
    """Return the full name of the public object that a piece of code names.

    A word in small letters, such as ``report``, is taken for a name only with its module, with
    parentheses or with an underscore.

    Parameters
    ----------
    text : str
        Such as ``GPSampler(warp=True)``.

    Returns
    -------
    target : str or None
        Such as ``sksearch.samplers.GPSampler``.
    """
    found = NAME.fullmatch(text)
    if not found:
        return None
    is_plain_word = found["name"].islower() and "_" not in found["name"]
    if is_plain_word and not found["module"] and not found["call"]:
        return None
    return TARGETS.get(found["name"])


def _ancestors(node):
    while node := node.parent:
        yield node


def _targets():
    """Full name of each public object by its name, as the API page lists it."""
    targets, listed = {}, set()
    for module in SECTIONS.values():
        for name, obj in public_objects(module).items():
            if obj not in listed:
                listed.add(obj)
                targets.setdefault(name, f"{module}.{name}")
    return targets


TARGETS = _targets()
