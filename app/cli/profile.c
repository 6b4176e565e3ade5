/* SPDX-License-Identifier: MIT */
/* lig profile: prints the time of each group next to its prediction, and compares policies. */
#include "app/cli/sequence-options.h"

#include <ligature/report.h>
#include <ligature/tuning.h>

#include <math.h>
#include <stdio.h>

static int run (int argc, char **argv);

LIG_COMMAND (profile) = {
  .name = "profile",
  .usage = "P [--input I] [--device D] [--steps N] [--compare none,all,measured]",
  .summary = "Times a training step: each group, predicted and measured",
  .example = "lig profile 'layer-norm ! linear(512) ! gelu ! linear(128)' --input 256x128 "
             "--compare none,all",
  .run = run,
};

typedef struct {
  LigSequenceOptions sequence;
  char *compare;
  int steps;
} Options;

static void
clear (Options *options)
{
  lig_cli_clear_options (&options->sequence);
  g_free (options->compare);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, clear)

static void
print_profile (const LigProfile *profile)
{
  static const char *const header[] = {"group",     ">predicted", ">measured",
                                       ">roofline", "kernels",    NULL};
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func ((GDestroyNotify) g_strfreev);
  guint count, n_steps;
  const LigPlanStep *steps = lig_plan_get_steps (profile->plan, &n_steps);
  for (LigPass pass = LIG_PASS_FORWARD; pass <= LIG_PASS_BACKWARD; pass++) {
    const LigPlanGroup *groups = lig_plan_get_groups (profile->plan, pass, &count);
    for (guint i = 0; i < count; i++) {
      if (groups[i].n_steps == 0)
        continue;
      g_autoptr (GString) kernels = g_string_new (NULL);
      for (int j = 0; j < groups[i].n_steps; j++) {
        const LigKernel *kernel = steps[groups[i].first_step + j].kernel;
        g_string_append_printf (kernels, "%s%s", j > 0 ? ", " : "",
                                kernel ? kernel->name : "opaque");
      }
      double measured = lig_profile_get_group_seconds (profile, &groups[i]);
      char **row = g_new0 (char *, 6);
      row[0] = g_strdup_printf ("%s %d-%d", lig_pass_name (pass), groups[i].first,
                                groups[i].first + groups[i].count - 1);
      double roofline = lig_profile_get_roofline (profile, groups[i].floor, measured);
      gboolean known = isfinite (roofline);
      row[1] = known ? lig_cli_format_time (groups[i].predicted) : g_strdup ("-");
      row[2] = lig_cli_format_time (measured);
      row[3] = known ? g_strdup_printf ("%.0f %%", 100 * roofline) : g_strdup ("-");
      row[4] = g_strdup (kernels->str);
      g_ptr_array_add (rows, row);
    }
  }
  lig_cli_print_table (header, rows);
}

/* Prints the medians and the quartiles of each plan, and how it differs from the first one. */
static void
print_summary (GPtrArray *profiles)
{
  static const char *const header[] = {"policy",     ">forward", ">backward",    ">update", ">step",
                                       ">quartiles", ">runs",    "to the first", NULL};
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func ((GDestroyNotify) g_strfreev);
  const LigProfile *first = profiles->pdata[0];
  for (guint i = 0; i < profiles->len; i++) {
    const LigProfile *profile = profiles->pdata[i];
    char **row = g_new0 (char *, 9);
    row[0] = g_strdup (lig_policy_name (lig_plan_get_policy (profile->plan)));
    row[1] = lig_cli_format_time (profile->forward);
    row[2] = lig_cli_format_time (profile->backward);
    row[3] = lig_cli_format_time (profile->update);
    row[4] = lig_cli_format_time (profile->step);
    row[5] = lig_cli_format_range (profile->step_spread.lower, profile->step_spread.upper);
    row[6] = g_strdup_printf ("%u", profile->step_spread.count);
    LigDifference difference;
    lig_spread_compare (&profile->step_spread, &first->step_spread, &difference);
    row[7] = i == 0 ? g_strdup ("") : lig_difference_to_text (&difference);
    g_ptr_array_add (rows, row);
  }
  lig_cli_print_table (header, rows);
}

/* Prints the clocks, power and temperature during the measurement, if the device reports them. */
static void
print_health (const LigProfile *profile)
{
  const LigDeviceHealth *health = &profile->health;
  if (health->clock < 0)
    return;
  printf ("\n%s, %.0f MHz, memory %.0f MHz, %.0f of %.0f W, %.0f °C", health->driver, health->clock,
          health->memory_clock, health->power, health->power_limit, health->temperature);
  printf ("%s%s\n", *health->throttling ? ", slowed by: " : "", health->throttling);
}

