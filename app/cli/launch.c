/* SPDX-License-Identifier: MIT */
/* Starts ranks on this machine with mpirun, and mediates between them and the user: rank 0 gets the
 * standard streams and the signals; mpirun's own messages are filtered out. */
#include "app/cli/launch.h"

#include "app/cli/attach.h"
#include "app/cli/fail.h"
#include "app/cli/noise.h"
#include "app/cli/say.h"
#include "app/cli/segments.h"

#include <ligature/error.h>

#include <errno.h>
#include <glib-unix.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N_STREAMS = 2 };

/* How long the ranks may take to end after mpirun has ended, in milliseconds. */
enum { LONGEST_END = 20000 };

/* How long mpirun may take to end after rank 0 was interrupted, in milliseconds. */
enum { LONGEST_WAIT = 15000 };

/* How long the other ranks may take to end after rank 0, in milliseconds. */
enum { MOMENT = 400 };

typedef struct {
  GMainLoop *loop;
  GPid mpirun;
  int status;                /* of mpirun, as returned by wait() */
  gboolean ended;            /* mpirun has ended */
  int connection, code;      /* of rank 0; -1: none */
  pid_t process;             /* of rank 0; 0: it has not attached itself */
  int first_signal, signals; /* sent to rank 0 */
  gboolean explained;        /* a rank said that rank 0 ended */
  LigCliNoise noise[N_STREAMS];
} Launch;

/* For the handlers of the stop and continue signals. */
static volatile sig_atomic_t stopped_process;

/* --- Starting ------------------------------------------------------------------------------ */

/* OpenMPI reads its parameters from the environment; the user's take precedence. All ranks are on
 * this machine, which may have fewer CPUs, or be a container that is not allowed to copy between
 * processes. They share memory, so they do not listen on a port. */
static char **
set_environment (int count, const char *name)
{
  static const char *const parameters[][2] = {
    {"OMPI_MCA_btl_vader_single_copy_mechanism", "none"},
    {"OMPI_MCA_mpi_yield_when_idle", "1"},
    {"OMPI_MCA_orte_forward_job_control", "1"},
    {"OMPI_MCA_odls_base_sigkill_timeout", "2"},
    {"OMPI_MCA_pml", "ob1"},
    {"OMPI_MCA_btl", "self,vader"},
    /* Without /sys, hwloc would complain in each process. */
    {"HWLOC_HIDE_ERRORS", "2"},
    /* hwloc also looks for displays and accelerators, in mpirun and in each rank, which takes
     * seconds where the host name of a display cannot be resolved. */
    {"HWLOC_COMPONENTS", "-gl,-opencl,-cuda,-nvml"},
  };
  char **environment = g_get_environ ();
  guint threads = MAX (g_get_num_processors () / (guint) count, 1);
  g_autofree char *number = g_strdup_printf ("%u", threads);
  for (guint i = 0; i < G_N_ELEMENTS (parameters); i++)
    environment = g_environ_setenv (environment, parameters[i][0], parameters[i][1], FALSE);
  environment = g_environ_setenv (environment, "OMP_NUM_THREADS", number, FALSE);
  return g_environ_setenv (environment, LIG_CLI_LAUNCHER, name, TRUE);
}

static char **
make_command (const char *mpirun, int count, char **words, GError **error)
{
  g_autoptr (GStrvBuilder) command = g_strv_builder_new ();
  g_autofree char *number = g_strdup_printf ("%d", count);
  g_autofree char *self = g_file_read_link ("/proc/self/exe", error);
  g_autofree char *host = g_strconcat ("localhost:", number, NULL);
  if (!self)
    return NULL;
  g_strv_builder_add_many (command, mpirun, "-n", number, "--host", host, "--bind-to", "none",
                           "--oversubscribe", NULL);
  if (geteuid () == 0)
    g_strv_builder_add (command, "--allow-run-as-root");
  g_strv_builder_add (command, self);
  g_strv_builder_addv (command, (const char **) words);
  return g_strv_builder_end (command);
}

/* Runs in the child, between fork and exec. A process group of its own keeps Ctrl+C from mpirun,
 * which would kill rank 0 before it has saved a checkpoint. If this process is killed, mpirun ends
 * the ranks. */
static void
set_up (gpointer parent)
{
  setpgid (0, 0);
  prctl (PR_SET_PDEATHSIG, SIGTERM);
  if (getppid () != GPOINTER_TO_INT (parent))
    _exit (1);
}

