/* SPDX-License-Identifier: MIT */
/* The work of the score: an edit lays it out twice, for the rows and for the plan with its savings;
 * nothing is drawn while idle; and many problems do not delay the next edit. */
#include "tests/base/slowness.h"
#include "tests/ui/score-case.h"
#include "ui/document/edit.h"
#include "ui/document/times.h"

#include <math.h>

static void
duplicate_middle (Fixture *f)
{
  guint count;
  const LigRow *rows = lig_document_get_rows (f->doc, &count);
  lig_document_select (f->doc, rows[count / 2].op, LIG_SELECT_ONLY);
  lig_edit_duplicate (f->doc);
}

static void
count_one (guint *count)
{
  ++*count;
}

/* Iterates the main loop for half a second. */
static void
wait_a_moment (void)
{
  gint64 end = g_get_monotonic_time () + G_USEC_PER_SEC / 2;
  while (g_get_monotonic_time () < end)
    if (!g_main_context_iteration (NULL, FALSE))
      g_usleep (2000);
}

static void
test_layouts (Fixture *f, gconstpointer data)
{
  static const char *const ops[] = {"layer-norm", "linear(64)", "gelu", "linear(64)"};
  LigTimedPlan timed, unfused;
  guint layouts = 0;
  show_long (f, ops, 40);
  g_signal_connect_swapped (f->sheet, "mapped", G_CALLBACK (count_one), &layouts);
  duplicate_middle (f);
  wait_for_plan (f->doc);
  lig_document_get_timed (f->doc, &timed, &unfused);
  g_assert_nonnull (timed.plan);
  g_assert_nonnull (unfused.plan);
  wait_a_moment ();
  g_assert_cmpuint (layouts, ==, 2);
}

static void
test_idle (Fixture *f, gconstpointer data)
{
  static const char *const ops[] = {"layer-norm", "linear(64)", "gelu", "linear(64)"};
  guint frames = 0;
  show_long (f, ops, 40);
  wait_a_moment ();
  GdkFrameClock *clock = gtk_widget_get_frame_clock (f->window);
  g_signal_connect_swapped (clock, "paint", G_CALLBACK (count_one), &frames);
  wait_a_moment ();
  wait_a_moment ();
  g_signal_handlers_disconnect_by_func (clock, count_one, &frames);
  g_assert_cmpuint (frames, ==, 0);
}

static void
test_problems (Fixture *f, gconstpointer data)
{
  static const char *const ops[] = {"gelu", "linear(64, in-features=7)", "gelu", "linear(64)"};
  double bar = 300 * lig_test_slowness (), best = INFINITY;
  show_long (f, ops, 1000);
  g_assert_nonnull (lig_document_get_problem (f->doc, 200));
  for (guint i = 0; i < 20 && (i < 2 || best >= bar); i++) {
    gint64 start = g_get_monotonic_time ();
    duplicate_middle (f);
    wait_for_plan (f->doc);
    best = MIN (best, (double) (g_get_monotonic_time () - start) * 1e-3);
  }
  g_test_message ("an edit of 1,000 rows with 250 problems: %.1f ms", best);
  g_assert_cmpfloat (best, <, bar);
}

static void
add_tests (void)
{
#define ADD(name) g_test_add ("/speed/" #name, Fixture, NULL, set_up, test_##name, tear_down)
  ADD (layouts);
  ADD (idle);
  ADD (problems);
}

int
main (int argc, char **argv)
{
  return run_window_tests (argc, argv, add_tests);
}
