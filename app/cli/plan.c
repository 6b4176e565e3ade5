/* SPDX-License-Identifier: MIT */
/* lig plan: prints the steps of a plan and its memory map. */
#include "app/cli/document.h"
#include "app/cli/duration.h"
#include "app/cli/profile-text.h"
#include "app/cli/sequence-options.h"
#include "app/cli/table.h"
#include <ligature/attention.h>
#include <ligature/kernels.h>
#include <ligature/plan-memory.h>
#include <ligature/plan.h>
#include <ligature/report.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* The widths from which tables have all columns, and all but the rarely needed ones. */
enum { HALF = 80, WIDE = 110 };

static int run (int argc, char **argv);

LIG_COMMAND (plan) = {
  .name = "plan",
  .usage = "P [--input I] [--device D] [--dtype T] [--policy none|all|measured] …",
  .summary = "Prints the steps of a plan and its memory map",
  .example = "lig plan 'layer-norm ! linear(3072) ! gelu ! linear(768)' --input 2048x768",
  .run = run,
  .pages = TRUE,
};

/* --- JSON ---------------------------------------------------------------------------------- */

static void
add_ops (JsonBuilder *builder, LigPlan *plan)
{
  guint count;
  const LigPlanOp *ops = lig_plan_get_ops (plan, &count);
  lig_json_begin_array (builder, "ops");
  for (guint i = 0; i < count; i++) {
    json_builder_begin_object (builder);
    lig_json_add_integer (builder, "index", ops[i].index);
    lig_json_add_text (builder, "path", ops[i].path);
    lig_json_add_text (builder, "op", ops[i].info->name);
    lig_cli_add_tensor (builder, "output", &ops[i].y, ops[i].y_dtype);
    lig_plan_add_ports (plan, i, builder);
    json_builder_end_object (builder);
  }
  json_builder_end_array (builder);
}

static void
print_json (LigPlan *plan)
{
  gint64 peak, arena = lig_plan_get_arena_bytes (plan, &peak);
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  json_builder_begin_object (builder);
  lig_json_add_text (builder, "device", lig_device_get_name (lig_plan_get_device (plan)));
  lig_json_add_text (builder, "policy", lig_policy_name (lig_plan_get_policy (plan)));
  lig_json_add_text (builder, "recipe", lig_plan_get_recipe (plan));
  lig_json_add_text (builder, "recompute", lig_recompute_name (lig_plan_get_recompute (plan)));
  lig_json_add_truth (builder, "tf32", lig_plan_get_tf32 (plan));
  lig_json_add_truth (builder, "nondeterministic", lig_plan_get_nondeterministic (plan));
  add_ops (builder, plan);
  lig_plan_add_steps (plan, builder);
  lig_plan_add_values (plan, builder);
  lig_json_add_integer (builder, "arena_bytes", arena);
  lig_json_add_integer (builder, "live_peak", peak);
  lig_json_add_integer (builder, "spared_bytes", lig_plan_get_spared_bytes (plan));
  lig_json_add_integer (builder, "state_bytes", lig_plan_get_state_bytes (plan));
  lig_json_add_integer (builder, "segments", lig_plan_get_segments (plan));
  lig_plan_add_ranks (plan, builder);
  lig_plan_add_memory (plan, NULL, builder);
  json_builder_end_object (builder);
  lig_cli_print_document ("plan", json_builder_get_root (builder));
}

/* --- Text ---------------------------------------------------------------------------------- */

