/* SPDX-License-Identifier: MIT */
/* Hostile files and rows, and full streams: `lig` reports them and exits with the right code. */
#include "tests/cli/case.h"

#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#define SMALL "linear(2) ! mean-squared-error"

static void
write_file (const char *name, const char *text)
{
  g_autofree char *path = in_folder (name);
  g_assert_true (g_file_set_contents (path, text, -1, NULL));
}

static void
assert_content (const char *name, const char *text)
{
  g_autofree char *path = in_folder (name), *found = NULL;
  g_assert_true (g_file_get_contents (path, &found, NULL, NULL));
  g_assert_cmpstr (found, ==, text);
}

static gboolean
exists (const char *name)
{
  g_autofree char *path = in_folder (name);
  return g_file_test (path, G_FILE_TEST_EXISTS);
}

/* Trains into a new store. */
static void
make_store (const char *name)
{
  g_auto (Outcome) trained = lig ("train", SMALL, "--input", "16x8", "--data", "synthetic",
                                  "--steps", "3", "--store", name, "--device", "cpu", NULL);
  g_assert_cmpint (trained.code, ==, 0);
}

static void
execute (const char *name, const char *sql)
{
  g_autofree char *path = in_folder (name);
  sqlite3 *db = NULL;
  char *message = NULL;
  g_assert_cmpint (sqlite3_open (path, &db), ==, SQLITE_OK);
  sqlite3_exec (db, sql, NULL, NULL, &message);
  g_assert_cmpstr (message, ==, NULL);
  sqlite3_close (db);
}

/* A file that is not a store: commands that read do not create, rename or write anything; commands
 * that write also leave the file unchanged. */
static void
test_store_of_another (void)
{
  static const char *const lines[] = {
    "lig runs list --store notes.txt",
    "lig runs show last --store notes.txt",
    "lig runs star last --store notes.txt",
    "lig runs export last -o x.csv --store notes.txt",
    "lig report last -o x.md --store notes.txt",
    "lig train --resume last --store notes.txt",
    "lig train '" SMALL "' --input 16x8 --data synthetic --steps 2 --store notes.txt",
  };
  write_file ("notes.txt", "my notes\n");
  for (guint i = 0; i < G_N_ELEMENTS (lines); i++) {
    g_auto (Outcome) rejected = shell (lines[i]);
    g_assert_cmpint (rejected.code, ==, 1);
    assert_contains (rejected.err, "is not a store");
  }
  /* The fuse command would only keep measured peak rates, so it works without a store. */
  g_auto (Outcome) planned = shell ("lig fuse gelu --input 4x8 --device cpu --store notes.txt");
  g_assert_cmpint (planned.code, ==, 0);
  g_auto (Outcome) listed = shell ("ls | grep notes");
  g_assert_cmpstr (listed.out, ==, "notes.txt\n");
  assert_content ("notes.txt", "my notes\n");
}

static void
test_mistyped (void)
{
  static const char *const lines[] = {
    "lig runs list --store no/such/runs.db",
    "lig runs show last --store no/such/runs.db",
    "lig runs delete last --yes --store no/such/runs.db",
    "lig report last -o x.md --store no/such/runs.db",
    "lig train --resume last --store no/such/runs.db",
    "LIGATURE_STORE=no/such/runs.db lig runs list",
  };
  for (guint i = 0; i < G_N_ELEMENTS (lines); i++) {
    g_auto (Outcome) rejected = shell (lines[i]);
    g_assert_cmpint (rejected.code, ==, 1);
    assert_contains (rejected.err, "does not exist");
    g_assert_false (exists ("no"));
  }
  /* Before the first run the list is empty and no store is created. */
  g_auto (Outcome) first =
    shell ("env -u LIGATURE_STORE XDG_DATA_HOME=$PWD/no lig runs list --json");
  g_assert_cmpint (first.code, ==, 0);
  g_assert_cmpstr (first.out, ==, "[]\n");
  g_assert_false (exists ("no"));
}