static gboolean
start (Launch *self, int count, char **words, const char *name, int *streams, GError **error)
{
  g_autofree char *mpirun = g_find_program_in_path ("mpirun");
  if (!mpirun)
    mpirun = g_find_program_in_path ("mpirun.openmpi");
  if (!mpirun) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_DEVICE,
                 "ranks: mpirun is not installed; install the package openmpi-bin");
    return FALSE;
  }
  g_auto (GStrv) command = make_command (mpirun, count, words, error);
  g_auto (GStrv) environment = set_environment (count, name);
  return command && g_spawn_async_with_pipes (NULL, command, environment, G_SPAWN_DO_NOT_REAP_CHILD,
                                              set_up, GINT_TO_POINTER ((int) getpid ()),
                                              &self->mpirun, NULL, &streams[0], &streams[1], error);
}

/* --- Streams ------------------------------------------------------------------------------- */

static void
pass (const char *line, gpointer data)
{
  Launch *self = data;
  gboolean explains = strstr (line, "ranks: rank 0 on ") != NULL;
  /* The user ended it. */
  if (explains && self->signals > 0)
    return;
  self->explained |= explains;
  g_printerr ("%s\n", line);
}

/* Returns FALSE at the end of the stream. */
static gboolean
read_stream (Launch *self, LigCliNoise *noise, int stream)
{
  char bytes[4096];
  gssize count = read (stream, bytes, sizeof bytes);
  if (count < 0 && (errno == EINTR || errno == EAGAIN))
    return TRUE;
  lig_cli_noise_add (noise, bytes, (gsize) MAX (count, 0), pass, self);
  return count > 0;
}

static gboolean
read_output (int stream, GIOCondition condition, gpointer data)
{
  Launch *self = data;
  return read_stream (self, &self->noise[0], stream);
}

static gboolean
read_errors (int stream, GIOCondition condition, gpointer data)
{
  Launch *self = data;
  return read_stream (self, &self->noise[1], stream);
}

/* --- Termination of mpirun and of rank 0 ------------------------------------------------------ */

static gboolean
quit (gpointer data)
{
  Launch *self = data;
  g_main_loop_quit (self->loop);
  return G_SOURCE_REMOVE;
}

static void
note_end (GPid mpirun, int status, gpointer data)
{
  Launch *self = data;
  self->ended = TRUE;
  self->status = status;
  stopped_process = 0;
  /* Its last messages are read first. */
  if (self->connection < 0)
    g_idle_add (quit, self);
  else
    g_timeout_add (LONGEST_END, quit, self);
}

/* mpirun may wait forever for ranks that were interrupted during startup. Without it they end by
 * themselves. */
static gboolean
give_up (gpointer data)
{
  Launch *self = data;
  if (!self->ended)
    kill (self->mpirun, SIGKILL);
  return quit (self);
}

static gboolean
read_code (int connection, GIOCondition condition, gpointer data)
{
  Launch *self = data;
  int code = lig_cli_attach_read_code (connection);
  if (code >= 0) {
    self->code = code;
    return G_SOURCE_CONTINUE;
  }
  close (connection);
  self->connection = -1;
  /* After a failure, which all ranks know of, and after a second signal this process does not wait
   * for mpirun, which takes seconds to end; the other ranks end with rank 0. Otherwise it waits,
   * but with a limit, because mpirun waits for anything that connects to its port. */
  if (self->ended || self->signals > 1 || self->code > 0)
    g_timeout_add (self->ended ? 0 : MOMENT, quit, self);
  else
    g_timeout_add (LONGEST_WAIT, give_up, self);
  return G_SOURCE_REMOVE;
}

static gboolean
accept_first (int listener, GIOCondition condition, gpointer data)
{
  Launch *self = data;
  pid_t process;
  int connection = lig_cli_attach_accept (listener, &process);
  if (connection < 0)
    return G_SOURCE_CONTINUE;
  self->connection = connection;
  self->process = process;
  g_unix_fd_add (connection, G_IO_IN | G_IO_HUP, read_code, self);
  return G_SOURCE_REMOVE;
}

/* --- Signals ------------------------------------------------------------------------------- */

/* Rank 0 handles the first signal as a run without ranks does, and dies of the second. */
static gboolean
forward (Launch *self, int number)
{
  if (self->signals++ == 0)
    self->first_signal = number;
  if (self->process > 0 && self->connection >= 0)
    kill (self->process, number);
  if (self->process == 0 || self->signals > 1)
    kill (self->mpirun, SIGTERM);
  if (self->process == 0 && self->signals == 1)
    g_timeout_add (LONGEST_WAIT, give_up, self);
  return G_SOURCE_CONTINUE;
}

static gboolean
interrupt (gpointer self)
{
  return forward (self, SIGINT);
}

static gboolean
terminate (gpointer self)
{
  return forward (self, SIGTERM);
}

static gboolean
hang_up (gpointer self)
{
  return forward (self, SIGHUP);
}

