#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""layout.py INCLUDE-FOLDER...: compares the size of each struct, and the offset of each field, in the
bindings with those of the C compiler. A binding allocates what its description says: a struct that is
shorter there than in C is written beyond its end."""
import os
import subprocess
import sys
import tempfile

import gi
gi.require_version("GIRepository", "2.0")
from gi.repository import GIRepository  # noqa: E402

PROGRAM = """#include <stddef.h>
#include <stdio.h>
%s
int
main (void)
{
%s
  return 0;
}
"""


def list_structs():
    """Returns (struct, field, number in the bindings); the field of a size is empty."""
    repository = GIRepository.Repository.get_default()
    repository.require("Ligature", "1", 0)
    found = []
    for i in range(repository.get_n_infos("Ligature")):
        info = repository.get_info("Ligature", i)
        if info.get_type() != GIRepository.InfoType.STRUCT or info.get_name().endswith("Class"):
            continue
        size = GIRepository.struct_info_get_size(info)
        if size == 0:  # opaque
            continue
        found.append((info.get_name(), "", size))
        for k in range(GIRepository.struct_info_get_n_fields(info)):
            field = GIRepository.struct_info_get_field(info, k)
            found.append((info.get_name(), field.get_name(), GIRepository.field_info_get_offset(field)))
    return found


def ask_compiler(folders, entries):
    """Returns the numbers that C has for the entries."""
    headers = sorted(header for folder in folders for header in os.listdir(f"{folder}/ligature"))
    includes = "\n".join(f"#include <ligature/{header}>" for header in headers)
    lines = "\n".join(
        f'  printf ("%zu\\n", {f"offsetof (Lig{name}, {field})" if field else f"sizeof (Lig{name})"});'
        for name, field, _ in entries)
    flags = subprocess.run(["pkg-config", "--cflags", "gio-2.0"], check=True, text=True,
                           stdout=subprocess.PIPE).stdout.split()
    with tempfile.TemporaryDirectory() as work:
        with open(f"{work}/layout.c", "w", encoding="ascii") as file:
            file.write(PROGRAM % (includes, lines))
        subprocess.run(["cc", "-w", *(f"-I{folder}" for folder in folders), *flags, f"{work}/layout.c",
                        "-o", f"{work}/layout"], check=True)
        output = subprocess.run([f"{work}/layout"], check=True, text=True, stdout=subprocess.PIPE).stdout
    return [int(line) for line in output.split()]


def main():
    entries = list_structs()
    numbers = ask_compiler(sys.argv[1:], entries)
    wrong = [(entry, number) for entry, number in zip(entries, numbers) if entry[2] != number]
    structs = sum(not field for _, field, _ in entries)
    print("1..1")
    for (name, field, number), in_c in wrong:
        print(f"# Lig{name}{'.' if field else ''}{field}: {in_c} in C, {number} in the bindings")
    print(f"{'not ok' if wrong or structs < 100 else 'ok'} 1 {structs} structs are laid out as in C")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
