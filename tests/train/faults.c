/* SPDX-License-Identifier: MIT */
/* lig train in failure: killed, interrupted, a full disk, two at once, damaged stores and
 * checkpoints, data that changes. The real program runs; its results are read through the engine.
 */
#include "tests/cli/case.h"

#include <ligature/store.h>
#include <ligature/tensor-file.h>

#include <json-glib/json-glib.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <unistd.h>

#define MODEL "linear(32, init-std=0.3) ! gelu ! dropout(0.1) ! linear(4) ! mean-squared-error"
#define DATA "--input 16x8 --data synthetic?samples=500"

/* Starts the program that `run_argv` would run, without waiting for it. */
static GSubprocess *
start (const char *line)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GSubprocessLauncher) launcher =
    g_subprocess_launcher_new (G_SUBPROCESS_FLAGS_STDOUT_PIPE | G_SUBPROCESS_FLAGS_STDERR_PIPE);
  g_autofree char *command = g_strconcat ("exec ", line, NULL);
  g_subprocess_launcher_set_cwd (launcher, folder);
  GSubprocess *process = g_subprocess_launcher_spawn (launcher, &error, "sh", "-c", command, NULL);
  g_assert_no_error (error);
  return process;
}

/* Returns a file name in the folder, and removes an old file of that name. */
static char *
fresh (const char *name)
{
  char *path = in_folder (name);
  g_remove (path);
  return path;
}

static LigStore *
open_store (const char *name)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *path = in_folder (name);
  LigStore *store = lig_store_open (path, &error);
  g_assert_no_error (error);
  return store;
}

/* Reads the losses of the last run in a store: one for each step from 1. */
static GArray *
read_losses (const char *name)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigStore) store = open_store (name);
  g_autoptr (LigRunRow) row = lig_store_find_run (store, "last", &error);
  g_autoptr (GArray) steps = NULL;
  GArray *values = NULL;
  g_assert_no_error (error);
  lig_store_get_metric (store, row->uuid, LIG_METRIC_LOSS, &steps, &values, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < steps->len; i++)
    g_assert_cmpint (g_array_index (steps, gint64, i), ==, i + 1);
  return values;
}

static void
assert_same_losses (const char *name, const char *other, guint count)
{
  g_autoptr (GArray) a = read_losses (name), b = read_losses (other);
  g_assert_cmpuint (a->len, ==, count);
  g_assert_cmpmem (a->data, a->len * sizeof (double), b->data, b->len * sizeof (double));
}

/* Checks the status of the last run in the output of `lig runs list`. */
static void
assert_last (const char *store, const char *status)
{
  g_auto (Outcome) list = lig ("runs", "list", "--json", "--store", store, NULL);
  g_assert_cmpint (list.code, ==, 0);
  g_assert_cmpstr (text_at (list.json, "0.status"), ==, status);
}

static void
wait_for_file (const char *path)
{
  for (int i = 0; i < 60000 && !g_file_test (path, G_FILE_TEST_EXISTS); i++)
    g_usleep (1000);
  g_assert_true (g_file_test (path, G_FILE_TEST_EXISTS));
}

static void
test_kill (void)
{
  static const char rest[] = " --steps 20000 --checkpoint-every 500 --store ";
  g_autofree char *checkpoint = fresh ("killed.safetensors");
  g_autoptr (GSubprocess) child =
    start ("lig train '" MODEL "' " DATA " --steps 20000 --checkpoint-every 500"
           " --store kill.db --checkpoint killed.safetensors");
  wait_for_file (checkpoint);
  g_subprocess_send_signal (child, SIGKILL);
  g_subprocess_wait (child, NULL, NULL);
  g_assert_true (g_subprocess_get_if_signaled (child));
  assert_last ("kill.db", "interrupted");
  g_auto (Outcome) resumed = shell ("lig train --resume last --store kill.db --json");
  g_assert_cmpint (resumed.code, ==, 0);
  g_assert_cmpstr (text_at (resumed.json, "status"), ==, "done");
  g_assert_cmpint (int_at (resumed.json, "steps"), ==, 20000);
  assert_last ("kill.db", "done");
  g_autofree char *line = g_strconcat ("lig train '" MODEL "' " DATA, rest, "whole.db", NULL);
  g_auto (Outcome) whole = shell (line);
  g_assert_cmpint (whole.code, ==, 0);
  assert_same_losses ("kill.db", "whole.db", 20000);
}

