/* SPDX-License-Identifier: MIT */
/* Reports a full or closed standard output as an error. */
#include "app/cli/output.h"

#include "app/cli/fail.h"
#include "app/cli/task.h"

#include <ligature/error.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static int ending;

void
lig_cli_open_missing_streams (void)
{
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
    if (fcntl (fd, F_GETFD) < 0 && errno == EBADF &&
        open ("/dev/null", fd == STDERR_FILENO ? O_WRONLY : O_RDONLY) != fd)
      _exit (1);
}

/* Returns whether standard output is a pipe without a reader. */
static gboolean
is_broken (void)
{
  struct pollfd output = {.fd = STDOUT_FILENO, .events = POLLOUT};
  return poll (&output, 1, 0) > 0 && output.revents & POLLERR;
}

/* Runs at exit, because GLib's --help calls exit() itself. */
static void
check_output (void)
{
  errno = 0;
  if (fflush (stdout) == 0 && !ferror (stdout))
    return;
  /* A training run continues after its reader has ended; it then ends like every program in a
   * pipe. */
  if (ending == LIG_EXIT_OK && is_broken ()) {
    signal (SIGPIPE, SIG_DFL);
    raise (SIGPIPE);
  }
  fprintf (stderr, "lig: standard output: cannot be written%s%s\n", errno ? ": " : "",
           errno ? g_strerror (errno) : "");
  _exit (ending ? ending : 1);
}

void
lig_cli_watch_output (void)
{
  atexit (check_output);
}

/* Writes only constant texts, because a signal handler may call little else. */
static void
end_interrupted (int number)
{
  static const char document[] =
    "{\"error\": {\"code\": \"cancelled\", \"message\": \"interrupted\", \"path\": null}}\n";
  static const char line[] = "lig: interrupted\n";
  gboolean told = write (STDERR_FILENO, line, sizeof line - 1) > 0;
  told |= write (STDOUT_FILENO, document, sizeof document - 1) > 0;
  _exit (told ? LIG_EXIT_INTERRUPTED : LIG_EXIT_FAILED);
}

void
lig_cli_watch_interrupt (void)
{
  struct sigaction action = {.sa_handler = end_interrupted}, before;
  /* A background job of a script ignores Ctrl+C. */
  if (sigaction (SIGINT, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
    sigaction (SIGINT, &action, NULL);
}

int
lig_cli_end (int code)
{
  ending = code;
  lig_cli_task_end ();
  return code;
}

gboolean
lig_cli_need_files (int count, GError **error)
{
  struct rlimit limit;
  g_autofree int *files = g_new (int, count);
  int opened = 0;
  if (getrlimit (RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
    limit.rlim_cur = limit.rlim_max;
    setrlimit (RLIMIT_NOFILE, &limit);
  }
  while (opened < count && (files[opened] = open ("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0)
    opened++;
  int reason = errno;
  for (int i = 0; i < opened; i++)
    close (files[i]);
  if (opened < count)
    g_set_error (
      error, LIG_ERROR, LIG_ERROR_FILE,
      "open files: %d more file%s can be opened, %d needed: %s; raise the limit with ulimit "
      "-n",
      opened, LIG_ENDING (opened), count, g_strerror (reason));
  return opened == count;
}
