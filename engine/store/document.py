#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes data/doc/store.md from the comments of schema.sql and from queries.sql.

document.py [-]: with -, to standard output. A table or column without a comment is an error. The
comment of a column is on its line or on the lines before it, that of a table on the lines before.
"""
import pathlib
import re
import sqlite3
import sys

HERE = pathlib.Path(__file__).resolve().parent
TARGET = HERE.parents[1] / "data/doc/store.md"
START = """# The store

Generated from `engine/store/schema.sql` by `engine/store/document.py`; edit these, not this page.

The store is an SQLite database: `ligature.db` in the folder `ligature` of the user's data folder
(`~/.local/share`), or the file that `$LIGATURE_STORE`, `--store` or the preferences of the window
name. Any program may read it while runs are written; only Ligature should write to it. Times are
microseconds since 1970 in UTC. NaN is stored as NULL. `PRAGMA user_version` is the version of the
schema, here {version}; a newer Ligature migrates an older store when it opens it for writing.
"""


def read_comments(schema):
    """Returns the comments of tables, and of columns by (table, column)."""
    tables, columns, before, table = {}, {}, [], None
    for line in schema.splitlines():
        comment = re.fullmatch(r"\s*-- (.*)", line)
        create = re.match(r"CREATE TABLE (\w+)", line)
        alter = re.match(r"ALTER TABLE (\w+) ADD COLUMN (\w+)[^-]*(?:-- (.*))?", line)
        column = re.match(r'  "?(\w+)"? (?:INTEGER|TEXT|REAL|BLOB)\b[^-]*(?:-- (.*))?', line)
        if comment:
            # A number alone begins a version of the schema.
            before += [] if comment[1].isdigit() else [comment[1]]
            continue
        if create:
            table = create[1]
            tables[table] = " ".join(before)
        elif alter:
            columns[alter[1], alter[2]] = alter[3]
        elif table and column:
            columns[table, column[1]] = column[2] or " ".join(before)
        elif line.startswith(")"):
            table = None
        before = []
    return tables, columns


def read_queries(text):
    """Returns pairs of title and statement."""
    parts = re.split(r"^-- (.+)\n(?=SELECT)", text, flags=re.M)
    return list(zip(parts[1::2], (part.strip() for part in parts[2::2])))


def make_page():
    schema = (HERE / "schema.sql").read_text()
    tables, columns = read_comments(schema)
    versions = [int(number) for number in re.findall(r"^-- (\d+)$", schema, flags=re.M)]
    database = sqlite3.connect(":memory:")
    database.executescript(schema)
    page = [START.format(version=max(versions))]
    names = [row[0] for row in database.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        " ORDER BY rowid")]
    for name in names:
        if not tables.get(name):
            sys.exit(f"schema.sql: table {name} has no comment; write one before it")
        page.append(f"## {name}\n\n{tables[name]}\n\n| column | type | meaning |\n|---|---|---|")
        for _, column, kind, needed, _, key in database.execute(f"PRAGMA table_info ({name})"):
            if not columns.get((name, column)):
                sys.exit(f"schema.sql: column {column} of {name} has no comment; write one")
            optional = "" if needed or key else ", may be NULL"
            meaning = columns[name, column].replace("|", "\\|")
            page.append(f"| `{column}`{' (key)' if key else ''} | {kind.lower()}{optional} | {meaning} |")
        page.append("")
    page.append("## Example queries\n\nRun them with `sqlite3 -readonly -box FILE`.\n")
    for title, statement in read_queries((HERE / "queries.sql").read_text()):
        page.append(f"{title}:\n\n```sql\n{statement}\n```\n")
    return "\n".join(page).rstrip() + "\n"


if __name__ == "__main__":
    if sys.argv[1:] == ["-"]:
        sys.stdout.write(make_page())
    else:
        TARGET.parent.mkdir(exist_ok=True)
        TARGET.write_text(make_page())
