"""A disk in memory that forgets what was not synced.

What a program sees is ahead of what a loss of power leaves: writes and names wait until they are
synced. Those that wait may be lost, torn at any byte, or reordered.
"""

import errno
import itertools
import os
import stat


class File:
    """The content of a file: as it is seen, and as a loss of power leaves it."""

    def __init__(self, number):
        self.number, self.n_names = number, 0
        self.holder = None  # the process that has locked it
        self.data, self.durable = bytearray(), bytearray()
        self.pending = []  # (offset, bytes), or (size, None) where it was cut
        self.is_forgotten = False  # whether a sync has failed, and nothing was done about it

    mode = stat.S_IFREG | 0o600

    def write(self, offset, data):
        """Write what is seen at once, and is not durable yet."""
        _write(self.data, offset, data)
        self.pending.append((offset, bytes(data)))

    def cut(self, size):
        """Cut the file."""
        self.is_forgotten = False
        _write(self.data, size, None)
        self.pending.append((size, None))

    def sync(self):
        """Make everything durable that was written since, in the order in which it was."""
        for offset, data in self.pending:
            _write(self.durable, offset, data)
        self.pending.clear()

    def forget(self):
        """Fail to sync: the system takes for written what is not."""
        self.pending.clear()
        self.is_forgotten = True

    def remember(self):
        """Have the system try again, where the process has died before it could do anything."""
        if self.is_forgotten:
            self.durable, self.is_forgotten = bytearray(self.data), False

    def lose_power(self, rng):
        """Keep a part of what was not synced."""
        if self.pending:
            fate = rng.choice(["kept", "lost", "torn", "reordered"])
            for offset, data in _surviving(self.pending, fate, rng):
                _write(self.durable, offset, data)
        self.data, self.pending, self.holder = bytearray(self.durable), [], None


def _surviving(pending, fate, rng):
    """What reaches the disk of writes that were not synced."""
    if fate == "kept":
        return pending
    if fate == "lost":
        return []
    if fate == "torn":  # the first of them, and the last of those not whole
        n = rng.randrange(len(pending))
        offset, data = pending[n]
        return [*pending[:n], (offset, data and data[: rng.randrange(len(data) + 1)])]
    pieces = []  # each page may be there or not; what lies before it is zeros then
    for offset, data in pending:
        if data is None:
            pieces.append((offset, data))
        else:
            cuts = sorted({0, rng.randrange(len(data) + 1), len(data)})
            pieces += [(offset + a, data[a:b]) for a, b in itertools.pairwise(cuts)]
    return [piece for piece in pieces if rng.random() < 0.5]


def _write(content, offset, data):
    """Write into bytes, with zeros where nothing was; cut them there if there is no data."""
    if data is None:
        del content[offset:]
    if len(content) < offset:
        content.extend(bytes(offset - len(content)))
    if data is not None:
        content[offset : offset + len(data)] = data


class Folder:
    """Names of files and folders: as they are seen, and as a loss of power leaves them."""

    mode = stat.S_IFDIR | 0o700
    n_names = 2
    data = b""

    def __init__(self, number):
        self.number = number
        self.names, self.durable = {}, {}
        self.pending = []  # dicts of a name and what it is now, None for nothing

    def change(self, **names):
        """Give names to files, or take them away, all at the same moment."""
        _rename(self.names, names, count=True)
        self.pending.append(names)

    def sync(self):
        """Make the names durable."""
        for names in self.pending:
            _rename(self.durable, names)
        self.pending.clear()

    def lose_power(self, rng):
        """Keep a part of the names that were not synced."""
        for names in self.pending:
            if rng.random() < 0.5:
                _rename(self.durable, names)
        self.names, self.pending = dict(self.durable), []


def _rename(names, changes, count=False):
    for name, node in changes.items():
        old = names.pop(name, None)
        if node is not None:
            names[name] = node
        if count:
            for one, more in ((old, -1), (node, 1)):
                if isinstance(one, File):
                    one.n_names += more


class Disk:
    """Files and folders by path; errors are those of `os`."""

    def __init__(self):
        self._numbers = itertools.count(2)
        self.root = Folder(1)

    def node(self, path):
        """What a path leads to; FileNotFoundError or NotADirectoryError."""
        node = self.root
        for part in str(path).split("/"):
            if part:
                if not isinstance(node, Folder):
                    raise error(errno.ENOTDIR, path)
                if part not in node.names:
                    raise error(errno.ENOENT, path)
                node = node.names[part]
        return node

    def has(self, path):
        """Whether there is something at a path."""
        try:
            self.node(path)
        except FileNotFoundError:
            return False
        return True

    def place(self, path):
        """The folder of a path, and the name in it."""
        head, _, name = str(path).rpartition("/")
        folder = self.node(head)
        if not isinstance(folder, Folder):
            raise error(errno.ENOTDIR, path)
        return folder, name

    def make(self, path, kind=File):
        """Make a file or a folder; FileExistsError."""
        folder, name = self.place(path)
        if name in folder.names:
            raise error(errno.EEXIST, path)
        node = kind(next(self._numbers))
        folder.change(**{name: node})
        return node

    def replace(self, old, new):
        """Rename a file within its folder."""
        folder, name = self.place(old)
        node = self.node(old)
        folder.change(**{name: None, self.place(new)[1]: node})

    def link(self, old, new):
        """Give a file another name."""
        folder, name = self.place(new)
        if name in folder.names:
            raise error(errno.EEXIST, new)
        folder.change(**{name: self.node(old)})

    def remove(self, path):
        """Remove a file."""
        folder, name = self.place(path)
        if isinstance(self.node(path), Folder):
            raise error(errno.EISDIR, path)
        folder.change(**{name: None})

    def remove_all(self, path):
        """Remove a folder with all that is in it, as others do; durable at once."""
        folder, name = self.place(path)
        folder.change(**{name: None})
        folder.sync()

    def lose_power(self, rng):
        """Lose a part of what was not synced; files without a name are gone."""
        nodes, seen = [self.root], set()
        while nodes:
            node = nodes.pop()
            if node.number not in seen:
                seen.add(node.number)
                node.lose_power(rng)
                nodes += node.names.values() if isinstance(node, Folder) else ()
        for node in self.files().values():
            node.n_names = 0
        for node in self.files().values():
            node.n_names += 1

    def files(self, folder="/"):
        """All files by path, in a folder and those below it."""
        found = {}
        try:
            top = self.node(folder)
        except OSError:
            return found
        todo = [(str(folder).rstrip("/"), top)]
        while todo:
            path, node = todo.pop()
            if isinstance(node, File):
                found[path] = node
            else:
                todo += [(f"{path}/{name}", child) for name, child in node.names.items()]
        return found

    def contents(self, folder="/"):
        """Bytes of all files by path."""
        return {path: bytes(file.data) for path, file in self.files(folder).items()}


def error(number, path):
    """The OSError of a number."""
    return OSError(number, os.strerror(number), str(path))