/* Ctrl+Z and continuation: mpirun does the same to the ranks. */
static void
stop (int number)
{
  int kept = errno;
  if (stopped_process > 0)
    kill ((pid_t) stopped_process, SIGTSTP);
  raise (SIGSTOP);
  errno = kept;
}

static void
go_on (int number)
{
  int kept = errno;
  if (stopped_process > 0)
    kill ((pid_t) stopped_process, SIGCONT);
  errno = kept;
}

static gboolean
is_ignored (int number)
{
  struct sigaction action;
  return sigaction (number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

static void
catch_signals (Launch *self)
{
  static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
  static const GSourceFunc handlers[] = {interrupt, terminate, hang_up};
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    if (!is_ignored (numbers[i]))
      g_unix_signal_add (numbers[i], handlers[i], self);
  if (!is_ignored (SIGTSTP)) {
    struct sigaction stops = {.sa_handler = stop, .sa_flags = SA_RESTART};
    struct sigaction continues = {.sa_handler = go_on, .sa_flags = SA_RESTART};
    sigaction (SIGTSTP, &stops, NULL);
    sigaction (SIGCONT, &continues, NULL);
  }
}

/* --- The whole ----------------------------------------------------------------------------- */

/* Prints why the ranks ended if none of them could. */
static int
explain (Launch *self)
{
  g_autoptr (GError) error = NULL;
  if (self->explained)
    return LIG_EXIT_FAILED;
  if (self->process > 0)
    g_set_error (&error, LIG_ERROR, LIG_ERROR_RANKS,
                 "ranks: rank 0 on %s ended (process %d); the last checkpoint can be resumed",
                 g_get_host_name (), (int) self->process);
  else
    g_set_error (&error, LIG_ERROR, LIG_ERROR_RANKS,
                 "ranks: mpirun ended with status %d before rank 0 started: %s",
                 WIFEXITED (self->status) ? WEXITSTATUS (self->status) : -1,
                 self->noise[1].swallowed->len > 0 ? self->noise[1].swallowed->str
                                                   : "it gave no reason");
  return lig_cli_fail (g_steal_pointer (&error));
}

/* Returns the exit code of the ranks. If a signal ended rank 0, the same signal ends this
 * process. */
static int
finish (Launch *self)
{
  if (self->code >= 0)
    return self->code;
  if (self->signals == 0)
    return explain (self);
  /* Before its work begins, rank 0 dies of the first signal already, without a message. */
  if (self->process == 0)
    lig_cli_say ("interrupted before the ranks started; nothing was written");
  else if (self->signals == 1)
    lig_cli_say ("interrupted; rank 0 ended at once");
  signal (self->first_signal, SIG_DFL);
  raise (self->first_signal);
  return LIG_EXIT_INTERRUPTED;
}

static int
run (Launch *self, int count, char **words)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *name = NULL;
  int streams[N_STREAMS];
  int listener = lig_cli_attach_listen (&name, &error);
  if (listener < 0 || !start (self, count, words, name, streams, &error))
    return lig_cli_fail (g_steal_pointer (&error));
  stopped_process = self->mpirun;
  catch_signals (self);
  g_child_watch_add (self->mpirun, note_end, self);
  g_unix_fd_add (listener, G_IO_IN, accept_first, self);
  g_unix_fd_add (streams[0], G_IO_IN | G_IO_HUP, read_output, self);
  g_unix_fd_add (streams[1], G_IO_IN | G_IO_HUP, read_errors, self);
  g_main_loop_run (self->loop);
  for (int i = 0; i < N_STREAMS; i++) {
    g_unix_set_fd_nonblocking (streams[i], TRUE, NULL);
    for (int times = 0; times < 16; times++)
      read_stream (self, &self->noise[i], streams[i]);
    lig_cli_noise_add (&self->noise[i], NULL, 0, pass, self);
  }
  return finish (self);
}

/* The number may come from a command line or from a recorded run. */
static gboolean
check_count (int count, GError **error)
{
  if (count >= 1 && count <= LIG_CLI_MAX_RANKS)
    return TRUE;
  g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE, "the number of ranks is %d, expected 1 to %d",
               count, LIG_CLI_MAX_RANKS);
  return FALSE;
}

int
lig_cli_launch (int count, char **words)
{
  GError *error = NULL;
  if (!check_count (count, &error))
    return lig_cli_fail (error);
  lig_cli_remove_left_segments ();
  Launch self = {.loop = g_main_loop_new (NULL, FALSE), .connection = -1, .code = -1};
  for (int i = 0; i < N_STREAMS; i++)
    lig_cli_noise_init (&self.noise[i]);
  int code = run (&self, count, words);
  for (int i = 0; i < N_STREAMS; i++)
    lig_cli_noise_clear (&self.noise[i]);
  g_main_loop_unref (self.loop);
  return code;
}
