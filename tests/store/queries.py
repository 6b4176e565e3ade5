#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the example queries of data/doc/store.md, as TAP, against a store that lig has written."""
import os
import pathlib
import re
import sqlite3
import subprocess
import tempfile

ROOT = pathlib.Path(os.environ["LIGATURE_SOURCE"])
# A fence prevents a fusion, and the second run learns less than the first.
SEQUENCE = "linear(8) ! gelu ! linear(1) ! mean-squared-error"
DATA = ["--data", f"csv:{ROOT}/data/examples/xor.csv?validation=0", "--batch", "4", "--lr", "0.05"]
RUNS = [["train", SEQUENCE, *DATA, "--steps", "200", "--name", "long"],
        ["train", SEQUENCE, *DATA, "--steps", "1", "--fence", "1", "--name", "short"],
        ["profile", SEQUENCE, "--input", "4x2", "--steps", "2"]]


def read_queries():
    text = (ROOT / "data/doc/store.md").read_text()
    return re.findall(r"^(The [^\n]+):\n\n```sql\n(.*?)```", text, flags=re.M | re.S)


def check_best(rows, database):
    assert len(rows) == 2 and rows[0]["best"] < rows[1]["best"], rows
    assert [row["name"] for row in rows] == ["long", "short"], rows
    assert rows[0]["steps"] == 200 and rows[0]["device"] == "cpu", rows
    assert rows[0]["begun"].startswith("20"), rows


def check_groups(rows, database):
    (count,), = database.execute("SELECT count(*) FROM timing")
    assert count > 0 and len(rows) == count, (count, rows)
    assert {row["pass"] for row in rows} == {"forward", "backward", "update"}, rows
    assert all(row["microseconds"] > 0 for row in rows), rows
    assert all((row["count"] or 0) > 0 for row in rows if row["pass"] != "update"), rows
    assert any(row["fusion"].startswith("forward-") for row in rows), rows


def check_rejected(rows, database):
    (count,), = database.execute("SELECT count(*) FROM verdict WHERE NOT taken")
    assert rows and sum(row["times"] for row in rows) < count, rows
    assert [row["times"] for row in rows] == sorted((row["times"] for row in rows), reverse=True)
    fenced = [row for row in rows if row["reason"] == "fenced"]
    assert fenced and fenced[0]["runs"] == 1 and fenced[0]["example"], rows


CHECKS = [check_best, check_groups, check_rejected]


def main():
    queries = read_queries()
    assert len(queries) == len(CHECKS), queries
    print(f"1..{len(queries)}")
    with tempfile.TemporaryDirectory() as folder:
        store = f"{folder}/runs.db"
        for arguments in RUNS:
            subprocess.run([os.environ["LIG"], *arguments, "--device", "cpu", "--store", store],
                           check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        database = sqlite3.connect(f"file:{store}?mode=ro", uri=True)
        for number, ((title, statement), check) in enumerate(zip(queries, CHECKS), 1):
            cursor = database.execute(statement)
            names = [column[0] for column in cursor.description]
            rows = [dict(zip(names, row)) for row in cursor]
            try:
                check(rows, database)
                print(f"ok {number} - {title}")
            except AssertionError as error:
                print(f"not ok {number} - {title}\n# {error}")


if __name__ == "__main__":
    main()
