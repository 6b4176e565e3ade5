#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Produces the JSON documents of tests/cli/documents.txt and checks them, as TAP: each against its
schema in data/doc/schemas, its text, and the units of its numbers; then whether each property of a
schema occurs in a document, and whether each document that the sources print has a schema and a
test.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

try:
    import jsonschema
except ImportError:
    print("1..0 # SKIP python3-jsonschema is not installed")
    sys.exit(0)

ROOT = pathlib.Path(os.environ["LIGATURE_SOURCE"])
LIG = pathlib.Path(os.environ["LIG"])
SCHEMAS = ROOT / "data/doc/schemas"
Validator = getattr(jsonschema, "Draft202012Validator", jsonschema.Draft7Validator)

# The ends of keys that name a unit.
ENDS = {"us": ["us", "microseconds"], "ms": ["ms"], "s": ["seconds"], "B": ["bytes"],
        "FLOP": ["flops"], "1/s": ["per_second"], "MHz": ["mhz"], "W": ["w"], "C": ["c"]}

# A word for each unit, which the descriptions of such numbers must contain.
WORDS = {"us": "microsecond", "ms": "millisecond", "s": "second", "B": "byte", "B/s": "bytes per second",
         "FLOP": "operations", "FLOP/s": "operations per second", "1/s": "per second",
         "MHz": "megahertz", "W": "watt", "C": "Celsius", "varies": "unit"}

# Functions for the commands of the table: `newest NAME [MEMBER]` prints the newest run whose name
# contains NAME, or another member of it; `make_tensors FILE TENSOR SHAPE` writes a safetensors
# file, `make_tokenizer FILE` a tokenizer of the 256 bytes; `add_costs PROFILE` prints a device profile with kernel overheads; `interrupt COMMAND`
# interrupts it, as Ctrl+C does, once it trains.
PRELUDE = r'''
newest () {
  lig runs list "$1" --json | python3 -c 'import json, sys
print (json.load (sys.stdin)[0][sys.argv[1]])' "${2:-run}"
}
move_to_trash () {
  python3 -c 'import sqlite3, sys
with sqlite3.connect (sys.argv[1]) as store:
    store.execute ("UPDATE run SET deleted = 1 WHERE uuid = ?", sys.argv[2:])' "$LIGATURE_STORE" "$1"
}
make_tensors () {
  python3 -c 'import json, math, struct, sys
file, name, shape = sys.argv[1:]
axes = [int (axis) for axis in shape.split ("x")]
count = math.prod (axes)
head = json.dumps ({name: {"dtype": "F32", "shape": axes, "data_offsets": [0, 4 * count]}}).encode ()
values = struct.pack (f"<{count}f", *[(i % 7 - 3) / 8 for i in range (count)])
open (file, "wb").write (struct.pack ("<Q", len (head)) + head + values)' "$@"
}
make_tokenizer () {
  python3 -c 'import json, sys
shown = [*range (33, 127), *range (161, 173), *range (174, 256)]
hidden = [byte for byte in range (256) if byte not in shown]
letters = {**{byte: byte for byte in shown}, **{byte: 256 + i for i, byte in enumerate (hidden)}}
model = {"type": "BPE", "vocab": {chr (letters[byte]): byte for byte in range (256)}, "merges": []}
parts = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
json.dump ({"version": "1.0", "added_tokens": [], "normalizer": None, "pre_tokenizer": parts,
            "post_processor": None, "decoder": parts, "model": model}, open (sys.argv[1], "w"))' "$1"
}
interrupt () {
  set -m
  "$@" > interrupted.json &
  until lig runs list --status running --json | grep -q run; do
    sleep 0.2
  done
  kill -INT $!
  wait $!
  set -- $?
  cat interrupted.json
  return "$1"
}
add_costs () {
  python3 -c 'import json, sys
part, profile = (json.load (open (path)) for path in sys.argv[1:])
times = [0.1 * (i + 1) for i in range (25)]
kinds = part["$defs"]["costs"]["properties"]["kernels"]["properties"]
profile["costs"] = {"kernels": {kind: times[:4] for kind in kinds}, "matmuls": times,
                    "wide-matmuls": times}
for later in ("attention", "mixed"):
    lists = part["$defs"]["costs"]["properties"][later]["properties"]
    profile["costs"][later] = {name: times[:lists[name]["minItems"]] for name in lists}
profile["units"]["costs"] = "s"
print (json.dumps (profile))' "$DATA/doc/schemas/common.json" "$1"
}
'''