/* Killed before the first checkpoint. */
static void
test_kill_early (void)
{
  g_autoptr (GSubprocess) child =
    start ("lig train '" MODEL "' " DATA " --steps 1000000000 --store early.db");
  guint runs = 0;
  while (runs == 0) {
    g_auto (Outcome) list = lig ("runs", "list", "--json", "--store", "early.db", NULL);
    runs = list.code == 0 ? json_array_get_length (json_node_get_array (list.json)) : 0;
  }
  g_subprocess_send_signal (child, SIGKILL);
  g_subprocess_wait (child, NULL, NULL);
  assert_last ("early.db", "interrupted");
  g_auto (Outcome) resumed = shell ("lig train --resume last --store early.db --json");
  assert_failed (&resumed, 1, "file", "has no checkpoint: it ended before the first one");
}

static void
test_signal (gconstpointer data)
{
  int signal = GPOINTER_TO_INT (data);
  g_autofree char *checkpoint = fresh ("signalled.safetensors");
  g_autofree char *old = fresh ("signal.db");
  g_autofree char *err = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GSubprocess) child =
    start ("lig train '" MODEL "' " DATA " --steps 30000 --checkpoint-every 500"
           " --store signal.db --checkpoint signalled.safetensors");
  wait_for_file (checkpoint);
  g_subprocess_send_signal (child, signal);
  g_subprocess_communicate_utf8 (child, NULL, NULL, NULL, &err, &error);
  g_assert_no_error (error);
  g_assert_true (g_subprocess_get_if_exited (child));
  g_assert_cmpint (g_subprocess_get_exit_status (child), ==, 130);
  assert_contains (err, "interrupted: saving a checkpoint");
  assert_last ("signal.db", "interrupted");
  g_autoptr (GArray) before = read_losses ("signal.db");
  g_autoptr (LigTensorFile) file = lig_tensor_file_load (checkpoint, &error);
  g_assert_no_error (error);
  g_autofree char *step = g_strdup_printf ("%u", before->len);
  g_assert_cmpstr (lig_tensor_file_get_metadata (file, "ligature.step"), ==, step);
  g_auto (Outcome) resumed = shell ("lig train --resume signalled.safetensors --store signal.db");
  g_assert_cmpint (resumed.code, ==, 0);
  g_autoptr (GArray) after = read_losses ("signal.db");
  g_assert_cmpuint (after->len, ==, 30000);
  g_assert_cmpmem (after->data, before->len * sizeof (double), before->data,
                   before->len * sizeof (double));
}

/* The reader of the program's output is gone. */
static void
test_broken_pipe (void)
{
  g_autofree char *checkpoint = fresh ("piped.safetensors");
  g_auto (Outcome) outcome =
    shell ("{ lig train '" MODEL "' " DATA " --steps 1000000000 --store pipe.db"
           " --checkpoint piped.safetensors 2>&1; echo $? > piped-code; } | head -n 1;"
           " while ! test -s piped-code; do sleep 0.1; done; cat piped-code");
  assert_contains (outcome.out, "130");
  g_assert_true (g_file_test (checkpoint, G_FILE_TEST_EXISTS));
  assert_last ("pipe.db", "interrupted");
}

