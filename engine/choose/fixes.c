/* SPDX-License-Identifier: MIT */
/* Finds the fixes of one match. */
#include "engine/choose/fixes.h"

#include "engine/choose/choice.h"
#include "engine/choose/cover.h"
#include "engine/graph/op.h"
#include "engine/graph/step.h"

#include <string.h>

void
lig_offer (LigMatch *match, LigFixKind kind, const char *path, const char *value)
{
  g_free (match->fix);
  match->fix = g_new0 (LigFix, 1);
  match->fix->kind = kind;
  match->fix->path = path;
  match->fix->value = value;
}

/* Returns whether the op itself is in the sequence, and is not a part of a macro. */
static gboolean
is_written (const LigPart *part)
{
  return g_str_equal (part->plan.title, part->plan.info->name);
}

void
lig_offer_unforbid (const LigGraph *graph, const char *fusion, LigMatch *match)
{
  const LigPart *part = lig_part (graph, match->first);
  gboolean here = g_strv_contains (lig_op_get_forbidden (part->plan.written), fusion);
  lig_offer (match, LIG_FIX_UNFORBID, here ? part->plan.path : NULL, NULL);
}

/* Returns the path of the one op whose fence is before the part: the part itself, or a block that
 * begins with it; null if several have a fence. */
static const char *
find_fenced (LigGraph *graph, const LigPart *part)
{
  const char *fenced = NULL;
  g_autofree char *path = g_strdup (part->plan.path);
  for (;;) {
    if (lig_op_get_fence (lig_sequence_find (graph->request->sequence, path, NULL))) {
      if (fenced)
        return NULL;
      fenced = g_string_chunk_insert_const (graph->strings, path);
    }
    if (!g_str_has_suffix (path, ".0.0"))
      return fenced;
    path[strlen (path) - strlen (".0.0")] = '\0';
  }
}

void
lig_offer_unfence (const LigWalk *walk, const LigFound *found, LigMatch *match)
{
  const LigPart *fenced = NULL;
  for (int i = walk->at + 1; i < found->end; i++) {
    const LigPart *part = lig_part (walk->graph, i);
    if (!part->plan.fence)
      continue;
    if (fenced && fenced->plan.written != part->plan.written)
      return;
    fenced = fenced ? fenced : part;
  }
  const char *path = fenced ? find_fenced (walk->graph, fenced) : NULL;
  if (path)
    lig_offer (match, LIG_FIX_REMOVE_FENCE, path, NULL);
}

/* Returns whether the op and the readers of its branches can be edited: they are ops as written, in
 * the same sequence or in blocks within it. */
static gboolean
can_be_private (const LigPart *part)
{
  for (int slot = 0; slot < part->n_outputs; slot++)
    if (part->output_channels[slot] && g_str_has_prefix (part->output_channels[slot], "../"))
      return FALSE;
  return is_written (part) && !part->read_by_macro;
}

void
lig_offer_private_branch (const LigGraph *graph, int branch, LigMatch *match)
{
  if (can_be_private (lig_part (graph, branch)))
    lig_offer (match, LIG_FIX_MAKE_PRIVATE, lig_part (graph, branch)->plan.path, NULL);
}

void
lig_offer_private (const LigWalk *walk, const LigFound *found, LigMatch *match)
{
  int branch = -1;
  for (int i = walk->at; i < found->end; i++) {
    const LigPart *part = lig_part (walk->graph, i);
    if (lig_found_has (found, i) || !lig_branch_is_used (part))
      continue;
    if (branch >= 0 && lig_part (walk->graph, branch)->plan.written != part->plan.written)
      return;
    branch = branch < 0 ? i : branch;
  }
  if (branch >= 0)
    lig_offer_private_branch (walk->graph, branch, match);
}

