/* SPDX-License-Identifier: MIT */
/* The output of a command is kept in a memory file. At exit the pager reads that file, so a pager
 * may end early, and without a pager the text is printed as usual. */
#include "app/cli/pager.h"

#include <ligature/ranks.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* The size of a terminal that does not report one. */
#define USUAL_ROWS 24
#define USUAL_COLUMNS 80

/* The exit status of a shell that cannot run the command. */
#define NOT_EXECUTABLE 126
#define NOT_FOUND 127

static const char *pager;
static int terminal = -1; /* the original stdout while the output is kept */

int
lig_cli_terminal (int descriptor)
{
  return descriptor == STDOUT_FILENO && terminal >= 0 ? terminal : descriptor;
}

/* Returns the command of the pager; NULL if nothing is to be paged. */
static const char *
find_pager (void)
{
  /* A launcher gives ranks a terminal of its own, which no user sees. */
  if (lig_ranks_launched () > 0)
    return NULL;
  const char *own = g_getenv ("LIG_PAGER"), *named = own ? own : g_getenv ("PAGER");
  const char *term = g_getenv ("TERM");
  /* A terminal that cannot move its cursor is usually inside an editor, which scrolls. */
  gboolean dumb = !term || strcmp (term, "dumb") == 0;
  g_autofree char *less = named || dumb ? NULL : g_find_program_in_path ("less");
  if (named)
    return *named && strcmp (named, "cat") != 0 ? named : NULL;
  /* Colours pass through even if LESS does not mention them. */
  return less ? "less -R" : NULL;
}

/* --- The size of the text ------------------------------------------------------------------ */

/* Returns the end of the escape sequence that begins here, such as `ESC [ 1 m`. */
static const char *
skip_escape (const char *at, const char *end)
{
  if (at + 1 < end && at[1] == '[')
    for (at += 2; at < end && !g_ascii_isalpha (*at);)
      at++;
  return MIN (at + 1, end);
}

/* Returns whether the text needs more rows than the terminal has, minus one for the prompt. */
static gboolean
is_longer (const char *text, gsize length, const struct winsize *size)
{
  const char *end = text + length;
  guint rows = 1, column = 0, columns = size->ws_col > 0 ? size->ws_col : USUAL_COLUMNS;
  while (text < end) {
    if (*text == '\033') {
      text = skip_escape (text, end);
      continue;
    }
    if (*text == '\n' || column == columns) {
      rows++;
      column = 0;
    }
    /* Continuation bytes of a character take no column. */
    column += *text != '\n' && (*text & 0xC0) != 0x80;
    text++;
  }
  return rows > (size->ws_row > 0 ? size->ws_row : USUAL_ROWS);
}

/* --- Showing ------------------------------------------------------------------------------- */

/* Returns whether the pager could be run. */
static gboolean
run_pager (int kept)
{
  char *argv[] = {"/bin/sh", "-c", (char *) pager, NULL};
  GPid child;
  int status = 0;
  g_auto (GStrv) environment = g_get_environ ();
  /* As in git: quit if the text fits on the screen, pass colours through, do not clear. */
  environment = g_environ_setenv (environment, "LESS", "FRX", FALSE);
  environment = g_environ_setenv (environment, "LV", "-c", FALSE);
  if (!g_spawn_async_with_fds (NULL, argv, environment, G_SPAWN_DO_NOT_REAP_CHILD, NULL, NULL,
                               &child, kept, terminal, -1, NULL))
    return FALSE;
  /* Ctrl+C is for the pager, which restores the terminal. */
  signal (SIGINT, SIG_IGN);
  signal (SIGQUIT, SIG_IGN);
  while (waitpid (child, &status, 0) < 0 && errno == EINTR)
    ;
  return !(WIFEXITED (status) &&
           (WEXITSTATUS (status) == NOT_FOUND || WEXITSTATUS (status) == NOT_EXECUTABLE));
}

static void
show (void)
{
  struct stat info;
  struct winsize size = {0};
  fflush (stdout);
  int kept = dup (STDOUT_FILENO);
  gsize length = kept >= 0 && fstat (kept, &info) == 0 ? (gsize) info.st_size : 0;
  const char *text = length > 0 ? mmap (NULL, length, PROT_READ, MAP_SHARED, kept, 0) : MAP_FAILED;
  dup2 (terminal, STDOUT_FILENO);
  if (text == MAP_FAILED)
    return;
  ioctl (terminal, TIOCGWINSZ, &size);
  lseek (kept, 0, SEEK_SET);
  /* A picture in the output is not text for a pager. */
  if (memchr (text, 0, length) || !is_longer (text, length, &size) || !run_pager (kept))
    fwrite (text, 1, length, stdout);
}

void
lig_cli_page (void)
{
  pager = find_pager ();
  if (terminal >= 0 || !pager || !isatty (STDOUT_FILENO))
    return;
  int kept = memfd_create ("lig", MFD_CLOEXEC);
  int copy = kept >= 0 ? fcntl (STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1) : -1;
  if (copy >= 0 && fflush (stdout) == 0 && dup2 (kept, STDOUT_FILENO) >= 0) {
    terminal = copy;
    atexit (show);
  } else if (copy >= 0) {
    close (copy);
  }
  if (kept >= 0)
    close (kept);
}
