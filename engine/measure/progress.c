/* SPDX-License-Identifier: MIT */
/* Reports the progress of measuring. */
#include "engine/measure/stopwatch.h"
#include "engine/measure/tuning-private.h"

/* Guards the variables below, which are shared by all threads that compile. */
static GMutex lock;
static LigTuningMonitor monitor;
static LigTuningListener listener;
static struct {
  LigTuningWork count; /* of the series; null once its work is counted */
  gpointer data;
  double work, done; /* no work: unknown */
} series;

void
lig_tuning_set_monitor (LigTuningMonitor function)
{
  g_mutex_lock (&lock);
  monitor = function;
  g_mutex_unlock (&lock);
}

void
lig_tuning_set_listener (LigTuningListener function)
{
  g_mutex_lock (&lock);
  listener = function;
  g_mutex_unlock (&lock);
}

void
lig_tuning_begin (LigTuningWork count, gpointer data)
{
  g_mutex_lock (&lock);
  series.count = count;
  series.data = data;
  series.work = series.done = 0;
  g_mutex_unlock (&lock);
}

/* Counts the work of the current series, once. */
static void
count_work (void)
{
  g_mutex_lock (&lock);
  LigTuningWork count = g_steal_pointer (&series.count);
  gpointer data = series.data;
  g_mutex_unlock (&lock);
  if (!count)
    return;
  double work = count (data);
  g_mutex_lock (&lock);
  series.work = work;
  g_mutex_unlock (&lock);
}

void
lig_tuning_advance (double work)
{
  g_mutex_lock (&lock);
  series.done = MIN (series.done + work, series.work);
  g_mutex_unlock (&lock);
}

void
lig_tuning_report (const char *what)
{
  static double began, last;
  count_work ();
  double now = lig_now ();
  g_mutex_lock (&lock);
  /* After a long pause, the seconds count from a new start. */
  if (now - last > 10)
    began = now;
  last = now;
  double seconds = now - began, share = series.work > 0 ? series.done / series.work : -1;
  LigTuningMonitor function = monitor;
  g_mutex_unlock (&lock);
  if (function)
    function (what, seconds, share);
}

void
lig_tuning_say (const char *text)
{
  g_mutex_lock (&lock);
  LigTuningListener function = listener;
  g_mutex_unlock (&lock);
  if (function)
    function (text);
}
