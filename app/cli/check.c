/* SPDX-License-Identifier: MIT */
/* lig check: each op's shape, parameters and saved bytes; and whether the plan fits in a device's
 * memory. */
#include "app/cli/blame.h"
#include "app/cli/document.h"
#include "app/cli/problems.h"
#include "app/cli/sequence-options.h"
#include "app/cli/shared-options.h"
#include "app/cli/table.h"
#include <ligature/compile.h>
#include <ligature/optimizer.h>
#include <ligature/plan-memory.h>
#include <ligature/plan-options.h>
#include <ligature/plan.h>
#include <ligature/report.h>

#include <stdio.h>
#include <string.h>

static int run (int argc, char **argv);

LIG_COMMAND (check) = {
  .name = "check",
  .usage = "P [--input I] [--device D] [--dtype T] [--batch N] [--ranks N]",
  .summary = "Checks a sequence; prints shapes, parameters, saved bytes, problems",
  .example = "lig check 'layer-norm ! linear(3072) ! gelu ! linear(768)' --input 2048x768",
  .run = run,
  .pages = TRUE,
};

/* A plan with its parameters by name, because each op looks up several. */
typedef struct {
  LigPlan *plan;
  GHashTable *parameters; /* names, each with its LigPlanValue */
} Checked;

static Checked
list_parameters (LigPlan *plan)
{
  guint count;
  const LigPlanValue *values = lig_plan_get_values (plan, &count);
  Checked self = {plan, g_hash_table_new (g_str_hash, g_str_equal)};
  for (guint i = 0; i < count; i++)
    if (values[i].place == LIG_PLACE_STATE &&
        !g_hash_table_contains (self.parameters, values[i].name))
      g_hash_table_insert (self.parameters, (gpointer) values[i].name, (gpointer) &values[i]);
  return self;
}

static void
clear_checked (Checked *self)
{
  g_hash_table_unref (self->parameters);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Checked, clear_checked)

/* Finds the op's trained parameter with this index by its name in the plan: the op's prefix, a dot,
 * the parameter's own name. Null if the op has none, or shares another op's. */
static const LigPlanValue *
find_parameter (const Checked *checked, const LigPlanOp *op, int index)
{
  for (int i = 0; i <= index; i++)
    if (!op->info->parameters || !op->info->parameters[i].name)
      return NULL;
  g_autofree char *name = g_strconcat (op->prefix, ".", op->info->parameters[index].name, NULL);
  return g_hash_table_lookup (checked->parameters, name);
}

typedef struct {
  gint64 parameters, parameter_bytes, saved_bytes, frozen, frozen_bytes, own_updated;
} Totals;

/* Returns the bytes of the op's own parameters. Weights that are kept in fp32 and in fp8 count as
 * fp32, the type that is listed. */
static gint64
sum_parameters (const Checked *checked, const LigPlanOp *op)
{
  gint64 bytes = 0;
  const LigPlanValue *parameter;
  for (int i = 0; i < LIG_MAX_PARAMETERS; i++)
    if ((parameter = find_parameter (checked, op, i)))
      bytes += lig_shape_size (&parameter->shape) * (gint64) lig_dtype_size (parameter->dtype);
  return bytes;
}

static Totals
sum_up (const Checked *checked)
{
  guint count;
  Totals totals = {0};
  const LigPlanOp *ops = lig_plan_get_ops (checked->plan, &count);
  for (guint i = 0; i < count; i++) {
    totals.parameters += ops[i].parameters;
    totals.frozen += ops[i].frozen;
    totals.own_updated += ops[i].own_updated;
    totals.saved_bytes += ops[i].saved_bytes;
    totals.parameter_bytes += sum_parameters (checked, &ops[i]);
  }
  totals.frozen_bytes =
    totals.frozen * (gint64) lig_dtype_size (lig_plan_get_parameters (checked->plan));
  return totals;
}

/* Adds the parameters that the op shares with other ops. */
static void
add_ties (JsonBuilder *builder, const LigPlanOp *op)
{
  lig_json_begin_array (builder, "tied");
  for (int i = 0; i < LIG_MAX_PARAMETERS; i++) {
    if (!op->tied[i])
      continue;
    g_autofree char *name = g_strconcat (op->prefix, ".", op->info->parameters[i].name, NULL);
    json_builder_begin_object (builder);
    lig_json_add_text (builder, "name", name);
    lig_json_add_text (builder, "path", op->tied[i]);
    json_builder_end_object (builder);
  }
  json_builder_end_array (builder);
}

