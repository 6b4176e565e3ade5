#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that error messages can be translated: in a call that sets an error, each text is inside
_() or g_dngettext(). Errors about tables and calls, which only authors of programs or modules read,
are exempt; FILES and SENTENCES list them with the reason."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ["engine/*", "ui/document", "ui/session"]
FILES = {
    "patterns/check.c": "a fusion's table",
    "patterns/custom-kernel.c": "a kernel's table",
    "lower/lower.c": "a fusion's or op's lowering",
    "patterns/pattern.c": "a fusion's pattern",
    "compile/register-op.c": "an op's table",
    "compile/verify.c": "an internal check",
    "program/io.c": "a caller of the library",
    "program/program.c": "a caller of the library",
    "sequence/kernel-names.c": "a kernel's table",
    "sequence/op-check.c": "an op's table",
    "sequence/registry-lock.c": "a caller of the library",
    "sequence/table-size.c": "a table",
    "base/rejection.c": "a table",
    "session/settings.c": "an incomplete installation",
}
SENTENCES = {"unknown flags": "a caller of the library"}
CALL = re.compile(r"\b(g_set_error|g_set_error_literal|g_error_new|g_error_new_literal|g_prefix_error"
                  r"|lig_dataset_reject|lig_csv_reject|lig_reader_reject|lig_tensor_file_reject"
                  r"|reject_file|lig_sql_fail|lig_device_check|lig_reader_expected) \(")
COMMENT = re.compile(r"/\*.*?\*/", re.S)
LITERAL = r'"(?:[^"\\]|\\.)*"'
TEXT = rf"(?:\s*(?:{LITERAL}|PRI[a-z0-9]+|G_[A-Z0-9]+_FORMAT))+"
MARKED = re.compile(rf"\b_ \({TEXT}\)|\bg_dngettext \(\s*GETTEXT_PACKAGE,{TEXT},{TEXT},")
DIRECTIVE = re.compile(r"%(?:%|[-+ #0]*(?:\d+|\*)?(?:\.(?:\d+|\*))?(?:hh|h|ll|l|z)?[a-zA-Z]|$)")
# Texts that are not sentences: names that file formats and SQLite define.
NAMES = {'"main"', '"fp32"'}


def arguments_of(text, start):
    """Returns the text from a parenthesis to its matching one."""
    depth, at = 1, start
    for token in re.finditer(rf"{LITERAL}|'(?:[^'\\]|\\.)'|[()]", text[start:]):
        depth += {"(": 1, ")": -1}.get(token[0], 0)
        at = start + token.end()
        if depth == 0:
            break
    return text[start:at]


def find_unmarked(text):
    """Yields the line and the text of each error message that is not marked."""
    text = COMMENT.sub(lambda match: "\n" * match[0].count("\n"), text)
    for call in CALL.finditer(text):
        rest = MARKED.sub("", arguments_of(text, call.end()))
        for literal in re.findall(LITERAL, rest):
            words = DIRECTIVE.sub("", literal[1:-1])
            if re.search(r"[A-Za-z]{2}", words) and literal not in NAMES:
                yield text[:call.start()].count("\n") + 1, literal


def main():
    # The check itself: an unmarked message is found, a marked one is not.
    if not list(find_unmarked('g_set_error (e, D, C, "it is %s", x);')) or \
            list(find_unmarked('g_set_error (e, D, C, _ ("it is %s"), x);')):
        sys.exit("the self-test of this check failed")
    files = sorted(path for folder in FOLDERS for path in ROOT.glob(folder + "/*.c"))
    calls = faults = 0
    for path in files:
        text = path.read_text()
        calls += len(CALL.findall(text))
        if "/".join(path.parts[-2:]) in FILES:
            continue
        for line, literal in find_unmarked(text):
            if not any(sentence in literal for sentence in SENTENCES):
                print(f"{path.relative_to(ROOT)}:{line}: {literal} is not inside _()")
                faults += 1
    for name in FILES:
        if not any(path.as_posix().endswith("/" + name) for path in files):
            print(f"{name}: does not exist")
            faults += 1
    print(f"{len(files)} files, {calls} calls, {faults} sentences not marked for translation")
    return 1 if faults or not calls else 0


if __name__ == "__main__":
    sys.exit(main())
