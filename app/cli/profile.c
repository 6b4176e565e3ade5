/* SPDX-License-Identifier: MIT */
/* lig profile: prints the time of each group next to its prediction, and compares policies. */
#include "app/cli/blame.h"
#include "app/cli/launch.h"
#include "app/cli/notes.h"
#include "app/cli/profile-ranks.h"
#include "app/cli/profile-recipes.h"
#include "app/cli/profile-text.h"
#include "app/cli/rank.h"
#include "app/cli/sequence-options.h"
#include "app/cli/shared-options.h"
#include "app/cli/table.h"
#include "app/cli/task.h"
#include "app/cli/values.h"

#include <ligature/figures.h>
#include <ligature/optimizer.h>
#include <ligature/plan-options.h>
#include <ligature/report.h>
#include <ligature/store.h>
#include <ligature/suggest.h>
#include <ligature/tuning.h>

#include <stdio.h>

static int run (int argc, char **argv);

LIG_COMMAND (profile) = {
  .name = "profile",
  .usage = "P [--input I] [--device D] [--steps N] [--ranks N] [--compare none,all,measured] "
           "[--compare-recipes none,fp8-current,…]",
  .summary = "Times a training step: each group, predicted and measured",
  .example = "lig profile 'layer-norm ! linear(512) ! gelu ! linear(128)' --input 256x128 "
             "--compare none,all",
  .run = run,
};

typedef struct {
  LigSequenceOptions sequence;
  char *compare, *recipes, *picture, *parallel, *load;
  int steps, ranks;
  gboolean quiet;
} Options;

static void
clear (Options *options)
{
  lig_cli_clear_options (&options->sequence);
  g_free (options->compare);
  g_free (options->recipes);
  g_free (options->picture);
  g_free (options->parallel);
  g_free (options->load);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, clear)

/* Prints the clocks, power and temperature during the measurement, if the device reports them. */
static void
print_health (const LigProfile *profile, int width)
{
  const LigDeviceHealth *health = &profile->health;
  if (health->clock < 0)
    return;
  g_autofree char *text = g_strdup_printf (
    "%s, %.0f MHz, memory %.0f MHz, %.0f of %.0f W, %.0f °C%s%s", health->driver, health->clock,
    health->memory_clock, health->power, health->power_limit, health->temperature,
    *health->throttling ? ", slowed by: " : "", health->throttling);
  lig_cli_print_wrapped (text, width);
}

/* Prints why the times are unreliable: each disturbance once, for the first plan that has it. */
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
      lig_cli_say ("these times are unreliable: %s", text);
  }
}

static void
add_profiles (JsonBuilder *builder, GPtrArray *profiles)
{
  json_builder_begin_array (builder);
  for (guint i = 0; i < profiles->len; i++)
    json_builder_add_value (builder, lig_profile_to_json (profiles->pdata[i]));
  json_builder_end_array (builder);
}

/* Prints one profile, a list of them, or an object if recipes were compared. */
static void
print_json (GPtrArray *profiles, GPtrArray *errors, gboolean list)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  if (errors) {
    json_builder_begin_object (builder);
    json_builder_set_member_name (builder, "profiles");
    add_profiles (builder, profiles);
    json_builder_set_member_name (builder, "errors");
    json_builder_add_value (builder, lig_profile_errors_to_json (errors));
    json_builder_end_object (builder);
    g_autoptr (JsonNode) root = json_builder_get_root (builder);
    lig_json_add_units (json_object_get_member (json_node_get_object (root), "profiles"));
    lig_cli_print_document ("profile-recipes", json_node_ref (root));
  } else if (list) {
    add_profiles (builder, profiles);
    lig_cli_print_document ("profile-compare", json_builder_get_root (builder));
  } else
    lig_cli_print_document ("profile", lig_profile_to_json (profiles->pdata[0]));
}

