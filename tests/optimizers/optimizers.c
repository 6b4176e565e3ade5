/* SPDX-License-Identifier: MIT */
/* Optimizers: each table is complete, is used by settings, plans, states and files, and each
 * optimizer learns. */
#include "engine/state/state.h"
#include "tests/plan/case.h"

#include <ligature/compile.h>
#include <ligature/optimizer.h>
#include <ligature/run.h>

#include <math.h>
#include <stdio.h>

static const char net[] = "linear(3) ! mean-squared-error";

static const LigParam *
find_param (const LigOptimizerInfo *info, const char *name)
{
  for (const LigParam *param = info->params; param->name; param++)
    if (g_str_equal (param->name, name))
      return param;
  return NULL;
}

static void
check_params (const LigOptimizerInfo *info)
{
  g_assert_cmpuint (info->params_size, <=, LIG_OPTIMIZER_PARAMS);
  for (const LigParam *param = info->params; param->name; param++) {
    g_assert_cmpint (param->kind, ==, LIG_PARAM_FLOAT);
    g_assert_true (param->label && param->help);
    g_assert_true (find_param (info, param->name) == param);
    g_assert_cmpuint (param->offset + sizeof (float), <=, info->params_size);
    g_assert_cmpfloat (param->minimum, <=, param->initial);
    g_assert_cmpfloat (param->initial, <=, param->maximum);
  }
  g_assert_true (!info->decay || find_param (info, info->decay));
}

/* `gradients norm? scaling? -> parameters ARRAY… master`. */
static void
check_operands (const LigOptimizerInfo *info)
{
  static const char *const before[] = {"gradients", "norm", "scaling", "parameters"};
  const LigKernel *kernel = lig_kernel_find (info->kernel);
  char name[32];
  g_assert_nonnull (kernel);
  int inputs, count = lig_signature_count (kernel->signature, &inputs);
  int at = (int) G_N_ELEMENTS (before);
  g_assert_cmpint (inputs, ==, at - 1);
  for (int i = 0; i < at; i++) {
    lig_signature_name (kernel->signature, i, name);
    g_assert_cmpstr (name, ==, before[i]);
  }
  for (const LigOptimizerArray *array = info->arrays; array && array->name; array++) {
    lig_signature_name (kernel->signature, at++, name);
    g_assert_cmpstr (name, ==, array->operand ? array->operand : array->name);
    g_assert_cmpint (lig_state_find_array (array->name), >=, LIG_STATE_KEPT);
    g_assert_true (!array->needs || find_param (info, array->needs));
  }
  lig_signature_name (kernel->signature, at, name);
  g_assert_cmpstr (name, ==, "master");
  g_assert_cmpint (at, ==, count - 1);
}

static void
test_tables (void)
{
  g_autoptr (GHashTable) names = g_hash_table_new (g_str_hash, g_str_equal);
  const LigOptimizerInfo *info;
  for (guint n = 0; (info = lig_optimizer_info_nth (n)); n++) {
    g_assert_true (g_hash_table_add (names, (gpointer) info->name));
    g_assert_true (info->title && info->help);
    g_assert_true (lig_optimizer_info_find (info->name, NULL) == info);
    check_params (info);
    check_operands (info);
  }
  g_assert_nonnull (lig_optimizer_info_find (NULL, NULL));
  g_assert_cmpuint (g_hash_table_size (names), >=, 2);
}

/* The macro for programs in C agrees with the table. */
static void
test_defaults (void)
{
  g_autoptr (GError) error = NULL;
  LigOptimizer macro = LIG_OPTIMIZER_INIT, table;
  g_assert_true (lig_optimizer_init (&table, NULL, &error));
  g_assert_cmpstr (macro.name, ==, table.name);
  const LigOptimizerInfo *info = lig_optimizer_info_find (macro.name, &error);
  g_assert_true (lig_optimizer_set (&table, "weight-decay", 0.01, &error));
  for (const LigParam *param = info->params; param->name; param++)
    g_assert_cmpfloat (lig_optimizer_get (&macro, param), ==, lig_optimizer_get (&table, param));
  g_assert_cmpfloat (macro.loss_scale, ==, table.loss_scale);
}

/* Each parameter of each optimizer has a setting with its range; an unknown optimizer is rejected.
 */
