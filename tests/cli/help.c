/* SPDX-License-Identifier: MIT */
/* Help texts: their width, groups and defaults; and the pager, in its own terminal. */
#include "tests/cli/case.h"

#include <errno.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

static const char *const commands[] = {
  "ops",     "check",   "fuse",     "plan", "apply",          "train",   "sweep",  "report",
  "profile", "predict", "generate", "runs", "export-weights", "devices", "verify", "export"};

/* Checks that no line is wider, except for one quoted word of an example. */
static void
assert_width (const char *text, int width)
{
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  for (char **line = lines; *line; line++) {
    glong length = g_utf8_strlen (*line, -1);
    if (g_str_has_suffix (*line, " \\"))
      (*line)[strlen (*line) - 2] = '\0';
    if (length > width && strchr (g_strchug (*line), ' '))
      g_error ("more than %d columns: '%s'", width, *line);
  }
}

static void
test_width (void)
{
  static const int widths[] = {60, 72, 80, 200};
  for (guint i = 0; i < G_N_ELEMENTS (widths); i++)
    for (guint j = 0; j <= G_N_ELEMENTS (commands); j++) {
      g_autofree char *line = g_strdup_printf ("COLUMNS=%d lig help %s", widths[i],
                                               j < G_N_ELEMENTS (commands) ? commands[j] : "");
      g_auto (Outcome) help = shell (line);
      g_assert_cmpint (help.code, ==, 0);
      assert_width (help.out, MIN (widths[i], 80));
    }
}

/* In a usage or an example, an option is on the same line as its value. */
static void
test_options (void)
{
  static const int widths[] = {60, 72, 80};
  for (guint i = 0; i < G_N_ELEMENTS (widths); i++)
    for (guint j = 0; j < G_N_ELEMENTS (commands); j++) {
      g_autofree char *line = g_strdup_printf ("COLUMNS=%d lig help %s", widths[i], commands[j]);
      g_auto (Outcome) help = shell (line);
      if (g_regex_match_simple ("^Usage:(.+\n)*.* -[a-z-]+\n", help.out, 0, 0) ||
          g_regex_match_simple (" -[a-z-]+ \\\\\n +[^- ]", help.out, 0, 0))
        g_error ("%s: an option ends a line: %s", line, help.out);
    }
}

static void
test_groups (void)
{
  g_auto (Outcome) train = lig ("help", "train", NULL);
  const char *at = train.out;
  static const char *const titles[] = {"\nData:\n",   "\nOptimizer:\n", "\nSchedule:\n",
                                       "\nDevice:\n", "\nFusions:\n",   "\nOutput:\n",
                                       "\nGeneral:\n"};
  for (guint i = 0; i < G_N_ELEMENTS (titles); i++) {
    at = strstr (at, titles[i]);
    if (!at)
      g_error ("no %s, or before the group above it", titles[i]);
    g_assert_null (strstr (at + 1, titles[i]));
  }
  assert_contains (train.out,
                   "  --steps N                   Total optimizer steps [default: 1000]");
  assert_contains (train.out, "Update rule [default: adamw]");
  g_auto (Outcome) list = lig ("help", "runs", "list", NULL);
  assert_contains (list.out, "--limit N");
  g_assert_null (strstr (list.out, "--yes"));
  assert_contains (list.out, "Columns (--columns");
  g_auto (Outcome) show = lig ("help", "runs", "show", NULL);
  assert_contains (show.out, "\nRUN:\n");
  g_assert_null (strstr (show.out, "Columns (--columns"));
}

/* A number has a default unless it is required. */
static void
test_defaults (void)
{
  g_auto (Outcome) options = lig ("--generate", "options", NULL);
  g_auto (GStrv) lines = g_strsplit (g_strchomp (options.out), "\n", -1);
  guint numbers = 0;
  for (char **line = lines; *line; line++) {
    /* The command, the option, its letter, whether it takes a value, the value, the description. */
    g_auto (GStrv) cells = g_strsplit (*line, "\t", -1);
    g_assert_cmpuint (g_strv_length (cells), ==, 6);
    if (strcmp (cells[4], "N") != 0 && strcmp (cells[4], "X") != 0)
      continue;
    numbers++;
    if (!strstr (cells[5], "[default: ") && strcmp (cells[1], "apply-fix") != 0)
      g_error ("lig %s --%s has no default: %s", cells[0], cells[1], cells[5]);
  }
  g_assert_cmpuint (numbers, >, 30);
}

static void
test_short (void)
{
  g_auto (Outcome) brief = lig ("train", "-h", NULL), whole = lig ("train", "--help", NULL);
  assert_contains (brief.out, "--steps N");
  g_assert_null (strstr (brief.out, "Example:"));
  assert_contains (whole.out, "\nExample:\n");
}

/* --- The pager ----------------------------------------------------------------------------- */

typedef struct {
  char *text;
  int code;
  gboolean echoes; /* whether the terminal echoes after the command */
} Session;

static void
clear (Session *self)
{
  g_free (self->text);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Session, clear)

/* Runs the line in a terminal of 24 rows and, once it has printed something, types the keys one
 * after another. */
