/* SPDX-License-Identifier: MIT */
/* Options of commands that take a sequence. */
#include "app/cli/sequence-options.h"

#include "app/cli/blame.h"
#include "app/cli/launch.h"
#include "app/cli/shared-options.h"
#include "app/cli/task.h"
#include "app/cli/values.h"
#include <ligature/compile.h>
#include <ligature/optimizer.h>
#include <ligature/plan-memory.h>
#include <ligature/plan-options.h>
#include <ligature/store.h>
#include <ligature/suggest.h>
#include <ligature/tuning.h>

#include <string.h>

/* An option, and the set that it belongs to. */
typedef struct {
  unsigned set;
  GOptionEntry entry;
} Known;

#define REVERSE G_OPTION_FLAG_REVERSE
#define UNDO(what) what ", even if the file's `train` object allows it"
#define SWITCH(set, name, flags, field, help) \
  { \
    set, \
    { \
      name, 0, flags, G_OPTION_ARG_NONE, field, help, NULL \
    } \
  }

#define INPUT_ENTRY(variable) \
  { \
    "input", 0, 0, G_OPTION_ARG_STRING, variable, \
      "Shape and type of the input [default: the file's; type fp32]", "D{xD}[:dtype]" \
  }

#define RECIPE_ENTRY(variable) \
  { \
    "recipe", 0, 0, G_OPTION_ARG_STRING, variable, \
      "How the operands of matmuls are quantized, like fp8-current or " \
      "fp8-delayed:history=16,margin=1 [default: the file's; none]", \
      "RECIPE" \
  }

/* Returns the names that --optimizer takes. */
static const char *
get_optimizers (void)
{
  char *unused = NULL;
  return lig_cli_setting_entry ("optimizer", &unused).arg_description;
}

/* Appends those of the entries that are in the set. */
static void
append_known (GArray *entries, const Known *known, guint count, unsigned set)
{
  for (guint i = 0; i < count; i++)
    if (known[i].set & set)
      g_array_append_val (entries, known[i].entry);
}

static void
append_rank_entries (GArray *entries, LigSequenceOptions *options, unsigned set)
{
  const Known known[] = {
    {LIG_OPTION_RANKS | LIG_OPTION_SHARD, LIG_CLI_GROUP (LIG_CLI_DEVICE)},
    {LIG_OPTION_RANKS, LIG_CLI_PLAN_RANKS_ENTRY (&options->ranks)},
    {LIG_OPTION_RANKS, LIG_CLI_PARALLEL_ENTRY (&options->parallel)},
    {LIG_OPTION_RANKS,
     {"optimizer", 0, 0, G_OPTION_ARG_STRING, &options->optimizer,
      "Also plan the update of this optimizer [default: none]", get_optimizers ()}},
    SWITCH (LIG_OPTION_SHARD, "shard-optimizer", 0, &options->shard_optimizer,
            "Shard the optimizer state and its update among the DP ranks (ZeRO-1)"),
    SWITCH (LIG_OPTION_SHARD, "no-shard-optimizer", REVERSE, &options->shard_optimizer,
            "Do not shard the optimizer state, even if the file's `train` object does"),
    {LIG_OPTION_RANKS, lig_cli_setting_entry ("bucket-size", &options->bucket_size)},
  };
  append_known (entries, known, G_N_ELEMENTS (known), set);
  options->ranks = LIG_CLI_UNSET_RANKS;
  options->shard_optimizer = LIG_CLI_UNSET;
}

