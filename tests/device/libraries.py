#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests, as TAP, that `lig devices` names the libraries of the CUDA module where no GPU works: with a
driver that has no functions."""
import json
import os
import pathlib
import subprocess


def devices(*options, **settings):
    return subprocess.run([os.environ["LIG"], "devices", *options], env=os.environ | settings,
                          capture_output=True, text=True, check=True, timeout=60).stdout


def libraries(**settings):
    """Returns the libraries by name."""
    cuda = next(device for device in json.loads(devices("--json", **settings))
                if device["device"] == "cuda")
    assert not cuda["usable"] and cuda["reason"], cuda
    return {library["library"]: library for library in cuda["library_files"]}


def test_all():
    found = libraries()
    assert list(found) == ["cuBLASLt", "cuDNN", "NCCL"], found
    assert found["cuBLASLt"]["version"] and found["cuBLASLt"]["cost"] is None, found
    for library in found.values():
        assert set(library) == {"library", "version", "path", "reason", "cost"}, library
        if library["version"]:
            assert pathlib.Path(library["path"]).is_file() and library["reason"] is None, library
        else:
            assert library["cost"], library


def test_missing():
    cost = "attention runs on the built-in kernels, about 1.8 times slower forward"
    cudnn = libraries(LIGATURE_CUDNN="none")["cuDNN"]
    assert cudnn == {"library": "cuDNN", "version": None, "path": None,
                     "reason": "LIGATURE_CUDNN=none", "cost": cost}, cudnn
    # Lines are wrapped.
    text = " ".join(devices(LIGATURE_CUDNN="none").split())
    assert f"cuDNN is not used, LIGATURE_CUDNN=none: {cost}" in text, text
    cudnn = libraries(LIGATURE_CUDNN="/nowhere/libcudnn.so.9")["cuDNN"]
    assert cudnn["reason"].startswith("/nowhere/libcudnn.so.9: ") and not cudnn["path"], cudnn


for n, test in enumerate((test_all, test_missing), 1):
    try:
        test()
        print(f"ok {n} - {test.__name__[5:]}")
    except (AssertionError, StopIteration) as error:
        print(f"not ok {n} - {test.__name__[5:]}\n# {error}")
print("1..2")