/* With nohup a run outlives its terminal. */
static void
test_nohup (void)
{
  g_autofree char *checkpoint = fresh ("nohup.safetensors");
  g_autoptr (GSubprocess) child =
    start ("nohup lig train '" MODEL "' " DATA " --steps 1000000000 --checkpoint-every 500"
           " --store nohup.db --checkpoint nohup.safetensors");
  wait_for_file (checkpoint);
  g_subprocess_send_signal (child, SIGHUP);
  g_usleep (300000);
  assert_last ("nohup.db", "running");
  g_subprocess_send_signal (child, SIGTERM);
  g_subprocess_wait (child, NULL, NULL);
  g_assert_cmpint (g_subprocess_get_exit_status (child), ==, 130);
}

/* All steps are done and saved before an evaluation that takes minutes, and it can be ended. */
static void
test_last_evaluation (void)
{
  g_autofree char *checkpoint = fresh ("last.safetensors");
  g_autoptr (GSubprocess) child =
    start ("lig train '" MODEL "' --input 16x8 --data 'synthetic?samples=100000000&validation=0.9'"
           " --steps 3 --eval-batches 5000000 --store last.db --checkpoint last.safetensors");
  wait_for_file (checkpoint);
  gint64 asked = g_get_monotonic_time ();
  g_subprocess_send_signal (child, SIGINT);
  g_subprocess_wait (child, NULL, NULL);
  g_assert_cmpint (g_get_monotonic_time () - asked, <, 10 * G_USEC_PER_SEC);
  g_assert_cmpint (g_subprocess_get_exit_status (child), ==, 130);
  assert_last ("last.db", "interrupted");
}

static void
test_store_removed (void)
{
  g_autofree char *checkpoint = fresh ("removed.safetensors");
  g_autofree char *err = NULL, *out = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GSubprocess) child =
    start ("lig train '" MODEL "' " DATA " --steps 20000 --checkpoint-every 500"
           " --store removed.db --checkpoint removed.safetensors");
  wait_for_file (checkpoint);
  g_auto (Outcome) removed = shell ("rm removed.db*");
  g_assert_cmpint (removed.code, ==, 0);
  g_subprocess_communicate_utf8 (child, NULL, NULL, &out, &err, &error);
  g_assert_no_error (error);
  g_assert_cmpint (g_subprocess_get_exit_status (child), ==, 1);
  assert_contains (err, "removed.db' was deleted while it was open");
  assert_contains (err, "the last checkpoint is ");
  g_assert_null (strstr (out, "lig runs show"));
  g_auto (Outcome) resumed =
    shell ("lig train --resume removed.safetensors --steps 20001 --store removed.db");
  g_assert_cmpint (resumed.code, ==, 0);
}

/* SQLite's memory-mapped file of the store is truncated. */
static void
test_store_cut_off (void)
{
  g_autofree char *checkpoint = fresh ("cut.safetensors"), *err = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GSubprocess) child =
    start ("lig train '" MODEL "' " DATA " --steps 1000000000 --store cut.db"
           " --checkpoint-every 500 --checkpoint cut.safetensors");
  wait_for_file (checkpoint);
  g_auto (Outcome) cut = shell ("rm cut.safetensors && truncate -s 0 cut.db-shm");
  g_assert_cmpint (cut.code, ==, 0);
  g_subprocess_communicate_utf8 (child, NULL, NULL, NULL, &err, &error);
  g_assert_no_error (error);
  g_assert_true (g_subprocess_get_if_exited (child));
  g_assert_cmpint (g_subprocess_get_exit_status (child), ==, 1);
  assert_contains (err, "cut.db-shm'; restart this program");
  g_autoptr (LigTensorFile) file = lig_tensor_file_load (checkpoint, &error);
  g_assert_no_error (error);
  assert_last ("cut.db", "interrupted");
}

