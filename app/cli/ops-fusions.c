/* SPDX-License-Identifier: MIT */
/* The fusions of an op, and the description of a fusion. Its kernels come from plans of an example
 * that is derived from the pattern: with the fusion forced, and unfused. */
#include "app/cli/ops-fusions.h"

#include "app/cli/modes.h"
#include "app/cli/ops-examples.h"
#include "app/cli/ops-print.h"
#include "app/cli/print.h"
#include "app/cli/table.h"
#include <ligature/columns.h>
#include <ligature/compile.h>
#include <ligature/json-members.h>
#include <ligature/kernels.h>
#include <ligature/plan-options.h>

#include <stdio.h>
#include <string.h>

/* Returns the input of an example: rows that its first op accepts. */
static const char *
input_of (const LigFusion *fusion)
{
  return lig_fusion_has (fusion, 0, LIG_OP_INTEGER_INPUT) ? "2x8:int32" : "16x32";
}

/* Returns whether the fusion also needs ranks that shard a matmul's rows. */
static gboolean
shards_rows (const LigFusion *fusion)
{
  return lig_fusion_has_trait (fusion, LIG_OP_MOVES_ROWS);
}

/* Returns whether the fusion needs ranks that shard a matmul. */
static gboolean
collectives (const LigFusion *fusion)
{
  return lig_fusion_has_trait (fusion, LIG_OP_COLLECTIVE);
}

/* Returns the path at which the fusion begins in its example: the first sharded matmul, before
 * which the ranks communicate, or the second one. */
static const char *
path_of (const LigFusion *fusion)
{
  gboolean before = lig_fusion_has (fusion, 0, LIG_OP_COLLECTIVE);
  if (shards_rows (fusion))
    return before ? "1" : "3";
  return collectives (fusion) && !before ? "2" : "0";
}

/* Returns whether a matmul of the fusion writes the copy of its result, which it only does in
 * evaluation. */
static gboolean
evaluates (const LigFusion *fusion)
{
  return lig_fusion_has (fusion, 0, LIG_OP_MATMUL) && lig_fusion_has (fusion, -1, LIG_OP_QUANTIZES);
}

/* Returns the recipe of an example: one that applies if the fusion quantizes. */
static const char *
recipe_of (const LigFusion *fusion)
{
  if (evaluates (fusion))
    return "fp8-delayed";
  return lig_fusion_has_trait (fusion, LIG_OP_QUANTIZES) ? "fp8-current" : NULL;
}

static const LigPass passes[] = {LIG_PASS_FORWARD, LIG_PASS_BACKWARD, LIG_PASS_JOINT};

/* --- Ops ----------------------------------------------------------------------------------- */

static gboolean
is_in (const LigFusion *fusion, LigPlan *parts)
{
  guint count;
  const LigPlanOp *ops = lig_plan_get_ops (parts, &count);
  for (guint i = 0; i < count; i++)
    if (lig_fusion_takes (fusion, ops[i].info))
      return TRUE;
  return FALSE;
}

/* Returns the fusions that contain the op, or a part of it if it is a macro, in the order in which
 * they are tried. */
static GPtrArray *
find_fusions (const LigOpInfo *info)
{
  const LigFusion *fusion;
  GPtrArray *found = g_ptr_array_new ();
  /* The parts of a block may be any ops. */
  g_autoptr (LigPlan) parts = info->flags & LIG_OP_BLOCK ? NULL : lig_ops_plan_example (info);
  for (guint i = 0; (fusion = lig_fusion_nth (i)); i++)
    if (lig_fusion_takes (fusion, info) || (parts && is_in (fusion, parts)))
      g_ptr_array_add (found, (gpointer) fusion);
  return found;
}

void
lig_ops_print_fusions (const LigOpInfo *info)
{
  g_autoptr (GPtrArray) fusions = find_fusions (info);
  for (guint i = 0; i < G_N_ELEMENTS (passes); i++) {
    gboolean begun = FALSE;
    for (guint k = 0; k < fusions->len; k++) {
      const LigFusion *fusion = fusions->pdata[k];
      if (fusion->pass != passes[i])
        continue;
      if (!begun)
        printf ("\nFusions, %s:\n", lig_pass_name (passes[i]));
      begun = TRUE;
      g_autofree char *sentence = g_strdup_printf ("%s: %s", fusion->pattern, fusion->summary);
      lig_ops_print_entry (fusion->name, LIG_OPS_COLUMN, sentence);
    }
  }
}

static void
add_facts (JsonBuilder *to, const LigFusion *fusion)
{
  lig_json_add_text (to, "fusion", fusion->name);
  lig_json_add_text (to, "pass", lig_pass_name (fusion->pass));
  lig_json_add_text (to, "summary", fusion->summary);
  lig_json_add_text (to, "pattern", fusion->pattern);
}

void
lig_ops_add_fusion (JsonBuilder *to, const LigFusion *fusion)
{
  json_builder_begin_object (to);
  add_facts (to, fusion);
  json_builder_end_object (to);
}

