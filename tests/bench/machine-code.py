#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the machine code of CUDA kernels in two folders of object files, without CUDA's tools.

    python3 tests/bench/machine-code.py BEFORE build/kernels/cuda

Prints each kernel whose code differs, with its architecture, registers, bytes of stack, bytes of
shared memory and bytes of code before and after, and whether its numbers of floating-point
instructions or shuffles differ. A change that only moves code does not change these numbers. Code
for an architecture that only one build has is not compared. Line numbers and compression do not
matter; libzstd decompresses.
"""
import collections
import ctypes
import hashlib
import pathlib
import struct
import subprocess
import sys

# The low 9 bits of instructions (sm_70 and newer) that compute or shuffle numbers.
COUNTED = {0x20: "FMUL", 0x21: "FADD", 0x23: "FFMA", 0x09: "FMNMX", 0x108: "MUFU", 0x28: "DMUL",
           0x29: "DADD", 0x2b: "DFMA", 0x30: "HADD2", 0x31: "HFMA2", 0x32: "HMUL2", 0x189: "SHFL"}
FRAME_SIZE, REGISTER_COUNT = 0x11, 0x2f  # attributes of .nv.info
FATBIN = struct.pack("<I", 0xba55ed50)
PTX, CUBIN = 1, 2  # kinds of a part


def unpack(packed, size):
    """Returns the bytes decompressed by libzstd."""
    zstd = ctypes.CDLL("libzstd.so.1")
    zstd.ZSTD_decompress.restype = ctypes.c_size_t
    content = ctypes.create_string_buffer(size)
    found = zstd.ZSTD_decompress(content, ctypes.c_size_t(size), packed, ctypes.c_size_t(len(packed)))
    if found != size:
        sys.exit(f"machine code: {len(packed)} bytes do not unpack to {size}; compile with --no-compress")
    return content.raw


def find_parts(data):
    """Yields kind, architecture, content and decompressed size (0: not compressed) of each GPU part
    in an object file or library of the host."""
    start = -1
    while (start := data.find(FATBIN, start + 1)) >= 0:
        header, size = struct.unpack_from("<HQ", data, start + 6)
        at, end = start + header, start + header + size
        while at < end:
            kind, _, header, size, packed = struct.unpack_from("<HHIQI", data, at)
            architecture, = struct.unpack_from("<I", data, at + 28)
            unpacked, = struct.unpack_from("<Q", data, at + 56)
            yield (kind, architecture, data[at + header:at + header + (packed or size)],
                   unpacked if packed else 0)
            at += header + size


def find_cubins(data):
    """Yields architecture and ELF image of each part with machine code."""
    for kind, architecture, content, size in find_parts(data):
        if kind == CUBIN:
            yield architecture, unpack(content, size) if size else content


def read_sections(cubin):
    """Name, size and content of each section."""
    offset, = struct.unpack_from("<Q", cubin, 40)
    count, names = struct.unpack_from("<HH", cubin, 60)
    headers = [struct.unpack_from("<IIQQQQIIQQ", cubin, offset + 64 * i) for i in range(count)]
    for header in headers:
        start = headers[names][4] + header[0]
        name = cubin[start:cubin.index(b"\0", start)].decode()
        yield name, header[5], b"" if header[1] == 8 else cubin[header[4]:header[4] + header[5]]


def read_attributes(sections):
    """The values of each kernel's attributes, by attribute and name."""
    symbols, strings, info = (sections.get(name, (0, b""))[1]
                              for name in (".symtab", ".strtab", ".nv.info"))
    names = []
    for at in range(0, len(symbols), 24):
        start, = struct.unpack_from("<I", symbols, at)
        names.append(strings[start:strings.index(b"\0", start)].decode())
    values, at = {}, 0
    while at < len(info):
        form, attribute, size = struct.unpack_from("<BBH", info, at)
        if form == 4 and size == 8:
            symbol, value = struct.unpack_from("<II", info, at + 4)
            values[attribute, names[symbol]] = value
        at += 4 + size if form == 4 else 4
    return values


def read_kernels(file):
    """Properties, code hash and instruction counts of each kernel in an object file, by
    architecture and name."""
    kernels = {}
    for architecture, cubin in find_cubins(file.read_bytes()):
        sections = {name: (size, content) for name, size, content in read_sections(cubin)}
        values = read_attributes(sections)
        for section, (_, code) in sections.items():
            if not section.startswith(".text."):
                continue
            name = section[len(".text."):]
            words = [struct.unpack_from("<I", code, at)[0] & 0x1ff for at in range(0, len(code), 16)]
            counts = collections.Counter(COUNTED[word] for word in words if word in COUNTED)
            shared = sections.get(f".nv.shared.{name}", (0, b""))[0]
            kernels[architecture, name] = ((values.get((REGISTER_COUNT, name), 0),
                                            values.get((FRAME_SIZE, name), 0), shared, len(code)),
                                           hashlib.sha256(code).hexdigest(), counts)
    return kernels


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    before, after = map(pathlib.Path, sys.argv[1:])
    total = changed = 0
    for file in sorted(before.glob("*.o")):
        old, new = read_kernels(file), read_kernels(after / file.name)
        common = {key[0] for key in old} & {key[0] for key in new}
        for key in sorted(key for key in set(old) | set(new) if key[0] in common):
            a, b = old.get(key), new.get(key)
            total += 1
            if a and b and a[1] == b[1]:
                continue
            changed += 1
            readable = subprocess.run(["c++filt", "-p", key[1]], capture_output=True, text=True).stdout
            print(f"{file.name} sm_{key[0]} {readable.strip()}: registers, stack, shared, code "
                  f"{a[0] if a else 'none'} -> {b[0] if b else 'none'}"
                  + (", other instructions" if a and b and a[2] != b[2] else ""))
    print(f"{total} kernels, {changed} differ")
    return 0 if total else 1


if __name__ == "__main__":
    sys.exit(main())
