/* SPDX-License-Identifier: MIT */
/* Conditions that make times unreliable, and those recorded on a machine that another process keeps
 * busy. */
#include "engine/measure/conditions.h"
#include <ligature/conditions.h>

#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const LigConditions quiet = {
  .cpus = 4,
  .load = 0.3,
  .others = 0.1,
  .shared = -1,
  .step = {15, 1e-3, 0.99e-3, 1.02e-3},
  .synchronous = TRUE,
};

static void
assert_judged (LigConditions conditions, unsigned expected, const char *text)
{
  g_assert_cmphex (lig_conditions_judge (&conditions), ==, expected);
  g_assert_cmphex (conditions.disturbances, ==, expected);
  g_autofree char *found = lig_conditions_to_text (&conditions);
  g_assert_cmpstr (found, ==, text);
}

static void
test_judge (void)
{
  LigConditions now = quiet;
  assert_judged (now, 0, NULL);
  /* A high load average may come from this program, a moment ago. */
  now.load = 9;
  assert_judged (now, 0, NULL);
  now.others = -1;
  assert_judged (now, LIG_DISTURBANCE_LOAD, "the load was 9.0 on 4 CPUs");
  now = quiet;
  now.others = 1.26;
  assert_judged (now, LIG_DISTURBANCE_LOAD, "other programs kept 1.3 of 4 CPUs busy");
  /* A GPU needs one CPU only. */
  now.synchronous = FALSE;
  assert_judged (now, 0, NULL);
  now.shared = 0.4;
  assert_judged (now, LIG_DISTURBANCE_SHARED, "other programs used the GPU for 40 % of the time");
  now = quiet;
  strcpy (now.clocks, "thermal");
  assert_judged (now, LIG_DISTURBANCE_CLOCKS, "the device reduced its clocks: thermal");
  now.step.upper = 1.2e-3;
  assert_judged (now, LIG_DISTURBANCE_CLOCKS | LIG_DISTURBANCE_SPREAD,
                 "the device reduced its clocks: thermal; "
                 "the interquartile range of the steps is 21 % of their median");
  /* The quartiles of a few values say nothing. */
  now.step.count = 3;
  assert_judged (now, LIG_DISTURBANCE_CLOCKS, "the device reduced its clocks: thermal");
}

static void
spend (double seconds)
{
  gint64 end = g_get_monotonic_time () + (gint64) (seconds * 1e6);
  for (volatile double sum = 0; g_get_monotonic_time () < end; sum += 1)
    ;
}

/* Returns the CPU use of others while this process works, with or without another process. */
static double
observe (gboolean busy)
{
  LigConditions conditions;
  g_autoptr (GError) error = NULL;
  g_autoptr (LigDevice) device = lig_device_open ("cpu", &error);
  g_assert_no_error (error);
  pid_t child = busy ? fork () : 0;
  if (busy && child == 0) {
    spend (20);
    _exit (0);
  }
  lig_conditions_begin (&conditions, device);
  g_assert_true (conditions.synchronous);
  g_assert_cmpint (conditions.cpus, ==, (int) g_get_num_processors ());
  spend (1);
  LigDeviceHealth health = {0};
  lig_conditions_end (&conditions, &quiet.step, &health);
  if (busy) {
    kill (child, SIGKILL);
    waitpid (child, NULL, 0);
  }
  g_test_message ("others %g, load %g", conditions.others, conditions.load);
  g_assert_cmpfloat (conditions.others, <=, conditions.cpus + 0.1);
  return conditions.others;
}

/* The work of another process counts, also on a machine that is busy anyway; this one's does not.
 */
static void
test_observe (void)
{
  if (!g_file_test ("/proc/stat", G_FILE_TEST_EXISTS)) {
    g_test_skip ("the system does not count the use of its CPUs");
    return;
  }
  double alone = observe (FALSE);
  if (g_get_num_processors () == 1) {
    g_test_skip ("with one CPU both processes have half of it");
    return;
  }
  g_assert_cmpfloat (alone, <=, g_get_num_processors () - 0.2);
  g_assert_cmpfloat (observe (TRUE), >, 0.3);
  /* A very short measurement waits until the counters are meaningful. */
  LigConditions moment;
  LigDeviceHealth health = {0};
  g_autoptr (LigDevice) device = lig_device_open ("cpu", NULL);
  gint64 begun = g_get_monotonic_time ();
  lig_conditions_begin (&moment, device);
  lig_conditions_end (&moment, &quiet.step, &health);
  g_assert_cmpint (g_get_monotonic_time () - begun, >=, 200000);
  g_assert_cmpfloat (moment.others, >=, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/conditions/judge", test_judge);
  g_test_add_func ("/conditions/observe", test_observe);
  return g_test_run ();
}