GOptionEntry *
lig_cli_sequence_entries (LigSequenceOptions *options, unsigned set, const GOptionEntry *more)
{
  const Known known[] = {
    {LIG_OPTION_INPUT | LIG_OPTION_EVAL, LIG_CLI_GROUP (LIG_CLI_SEQUENCE)},
    {LIG_OPTION_INPUT, INPUT_ENTRY (&options->input)},
    {LIG_OPTION_EVAL,
     {"eval", 0, 0, G_OPTION_ARG_NONE, &options->eval, "Plan evaluation: no backward pass", NULL}},
    {LIG_OPTION_DEVICE | LIG_OPTION_DTYPE | LIG_OPTION_TF32 | LIG_OPTION_POLICY,
     LIG_CLI_GROUP (LIG_CLI_DEVICE)},
    {LIG_OPTION_DEVICE, lig_cli_device_entry (set & LIG_OPTION_RUNS, &options->device)},
    {LIG_OPTION_DTYPE, lig_cli_setting_entry ("dtype", &options->dtype)},
    {LIG_OPTION_TF32, RECIPE_ENTRY (&options->recipe)},
    SWITCH (LIG_OPTION_TF32, "tf32", 0, &options->tf32, "Allow TF32 matmuls of fp32 tensors"),
    SWITCH (LIG_OPTION_TF32, "no-tf32", REVERSE, &options->tf32, UNDO ("Forbid TF32 matmuls")),
    SWITCH (LIG_OPTION_TF32, "nondeterministic", 0, &options->nondeterministic,
            "Allow nondeterministic summation order where that is faster"),
    SWITCH (LIG_OPTION_TF32, "no-nondeterministic", REVERSE, &options->nondeterministic,
            UNDO ("Forbid nondeterministic summation order")),
    {LIG_OPTION_POLICY, lig_cli_setting_entry ("policy", &options->policy)},
    {LIG_OPTION_POLICY, lig_cli_setting_entry ("recompute", &options->recompute)},
    {LIG_OPTION_POLICY, LIG_CLI_STORE_ENTRY (&options->store)},
    {LIG_OPTION_OVERRIDES, LIG_CLI_GROUP (LIG_CLI_FUSIONS)},
    {LIG_OPTION_OVERRIDES,
     {"forbid", 0, 0, G_OPTION_ARG_STRING_ARRAY, &options->forbid,
      "Forbid a fusion everywhere or at a path" LIG_CLI_SEVERAL, "FUSION[@PATH]"}},
    {LIG_OPTION_OVERRIDES,
     {"force", 0, 0, G_OPTION_ARG_STRING_ARRAY, &options->force,
      "Force a fusion at a path" LIG_CLI_SEVERAL, "FUSION@PATH"}},
    {LIG_OPTION_OVERRIDES,
     {"fence", 0, 0, G_OPTION_ARG_STRING_ARRAY, &options->fence,
      "Allow no fusion across the gap before this op" LIG_CLI_SEVERAL, "PATH"}},
  };
  GArray *entries = g_array_new (TRUE, TRUE, sizeof (GOptionEntry));
  options->tf32 = options->nondeterministic = LIG_CLI_UNSET;
  options->runs = (set & LIG_OPTION_RUNS) != 0;
  for (; more && more->long_name; more++)
    g_array_append_val (entries, *more);
  append_known (entries, known, G_N_ELEMENTS (known), set);
  append_rank_entries (entries, options, set);
  return (GOptionEntry *) (gpointer) g_array_free (entries, FALSE);
}

void
lig_cli_clear_options (LigSequenceOptions *options)
{
  g_free (options->input);
  g_free (options->device);
  g_free (options->dtype);
  g_free (options->policy);
  g_free (options->recompute);
  g_free (options->recipe);
  g_free (options->store);
  g_free (options->parallel);
  g_free (options->optimizer);
  g_free (options->bucket_size);
  g_strfreev (options->forbid);
  g_strfreev (options->force);
  g_strfreev (options->fence);
}

static gboolean
reject (GError **error, const char *option, const char *value, const char *expected)
{
  g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, "--%s is '%s', expected %s", option,
               value, expected);
  return FALSE;
}

static gboolean
reject_fusion (GError **error, const char *option, const char *name)
{
  g_auto (GStrv) names = lig_cli_values_list ("FUSION");
  const char *like = lig_suggest (name, (const char *const *) names);
  g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
               "--%s: fusion '%s' is unknown%s%s%s", option, name, like ? "; did you mean '" : "",
               like ? like : "", like ? "'?" : "");
  return FALSE;
}