static void
test_store_rows (void)
{
  static const char *const statements[] = {
    "UPDATE run SET settings = replace (hex (zeroblob (1500000)), '0', '[')",
    "UPDATE run SET versions = replace (hex (zeroblob (1500000)), '0', '[')",
    "UPDATE experiment SET sequence = replace (hex (zeroblob (1500000)), '0', '[')",
    "UPDATE OR IGNORE metric SET name = x'000102' WHERE name = 'loss'",
    "UPDATE OR IGNORE metric SET name = cast (x'610062' AS text) WHERE name = 'loss'",
    "UPDATE experiment SET name = cast (x'41424344454647f0' AS text)",
    "UPDATE run SET started = 9223372036854775807, ended = -9223372036854775808",
    "UPDATE run SET status = 'running', heartbeat = -9223372036854775808",
    "UPDATE fusion SET first_op = -5, count = 2147483647",
    "UPDATE verdict SET first_op = 2147483647, count = 2147483647",
    "UPDATE metric SET value = 1.7e308 WHERE step = 1",
    "UPDATE run SET settings = '{\"lr\":\"x\",\"steps\":[1]}', versions = '[]', device = x'00'",
  };
  static const char *const commands[] = {
    "lig runs list --store q.db",
    "lig runs list --json --store q.db",
    "lig runs show last --store q.db",
    "lig runs show last --json --store q.db",
    "lig runs compare last last --store q.db",
    "lig runs export last -o q.json --store q.db",
    "lig report last -o q.html --store q.db",
    "lig report last -o q.json --store q.db",
  };
  make_store ("rows.db");
  for (guint i = 0; i < G_N_ELEMENTS (statements); i++) {
    g_auto (Outcome) copied = shell ("rm -f q.db*; cp rows.db q.db");
    execute ("q.db", statements[i]);
    for (guint j = 0; j < G_N_ELEMENTS (commands); j++) {
      g_auto (Outcome) read = shell (commands[j]);
      g_test_message ("%s: %s: %d %s", statements[i], commands[j], read.code, read.err);
      g_assert_cmpint (read.code, ==, 0);
      g_assert_true (g_utf8_validate (read.out, -1, NULL));
      if (strstr (commands[j], "--json"))
        g_assert_nonnull (read.json);
    }
  }
}

static void
assert_harmless (const char *text)
{
  for (const char *at = text; *at; at = g_utf8_next_char (at))
    g_assert_true (*at == '\n' || !g_unichar_iscntrl (g_utf8_get_char (at)));
}

/* Names, cells, headers and messages cannot send control sequences to a terminal. */
static void
test_escapes (void)
{
  write_file ("e.csv", "1,0\n\033]0;owned\a\033[2J,1\n");
  write_file ("e.lig",
              "{\"ligature\":1,\"name\":\"\\u001b[2J\\u009b2J\\nffffffff  forged\",\"input\":"
              "{\"shape\":[4,8]},\"ops\":[{\"op\":\"linear\",\"out-features\":2},"
              "{\"op\":\"mean-squared-error\"}],\"train\":{\"data\":\"synthetic\",\"steps\":2}}");
  write_file ("f.lig", "{\"ligature\":1,\"ops\":[{\"op\":\"\\u001b[2J\"}]}");
  write_file ("g.lig",
              "{\"ligature\":1,\"ops\":[{\"op\":\"make-extra-output\",\"to\":\"\\u009b2J\"},"
              "{\"op\":\"add-extra-input\",\"from\":\"\\u009b2J\"}]}");
  static const char *const lines[] = {
    "lig train 'linear(2) ! cross-entropy' --data csv:e.csv --batch 2 --device cpu --store e.db",
    "lig train e.lig --device cpu --store e.db",
    "lig runs list --store e.db",
    "lig runs show last --store e.db",
    "lig runs compare last last --store e.db",
    "lig check f.lig",
    "lig check \"$(printf '\\033[2J')\" --input 4x8",
    "lig fuse g.lig --input 4x8",
    "lig check \"$(printf 'x\\ny.lig')\"",
    "lig runs list --store \"$(printf 'x\\033y')\"",
  };
  for (guint i = 0; i < G_N_ELEMENTS (lines); i++) {
    g_auto (Outcome) said = shell (lines[i]);
    g_test_message ("%s: %s%s", lines[i], said.out, said.err);
    assert_harmless (said.out);
    assert_harmless (said.err);
  }
  g_auto (Outcome) listed = shell ("lig runs list --store e.db | grep -c forged");
  g_assert_cmpstr (listed.out, ==, "1\n");
  g_auto (Outcome) forged = shell ("lig runs list --store e.db | grep -c '^ffffffff'");
  g_assert_cmpstr (forged.out, ==, "0\n");
  /* JSON contains the name unchanged. */
  g_auto (Outcome) json = shell ("lig runs show last --json --store e.db");
  g_assert_nonnull (strstr (text_at (json.json, "name"), "\033[2J"));
}

