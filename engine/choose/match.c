/* SPDX-License-Identifier: MIT */
/* Matches a pattern against the ops from an index on and checks whether the group is legal. */
#include "engine/choose/match.h"

#include "engine/choose/choice.h"
#include "engine/choose/fixes.h"
#include "engine/graph/op.h"
#include "engine/lower/kernels.h"
#include "engine/patterns/walk.h"
#include "engine/reasons/words.h"
#include <ligature/kernels.h>

#include <string.h>

static void
reject (LigMatch *match, LigReason reason, char *observed, char *required)
{
  match->reason = match->rejection.reason = reason;
  match->rejection.observed = observed;
  match->rejection.required = required;
}

/* Returns evidence with these names; the graph takes ownership of them. */
static LigEvidence
keep_names (LigGraph *graph, LigEvidenceKind kind, const char **names)
{
  g_ptr_array_add (graph->choice->names, names);
  return (LigEvidence){.kind = kind, .names = names};
}

/* Returns evidence with one name, which is static or owned by the graph. */
static LigEvidence
name_one (LigGraph *graph, LigEvidenceKind kind, const char *name)
{
  const char **names = g_new0 (const char *, 2);
  names[0] = name;
  return keep_names (graph, kind, names);
}

static void
reject_fence (LigWalk *walk, const LigFound *found, LigMatch *match)
{
  const char *path = NULL;
  int first = walk->at;
  while (!path && ++first < found->end)
    if (lig_part (walk->graph, first)->plan.fence)
      path = lig_part (walk->graph, first)->plan.path;
  g_autofree char *row = path ? lig_verdict_row_path (path) : NULL;
  match->fits = TRUE;
  match->count = found->end - walk->at;
  match->found = (LigEvidence){.kind = LIG_EVIDENCE_FENCE, .path = path, .first = first};
  reject (match, LIG_REASON_FENCED,
          row ? g_strdup_printf ("fence before %s", row) : g_strdup ("fence"),
          g_strdup ("no fence"));
  lig_offer_unfence (walk, found, match);
}

/* Rejects a branch that the caller or a channel uses: `channel r` or `caller`. */
static void
reject_branch (LigGraph *graph, const LigPart *part, int slot, gboolean by_caller, LigMatch *match)
{
  const char *channel =
    part && part->consumed[slot] && !by_caller ? part->output_channels[slot] : NULL;
  match->found = channel ? name_one (graph, LIG_EVIDENCE_CHANNEL, channel)
                         : (LigEvidence){.kind = LIG_EVIDENCE_CALLER};
  match->found.path = part ? part->plan.path : NULL;
  match->found.first = part ? (int) (part - lig_part (graph, 0)) : 0;
  reject (match, LIG_REASON_IN_USE,
          channel ? g_strdup_printf ("channel %s", channel) : g_strdup ("caller"),
          g_strdup ("no other reader"));
}

/* Rejects the used branch that separates the matched ops. */
static void
reject_use (LigWalk *walk, const LigFound *found, LigMatch *match)
{
  const LigPart *branch = NULL;
  int slot = 0;
  for (int i = walk->at; i < found->end && !branch; i++) {
    const LigPart *part = lig_part (walk->graph, i);
    for (int j = 0; j < part->n_outputs && !branch && !lig_found_has (found, i); j++)
      if (part->consumed[j] || part->to_caller[j]) {
        branch = part;
        slot = j;
      }
  }
  match->fits = TRUE;
  match->count = found->end - walk->at;
  reject_branch (walk->graph, branch, slot, FALSE, match);
  lig_offer_private (walk, found, match);
}

/* Returns the names accepted at an element; verdicts share them. */
static const char *const *
list_accepted (LigGraph *graph, const LigPattern *pattern, int from)
{
  gconstpointer key = &pattern->elements[from];
  const char **accepted = g_hash_table_lookup (graph->choice->accepted, key);
  if (accepted)
    return accepted;
  accepted = lig_pattern_accepted (pattern, from);
  g_ptr_array_add (graph->choice->names, accepted);
  g_hash_table_insert (graph->choice->accepted, (gpointer) key, accepted);
  return accepted;
}