/* Forbids or forces a fusion: at the op of the path, or without a path in the whole sequence. */
static gboolean
constrain (LigSequence *sequence, const char *text, gboolean force, GError **error)
{
  const char *sign = strchr (text, '@');
  g_autofree char *name = g_strndup (text, strcspn (text, "@"));
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
  if (force && !sign)
    return reject (error, "force", text, "FUSION@PATH");
  if (!lig_fusion_find (name))
    return reject_fusion (error, force ? "force" : "forbid", name);
  LigOp *op = sign ? lig_sequence_find (sequence, sign + 1, error) : NULL;
  if (sign && !op)
    return lig_cli_blame (error, force ? "force" : "forbid");
  const char *const *old = !op     ? lig_sequence_get_forbidden (sequence)
                           : force ? lig_op_get_forced (op)
                                   : lig_op_get_forbidden (op);
  g_strv_builder_addv (builder, (const char **) old);
  g_strv_builder_add (builder, name);
  g_auto (GStrv) list = g_strv_builder_end (builder);
  if (!op)
    lig_sequence_set_forbidden (sequence, (const char *const *) list);
  else if (force)
    lig_op_set_forced (op, (const char *const *) list);
  else
    lig_op_set_forbidden (op, (const char *const *) list);
  return TRUE;
}

static gboolean
apply_overrides (LigSequence *sequence, const LigSequenceOptions *options, GError **error)
{
  for (char **fence = options->fence; fence && *fence; fence++) {
    LigOp *op = lig_sequence_find (sequence, *fence, error);
    if (!op)
      return lig_cli_blame (error, "fence");
    lig_op_set_fence (op, TRUE);
  }
  for (char **text = options->forbid; text && *text; text++)
    if (!constrain (sequence, *text, FALSE, error))
      return FALSE;
  for (char **text = options->force; text && *text; text++)
    if (!constrain (sequence, *text, TRUE, error))
      return FALSE;
  return TRUE;
}

gboolean
lig_cli_adjust_sequence (LigSequence *sequence, const LigSequenceOptions *options, GError **error)
{
  if (options->input) {
    LigShape shape;
    LigDtype dtype = LIG_FP32;
    if (!lig_shape_parse (options->input, &shape, &dtype, error) ||
        !lig_sequence_check_input (&shape, dtype, error))
      return lig_cli_blame (error, "input");
    lig_sequence_set_input (sequence, &shape, dtype);
  }
  if (options->recipe && !lig_sequence_set_recipe (sequence, options->recipe, error))
    return lig_cli_blame (error, "recipe");
  return apply_overrides (sequence, options, error);
}

LigSequence *
lig_cli_open_sequence (const char *text, const LigSequenceOptions *options, GError **error)
{
  g_auto (GStrv) warnings = NULL;
  g_autoptr (LigSequence) sequence = lig_sequence_open (text, &warnings, error);
  if (!sequence) {
    lig_cli_suggest_op (error);
    return NULL;
  }
  for (char **warning = warnings; warning && *warning; warning++)
    lig_cli_say ("%s", *warning);
  return lig_cli_adjust_sequence (sequence, options, error) ? g_steal_pointer (&sequence) : NULL;
}

LigDevice *
lig_cli_open_device (const LigSequenceOptions *options, GError **error)
{
  LigDevice *device = options->runs ? lig_cli_open_real (options->device, error)
                                    : lig_cli_open_named (options->device, error);
  if (device)
    lig_tuning_recall (device, options->store);
  if (device && !options->device)
    lig_cli_say ("%s", lig_device_get_remark (device) ? lig_device_get_remark (device)
                                                      : lig_device_get_facts (device)->name);
  return device;
}