/* Data files are truncated during a run: data that was read already stays valid. */
static void
test_data_truncated (gconstpointer data)
{
  const char *const *parts = data;
  g_autofree char *checkpoint = fresh ("truncated.safetensors");
  g_autofree char *make = g_strconcat ("rm -f truncated.db*; ", parts[1], NULL);
  g_autofree char *line = g_strconcat (parts[2],
                                       " --steps 1000000000 --checkpoint-every 200 --store"
                                       " truncated.db --checkpoint truncated.safetensors",
                                       NULL);
  g_autofree char *cut = g_strconcat ("truncate -s 100 ", parts[3], NULL);
  g_auto (Outcome) made = shell (make);
  g_assert_cmpint (made.code, ==, 0);
  g_autoptr (GSubprocess) child = start (line);
  wait_for_file (checkpoint);
  g_auto (Outcome) truncated = shell (cut);
  g_assert_cmpint (truncated.code, ==, 0);
  g_remove (checkpoint);
  wait_for_file (checkpoint);
  g_subprocess_send_signal (child, SIGINT);
  g_subprocess_wait (child, NULL, NULL);
  g_assert_true (g_subprocess_get_if_exited (child));
  g_assert_cmpint (g_subprocess_get_exit_status (child), ==, 130);
  g_auto (Outcome) resumed =
    shell ("lig train --resume truncated.safetensors --store truncated.db");
  g_assert_cmpint (resumed.code, ==, 1);
}

static const char *const truncated_data[][4] = {
  {"/train/truncated/tokens",
   "{ printf '\\210\\330\\064\\001\\001\\0\\0\\0\\200\\204\\036\\0';"
   " head -c 1012 /dev/zero; head -c 4000000 /dev/zero | tr '\\0' '\\1'; } > t.bin",
   "lig train 'embedding(4, vocabulary=300) ! linear(300) ! cross-entropy' --data tokens:t.bin"
   " --input 4x8:int32",
   "t.bin"},
  {"/train/truncated/idx",
   "{ printf '\\0\\0\\010\\003\\0\\001\\206\\240\\0\\0\\0\\004\\0\\0\\0\\004';"
   " head -c 1600000 /dev/zero; } > x-images-idx3; { printf '\\0\\0\\010\\001\\0\\001\\206\\240';"
   " head -c 100000 /dev/zero; } > x-labels-idx1",
   "lig train 'linear(10) ! cross-entropy' --data idx:x-images-idx3 --batch 16", "x-images-idx3"},
};

/* A run works with OpenMP's settings and small limits. */
static void
test_limits (void)
{
  static const char *const fine[] = {"OMP_DYNAMIC=true", "OMP_THREAD_LIMIT=1"};
  static const char train[] =
    " timeout -s KILL 60 lig train 'linear(256) ! gelu ! linear(64) ! mean-squared-error'"
    " --input 128x128 --data 'synthetic?samples=2000' --steps 20 --store limits.db"
    " --checkpoint limits.safetensors";
  for (guint i = 0; i < G_N_ELEMENTS (fine); i++) {
    g_autofree char *line = g_strconcat (fine[i], train, NULL);
    g_auto (Outcome) outcome = shell (line);
    g_assert_cmpint (outcome.code, ==, 0);
  }
#if !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__
  static const int megabytes[] = {150, 300, 400, 500, 600};
  for (guint i = 0; i < G_N_ELEMENTS (megabytes); i++) {
    g_autofree char *line =
      g_strdup_printf ("ulimit -v %d; OMP_NUM_THREADS=2%s", megabytes[i] * 1024, train);
    g_auto (Outcome) outcome = shell (line);
    g_test_message ("%d MiB: %s", megabytes[i], outcome.err);
    g_assert_cmpint (outcome.code, ==, 1);
  }
#endif
}

/* The checkpoint was made with two threads, but only one is available. */
static void
test_resume_threads (void)
{
  g_auto (Outcome) made = shell ("OMP_NUM_THREADS=2 lig train '" MODEL "' " DATA
                                 " --steps 5 --store t.db --checkpoint t.safetensors");
  g_assert_cmpint (made.code, ==, 0);
  g_auto (Outcome) resumed =
    shell ("OMP_THREAD_LIMIT=1 lig train --resume t.safetensors --steps 9 --store t.db --json");
  assert_failed (&resumed, 1, "device", "made with 2 threads, this process may have 1");
  g_auto (Outcome) fine =
    shell ("OMP_NUM_THREADS=1 lig train --resume t.safetensors --steps 9 --store t.db");
  g_assert_cmpint (fine.code, ==, 0);
  g_autofree char *path = in_folder ("t.safetensors");
  g_autoptr (LigTensorFile) file = lig_tensor_file_load (path, NULL);
  g_assert_cmpstr (lig_tensor_file_get_metadata (file, "ligature.threads"), ==, "2");
}

