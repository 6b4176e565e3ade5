/* SPDX-License-Identifier: MIT */
/* Shows the current task. A thread updates the line, because most tasks are one long call. */
#include "app/cli/task.h"

#include "app/cli/duration.h"
#include "app/cli/live.h"
#include "app/cli/progress.h"
#include "app/cli/say.h"

#include <math.h>

/* Microseconds until a task is shown, and between two updates. */
enum { SHOW_AFTER = 1000000, INTERVAL = 100000 };

/* The current task; guarded by the lock, except for the thread. */
static GMutex lock;
static GCond ended;
static GThread *ticker;
static struct {
  char *what, *detail, *remark;
  gint64 began, counted; /* when the task began, and when its share was first set */
  double first, share;   /* the first share and the current one; NaN: unknown */
  LigCliCadence cadence;
  gboolean ending;
} task;

/* Returns the seconds left, NaN if they are unknown. */
static double
estimate_left (gint64 now)
{
  double done = task.share - task.first;
  return done > 0 ? (double) (now - task.counted) * 1e-6 / done * (1 - task.share) : NAN;
}

/* The caller holds the lock. */
static char *
describe (int columns)
{
  gint64 now = g_get_monotonic_time ();
  g_autoptr (GArray) line = lig_cli_line_new ();
  double left = estimate_left (now);
  lig_cli_line_add (line, 0, g_strdup (task.what), NULL);
  if (task.detail)
    lig_cli_line_add (line, 2, g_strdup (task.detail), NULL);
  if (task.remark)
    lig_cli_line_add (line, LIG_CLI_LAST_ESSENTIAL_PRIORITY + 1, g_strdup (task.remark), NULL);
  g_autofree char *time =
    isfinite (left) ? lig_cli_format_left (left)
                    : g_strdup_printf ("%.0f s", floor ((double) (now - task.began) * 1e-6));
  lig_cli_line_add (line, 1, g_strconcat (time, isfinite (left) ? " left" : " elapsed", NULL),
                    NULL);
  return lig_cli_line_lay_out (line, columns);
}

static gpointer
tick (gpointer data)
{
  g_mutex_lock (&lock);
  gint64 next = task.began + SHOW_AFTER;
  while (!task.ending) {
    if (g_cond_wait_until (&ended, &lock, next))
      continue;
    g_autofree char *line = describe (lig_cli_live_columns ());
    lig_cli_live_show (line);
    next = g_get_monotonic_time () + INTERVAL;
  }
  g_mutex_unlock (&lock);
  return NULL;
}

void
lig_cli_task_begin (const char *what)
{
  lig_cli_task_end ();
  task.what = g_strdup (what);
  task.began = g_get_monotonic_time ();
  task.first = task.share = NAN;
  task.cadence = (LigCliCadence){FALSE, 0, 0};
  task.ending = FALSE;
  ticker = lig_cli_live () ? g_thread_try_new ("progress", tick, NULL, NULL) : NULL;
}

void
lig_cli_task_detail (const char *detail, const char *remark)
{
  g_mutex_lock (&lock);
  g_free (task.detail);
  g_free (task.remark);
  task.detail = g_strdup (detail);
  task.remark = g_strdup (remark);
  g_mutex_unlock (&lock);
}

void
lig_cli_task_advance (double share, const char *detail, const char *remark)
{
  lig_cli_task_detail (detail, remark);
  g_mutex_lock (&lock);
  gint64 now = g_get_monotonic_time ();
  /* A task may have several parts, each with its own share. */
  if (!(share >= task.share)) {
    task.first = share;
    task.counted = now;
  }
  task.share = share;
  gboolean due = task.what && now - task.began >= SHOW_AFTER && lig_cli_logged () &&
                 lig_cli_cadence_due (&task.cadence, share, now);
  g_autofree char *line = due ? describe (0) : NULL;
  g_mutex_unlock (&lock);
  if (line)
    lig_cli_say ("%s", line);
}

void
lig_cli_task_end (void)
{
  g_mutex_lock (&lock);
  task.ending = TRUE;
  g_cond_signal (&ended);
  g_mutex_unlock (&lock);
  g_clear_pointer (&ticker, g_thread_join);
  g_clear_pointer (&task.what, g_free);
  g_clear_pointer (&task.detail, g_free);
  g_clear_pointer (&task.remark, g_free);
  lig_cli_live_clear ();
}

/* On a terminal the line of the current task names the measurement; otherwise one message says that
 * it takes time. */
void
lig_cli_measuring (const char *what, double seconds, double share)
{
  static gboolean said;
  g_autofree char *detail = g_strconcat ("measuring ", what, NULL);
  if (share >= 0)
    lig_cli_task_advance (share, detail, "the result is kept");
  else
    lig_cli_task_detail (detail, "the result is kept");
  if (seconds < 1 || said || !lig_cli_logged ())
    return;
  said = TRUE;
  lig_cli_say ("autotuning on this device; the result is kept for the next time");
}