void
lig_ops_add_fusions (JsonBuilder *to, const LigOpInfo *info)
{
  g_autoptr (GPtrArray) fusions = find_fusions (info);
  lig_json_begin_array (to, "fusions");
  for (guint i = 0; i < fusions->len; i++)
    lig_ops_add_fusion (to, fusions->pdata[i]);
  json_builder_end_array (to);
}

/* --- The example of a fusion --------------------------------------------------------------- */

/* Returns the first op that matches a class such as `@activation`, which the fusion accepts without
 * naming it. */
static const char *
find_member (const LigFusion *fusion)
{
  const LigOpInfo *info;
  g_auto (GStrv) words = g_strsplit_set (fusion->pattern, " []|", -1);
  for (guint i = 0; (info = lig_op_info_nth (i)); i++)
    if (lig_fusion_takes (fusion, info) &&
        !g_strv_contains ((const char *const *) words, info->name))
      return info->name;
  return NULL;
}

/* Returns the expression of a sequence that matches the whole pattern, with the first alternative
 * of each element; NULL if one of its ops has no example. */
static char *
make_example (const LigFusion *fusion)
{
  g_autoptr (GString) text = g_string_new (NULL);
  g_auto (GStrv) elements = g_strsplit (fusion->pattern, " ", -1);
  if (shards_rows (fusion))
    return g_strdup (
      "shard-rows ! linear(64, parallel=column, sequence-parallel=true) ! gelu ! "
      "linear(32, parallel=row, sequence-parallel=true) ! all-gather(gradient=part)");
  if (collectives (fusion))
    return g_strdup ("linear(64, parallel=column) ! gelu ! linear(32, parallel=row)");
  if (evaluates (fusion))
    return g_strdup ("linear(64) ! gelu ! linear(32)");
  if (lig_fusion_has_trait (fusion, LIG_OP_GROUPED))
    return g_strdup ("mixture-of-experts(4, expert-features=32, interleave=32)");
  for (char **element = elements; *element; element++) {
    g_auto (GStrv) names = g_strsplit_set (*element + (**element == '['), "|]", 2);
    const char *name = *names[0] == '@' ? find_member (fusion) : names[0];
    const LigOpInfo *info = name ? lig_op_info_find (name) : NULL;
    g_auto (GStrv) example = info ? lig_ops_split_example (info) : NULL;
    if (!example)
      return NULL;
    g_string_append_printf (text, "%s%s", text->len > 0 ? " ! " : "", example[0]);
  }
  return g_strdup (text->str);
}

/* Compiles the example unfused, or with the fusion forced. */
static LigPlan *
compile (const LigFusion *fusion, const char *example, gboolean forced)
{
  LigShape shape;
  LigDtype dtype = LIG_FP32;
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  g_autoptr (LigSequence) sequence = lig_sequence_from_expression (example, NULL);
  g_autoptr (LigDevice) device = lig_device_open ("null", NULL);
  if (!sequence || !device || !lig_shape_parse (input_of (fusion), &shape, &dtype, NULL))
    return NULL;
  if (collectives (fusion)) {
    LigLayout layout;
    lig_layout_init (&layout, 1);
    layout.sizes[LIG_GROUP_TENSOR] = 2;
    lig_device_assume_ranks (device, 0, &layout);
  }
  lig_sequence_set_input (sequence, &shape, dtype);
  LigOp *first = forced ? lig_sequence_find (sequence, path_of (fusion), NULL) : NULL;
  if (first)
    lig_op_set_forced (first, (const char *const[]){fusion->name, NULL});
  options.policy = LIG_POLICY_NONE;
  options.training = options.input_gradient = !evaluates (fusion);
  options.recipe = recipe_of (fusion);
  return lig_plan_compile (sequence, device, &options, NULL);
}

/* Returns the first group of the fusion in a pass, or null. */
static const LigPlanGroup *
find_group (LigPlan *plan, LigPass pass, const LigFusion *fusion)
{
  guint count;
  const LigPlanGroup *groups = plan ? lig_plan_get_groups (plan, pass, &count) : NULL;
  for (guint i = 0; groups && i < count; i++)
    if (groups[i].fusion == fusion)
      return &groups[i];
  return NULL;
}

/* Returns the names of the kernels of a pass, separated by ", ": those of the ops that the fusion
 * contains in the plan `fused`, or all if it contains none. */
static char *
list_kernels (LigPlan *plan, LigPass pass, LigPlan *fused, const LigFusion *fusion)
{
  guint count, n_steps;
  GString *text = g_string_new (NULL);
  const LigPlanGroup *of = find_group (fused, pass, fusion);
  const LigPlanGroup *groups = plan ? lig_plan_get_groups (plan, pass, &count) : NULL;
  const LigPlanStep *steps = plan ? lig_plan_get_steps (plan, &n_steps) : NULL;
  for (guint i = 0; groups && i < count; i++) {
    if (of ? groups[i].first < of->first || groups[i].first >= of->first + of->count
           : plan == fused)
      continue;
    for (int k = 0; k < groups[i].n_steps; k++) {
      const LigKernel *kernel = steps[groups[i].steps[k]].kernel;
      g_string_append_printf (text, "%s%s", text->len > 0 ? ", " : "",
                              kernel ? kernel->name : "opaque");
    }
  }
  return g_string_free (text, FALSE);
}