/* The next run in a folder removes temporary files of killed runs; files that another run is still
 * writing, and files with similar names, stay. */
static void
test_leftovers (void)
{
  g_auto (Outcome) made =
    shell ("mkdir -p left; cd left; touch .ligature-a1b2c3 .ligature-d4e5f6 .ligature-longer-name;"
           " mkdir .ligature-folder; exec 9> .ligature-inused; flock -x 9;"
           " cd ..; lig train '" MODEL "' " DATA " --steps 2 --store left.db"
           " --checkpoint left/a.safetensors; cd left; ls -A");
  g_test_message ("%s", made.out);
  g_assert_null (strstr (made.out, "a1b2c3"));
  g_assert_null (strstr (made.out, "d4e5f6"));
  assert_contains (made.out, ".ligature-longer-name");
  assert_contains (made.out, ".ligature-folder");
  assert_contains (made.out, ".ligature-inused");
}

/* Writes beyond the limit fail as on a full disk; setting the limit needs no privileges. */
static void
limit_files (gpointer bytes)
{
  struct rlimit limit = {GPOINTER_TO_SIZE (bytes), GPOINTER_TO_SIZE (bytes)};
  setrlimit (RLIMIT_FSIZE, &limit);
  signal (SIGXFSZ, SIG_IGN);
}

static void
assert_no_leftovers (const char *path)
{
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
  const char *name;
  while ((name = g_dir_read_name (dir)))
    g_assert_false (g_str_has_prefix (name, ".ligature-"));
}

#define LARGE "linear(512) ! gelu ! linear(256) ! mean-squared-error"

static void
test_file_limit (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *path = in_folder ("large.safetensors"), *before = NULL, *after = NULL;
  g_autofree char *err = NULL;
  gsize n_before, n_after;
  g_auto (Outcome) first =
    shell ("lig train '" LARGE "' --input 8x256 --data 'synthetic?samples=50' --steps 4"
           " --store large.db --checkpoint large.safetensors");
  g_assert_cmpint (first.code, ==, 0);
  g_file_get_contents (path, &before, &n_before, NULL);
  g_assert_cmpuint (n_before, >, 2 << 20);
  g_autoptr (GSubprocessLauncher) launcher =
    g_subprocess_launcher_new (G_SUBPROCESS_FLAGS_STDOUT_SILENCE | G_SUBPROCESS_FLAGS_STDERR_PIPE);
  g_subprocess_launcher_set_cwd (launcher, folder);
  g_subprocess_launcher_set_child_setup (launcher, limit_files, GSIZE_TO_POINTER (2 << 20), NULL);
  g_autoptr (GSubprocess) limited =
    g_subprocess_launcher_spawn (launcher, &error, g_getenv ("LIG"), "train", "--resume", "last",
                                 "--steps", "8", "--store", "large.db", NULL);
  g_assert_no_error (error);
  g_subprocess_communicate_utf8 (limited, NULL, NULL, NULL, &err, &error);
  g_assert_no_error (error);
  g_assert_cmpint (g_subprocess_get_exit_status (limited), ==, 1);
  assert_contains (err, "checkpoint: cannot write '");
  assert_contains (err, "large.safetensors': File too large");
  g_file_get_contents (path, &after, &n_after, NULL);
  g_assert_cmpmem (before, n_before, after, n_after);
  assert_no_leftovers (folder);
  assert_last ("large.db", "failed");
  g_auto (Outcome) again = shell ("lig train --resume last --steps 8 --store large.db");
  g_assert_cmpint (again.code, ==, 0);
  g_autoptr (GArray) losses = read_losses ("large.db");
  g_assert_cmpuint (losses->len, ==, 8);
}

