#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that rooms.txt allows every #include, and that the table is complete: no cycle, no unused
entry, a line for each folder, README's map. With --map, prints that map."""
import collections
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PUBLIC = re.compile(r"(?:engine|kernels)/include/ligature/([\w-]+)\.h$")
GTK = r"<(?:gtk|gdk|gsk|graphene|adwaita|libadwaita)"
GLIB = r"<(?:glib|gio|gobject|json-glib)"
CUDA = r'[<"](?:cuda|cublas|cudnn|nccl|nvrtc|nvml)'

# A file whose path matches the first pattern must not include a header that matches the second.
FORBIDDEN = [
    (r"kernels/|engine/steps/", GLIB, "kernels and the loop over steps are plain C"),
    (r"engine/|kernels/|app/cli/|ui/(document|session)/|tests/(document|session)/", GTK,
     "GTK stays in the window"),
    (r"(app|ui)/", r'"(engine|kernels/(cpu|cuda))/', "programs only use public headers"),
    (r"engine/(ops|fusions)/", r'"(?!engine/(ops|fusions)/(define|exchange|experts|gated|norm|pieces)\.h|engine/ops/macro-|kernels/(functions|rotary)\.h)',
     "an op or a fusion includes its define.h, what some of its kind share, and public headers"),
    (r"tests/(document|session)/", r'"(?!(ui|tests)/(document|session)/)',
     "documents and sessions are tested without widgets"),
    (r"(?!kernels/cuda/)", CUDA, "CUDA stays in kernels/cuda"),
    (r"[a-z]+/include/", r'"', "a public header includes public headers alone"),
    (r"app/(window|about|preferences)", r'"app/application\.h', "the application knows its windows"),
    (r"", r'"\.', "includes are relative to the root"),
]
# A part of a document's view includes its own header and the shared one; a part of the window only
# its own, but window-close also the view, and window-recover the notices.
FORBIDDEN += [
    (rf"app/{part}\.", rf'"app/(?!({"|".join((part, "connect", *others))})\.h)',
     "a part of the window knows no other part")
    for part, others in {
        **{f"view-{part}": ("view-shared",)
           for part in ("close", "edit", "export", "files", "shared", "undo")},
        **{f"window-{part}": () for part in ("actions", "keys", "notice", "undo")},
        "window-close": ("document-view",), "window-recover": ("window-notice",)}.items()]


class Room:
    def __init__(self, folder, purpose):
        self.folder, self.purpose = folder, purpose
        self.words = {"headers": [], "includes": []}

    headers = property(lambda self: self.words["headers"])
    includes = property(lambda self: self.words["includes"])


def read_rooms():
    rooms, words = {}, None
    for line in (ROOT / "tests/lint/rooms.txt").read_text().splitlines():
        if line.startswith("#") or not line:
            continue
        if not line.startswith(" "):
            folder, purpose = line.split(": ", 1)
            room = rooms[folder] = Room(folder, purpose)
            continue
        key, _, rest = line.strip().rpartition(":")
        words = room.words[key] if key else words
        words += rest.split()
    return rooms


def list_sources():
    listing = subprocess.run([ROOT / "tests/lint/sources.sh", "*.c", "*.h", "*.in", "*.cu", "*.cuh"],
                             check=True, capture_output=True, text=True)
    return listing.stdout.split()


def find_room(rooms, path):
    public = PUBLIC.match(path)
    if public:
        return next((room for room in rooms.values() if public[1] in room.headers), None)
    return rooms.get(str(Path(path).parent))


def resolve(path, name):
    """Returns the file that an include names; None for another project's file or a list that Meson
    writes."""
    if name[0] == "<":
        found = [f"{part}/include/{name[1:]}" for part in ("engine", "kernels")]
        return next((file for file in found if (ROOT / file).exists()), None)
    if re.fullmatch(r"[\w-]+-list\.h", name[1:]):
        return None
    return name[1:]


def is_made(file):
    """Returns whether Meson writes the file."""
    rules = ROOT / Path(file).parent / "meson.build"
    return rules.exists() and f"'{Path(file).name}'" in rules.read_text()