/* Returns the first op after the matched ones that is not skipped, or -1. */
static int
find_blocker (const LigWalk *walk, const LigFound *found)
{
  int end = MIN (found->end + LIG_MAX_TRANSPARENT, (int) walk->graph->parts->len);
  for (int index = found->end; index < end; index++) {
    const LigPart *part = lig_part (walk->graph, index);
    if (!lig_part_is_transparent (part, walk->fusion->pass) || lig_branch_is_used (part))
      return index;
  }
  return -1;
}

static gboolean
is_disabled_dropout (const LigPart *part)
{
  return part->plan.info->idle && part->plan.info->idle (lig_op_get_params (part->plan.op));
}

static gboolean
follows (const LigWalk *walk)
{
  LigFound other;
  return lig_walk_follow (walk, &other);
}

/* Returns whether a new op of this kind is an identity before it is trained. */
static gboolean
begins_as_identity (const LigOpInfo *info)
{
  const LigParameterInfo *parameter = info->parameters;
  if (!parameter || info->extra_inputs || info->extra_outputs || info->opaque_forward ||
      info->expand || info->flags & ~(unsigned) LIG_OP_PASSES_GRADIENT)
    return FALSE;
  for (const LigParam *param = info->params; param && param->name; param++)
    if (param->flags & LIG_PARAM_REQUIRED)
      return FALSE;
  for (; parameter->name; parameter++)
    if (parameter->init != LIG_INIT_ZEROS)
      return FALSE;
  return TRUE;
}

/* Returns whether both ops are in the same sequence, in the same repetition. */
static gboolean
are_neighbours (const LigPart *one, const LigPart *two)
{
  const char *a = strrchr (one->plan.path, '.'), *b = strrchr (two->plan.path, '.');
  gsize length = a ? (gsize) (a - one->plan.path) : 0;
  return (a != NULL) == (b != NULL) && length == (b ? (gsize) (b - two->plan.path) : 0) &&
         strncmp (one->plan.path, two->plan.path, length) == 0 &&
         one->plan.written != two->plan.written;
}

/* Tries to replace the op with another activation. */
static gboolean
try_replacing (LigWalk *walk, int blocker, int element, LigMatch *match)
{
  const LigPart *part = lig_part (walk->graph, blocker);
  if (!(part->plan.info->flags & LIG_OP_ACTIVATION) || !is_written (part))
    return FALSE;
  walk->replaced = blocker;
  for (char **name = walk->pattern->elements[element].names; *name; name++) {
    walk->replacement = lig_op_info_find (*name);
    if (!(walk->replacement->flags & LIG_OP_ACTIVATION) || !follows (walk))
      continue;
    lig_offer (match, LIG_FIX_REPLACE_OP, part->plan.path, walk->replacement->name);
    return TRUE;
  }
  walk->replaced = -1;
  return FALSE;
}

static gboolean
try_inserting (LigWalk *walk, const LigFound *found, int element, LigMatch *match)
{
  const LigPart *next = lig_part (walk->graph, found->end);
  if (!are_neighbours (lig_part (walk->graph, found->end - 1), next))
    return FALSE;
  walk->inserted = element;
  for (char **name = walk->pattern->elements[element].names; *name; name++) {
    const LigOpInfo *info = lig_op_info_find (*name);
    if (!begins_as_identity (info) || !follows (walk))
      continue;
    lig_offer (match, LIG_FIX_INSERT_OP, next->plan.path, info->name);
    return TRUE;
  }
  walk->inserted = -1;
  return FALSE;
}

void
lig_offer_pattern (LigWalk *walk, const LigFound *found, LigMatch *match)
{
  int blocker = find_blocker (walk, found), end = found->last + 1;
  if (blocker < 0)
    return;
  const LigPart *part = lig_part (walk->graph, blocker);
  walk->skipped = is_disabled_dropout (part) && is_written (part) ? blocker : -1;
  if (walk->skipped >= 0 && follows (walk)) {
    lig_offer (match, LIG_FIX_REMOVE_OP, part->plan.path, part->plan.info->name);
    return;
  }
  walk->skipped = -1;
  /* The optional elements, and the next required one. */
  while (end < walk->pattern->n_elements && walk->pattern->elements[end++].optional)
    ;
  for (int i = found->last + 1; i < end; i++)
    if (try_replacing (walk, blocker, i, match))
      return;
  for (int i = found->last + 1; i < end; i++)
    if (try_inserting (walk, found, i, match))
      return;
}