/* A separate disk that is really full; the mount exists only as long as the shell. */
static void
test_full_disk (void)
{
  g_auto (Outcome) can = shell ("unshare -m true");
  if (geteuid () != 0 || can.code != 0) {
    g_test_skip ("only root may mount a small disk");
    return;
  }
  g_auto (Outcome) outcome = shell (
    "mkdir -p disk && exec unshare -m sh -c '"
    "mount -t tmpfs -o size=8m none disk || exit 77;"
    "lig train \"" LARGE "\" --input 8x256 --data synthetic?samples=50 --steps 4"
    " --store disk.db --checkpoint disk/a.safetensors || exit 3;"
    "cp disk/a.safetensors disk-copy; head -c 100m /dev/zero > disk/filler;"
    "lig train --resume last --steps 8 --store disk.db; code=$?; cmp disk-copy disk/a.safetensors"
    " || exit 4; test $(ls -A disk | wc -l) = 2 || exit 5; rm disk/filler;"
    "lig train --resume last --steps 8 --store disk.db || exit 6; exit $code'");
  if (outcome.code == 77) {
    g_test_skip ("mounting a small disk is not allowed here");
    return;
  }
  g_test_message ("%s", outcome.err);
  g_assert_cmpint (outcome.code, ==, 1);
  assert_contains (outcome.err, "a.safetensors': No space left on device");
  assert_last ("disk.db", "done");
}

/* Values that the store lacks at the end of a run are reported once, by lig, and not by GLib too.
 */
static void
test_full_store (void)
{
  g_auto (Outcome) outcome = shell ("trap '' XFSZ; ulimit -f 400; lig train '" MODEL "' " DATA
                                    " --steps 20000 --store full.db --checkpoint-every 100000");
  g_assert_cmpint (outcome.code, ==, 1);
  assert_contains (outcome.err, "full.db");
  g_assert_null (strstr (outcome.err, "Ligature-Message"));
  g_assert_null (strstr (outcome.err, "Ligature-INFO"));
}

static void
test_two_writers (void)
{
  GSubprocess *processes[3];
  g_autoptr (GError) error = NULL;
  for (guint i = 0; i < G_N_ELEMENTS (processes); i++) {
    g_autofree char *line =
      g_strdup_printf ("lig train '" MODEL "' " DATA " --steps 3000 --store shared.db"
                       " --eval-every 500 --checkpoint shared-%u.safetensors"
                       " --checkpoint-every 700",
                       i);
    processes[i] = start (line);
  }
  for (guint i = 0; i < G_N_ELEMENTS (processes); i++) {
    g_autofree char *err = NULL;
    g_subprocess_communicate_utf8 (processes[i], NULL, NULL, NULL, &err, &error);
    g_assert_no_error (error);
    if (g_subprocess_get_exit_status (processes[i]) != 0)
      g_error ("%s", err);
    g_object_unref (processes[i]);
  }
  g_autoptr (LigStore) store = open_store ("shared.db");
  g_autoptr (GPtrArray) runs = lig_store_list_runs (store, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (runs->len, ==, G_N_ELEMENTS (processes));
  for (guint i = 0; i < runs->len; i++) {
    const LigRunRow *row = runs->pdata[i];
    g_autoptr (GArray) steps = NULL, values = NULL;
    g_assert_cmpstr (row->status, ==, "done");
    lig_store_get_metric (store, row->uuid, LIG_METRIC_LOSS, &steps, &values, &error);
    g_assert_no_error (error);
    g_assert_cmpuint (values->len, ==, 3000);
  }
}

/* Two runs with one checkpoint file would overwrite each other's; the first locks it, under every
 * name of the file, until it ends. */
static void
test_one_checkpoint (void)
{
  static const char rest[] = " --steps 2 --json --store second.db --checkpoint ";
  g_autofree char *checkpoint = fresh ("mine.safetensors");
  g_auto (Outcome) link = shell ("ln -s . same");
  g_autoptr (GSubprocess) first = start ("lig train '" MODEL "' " DATA " --steps 1000000000"
                                         " --store first.db --checkpoint mine.safetensors"
                                         " --checkpoint-every 500");
  wait_for_file (checkpoint);
  static const char *const names[] = {"mine.safetensors", "same/mine.safetensors"};
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    g_autofree char *line = g_strconcat ("lig train '" MODEL "' " DATA, rest, names[i], NULL);
    g_auto (Outcome) second = shell (line);
    assert_failed (&second, 1, "file", "another run writes to it; choose another name");
  }
  g_auto (Outcome) other = shell ("lig train '" MODEL "' " DATA
                                  " --steps 2 --store second.db --checkpoint other.safetensors");
  g_assert_cmpint (other.code, ==, 0);
  g_subprocess_force_exit (first);
  g_subprocess_wait (first, NULL, NULL);
  g_autofree char *line = g_strconcat ("lig train '" MODEL "' " DATA, rest, names[0], NULL);
  g_auto (Outcome) then = shell (line);
  g_assert_cmpint (then.code, ==, 0);
}