/* Returns plan options for each recipe of --compare-recipes, whose names must outlive them. */
static GArray *
make_recipe_plans (const LigPlanOptions *plan, LigSequence *sequence, const char *const *recipes)
{
  GArray *plans = g_array_new (FALSE, FALSE, sizeof (LigPlanOptions));
  for (; *recipes; recipes++) {
    LigPlanOptions one = *plan;
    lig_recipe_choose_for (&one, sequence, *recipes);
    g_array_append_val (plans, one);
  }
  return plans;
}

/* Returns plan options for each policy of --compare, or for the one policy without it. */
static GArray *
make_plans (const Options *options,
            LigSequence *sequence,
            const char *const *recipes,
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
  if (recipes)
    return make_recipe_plans (&plan, sequence, recipes);
  g_auto (GStrv) names = g_strsplit (options->compare ? options->compare : "", ",", -1);
  for (char **name = names; *name; name++) {
    if (!lig_policy_from_name (*name, &plan.policy)) {
      g_auto (GStrv) policies = lig_cli_values_list ("POLICY");
      g_autofree char *like = lig_suggest_ending (*name, (const char *const *) policies);
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                   "--compare has '%s', expected none, all or measured%s", *name, like);
      return NULL;
    }
    for (char **other = names; other < name; other++)
      if (g_str_equal (*other, *name)) {
        g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                     "--compare lists %s twice; name different policies", *name);
        return NULL;
      }
    g_array_append_val (plans, plan);
  }
  if (plans->len == 0)
    g_array_append_val (plans, plan);
  return g_steal_pointer (&plans);
}

/* Shows the progress of the measurement. */
static gboolean
show_round (guint round, guint rounds, gpointer data)
{
  g_autofree char *text = g_strdup_printf ("step %u/%u", round, rounds);
  lig_cli_task_advance ((double) round / rounds, text, data);
  return TRUE;
}

/* Measures the errors of the recipes if they are compared, records them with the profiles, and
 * plots them if a picture is requested. */
static gboolean
measure_errors (LigSequence *sequence,
                LigDevice *device,
                const Options *options,
                const char *const *recipes,
                GPtrArray *profiles,
                LigStore *store,
                GPtrArray **errors,
                GError **error)
{
  LigPlanOptions plan = LIG_PLAN_OPTIONS_INIT;
  if (!recipes)
    return TRUE;
  if (!lig_cli_plan_options (&options->sequence, &plan, error))
    return FALSE;
  *errors = lig_cli_measure_recipes (sequence, device, &plan, recipes, error);
  return *errors && lig_profile_record_errors (profiles, *errors, store, error) &&
         (!options->picture || lig_cli_draw_recipes (*errors, options->picture, error));
}

/* Reads --load; ranks other than the first have no store, and open it to read a run. */
static gboolean
read_load (const Options *options, LigStore *store, LigProfileLoad **load, GError **error)
{
  g_autoptr (LigStore) opened =
    !store && options->load
      ? lig_store_open_existing (options->sequence.store, LIG_STORE_READ, NULL)
      : NULL;
  *load =
    options->load ? lig_profile_load_parse (options->load, store ? store : opened, error) : NULL;
  if (*load || !options->load)
    return TRUE;
  if (g_error_matches (*error, LIG_ERROR, LIG_ERROR_VALUE) &&
      g_str_has_prefix ((*error)->message, "load "))
    lig_cli_blame_named (error);
  return FALSE;
}