static gboolean
read_dtype (const char *text, LigPlanOptions *plan, GError **error)
{
  g_auto (GStrv) parts = g_strsplit (text, ":", 2);
  g_autofree char *expected =
    g_strconcat (lig_dtype_names (lig_dtypes_with (LIG_DTYPE_COMPUTES), " or "),
                 ", or a pair like bf16:fp32 or bf16:fp8", NULL);
  for (int i = 0; i < 2 && parts[i]; i++) {
    LigDtype dtype;
    gboolean known = i == 1
                       ? lig_parameters_from_name (parts[i], &plan->parameters)
                       : lig_dtype_from_name (parts[i], &dtype) && lig_dtype_is_floating (dtype);
    if (!known) {
      g_auto (GStrv) names = lig_cli_values_list ("COMPUTE");
      g_autofree char *like = lig_suggest_ending (parts[i], (const char *const *) names);
      g_autofree char *ending = g_strconcat (expected, like, NULL);
      return reject (error, "dtype", text, ending);
    }
    if (i == 0)
      plan->compute = (int) dtype;
  }
  return TRUE;
}

gboolean
lig_cli_check_dtype (const char *text, GError **error)
{
  LigPlanOptions plan = LIG_PLAN_OPTIONS_INIT;
  return read_dtype (text, &plan, error);
}

gboolean
lig_cli_plan_options (const LigSequenceOptions *options, LigPlanOptions *plan, GError **error)
{
  plan->training = !options->eval;
  plan->tf32 = options->tf32 == TRUE;
  plan->nondeterministic = options->nondeterministic == TRUE;
  plan->shard_optimizer = options->shard_optimizer == TRUE;
  gint64 bucket;
  if (!lig_cli_read_count ("bucket-size", options->bucket_size, &bucket, error) ||
      (options->dtype && !read_dtype (options->dtype, plan, error)))
    return FALSE;
  plan->bucket_bytes = bucket << 20;
  if (options->policy && !lig_policy_from_name (options->policy, &plan->policy))
    return reject (error, "policy", options->policy, "none, all or measured");
  if (options->recompute && !lig_recompute_from_name (options->recompute, &plan->recompute))
    return reject (error, "recompute", options->recompute, "none, cheap or all");
  return TRUE;
}

LigPlan *
lig_cli_compile (const char *text, const LigSequenceOptions *options, GError **error)
{
  g_autoptr (LigSequence) sequence = lig_cli_open_sequence (text, options, error);
  return sequence ? lig_cli_compile_sequence (sequence, options, error) : NULL;
}

/* Parses the parallelism of a plan. */
static gboolean
find_layout (const LigSequenceOptions *options, LigLayout *layout, GError **error)
{
  int ranks = options->ranks == LIG_CLI_UNSET_RANKS ? 1 : options->ranks;
  if (ranks < 1 || ranks > LIG_CLI_MAX_RANKS) {
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, "--ranks is %d, expected 1 to %d",
                 ranks, LIG_CLI_MAX_RANKS);
    return FALSE;
  }
  return lig_layout_parse (layout, options->parallel, ranks, error) ||
         lig_cli_blame (error, "parallel");
}

/* Makes the plan that of one rank. */
static gboolean
share (LigSequence *sequence,
       LigDevice *device,
       const LigSequenceOptions *options,
       LigPlanOptions *plan,
       GError **error)
{
  LigLayout layout;
  if (options->ranks == LIG_CLI_UNSET_RANKS && !options->parallel)
    return TRUE;
  if (!find_layout (options, &layout, error))
    return FALSE;
  if (lig_layout_size (&layout, LIG_GROUP_ALL) == 1 || !lig_sequence_has_input (sequence))
    return TRUE;
  if (!lig_plan_options_shard (plan, sequence, &layout, error))
    return lig_cli_blame (error, "ranks");
  lig_device_assume_ranks (device, 0, &layout);
  return TRUE;
}

