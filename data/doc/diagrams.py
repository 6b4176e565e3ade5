#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws the diagrams of the documents as SVG, in a light and a dark version.

diagrams.py [FOLDER] writes them to FOLDER, by default data/doc/pictures. The output depends on this
file only. A text that would not fit its room is an error: widths are those of DejaVu Sans, which is
wider than the usual fonts of an interface.
"""
import pathlib
import sys
from xml.sax.saxutils import escape

SANS = "system-ui, -apple-system, 'Segoe UI', Roboto, Cantarell, 'Noto Sans', 'DejaVu Sans', sans-serif"
MONO = "ui-monospace, SFMono-Regular, Menlo, 'DejaVu Sans Mono', monospace"

# The colours of each theme by name; NAME+ is the outline of a shape filled with NAME.
THEMES = {
    "light": {"paper": "#ffffff", "ink": "#1f2328", "dim": "#59636e", "line": "#8c959f",
              "grey": "#f6f8fa", "grey+": "#d1d9e0", "blue": "#ddf4ff", "blue+": "#54aeff",
              "green": "#dafbe1", "green+": "#4ac26b", "purple": "#fbefff", "purple+": "#c297ff",
              "orange": "#fff1e5", "orange+": "#fb8f44"},
    "dark": {"paper": "#0d1117", "ink": "#f0f6fc", "dim": "#9198a1", "line": "#656c76",
             "grey": "#151b23", "grey+": "#3d444d", "blue": "#0c2d4f", "blue+": "#2f6fc4",
             "green": "#0f2f1c", "green+": "#2a8f46", "purple": "#2a1d42", "purple+": "#7d56c2",
             "orange": "#3a2112", "orange+": "#b3561d"},
}

# Widths of characters in thousandths of the font size; the others have OTHER.
WIDTHS = {**dict.fromkeys("ijl'|", 280), **dict.fromkeys(" .,:;/\\!", 345),
          **dict.fromkeys("ft()[]-r\"", 415), **dict.fromkeys("mwMW@%→←=+<>", 900),
          **dict.fromkeys("ABCDEFGHIJKLNOPQRSTUVXYZ", 740)}
OTHER = 635


def measure(words, size, mono=False, bold=False):
    """Returns the width of a text in pixels."""
    if mono:
        return len(words) * size * 0.602
    return sum(WIDTHS.get(letter, OTHER) for letter in words) / 1000 * size * (1.1 if bold else 1)


class Picture:
    """Shapes and texts, whose colours are names."""

    def __init__(self, name, title, width, height):
        self.name, self.title, self.width, self.height = name, title, width, height
        self.parts = []

    def add(self, tag, content=None, **attributes):
        # Attributes are written with - for _, numbers as short as they can be.
        self.parts.append((tag, content, {key.replace("_", "-"): value
                                          for key, value in attributes.items() if value is not None}))

    def box(self, x, y, width, height, fill="grey", dash=None, radius=6, outline=True):
        self.add("rect", x=x, y=y, width=width, height=height, rx=radius, fill=fill,
                 stroke=f"{fill}+" if outline else "none", stroke_dasharray=dash)

    def text(self, x, y, words, room, size=12, anchor="middle", colour="ink", bold=False, mono=False,
             paper=False):
        """Writes a line that is at most `room` wide; with `paper` lines behind it are hidden."""
        width = measure(words, size, mono, bold)
        if width > room:
            sys.exit(f"{self.name}: '{words}' is {width:.0f} wide, but has {room:.0f}")
        if paper:
            left = x - {"start": 0, "middle": width / 2, "end": width}[anchor]
            self.add("rect", x=round(left - 2), y=y - size, width=round(width + 4), height=size + 3,
                     fill="paper", stroke="none")
        self.add("text", escape(words), x=x, y=y, font_size=size, text_anchor=anchor, fill=colour,
                 font_weight=600 if bold else None, font_family=MONO if mono else None)

    def line(self, *points, colour="line", dash=None, arrow=False):
        path = " ".join(f"{'L' if i else 'M'}{x:g} {y:g}" for i, (x, y) in enumerate(points))
        self.add("path", d=path, fill="none", stroke=colour, stroke_dasharray=dash, stroke_width=1.5)
        if arrow:
            self.point(*points[-2], *points[-1], colour)

    def point(self, fromx, fromy, x, y, colour):
        """Draws the head of an arrow that is horizontal or vertical."""
        along, across = ((x > fromx) - (x < fromx)), ((y > fromy) - (y < fromy))
        back = (x - 8 * along, y - 8 * across)
        side = (4 * across, 4 * along)
        self.add("path", fill=colour, stroke="none",
                 d=f"M{x:g} {y:g} L{back[0] + side[0]:g} {back[1] + side[1]:g} "
                   f"L{back[0] - side[0]:g} {back[1] - side[1]:g} Z")

    def write(self, folder):
        for theme, colours in THEMES.items():
            lines = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width}" '
                     f'height="{self.height}" viewBox="0 0 {self.width} {self.height}" '
                     f'font-family="{SANS}" role="img">', "<!-- Made by data/doc/diagrams.py -->",
                     f"<title>{escape(self.title)}</title>",
                     f'<rect width="{self.width}" height="{self.height}" rx="8" '
                     f'fill="{colours["paper"]}"/>']
            for tag, content, attributes in self.parts:
                words = " ".join(f'{key}="{colours.get(str(value), value)}"'
                                 for key, value in attributes.items())
                lines.append(f"<{tag} {words}/>" if content is None
                             else f"<{tag} {words}>{content}</{tag}>")
            path = folder / f"{self.name}-{theme}.svg"
            path.write_text("\n".join(lines) + "\n</svg>\n", encoding="utf-8")


def draw_overview():
    """From a sequence to a report: the objects, and the folder that makes each."""
    self = Picture("overview", "From a description to a record", 800, 226)
    stages = [("text", "file or", "expression", "engine/sequence", "grey"),
              ("LigSequence", "ops and", "branches", "engine/sequence", "blue"),
              ("LigPlan", "steps, memory", "map, verdicts", "engine/compile", "blue"),
              ("LigProgram", "arena, bound", "addresses", "engine/program", "green"),
              ("LigRun", "training loop", "on a thread", "engine/train", "green"),
              ("LigStore", "runs, metrics", "in SQLite", "engine/store", "purple"),
              ("report", "HTML, PDF,", "JSON, charts", "engine/report", "purple")]
    width, gap, left, top, height = 98, 17, 6, 20, 92
    for i, (name, first, second, room, colour) in enumerate(stages):
        x = left + i * (width + gap)
        self.box(x, top, width, height, colour)
        self.text(x + width / 2, top + 21, name, width - 6, 12, bold=True)
        self.text(x + width / 2, top + 41, first, width - 6, 11)
        self.text(x + width / 2, top + 56, second, width - 6, 11)
        self.text(x + width / 2, top + 80, room, width - 6, 10, colour="dim", mono=True)
        if i:
            self.line((x - gap, top + height / 2), (x, top + height / 2), arrow=True)
    owners = [(2, "LigDevice", "backend, peak rates, costs", "engine/device"),
              (3, "LigState", "parameters, optimizer state", "engine/state")]
    for stage, name, words, room in owners:
        middle = left + stage * (width + gap) + width / 2
        x = middle - 174 if stage == 2 else middle - 26
        self.box(x, 148, 200, 62, "grey")
        self.text(x + 100, 166, name, 190, 12, bold=True)
        self.text(x + 100, 183, words, 190, 11)
        self.text(x + 100, 201, room, 190, 10, colour="dim", mono=True)
        self.line((middle, 148), (middle, top + height), arrow=True)
    return self


class Life(Picture):
    """A sequence diagram: a file at the left of each row, and a lifeline for each thread."""
    THREADS = {"main": (290, 172, "main thread", "blue"),
               "train": (472, 172, "thread “train”", "green"),
               "device": (643, 140, "device", "orange"), "store": (757, 72, "“lig-store”", "purple")}
    LEFT, TOP, ROW, BOX = 12, 52, 45, 35

    def __init__(self, name, title, height):
        super().__init__(name, title, 800, height)
        self.y, self.before = self.TOP, None
        for x, width, words, colour in self.THREADS.values():
            self.line((x, 40), (x, height - 8), dash="3 4")
            self.box(x - width / 2, 12, width, 28, colour)
            self.text(x, 31, words, width - 2, 11.5 if width < 80 else 12, bold=width > 80)

    def row(self, file, thread=None):
        """Begins a row; returns its top."""
        y = self.y
        self.y += self.ROW
        self.text(self.LEFT, y + 22, file, 188, 10, "start", "dim", mono=True)
        if thread and thread == self.before:
            x = self.THREADS[thread][0]
            self.line((x, y - self.ROW + self.BOX), (x, y), colour="line", arrow=True)
        self.before = thread
        return y

    def phase(self, words):
        self.line((6, self.y + 6), (794, self.y + 6), colour="grey+")
        self.text(self.LEFT, self.y + 24, words, 400, 12, "start", bold=True, paper=True)
        self.y += 36
        self.before = None

    def call(self, file, thread, name, words):
        y, (x, width, _, colour) = self.row(file, thread), self.THREADS[thread]
        self.box(x - width / 2, y, width, self.BOX, colour)
        self.text(x, y + 15, name, width - 6, 10.5, mono=True)
        self.text(x, y + 29, words, width - 6, 10.5, colour="dim")

    def send(self, file, source, target, name, words, dash=None):
        y = self.row(file)
        start, end = self.THREADS[source][0], self.THREADS[target][0]
        self.line((start, y + 20), (end, y + 20), colour="ink", dash=dash, arrow=True)
        middle, room = (start + end) / 2, abs(end - start) - 14
        self.text(middle, y + 14, name, room, 10.5, mono=True, paper=True)
        self.text(middle, y + 34, words, room, 10.5, colour="dim", paper=True)

    def frame(self, words, rows):
        """Encloses the rows that follow, one of several cases."""
        self.before = None
        height = rows * self.ROW + 18
        self.add("rect", x=378, y=self.y - 4, width=340, height=height, rx=6, fill="none",
                 stroke="line", stroke_dasharray="5 4")
        self.text(388, self.y + 11, words, 322, 10.5, "start", bold=True, paper=True)
        self.y += 18


def draw_train():
    """The life of `lig train`."""
    self = Life("train", "The life of lig train: threads, functions and files", 1192)
    self.phase("Preparation, on the caller’s thread")
    self.call("app/cli/train.c", "main", "begin()", "opens sequence and device")
    self.call("engine/train/run.c", "main", "lig_run_new()", "makes the calls below")
    self.call("engine/train/prepare.c", "main", "lig_run_prepare()", "settings, data, state")
    self.call("engine/train/programs.c", "main", "lig_run_compile()", "training and validation")
    self.call("engine/compile/compile.c", "main", "lig_plan_compile()", "sequence → plan")
    self.call("engine/program/bind.c", "main", "lig_program_bind()", "arena and addresses")
    self.call("engine/train/record.c", "main", "lig_run_register()", "enters the run in the store")
    self.call("app/cli/train-progress.c", "main", "lig_cli_watch_run()", "event loop: signals, display")
    self.send("engine/train/run.c", "main", "train", "lig_run_start()", "creates the thread")
    self.phase("For each step, on the worker thread")
    self.call("engine/train/step.c", "train", "lig_run_step()", "micro-batches, update")
    self.call("engine/data/dataset.c", "train", "lig_dataset_next()", "next batch, on the host")
    self.send("engine/program/feed.c", "train", "device", "lig_feed_send()", "copied in its own lane")
    self.call("engine/program/run.c", "train", "lig_program_run()", "passes → segments")
    self.call("engine/program/run.c", "train", "run_segment()", "launch, capture or replay")
    self.frame("CPU: every run · GPU: run 1 tunes, run 2 captures", 2)
    self.call("engine/steps/steps.c", "train", "lig_steps_run()", "a function pointer per step")
    self.send("kernels/kernel-list.h", "train", "device", "step->function()", "the kernel")
    self.frame("GPU: run 2, once it is captured, and later", 1)
    self.send("kernels/cuda/runtime/capture.c", "train", "device", "calls->replay()", "one CUDA graph")
    self.send("engine/train/step.c", "device", "train", "take_oldest()", "loss, a few steps late", "4 3")
    self.send("engine/train/run-progress.c", "train", "store", "lig_run_metric()",
              "queued; written in batches")
    self.send("app/cli/train-progress.c", "train", "main", "lig_run_get_progress()",
              "polled every 100 ms", "4 3")
    self.phase("At the end")
    self.call("engine/train/checkpoint.c", "train", "lig_run_save_checkpoint()", "also at intervals")
    self.send("engine/train/signals.c", "train", "main", "lig_run_announce_end()",
              "signal “ended”", "4 3")
    return self


class Lanes(Picture):
    """The lanes of a device over time."""
    LEFT, STEP = 128, 34
    LANES = {"main": (50, "blue"), "communication": (132, "orange"), "side": (202, "green"),
             "copy": (254, "purple")}

    def __init__(self, name, title, width, height):
        super().__init__(name, title, width, height)
        for lane, (y, _) in self.LANES.items():
            self.line((self.LEFT, y + self.STEP + 4), (width - 8, y + self.STEP + 4), colour="grey+")
            self.text(self.LEFT - 12, y + 22, lane, self.LEFT - 18, 12, "end", bold=True)

    def section(self, first, end, words):
        first, end = self.LEFT + first, self.LEFT + end
        self.text((first + end) / 2, 26, words, end - first, 12)
        self.line((first, 35), (end, 35))

    def step(self, lane, first, end, *lines):
        (y, colour), width = self.LANES[lane], end - first
        self.box(self.LEFT + first, y, width, self.STEP, colour, radius=4)
        for i, words in enumerate(lines):
            self.text(self.LEFT + first + width / 2, y + (14 if len(lines) > 1 else 21) + 14 * i, words,
                      width - 4, 10.5)

    def elbow(self, start, end, target, colour):
        """Draws an arrow between the two upper lanes, to the upper one or to the lower one."""
        upper, lower = self.LANES["main"][0] + self.STEP, self.LANES["communication"][0]
        ends = (lower, upper) if target == "main" else (upper, lower)
        middle = (upper + lower) / 2 + (5 if target == "main" else -3)
        start, end = self.LEFT + start, self.LEFT + end
        self.line((start, ends[0]), (start, middle), (end, middle), (end, ends[1]), colour=colour,
                  arrow=True)


def draw_lanes():
    """A step of training on three ranks."""
    self = Lanes("lanes", "The lanes of a device, and the steps that wait for others", 800, 346)
    self.section(0, 242, "forward, tensor parallel")
    self.section(252, 606, "backward, data parallel")
    self.section(616, 662, "update")
    self.step("main", 4, 68, "matmul", "own rows")
    self.step("main", 92, 164, "matmul", "rank 1’s")
    self.step("main", 168, 240, "matmul", "rank 2’s")
    self.step("communication", 4, 84, "receive rows", "of rank 1")
    self.step("communication", 88, 158, "receive", "rank 2’s")
    self.elbow(78, 100, "main", "ink")
    self.elbow(150, 178, "main", "ink")
    for i, first in enumerate((254, 348, 442)):
        self.step("main", first, first + 90, f"layer {3 - i}")
        if i < 2:
            self.step("communication", first + 96, first + 178, "all-reduce", f"bucket {i + 1}")
            self.elbow(first + 84, first + 104, "communication", "line")
    self.step("communication", 538, 606, "all-reduce", "bucket 3")
    self.elbow(526, 546, "communication", "line")
    self.step("side", 348, 424, "small step", "of layer 3")
    self.step("copy", 254, 424, "next batch, host → device")
    joined = self.LEFT + 611
    self.line((joined, 42), (joined, 240), colour="ink", dash="4 3")
    self.step("main", 615, 663, "AdamW")
    for x, words, colour, dash in ((14, "waits for one collective (awaits)", "ink", None),
                                   (282, "begins after the steps before it", "line", None),
                                   (536, "waits for all of them (joins)", "ink", "4 3")):
        self.line((x, 321), (x + 32, 321), colour=colour, dash=dash, arrow=not dash)
        self.text(x + 40, 325, words, 214, 11, "start", "dim")
    return self


class Ranks(Picture):
    """Ranks as cells, and their groups as outlines and arrows."""
    CELL, HEIGHT, COLUMN, ROW = 60, 34, 74, 84

    def grid(self, x, y, first, rows, columns, colour):
        """Draws a group of each row, and arrows of a colour along the columns."""
        for row in range(rows):
            top = y + row * self.ROW
            self.box(x - 10, top - 6, (columns - 1) * self.COLUMN + self.CELL + 20, self.HEIGHT + 12,
                     "blue", radius=8)
            for column in range(columns):
                left = x + column * self.COLUMN
                self.box(left, top, self.CELL, self.HEIGHT, "grey", radius=4)
                self.text(left + self.CELL / 2, top + 22, f"rank {first + row * columns + column}",
                          self.CELL - 4, 11)
                if row:
                    self.both((left + self.CELL / 2, top - self.ROW + self.HEIGHT + 6),
                              (left + self.CELL / 2, top - 6), colour)

    def both(self, start, end, colour):
        self.line(start, end, colour=colour, arrow=True)
        self.line(end, start, colour=colour, arrow=True)


def draw_ranks():
    """Eight ranks in two layouts."""
    self = Ranks("ranks", "The groups of eight ranks in two layouts", 800, 254)
    self.text(204, 28, "data=2,tensor=4", 380, 12, bold=True, mono=True)
    self.text(606, 28, "data=2,context=2,tensor=2", 380, 12, bold=True, mono=True)
    self.grid(63, 66, 0, 2, 4, "green+")
    for block in range(2):
        x = 422 + 202 * block
        self.add("rect", x=x, y=44, width=166, height=162, rx=8, fill="none", stroke="line",
                 stroke_dasharray="5 4")
        self.grid(x + 16, 66, 4 * block, 2, 2, "orange+")
    self.both((588, 125), (624, 125), "green+")
    self.box(20, 225, 32, 14, "blue", radius=4)
    self.text(60, 236, "TP group: shards of the parameters", 214, 11, "start", "dim")
    self.both((282, 232), (314, 232), "orange+")
    self.text(322, 236, "CP group: shards of the sequence", 210, 11, "start", "dim")
    self.both((544, 232), (576, 232), "green+")
    self.text(584, 236, "DP group: shards of the batch", 210, 11, "start", "dim")
    return self


def write_all(folder):
    folder.mkdir(parents=True, exist_ok=True)
    for draw in (draw_overview, draw_train, draw_lanes, draw_ranks):
        draw().write(folder)


if __name__ == "__main__":
    write_all(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1
              else pathlib.Path(__file__).resolve().parent / "pictures")
