/* SPDX-License-Identifier: MIT */
/* Matching a pattern against the ops from one index on, and the legality of what it covers. */
#include "engine/compile/match.h"
#include "engine/compile/kernels.h"

/* Identities and branches that are looked through between two elements, at most: else every op of a
 * long chain of them would look along the rest of it. */
#define MOST_TRANSPARENT 64

typedef struct {
  const LigDraft *draft;
  const LigFusion *fusion;
  const LigPattern *pattern;
  int at, from; /* first op, the element that it fits */
  gboolean ignore_fences;
  gboolean see_through; /* also through branches that are wanted */
} Walk;

typedef struct {
  int elements[LIG_MAX_ELEMENTS];
  int end;         /* one past the last op that was matched */
  int matched;     /* elements */
  int last;        /* element matched last */
  gboolean fenced; /* an element would have fitted behind a fence */
} Found;

static gboolean
branch_is_wanted (const LigPart *part)
{
  for (int i = 0; i < part->n_outputs; i++)
    if (part->consumed[i] || part->to_caller[i])
      return TRUE;
  return FALSE;
}

static gboolean
fits (const Walk *walk, int element, int index)
{
  const LigPart *part = lig_part (walk->draft, index);
  if (walk->fusion->pass != LIG_PASS_FORWARD && !part->needs_backward)
    return FALSE;
  return !part->info->opaque_forward &&
         lig_element_fits (&walk->pattern->elements[element], part->info);
}

/* The op that fits the element, looking through identities and unwanted branches; -1 for none. */
static int
next_fit (const Walk *walk, int element, int index)
{
  int end = MIN (index + MOST_TRANSPARENT, (int) walk->draft->parts->len);
  for (; index < end; index++) {
    const LigPart *part = lig_part (walk->draft, index);
    if (fits (walk, element, index))
      return index;
    if (!(part->info->flags & LIG_OP_TRANSPARENT) ||
        (branch_is_wanted (part) && !walk->see_through))
      return -1;
  }
  return -1;
}

static gboolean
fence_between (const Walk *walk, int from, int to)
{
  for (int i = from; i <= to; i++)
    if (lig_part (walk->draft, i)->fence)
      return TRUE;
  return FALSE;
}

static gboolean
follow (const Walk *walk, Found *found)
{
  *found = (Found){.end = walk->at + 1, .matched = 1, .last = walk->from};
  for (int i = 0; i < LIG_MAX_ELEMENTS; i++)
    found->elements[i] = -1;
  found->elements[walk->from] = walk->at;
  for (int element = walk->from + 1; element < walk->pattern->n_elements; element++) {
    int index = next_fit (walk, element, found->end);
    if (index >= 0 && !walk->ignore_fences && fence_between (walk, found->end, index)) {
      found->fenced = TRUE;
      index = -1;
    }
    if (index >= 0) {
      found->elements[element] = index;
      found->end = index + 1;
      found->matched++;
      found->last = element;
    } else if (!walk->pattern->elements[element].optional) {
      return FALSE;
    }
  }
  return found->matched >= 2;
}

static void
refuse (LigMatch *match, LigReason reason, char *observed, char *required)
{
  match->reason = match->refusal.reason = reason;
  match->refusal.observed = observed;
  match->refusal.required = required;
}

/* Which op's fence parts the match. */
static char *
describe_fence (const Walk *walk, const Found *found)
{
  for (int i = walk->at + 1; i < found->end; i++)
    if (lig_part (walk->draft, i)->fence)
      return g_strdup_printf ("fence before %s", lig_part (walk->draft, i)->path);
  return g_strdup ("fence");
}

static gboolean
is_forbidden (const LigDraft *draft, const LigFusion *fusion, int at, char **observed)
{
  const LigPart *part = lig_part (draft, at);
  if (g_strv_contains (lig_sequence_get_forbidden (draft->sequence), fusion->name))
    *observed = g_strdup ("forbidden everywhere");
  else if (g_strv_contains (lig_op_get_forbidden (part->written), fusion->name))
    *observed = g_strdup_printf ("forbidden at %s", part->path);
  else if (draft->policy == LIG_POLICY_NONE &&
           !g_strv_contains (lig_op_get_forced (part->written), fusion->name))
    *observed = g_strdup ("policy none");
  return *observed != NULL;
}

/* The branch that keeps the match apart: `channel r` or `caller`. */
static char *
describe_use (const Walk *walk, const Found *found)
{
  for (int i = walk->at; i < found->end; i++) {
    const LigPart *part = lig_part (walk->draft, i);
    gboolean matched = FALSE;
    for (int j = 0; j < walk->pattern->n_elements; j++)
      matched |= found->elements[j] == i;
    for (int j = 0; j < part->n_outputs && !matched; j++)
      if (part->consumed[j] || part->to_caller[j])
        return part->consumed[j] ? g_strdup_printf ("channel %s", part->output_channels[j])
                                 : g_strdup ("caller");
  }
  return g_strdup ("caller");
}