static void
reject_pattern (LigWalk *walk, const LigFound *found, LigMatch *match)
{
  const char *const *accepted = list_accepted (walk->graph, walk->pattern, found->last + 1);
  gboolean end = found->end >= (int) walk->graph->parts->len;
  const char *name = end ? "end" : lig_part (walk->graph, found->end)->plan.info->name;
  match->needed = (LigEvidence){.kind = LIG_EVIDENCE_NAMES, .names = accepted};
  match->found = end ? (LigEvidence){.kind = LIG_EVIDENCE_END}
                     : name_one (walk->graph, LIG_EVIDENCE_NAMES, name);
  match->found.path = end ? NULL : lig_part (walk->graph, found->end)->plan.path;
  match->found.first = found->end;
  reject (match, LIG_REASON_PATTERN, g_strdup (name), g_strjoinv ("|", (char **) accepted));
  lig_offer_pattern (walk, found, match);
}

/* Returns whether one of these ops quantizes. */
static gboolean
has_quantizing (const char *const *names)
{
  for (; *names; names++) {
    const LigOpInfo *info = lig_op_info_find (*names);
    if (info && info->flags & LIG_OP_QUANTIZES)
      return TRUE;
  }
  return FALSE;
}

/* Rejects the recipe if there is nothing to quantize because the matmul after the operand, or
 * before the gradient, stays in the compute type; users would otherwise see a missing op as the
 * reason. */
static gboolean
reject_unquantized (LigWalk *walk, const LigFound *found, LigMatch *match)
{
  LigGraph *graph = walk->graph;
  const char *const *accepted = list_accepted (graph, walk->pattern, found->last + 1);
  int at = found->end + (walk->fusion->pass == LIG_PASS_BACKWARD ? -1 : 1);
  if (found->end >= (int) graph->parts->len || at < 0 || at >= (int) graph->parts->len ||
      !lig_part (graph, found->end)->plan.implicit || !has_quantizing (accepted))
    return FALSE;
  const LigPart *matmul = lig_part (graph, at);
  if (!matmul->recipe || !matmul->plan.unquantized)
    return FALSE;
  if (lig_part_rejects_recipe (matmul)) {
    match->found = name_one (graph, LIG_EVIDENCE_NAMES, matmul->recipe->info->name);
    match->found.path = matmul->plan.path;
    match->found.first = at;
    match->needed = name_one (graph, LIG_EVIDENCE_NAMES, LIG_RECIPES_OF_GROUPS);
    reject (match, LIG_REASON_RECIPE, g_strdup (matmul->recipe->info->name),
            g_strdup (LIG_RECIPES_OF_GROUPS));
    return TRUE;
  }
  match->found = name_one (graph, LIG_EVIDENCE_NAMES, "none");
  match->found.path = matmul->plan.path;
  match->found.first = at;
  match->needed = name_one (graph, LIG_EVIDENCE_NAMES, matmul->recipe->info->name);
  reject (match, LIG_REASON_RECIPE, g_strdup_printf ("none (%s)", matmul->plan.unquantized),
          g_strdup (matmul->recipe->info->name));
  return TRUE;
}

/* Rejects a kernel with an epilogue that fp8 matmuls lack. */
static void
reject_recipe (LigGraph *graph, const LigPart *matmul, LigMatch *match)
{
  const char *name = matmul->recipe->info->name;
  match->found = name_one (graph, LIG_EVIDENCE_NAMES, name);
  match->needed = name_one (graph, LIG_EVIDENCE_NAMES, "none");
  reject (match, LIG_REASON_RECIPE, g_strdup (name), g_strdup ("none"));
}

/* Makes the walk of a joint fusion skip quantizing parts, which matmuls of the compute type do not
 * have. Rejects the recipe if the pattern then matches: the matmul of a forced fusion stays in the
 * compute type. */
static gboolean
reject_quantized (LigWalk *walk, LigFound *found, LigMatch *match)
{
  const LigPart *matmul = lig_part (walk->graph, walk->at);
  walk->see_quantized = walk->fusion->pass == LIG_PASS_JOINT && lig_part_is_quantized (matmul);
  if (!walk->see_quantized || !lig_walk_follow (walk, found))
    return FALSE;
  match->fits = TRUE;
  match->count = found->end - walk->at;
  reject_recipe (walk->graph, matmul, match);
  lig_offer (match, LIG_FIX_FORCE, matmul->plan.path, NULL);
  return TRUE;
}