class Wrong(Exception):
    """An invalid document or schema."""


# --- Schemas --------------------------------------------------------------------------------------

def rewrite(schema, name):
    """Makes references point into one document that contains all schemas, by name."""
    if isinstance(schema, list):
        return [rewrite(one, name) for one in schema]
    if not isinstance(schema, dict):
        return schema
    schema = {key: rewrite(value, name) for key, value in schema.items() if key != "$schema"}
    if isinstance(schema.get("$ref"), str):
        file, _, pointer = schema["$ref"].partition("#")
        schema["$ref"] = f"#/$defs/{file.removesuffix('.json') or name}{pointer}"
    return schema


def load_schemas():
    return {path.stem: rewrite(json.loads(path.read_text()), path.stem)
            for path in sorted(SCHEMAS.glob("*.json"))}


ALL = load_schemas()


def find(pointer):
    value = {"$defs": ALL}
    for part in pointer.removeprefix("#/").split("/"):
        value = value[int(part) if isinstance(value, list) else part]
    return value


def validator(pointer, cache={}):
    if pointer not in cache:
        cache[pointer] = Validator({"$ref": pointer, "$defs": ALL})
    return cache[pointer]


def subschemas(schema, pointer):
    """Yields each schema below `schema` with its pointer, and whether it belongs to a property."""
    yield pointer, schema, False
    for key in "properties", "$defs":
        for name, one in schema.get(key, {}).items():
            for found, inner, is_property in subschemas(one, f"{pointer}/{key}/{name}"):
                here = found == f"{pointer}/{key}/{name}"
                yield found, inner, is_property or (here and key == "properties")
    for key in "items", "additionalProperties":
        if isinstance(schema.get(key), dict):
            yield from subschemas(schema[key], f"{pointer}/{key}")
    for key in "anyOf", "oneOf", "allOf":
        for number, one in enumerate(schema.get(key, [])):
            yield from subschemas(one, f"{pointer}/{key}/{number}")


def all_subschemas():
    for name, schema in ALL.items():
        yield from subschemas(schema, f"#/$defs/{name}")


def described(schema):
    while schema and "description" not in schema and "$ref" in schema:
        schema = find(schema["$ref"])
    return schema.get("description", "")


def outside(pointer):
    """Yields the pointers of the properties around the one at the pointer."""
    parts = pointer.split("/properties/")
    for count in range(len(parts) - 1, 0, -1):
        yield "/properties/".join(parts[:count])


def comment(schema):
    return schema.get("$comment", "")


def check_schema(name):
    """Checks that objects are closed, or open for a reason; that properties are required, or
    optional for a reason; and that each has a description, which names the unit."""
    Validator.check_schema(ALL[name])
    for pointer, schema, is_property in subschemas(ALL[name], f"#/$defs/{name}"):
        if "$ref" in schema:
            find(schema["$ref"])
        if is_property and not re.match(r".+[.]$", described(schema)):
            raise Wrong(f"{pointer}: no description, or no full stop at its end")
        if schema.get("x-unit") and WORDS[schema["x-unit"]] not in described(schema):
            if not any(WORDS[schema["x-unit"]] in described(find(outer)) for outer in outside(pointer)):
                raise Wrong(f"{pointer}: the description does not name the unit {schema['x-unit']}")
        types = schema.get("type", [])
        if "object" not in types or "array" in types:
            continue
        if schema.get("additionalProperties") is not False and "Open: " not in comment(schema):
            raise Wrong(f"{pointer}: neither closed nor open for a reason ('$comment': 'Open: …')")
        optional = set(schema.get("properties", {})) - set(schema.get("required", []))
        for key in sorted(optional):
            if not comment(schema["properties"][key]).startswith("Optional: "):
                raise Wrong(f"{pointer}/{key}: neither required nor optional for a reason")


# --- Documents ------------------------------------------------------------------------------------

def reject_constant(text):
    raise Wrong(f"{text} is no JSON")