static void
test_settings (void)
{
  g_autoptr (GError) error = NULL;
  g_auto (LigRunSettings) settings;
  const LigOptimizerInfo *info;
  lig_run_settings_init (&settings);
  for (guint n = 0; (info = lig_optimizer_info_nth (n)); n++) {
    LigOptimizer optimizer;
    g_assert_true (lig_run_settings_set (&settings, "optimizer", info->name, &error));
    for (const LigParam *param = info->params; param->name; param++) {
      const LigSetting *setting = NULL;
      for (guint i = 0; (setting = lig_run_setting_nth (i)); i++)
        if (g_str_equal (setting->name, param->name))
          break;
      g_assert_nonnull (setting);
      g_assert_nonnull (strstr (setting->of, info->name));
      g_assert_cmpstr (setting->help, ==, param->help);
      g_assert_cmpstr (setting->label, ==, param->label);
      g_assert_cmpfloat (setting->minimum, ==, param->minimum);
      g_assert_cmpfloat (setting->maximum, ==, param->maximum);
      g_assert_cmpfloat (setting->initial, ==, param->initial);
      double value = (param->minimum + param->maximum) / 2;
      g_autofree char *text = g_strdup_printf ("%.17g", value);
      g_assert_true (lig_run_settings_set (&settings, param->name, text, &error));
      g_assert_true (lig_run_settings_get_optimizer (&settings, &optimizer, &error));
      g_assert_cmpfloat (lig_optimizer_get (&optimizer, param), ==, (double) (float) value);
    }
    g_assert_cmpstr (optimizer.name, ==, info->name);
  }
  g_assert_false (lig_run_settings_set (&settings, "optimizer", "sdg", &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_VALUE);
  g_assert_nonnull (strstr (error->message, "adamw"));
}

/* Values beyond either end of each range, and NaN, are rejected for states and plans. */
static void
test_ranges (void)
{
  const LigOptimizerInfo *info;
  g_autoptr (LigSequence) sequence = new_sequence (net, "4x2");
  for (guint n = 0; (info = lig_optimizer_info_nth (n)); n++)
    for (const LigParam *param = info->params; param->name; param++) {
      const double bad[] = {param->minimum - 1, param->maximum + 1, NAN};
      for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
        g_autoptr (GError) error = NULL;
        LigOptimizer optimizer;
        LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
        options.optimizer = &optimizer;
        g_assert_true (lig_optimizer_init (&optimizer, info->name, &error));
        g_assert_false (lig_optimizer_set (&optimizer, param->name, bad[i], &error));
        g_assert_error (error, LIG_ERROR, LIG_ERROR_VALUE);
        g_clear_error (&error);
        *(float *) ((char *) optimizer.params + param->offset) = (float) bad[i];
        g_assert_null (lig_state_new (sequence, cpu_device (), &options, 0, &error));
        g_assert_error (error, LIG_ERROR, LIG_ERROR_VALUE);
        g_assert_nonnull (strstr (error->message, param->name));
        g_clear_error (&error);
        g_assert_null (lig_plan_compile (sequence, cpu_device (), &options, &error));
        g_assert_error (error, LIG_ERROR, LIG_ERROR_VALUE);
      }
    }
}