static gboolean
has_kernels (const LigGraph *graph, const GArray *steps, LigDtype dtype)
{
  for (guint i = 0; i < steps->len; i++) {
    const LigGraphStep *step = &g_array_index (steps, LigGraphStep, i);
    LigDtype served = lig_served_dtype (graph, step);
    if (step->plan.kernel &&
        !lig_device_has_kernel (graph->request->device, step->plan.kernel,
                                served == graph->request->compute ? dtype : served))
      return FALSE;
  }
  return TRUE;
}

void
lig_offer_param (const LigGraph *graph, LigMatch *match)
{
  const LigRejection *rejection = &match->rejection;
  const LigPart *part = lig_part (graph, match->group.elements[rejection->element]);
  const LigParam *param = lig_op_get_info (part->plan.written)->params;
  while (param && param->name && !g_str_equal (param->name, rejection->param))
    param++;
  if (!param || !param->name || param->kind != LIG_PARAM_INT)
    return;
  g_autofree char *value =
    g_strdup_printf ("%s=%" G_GINT64_FORMAT, rejection->param, rejection->value);
  lig_offer (match, LIG_FIX_SET, part->plan.path,
             g_string_chunk_insert_const (graph->strings, value));
}

/* A type set by an option of the compilation overrides the sequence's type, so editing the sequence
 * would not help. */
void
lig_offer_dtype (const LigGraph *graph, const GArray *steps, unsigned types, LigMatch *match)
{
  for (int i = 0; graph->request->options.compute < 0 && i < LIG_N_DTYPES; i++) {
    LigDtype dtype = (LigDtype) i;
    if (dtype == graph->request->compute || !lig_dtype_is_floating (dtype))
      continue;
    if (steps ? has_kernels (graph, steps, dtype) : (types & LIG_TYPES (dtype)) != 0) {
      lig_offer (match, LIG_FIX_SET_DTYPE, NULL, lig_dtype_name (dtype));
      return;
    }
  }
}

/* --- Forced fusions
 * ---------------------------------------------------------------------------------- */

/* Finds the fusions that would be accepted if they were forced. A forced fusion applies to an op as
 * written, so all candidates of a fusion that begin at the same written op are forced together.
 * Forced candidates are accepted before all others, in order; two different fusions that overlap
 * are an error. */

typedef struct {
  LigGraph *graph;
  GArray *candidates;
  int *owners[2]; /* of the forced candidates; a group on trial adds its own temporarily */
} Forcing;

static int
find_owner (const Forcing *self, const LigCandidate *candidate)
{
  for (int pass = LIG_PASS_FORWARD; pass <= LIG_PASS_BACKWARD; pass++)
    for (int i = 0; lig_covers_pass (candidate, (LigPass) pass) && i < candidate->group.count; i++)
      if (self->owners[pass][candidate->group.first + i] >= 0)
        return self->owners[pass][candidate->group.first + i];
  return -1;
}

static void
set_owner (Forcing *self, const LigCandidate *candidate, int owner)
{
  for (int pass = LIG_PASS_FORWARD; pass <= LIG_PASS_BACKWARD; pass++)
    for (int i = 0; lig_covers_pass (candidate, (LigPass) pass) && i < candidate->group.count; i++)
      self->owners[pass][candidate->group.first + i] = owner;
}

/* Accepts the candidates of the group in order; `taken` are the numbers of those that would get
 * their ops. */
