/* SPDX-License-Identifier: MIT */
/* The window while a fast run feeds it: no iteration of the main loop takes longer than a frame,
 * and an hour's worth of updates leaves memory as it was. */
#include "tests/ui/run-case.h"

#include "ui/chart-view.h"

#include <stdio.h>
#include <unistd.h>

#define FRAME_SECONDS 0.016
#define STEPS_PER_SECOND 5000

/* --- How long the main loop is busy ---------------------------------------------------------- */

/* Iterations since the start: all, those longer than a frame by the clock on the wall, and those
 * longer by the time in which this thread ran or slept on something, not counting that it waited
 * for a processor which others had. */
typedef struct {
  guint64 iterations;
  guint late, late_by_clock;
  double worst, worst_by_clock;
  double back, delay; /* when poll came back, and what this thread had waited until then */
} Stalls;

static Stalls stalls;

static double
now (void)
{
  return (double) g_get_monotonic_time () * 1e-6;
}

static double
waited_for_processor (void)
{
  unsigned long long ran = 0, waited = 0;
  FILE *file = fopen ("/proc/thread-self/schedstat", "r");
  if (!file)
    return 0;
  if (fscanf (file, "%llu %llu", &ran, &waited) != 2)
    waited = 0;
  fclose (file);
  return (double) waited * 1e-9;
}

static int
timed_poll (GPollFD *files, guint count, int timeout)
{
  double busy = now () - stalls.back, own = busy - (waited_for_processor () - stalls.delay);
  stalls.iterations++;
  stalls.late_by_clock += busy > FRAME_SECONDS;
  stalls.late += own > FRAME_SECONDS;
  stalls.worst_by_clock = fmax (stalls.worst_by_clock, busy);
  stalls.worst = fmax (stalls.worst, own);
  int result = g_poll (files, count, timeout);
  stalls.delay = waited_for_processor ();
  stalls.back = now ();
  return result;
}

static void
watch (double seconds)
{
  double until = now () + seconds;
  guint wake = g_timeout_add (50, wake_up, NULL);
  stalls = (Stalls){.back = now (), .delay = waited_for_processor ()};
  g_main_context_set_poll_func (NULL, timed_poll);
  while (now () < until)
    g_main_context_iteration (NULL, TRUE);
  g_main_context_set_poll_func (NULL, NULL);
  g_source_remove (wake);
}

/* All four charts, the numbers and the bar are in view. The first second, in which fonts are read
 * and the first charts replace their placeholders, is not counted. */
static void
test_late_frames (Fixture *f, gconstpointer data)
{
  fill (f, "linear(4) ! mean-squared-error", "4x4",
        "{\"data\":\"synthetic\",\"steps\":1000000000}");
  act (f, "run");
  WAIT_FOR (progress_of (current (f)).step > 1000);
  watch (1);
  gint64 step = progress_of (current (f)).step;
  double begin = now ();
  watch (6);
  double rate = (double) (progress_of (current (f)).step - step) / (now () - begin);
  g_test_message ("%.0f steps a second, %" G_GUINT64_FORMAT " iterations; late: %u of %.1f ms at "
                  "worst; by the clock, with other programs' work: %u of %.1f ms",
                  rate, stalls.iterations, stalls.late, stalls.worst * 1e3, stalls.late_by_clock,
                  stalls.worst_by_clock * 1e3);
  act (f, "stop");
  WAIT_FOR (!lig_training_is_active (current (f)));
  g_assert_cmpuint (stalls.iterations, >, 60);
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

/* 5,000 steps a second for an hour, drawn once for each 30,000. */
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
#define ADD(name) g_test_add ("/soak/" #name, Fixture, NULL, set_up, test_##name, tear_down)
  ADD (late_frames);
  ADD (hour);
}

int
main (int argc, char **argv)
{
  return run_window_tests (argc, argv, add_tests);
}
