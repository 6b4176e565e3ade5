# SPDX-License-Identifier: MIT
"""A desktop of its own for the real program: Xvfb, a session bus, its folders; the screen is read by
AT-SPI, the keyboard and the pointer are xdotool's.

A test program is `main (TESTS)`: it starts itself again under a bus and a display and speaks TAP.
A tool that the machine lacks is a reason to skip, never to fail.
"""
import collections
import contextlib
import functools
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback

SOURCE = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(SOURCE / "tests/ui"))
from display import display  # noqa: E402

TOOLS = ("Xvfb", "dbus-run-session", "xdotool", "xwininfo", "xprop", "import", "compare", "gdbus")
APPLICATION = "org.ligature.Ligature"
OBJECT = "/org/ligature/Ligature"
TIMEOUT = 20.0
AT = "org.a11y.atspi"
ROOT = "/org/a11y/atspi/accessible/root"


class Missing(Exception):
    """A tool that the test needs is missing; its text is the reason to skip."""


def wait(condition, what, timeout=TIMEOUT):
    """Returns the result of `condition` as soon as that is true. To read the screen costs the program
    time, too: up to half of it is left for what is waited for."""
    end = time.monotonic() + timeout
    while (now := time.monotonic()) < end:
        found = condition()
        if found:
            return found
        time.sleep(min(max(0.05, time.monotonic() - now), 0.5))
    raise AssertionError(f"waited {timeout:.0f} s for {what}")


def run(*command, check=True):
    return subprocess.run([str(word) for word in command], check=check, text=True,
                          capture_output=True).stdout.strip()


# --- Reading the screen as a screen reader does ---------------------------------------------------

try:
    from gi.repository.GLib import GError
except ImportError:
    GError = OSError


def atspi():
    """The module; imported late, because it looks for the bus."""
    import gi
    gi.require_version("Atspi", "2.0")
    from gi.repository import Atspi
    return Atspi


@functools.cache
def role_name(number):
    return atspi().role_get_name(atspi().Role(number))


class Bus:
    """The accessibility bus, on which the program answers a screen reader."""

    def __init__(self):
        from gi.repository import Gio, GLib
        self.variant = GLib.Variant
        session = Gio.bus_get_sync(Gio.BusType.SESSION)
        address = session.call_sync("org.a11y.Bus", "/org/a11y/bus", "org.a11y.Bus", "GetAddress", None,
                                    None, Gio.DBusCallFlags.NONE, -1, None).unpack()[0]
        flags = Gio.DBusConnectionFlags
        self.connection = Gio.DBusConnection.new_for_address_sync(
            address, flags.AUTHENTICATION_CLIENT | flags.MESSAGE_BUS_CONNECTION, None, None)
        self.counts = {}

    def call(self, name, path, interface, method, types="()", *arguments):
        answer = self.connection.call_sync(name, path, interface, method,
                                           self.variant(types, arguments), None, 0, 10000, None)
        return answer.unpack()

    def programs(self):
        """The names of the programs that a screen reader knows."""
        return [name for name, _ in self.call("org.a11y.atspi.Registry", ROOT, f"{AT}.Accessible",
                                              "GetChildren")[0]]

    def process(self, name):
        return self.call("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus",
                         "GetConnectionUnixProcessID", "(s)", name)[0]

    def list(self, name):
        """All that the program describes, in one call, as asking each for its children takes much
        longer. GTK describes a widget once its parent was asked for its children, though."""
        while True:
            items = self.call(name, "/org/a11y/atspi/cache", f"{AT}.Cache", "GetItems")[0]
            known = collections.defaultdict(set)  # of the places among the parent's children
            for item in items:
                known[item[2][1]].add(item[3])
            counts = {item[0][1]: (item[4], frozenset(known[item[0][1]])) for item in items}
            asleep = [path for path, (count, places) in counts.items()
                      if not places.issuperset(range(count))
                      and (count, places) != self.counts.get(path)]
            # Of each reading: a widget that comes, goes and comes again is asked again.
            self.counts = counts
            if not asleep:
                return items
            while asleep:
                below = [self.call(name, path, f"{AT}.Accessible", "GetChildren")[0]
                         for path in asleep]
                asleep = [path for children in below for _, path in children if path not in counts]

    def read(self, name):
        """The program's accessible with all its descendants."""
        things, items = {}, self.list(name)
        for item in items:
            things[item[0][1]] = Thing(self, item)
        for item in sorted(items, key=lambda item: item[3]):
            thing, parent = things[item[0][1]], things.get(item[2][1])
            if parent and parent is not thing:
                thing.above = parent
                parent.below.append(thing)
        return things[ROOT]