static Session
type (const char *line, const char *keys)
{
  int terminal, status = 0;
  struct winsize size = {24, 80, 0, 0};
  struct termios modes;
  g_autoptr (GString) text = g_string_new (NULL);
  pid_t child = forkpty (&terminal, NULL, NULL, &size);
  g_assert_cmpint (child, >=, 0);
  if (child == 0) {
    g_setenv ("TERM", "xterm", TRUE);
    execlp ("sh", "sh", "-c", line, NULL);
    _exit (99);
  }
  struct pollfd one = {.fd = terminal, .events = POLLIN};
  for (;;) {
    char part[4096];
    int ready = poll (&one, 1, *keys && text->len > 0 ? 500 : 10000);
    gssize got = ready > 0 ? read (terminal, part, sizeof part) : 0;
    if (ready > 0 && got <= 0)
      break;
    if (got > 0)
      g_string_append_len (text, part, got);
    else if (!*keys || write (terminal, keys++, 1) != 1)
      g_error ("%s does not end: %s", line, text->str);
  }
  g_assert_cmpint (waitpid (child, &status, 0), ==, child);
  Session session = {g_strdup (text->str), WIFEXITED (status) ? WEXITSTATUS (status) : -1,
                     tcgetattr (terminal, &modes) == 0 && modes.c_lflag & ECHO};
  close (terminal);
  return session;
}

static void
test_pager (void)
{
  g_unsetenv ("PAGER");
  g_auto (Session) own = type ("LIG_PAGER='wc -w; echo paged' lig help train", "");
  assert_contains (own.text, "paged");
  g_assert_null (strstr (own.text, "Optimizer"));
  g_auto (Session) usual = type ("PAGER='echo paged' lig train --help", "");
  assert_contains (usual.text, "paged");
  g_auto (Session) preferred = type ("PAGER='echo other' LIG_PAGER='echo own' lig train -h", "");
  assert_contains (preferred.text, "own");
  g_auto (Session) colours = type ("LIG_PAGER='cat -v' lig help train", "");
  assert_contains (colours.text, "^[[1mData:");
  g_auto (Session) plain = type ("NO_COLOR=1 LIG_PAGER='cat -v' lig help train", "");
  assert_contains (plain.text, "\nData:");
  /* The exit code is that of lig, even if the pager ends early or fails. */
  g_auto (Session) early = type ("LIG_PAGER='head -n 1' lig help train", "");
  g_assert_cmpint (early.code, ==, 0);
  g_assert_null (strstr (early.text, "Optimizer"));
  g_auto (Session) failing = type ("LIG_PAGER='exit 3' lig help train", "");
  g_assert_cmpint (failing.code, ==, 0);
}

static void
test_unpaged (void)
{
  static const char *const lines[] = {
    "LIG_PAGER= lig help train",
    "LIG_PAGER=cat lig help train",
    "PAGER='echo paged' LIG_PAGER= lig help train",
    "PAGER='echo paged' lig --no-pager help train",
    "PAGER='echo paged' lig help train --no-pager",
    "PAGER='echo paged' lig --no-pager --help train",
    "LIG_PAGER=no-such-pager lig help train",
    "PAGER='echo paged' lig help train | cat",
  };
  for (guint i = 0; i < G_N_ELEMENTS (lines); i++) {
    g_auto (Session) session = type (lines[i], "");
    g_test_message ("%s", lines[i]);
    g_assert_cmpint (session.code, ==, 0);
    assert_contains (session.text, "Usage: lig train");
    assert_contains (session.text, "--data synthetic --steps 200");
    g_assert_null (strstr (session.text, "paged"));
  }
  /* A text that fits on the terminal, one document, and an error. */
  g_auto (Session) brief = type ("PAGER='echo paged' lig check gelu --input 2x2 --device null", "");
  g_assert_null (strstr (brief.text, "paged"));
  g_auto (Session) json = type ("PAGER='echo paged' lig ops --json", "");
  g_assert_null (strstr (json.text, "paged"));
  g_auto (Session) wrong = type ("PAGER='echo paged' lig fuse gleu", "");
  g_assert_cmpint (wrong.code, ==, 1);
  g_assert_null (strstr (wrong.text, "paged"));
}

static void
test_less (void)
{
  g_autofree char *less = g_find_program_in_path ("less");
  if (!less) {
    g_test_skip ("less is not installed");
    return;
  }
  g_auto (Session) session = type ("unset PAGER LESS; lig help train", "q");
  g_assert_cmpint (session.code, ==, 0);
  assert_contains (session.text, "Usage: lig train");
  g_assert_null (strstr (session.text, "--data synthetic --steps 200"));
  g_auto (Session) coloured = type ("unset PAGER; LESS=-X lig help train", "q");
  assert_contains (coloured.text, "\033[1mData:");
  g_auto (Session) dumb = type ("unset PAGER LESS; TERM=dumb lig help train", "");
  assert_contains (dumb.text, "--data synthetic --steps 200");
  /* Ctrl+C is for less, which continues; it restores the terminal when it ends. */
  g_auto (Session) interrupted =
    type ("trap : INT; unset PAGER LESS; lig help train; echo code $?", "\003q");
  assert_contains (interrupted.text, "code 0");
  g_assert_true (interrupted.echoes);
}

static void
test_colour (void)
{
  g_auto (Outcome) always = lig ("--color", "always", "help", "fuse", NULL);
  assert_contains (always.out, "\033[1m");
  g_auto (Outcome) automatic = lig ("help", "fuse", NULL);
  g_assert_null (strchr (automatic.out, '\033'));
  g_auto (Session) never = type ("lig --color=never --no-pager help fuse", "");
  g_assert_null (strchr (never.text, '\033'));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/help/width", test_width);
  g_test_add_func ("/help/options", test_options);
  g_test_add_func ("/help/groups", test_groups);
  g_test_add_func ("/help/defaults", test_defaults);
  g_test_add_func ("/help/short", test_short);
  g_test_add_func ("/help/colour", test_colour);
  g_test_add_func ("/pager/paged", test_pager);
  g_test_add_func ("/pager/unpaged", test_unpaged);
  g_test_add_func ("/pager/less", test_less);
  return run_cli_tests ();
}
