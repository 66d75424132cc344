"""What others put into the folder of a search, and into that of its user's key."""

import hashlib
import pickle

from sksearch.checkpoint._lines import decode, encode
from tests.simulation.chance import happens

exploded = []


def explode():
    """Note that foreign code has run."""
    exploded.append(True)


class Bomb:
    """Runs foreign code when it is unpickled."""

    def __reduce__(self):
        return explode, ()


def forge_state(disk, folder, rng):
    """Put a bomb in the place of a state that a journal or a worker's output names.

    Return whether there was one.
    """
    paths = [f"{folder}/journal.jsonl", *(p for p in disk.files(f"{folder}/spool"))]
    found = []
    for path in paths:
        for number, line in enumerate(_lines(disk, path)):
            record = decode(line)
            outputs = record.get("o", [record]) if record else []
            found += [
                (path, number, n)
                for n, output in enumerate(outputs if isinstance(outputs, list) else [])
                if isinstance(output, dict) and output.get("state")
            ]
    if not found:
        return False
    path, number, n = rng.choice(found)
    if happens(rng, 0.3):  # no sum and no signature is forged
        record = decode(_lines(disk, path)[number])
        entry = (record["o"][n] if "o" in record else record)["state"]
        put(disk, f"{folder}/states/{entry['f']}", pickle.dumps(Bomb()))
        return True
    lines = _lines(disk, path)
    record = decode(lines[number])
    entry = (record["o"][n] if "o" in record else record)["state"]
    content = pickle.dumps(Bomb())
    name = rng.choice([entry["f"], f"0.1.0.{'f' * 16}"])
    signatures = ["", "0" * 64, entry.get("s", ""), hashlib.sha256(content).hexdigest()]
    entry |= {
        "f": name,
        "h": hashlib.sha256(content).hexdigest(),
        "n": len(content),
        "s": rng.choice(signatures),
    }
    lines[number] = encode(record)
    put(disk, path, b"".join(lines))
    put(disk, f"{folder}/states/{name}", content)
    return True


def damage_state(disk, folder, rng):
    """Change a byte of a state; return whether there was one."""
    files = sorted(disk.files(f"{folder}/states").items())
    files = [(path, file) for path, file in files if file.data]
    if not files:
        return False
    path, file = rng.choice(files)
    content = bytearray(file.data)
    content[rng.randrange(len(content))] ^= 1 + rng.randrange(255)
    put(disk, path, bytes(content))
    return True


def spoil_key(disk, path, rng):
    """Remove the key, or put something else in its place."""
    files = disk.files()
    if path not in files:
        return False
    content = rng.choice([None, b"", b"x" * 31, b"x" * 4096])
    if content is None:
        disk.remove(path)
        disk.place(path)[0].sync()
    else:
        put(disk, path, content)
    return True


def put(disk, path, content):
    """Write a file at once and for good."""
    file = disk.files().get(path) or disk.make(path)
    file.cut(0)
    file.write(0, content)
    file.sync()
    disk.place(path)[0].sync()


def _lines(disk, path):
    file = disk.files().get(path)
    return bytes(file.data).splitlines(keepends=True) if file else []