static void
add_op (JsonBuilder *builder, const Checked *checked, const LigPlanOp *op)
{
  const LigPlanValue *parameter;
  json_builder_begin_object (builder);
  lig_json_add_integer (builder, "index", op->index);
  lig_json_add_text (builder, "path", op->path);
  lig_json_add_text (builder, "op", op->info->name);
  lig_cli_add_tensor (builder, "output", &op->y, op->y_dtype);
  lig_json_begin_array (builder, "parameters");
  for (int i = 0; i < LIG_MAX_PARAMETERS; i++) {
    if (!(parameter = find_parameter (checked, op, i)))
      continue;
    json_builder_begin_object (builder);
    lig_json_add_text (builder, "path", parameter->name);
    lig_cli_add_shape (builder, "shape", &parameter->shape);
    lig_json_add_text (builder, "dtype", lig_dtype_name (parameter->dtype));
    json_builder_end_object (builder);
  }
  json_builder_end_array (builder);
  add_ties (builder, op);
  lig_json_add_integer (builder, "saved_bytes", op->saved_bytes);
  json_builder_end_object (builder);
}

typedef void (*GetExtra) (LigPlan *plan, guint n, LigShape *shape, LigDtype *dtype);

static void
add_extras (JsonBuilder *builder, LigPlan *plan, const char *name, guint count, GetExtra get)
{
  LigShape shape;
  LigDtype dtype;
  lig_json_begin_array (builder, name);
  for (guint i = 0; i < count; i++) {
    get (plan, i, &shape, &dtype);
    lig_cli_add_tensor (builder, NULL, &shape, dtype);
  }
  json_builder_end_array (builder);
}

/* Returns the device whose memory is compared (transfer full); null: the plan's own. Without
 * --device it is the CPU, because most plans fit; a GPU is opened only for a plan that does not. */
static LigDevice *
find_compared (LigPlan *plan, const LigSequenceOptions *options)
{
  LigPlanMemory memory;
  if (options->device)
    return NULL;
  g_autoptr (LigDevice) cpu = lig_device_open ("cpu", NULL);
  lig_plan_get_memory (plan, cpu, &memory);
  LigDevice *first = memory.fits ? NULL : lig_device_open (NULL, NULL);
  return first ? first : g_steal_pointer (&cpu);
}

/* @chosen: the plan with the memory figures and those of ranks
 * @compared: (nullable): the device whose memory is compared */
static void
print_json (const Checked *checked, LigPlan *chosen, LigDevice *compared)
{
  guint count;
  LigShape shape;
  LigDtype dtype;
  LigPlan *plan = checked->plan;
  Totals totals = sum_up (checked);
  const LigPlanOp *ops = lig_plan_get_ops (plan, &count);
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  json_builder_begin_object (builder);
  lig_plan_get_input (plan, &shape, &dtype);
  lig_cli_add_tensor (builder, "input", &shape, dtype);
  lig_json_begin_array (builder, "ops");
  for (guint i = 0; i < count; i++)
    add_op (builder, checked, &ops[i]);
  json_builder_end_array (builder);
  lig_json_add_integer (builder, "parameters", totals.parameters);
  lig_json_add_integer (builder, "parameter_bytes", totals.parameter_bytes);
  lig_json_add_integer (builder, "saved_bytes", totals.saved_bytes);
  add_extras (builder, plan, "extra_inputs", lig_plan_get_n_extra_inputs (plan),
              lig_plan_get_extra_input);
  add_extras (builder, plan, "extra_outputs", lig_plan_get_n_extra_outputs (plan),
              lig_plan_get_extra_output);
  lig_plan_add_ranks (chosen, builder);
  lig_plan_add_memory (chosen, compared, builder);
  json_builder_end_object (builder);
  lig_cli_print_document ("check", json_builder_get_root (builder));
}