static void
try_group (Forcing *self, GArray *group, GArray *taken)
{
  for (guint i = 0; i < group->len; i++) {
    guint number = g_array_index (group, guint, i);
    const LigCandidate *candidate = &g_array_index (self->candidates, LigCandidate, number);
    int owner = find_owner (self, candidate);
    if (owner < 0) {
      set_owner (self, candidate, (int) number);
      g_array_append_val (taken, number);
    } else if (g_array_index (self->candidates, LigCandidate, owner).group.fusion !=
               candidate->group.fusion) {
      /* Forcing this fusion would be an error. */
      for (guint k = 0; k < taken->len; k++)
        set_owner (self,
                   &g_array_index (self->candidates, LigCandidate, g_array_index (taken, guint, k)),
                   -1);
      g_array_set_size (taken, 0);
      return;
    }
  }
}

static void
offer_group (Forcing *self, GArray *group)
{
  g_autoptr (GArray) taken = g_array_new (FALSE, FALSE, sizeof (guint));
  try_group (self, group, taken);
  for (guint i = 0; i < taken->len; i++) {
    const LigCandidate *candidate =
      &g_array_index (self->candidates, LigCandidate, g_array_index (taken, guint, i));
    LigVerdict *verdict =
      &g_array_index (self->graph->choice->verdicts, LigVerdict, candidate->verdict);
    set_owner (self, candidate, -1);
    if ((verdict->reason != LIG_REASON_CLAIMED && verdict->reason != LIG_REASON_SLOWER) ||
        candidate->taken)
      continue;
    LigMatch match = {0};
    lig_offer (&match, LIG_FIX_FORCE, lig_part (self->graph, candidate->group.first)->plan.path,
               NULL);
    match.fix->fusion = candidate->group.fusion->name;
    self->graph->choice->fixes->pdata[candidate->verdict] = match.fix;
  }
}

void
lig_offer_forces (LigGraph *graph, GArray *candidates)
{
  Forcing self = {graph, candidates, {NULL, NULL}};
  g_autoptr (GHashTable) groups =
    g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify) g_array_unref);
  g_autoptr (GPtrArray) order = g_ptr_array_new ();
  for (int pass = 0; pass < 2; pass++) {
    self.owners[pass] = g_new (int, graph->parts->len);
    memset (self.owners[pass], -1, graph->parts->len * sizeof (int));
  }
  for (guint i = 0; i < candidates->len; i++) {
    const LigCandidate *candidate = &g_array_index (candidates, LigCandidate, i);
    if (!candidate->legal || candidate->shorter)
      continue;
    if (candidate->forced) {
      if (candidate->taken)
        set_owner (&self, candidate, (int) i);
      continue;
    }
    char *key = g_strdup_printf ("%s %p", candidate->group.fusion->name,
                                 (gpointer) lig_part (graph, candidate->group.first)->plan.written);
    GArray *group = g_hash_table_lookup (groups, key);
    if (group) {
      g_free (key);
    } else {
      group = g_array_new (FALSE, FALSE, sizeof (guint));
      g_hash_table_insert (groups, key, group);
      g_ptr_array_add (order, group);
    }
    g_array_append_val (group, i);
  }
  for (guint i = 0; i < order->len; i++)
    offer_group (&self, order->pdata[i]);
  g_free (self.owners[0]);
  g_free (self.owners[1]);
}

/* --- Fixes that unforce a fusion or choose policy measured
 * -------------------------------------------- */

/* Suggests to unforce the group that covers a fusion's ops, and to choose the policy `measured`. */

typedef struct {
  LigGraph *graph;
  GArray *candidates;
  const LigFusion *dropped; /* the forced fusion to drop, and its op as written */
  const LigOp *at;
} Trial;

static const LigCandidate *
get (const Trial *self, guint number)
{
  return &g_array_index (self->candidates, LigCandidate, number);
}

