/* SPDX-License-Identifier: MIT */
/* Finds the mends of one match. */
#include "engine/compile/offer.h"

#include "engine/compile/kernels.h"
#include "engine/compile/quantizers.h"

#include <string.h>

void
lig_offer (LigMatch *match, LigMendKind kind, const char *path, const char *value)
{
  g_free (match->mend);
  match->mend = g_new0 (LigMend, 1);
  match->mend->kind = kind;
  match->mend->path = path;
  match->mend->value = value;
}

/* Returns whether the op itself is in the sequence, and is not a part of a macro. */
static gboolean
is_written (const LigPart *part)
{
  return g_str_equal (part->title, part->info->name);
}

void
lig_offer_unforbid (const LigDraft *draft, const char *fusion, LigMatch *match)
{
  const LigPart *part = lig_part (draft, match->first);
  gboolean here = g_strv_contains (lig_op_get_forbidden (part->written), fusion);
  lig_offer (match, LIG_MEND_UNFORBID, here ? part->path : NULL, NULL);
}

/* Returns the path of the one op whose fence is before the part: the part itself, or a block that
 * begins with it; null if several have a fence. */
static const char *
find_fenced (LigDraft *draft, const LigPart *part)
{
  const char *fenced = NULL;
  g_autofree char *path = g_strdup (part->path);
  for (;;) {
    if (lig_op_get_fence (lig_sequence_find (draft->sequence, path, NULL))) {
      if (fenced)
        return NULL;
      fenced = g_string_chunk_insert_const (draft->strings, path);
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
    const LigPart *part = lig_part (walk->draft, i);
    if (!part->fence)
      continue;
    if (fenced && fenced->written != part->written)
      return;
    fenced = fenced ? fenced : part;
  }
  const char *path = fenced ? find_fenced (walk->draft, fenced) : NULL;
  if (path)
    lig_offer (match, LIG_MEND_REMOVE_FENCE, path, NULL);
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
lig_offer_private_branch (const LigDraft *draft, int branch, LigMatch *match)
{
  if (can_be_private (lig_part (draft, branch)))
    lig_offer (match, LIG_MEND_MAKE_PRIVATE, lig_part (draft, branch)->path, NULL);
}

void
lig_offer_private (const LigWalk *walk, const LigFound *found, LigMatch *match)
{
  int branch = -1;
  for (int i = walk->at; i < found->end; i++) {
    const LigPart *part = lig_part (walk->draft, i);
    if (lig_found_has (found, i) || !lig_branch_is_used (part))
      continue;
    if (branch >= 0 && lig_part (walk->draft, branch)->written != part->written)
      return;
    branch = branch < 0 ? i : branch;
  }
  if (branch >= 0)
    lig_offer_private_branch (walk->draft, branch, match);
}

/* Returns the first op after the matched ones that is not skipped; -1 for none. */
static int
find_blocker (const LigWalk *walk, const LigFound *found)
{
  int end = MIN (found->end + LIG_MOST_TRANSPARENT, (int) walk->draft->parts->len);
  for (int index = found->end; index < end; index++) {
    const LigPart *part = lig_part (walk->draft, index);
    if (!lig_part_is_transparent (part, walk->fusion->pass) || lig_branch_is_used (part))
      return index;
  }
  return -1;
}

static gboolean
does_nothing (const LigPart *part)
{
  float p = 1;
  if (g_str_equal (part->info->name, "dropout"))
    g_object_get (part->op, "p", &p, NULL);
  return p == 0;
}

static gboolean
follows (const LigWalk *walk)
{
  LigFound other;
  return lig_walk_follow (walk, &other);
}

/* Returns whether a new op of this kind, inserted into a sequence, changes nothing before it is
 * trained. */
static gboolean
begins_as_identity (const LigOpInfo *info)
{
  const LigParameterInfo *parameter = info->parameters;
  if (!parameter || info->extra_inputs || info->extra_outputs || info->opaque_forward ||
      info->expand || info->flags)
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
  const char *a = strrchr (one->path, '.'), *b = strrchr (two->path, '.');
  gsize length = a ? (gsize) (a - one->path) : 0;
  return (a != NULL) == (b != NULL) && length == (b ? (gsize) (b - two->path) : 0) &&
         strncmp (one->path, two->path, length) == 0 && one->written != two->written;
}

/* Tries to replace the op with another activation. */
static gboolean
try_replacing (LigWalk *walk, int blocker, int element, LigMatch *match)
{
  const LigPart *part = lig_part (walk->draft, blocker);
  if (!(part->info->flags & LIG_OP_ACTIVATION) || !is_written (part))
    return FALSE;
  walk->replaced = blocker;
  for (char **name = walk->pattern->elements[element].names; *name; name++) {
    walk->replacement = lig_op_info_find (*name);
    if (!(walk->replacement->flags & LIG_OP_ACTIVATION) || !follows (walk))
      continue;
    lig_offer (match, LIG_MEND_REPLACE_OP, part->path, walk->replacement->name);
    return TRUE;
  }
  walk->replaced = -1;
  return FALSE;
}

static gboolean
try_inserting (LigWalk *walk, const LigFound *found, int element, LigMatch *match)
{
  const LigPart *next = lig_part (walk->draft, found->end);
  if (!are_neighbours (lig_part (walk->draft, found->end - 1), next))
    return FALSE;
  walk->inserted = element;
  for (char **name = walk->pattern->elements[element].names; *name; name++) {
    const LigOpInfo *info = lig_op_info_find (*name);
    if (!begins_as_identity (info) || !follows (walk))
      continue;
    lig_offer (match, LIG_MEND_INSERT_OP, next->path, info->name);
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
  const LigPart *part = lig_part (walk->draft, blocker);
  walk->skipped = does_nothing (part) && is_written (part) ? blocker : -1;
  if (walk->skipped >= 0 && follows (walk)) {
    lig_offer (match, LIG_MEND_REMOVE_OP, part->path, part->info->name);
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
has_kernels (const LigDraft *draft, const GArray *steps, LigDtype dtype)
{
  for (guint i = 0; i < steps->len; i++) {
    const LigDraftStep *step = &g_array_index (steps, LigDraftStep, i);
    LigDtype served = lig_served_dtype (draft, step);
    if (step->kernel && !lig_device_has_kernel (draft->device, step->kernel,
                                                served == draft->compute ? dtype : served))
      return FALSE;
  }
  return TRUE;
}

/* A type set by an option of the compilation overrides the sequence's type, so editing the sequence
 * would not help. */
void
lig_offer_dtype (const LigDraft *draft, const GArray *steps, unsigned types, LigMatch *match)
{
  for (int i = 0; draft->options.compute < 0 && i < LIG_N_DTYPES; i++) {
    LigDtype dtype = (LigDtype) i;
    if (dtype == draft->compute || !lig_dtype_is_floating (dtype))
      continue;
    if (steps ? has_kernels (draft, steps, dtype) : (types & LIG_TYPES (dtype)) != 0) {
      lig_offer (match, LIG_MEND_SET_DTYPE, NULL, lig_dtype_name (dtype));
      return;
    }
  }
}