/* Why the pattern did not match, in the order of the checks. */
static void
explain (Walk *walk, const Found *found, LigMatch *match)
{
  Found other;
  int looked = MIN (found->end, (int) walk->draft->parts->len - 1);
  char *accepted = lig_pattern_accepted (walk->pattern, found->last + 1);
  match->count = looked - walk->at + 1;
  walk->see_through = TRUE;
  walk->ignore_fences = TRUE;
  if (found->fenced && follow (walk, &other)) {
    match->count = other.end - walk->at;
    refuse (match, LIG_REASON_FENCED, describe_fence (walk, &other), g_strdup ("no fence"));
    g_free (accepted);
    return;
  }
  walk->ignore_fences = FALSE;
  if (follow (walk, &other)) {
    match->count = other.end - walk->at;
    refuse (match, LIG_REASON_IN_USE, describe_use (walk, &other), g_strdup ("no other reader"));
    g_free (accepted);
    return;
  }
  gboolean end = found->end >= (int) walk->draft->parts->len;
  refuse (match, LIG_REASON_PATTERN,
          g_strdup (end ? "end" : lig_part (walk->draft, found->end)->info->name), accepted);
}

/* A gradient that is summed up from inside and outside of the group would have to be there before
 * the group runs. */
static gboolean
has_split_sum (const LigDraft *draft, LigMatch *match)
{
  int slot;
  const LigPart *part = lig_find_split_sum (draft, &match->group, &slot);
  if (part)
    refuse (match, LIG_REASON_IN_USE,
            part->to_caller[slot] ? g_strdup ("caller")
                                  : g_strdup_printf ("channel %s", part->output_channels[slot]),
            g_strdup ("no other reader"));
  return part != NULL;
}

static gboolean
probe_pass (LigDraft *draft, LigMatch *match, LigPass pass, GError **error)
{
  g_autoptr (GArray) steps = g_array_new (FALSE, FALSE, sizeof (LigDraftStep));
  LigProbe probe;
  if (!lig_lower_group (draft, &match->group, pass, steps, &probe, error))
    return FALSE;
  if (pass == LIG_PASS_BACKWARD && has_split_sum (draft, match))
    return TRUE;
  if (probe.unwritten >= 0) {
    const LigValue *value = lig_value (draft, probe.unwritten);
    const char *reader = value->role == LIG_VALUE_PARAMETER_GRADIENT         ? "update"
                         : value->saved || value->role == LIG_VALUE_GRADIENT ? "backward"
                                                                             : "caller";
    refuse (match, LIG_REASON_IN_USE, g_strdup (reader),
            g_strdup_printf ("a kernel that writes %s", value->name));
    return TRUE;
  }
  LigDtype dtype = draft->compute;
  const LigKernel *kernel = lig_find_missing_kernel (draft, steps, 0, &dtype);
  const char *missing = probe.missing ? probe.missing : kernel ? kernel->name : NULL;
  if (missing)
    refuse (match, LIG_REASON_KERNEL,
            g_strdup_printf ("no %s for %s on %s", missing, lig_dtype_name (dtype),
                             lig_device_get_name (draft->device)),
            g_strdup (missing));
  return TRUE;
}

/* The fusion's own condition, then whether the device has its kernels. */
static gboolean
check_kernels (LigDraft *draft, LigMatch *match, GError **error)
{
  const LigFusion *fusion = match->group.fusion;
  LigLowering lowering = {.draft = draft,
                          .group = &match->group,
                          .probe = TRUE,
                          .backward = fusion->pass == LIG_PASS_BACKWARD};
  if (fusion->allows && !fusion->allows (&lowering, &match->refusal)) {
    match->reason = match->refusal.reason;
    g_clear_error (&lowering.error);
    return TRUE;
  }
  g_clear_error (&lowering.error);
  LigPass pass = fusion->pass == LIG_PASS_BACKWARD ? LIG_PASS_BACKWARD : LIG_PASS_FORWARD;
  if (!probe_pass (draft, match, pass, error))
    return FALSE;
  if (fusion->pass == LIG_PASS_JOINT && match->reason == LIG_REASON_NONE)
    return probe_pass (draft, match, LIG_PASS_BACKWARD, error);
  return TRUE;
}

gboolean
lig_match (LigDraft *draft, const LigFusion *fusion, int at, LigMatch *match, GError **error)
{
  Walk walk = {
    .draft = draft, .fusion = fusion, .pattern = lig_fusion_get_pattern (fusion), .at = at};
  Found found;
  char *observed = NULL;
  while (!fits (&walk, walk.from, at)) {
    if (!walk.pattern->elements[walk.from].optional || ++walk.from == walk.pattern->n_elements)
      return FALSE;
  }
  *match = (LigMatch){.first = at, .count = 1};
  gboolean matched = follow (&walk, &found);
  if (matched)
    match->count = found.end - at;
  else
    explain (&walk, &found, match);
  match->group = (LigGroup){.fusion = fusion,
                            .pass = fusion->pass,
                            .first = at,
                            .count = found.end - at,
                            .n_elements = walk.pattern->n_elements};
  for (int i = 0; i < LIG_MAX_ELEMENTS; i++)
    match->group.elements[i] = found.elements[i];
  if (match->reason == LIG_REASON_FENCED)
    return TRUE;
  if (is_forbidden (draft, fusion, at, &observed)) {
    g_free (match->refusal.observed);
    g_free (match->refusal.required);
    refuse (match, LIG_REASON_FORBIDDEN, observed, g_strdup ("allowed"));
  }
  return !matched || match->reason != LIG_REASON_NONE || check_kernels (draft, match, error);
}

gboolean
lig_match_shorten (LigDraft *draft, LigMatch *match, GError **error)
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
  return check_kernels (draft, match, error);
}