static char **
describe_op (const Checked *checked, const LigPlanOp *op)
{
  const LigPlanValue *parameter;
  g_autoptr (GString) parameters = g_string_new (NULL);
  char **cells = g_new0 (char *, 7);
  for (int i = 0; i < LIG_MAX_PARAMETERS; i++) {
    const char *gap = parameters->len > 0 ? ", " : "";
    if (op->tied[i])
      g_string_append_printf (parameters, "%s%s.%s is %s", gap, op->prefix,
                              op->info->parameters[i].name, op->tied[i]);
    if (!(parameter = find_parameter (checked, op, i)))
      continue;
    g_autofree char *tensor = lig_cli_format_tensor (&parameter->shape, parameter->dtype);
    g_string_append_printf (parameters, "%s%s %s", gap, parameter->name, tensor);
  }
  cells[0] = g_strdup (op->path);
  cells[1] = g_strdup (op->info->name);
  cells[2] = lig_cli_format_tensor (&op->y, op->y_dtype);
  cells[3] =
    op->parameters > 0 ? g_strdup_printf ("%" G_GINT64_FORMAT, op->parameters) : g_strdup ("");
  cells[4] = op->saved_bytes > 0 ? lig_units_bytes ((double) op->saved_bytes) : g_strdup ("");
  cells[5] = g_strdup (parameters->str);
  return cells;
}

static void
print_extras (LigPlan *plan, const char *what, guint count, GetExtra get)
{
  LigShape shape;
  LigDtype dtype;
  for (guint i = 0; i < count; i++) {
    get (plan, i, &shape, &dtype);
    g_autofree char *tensor = lig_cli_format_tensor (&shape, dtype);
    g_autofree char *line = g_strdup_printf ("%s extra.%u: %s", what, i, tensor);
    lig_cli_print_wrapped (line, lig_cli_text_width ());
  }
}

/* Returns the text about elements that the optimizer does not change. */
static char *
describe_untrained (gint64 elements, const char *which, gint64 size)
{
  g_autofree char *bytes = lig_units_bytes ((double) size);
  return elements == 0
           ? g_strdup ("")
           : g_strdup_printf (" and %" G_GINT64_FORMAT " %s, %s", elements, which, bytes);
}

static void
print_totals (const Checked *checked, int width)
{
  Totals totals = sum_up (checked);
  gint64 trained = totals.parameters - totals.frozen - totals.own_updated;
  /* They are fp32. */
  gint64 own_bytes = totals.own_updated * (gint64) sizeof (float);
  g_autofree char *bytes =
    lig_units_bytes ((double) (totals.parameter_bytes - totals.frozen_bytes - own_bytes));
  g_autofree char *frozen = describe_untrained (
    totals.frozen, totals.frozen == 1 ? "frozen one" : "frozen ones", totals.frozen_bytes);
  g_autofree char *own =
    describe_untrained (totals.own_updated, "that ops change themselves", own_bytes);
  g_autofree char *saved = lig_units_bytes ((double) totals.saved_bytes);
  g_autofree char *line = g_strdup_printf (
    "%" G_GINT64_FORMAT " trained element%s, %s%s%s; %s saved for the backward pass", trained,
    LIG_ENDING (trained), bytes, frozen, own, saved);
  lig_cli_print_wrapped (line, width);
}

static void
print_table (const Checked *checked, LigPlan *chosen, LigDevice *compared)
{
  static const char *const header[] = {"path",   "<op",         "output", ">elements",
                                       ">saved", "~parameters", NULL};
  guint count;
  LigShape shape;
  LigDtype dtype;
  LigPlan *plan = checked->plan;
  int width = lig_cli_text_width ();
  const LigPlanOp *ops = lig_plan_get_ops (plan, &count);
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func ((GDestroyNotify) g_strfreev);
  for (guint i = 0; i < count; i++)
    g_ptr_array_add (rows, describe_op (checked, &ops[i]));
  lig_plan_get_input (plan, &shape, &dtype);
  g_autofree char *input = lig_cli_format_tensor (&shape, dtype);
  printf ("input %s\n\n", input);
  lig_cli_print_fitted (header, rows, width);
  printf ("\n");
  print_totals (checked, width);
  print_extras (plan, "input", lig_plan_get_n_extra_inputs (plan), lig_plan_get_extra_input);
  print_extras (plan, "output", lig_plan_get_n_extra_outputs (plan), lig_plan_get_extra_output);
  g_autofree char *ranks = lig_plan_explain_ranks (chosen);
  if (ranks)
    lig_cli_print_wrapped (ranks, width);
  g_autofree char *problem = lig_plan_explain_memory (chosen, compared);
  if (!problem)
    return;
  printf ("\n");
  lig_cli_print_wrapped (problem, width);
}

