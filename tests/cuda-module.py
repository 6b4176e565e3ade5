#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""cuda-module.py MODULE TARGETS LINEINFO: checks the built module of the CUDA backend, as TAP: the
names that it exports, that it has code for the devices that TARGETS names, and its size, unless it
was built with line numbers (LINEINFO is true)."""
import importlib.util
import pathlib
import re
import subprocess
import sys

MAX_BYTES = 20_000_000  # bytes for all architectures, so for fewer ones, too
BENCH = pathlib.Path(__file__).resolve().parent / "bench"


def load_reader():
    """The script that reads object files."""
    spec = importlib.util.spec_from_file_location("machine_code", BENCH / "machine-code.py")
    reader = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(reader)
    return reader


def main():
    module, targets, lineinfo = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3] == "true"
    reader, data = load_reader(), module.read_bytes()
    listing = subprocess.run(["nm", "-D", "--defined-only", module], capture_output=True, text=True,
                             check=True).stdout
    names = [line.split()[-1] for line in listing.splitlines()]
    parts = {part[:2] for part in reader.find_parts(data)}
    wanted = {(reader.CUBIN, int(number)) for number in re.findall(r"sm_(\d+)", targets)}
    wanted |= {(reader.PTX, 90)} if "PTX" in targets else set()
    print("1..3")
    print("ok 1 - exports" if names == ["lig_backend"] else f"not ok 1 - exports: {names}")
    print("ok 2 - code" if wanted <= parts else f"not ok 2 - code: {parts}, the text is {targets}")
    if lineinfo:
        print("ok 3 - size # SKIP the module has line numbers (cuda-lineinfo)")
    elif len(data) <= MAX_BYTES:
        print("ok 3 - size")
    else:
        print(f"not ok 3 - size: {len(data)} bytes, at most {MAX_BYTES} are allowed")


if __name__ == "__main__":
    main()
