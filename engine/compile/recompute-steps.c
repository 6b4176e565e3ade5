/* SPDX-License-Identifier: MIT */
/* Adds the steps that compute values of the forward pass again to the backward pass. */
#include "engine/compile/recompute.h"

#include "engine/compile/predict.h"

/* A value that is to be computed again. */
typedef struct {
  int root;
  int writer, part; /* values are computed in this order */
} Need;

typedef struct {
  LigRecomputation *self;
  GArray *steps; /* of LigDraftStep: the new list */
  GArray *needs; /* of Need: those of one group */
} Repetition;

static int
by_order (gconstpointer a, gconstpointer b)
{
  const Need *x = a, *y = b;
  if (x->writer != y->writer)
    return x->writer < y->writer ? -1 : 1;
  return x->part != y->part ? (x->part < y->part ? -1 : 1) : x->root - y->root;
}

static void
need (Repetition *at, int root)
{
  LigSource *source = &at->self->sources[root];
  Need need = {root, source->writer, lig_value (at->self->draft, root)->part};
  if (!source->needed)
    g_array_append_val (at->needs, need);
  source->needed = TRUE;
}

/* Returns whether a step that computes values of `reader` again reads a copy of the value instead
 * of the value itself. */
static gboolean
reads_copy (LigRecomputation *self, const LigSource *reader, int value)
{
  const LigSource *source = lig_source (self, value);
  if (source->again)
    return TRUE;
  return !source->lasting && !source->read && !source->outside && source->unit == reader->unit &&
         source->count > 0;
}

/* Collects what the needed values need themselves. */
static void
complete_needs (Repetition *at)
{
  LigRecomputation *self = at->self;
  for (guint i = 0; i < at->needs->len; i++) {
    const LigSource *source = &self->sources[g_array_index (at->needs, Need, i).root];
    for (guint k = source->first; k < source->first + source->count; k++) {
      const LigDraftStep *step = &g_array_index (self->recipes, LigDraftStep, k);
      for (int j = 0; j < step->n_inputs; j++) {
        int root = lig_draft_root (self->draft, step->values[j]);
        if (root >= 0 && reads_copy (self, source, root))
          need (at, root);
      }
    }
  }
}

/* Returns a new value for what is computed again. An alias gets the memory of its root's copy. */
static int
add_copy (LigRecomputation *self, int value)
{
  LigDraft *draft = self->draft;
  const LigValue *from = lig_value (draft, value);
  gint64 offset = from->alias_offset;
  LigShape shape = from->shape;
  int root = lig_draft_root (draft, value);
  g_autofree char *name = g_strdup (from->name);
  int copy = lig_draft_add_value (draft, LIG_VALUE_COMPUTED, &shape, from->dtype, from->part,
                                  "%s:again", name);
  if (root != value)
    lig_value (draft, copy)->alias = self->copies[root];
  lig_value (draft, copy)->alias_offset = offset;
  lig_value (draft, copy)->again = TRUE;
  return copy;
}

/* Returns the copy of a value whose root has one; else the value. */
static int
find_copy (LigRecomputation *self, int value)
{
  int root = lig_draft_root (self->draft, value);
  if (root < 0 || root >= self->n_sources || self->copies[root] < 0)
    return value;
  if (self->copies[value] < 0)
    self->copies[value] = add_copy (self, value);
  return self->copies[value];
}

/* Sets the outputs of a repeated step: new copies, or nothing for what is saved. */
static void
set_outputs (LigRecomputation *self, LigDraftStep *step)
{
  for (int j = step->n_inputs; j < step->n_operands; j++) {
    int root = lig_draft_root (self->draft, step->values[j]);
    if (root < 0)
      continue;
    const LigSource *source = &self->sources[root];
    gboolean saved = source->lasting || (source->read && !source->again) || self->copies[root] >= 0;
    if (!saved)
      self->copies[root] = add_copy (self, root);
    step->values[j] = !saved                           ? find_copy (self, step->values[j])
                      : step->ports->ports[j].optional ? -1
                                                       : add_copy (self, root);
  }
}