/* Profiles the plans; with recipes `errors` are their errors. */
static GPtrArray *
measure (const char *text,
         const Options *options,
         const char *const *recipes,
         GPtrArray **errors,
         GError **error)
{
  LigTuning tuning;
  LigOptimizer optimizer = LIG_OPTIMIZER_INIT;
  g_autoptr (LigStore) store =
    lig_cli_rank_is_first () ? lig_store_open (options->sequence.store, error) : NULL;
  if ((!store && lig_cli_rank_is_first ()) ||
      (g_strcmp0 (text, "-") == 0 && !lig_cli_rank_share_input (error)))
    return NULL;
  g_autoptr (LigProfileLoad) load = NULL;
  if (!read_load (options, store, &load, error))
    return NULL;
  lig_tuning_init (&tuning, store);
  g_autoptr (LigSequence) sequence = lig_cli_open_sequence (text, &options->sequence, error);
  g_autoptr (GArray) plans =
    sequence ? make_plans (options, sequence, recipes, &tuning, &optimizer, error) : NULL;
  g_autoptr (LigDevice) device =
    plans
      ? lig_cli_open_profile_device (&options->sequence, options->parallel, sequence, plans, error)
      : NULL;
  if (!device)
    return NULL;
  lig_cli_task_begin ("profiling");
  lig_cli_task_detail ("preparing", options->compare);
  lig_tuning_learn (device, store);
  g_autoptr (GPtrArray) profiles = lig_profile_measure_loaded (
    sequence, device, (const LigPlanOptions *) (gpointer) plans->data, plans->len,
    (guint) options->steps, load, store, show_round, options->compare, error);
  gboolean fine =
    profiles && measure_errors (sequence, device, options, recipes, profiles, store, errors, error);
  lig_cli_task_end ();
  return fine ? g_steal_pointer (&profiles) : NULL;
}

/* Returns the profile of the plan without fusions, the baseline of savings, or NULL. */
static const LigProfile *
find_alone (GPtrArray *profiles)
{
  for (guint i = 0; i < profiles->len; i++) {
    const LigProfile *profile = profiles->pdata[i];
    if (lig_plan_get_policy (profile->plan) == LIG_POLICY_NONE)
      return profile;
  }
  return NULL;
}

/* Prints `Policy all, 12.3 k tokens/s, 41 % MFU:`. */
static void
print_heading (const LigProfile *profile, gboolean by_recipe)
{
  LigUse use;
  lig_figures_use_in (profile->plan, profile->step, &use);
  g_autofree char *rate = lig_figures_use_text (&use);
  g_autofree char *name =
    by_recipe
      ? g_strdup_printf ("Recipe %s", lig_plan_get_recipe (profile->plan))
      : g_strdup_printf ("Policy %s", lig_policy_name (lig_plan_get_policy (profile->plan)));
  printf ("\n%s%s%s:\n", name, rate ? ", " : "", rate ? rate : "");
}

/* Prints the load of experts, on which times depend, if there are any. */
static void
print_load (const LigProfile *profile, int width)
{
  g_autofree char *text = profile->load ? lig_profile_load_describe (profile->load) : NULL;
  if (!text)
    return;
  printf ("\n");
  lig_cli_print_wrapped (text, width);
}

/* Prints the times of the steps first, then those of the groups. */
static void
print (GPtrArray *profiles, gboolean by_recipe)
{
  int width = lig_cli_text_width ();
  lig_cli_print_profiles (profiles, by_recipe, width);
  for (guint i = 0; i < profiles->len; i++) {
    const LigProfile *profile = profiles->pdata[i];
    print_heading (profile, by_recipe);
    lig_cli_print_groups (profile, find_alone (profiles), width);
    lig_cli_print_collectives (profile, width);
    lig_cli_print_hotspots (profile, width);
  }
  lig_cli_print_attention (width);
  print_load (profiles->pdata[0], width);
  printf ("\n");
  lig_cli_explain_roofline (profiles, width);
  print_health (profiles->pdata[profiles->len - 1], width);
  print_conditions (profiles);
}

