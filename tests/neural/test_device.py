"""Devices and full memory, as far as it can be told without a GPU."""

import pytest

pytest.importorskip("torch")
pytest.importorskip("skorch")

import torch

from sksearch.neural import PixelLogisticClassifier
from sksearch.neural._device import choose_device, choose_precision, memory_errors


@pytest.mark.parametrize(
    "message",
    [
        "CUDA error: out of memory\nCompile with `TORCH_USE_CUDA_DSA`",
        "CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`",
        "[enforce fail at alloc_cpu.cpp:128] err == 0. DefaultCPUAllocator: can't allocate memory",
    ],
)
def test_full_memory_is_one_error_whatever_it_is_called(message):
    with pytest.raises(MemoryError, match=r"ALLOC_FAILED|memory"), memory_errors():
        raise RuntimeError(message)


def test_other_errors_stay_what_they_are():
    with pytest.raises(RuntimeError, match="illegal memory access"), memory_errors():
        raise RuntimeError("CUDA error: an illegal memory access was encountered")


def test_a_gpu_that_is_not_there_is_named(images, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(ValueError, match="needs a GPU that PyTorch can use, but none was found"):
        PixelLogisticClassifier(device="cuda").fit(*images)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    with pytest.raises(ValueError, match=r"device='cuda:1', but this process sees 1 GPU: set"):
        PixelLogisticClassifier(device="cuda:1").fit(*images)


@pytest.mark.parametrize("name", ["xpu", "mps"])
def test_other_gpus_that_are_not_there_are_named(name, images):
    with pytest.raises(ValueError, match=f"device='{name}' needs a GPU .* none was found"):
        PixelLogisticClassifier(device=name).fit(*images)


@pytest.mark.parametrize("kind", ["cuda", "xpu", "mps", "cpu"])
def test_auto_is_the_gpu_that_is_there(kind, monkeypatch):
    modules = {"cuda": torch.cuda, "xpu": torch.xpu, "mps": torch.backends.mps}
    for name, module in modules.items():
        monkeypatch.setattr(module, "is_available", lambda name=name: name == kind)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    assert choose_device("auto").type == kind


@pytest.mark.parametrize(("native", "expected"), [(True, "bf16"), (False, "fp32")])
def test_a_precision_that_is_emulated_is_not_chosen(native, expected, monkeypatch):
    def is_supported(including_emulation=True):
        return native or including_emulation

    monkeypatch.setattr(torch.cuda, "is_bf16_supported", is_supported)
    assert choose_precision("auto", torch.device("cuda")) == expected
    assert choose_precision("auto", torch.device("cpu")) == "fp32"
