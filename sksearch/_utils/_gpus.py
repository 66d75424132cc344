"""GPUs used by PyTorch in this process; PyTorch itself is not imported."""

import sys
from typing import Any


def gpus_in_use() -> dict[str, Any]:
    """Return PyTorch's modules of the GPU kinds in use, by "cuda", "xpu" or "mps"."""
    torch = sys.modules.get("torch")
    kinds = {kind: getattr(torch, kind, None) for kind in ("cuda", "xpu")}
    found = {kind: gpus for kind, gpus in kinds.items() if gpus and gpus.is_initialized()}
    mps = getattr(getattr(torch, "backends", None), "mps", None)
    if mps is not None and mps.is_available():  # whether it is in use is unknown
        found["mps"] = sys.modules["torch"].mps
    return found


def free_gpu_caches() -> None:
    """Free the GPU memory cached by PyTorch."""
    for gpus in gpus_in_use().values():
        gpus.empty_cache()