def check_includes(rooms, files):
    used = collections.defaultdict(set)
    for path in files:
        for number, line in enumerate((ROOT / path).read_text().splitlines(), 1):
            match = re.match(r'\s*#\s*include\s*([<"][^>"]+)', line)
            if not match:
                continue
            for where, what, why in FORBIDDEN:
                if re.match(where, path) and re.match(what, match[1]):
                    yield f"{path}:{number}: includes {match[1][1:]}; {why}"
            target = resolve(path, match[1])
            if target and not (ROOT / target).exists() and not is_made(target):
                yield f"{path}:{number}: no file {target}"
            if not target or path.startswith("tests/"):
                continue
            room, other = find_room(rooms, path), find_room(rooms, target)
            if not room or not other or room is other:
                continue
            used[room.folder].add(other.folder)
            if other.folder not in room.includes:
                yield f"{path}:{number}: {room.folder} may not include {other.folder}"
    for room in rooms.values():
        for folder in room.includes:
            if folder not in used[room.folder]:
                yield f"rooms.txt: {room.folder} never includes {folder}"


def check_table(rooms, files):
    claimed = [header for room in rooms.values() for header in room.headers]
    public = [PUBLIC.match(path)[1] for path in files if PUBLIC.match(path)]
    for header in sorted(set(claimed) ^ set(public)):
        yield f"rooms.txt: {header}.h belongs to no room, or is no header"
    for header in {header for header in claimed if claimed.count(header) > 1}:
        yield f"rooms.txt: {header}.h belongs to several rooms"
    code = {str(Path(path).parent) for path in files if path.endswith((".c", ".h", ".cu", ".cuh"))}
    for folder in sorted(code - set(rooms)):
        if not folder.startswith("tests"):
            yield f"rooms.txt: no line for {folder}"
    for folder in rooms:
        if not (ROOT / folder).is_dir():
            yield f"rooms.txt: no folder {folder}"


def find_circle(rooms):
    """Yields a problem if the table has a cycle. Removes, until nothing changes, the rooms that
    include no remaining room or that none includes; the rest is in or between cycles."""
    left = {room.folder: set(room.includes) for room in rooms.values()}
    while True:
        included = set().union(*left.values()) if left else set()
        ends = [folder for folder in left if not left[folder] & set(left) or folder not in included]
        if not ends:
            break
        for folder in ends:
            del left[folder]
    if left:
        yield f"rooms.txt: a cycle within {', '.join(sorted(left))}"


def strip_comments(text):
    return re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.S)


def check_owners(rooms, files):
    """Checks that a header's functions are defined in its room, because a definition elsewhere
    would be a hidden dependency."""
    defined = collections.defaultdict(set)
    for path in files:
        if path.endswith((".c", ".cu")) and not path.startswith("tests/"):
            for match in re.finditer(r"^(lig_\w+) \(", (ROOT / path).read_text(), re.M):
                defined[match[1]].add(find_room(rooms, path))
    for path in files:
        if not path.endswith(".h") or path.startswith("tests/"):
            continue
        text, room = strip_comments((ROOT / path).read_text()), find_room(rooms, path)
        for match in re.finditer(r"^(?:[A-Za-z][\w *]*\W)?(lig_\w+) \([^;{}]*\)[^;{}]*;", text, re.M):
            if match[1] in defined and room not in defined[match[1]]:
                yield f"{path}: {match[1]}() is defined in another room"


def print_map(rooms):
    lines = ["| folder | contents |", "|---|---|"]
    return "\n".join(lines + [f"| `{room.folder}/` | {room.purpose} |" for room in rooms.values()])


def check_map(rooms):
    text = (ROOT / "README.md").read_text()
    match = re.search(r"<!-- rooms.txt -->\n(.*?)\n<!-- end -->", text, re.S)
    if not match or match[1].strip() != print_map(rooms):
        yield "README.md: the map differs from tests/lint/rooms.py --map"


def main():
    rooms, files = read_rooms(), list_sources()
    if sys.argv[1:] == ["--map"]:
        print(print_map(rooms))
        return 0
    problems = [*check_includes(rooms, files), *check_table(rooms, files), *find_circle(rooms),
                *check_owners(rooms, files), *check_map(rooms)]
    for problem in problems:
        print(problem)
    print(f"{len(rooms)} rooms, {len(files)} files, {len(problems)} problems")
    return 1 if problems or not rooms or not files else 0


if __name__ == "__main__":
    sys.exit(main())