static void
test_full_output (void)
{
  static const char *const commands[] = {
    "runs list --store full.db",
    "runs list --json --store full.db",
    "runs show last --store full.db",
    "runs show last --json --store full.db",
    "runs compare last last --json --store full.db",
    "fuse gelu --input 4x8 --device cpu",
    "fuse gelu --input 4x8 --device cpu --json",
    "plan gelu --input 4x8 --device cpu",
    "plan gelu --input 4x8 --device cpu --text",
    "plan gelu --input 4x8 --device cpu --dot",
    "check gelu --input 4x8",
    "profile gelu --input 4x8 --device cpu --store full.db",
    "report gelu --input 4x8 --device cpu -o - --format md",
    "ops",
    "ops --json",
    "devices --json",
    "--help",
    "--version",
    "runs --help",
    "train '" SMALL "' --input 16x8 --data synthetic --steps 2 --device cpu --store full.db",
    "train '" SMALL "' --input 16x8 --data synthetic --steps 2 --device cpu --store full.db --json",
  };
  make_store ("full.db");
  for (guint i = 0; i < G_N_ELEMENTS (commands); i++) {
    g_autofree char *full = g_strdup_printf ("lig %s > /dev/full", commands[i]);
    g_autofree char *closed = g_strdup_printf ("lig %s >&-", commands[i]);
    g_auto (Outcome) fails = shell (full), shut = shell (closed);
    g_test_message ("%s: %d %s, %d %s", commands[i], fails.code, fails.err, shut.code, shut.err);
    g_assert_cmpint (fails.code, ==, 1);
    assert_contains (fails.err, "standard output");
    g_assert_cmpint (shut.code, ==, 1);
    assert_contains (shut.err, "standard output");
  }
  /* A command that prints nothing needs no standard output; and no file gets the descriptor of a
   * closed stream. */
  g_auto (Outcome) silent = shell ("lig runs star last --store full.db >&- 2>&- <&-");
  g_assert_cmpint (silent.code, ==, 0);
  g_auto (Outcome) whole = shell ("lig runs list --store full.db --json");
  g_assert_cmpint (whole.code, ==, 0);
}

/* A checkpoint overwrites only a checkpoint. */
static void
test_checkpoint_victim (void)
{
  write_file ("victim.txt", "precious\n");
  write_file ("evil.lig", "{\"ligature\":1,\"input\":{\"shape\":[4,8]},\"ops\":[{\"op\":\"linear\","
                          "\"out-features\":2},{\"op\":\"mean-squared-error\"}],\"train\":"
                          "{\"data\":\"synthetic\",\"steps\":2,\"checkpoint\":\"victim.txt\"}}");
  g_auto (Outcome) named = lig ("train", "evil.lig", "--device", "cpu", NULL);
  g_assert_cmpint (named.code, ==, 1);
  assert_contains (named.err, "is not a checkpoint");
  assert_content ("victim.txt", "precious\n");
  g_auto (Outcome) said = lig ("train", SMALL, "--input", "4x8", "--data", "synthetic", "--device",
                               "cpu", "--checkpoint", "victim.txt", NULL);
  g_assert_cmpint (said.code, ==, 1);
  assert_content ("victim.txt", "precious\n");
  for (int i = 0; i < 2; i++) {
    g_auto (Outcome) fine = lig ("train", SMALL, "--input", "4x8", "--data", "synthetic", "--steps",
                                 "2", "--device", "cpu", "--checkpoint", "fine.st", NULL);
    g_assert_cmpint (fine.code, ==, 0);
  }
}

/* SQLite reads its journal files next to a database, so no checkpoint may have one of their names,
 * even if they are empty or do not exist. */