/* --- A fusion ------------------------------------------------------------------------------ */

static char *
list_ops (const LigFusion *fusion)
{
  const LigOpInfo *info;
  GString *text = g_string_new (NULL);
  for (guint i = 0; (info = lig_op_info_nth (i)); i++)
    if (lig_fusion_takes (fusion, info))
      g_string_append_printf (text, "%s%s", text->len > 0 ? ", " : "", info->name);
  return g_string_free (text, FALSE);
}

static void
print_json (const LigFusion *fusion, const char *example, LigPlan *alone, LigPlan *fused)
{
  g_autoptr (JsonBuilder) to = json_builder_new ();
  json_builder_begin_object (to);
  add_facts (to, fusion);
  lig_ops_add_names (to, "ops", list_ops (fusion));
  lig_json_add_text (to, "example", example);
  lig_json_begin_object (to, "unfused");
  lig_ops_add_names (to, "forward", list_kernels (alone, LIG_PASS_FORWARD, fused, fusion));
  lig_ops_add_names (to, "backward", list_kernels (alone, LIG_PASS_BACKWARD, fused, fusion));
  json_builder_end_object (to);
  lig_json_begin_object (to, "kernels");
  lig_ops_add_names (to, "forward", list_kernels (fused, LIG_PASS_FORWARD, fused, fusion));
  lig_ops_add_names (to, "backward", list_kernels (fused, LIG_PASS_BACKWARD, fused, fusion));
  json_builder_end_object (to);
  json_builder_end_object (to);
  lig_cli_print_document ("fusion", json_builder_get_root (to));
}

/* Prints the unfused kernels and those of the fusion, for each of its passes. */
static void
print_kernels (const LigFusion *fusion, LigPlan *alone, LigPlan *fused)
{
  for (LigPass pass = LIG_PASS_FORWARD; pass <= LIG_PASS_BACKWARD; pass++) {
    g_autofree char *kernels = list_kernels (fused, pass, fused, fusion);
    if (!*kernels)
      continue;
    lig_ops_print_line (pass == LIG_PASS_FORWARD ? "forward" : "backward",
                        list_kernels (alone, pass, fused, fusion));
    lig_ops_print_line ("", g_strconcat ("→ ", kernels, NULL));
  }
}

/* Prints a command that can be pasted; a line that is too long continues after a backslash. */
static void
print_example (const LigFusion *fusion, const char *example)
{
  int width = lig_cli_text_width ();
  g_autofree char *command = g_strdup_printf ("  lig fuse '%s'", example);
  g_autofree char *override = g_strdup_printf ("--force %s@%s", fusion->name, path_of (fusion));
  const char *ranks = collectives (fusion) ? "--ranks 2 --parallel tensor=2" : NULL;
  g_autofree char *input = g_strconcat ("--input ", input_of (fusion), NULL);
  g_autofree char *recipe =
    g_strdup_printf ("--recipe %s%s", recipe_of (fusion), evaluates (fusion) ? " --eval" : "");
  const char *const options[] = {input, override, recipe_of (fusion) ? recipe : ranks};
  g_autoptr (GString) line = g_string_new (command);
  printf ("\nExample:\n");
  for (guint i = 0; i < G_N_ELEMENTS (options) && options[i]; i++) {
    gboolean last = i + 1 == G_N_ELEMENTS (options) || !options[i + 1];
    int room = width - (last ? 0 : 2);
    if (lig_columns_width (line->str) + 1 + lig_columns_width (options[i]) > room) {
      printf ("%s \\\n", line->str);
      g_string_assign (line, "   ");
    }
    g_string_append_printf (line, " %s", options[i]);
  }
  printf ("%s\n", line->str);
}

static void
print_text (const LigFusion *fusion, const char *example, LigPlan *alone, LigPlan *fused)
{
  lig_ops_print_title (fusion->name, fusion->summary);
  lig_ops_print_line ("pass",
                      g_strdup (fusion->pass == LIG_PASS_JOINT ? "forward and backward"
                                                               : lig_pass_name (fusion->pass)));
  lig_ops_print_line ("pattern", g_strdup (fusion->pattern));
  lig_ops_print_line ("ops", list_ops (fusion));
  print_kernels (fusion, alone, fused);
  if (example)
    print_example (fusion, example);
}

void
lig_ops_show_fusion (const LigFusion *fusion)
{
  g_autofree char *example = make_example (fusion);
  g_autoptr (LigPlan) alone = example ? compile (fusion, example, FALSE) : NULL;
  g_autoptr (LigPlan) fused = example ? compile (fusion, example, TRUE) : NULL;
  if (lig_cli_json ())
    print_json (fusion, example, alone, fused);
  else
    print_text (fusion, example, alone, fused);
}