/* Narrow tables have one column for both the reads and the writes of a step. */
static void
print_steps (LigPlan *plan, int width)
{
  static const char *const wide[] = {">step",  "pass",       "<kernel",   ">read", ">written",
                                     ">flops", ">predicted", "~operands", NULL};
  static const char *const narrow[] = {">step",      "pass",      "<kernel", ">bytes",
                                       ">predicted", "~operands", NULL};
  guint count;
  gboolean all = width >= WIDE;
  const LigPlanStep *steps = lig_plan_get_steps (plan, &count);
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func ((GDestroyNotify) g_strfreev);
  for (guint i = 0; i < count; i++) {
    char **cells = g_new0 (char *, G_N_ELEMENTS (wide)), **cell = cells;
    *cell++ = g_strdup_printf ("%u", i);
    *cell++ = g_strdup (lig_pass_name (steps[i].pass));
    *cell++ = g_strdup (steps[i].kernel ? steps[i].kernel->name : "opaque");
    *cell++ = lig_units_bytes (steps[i].read + (all ? 0 : steps[i].written));
    if (all) {
      *cell++ = lig_units_bytes (steps[i].written);
      *cell++ = lig_units_count (steps[i].flops);
    }
    *cell++ = steps[i].predicted > 0 ? lig_cli_format_time (steps[i].predicted) : g_strdup ("-");
    g_autofree char *operands = lig_plan_name_operands (plan, &steps[i]);
    *cell++ = lig_plan_name_values (plan, operands);
    g_ptr_array_add (rows, cells);
  }
  lig_cli_print_fitted (all ? wide : narrow, rows, width);
  guint once = 0;
  while (once < count && steps[once].once)
    once++;
  if (once == 1)
    printf ("step 0 runs once per update, because it only depends on parameters\n");
  else if (once > 1)
    printf ("steps 0 to %u run once per update, because they only depend on parameters\n",
            once - 1);
}

static int
compare_offsets (gconstpointer a, gconstpointer b)
{
  const LigPlanValue *const *left = a, *const *right = b;
  if ((*left)->offset != (*right)->offset)
    return (*left)->offset < (*right)->offset ? -1 : 1;
  return (*left)->first - (*right)->first;
}

static GPtrArray *
list_arena (LigPlan *plan)
{
  guint count;
  const LigPlanValue *values = lig_plan_get_values (plan, &count);
  GPtrArray *list = g_ptr_array_new ();
  for (guint i = 0; i < count; i++)
    if (values[i].place == LIG_PLACE_ARENA)
      g_ptr_array_add (list, (gpointer) &values[i]);
  g_ptr_array_sort (list, compare_offsets);
  return list;
}

/* Returns whether the value is alive in one of the steps from `first` to `end` - 1. */
static gboolean
lives (const LigPlanValue *value, int first, int end)
{
  return value->first < end && value->last >= first;
}

/* The memory of a value: its aliases have the same offset and lifetime. */
static guint
hash_place (gconstpointer data)
{
  const LigPlanValue *value = data;
  return g_int64_hash (&value->offset) * 31 + (guint) value->first * 7 + (guint) value->last;
}

static gboolean
has_same_place (gconstpointer a, gconstpointer b)
{
  const LigPlanValue *left = a, *right = b;
  return left->offset == right->offset && left->first == right->first && left->last == right->last;
}

/* Lists the values whose memory backward reads through an alias (transfer full). */
static GHashTable *
list_saved (LigPlan *plan)
{
  guint count;
  const LigPlanValue *values = lig_plan_get_values (plan, &count);
  GHashTable *saved = g_hash_table_new (hash_place, has_same_place);
  for (guint i = 0; i < count; i++)
    if (values[i].saved && values[i].place == LIG_PLACE_ALIAS)
      g_hash_table_add (saved, (gpointer) &values[i]);
  return saved;
}

/* With more steps than columns, several share one. */
static char *
draw_value (const LigPlanValue *value, gboolean saved, int n_steps, int columns)
{
  GString *text = g_string_new (NULL);
  for (int i = 0; i < columns; i++) {
    gboolean here = lives (value, i * n_steps / columns, (i + 1) * n_steps / columns);
    g_string_append (text, !here ? "·" : saved ? "█" : "▒");
  }
  return g_string_free (text, FALSE);
}

/* Returns the bytes of the values that are alive in each step (transfer full). */
static gint64 *
count_alive (GPtrArray *values, int n_steps)
{
  gint64 *bytes = g_new0 (gint64, (gsize) n_steps + 1);
  for (guint i = 0; i < values->len; i++) {
    const LigPlanValue *value = values->pdata[i];
    int first = MAX (value->first, 0), end = MIN (value->last, n_steps - 1) + 1;
    if (first >= end)
      continue;
    bytes[first] += value->bytes;
    bytes[end] -= value->bytes;
  }
  for (int i = 1; i < n_steps; i++)
    bytes[i] += bytes[i - 1];
  return bytes;
}