static void
test_checkpoint_companion (void)
{
  static const char *const endings[] = {"-wal", "-shm", "-journal"};
  g_auto (Outcome) made = lig ("train", SMALL, "--input", "4x8", "--data", "synthetic", "--steps",
                               "2", "--device", "cpu", "--store", "kept.db", NULL);
  g_assert_cmpint (made.code, ==, 0);
  for (guint i = 0; i < 2 * G_N_ELEMENTS (endings); i++) {
    g_autofree char *name = g_strconcat ("kept.db", endings[i / 2], NULL);
    if (i % 2)
      write_file (name, "");
    g_auto (Outcome) bad = lig ("train", SMALL, "--input", "4x8", "--data", "synthetic", "--steps",
                                "2", "--device", "cpu", "--checkpoint", name, NULL);
    g_assert_cmpint (bad.code, ==, 1);
    assert_contains (bad.err, "SQLite keeps data of the database");
  }
}

/* A .lig file may only choose a checkpoint below its own folder or the data folder, with links
 * resolved. */
static void
test_checkpoint_place (void)
{
  static const char *const outside[] = {"../outside.st", "link/outside.st", "a/../../outside.st"};
  g_auto (Outcome) made = shell ("mkdir -p sub/a other ligature && ln -s ../other sub/link");
  static const char form[] =
    "{\"ligature\":1,\"input\":{\"shape\":[4,8]},\"ops\":[{\"op\":\"linear\",\"out-features\":2},"
    "{\"op\":\"mean-squared-error\"}],\"train\":{\"data\":\"synthetic\",\"steps\":2,"
    "\"checkpoint\":\"%s\"}}";
  for (guint i = 0; i <= G_N_ELEMENTS (outside); i++) {
    g_autofree char *absolute = in_folder ("outside.st");
    g_autofree char *text =
      g_strdup_printf (form, i < G_N_ELEMENTS (outside) ? outside[i] : absolute);
    write_file ("sub/evil.lig", text);
    g_auto (Outcome) rejected = lig ("train", "sub/evil.lig", "--device", "cpu", "--json", NULL);
    assert_failed (&rejected, 1, "value", "$.train.checkpoint");
    g_assert_false (exists ("outside.st") || exists ("other/outside.st"));
  }
  g_auto (Outcome) repeated =
    lig ("train", "sub/evil.lig", "--device", "cpu", "--checkpoint", "outside.st", NULL);
  g_assert_cmpint (repeated.code, ==, 0);
  g_assert_true (exists ("outside.st"));
  g_autofree char *beside = g_strdup_printf (form, "a/inside.st");
  write_file ("sub/good.lig", beside);
  g_auto (Outcome) inside = lig ("train", "sub/good.lig", "--device", "cpu", NULL);
  g_assert_cmpint (inside.code, ==, 0);
  g_assert_true (exists ("sub/a/inside.st"));
  g_autofree char *in_data = in_folder ("ligature/data.st");
  g_autofree char *data = g_strdup_printf (form, in_data);
  write_file ("sub/good.lig", data);
  g_auto (Outcome) below = lig ("train", "sub/good.lig", "--device", "cpu", NULL);
  g_assert_cmpint (below.code, ==, 0);
}

/* A report can draw the extreme values that a device description may contain; values beyond them
 * are rejected. */
static void
test_report_ends (void)
{
  static const char *const formats[] = {"html", "pdf", "trace.json", "json"};
  static const char *const figures[] = {"1e6", "1e18", "1e-308", "1e308"};
  for (guint i = 0; i < G_N_ELEMENTS (figures); i++)
    for (guint j = 0; j < G_N_ELEMENTS (formats); j++) {
      g_autofree char *line = g_strdup_printf (
        "sed 's/\"copy\": [0-9.]*,/\"copy\": %s,/' \"$LIGATURE_DATA/devices/h200.json\" > d.json "
        "&& timeout -s KILL 60 lig report 'linear(8) ! gelu' --input 4x8 --device null:./d.json "
        "-o ends.%s",
        figures[i], formats[j]);
      g_auto (Outcome) drawn = shell (line);
      g_test_message ("%s: %d %s", line, drawn.code, drawn.err);
      g_assert_cmpint (drawn.code, ==, i < 2 ? 0 : 1);
      if (i >= 2)
        assert_contains (drawn.err, "expected 1e+06 to 1e+18 bytes a second");
    }
}