def make_object(pairs):
    keys = [key for key, _ in pairs]
    if len(set(keys)) < len(keys):
        raise Wrong(f"a key occurs twice in {keys}")
    return dict(pairs)


def parse(text):
    """Parses a document of one command, and checks the text: UTF-8, one line feed at its end."""
    try:
        text = text.decode()
        document = json.loads(text, parse_constant=reject_constant, object_pairs_hook=make_object)
    except ValueError as error:
        raise Wrong(f"{error}: {text[:200]}") from None
    if not text.endswith("\n") or text != text.lstrip() or text.endswith("\n\n"):
        raise Wrong(f"not a document and a line feed: {text[:20]!r} … {text[-20:]!r}")
    return document


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


class Walk:
    """Walks through a document and its schema, collects the properties that occur in `seen`, and
    checks that the unit of each number is in a key or in `units`."""

    def __init__(self, seen):
        self.seen, self.units, self.used = seen, {}, set()

    def check_unit(self, schema, keys, value):
        unit = schema.get("x-unit")
        if self.units is None:
            return
        if unit == "varies":
            self.used.update(key for key in keys if key in self.units)
            return
        if not unit and is_number(value) and keys and keys[-1] in self.units:
            raise Wrong(f"{'.'.join(keys)}: in units, but without a unit in the schema")
        if not unit or not (is_number(value) or value is None):
            return
        named = [key for key in keys if self.units.get(key) == unit]
        self.used.update(named)
        if not named and not any(re.search(f"(^|_){end}$", key) for key in keys
                                 for end in ENDS.get(unit, [])):
            raise Wrong(f"{'.'.join(keys)}: neither a key nor units names the unit {unit}")

    def walk(self, value, pointer, keys=()):
        schema = find(pointer)
        self.check_unit(schema, keys, value)
        if "$ref" in schema:
            self.walk(value, schema["$ref"], keys)
        for number in range(len(schema.get("anyOf", []))):
            branch = f"{pointer}/anyOf/{number}"
            if validator(branch).is_valid(value):
                self.walk(value, branch, keys)
        if isinstance(value, list) and "items" in schema:
            for one in value:
                self.walk(one, f"{pointer}/items", keys)
        if isinstance(value, dict):
            self.walk_object(value, schema, pointer, keys)

    def walk_object(self, value, schema, pointer, keys):
        for key, one in value.items():
            if key in schema.get("properties", {}):
                inner = f"{pointer}/properties/{key}"
                if one is not None:
                    self.seen.add(inner)
                self.walk(one, inner, (*keys, key))
            elif isinstance(schema.get("additionalProperties"), dict):
                self.walk(one, f"{pointer}/additionalProperties", (*keys, key))


def check_units(document, name, pointer, seen):
    """Collects the properties that occur, and checks the units of all numbers."""
    is_list = isinstance(document, list)
    for one in document if is_list else [document]:
        walk = Walk(seen)
        # A user's device profile need not name the units; its schema does.
        by_hand = name == "device" and "units" not in one
        walk.units = None if by_hand else one.get("units", {}) if isinstance(one, dict) else {}
        walk.walk([one] if is_list else one, pointer)
        if not by_hand and set(walk.units) != walk.used:
            raise Wrong(f"units names {sorted(walk.units)}, but {sorted(walk.used)} occur")


def check_document(document, name, seen):
    if name not in ALL:
        raise Wrong(f"data/doc/schemas/{name}.json: missing")
    pointer = f"#/$defs/{name}"
    problems = [f"{'.'.join(map(str, error.absolute_path))}: {error.message[:300]}"
                for error in validator(pointer).iter_errors(document)]
    try:
        check_units(document, name, pointer, seen)
    except Wrong as error:
        problems.append(str(error))
    if problems:
        raise Wrong("\n".join(problems[:8]))


# --- Commands -------------------------------------------------------------------------------------