class Thing:
    """One accessible: a widget as a screen reader sees it. Its name, description and role are those
    of the moment when the screen was read; the rest is asked for."""

    def __init__(self, bus, item):
        (self.owner, self.path), self.interfaces = item[0], item[5]
        self.name, self.description = item[6], item[8]
        self.role = role_name(item[7])
        self.bus, self.above, self.below = bus, None, []

    def __repr__(self):
        return f"{self.role} '{self.name}'"

    def ask(self, interface, method, *arguments):
        return self.bus.call(self.owner, self.path, f"{AT}.{interface}", method, *arguments)

    def parent(self):
        return self.above

    def is_named(self):
        """GTK falls back to the type's name, which does not count."""
        return not re.match(r"^$|Gtk[A-Z]|Adw[A-Z]|Lig[A-Z]", self.name)

    def walk(self):
        """It and all its descendants."""
        yield self
        for child in self.below:
            yield from child.walk()

    def near(self, role, pattern):
        """The closest thing of a role whose name matches, of the same reading of the screen."""
        place = self
        while place:
            for thing in place.walk():
                if thing.role == role and re.search(pattern, thing.name):
                    return thing
            place = place.above
        raise AssertionError(f"no {role} '{pattern}' near {self}")

    def is_shown(self):
        """GTK 4.8 sets SHOWING on windows only; a widget that was never laid out has no size."""
        if self.role in ("frame", "dialog", "window"):
            return self.has("showing")
        return f"{AT}.Component" in self.interfaces and min(self.box()[2:]) > 0

    def has(self, state):
        kind = int(getattr(atspi().StateType, state.upper()))
        return bool(self.ask("Accessible", "GetState")[0][kind // 32] >> kind % 32 & 1)

    def actions(self):
        if f"{AT}.Action" not in self.interfaces:
            return []
        return [self.ask("Action", "GetName", "(i)", index)[0]
                for index in range(len(self.ask("Action", "GetActions")[0]))]

    def act(self, name):
        names = self.actions()
        assert name in names, f"{self} can {names}, not {name}"
        assert self.ask("Action", "DoAction", "(i)", names.index(name))[0]

    def text(self):
        if f"{AT}.Text" not in self.interfaces:
            return ""
        return self.ask("Text", "GetText", "(ii)", 0, -1)[0]

    def box(self):
        """x, y, width and height within the window."""
        window = int(atspi().CoordType.WINDOW)
        return self.ask("Component", "GetExtents", "(u)", window)[0]


# --- The program ----------------------------------------------------------------------------------

class Program:
    """One running window program with its own folders."""

    def __init__(self, home, arguments=(), environment=None):
        self.home = pathlib.Path(home)
        self.environment = dict(os.environ, HOME=str(home), XDG_DATA_HOME=f"{home}/data",
                                XDG_CONFIG_HOME=f"{home}/config", XDG_CACHE_HOME=f"{home}/cache",
                                LIGATURE_STORE=str(self.store()), G_MESSAGES_DEBUG="Ligature",
                                **(environment or {}))
        self.log = open(self.home / "log", "ab+")
        self.log_start = self.log.tell()
        self.bus = self.bus_name = None
        self.started = time.monotonic()
        self.process = subprocess.Popen([os.environ["LIGATURE"], *map(str, arguments)],
                                        env=self.environment, stdout=self.log,
                                        stderr=subprocess.STDOUT)
        self.x_window = wait(self.find_window, "the window")
        run("xdotool", "windowfocus", "--sync", self.x_window)

    def store(self):
        return self.home / "store.db"

    def find_window(self):
        assert self.process.poll() is None, f"the program ended: {self.read_log()}"
        found = run("xdotool", "search", "--onlyvisible", "--pid", self.process.pid, check=False)
        return found.split()[0] if found else None

    def x_windows(self):
        """All visible windows, oldest first."""
        found = run("xdotool", "search", "--onlyvisible", "--pid", self.process.pid, check=False)
        return sorted(found.split(), key=int)

    def focus(self, index=-1):
        """Without a window manager a new window must be given the focus."""
        run("xdotool", "windowfocus", "--sync", self.x_windows()[index])
        time.sleep(0.2)

    def read_log(self):
        self.log.seek(self.log_start)
        return self.log.read().decode(errors="replace")

    def first_frame(self):
        """Milliseconds from exec to the first frame, and those of the CPU in them."""
        found = wait(lambda: re.search(r"first frame at (\d+) microseconds, CPU time (\d+)",
                                       self.read_log()), "the first frame")
        return int(found[1]) / 1e3 - self.started * 1e3, int(found[2]) / 1e3

    # Actions by name, as the shell or a script calls them.

    def call(self, path, method, *arguments):
        return run("gdbus", "call", "--session", "--dest", APPLICATION, "--object-path", path,
                   "--method", f"org.gtk.Actions.{method}", *arguments)

    def activate(self, action, target=None, window=1):
        """`win.page` with "plan", `app.about`."""
        scope, name = action.split(".", 1)
        path = OBJECT if scope == "app" else f"{OBJECT}/window/{window}"
        self.call(path, "Activate", name, f"[<'{target}'>]" if target else "[]", "{}")

    def is_enabled(self, name, window=1):
        return "(true" in self.call(f"{OBJECT}/window/{window}", "Describe", name).replace("((", "(")

    # Reading the screen.

    def tree(self):
        """The application's accessible."""
        def find():
            assert self.process.poll() is None, f"the program ended with {self.process.returncode}"
            self.bus = self.bus or Bus()
            for name in self.bus.programs():
                with contextlib.suppress(GError):
                    if self.bus.process(name) == self.process.pid:
                        return name
            return None
        self.bus_name = self.bus_name or wait(find, "the program among the accessibles")
        return self.bus.read(self.bus_name)

    def look(self, role=None, name=None, showing=True):
        """Returns things of a role whose name equals or matches `name`."""
        found = []
        # The program may not answer yet, and a widget may vanish during the search.
        with contextlib.suppress(GError):
            for thing in self.tree().walk():
                matches = name is None or (name.search(thing.name) if isinstance(name, re.Pattern)
                                           else thing.name == name)
                if matches and role in (None, thing.role):
                    with contextlib.suppress(GError):
                        if not showing or thing.is_shown():
                            found.append(thing)
        return found

    def find(self, role=None, name=None, showing=True, timeout=TIMEOUT):
        what = f"{role or 'something'} '{name}'"
        return wait(lambda: self.look(role, name, showing), what, timeout)[0]

    def says(self, pattern, timeout=TIMEOUT):
        """Waits until some text on the screen matches."""
        return self.find(name=re.compile(pattern), timeout=timeout)

    def export(self, path):
        """Exports a report until a toast confirms it: that goes after five seconds, within which a busy
        machine may not read the screen."""
        toast = re.compile(f"Exported “{path.name}”")

        def attempt():
            self.activate("win.export-to", path)
            return self.look(name=toast)
        wait(attempt, f"the toast of {path.name}")

    # Keyboard and pointer.

    def key(self, *keys):
        for name in keys:
            run("xdotool", "key", "--clearmodifiers", name)
            time.sleep(0.15)

    def type(self, text):
        run("xdotool", "type", "--delay", "20", text)
        time.sleep(0.2)

    def frame(self, x_window=None):
        """Screen position of the window's corner in AT-SPI."""
        x_window = x_window or self.x_window
        info = run("xwininfo", "-id", x_window)
        x = int(re.search(r"Absolute upper-left X:\s+(-?\d+)", info)[1])
        y = int(re.search(r"Absolute upper-left Y:\s+(-?\d+)", info)[1])
        extents = re.search(r"= (\d+), \d+, (\d+)", run("xprop", "-id", x_window, "_GTK_FRAME_EXTENTS",
                                                        check=False))
        # Without a compositor GTK draws a border of five pixels that it does not report.
        return (x + int(extents[1]), y + int(extents[2])) if extents else (x + 5, y + 5)

    def place(self, thing, at=(0.5, 0.5)):
        x, y, width, height = thing.box()
        left, top = self.frame()
        return round(left + x + width * at[0]), round(top + y + height * at[1])

    def click(self, thing, at=(0.5, 0.5)):
        run("xdotool", "mousemove", *self.place(thing, at), "click", 1)
        time.sleep(0.2)

    def drag(self, start, end):
        """From one point of the screen to another, in steps, with a pause before the release."""
        run("xdotool", "mousemove", *start, "mousedown", 1)
        for step in range(1, 11):
            time.sleep(0.03)
            run("xdotool", "mousemove", *(round(a + (b - a) * step / 10)
                                          for a, b in zip(start, end)))
        time.sleep(0.1)
        run("xdotool", "mousemove", end[0] + 1, end[1] + 1)
        time.sleep(0.3)
        run("xdotool", "mouseup", 1)
        time.sleep(0.3)

    def picture(self, path):
        run("import", "-window", self.x_window, path)

    # The end.

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def close(self):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.kill()
        self.log.close()


@contextlib.contextmanager
def program(home, *arguments, **environment):
    started = Program(home, arguments, environment)
    try:
        yield started
    except BaseException:
        print("# " + "\n# ".join(started.read_log().splitlines()[-20:]))
        raise
    finally:
        started.close()


@contextlib.contextmanager
def new_home():
    """Folders of a user who has never started the program."""
    with tempfile.TemporaryDirectory(prefix="ligature-") as folder:
        settings = pathlib.Path(folder) / "config" / "gtk-4.0"
        settings.mkdir(parents=True)
        shutil.copy(SOURCE / "tests/ui/config/gtk-4.0/settings.ini", settings)
        yield pathlib.Path(folder)


def lig(home, *arguments):
    """The command line, with the same store."""
    environment = dict(os.environ, LIGATURE_STORE=str(pathlib.Path(home) / "store.db"))
    return subprocess.run([os.environ["LIG"], *map(str, arguments)], env=environment, check=True,
                          text=True, capture_output=True).stdout


# --- Running tests --------------------------------------------------------------------------------

def find_missing():
    missing = [tool for tool in TOOLS if not shutil.which(tool)]
    if missing:
        return f"there is no {', '.join(missing)}"
    try:
        atspi()
    except (ImportError, ValueError) as error:
        return f"AT-SPI cannot be read: {error}"
    return None


def run_inside(tests):
    """Under the display and the bus: the tests themselves."""
    chosen = [test for test in tests if not sys.argv[1:] or test.__name__ in sys.argv[1:]]
    failed = 0
    for number, test in enumerate(chosen, 1):
        title = test.__name__.replace("test_", "", 1).replace("_", "-")
        try:
            with new_home() as home:
                test(home)
            print(f"ok {number} - {title}", flush=True)
        except Missing as reason:
            print(f"ok {number} - {title} # SKIP {reason}", flush=True)
        except Exception:
            failed += 1
            print(f"not ok {number} - {title}")
            print("# " + "\n# ".join(traceback.format_exc().splitlines()), flush=True)
    print(f"1..{len(chosen)}", flush=True)
    return 1 if failed else 0


def main(tests):
    if os.environ.get("LIGATURE_E2E") == "inside":
        sys.stdout = os.fdopen(int(os.environ["LIGATURE_TAP"]), "w", buffering=1)
        sys.exit(run_inside(tests))
    reason = find_missing()
    if reason:
        print(f"1..0 # SKIP {reason}")
        sys.exit(0)
    build = pathlib.Path(os.environ.get("LIGATURE_BUILD", SOURCE / "build"))
    environment = dict(os.environ, LIGATURE_E2E="inside", GTK_A11Y="atspi",
                       GSK_RENDERER="cairo", GDK_BACKEND="x11", GSETTINGS_BACKEND="keyfile",
                       LC_ALL="C.UTF-8", NO_AT_BRIDGE="0", OMP_WAIT_POLICY="passive",
                       LIGATURE_DATA=str(SOURCE / "data"),
                       LIGATURE=str(build / "app/ligature"), LIG=str(build / "app/lig"))
    # Output of the bus's services must not mix with the results.
    results = os.dup(sys.stdout.fileno())
    environment["LIGATURE_TAP"] = str(results)
    environment.pop("GSETTINGS_SCHEMA_DIR", None)
    environment.pop("WAYLAND_DISPLAY", None)
    with display() as name:
        status = subprocess.run(["dbus-run-session", "--", sys.executable, *sys.argv],
                                env=dict(environment, DISPLAY=name), stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL, pass_fds=[results]).returncode
    sys.exit(status)
