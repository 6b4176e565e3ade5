/* SPDX-License-Identifier: MIT */
/* A store with fixed runs and times for tests of `lig runs`, in the time zone of Berlin. */
#pragma once

#include "tests/cli/case.h"

#include <ligature/store.h>
#include <pty.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <unistd.h>

#define FIRST "11110000-0000-4000-8000-000000000001"
#define SECOND "11112222-0000-4000-8000-000000000002"
#define THIRD "22220000-0000-4000-8000-000000000003"
#define PROBE "33330000-0000-4000-8000-000000000004"
#define NEWEST "44440000-0000-4000-8000-000000000005"

/* 2026-11-18 10:00:00 in Berlin. */
#define START G_GINT64_CONSTANT (1794992400)
#define HOUR 3600

static inline void
execute (sqlite3 *db, const char *format, ...)
{
  va_list arguments;
  char *message = NULL;
  va_start (arguments, format);
  char *sql = sqlite3_vmprintf (format, arguments);
  va_end (arguments);
  if (sqlite3_exec (db, sql, NULL, NULL, &message) != SQLITE_OK)
    g_error ("%s: %s", sql, message);
  sqlite3_free (sql);
}

/* The loss falls from 1 to `loss` with noise of a fiftieth of it. */
static inline void
add_metrics (sqlite3 *db, int run, int steps, double loss, double eval, double best)
{
  execute (db, "BEGIN");
  for (int step = 1; step <= steps; step++) {
    double share = (double) step / steps, noise = loss * 0.02 * (step % 5 - 2);
    double value = step == steps ? loss : loss + (1 - loss) * MAX (1 - 2 * share, 0) + noise;
    execute (db, "INSERT INTO metric VALUES (%d, 'loss', %d, %f)", run, step, value);
    execute (db, "INSERT INTO metric VALUES (%d, 'learning-rate', %d, 0.01)", run, step);
    execute (db, "INSERT INTO metric VALUES (%d, 'step-ms', %d, %f)", run, step,
             2 + 0.01 * (step % 3));
  }
  execute (db, "INSERT INTO metric VALUES (%d, 'eval-loss', %d, %f)", run, steps / 2, best);
  execute (db, "INSERT INTO metric VALUES (%d, 'eval-loss', %d, %f)", run, steps, eval);
  execute (db, "COMMIT");
}

typedef struct {
  int id, experiment, hours;
  const char *uuid, *kind, *status, *settings;
  int steps;
  double loss, eval, best;
  int starred;
} StoredRun;

static inline void
add_run (sqlite3 *db, const StoredRun *run)
{
  gint64 started = (START + run->hours * HOUR) * G_USEC_PER_SEC;
  execute (
    db,
    "INSERT INTO run (id, uuid, experiment, kind, device, dtype, recipe, policy, seed, settings,"
    " versions, status, started, ended, host, boot, pid, process_start, heartbeat, starred)"
    " VALUES (%d, %Q, %d, %Q, 'cpu', 'fp32:fp32', 'none', 'all', 1, %Q,"
    " '{\"ligature\": \"0.1.0\", \"device\": \"AMD EPYC\", \"libraries\": \"blis\"}', %Q,"
    " %lld, %lld, 'vm', '', 1, 1, %lld, %d)",
    run->id, run->uuid, run->experiment, run->kind, run->settings, run->status, started,
    started + 90 * G_USEC_PER_SEC, started, run->starred);
  if (run->steps == 0)
    return;
  add_metrics (db, run->id, run->steps, run->loss, run->eval, run->best);
  execute (db,
           "UPDATE run SET last_step = %d, first_loss = 1, last_loss = %f, eval_loss = %f,"
           " eval_accuracy = 0.5, step_ms = 2.01, saved_step = %d WHERE id = %d",
           run->steps, run->loss, run->eval, run->steps, run->id);
}

#define SEQUENCE \
  "{\"ligature\": 1, \"input\": {\"shape\": [4, 2], \"dtype\": \"fp32\"}, \"ops\": [{\"op\":" \
  " \"linear\", \"out-features\": 8}, {\"op\": \"gelu\"}, {\"op\": \"mean-squared-error\"}]}"

