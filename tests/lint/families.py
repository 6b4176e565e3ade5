#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that every kernel is defined in the files of the family under which kernel-list.h lists
it.

Its full name must occur there, in kernels/cpu and in kernels/cuda, so that a search for the name
finds the definition even if a macro pastes it. For the lists of activations.h the full names are in
that header. The families must be those that Meson compiles. Conversions, reductions and
asynchronous copies, which all CUDA families need, must each be in one header.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
ENTRY = re.compile(r"^LIG_(FAMILY|EACH(?:_[A-Z_]+)?) \(([^)]*)\)", re.M)
LIST = re.compile(r"^#define (LIG_EACH_[A-Z_]+)\(EACH\)((?:.*\\\n)*.*)", re.M)

# The only header of kernels/cuda/common that may contain a pattern.
ONCE = {"convert.cuh": r"__(?:half22?|bfloat162|floats?2(?:half|bfloat))\w* \(",
        "reduce.cuh": r"__shfl_xor_sync", "async-copy.cuh": r"\bcp\.async(?!\.bulk)"}


def read_lists(text):
    """Returns the names of the kernels of each list of activations.h."""
    return {name: [word for entry in re.findall(r"EACH \(([^)]*)\)", entries)
                   for word in re.findall(r"[a-z_]\w*", entry)[:4]]
            for name, entries in LIST.findall(text)}


def read_families(text, lists):
    """Returns the names of the kernels of each family, each with the list that it comes from."""
    families = {}
    for kind, arguments in ENTRY.findall(re.sub(r"^#.*(?:\\\n.*)*", "", text, flags=re.M)):
        names = re.findall(r"\b[a-z_]\w*", re.sub(r'".*?"', "", arguments, flags=re.S))
        if kind == "FAMILY":
            family = families.setdefault(names[0].replace("_", "-"), [])
        elif kind in ("EACH", "EACH_WITH"):
            family.append((names[0], None))
        else:
            family.extend((name, f"LIG_{kind}") for name in lists[f"LIG_{kind}"])
    return families


def read_sources(folder, family, suffix):
    """Returns the code of the family's files without comments, empty without files."""
    text = ""
    for file in sorted((ROOT / "kernels" / folder).glob(f"{family}*{suffix}")):
        if file.stem == family or file.stem.startswith(f"{family}-"):
            text += re.sub(r"/\*.*?\*/", "", file.read_text(), flags=re.S)
    return text


def main():
    lists = read_lists((ROOT / "kernels/activations.h").read_text())
    families = read_families((ROOT / "kernels/kernel-list.h").read_text(), lists)
    built = re.search(r"kernel_families = \[(.*?)\]", (ROOT / "kernels/meson.build").read_text(), re.S)
    missing, count = 0, sum(map(len, families.values()))
    if sorted(families) != sorted(re.findall(r"'([\w-]+)'", built[1])):
        print("kernel-list.h and kernels/meson.build have other families; make them the same")
        missing += 1
    for family, names in families.items():
        for folder, suffix, form in (("cpu", ".c", r"LIG_CPU \({0}\)"),
                                     ("cuda", ".cu", r"\blig_cuda_{0} \(")):
            code = read_sources(folder, family, suffix)
            for name, made_from in names:
                defined = (rf"\b{made_from} \(\w+\)" if made_from else
                           form.format(name) + r"|^ *[A-Z_]+ \([^)]*\b" + name + r"\b")
                if not re.search(defined, code, re.M):
                    print(f"kernels/{folder}/{family}{suffix}: {name} is missing; define it there")
                    missing += 1
    for header, pattern in ONCE.items():
        for file in sorted((ROOT / "kernels/cuda").rglob("*.cu*")):
            found = re.search(pattern, file.read_text())
            if bool(found) != (file.name == header) and (found or file.name == header):
                print(f"{file.relative_to(ROOT)}: '{found and found[0]}'; use common/{header}")
                missing += 1
    print(f"{len(families)} families, {count} kernels")
    return 1 if missing or count < 50 else 0


if __name__ == "__main__":
    sys.exit(main())