/* Explains why the pattern did not match, in the order of the checks. If it would match without a
 * fence or a used branch, the evidence is those ops. */
static void
explain (LigWalk *walk, LigFound *found, LigMatch *match)
{
  LigFound other;
  if (reject_quantized (walk, found, match))
    return;
  match->count = MIN (found->end, (int) walk->graph->parts->len - 1) - walk->at + 1;
  walk->see_through = TRUE;
  walk->ignore_fences = TRUE;
  if (found->fenced && lig_walk_follow (walk, &other)) {
    reject_fence (walk, &other, match);
    *found = other;
    return;
  }
  walk->ignore_fences = FALSE;
  if (lig_walk_follow (walk, &other)) {
    reject_use (walk, &other, match);
    *found = other;
    return;
  }
  walk->see_through = FALSE;
  if (!reject_unquantized (walk, found, match))
    reject_pattern (walk, found, match);
}

static gboolean
is_forbidden (LigGraph *graph, const LigFusion *fusion, int at, LigEvidence *found, char **observed)
{
  const LigPart *part = lig_part (graph, at);
  g_autofree char *row = lig_verdict_row_path (part->plan.path);
  *found = (LigEvidence){.kind = LIG_EVIDENCE_FORBIDDEN, .first = at};
  if (g_strv_contains (lig_sequence_get_forbidden (graph->request->sequence), fusion->name)) {
    *observed = g_strdup ("forbidden everywhere");
  } else if (g_strv_contains (lig_op_get_forbidden (part->plan.written), fusion->name)) {
    found->path = part->plan.path;
    *observed = g_strdup_printf ("forbidden at %s", row);
  } else if (graph->request->policy == LIG_POLICY_NONE &&
             !g_strv_contains (lig_op_get_forced (part->plan.written), fusion->name)) {
    *found = name_one (graph, LIG_EVIDENCE_POLICY, lig_policy_name (LIG_POLICY_NONE));
    *observed = g_strdup ("policy none");
  }
  return *observed != NULL;
}

/* Checks whether the user forbids the fusion. This replaces every other rejection except a fence,
 * which would also have to be removed. */
static void
check_constraints (LigGraph *graph, const LigFusion *fusion, LigMatch *match)
{
  LigEvidence found;
  char *observed = NULL;
  if (!is_forbidden (graph, fusion, match->first, &found, &observed))
    return;
  if (match->reason == LIG_REASON_FENCED) {
    g_clear_pointer (&match->fix, g_free);
    g_free (observed);
    return;
  }
  g_free (match->rejection.observed);
  g_free (match->rejection.required);
  g_clear_pointer (&match->fix, g_free);
  if (match->reason == LIG_REASON_NONE && graph->request->policy != LIG_POLICY_NONE)
    lig_offer_unforbid (graph, fusion->name, match);
  match->found = found;
  match->needed = (LigEvidence){0};
  reject (match, LIG_REASON_FORBIDDEN, observed, g_strdup ("allowed"));
}

/* Rejects a gradient with contributions from inside and outside the group: its sum would be needed
 * before the group runs. */
static gboolean
has_split_sum (LigGraph *graph, LigMatch *match)
{
  int slot;
  gboolean by_caller;
  const LigPart *part = lig_find_split_sum (graph, &match->group, &slot, &by_caller);
  if (!part)
    return FALSE;
  reject_branch (graph, part, slot, by_caller, match);
  lig_offer_private_branch (graph, (int) (part - lig_part (graph, 0)), match);
  return TRUE;
}

