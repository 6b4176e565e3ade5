/* SPDX-License-Identifier: MIT */
/* Numbers that a program in C sets in structs, without the checks of the command line. */
#include "engine/base/layout.h"
#include <ligature/compile.h>
#include <ligature/device.h>
#include <ligature/layout.h>
#include <ligature/plan-options.h>
#include <ligature/plan.h>
#include <ligature/run.h>

#include <math.h>
#include <string.h>

#define MODEL "linear(4) ! cross-entropy"

static LigSequence *
new_sequence (void)
{
  g_autoptr (GError) error = NULL;
  LigSequence *sequence = lig_sequence_from_expression (MODEL, &error);
  LigShape shape;
  g_assert_no_error (error);
  lig_shape_init (&shape, 2, G_GINT64_CONSTANT (8), G_GINT64_CONSTANT (8));
  lig_sequence_set_input (sequence, &shape, LIG_FP32);
  return sequence;
}

/* Asserts that a run with these settings is rejected by a sentence about the setting. */
static void
assert_rejected (const LigRunSettings *settings, const char *name)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigSequence) sequence = new_sequence ();
  g_autoptr (LigDevice) device = lig_device_open ("cpu", NULL);
  g_assert_null (lig_run_new (sequence, device, settings, NULL, NULL, &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_VALUE);
  g_test_message ("%s", error->message);
  g_assert_nonnull (strstr (error->message, name));
  g_assert_nonnull (strstr (error->message, "expected"));
}

/* Every number of the table, below and above its range, and as NaN and infinity. */
static void
test_settings (void)
{
  const LigSetting *setting;
  g_auto (LigRunSettings) settings;
  lig_run_settings_init (&settings);
  g_assert_true (lig_run_settings_set (&settings, "data", "synthetic", NULL));
  g_assert_true (lig_run_settings_check (&settings, NULL));
  for (guint i = 0; (setting = lig_run_setting_nth (i)); i++) {
    void *at = (char *) &settings + setting->offset;
    if (setting->kind == LIG_SETTING_COUNT) {
      const gint64 kept = *(gint64 *) at;
      const gint64 wrong[] = {(gint64) setting->minimum - 1, (gint64) setting->maximum + 2000,
                              G_MININT64};
      for (guint k = 0; k < G_N_ELEMENTS (wrong); k++) {
        *(gint64 *) at = wrong[k];
        assert_rejected (&settings, setting->name);
      }
      *(gint64 *) at = kept;
    } else if (setting->kind == LIG_SETTING_NUMBER) {
      const double kept = *(double *) at;
      const double wrong[] = {NAN, INFINITY, -INFINITY, setting->minimum - 1,
                              2 * setting->maximum + 1};
      for (guint k = 0; k < G_N_ELEMENTS (wrong); k++) {
        *(double *) at = wrong[k];
        assert_rejected (&settings, setting->name);
      }
      *(double *) at = kept;
    }
  }
  g_assert_true (lig_run_settings_check (&settings, NULL));
}

static void
test_words (void)
{
  static const char *const names[] = {"policy", "recompute", "schedule", "optimizer"};
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    const LigSetting *setting;
    g_auto (LigRunSettings) settings;
    lig_run_settings_init (&settings);
    g_assert_true (lig_run_settings_set (&settings, "data", "synthetic", NULL));
    for (guint k = 0; (setting = lig_run_setting_nth (k)); k++)
      if (g_str_equal (setting->name, names[i]))
        *(char **) ((char *) &settings + setting->offset) = g_strdup ("most");
    assert_rejected (&settings, names[i]);
  }
}

static void
assert_no_plan (const LigPlanOptions *options, const char *name)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigSequence) sequence = new_sequence ();
  g_autoptr (LigDevice) device = lig_device_open ("cpu", NULL);
  g_assert_null (lig_plan_compile (sequence, device, options, &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_VALUE);
  g_test_message ("%s", error->message);
  g_assert_nonnull (strstr (error->message, name));
}

static void
test_options (void)
{
  const LigPlanOptions usual = LIG_PLAN_OPTIONS_INIT;
  const int wrong[] = {-2, 99, G_MAXINT, G_MININT};
  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++) {
    LigPlanOptions options = usual;
    options.policy = (LigPolicy) wrong[i];
    assert_no_plan (&options, "policy");
    options = usual;
    options.recompute = (LigRecompute) wrong[i];
    assert_no_plan (&options, "recompute");
    options = usual;
    options.compute = wrong[i];
    assert_no_plan (&options, "compute");
    options = usual;
    options.parameters = wrong[i];
    assert_no_plan (&options, "parameters");
    options = usual;
    options.bucket_bytes = -1 - ABS ((gint64) wrong[i]);
    assert_no_plan (&options, "bucket");
    options = usual;
    options.batch = wrong[i] > 0 ? G_MAXINT64 - wrong[i] : wrong[i];
    assert_no_plan (&options, "batch");
  }
}

static void
test_ranks (void)
{
  const int wrong[] = {0, -1, G_MAXINT, G_MININT, (1 << 20) + 1};
  const LigLayout layouts[] = {
    {.sizes = {-1, 1, 1}}, {.sizes = {1 << 20, 2, 1}}, {.sizes = {G_MAXINT, G_MAXINT, G_MAXINT}}};
  g_autoptr (GError) error = NULL;
  g_autoptr (LigSequence) sequence = new_sequence ();
  LigLayout layout;
  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++) {
    g_assert_false (lig_layout_parse (&layout, NULL, wrong[i], &error));
    g_assert_error (error, LIG_ERROR, LIG_ERROR_VALUE);
    g_assert_nonnull (strstr (error->message, "the number of ranks is"));
    g_clear_error (&error);
  }
  for (guint i = 0; i < G_N_ELEMENTS (layouts); i++) {
    LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
    g_assert_false (lig_plan_options_shard (&options, sequence, &layouts[i], &error));
    g_assert_error (error, LIG_ERROR, LIG_ERROR_VALUE);
    g_clear_error (&error);
  }
  g_assert_true (lig_layout_parse (&layout, "tensor=2", 8, &error));
  g_assert_true (lig_layout_check (&layout, &error));
  g_assert_no_error (error);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/train-limits/settings", test_settings);
  g_test_add_func ("/train-limits/words", test_words);
  g_test_add_func ("/train-limits/options", test_options);
  g_test_add_func ("/train-limits/ranks", test_ranks);
  return g_test_run ();
}