/* Replaces the store by one of five runs, the newest last. */
static inline void
make_store (void)
{
  static const StoredRun runs[] = {
    {1, 1, 0, FIRST, "train", "done", "{\"steps\": 50, \"lr\": 0.001, \"optimizer\": \"adamw\"}",
     50, 0.5, 0.45, 0.4, 1},
    {2, 2, 24, SECOND, "train", "done", "{\"steps\": 50, \"lr\": 0.1, \"optimizer\": \"adamw\"}",
     50, 0.9, 0.35, 0.35, 0},
    {3, 1, 48, THIRD, "train", "interrupted",
     "{\"steps\": 100, \"lr\": 0.01, \"optimizer\": \"adamw\"}", 50, 0.501, 0.44, 0.3, 0},
    {4, 3, 72, PROBE, "profile", "done", "{\"tf32\": false}", 0, 0, 0, 0, 0},
    {5, 1, 96, NEWEST, "train", "failed", "{\"steps\": 100, \"lr\": 0.01}", 10, 2, 3, 2.5, 0},
  };
  g_autofree char *path = in_folder ("runs.db");
  const char *const endings[] = {"", "-wal", "-shm"};
  for (guint i = 0; i < G_N_ELEMENTS (endings); i++) {
    g_autofree char *file = g_strconcat (path, endings[i], NULL);
    g_remove (file);
  }
  g_autoptr (GError) error = NULL;
  LigStore *store = lig_store_open (path, &error);
  g_assert_no_error (error);
  g_object_unref (store);
  sqlite3 *db = NULL;
  g_assert_cmpint (sqlite3_open (path, &db), ==, SQLITE_OK);
  const char *const names[] = {"small", "large", "a probe"};
  for (int i = 0; i < 3; i++)
    execute (db, "INSERT INTO experiment VALUES (%d, %Q, '%d', %Q)", i + 1, names[i], i, SEQUENCE);
  for (guint i = 0; i < G_N_ELEMENTS (runs); i++)
    add_run (db, &runs[i]);
  execute (db, "INSERT INTO tag VALUES (1, 'keep')");
  sqlite3_close (db);
}

/* Runs a line in a shell with the fresh store and the number of columns, NULL for none. */
static inline Outcome
with_columns (const char *columns, const char *line)
{
  g_autofree char *whole =
    columns ? g_strdup_printf ("COLUMNS=%s %s", columns, line) : g_strdup (line);
  return shell (whole);
}

/* Checks for a part of a table; each gap between its columns counts as one space. */
static inline void
assert_cells (const char *text, const char *part)
{
  g_autoptr (GRegex) spaces = g_regex_new (" +", 0, 0, NULL);
  g_autofree char *plain = g_regex_replace_literal (spaces, text, -1, 0, " ", 0, NULL);
  assert_contains (plain, part);
}

static inline void
assert_lines (const char *text, const char *expected)
{
  g_assert_cmpstr (text, ==, expected);
}

/* Reads from the terminal until the text ends with `end`, NULL for the end of the program. */
static inline void
read_until (int terminal, GString *text, const char *end)
{
  char part[512];
  while (!end || !g_str_has_suffix (text->str, end)) {
    gssize size = read (terminal, part, sizeof part);
    if (size <= 0)
      return;
    g_string_append_len (text, part, size);
  }
}

/* Runs a line of the shell in a terminal of 24 rows; each answer is typed at a question. Returns
 * the output, and the code in `code`: that of the shell, or minus the signal. */
static inline char *
type (const char *line, const char *answers, gushort columns, int *code)
{
  int terminal, status;
  GString *text = g_string_new (NULL);
  const struct winsize size = {.ws_row = 24, .ws_col = columns};
  pid_t child = forkpty (&terminal, NULL, NULL, &size);
  if (child == 0) {
    g_assert_cmpint (chdir (folder), ==, 0);
    execlp ("sh", "sh", "-c", line, NULL);
    _exit (127);
  }
  for (const char *answer = answers; *answer; answer++) {
    const char keys[] = {*answer, '\n', '\0'};
    read_until (terminal, text, "[y/N] ");
    g_assert_cmpint (write (terminal, keys, *answer < ' ' ? 1 : 2), >, 0);
  }
  read_until (terminal, text, NULL);
  waitpid (child, &status, 0);
  close (terminal);
  *code = WIFEXITED (status) ? WEXITSTATUS (status) : -WTERMSIG (status);
  return g_string_free (text, FALSE);
}

static inline int
run_store_tests (int argc, char **argv)
{
  g_setenv ("TZ", "Europe/Berlin", TRUE);
  g_unsetenv ("COLUMNS");
  return run_cli_tests ();
}