/* Sets the batch size of all ranks together. */
static void
set_batch (LigSequence *sequence, gint64 batch)
{
  LigShape shape;
  LigDtype dtype;
  if (batch == 0 || !lig_sequence_has_input (sequence))
    return;
  lig_sequence_get_input (sequence, &shape, &dtype);
  if (shape.n_axes == 0)
    return;
  shape.axes[0] = batch;
  lig_sequence_set_input (sequence, &shape, dtype);
}

/* Compiles the plan of `lig plan` and `lig train`, because its fusions decide how much memory it
 * needs; the table shows the unfused ops. Nothing is measured, so policy `measured` counts as
 * `all`. */
static LigPlan *
compile_chosen (LigPlan *plan, LigSequence *sequence, LigDevice *device, LigPlanOptions options)
{
  options.policy =
    lig_device_has (device, LIG_DEVICE_MEASURES) ? LIG_POLICY_ALL : LIG_POLICY_DEFAULT;
  LigPlan *chosen = lig_plan_compile (sequence, device, &options, NULL);
  return chosen ? chosen : lig_plan_ref (plan);
}

/* @chosen: (out): the plan with the memory figures and those of ranks
 * @problems: (out): all problems of a sequence that cannot be compiled */
static LigPlan *
compile (const char *text,
         LigSequenceOptions *options,
         LigPlan **chosen,
         GPtrArray **problems,
         GError **error)
{
  LigPlanOptions plan = LIG_PLAN_OPTIONS_INIT;
  LigOptimizer optimizer;
  g_autoptr (LigSequence) sequence = lig_cli_open_sequence (text, options, error);
  g_autoptr (LigDevice) device =
    sequence ? lig_cli_open_named (options->device ? options->device : "null", error) : NULL;
  if (!device || !lig_cli_plan_options (options, &plan, error))
    return NULL;
  plan.policy = LIG_POLICY_NONE;
  plan.input_gradient = TRUE;
  set_batch (sequence, options->batch);
  if (!lig_cli_shard_plan (options, sequence, device, &optimizer, &plan, error))
    return NULL;
  LigPlan *compiled = lig_plan_compile (sequence, device, &plan, error);
  if (!compiled)
    *problems = lig_plan_check (sequence, device, &plan);
  else
    *chosen = compile_chosen (compiled, sequence, device, plan);
  return compiled;
}

static const char *
describe_device (void)
{
  g_autofree char *text = g_strconcat (lig_device_forms (0), " [default: null]", NULL);
  return g_intern_string (text);
}

static int
run (int argc, char **argv)
{
  g_auto (LigSequenceOptions) options = {0};
  g_autofree char *batch = NULL;
  const GOptionEntry more[] = {lig_cli_setting_entry ("batch", &batch), {NULL}};
  g_autofree GOptionEntry *entries =
    lig_cli_sequence_entries (&options,
                              LIG_OPTION_INPUT | LIG_OPTION_DEVICE | LIG_OPTION_DTYPE |
                                LIG_OPTION_TF32 | LIG_OPTION_RANKS | LIG_OPTION_SHARD,
                              more);
  /* Checking needs no device, so none is opened. */
  for (GOptionEntry *entry = entries; entry->long_name; entry++)
    if (strcmp (entry->long_name, "device") == 0)
      entry->description = describe_device ();
  g_autoptr (GError) error = NULL;
  if (!lig_cli_parse (&lig_command_check, entries, &argc, &argv, 1, 1))
    return LIG_EXIT_USAGE;
  if (!lig_cli_read_count ("batch", batch, &options.batch, &error))
    return lig_cli_fail (g_steal_pointer (&error));
  g_autoptr (GPtrArray) problems = NULL;
  g_autoptr (LigPlan) chosen = NULL;
  g_autoptr (LigPlan) plan = compile (argv[1], &options, &chosen, &problems, &error);
  if (!plan && problems && problems->len > 0)
    return lig_cli_fail_with (problems);
  if (!plan)
    return lig_cli_fail (g_steal_pointer (&error));
  g_autoptr (LigDevice) compared = find_compared (chosen, &options);
  g_auto (Checked) checked = list_parameters (plan);
  if (lig_cli_json ())
    print_json (&checked, chosen, compared);
  else
    print_table (&checked, chosen, compared);
  return lig_cli_fit_code (chosen, compared);
}