/* Adds a step again. It reads copies where there are any. */
static void
repeat_step (Repetition *at, LigDraftStep step)
{
  LigRecomputation *self = at->self;
  for (int j = 0; j < step.n_inputs; j++)
    step.values[j] = find_copy (self, step.values[j]);
  set_outputs (self, &step);
  step.pass = LIG_PASS_BACKWARD;
  step.group = -1;
  /* Ranks exchange in one order: that of the lane. */
  if (step.lane != LIG_LANE_COMMUNICATION)
    step.lane = LIG_LANE_MAIN;
  step.again = TRUE;
  lig_draft_add_scratch (self->draft, &step);
  /* A kernel of an op alone, in place of a fused one, has no time yet; one that ran beside others
   * had a share of theirs. */
  lig_predict_steps (self->draft, &step, 1);
  g_array_append_val (at->steps, step);
}

/* Adds the steps that compute the values again which the steps from `first` to `end` - 1, those of
 * a group, read. */
static void
repeat_for (Repetition *at, int first, int end)
{
  LigRecomputation *self = at->self;
  g_array_set_size (at->needs, 0);
  for (int i = first; i < end; i++) {
    const LigDraftStep *step = lig_step (self->draft, i);
    for (int j = 0; j < step->n_inputs; j++) {
      int root = lig_draft_root (self->draft, step->values[j]);
      if (root >= 0 && root < self->n_sources && self->sources[root].again)
        need (at, root);
    }
  }
  complete_needs (at);
  g_array_sort (at->needs, by_order);
  for (guint i = 0; i < at->needs->len; i++) {
    int root = g_array_index (at->needs, Need, i).root;
    const LigSource *source = &self->sources[root];
    for (guint k = 0; k < source->count && self->copies[root] < 0; k++)
      repeat_step (at, g_array_index (self->recipes, LigDraftStep, source->first + k));
  }
}

static void
append_steps (Repetition *at, int first, int end)
{
  LigRecomputation *self = at->self;
  int group = lig_step (self->draft, first)->group;
  if (group >= 0)
    lig_group (self->draft, LIG_PASS_BACKWARD, group)->first_step =
      self->draft->first_backward + (int) at->steps->len;
  for (int i = first; i < end; i++) {
    LigDraftStep step = *lig_step (self->draft, i);
    for (int j = 0; j < step.n_inputs; j++) {
      int root = lig_draft_root (self->draft, step.values[j]);
      if (root >= 0 && root < self->n_sources && self->sources[root].again)
        step.values[j] = find_copy (self, step.values[j]);
    }
    g_array_append_val (at->steps, step);
  }
}

void
lig_repeat_steps (LigRecomputation *self)
{
  LigDraft *draft = self->draft;
  int first = draft->first_backward, end;
  Repetition at = {
    .self = self,
    .steps = g_array_new (FALSE, TRUE, sizeof (LigDraftStep)),
    .needs = g_array_new (FALSE, FALSE, sizeof (Need)),
  };
  for (int i = 0; i < self->n_sources; i++) {
    self->copies[i] = -1;
    self->sources[i].needed = FALSE;
  }
  for (; first < draft->first_update; first = end) {
    int group = lig_step (draft, first)->group;
    for (end = first + 1; end < draft->first_update && group >= 0; end++)
      if (lig_step (draft, end)->group != group)
        break;
    repeat_for (&at, first, end);
    append_steps (&at, first, end);
  }
  int last = draft->first_update;
  draft->first_update = draft->first_backward + (int) at.steps->len;
  g_array_append_vals (at.steps, lig_step (draft, last), draft->steps->len - (guint) last);
  g_array_set_size (draft->steps, (guint) draft->first_backward);
  g_array_append_vals (draft->steps, at.steps->data, at.steps->len);
  g_array_unref (at.steps);
  g_array_unref (at.needs);
}