/* Another process cannot resume a running run. */
static void
test_resume_running (void)
{
  g_autofree char *checkpoint = fresh ("busy.safetensors");
  g_autoptr (GSubprocess) child = start ("lig train '" MODEL "' " DATA " --steps 1000000000"
                                         " --store busy.db --checkpoint busy.safetensors"
                                         " --checkpoint-every 500");
  wait_for_file (checkpoint);
  g_auto (Outcome) outcome = shell ("lig train --resume last --store busy.db --json");
  assert_failed (&outcome, 1, "store", "is running in process");
  /* That comes before the steps, which it is doing. */
  g_auto (Outcome) fewer = shell ("lig train --resume last --store busy.db --steps 1 --json");
  assert_failed (&fewer, 1, "store", "wait until it ends, or stop it");
  assert_last ("busy.db", "running");
  g_subprocess_send_signal (child, SIGINT);
  g_subprocess_wait (child, NULL, NULL);
  g_assert_cmpint (g_subprocess_get_exit_status (child), ==, 130);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  if (!g_getenv ("LIG")) {
    g_printerr ("LIG names no program\n");
    return 1;
  }
  g_test_add_func ("/train/kill", test_kill);
  g_test_add_func ("/train/kill-early", test_kill_early);
  g_test_add_data_func ("/train/ctrl-c", GINT_TO_POINTER (SIGINT), test_signal);
  g_test_add_data_func ("/train/terminated", GINT_TO_POINTER (SIGTERM), test_signal);
  g_test_add_data_func ("/train/hung-up", GINT_TO_POINTER (SIGHUP), test_signal);
  g_test_add_func ("/train/broken-pipe", test_broken_pipe);
  g_test_add_func ("/train/nohup", test_nohup);
  g_test_add_func ("/train/last-evaluation", test_last_evaluation);
  g_test_add_func ("/train/store-removed", test_store_removed);
  g_test_add_func ("/train/store-cut-off", test_store_cut_off);
  for (guint i = 0; i < G_N_ELEMENTS (truncated_data); i++)
    g_test_add_data_func (truncated_data[i][0], truncated_data[i], test_data_truncated);
  g_test_add_func ("/train/limits", test_limits);
  g_test_add_func ("/train/resume-threads", test_resume_threads);
  g_test_add_func ("/train/leftovers", test_leftovers);
  g_test_add_func ("/train/file-limit", test_file_limit);
  g_test_add_func ("/train/full-disk", test_full_disk);
  g_test_add_func ("/train/full-store", test_full_store);
  g_test_add_func ("/train/two-writers", test_two_writers);
  g_test_add_func ("/train/one-checkpoint", test_one_checkpoint);
  g_test_add_func ("/train/resume-running", test_resume_running);
  return run_cli_tests ();
}