static void
test_unknown (void)
{
  g_autoptr (GError) error = NULL;
  LigOptimizer optimizer = {.name = "none"}, adamw = LIG_OPTIMIZER_INIT;
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.optimizer = &optimizer;
  g_autoptr (LigSequence) sequence = new_sequence (net, "4x2");
  g_assert_null (lig_state_new (sequence, cpu_device (), &options, 0, &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_VALUE);
  g_assert_true (g_str_has_prefix (error->message, "optimizer is 'none', expected one of "));
  g_assert_nonnull (strstr (error->message, "adamw"));
  g_clear_error (&error);
  adamw.adamw.beta1 = 1;
  options.optimizer = &adamw;
  g_assert_null (lig_state_new (sequence, cpu_device (), &options, 0, &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_VALUE);
  g_assert_cmpstr (error->message, ==,
                   "beta1 of adamw is 1, expected a number from 0 to 0.9999999");
  g_clear_error (&error);
  g_assert_false (lig_optimizer_set (&adamw, "momentum", 0.5, &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_OP);
}

/* Every parameter is part of a plan's key. */
static void
test_keys (void)
{
  g_autoptr (GError) error = NULL;
  const LigOptimizerInfo *info;
  g_autoptr (LigSequence) sequence = new_sequence (net, "4x2");
  g_autoptr (LigState) state = lig_state_new (sequence, cpu_device (), NULL, 0, &error);
  guint count = 0;
  for (guint n = 0; (info = lig_optimizer_info_nth (n)); n++)
    for (const LigParam *param = info->params; param->name; param++)
      for (int i = 0; i < 2; i++) {
        LigOptimizer optimizer;
        LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
        options.optimizer = &optimizer;
        lig_optimizer_init (&optimizer, info->name, &error);
        double value = param->minimum + (param->maximum - param->minimum) / (3 + i);
        g_assert_true (lig_optimizer_set (&optimizer, param->name, value, &error));
        g_autoptr (LigPlan) plan = lig_state_plan (state, sequence, &options, &error);
        g_assert_no_error (error);
        g_assert_cmpuint (lig_state_get_n_compiled (state), ==, ++count);
        g_autoptr (LigPlan) again = lig_state_plan (state, sequence, &options, &error);
        g_assert_true (again == plan);
      }
}

typedef struct {
  LigState *state;
  LigProgram *program;
} Training;

static void
training_clear (Training *self)
{
  g_clear_pointer (&self->program, lig_program_unref);
  g_clear_object (&self->state);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Training, training_clear)

/* Begins a training with nonzero optimizer parameters, so that every array is kept, and with
 * weights in bf16, which have a master. */
static Training
begin (LigSequence *sequence, const LigOptimizerInfo *info)
{
  g_autoptr (GError) error = NULL;
  Training self;
  LigOptimizer optimizer;
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.optimizer = &optimizer;
  options.compute = LIG_FP32;
  options.parameters = LIG_BF16;
  lig_optimizer_init (&optimizer, info->name, &error);
  for (const LigParam *param = info->params; param->name; param++)
    if (param->initial == 0)
      g_assert_true (
        lig_optimizer_set (&optimizer, param->name, MIN (0.01, param->maximum / 2), &error));
  self.state = lig_state_new (sequence, cpu_device (), &options, 3, &error);
  g_assert_no_error (error);
  g_autoptr (LigPlan) plan = lig_state_plan (self.state, sequence, &options, &error);
  g_assert_no_error (error);
  self.program = lig_program_new (plan, self.state, &error);
  g_assert_no_error (error);
  feed_inputs (self.program);
  return self;
}

static float
step (Training *self, int times)
{
  for (int i = 0; i < times; i++) {
    lig_program_set_rate (self->program, 0.01, 0);
    run_program (self->program, LIG_RUN_FORWARD | LIG_RUN_BACKWARD | LIG_RUN_UPDATE);
  }
  return read_loss (self->program);
}

static void
check_same (LigState *a, LigState *b)
{
  guint seen = 0;
  for (int array = 0; lig_state_array_name ((LigStateArray) array); array++)
    for (const char *const *path = lig_state_get_paths (a); *path; path++) {
      g_autoptr (LigTensor) x = lig_state_get (a, (LigStateArray) array, *path, NULL);
      g_autoptr (LigTensor) y = lig_state_get (b, (LigStateArray) array, *path, NULL);
      g_assert_true (!x == !y);
      g_assert_true (!x || memcmp (x->data, y->data, lig_tensor_bytes (x)) == 0);
      seen += x != NULL;
    }
  g_assert_cmpuint (seen, >, 0);
}

/* Each optimizer learns; its arrays are saved under their names, and a training continued from a
 * file gives the same bits. */
static void
test_training (void)
{
  const LigOptimizerInfo *info;
  g_autofree char *folder = g_dir_make_tmp ("ligature-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (folder, "state.safetensors", NULL);
  g_autoptr (LigSequence) sequence = new_sequence (net, "8x5");
  for (guint n = 0; (info = lig_optimizer_info_nth (n)); n++) {
    g_autoptr (GError) error = NULL;
    g_auto (Training) whole = begin (sequence, info);
    float first = step (&whole, 1), later = step (&whole, 20);
    g_assert_cmpfloat (later, <, first);
    g_autoptr (LigTensorFile) file = lig_tensor_file_new ();
    g_assert_true (lig_state_store (whole.state, file, TRUE, &error));
    g_assert_true (lig_tensor_file_has (file, "optimizer.master.0.weight"));
    for (const LigOptimizerArray *array = info->arrays; array && array->name; array++) {
      g_autofree char *name = g_strdup_printf ("optimizer.%s.0.bias", array->name);
      g_assert_true (lig_tensor_file_has (file, name));
    }
    g_assert_true (lig_tensor_file_save (file, path, &error));
    g_autoptr (LigTensorFile) read = lig_tensor_file_load (path, &error);
    g_auto (Training) second = begin (sequence, info);
    g_assert_true (lig_state_load (second.state, read, &error));
    g_assert_true (lig_state_load_moments (second.state, read, &error));
    lig_state_set_steps (second.state, lig_state_get_micro_step (whole.state),
                         lig_state_get_step (whole.state));
    step (&whole, 3);
    step (&second, 3);
    check_same (whole.state, second.state);
  }
  remove (path);
  remove (folder);
}

/* Numbers that are not finite are rejected. */
static void
test_finite (void)
{
  g_autoptr (GError) error = NULL;
  LigOptimizer optimizer;
  g_assert_true (lig_optimizer_init (&optimizer, LIG_OPTIMIZER_DEFAULT, &error));
  const LigOptimizerInfo *info = lig_optimizer_info_find (LIG_OPTIMIZER_DEFAULT, NULL);
  const double wrong[] = {NAN, INFINITY, -INFINITY};
  for (const LigParam *param = info->params; param->name; param++)
    for (guint i = 0; i < G_N_ELEMENTS (wrong); i++) {
      g_assert_false (lig_optimizer_set (&optimizer, param->name, wrong[i], &error));
      g_assert_error (error, LIG_ERROR, LIG_ERROR_VALUE);
      g_clear_error (&error);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/optimizers/tables", test_tables);
  g_test_add_func ("/optimizers/defaults", test_defaults);
  g_test_add_func ("/optimizers/settings", test_settings);
  g_test_add_func ("/optimizers/ranges", test_ranges);
  g_test_add_func ("/optimizers/finite", test_finite);
  g_test_add_func ("/optimizers/unknown", test_unknown);
  g_test_add_func ("/optimizers/keys", test_keys);
  g_test_add_func ("/optimizers/training", test_training);
  return g_test_run ();
}