#define WRITE_PIPE "lig report gelu --input 4x8 --device cpu -o pipe.md"

/* A report to a pipe without a reader fails immediately; a reader gets the whole report. */
static void
test_report_pipe (void)
{
  g_auto (Outcome) alone = shell ("mkfifo pipe.md && timeout -s KILL 20 " WRITE_PIPE);
  g_assert_cmpint (alone.code, ==, 1);
  assert_contains (alone.err, "pipe.md: cannot be written: the pipe has no reader");
  g_auto (Outcome) read = shell ("cat pipe.md > read.md & sleep 0.5; " WRITE_PIPE " && wait");
  g_assert_cmpint (read.code, ==, 0);
  g_auto (Outcome) found = shell ("grep -c gelu read.md");
  g_assert_cmpint (found.code, ==, 0);
}

static void
test_locale (void)
{
  write_file ("Größe.csv", "1,0\n2,1\n3,0\n");
  g_auto (Outcome) trained = shell ("LC_ALL=C lig train 'linear(2) ! cross-entropy' --data "
                                    "csv:Größe.csv --batch 2 --steps 3 --name Größe --device cpu");
  g_test_message ("%s", trained.err);
  g_assert_cmpint (trained.code, ==, 0);
  g_auto (Outcome) shown = shell ("LC_ALL=POSIX lig runs list Größe --json");
  g_assert_cmpstr (text_at (shown.json, "0.name"), ==, "Größe");
}

/* GLib ends a process that cannot open the wake-up descriptor of its main loop. */
static void
test_few_files (void)
{
  make_store ("few.db");
  for (int limit = 5; limit < 30; limit++) {
    g_autofree char *line = g_strdup_printf (
      "ulimit -n %d; lig train '" SMALL "' --input 16x8 --data synthetic --steps 2 --device cpu "
      "--store few.db",
      limit);
    g_auto (Outcome) trained = shell (line);
    g_test_message ("%d: %d %s", limit, trained.code, trained.err);
    g_assert_true (trained.code == 0 || trained.code == 1 || trained.code == 127);
    if (limit == 6)
      assert_contains (trained.err, "ulimit");
  }
}

static void
test_modes (void)
{
  struct stat info;
  g_auto (Outcome) trained =
    shell ("umask 022; XDG_DATA_HOME=$PWD/home; export XDG_DATA_HOME; unset LIGATURE_STORE; "
           "lig train '" SMALL "' --input 16x8 --data synthetic --steps 2 --device cpu --json");
  g_assert_cmpint (trained.code, ==, 0);
  static const struct {
    const char *name;
    mode_t mode;
  } made[] = {
    {"home/ligature", 0700},
    {"home/ligature/ligature.db", 0600},
    {"home/ligature/checkpoints", 0700},
  };
  for (guint i = 0; i < G_N_ELEMENTS (made); i++) {
    g_autofree char *path = in_folder (made[i].name);
    g_assert_cmpint (stat (path, &info), ==, 0);
    g_assert_cmpuint (info.st_mode & 0777, ==, made[i].mode);
  }
  g_assert_cmpint (stat (text_at (trained.json, "checkpoint"), &info), ==, 0);
  g_assert_cmpuint (info.st_mode & 0777, ==, 0600);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/cli-hostile/store-of-another", test_store_of_another);
  g_test_add_func ("/cli-hostile/mistyped", test_mistyped);
  g_test_add_func ("/cli-hostile/store-rows", test_store_rows);
  g_test_add_func ("/cli-hostile/escapes", test_escapes);
  g_test_add_func ("/cli-hostile/full-output", test_full_output);
  g_test_add_func ("/cli-hostile/checkpoint-victim", test_checkpoint_victim);
  g_test_add_func ("/cli-hostile/checkpoint-companion", test_checkpoint_companion);
  g_test_add_func ("/cli-hostile/checkpoint-place", test_checkpoint_place);
  g_test_add_func ("/cli-hostile/report-ends", test_report_ends);
  g_test_add_func ("/cli-hostile/report-pipe", test_report_pipe);
  g_test_add_func ("/cli-hostile/locale", test_locale);
  g_test_add_func ("/cli-hostile/few-files", test_few_files);
  g_test_add_func ("/cli-hostile/modes", test_modes);
  return run_cli_tests ();
}