/* Returns whether the candidate is forced, and remains so. */
static gboolean
stays_forced (const Trial *self, const LigCandidate *candidate)
{
  return candidate->forced &&
         (candidate->group.fusion != self->dropped ||
          lig_part (self->graph, candidate->group.first)->plan.written != self->at);
}

static gboolean
overlap (const LigCandidate *a, const LigCandidate *b)
{
  gboolean pass = FALSE;
  for (LigPass side = LIG_PASS_FORWARD; side <= LIG_PASS_BACKWARD; side++)
    pass |= lig_covers_pass (a, side) && lig_covers_pass (b, side);
  return pass && a->group.first < b->group.first + b->group.count &&
         b->group.first < a->group.first + a->group.count;
}

/* Claims the candidate's ops if they are free. @owned: of each op, a bit for each pass */
static gboolean
claim (const LigCandidate *candidate, guint8 *owned)
{
  guint8 bits = (lig_covers_pass (candidate, LIG_PASS_FORWARD) ? 1 : 0) |
                (lig_covers_pass (candidate, LIG_PASS_BACKWARD) ? 2 : 0);
  for (int i = 0; i < candidate->group.count; i++)
    if (owned[candidate->group.first + i] & bits)
      return FALSE;
  for (int i = 0; i < candidate->group.count; i++)
    owned[candidate->group.first + i] |= bits;
  return TRUE;
}

/* Returns whether policy `all` would accept the candidate without the forced fusion. */
static gboolean
wins_in_order (const Trial *self, const LigCandidate *wanted)
{
  gboolean taken = FALSE;
  g_autofree guint8 *owned = g_new0 (guint8, self->graph->parts->len);
  for (int forced = 1; forced >= 0; forced--)
    for (guint i = 0; i < self->candidates->len; i++) {
      const LigCandidate *candidate = get (self, i);
      if ((candidate->legal || candidate == wanted) && !candidate->shorter &&
          stays_forced (self, candidate) == forced && claim (candidate, owned))
        taken |= candidate == wanted;
    }
  return taken;
}

/* Returns whether policy `measured` would accept the candidate: it saves more than all the
 * candidates together whose ops it needs. */
static gboolean
wins_measured (const Trial *self, const LigCandidate *wanted)
{
  double others = 0;
  if (wanted->loses)
    return FALSE;
  for (guint i = 0; i < self->candidates->len; i++) {
    const LigCandidate *candidate = get (self, i);
    if (candidate == wanted || !candidate->legal || !overlap (candidate, wanted))
      continue;
    if (stays_forced (self, candidate))
      return FALSE;
    /* A shorter match at the same op saves a part of the whole one's saving. */
    gboolean part = candidate->shorter && candidate->group.fusion == wanted->group.fusion &&
                    candidate->group.first == wanted->group.first;
    if (!candidate->loses && !part)
      others += candidate->unfused - candidate->fused;
  }
  return wanted->unfused - wanted->fused > others;
}

static LigFix *
new_fix (LigFixKind kind, const LigCandidate *candidate, const char *path, const char *value)
{
  LigFix *fix = g_new0 (LigFix, 1);
  fix->kind = kind;
  fix->fusion = candidate->group.fusion->name;
  fix->path = path;
  fix->value = value;
  return fix;
}

/* Returns whether the candidate would be accepted if it were forced instead of the dropped one. Two
 * different forced fusions that overlap are an error. */
static gboolean
wins_by_force (const Trial *self, const LigCandidate *wanted)
{
  gboolean taken = FALSE;
  const LigOp *at = lig_part (self->graph, wanted->group.first)->plan.written;
  g_autofree guint8 *owned = g_new0 (guint8, self->graph->parts->len);
  for (guint i = 0; i < self->candidates->len; i++) {
    const LigCandidate *candidate = get (self, i);
    gboolean same = candidate->group.fusion == wanted->group.fusion;
    gboolean forced = stays_forced (self, candidate) ||
                      (same && lig_part (self->graph, candidate->group.first)->plan.written == at);
    if (!candidate->legal || candidate->shorter || !forced)
      continue;
    gboolean fits = claim (candidate, owned);
    taken |= fits && candidate == wanted;
    if (!fits && !same)
      return FALSE;
  }
  return taken;
}