/* Draws how full the arena is at each step, in eighths. */
static char *
draw_fill (GPtrArray *values, gint64 arena, int n_steps, int columns)
{
  static const char *const levels[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  g_autofree gint64 *bytes = count_alive (values, n_steps);
  GString *text = g_string_new (NULL);
  for (int i = 0; i < columns; i++) {
    gint64 max = 0;
    for (int step = i * n_steps / columns; step < (i + 1) * n_steps / columns; step++)
      max = MAX (max, bytes[step]);
    g_string_append (text, levels[CLAMP ((8 * max + arena / 2) / MAX (arena, 1), 0, 8)]);
  }
  return g_string_free (text, FALSE);
}

static char *
draw_passes (LigPlan *plan, int columns)
{
  static const char letters[] = {'f', 'b', 'u'};
  guint count;
  const LigPlanStep *steps = lig_plan_get_steps (plan, &count);
  GString *text = g_string_new (NULL);
  for (int i = 0; i < columns; i++)
    g_string_append_c (text, letters[steps[i * (int) count / columns].pass]);
  return g_string_free (text, FALSE);
}

/* Narrow tables omit offsets, and the narrowest ones tensors. */
static void
add_row (GPtrArray *rows, int n_cells, char *name, const LigPlanValue *value, char *picture)
{
  char **cells = g_new0 (char *, 6), **cell = cells;
  *cell++ = name;
  if (n_cells > 3)
    *cell++ = value ? lig_cli_format_tensor (&value->shape, value->dtype) : g_strdup ("");
  *cell++ = value ? lig_units_bytes ((double) value->bytes) : g_strdup ("");
  if (n_cells > 4)
    *cell++ = value ? g_strdup_printf ("%" G_GINT64_FORMAT, value->offset) : g_strdup ("");
  *cell++ = picture;
  g_ptr_array_add (rows, cells);
}

/* Prints the arena: the rows are its values by offset, the columns the steps. */
static void
print_picture (LigPlan *plan, int width)
{
  static const char *const headers[][6] = {
    {"<value", ">bytes", "lifetime", NULL},
    {"<value", "tensor", ">bytes", "lifetime", NULL},
    {"<value", "tensor", ">bytes", ">offset", "lifetime", NULL},
  };
  guint count;
  gint64 arena = lig_plan_get_arena_bytes (plan, NULL);
  g_autoptr (GPtrArray) values = list_arena (plan);
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func ((GDestroyNotify) g_strfreev);
  lig_plan_get_steps (plan, &count);
  if (count == 0 || values->len == 0)
    return;
  int n_cells = width >= WIDE ? 5 : width >= HALF ? 4 : 3;
  int n_steps = (int) count, columns = MIN (n_steps, width / (n_cells > 3 ? 3 : 2));
  g_autoptr (GHashTable) saved = list_saved (plan);
  add_row (rows, n_cells, g_strdup (""), NULL, draw_passes (plan, columns));
  for (guint i = 0; i < values->len; i++) {
    const LigPlanValue *value = values->pdata[i];
    add_row (
      rows, n_cells, lig_plan_name_values (plan, value->name), value,
      draw_value (value, value->saved || g_hash_table_contains (saved, value), n_steps, columns));
  }
  add_row (rows, n_cells, g_strdup ("total"), NULL, draw_fill (values, arena, n_steps, columns));
  printf ("\n");
  lig_cli_print_fitted (headers[n_cells - 3], rows, width);
  lig_cli_print_wrapped ("f, b, u: a step of the forward pass, the backward pass, the update; "
                         "█ saved for the backward pass, ▒ other; operand -: absent",
                         width);
}

/* Prints which kernel computes attention: once per op (repetitions of a block count as one) and
 * message. */
static void
print_attention (LigPlan *plan, int width)
{
  guint n_steps, n_ops;
  const LigPlanStep *steps = lig_plan_get_steps (plan, &n_steps);
  const LigPlanOp *ops = lig_plan_get_ops (plan, &n_ops);
  g_autoptr (GHashTable) known = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  for (guint i = 0; i < n_steps; i++) {
    g_autoptr (LigAttentionTimes) times = lig_plan_get_attention (plan, i);
    if (!times || steps[i].part < 0)
      continue;
    g_autofree char *sentence = lig_attention_times_describe (times);
    char *key = g_strdup_printf ("%s %s", times->words, sentence);
    g_autofree char *text =
      g_strdup_printf ("%s at %s, %s: %s", ops[steps[i].part].info->name, ops[steps[i].part].path,
                       lig_pass_name (steps[i].pass), sentence);
    if (g_hash_table_add (known, key))
      lig_cli_print_wrapped (text, width);
  }
}

/* Prints notes on recipes, recomputed values, ranks and batches. */
static void
print_sentences (LigPlan *plan, int width)
{
  char *(*const explain[]) (LigPlan *) = {lig_plan_explain_recipe, lig_plan_explain_recompute,
                                          lig_plan_explain_ranks, lig_plan_explain_upload};
  for (guint i = 0; i < G_N_ELEMENTS (explain); i++) {
    g_autofree char *sentence = explain[i](plan);
    if (sentence)
      lig_cli_print_wrapped (sentence, width);
  }
}

static void
print_plan (LigPlan *plan)
{
  int width = lig_cli_text_width ();
  gint64 peak, arena = lig_plan_get_arena_bytes (plan, &peak);
  g_autofree char *arena_text = lig_units_bytes ((double) arena);
  g_autofree char *peak_text = lig_units_bytes ((double) peak);
  g_autofree char *state = lig_units_bytes ((double) lig_plan_get_state_bytes (plan));
  guint segments = lig_plan_get_segments (plan);
  gboolean captured = lig_device_get_facts (lig_plan_get_device (plan))->capability > 0;
  const char *recipe = lig_plan_get_recipe (plan);
  gboolean quantizes = strcmp (recipe, "none") != 0;
  g_autofree char *title = g_strdup_printf (
    "plan for %s, compute %s, parameters %s%s%s%s%s, policy %s",
    lig_device_get_name (lig_plan_get_device (plan)), lig_dtype_name (lig_plan_get_compute (plan)),
    lig_plan_get_parameters_name (plan), quantizes ? ", recipe " : "", quantizes ? recipe : "",
    lig_plan_get_tf32 (plan) ? ", TF32 matmuls" : "",
    lig_plan_get_nondeterministic (plan) ? ", nondeterministic" : "",
    lig_policy_name (lig_plan_get_policy (plan)));
  lig_cli_print_wrapped (title, width);
  printf ("\n");
  print_steps (plan, width);
  print_picture (plan, width);
  g_autofree char *sums =
    g_strdup_printf ("arena %s, peak live %s; state %s; %u %ssegment%s", arena_text, peak_text,
                     state, segments, captured ? "CUDA graph " : "", LIG_ENDING (segments));
  printf ("\n");
  lig_cli_print_wrapped (sums, width);
  print_sentences (plan, width);
  print_attention (plan, width);
  g_autofree char *problem = lig_plan_explain_memory (plan, NULL);
  if (!problem)
    return;
  printf ("\n");
  lig_cli_print_wrapped (problem, width);
}

static int
run (int argc, char **argv)
{
  gboolean plain = FALSE, dot = FALSE;
  g_auto (LigSequenceOptions) options = {0};
  const GOptionEntry more[] = {
    {"text", 0, 0, G_OPTION_ARG_NONE, &plain, "Print plain lines, for comparing plans with diff",
     NULL},
    {"dot", 0, 0, G_OPTION_ARG_NONE, &dot,
     "Print the graph of the steps and values in Graphviz' language", NULL},
    {NULL},
  };
  g_autofree GOptionEntry *entries = lig_cli_sequence_entries (
    &options, LIG_OPTION_PLAN | LIG_OPTION_RANKS | LIG_OPTION_SHARD, more);
  g_autoptr (GError) error = NULL;
  if (!lig_cli_parse (&lig_command_plan, entries, &argc, &argv, 1, 1))
    return LIG_EXIT_USAGE;
  if (dot && (plain || lig_cli_json ()))
    return lig_cli_usage ("--dot and --%s are given; use one of them", plain ? "text" : "json");
  g_autoptr (LigPlan) plan = lig_cli_compile (argv[1], &options, &error);
  if (!plan)
    return lig_cli_fail (g_steal_pointer (&error));
  if (lig_cli_json ()) {
    print_json (plan);
  } else if (plain || dot) {
    g_autofree char *text = dot ? lig_plan_to_dot (plan) : lig_plan_to_text (plan);
    fputs (text, stdout);
  } else {
    print_plan (plan);
  }
  return lig_cli_fit_code (plan, NULL);
}