class Shell:
    """Runs commands in a temporary folder with an empty store."""

    def __init__(self, folder):
        self.folder = folder
        self.environment = dict(
            os.environ, DATA=str(ROOT / "data"), LIGATURE_STORE=f"{folder}/runs.db",
            XDG_DATA_HOME=folder, PATH=f"{LIG.parent}:{os.environ['PATH']}", LIG_PAGER="")

    def run(self, command, **environment):
        arguments = ["bash", "-c", PRELUDE + command] if isinstance(command, str) else command
        return subprocess.run(arguments, cwd=self.folder, capture_output=True, check=False,
                              stdin=subprocess.DEVNULL, env={**self.environment, **environment})

    def expect(self, command, code, **environment):
        result = self.run(command, **environment)
        if result.returncode != code:
            raise Wrong(f"exit code {result.returncode}, expected {code}: "
                        f"{(result.stderr or result.stdout).decode(errors='replace')[-500:]}")
        return result.stdout


def read_table():
    lines = (ROOT / "tests/cli/documents.txt").read_text().splitlines()
    return [line.split(None, 2) for line in lines if line and not line.startswith("#")]


def check_row(shell, seen, name, code, command):
    text = shell.expect(command, int(code))
    if name.endswith("/lines"):
        for line in text.splitlines(keepends=True):
            check_document(parse(line), name.removesuffix("/lines"), seen)
        if not text:
            raise Wrong("no document")
    elif name != "-":
        check_document(parse(text), name, seen)


# --- The tests ------------------------------------------------------------------------------------

def check_seen(seen):
    """Each property has a value in at least one document, or is untested for a reason."""
    missing = []
    for pointer, schema, is_property in all_subschemas():
        if is_property and pointer not in seen and "ntested: " not in comment(schema):
            missing.append(pointer)
    if missing:
        raise Wrong("in no tested document:\n" + "\n".join(missing))


def check_sources(table):
    """Each document that the sources print has a schema and is tested."""
    tested = {name.removesuffix("/lines") for name, _, _ in table}
    for path in sorted((ROOT / "app/cli").glob("*.c")):
        text = path.read_text()
        if path.name != "print.c" and "lig_cli_print_json (" in text:
            raise Wrong(f"{path.name}: call lig_cli_print_document() with the name of a schema")
        for name in re.findall(r'lig_cli_print_document \(\s*"([^"]*)"', text):
            if name not in ALL or name not in tested:
                raise Wrong(f"{path.name}: no schema {name}.json, or no line in documents.txt")
        calls, names = text.count("lig_cli_print_document ("), len(
            re.findall(r'lig_cli_print_document \(\s*"', text))
        if path.name != "print.c" and calls != names:
            raise Wrong(f"{path.name}: the name of a schema must be a literal")
    page = (ROOT / "data/doc/json.md").read_text()
    unlisted = [name for name in ALL if f"(schemas/{name}.json)" not in page]
    if unlisted:
        raise Wrong(f"data/doc/json.md does not list {unlisted}")
    untested = set(ALL) - tested - {"common"}
    if untested:
        raise Wrong(f"no line in documents.txt makes {sorted(untested)}")


def list_commands():
    text = (ROOT / "app/cli/meson.build").read_text()
    return re.findall(r"'([a-z-]+)'", re.search(r"^commands = \[(.*?)\]", text, re.M | re.S)[1])


def check_commands(shell, table):
    """Each command, and each verb of `lig runs`, is tested with --json."""
    verbs = re.search(r"lig runs\s+((?:[a-z]+\|)+[a-z]+)", shell.expect([LIG, "runs", "--help"], 0).decode())
    if not verbs:
        raise Wrong("the help text of lig runs lists no verbs")
    for command in list_commands() + [f"runs {verb}" for verb in verbs[1].split("|")]:
        if not any(re.search(rf"\blig {command}\b.* --json\b", line) for _, _, line in table):
            raise Wrong(f"no line in documents.txt tests lig {command} --json")


def check_failures(shell, seen):
    """A wrong command line of each command prints a document of the error."""
    for command in list_commands():
        for arguments in ["--no-such-option"], ["--no-such-option", "a", "b"]:
            text = shell.expect([LIG, command, *arguments, "--json"], 2)
            document = parse(text)
            check_document(document, "error", seen)
            if document["error"]["code"] != "usage":
                raise Wrong(f"lig {command}: the code is {document['error']['code']}, not usage")


HOSTILE = "ä\"\\\n\t\x1b[31m\u2028 %s </script> \U0001f600"