static void
offer_unforce (LigGraph *graph, GArray *candidates, const LigCandidate *candidate)
{
  const LigVerdict *verdict =
    &g_array_index (graph->choice->verdicts, LigVerdict, candidate->verdict);
  const LigFusion *forced = lig_fusion_find (verdict->found.fusion);
  Trial self = {graph, candidates, forced, lig_part (graph, verdict->found.first)->plan.written};
  gboolean wins = graph->request->policy == LIG_POLICY_MEASURED ? wins_measured (&self, candidate)
                                                                : wins_in_order (&self, candidate);
  if (graph->choice->fixes->pdata[candidate->verdict])
    return;
  if (wins) {
    graph->choice->fixes->pdata[candidate->verdict] =
      new_fix (LIG_FIX_UNFORCE, candidate, verdict->found.path, forced->name);
  } else if (wins_by_force (&self, candidate)) {
    g_autofree char *path = lig_verdict_row_path (verdict->found.path);
    g_autofree char *replaced = g_strdup_printf ("%s@%s", forced->name, path);
    graph->choice->fixes->pdata[candidate->verdict] =
      new_fix (LIG_FIX_FORCE, candidate, lig_part (graph, candidate->group.first)->plan.path,
               g_string_chunk_insert_const (graph->strings, replaced));
  }
}

gboolean
lig_is_blocked (LigGraph *graph, GArray *candidates, guint number)
{
  const LigCandidate *candidate = &g_array_index (candidates, LigCandidate, number);
  const LigVerdict *verdict =
    &g_array_index (graph->choice->verdicts, LigVerdict, candidate->verdict);
  Trial self = {graph, candidates, NULL, NULL};
  gboolean edited = verdict->reason == LIG_REASON_FENCED || verdict->reason == LIG_REASON_IN_USE ||
                    verdict->reason == LIG_REASON_FORBIDDEN ||
                    verdict->reason == LIG_REASON_PATTERN;
  if (!edited || candidate->shorter || !graph->choice->fixes->pdata[candidate->verdict])
    return FALSE;
  if (graph->request->policy == LIG_POLICY_ALL)
    return !wins_in_order (&self, candidate);
  for (guint i = 0; i < candidates->len; i++)
    if (get (&self, i)->forced && get (&self, i)->legal && overlap (get (&self, i), candidate))
      return TRUE;
  return FALSE;
}

void
lig_offer_options (LigGraph *graph, GArray *candidates)
{
  gboolean measures = graph->request->policy != LIG_POLICY_MEASURED &&
                      !lig_device_has (graph->request->device, LIG_DEVICE_DESCRIBED);
  for (guint i = 0; i < candidates->len; i++) {
    const LigCandidate *candidate = &g_array_index (candidates, LigCandidate, i);
    const LigVerdict *verdict =
      &g_array_index (graph->choice->verdicts, LigVerdict, candidate->verdict);
    gboolean claimed = verdict->reason == LIG_REASON_CLAIMED;
    gboolean none = verdict->reason == LIG_REASON_FORBIDDEN &&
                    verdict->found.kind == LIG_EVIDENCE_POLICY && candidate->whole;
    if (candidate->shorter || candidate->taken || (!claimed && !none))
      continue;
    if (claimed && verdict->found.path)
      offer_unforce (graph, candidates, candidate);
    else if (measures)
      graph->choice->alternatives->pdata[candidate->verdict] =
        new_fix (LIG_FIX_CHOOSE_POLICY, candidate, NULL, lig_policy_name (LIG_POLICY_MEASURED));
  }
}