/* Adds the update to the plan if --optimizer is given. */
static gboolean
read_optimizer (const LigSequenceOptions *options,
                LigOptimizer *optimizer,
                LigPlanOptions *plan,
                GError **error)
{
  if (!options->optimizer && plan->shard_optimizer) {
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                 "--shard-optimizer shards the state of an optimizer, and the plan has none; also "
                 "give --optimizer %s",
                 LIG_OPTIMIZER_DEFAULT);
    return FALSE;
  }
  if (options->optimizer && !plan->training) {
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                 "--optimizer plans an update, and --eval a plan without one; omit one of them");
    return FALSE;
  }
  if (!options->optimizer)
    return TRUE;
  if (!lig_optimizer_init (optimizer, options->optimizer, error))
    return lig_cli_blame (error, "optimizer");
  plan->optimizer = optimizer;
  return TRUE;
}

gboolean
lig_cli_shard_plan (const LigSequenceOptions *options,
                    LigSequence *sequence,
                    LigDevice *device,
                    LigOptimizer *optimizer,
                    LigPlanOptions *plan,
                    GError **error)
{
  return read_optimizer (options, optimizer, plan, error) &&
         share (sequence, device, options, plan, error);
}

static LigPlan *
compile (LigSequence *sequence, const LigSequenceOptions *options, GError **error)
{
  LigPlanOptions plan = LIG_PLAN_OPTIONS_INIT;
  LigOptimizer optimizer;
  if (!lig_cli_plan_options (options, &plan, error))
    return NULL;
  g_autoptr (LigDevice) device = lig_cli_open_device (options, error);
  if (!device || !lig_cli_shard_plan (options, sequence, device, &optimizer, &plan, error))
    return NULL;
  plan.input_gradient = plan.training;
  if (lig_policy_for (plan.policy, device) != LIG_POLICY_MEASURED)
    return lig_plan_compile (sequence, device, &plan, error);
  /* Without a store, times are still measured but not kept. */
  LigTuning tuning;
  g_autoptr (GError) local = NULL;
  g_autoptr (LigStore) store = lig_store_open (options->store, &local);
  if (!store)
    lig_cli_say ("measured times will not be kept: %s", local->message);
  lig_tuning_learn (device, store);
  lig_tuning_init (&tuning, store);
  plan.tuning = &tuning;
  return lig_plan_compile (sequence, device, &plan, error);
}

LigPlan *
lig_cli_compile_sequence (LigSequence *sequence, const LigSequenceOptions *options, GError **error)
{
  lig_cli_task_begin ("planning");
  LigPlan *plan = compile (sequence, options, error);
  lig_cli_task_end ();
  return plan;
}

LigStore *
lig_cli_open_times (const LigSequenceOptions *options, LigTuning *tuning)
{
  LigStore *store = lig_store_open (options->store, NULL);
  lig_tuning_init (tuning, store);
  return store;
}

int
lig_cli_fit_code (LigPlan *plan, LigDevice *device)
{
  LigPlanMemory memory;
  lig_plan_get_memory (plan, device, &memory);
  return memory.fits ? LIG_EXIT_OK : LIG_EXIT_FAILED;
}

static gboolean
ends_with_loss (LigSequence *sequence)
{
  guint count = lig_sequence_get_length (sequence);
  LigOp *last = count > 0 ? lig_sequence_get (sequence, (int) count - 1, NULL) : NULL;
  return last && lig_op_get_info (last)->flags & LIG_OP_LOSS;
}

LigPlan *
lig_cli_compile_step (LigSequence *sequence,
                      LigDevice *device,
                      const LigSequenceOptions *options,
                      const LigRunSettings *settings,
                      GError **error)
{
  LigPlanOptions plan = LIG_PLAN_OPTIONS_INIT;
  LigOptimizer optimizer;
  const LigLayout *layout = lig_device_get_layout (device);
  if (!lig_cli_plan_options (options, &plan, error) ||
      !lig_run_settings_get_optimizer (settings, &optimizer, error))
    return NULL;
  plan.batch = settings->batch;
  plan.input_gradient = plan.training && !ends_with_loss (sequence);
  plan.optimizer = plan.training ? &optimizer : NULL;
  if (layout && !lig_plan_options_shard (&plan, sequence, layout, error))
    return NULL;
  return lig_plan_compile (sequence, device, &plan, error);
}