def check_hostile(shell, seen):
    """Names with quotes, escapes, line feeds and bytes that are not UTF-8 give valid documents."""
    shell.expect([LIG, "train", "linear(1) ! mean-squared-error", "--input", "4x2", "--data", "synthetic",
                  "--steps", "1", "--name", HOSTILE, "--device", "cpu", "--json"], 0)
    text = shell.expect([LIG, "runs", "show", "last", "--json"], 0)
    document = parse(text)
    check_document(document, "runs-show", seen)
    if document["name"] != HOSTILE:
        raise Wrong(f"the name is {document['name']!r}")
    if b"\n  \"name\"" not in text or b"\x1b" in text:
        raise Wrong("control characters are not escaped")
    for arguments in ([b"check", b"\xff\xfe.lig"], [b"check", b"/dev/null/\xc3.lig"],
                      [b"runs", b"show", b"\xf0\x28"], [b"ops", b"\xff"], [b"train", b"--data", b"\xff"]):
        result = shell.run([os.fsencode(LIG), *arguments, b"--json"])
        if result.returncode not in (1, 2):
            raise Wrong(f"{arguments}: exit code {result.returncode}")
        check_document(parse(result.stdout), "error", seen)


def make_locale(folder):
    """Returns the environment of a locale with decimal commas; None where it cannot be made."""
    made = subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", f"{folder}/de_DE.UTF-8"],
                          capture_output=True, check=False).returncode == 0
    return {"LOCPATH": folder, "LC_ALL": "de_DE.UTF-8"} if made else None


def check_locale(shell):
    """A locale with decimal commas, or one without UTF-8, does not change documents."""
    command = [LIG, "fuse", ROOT / "data/examples/residual-mlp.lig", "--device", "null:h200", "--json"]
    usual = shell.expect(command, 0)
    try:
        commas = make_locale(shell.folder)
    except FileNotFoundError:
        commas = None
    for environment in [{"LC_ALL": "C"}] + ([commas] if commas else []):
        if shell.expect(command, 0, **environment) != usual:
            raise Wrong(f"the document is different with {environment}")


def check_numbers(shell):
    """A number has the same bits in the store and in a document."""
    import sqlite3
    with sqlite3.connect(f"{shell.folder}/runs.db") as database:
        rows = database.execute("SELECT uuid, first_loss, last_loss FROM run "
                                "WHERE last_loss IS NOT NULL").fetchall()
    if not rows:
        raise Wrong("no run has a loss")
    for uuid, first, last in rows:
        loss = parse(shell.expect([LIG, "runs", "show", uuid, "--json"], 0))["loss"]
        if (loss["first"], loss["last"]) != (first, last):
            raise Wrong(f"{uuid}: {loss} in the document, {first} and {last} in the store")


def check_order(shell):
    """The keys of a document keep their order."""
    for command in (["runs", "show", "last"], ["devices"], ["ops"]):
        texts = {re.sub(rb"[0-9.e+-]+", b"", shell.expect([LIG, *command, "--json"], 0))
                 for _ in range(3)}
        if len(texts) > 1:
            raise Wrong(f"lig {' '.join(command)} prints different documents")


class Tests:
    """Counts and prints results as TAP."""

    def __init__(self):
        self.count = 0

    def check(self, title, function, *arguments):
        self.count += 1
        title = re.sub(r"[\\#]", "", title)
        try:
            function(*arguments)
            print(f"ok {self.count} - {title}", flush=True)
        except Wrong as error:
            print(f"not ok {self.count} - {title}", flush=True)
            print("\n".join(f"# {line}" for line in str(error).splitlines()), flush=True)


def main():
    tests, seen, table = Tests(), set(), read_table()
    for name in ALL:
        tests.check(f"schema {name}", check_schema, name)
    tests.check("sources", check_sources, table)
    with tempfile.TemporaryDirectory() as folder:
        shell = Shell(folder)
        tests.check("commands", check_commands, shell, table)
        for name, code, command in table:
            tests.check(f"{name}: {command}", check_row, shell, seen, name, code, command)
        tests.check("every property occurs", check_seen, seen)
        tests.check("failures", check_failures, shell, seen)
        tests.check("hostile names", check_hostile, shell, seen)
        tests.check("locale", check_locale, shell)
        tests.check("numbers", check_numbers, shell)
        tests.check("order", check_order, shell)
    print(f"1..{tests.count}")


if __name__ == "__main__":
    main()