static int
profile (const char *text, const Options *options)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) errors = NULL;
  if (!lig_cli_rank_join (&error))
    return lig_cli_rank_fail (g_steal_pointer (&error));
  g_auto (GStrv) recipes =
    options->recipes ? lig_cli_read_recipes (options->recipes, &error) : NULL;
  if (error || (options->picture && !lig_cli_check_picture (options->picture, &error)))
    return lig_cli_rank_fail (g_steal_pointer (&error));
  g_autoptr (GPtrArray) profiles =
    measure (text, options, (const char *const *) recipes, &errors, &error);
  if (!profiles)
    return lig_cli_rank_fail (g_steal_pointer (&error));
  if (!lig_cli_rank_is_first ())
    return LIG_EXIT_OK;
  for (guint i = 0; i < (errors ? profiles->len : 1); i++)
    lig_cli_note_recipe (((const LigProfile *) profiles->pdata[i])->plan);
  if (lig_cli_json ()) {
    print_json (profiles, errors, options->compare != NULL);
    return LIG_EXIT_OK;
  }
  print (profiles, errors != NULL);
  if (errors)
    lig_cli_print_recipes (errors, lig_cli_text_width ());
  return LIG_EXIT_OK;
}

/* Checks the options, and starts ranks or profiles in this process, which may be one of them. */
static int
run_checked (const char *text, const Options *options, char **words)
{
  if (options->steps < 1 || options->steps > 1000000)
    return lig_cli_usage ("--steps is '%d', expected a whole number from 1 to 1000000",
                          options->steps);
  if (options->compare && options->recipes)
    return lig_cli_usage ("--compare and --compare-recipes are given; use one of them");
  if (options->compare && options->sequence.policy)
    return lig_cli_usage ("--policy and --compare are given; use one of them");
  if (options->recipes && options->sequence.recipe)
    return lig_cli_usage ("--recipe and --compare-recipes are given; use one of them");
  if (options->picture && !options->recipes)
    return lig_cli_usage ("--picture plots the errors of recipes; also give --compare-recipes");
  if (!lig_cli_check_ranks (options->ranks, options->parallel))
    return LIG_EXIT_USAGE;
  if (options->recipes && (options->ranks > 1 || lig_ranks_launched () > 1))
    return lig_cli_usage ("--compare-recipes measures errors in one process; omit --ranks");
  return lig_cli_needs_launch (options->ranks) ? lig_cli_launch (options->ranks, words)
                                               : profile (text, options);
}

static int
run (int argc, char **argv)
{
  g_auto (Options) options = {.steps = 15, .ranks = LIG_CLI_UNSET_RANKS};
  g_auto (GStrv) words = g_strdupv (argv);
  const GOptionEntry more[] = {
    {"steps", 0, 0, G_OPTION_ARG_INT, &options.steps,
     "Number of timed steps of each plan [default: 15]", "N"},
    {"compare", 0, 0, G_OPTION_ARG_STRING, &options.compare,
     "Compare these policies with each other [default: only --policy]", "POLICY[,POLICY…]"},
    {"compare-recipes", 0, 0, G_OPTION_ARG_STRING, &options.recipes,
     "Compare these recipes: time, memory, and the error of each op", "RECIPE[,RECIPE…]"},
    {"load", 0, 0, G_OPTION_ARG_STRING, &options.load,
     "Load of experts: even, zipf:EXPONENT, or the last one of a run [default: even]", "LOAD"},
    {"picture", 0, 0, G_OPTION_ARG_FILENAME, &options.picture,
     "Plot the errors of recipes, op by op, as svg, png or pdf", "FILE"},
    LIG_CLI_QUIET_ENTRY (&options.quiet, "result"),
    LIG_CLI_GROUP (LIG_CLI_DEVICE),
    LIG_CLI_RANKS_ENTRY (&options.ranks),
    LIG_CLI_PARALLEL_ENTRY (&options.parallel),
    lig_cli_setting_entry ("bucket-size", &options.sequence.bucket_size),
    {NULL},
  };
  g_autofree GOptionEntry *entries = lig_cli_sequence_entries (
    &options.sequence, LIG_OPTION_PLAN | LIG_OPTION_RUNS | LIG_OPTION_SHARD, more);
  lig_cli_rank_begin ();
  if (!lig_cli_parse (&lig_command_profile, entries, &argc, &argv, 1, 1))
    return lig_cli_rank_end (LIG_EXIT_USAGE);
  lig_cli_set_quiet (options.quiet);
  return lig_cli_rank_end (run_checked (argv[1], &options, words));
}
