"""A key of this user that signs fitted models: no others are ever unpickled.

The key is a file in the user's configuration. Who makes a checkpoint for somebody else has another
key, so its models are trained again. Where no key can be kept, models are not signed.
"""

import hashlib
import hmac
import os
import secrets
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from sksearch._files import open_own, read_own

SIZE = 32  # bytes


def key_file() -> Path:
    """Return where the key is: in ``XDG_CONFIG_HOME`` (on Windows ``APPDATA``), or in the home."""
    place = os.environ.get("APPDATA" if os.name == "nt" else "XDG_CONFIG_HOME")
    folder = Path(place) if place else Path("~/.config").expanduser()
    return folder / "sksearch" / "key"


def make_key() -> None:
    """Make the key if there is none; where it cannot be kept there will be none."""
    with suppress(OSError, RuntimeError):  # no home
        file = key_file()
        if file.exists():
            return
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        unfinished = file.with_name(f"key.{os.getpid()}.{secrets.token_hex(4)}")
        try:
            descriptor = open_own(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
            with open(descriptor, "wb") as out:
                out.write(secrets.token_bytes(SIZE))
            try:
                os.link(unfinished, file)  # of two at once the first one stays
            except FileExistsError:
                pass
            except OSError:  # a file has one name there
                unfinished.rename(file)
        finally:
            unfinished.unlink(missing_ok=True)
    _read.cache_clear()


def sign(sha: str) -> str:
    """Return the signature of a file by its SHA-256; "" if this user has no key."""
    with suppress(RuntimeError):  # no home
        if (key := _read(key_file())) is not None:
            return hmac.new(key, sha.encode(), hashlib.sha256).hexdigest()
    return ""


def is_signed(sha: str, signature: str) -> bool:
    """Whether a signature is this user's own; true if the user has no key."""
    return hmac.compare_digest(sign(sha), signature) or sign(sha) == ""


@lru_cache(4)
def _read(file: Path) -> bytes | None:
    with suppress(OSError):
        key = read_own(file)
        return key if len(key) == SIZE else None
    return None