static void
reject_unwritten (LigGraph *graph, int number, LigMatch *match)
{
  const LigPlanValue *value = lig_value (graph, number);
  const char *reader = value->role == LIG_VALUE_PARAMETER_GRADIENT         ? "update"
                       : value->saved || value->role == LIG_VALUE_GRADIENT ? "backward"
                                                                           : "caller";
  match->found = g_str_equal (reader, "caller") ? (LigEvidence){.kind = LIG_EVIDENCE_CALLER}
                                                : name_one (graph, LIG_EVIDENCE_PASS, reader);
  /* Values of ops are called `#5.y`, with the expanded index. */
  gboolean port = value->op >= 0 && value->name[0] == '#' && strchr (value->name, '.');
  const char *name = port ? strchr (value->name, '.') + 1 : value->name;
  g_autofree char *row =
    port ? lig_verdict_row_path (lig_part (graph, value->op)->plan.path) : NULL;
  match->needed =
    name_one (graph, LIG_EVIDENCE_NAMES, g_string_chunk_insert_const (graph->strings, name));
  match->needed.first = port ? value->op : 0;
  match->needed.count = port ? 1 : 0;
  reject (match, LIG_REASON_IN_USE, g_strdup (reader),
          port ? g_strdup_printf ("a kernel that writes %s of %s at %s", name,
                                  lig_part (graph, value->op)->plan.title, row)
               : g_strdup_printf ("a kernel that writes %s", name));
}

static void
reject_kernel (LigGraph *graph, const char *missing, LigDtype dtype, LigMatch *match)
{
  const char *kept = g_string_chunk_insert_const (graph->strings, missing);
  match->found = name_one (graph, LIG_EVIDENCE_NAMES, lig_dtype_name (dtype));
  match->needed = name_one (graph, LIG_EVIDENCE_NAMES, kept);
  reject (match, LIG_REASON_KERNEL,
          g_strdup_printf ("no %s for %s on %s", missing, lig_dtype_name (dtype),
                           lig_device_get_name (graph->request->device)),
          g_strdup (missing));
}

static gboolean
probe_pass (LigGraph *graph, LigMatch *match, LigPass pass, GError **error)
{
  g_autoptr (GArray) steps = g_array_new (FALSE, FALSE, sizeof (LigGraphStep));
  LigProbe probe;
  if (!lig_lower_group (graph, &match->group, pass, steps, &probe, error))
    return FALSE;
  if (pass == LIG_PASS_BACKWARD && has_split_sum (graph, match))
    return TRUE;
  if (probe.unwritten >= 0) {
    reject_unwritten (graph, probe.unwritten, match);
    return TRUE;
  }
  if (probe.unquantized) {
    reject_recipe (graph, probe.unquantized, match);
    return TRUE;
  }
  LigDtype dtype = graph->request->compute;
  const LigKernel *kernel = lig_find_missing_kernel (graph, steps, 0, &dtype);
  const char *missing = probe.missing ? probe.missing : kernel ? kernel->name : NULL;
  if (!missing)
    return TRUE;
  reject_kernel (graph, missing, dtype, match);
  if (!probe.missing)
    lig_offer_dtype (graph, steps, 0, match);
  return TRUE;
}

/* Rejects the recipe if the match has a quantized matmul, instead of a parameter: setting that
 * would not make the fusion possible. */
static gboolean
reject_recipe_of_group (LigGraph *graph, LigMatch *match)
{
  for (int i = match->group.first; i < match->group.first + match->group.count; i++)
    if (lig_part_is_quantized (lig_part (graph, i))) {
      g_free (match->rejection.observed);
      g_free (match->rejection.required);
      reject_recipe (graph, lig_part (graph, i), match);
      return TRUE;
    }
  return FALSE;
}

/* Copies the numbers and the accepted types that the fusion's condition reported. */
static void
keep_rejection (LigGraph *graph, LigMatch *match)
{
  const LigRejection *rejection = &match->rejection;
  match->reason = rejection->reason;
  match->found = (LigEvidence){.value = rejection->observed_value, .unit = rejection->unit};
  match->needed = (LigEvidence){.value = rejection->required_value, .unit = rejection->unit};
  if (rejection->unless_forced)
    lig_offer (match, LIG_FIX_FORCE, lig_part (graph, match->group.first)->plan.path, NULL);
  if (rejection->param && !reject_recipe_of_group (graph, match))
    lig_offer_param (graph, match);
  if (rejection->reason != LIG_REASON_DTYPE || rejection->types == 0)
    return;
  const char **names = g_new0 (const char *, LIG_N_DTYPES + 1);
  for (int i = 0, n = 0; i < LIG_N_DTYPES; i++)
    if (rejection->types & LIG_TYPES (i))
      names[n++] = lig_dtype_name ((LigDtype) i);
  match->needed = keep_names (graph, LIG_EVIDENCE_NAMES, names);
  match->found = name_one (graph, LIG_EVIDENCE_NAMES, lig_dtype_name (graph->request->compute));
  lig_offer_dtype (graph, NULL, rejection->types, match);
}