/* Says why the times are doubtful: each disturbance of any of the plans once, of the first plan
 * that has it. */
static void
print_conditions (GPtrArray *profiles)
{
  unsigned known = 0;
  for (guint i = 0; i < profiles->len; i++) {
    LigConditions conditions = ((const LigProfile *) profiles->pdata[i])->conditions;
    conditions.disturbances &= ~known;
    known |= conditions.disturbances;
    g_autofree char *text = lig_conditions_to_text (&conditions);
    if (text)
      lig_cli_say ("doubtful times. %s", text);
  }
}

static void
print_json (GPtrArray *profiles, gboolean list)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  if (!list) {
    lig_cli_print_document ("profile", lig_profile_to_json (profiles->pdata[0]));
    return;
  }
  json_builder_begin_array (builder);
  for (guint i = 0; i < profiles->len; i++)
    json_builder_add_value (builder, lig_profile_to_json (profiles->pdata[i]));
  json_builder_end_array (builder);
  lig_cli_print_document ("profile-compare", json_builder_get_root (builder));
}

/* Returns plan options for each policy of --compare, or for the one policy without it. */
static GArray *
make_plans (const Options *options,
            const LigTuning *tuning,
            const LigOptimizer *optimizer,
            GError **error)
{
  g_autoptr (GArray) plans = g_array_new (FALSE, FALSE, sizeof (LigPlanOptions));
  LigPlanOptions plan = LIG_PLAN_OPTIONS_INIT;
  if (!lig_cli_plan_options (&options->sequence, &plan, error))
    return NULL;
  plan.tuning = tuning;
  plan.optimizer = optimizer;
  g_auto (GStrv) names = g_strsplit (options->compare ? options->compare : "", ",", -1);
  for (char **name = names; *name; name++) {
    if (!lig_policy_from_name (*name, &plan.policy)) {
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                   "--compare has '%s', expected none, all or measured", *name);
      return NULL;
    }
    g_array_append_val (plans, plan);
  }
  if (plans->len == 0)
    g_array_append_val (plans, plan);
  return g_steal_pointer (&plans);
}

static GPtrArray *
measure (const char *text, const Options *options, GError **error)
{
  LigTuning tuning;
  LigOptimizer optimizer = LIG_OPTIMIZER_INIT;
  g_autoptr (LigStore) store = lig_store_open (options->sequence.store, error);
  if (!store)
    return NULL;
  lig_tuning_init (&tuning, store);
  g_autoptr (GArray) plans = make_plans (options, &tuning, &optimizer, error);
  g_autoptr (LigSequence) sequence =
    plans ? lig_cli_open_sequence (text, &options->sequence, error) : NULL;
  g_autoptr (LigDevice) device = sequence ? lig_cli_open_device (&options->sequence, error) : NULL;
  if (!device)
    return NULL;
  lig_tuning_learn (device, store);
  return lig_profile_measure (sequence, device, (const LigPlanOptions *) (gpointer) plans->data,
                              plans->len, (guint) options->steps, store, error);
}

static int
run (int argc, char **argv)
{
  g_auto (Options) options = {.steps = 15};
  const GOptionEntry more[] = {
    {"steps", 0, 0, G_OPTION_ARG_INT, &options.steps, "Number of runs of each plan [default: 15]",
     "N"},
    {"compare", 0, 0, G_OPTION_ARG_STRING, &options.compare, "Compare these policies",
     "POLICY[,POLICY…]"},
    {NULL},
  };
  g_autofree GOptionEntry *entries =
    lig_cli_sequence_entries (&options.sequence, LIG_OPTION_PLAN | LIG_OPTION_RUNS, more);
  g_autoptr (GError) error = NULL;
  if (!lig_cli_parse (&lig_command_profile, entries, &argc, &argv, 1, 1))
    return LIG_EXIT_USAGE;
  if (options.steps < 1 || options.steps > 1000000)
    return lig_cli_usage ("--steps is %d, expected 1 to 1000000", options.steps);
  g_autoptr (GPtrArray) profiles = measure (argv[1], &options, &error);
  if (!profiles)
    return lig_cli_fail (g_steal_pointer (&error));
  if (lig_cli_json ()) {
    print_json (profiles, options.compare != NULL);
    return LIG_EXIT_OK;
  }
  for (guint i = 0; i < profiles->len; i++) {
    print_profile (profiles->pdata[i]);
    printf ("\n");
  }
  print_summary (profiles);
  print_health (profiles->pdata[profiles->len - 1]);
  print_conditions (profiles);
  return LIG_EXIT_OK;
}
