/* SPDX-License-Identifier: MIT */
/* The window during a fast run: no iteration of the main loop takes longer than a frame, and the
 * updates of an hour do not grow its memory. */
#include "tests/base/slowness.h"
#include "tests/ui/run-case.h"

#include "ui/widgets/chart-view.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define FRAME_SECONDS 0.016
#define STEPS_PER_SECOND 5000

/* --- How long the main loop is busy ---------------------------------------------------------- */

/* Iterations since the start, each from one poll to the next: how many took longer than a frame in
 * wall-clock time, and in how many this thread itself ran for longer, which does not depend on
 * other programs. */
typedef struct {
  guint64 iterations;
  guint late, late_running;
  double worst, worst_running;
  double frame;           /* the seconds of a frame, more while the machine is slower */
  double back, ran;       /* when poll returned, and the CPU time of this thread until then */
  double waited, seconds; /* waiting for a busy CPU; in total */
} Stalls;

static Stalls stalls;

static double
now (void)
{
  return (double) g_get_monotonic_time () * 1e-6;
}

static double
ran (void)
{
  struct timespec time;
  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &time);
  return (double) time.tv_sec + (double) time.tv_nsec * 1e-9;
}

static double
waited (void)
{
  unsigned long long running = 0, waiting = 0;
  FILE *file = fopen ("/proc/thread-self/schedstat", "r");
  if (!file)
    return 0;
  if (fscanf (file, "%llu %llu", &running, &waiting) != 2)
    waiting = 0;
  fclose (file);
  return (double) waiting * 1e-9;
}

static int
timed_poll (GPollFD *files, guint count, int timeout)
{
  double busy = now () - stalls.back, running = ran () - stalls.ran;
  stalls.iterations++;
  stalls.late += busy > stalls.frame;
  stalls.late_running += running > stalls.frame;
  stalls.worst = fmax (stalls.worst, busy);
  stalls.worst_running = fmax (stalls.worst_running, running);
  int result = g_poll (files, count, timeout);
  stalls.ran = ran ();
  stalls.back = now ();
  return result;
}

static void
watch (double seconds)
{
  double frame = FRAME_SECONDS * lig_test_disturbance ();
  double begin = now (), delay = waited ();
  guint wake = g_timeout_add (50, wake_up, NULL);
  stalls = (Stalls){.frame = frame, .back = begin, .ran = ran ()};
  g_main_context_set_poll_func (NULL, timed_poll);
  while (now () < begin + seconds)
    g_main_context_iteration (NULL, TRUE);
  g_main_context_set_poll_func (NULL, NULL);
  g_source_remove (wake);
  stalls.waited = waited () - delay;
  stalls.seconds = now () - begin;
}

/* Watches until no iteration is late, at most three times: delays by this program recur each time,
 * those by other programs do not. Returns the steps of the last time. */
static gint64
watch_steps (Fixture *f)
{
  gint64 step = 0, next = progress_of (current (f)).step;
  for (int i = 0; i < 3 && (i == 0 || stalls.late > 0); i++) {
    step = next;
    watch (6);
    next = progress_of (current (f)).step;
  }
  return next - step;
}

/* All four charts, the numbers and the bar are in view. The first second, in which fonts are read
 * and the first charts replace their placeholders, does not count. If other programs keep the CPUs
 * busy, so that this thread waits for more than a twentieth of the time, iterations are always long
 * in wall-clock time, and only their CPU time counts. */
static void
test_late_frames (Fixture *f, gconstpointer data)
{
  prepare (f, "linear(4) ! mean-squared-error", "4x4",
           "{\"data\":\"synthetic\",\"steps\":1000000000}");
  act (f, "run");
  WAIT_FOR (progress_of (current (f)).step > 1000);
  watch (1);
  double rate = (double) watch_steps (f) / stalls.seconds;
  g_test_message ("%.0f steps a second, %" G_GUINT64_FORMAT " iterations; %u ran longer than a "
                  "frame, %.1f ms at worst; %u took longer, %.1f ms at worst; %.2f s of %.1f s "
                  "waited for a CPU",
                  rate, stalls.iterations, stalls.late_running, stalls.worst_running * 1e3,
                  stalls.late, stalls.worst * 1e3, stalls.waited, stalls.seconds);
  act (f, "stop");
  WAIT_FOR (!lig_training_is_active (current (f)));
  g_assert_cmpuint (stalls.iterations, >, 60);
  g_assert_cmpuint (stalls.late_running, ==, 0);
  if (stalls.waited < stalls.seconds / 20)
    g_assert_cmpuint (stalls.late, ==, 0);
  if (rate < STEPS_PER_SECOND)
    g_test_skip ("this machine is too busy for so many steps a second");
}

/* --- Memory -------------------------------------------------------------------------------- */

static double
resident_megabytes (void)
{
  unsigned long long all = 0, resident = 0;
  FILE *file = fopen ("/proc/self/statm", "r");
  g_assert_nonnull (file);
  g_assert_cmpint (fscanf (file, "%llu %llu", &all, &resident), ==, 2);
  fclose (file);
  return (double) resident * (double) sysconf (_SC_PAGESIZE) / (1 << 20);
}

/* 5,000 steps a second for an hour, drawn once per 30,000 steps. */
static void
test_hour (Fixture *f, gconstpointer data)
{
  const gint64 updates = (gint64) STEPS_PER_SECOND * 3600, drawn = 30000;
  g_autoptr (LigCurve) loss = lig_curve_new (), norm = lig_curve_new ();
  GtkWidget *window = gtk_window_new (), *view = lig_chart_view_new ();
  double before = 0, begin = now ();
  lig_chart_view_add_curve (LIG_CHART_VIEW (view), "loss", loss);
  lig_chart_view_add_curve (LIG_CHART_VIEW (view), "gradient norm", norm);
  gtk_window_set_default_size (GTK_WINDOW (window), 640, 400);
  gtk_window_set_child (GTK_WINDOW (window), view);
  gtk_window_present (GTK_WINDOW (window));
  for (gint64 i = 0; i < updates; i++) {
    lig_curve_append (loss, (double) i, 1 / sqrt ((double) i + 1));
    lig_curve_append (norm, (double) i, (double) (i % 7));
    if (i % drawn != 0)
      continue;
    lig_chart_view_refresh (LIG_CHART_VIEW (view));
    gtk_test_widget_wait_for_draw (window);
    if (i == 60 * drawn)
      before = resident_megabytes ();
  }
  double grown = resident_megabytes () - before;
  g_test_message ("%" G_GINT64_FORMAT " updates in %.1f s, memory grew by %.2f MB", updates,
                  now () - begin, grown);
  g_assert_cmpuint (lig_curve_get_length (loss), ==, (guint64) updates);
  g_assert_cmpfloat (grown, <, 2);
  gtk_window_destroy (GTK_WINDOW (window));
}

static void
add_tests (void)
{
  load_run_style ();
#define ADD(name) g_test_add ("/soak/" #name, Fixture, NULL, set_up, test_##name, tear_down)
  ADD (late_frames);
  ADD (hour);
}

int
main (int argc, char **argv)
{
  return run_window_tests (argc, argv, add_tests);
}