/* Checks the fusion's own condition, then whether the device has its kernels. */
static gboolean
check_kernels (LigGraph *graph, LigMatch *match, GError **error)
{
  const LigFusion *fusion = match->group.fusion;
  LigLowering lowering = {.graph = graph,
                          .group = &match->group,
                          .probe = TRUE,
                          .backward = fusion->pass == LIG_PASS_BACKWARD};
  if (fusion->allows && !fusion->allows (&lowering, &match->rejection)) {
    keep_rejection (graph, match);
    g_clear_error (&lowering.error);
    return TRUE;
  }
  g_clear_error (&lowering.error);
  LigPass pass = fusion->pass == LIG_PASS_BACKWARD ? LIG_PASS_BACKWARD : LIG_PASS_FORWARD;
  if (!probe_pass (graph, match, pass, error))
    return FALSE;
  if (fusion->pass == LIG_PASS_JOINT && match->reason == LIG_REASON_NONE)
    return probe_pass (graph, match, LIG_PASS_BACKWARD, error);
  return TRUE;
}

/* Checks the match; if the recipe's matmuls lack the epilogue, the match is shortened by its
 * optional last elements. */
static gboolean
check_match (LigGraph *graph, LigMatch *match, GError **error)
{
  g_autoptr (GError) local = NULL;
  gboolean fine = check_kernels (graph, match, &local);
  while (fine && match->reason == LIG_REASON_RECIPE) {
    LigMatch shorter = *match;
    shorter.rejection = (LigRejection){0};
    shorter.found = shorter.needed = (LigEvidence){0};
    if (!lig_match_shorten (graph, &shorter, &local))
      break;
    g_free (match->rejection.observed);
    g_free (match->rejection.required);
    *match = shorter;
  }
  if (!local)
    return fine;
  g_propagate_error (error, g_steal_pointer (&local));
  return FALSE;
}

gboolean
lig_match (LigGraph *graph, const LigFusion *fusion, int at, LigMatch *match, GError **error)
{
  LigWalk walk = lig_walk_from (graph, fusion, at);
  LigFound found;
  while (!lig_walk_fits (&walk, walk.from, at)) {
    if (!walk.pattern->elements[walk.from].optional || ++walk.from == walk.pattern->n_elements)
      return FALSE;
  }
  *match = (LigMatch){.first = at, .count = 1};
  gboolean matched = lig_walk_follow (&walk, &found);
  match->fits = match->whole = matched;
  if (matched)
    match->count = found.end - at;
  else
    explain (&walk, &found, match);
  match->group = (LigPlanGroup){.fusion = fusion,
                                .pass = fusion->pass,
                                .first = at,
                                .count = found.end - at,
                                .n_elements = walk.pattern->n_elements};
  for (int i = 0; i < LIG_MAX_ELEMENTS; i++)
    match->group.elements[i] = found.elements[i];
  check_constraints (graph, fusion, match);
  if (match->reason == LIG_REASON_FENCED)
    return TRUE;
  return !matched || match->reason != LIG_REASON_NONE || check_match (graph, match, error);
}

gboolean
lig_match_shorten (LigGraph *graph, LigMatch *match, GError **error)
{
  const LigPattern *pattern = lig_fusion_get_pattern (match->group.fusion);
  int matched = 0, last = -1, before = -1;
  for (int i = 0; i < pattern->n_elements; i++)
    if (match->group.elements[i] >= 0) {
      before = last;
      last = i;
      matched++;
    }
  if (matched < 3 || !pattern->elements[last].optional)
    return FALSE;
  match->group.elements[last] = -1;
  match->group.count = match->count = match->group.elements[before] - match->first + 1;
  match->reason = LIG_REASON_NONE;
  return check_kernels (graph, match, error);
}
