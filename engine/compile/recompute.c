/* SPDX-License-Identifier: MIT */
/* recompute: lets the backward pass compute values again that it would read from the forward pass,
 * so that their memory is free between the passes. The steps are those of the forward pass, fused
 * as they are there, with the same bits; where a fused step does too much, such as a product, or
 * more than one unit, the op's own kernel runs instead. Random draws depend on counters alone, so
 * they are the same.
 *
 * The level `cheap` adds nothing to what is saved: it chooses values that follow, without products
 * and attention, from what backward reads anyway. The level `all` saves the inputs of each unit. */
#include "engine/compile/recompute.h"

#include "engine/compile/lower.h"
#include "engine/compile/predict.h"
#include <ligature/kernels.h>

/* A value with less than this share of the bytes of what its steps compute is saved, such as
 * statistics; at the level `cheap` also of what they read, as the losses of rows. */
#define SMALL 4

/* Returns whether the bytes of all values and their copies can be added up. Other plans are refused
 * when their memory is allocated. */
static gboolean
is_countable (const LigDraft *draft)
{
  gint64 total = 0;
  for (guint i = 0; i < draft->values->len; i++) {
    gint64 bytes = lig_value (draft, i)->bytes;
    if (bytes < 0 || bytes > G_MAXINT64 / 8 - total)
      return FALSE;
    total += bytes;
  }
  return TRUE;
}

static gboolean
is_wanted (const LigDraft *draft)
{
  if (!draft->options.training || draft->first_backward >= draft->first_update ||
      !is_countable (draft))
    return FALSE;
  for (guint i = 0; i < draft->parts->len; i++)
    if (lig_part (draft, i)->recompute != LIG_RECOMPUTE_NONE)
      return TRUE;
  return FALSE;
}

/* Returns whether the ops that a step of the backward pass serves belong to the unit. */
static gboolean
is_inside (const LigDraft *draft, const LigDraftStep *step, int unit)
{
  int first = step->part, end = step->part + 1;
  if (step->group >= 0) {
    const LigGroup *group = lig_group (draft, LIG_PASS_BACKWARD, step->group);
    first = group->first;
    end = first + group->count;
  }
  for (int i = MAX (first, 0); i < end; i++)
    if (lig_part (draft, i)->unit == unit)
      return TRUE;
  return FALSE;
}

static void
add_sources (LigRecomputation *self)
{
  const LigDraft *draft = self->draft;
  for (int i = 0; i < self->n_sources; i++) {
    const LigValue *value = lig_value (draft, i);
    LigSource *source = &self->sources[i];
    source->writer = source->unit = -1;
    source->lasting = value->role != LIG_VALUE_COMPUTED;
    if (value->part < 0)
      continue;
    const LigPart *part = lig_part (draft, value->part);
    source->level = part->recompute;
    if (source->level == LIG_RECOMPUTE_ALL)
      source->unit = part->unit;
    if (source->unit < 0)
      source->level = MIN (source->level, LIG_RECOMPUTE_CHEAP);
  }
  for (int i = 0; i < self->n_sources; i++)
    lig_source (self, i)->lasting |= lig_value (draft, i)->kept_to_end;
}

static void
add_written (LigRecomputation *self, int index)
{
  const LigDraftStep *step = lig_step (self->draft, index);
  for (int i = step->n_inputs; i < step->n_operands; i++) {
    if (step->values[i] < 0)
      continue;
    LigSource *source = lig_source (self, step->values[i]);
    source->lasting |= index < self->draft->first_forward;
    source->unstable |= source->writer >= 0 || index >= self->draft->first_backward;
    source->writer = index;
  }
}

static void
find_sources (LigRecomputation *self)
{
  const LigDraft *draft = self->draft;
  add_sources (self);
  for (int i = 0; i < draft->first_update; i++)
    add_written (self, i);
  for (int i = draft->first_backward; i < draft->first_update; i++) {
    const LigDraftStep *step = lig_step (draft, i);
    for (int j = 0; j < step->n_inputs; j++) {
      if (step->values[j] < 0)
        continue;
      LigSource *source = lig_source (self, step->values[j]);
      source->read = TRUE;
      source->outside |= source->unit >= 0 && !is_inside (draft, step, source->unit);
    }
  }
}

/* Returns whether a step that computes values of `reader`'s level and unit again may read the
 * value. */
static gboolean
may_read (LigRecomputation *self, const LigSource *reader, int value)
{
  const LigSource *source = lig_source (self, value);
  if (source->unstable)
    return FALSE;
  if (source->lasting || source->read)
    return TRUE;
  if (source->unit == reader->unit)
    return source->available;
  /* An input of the unit is saved for it. */
  return reader->unit >= 0 ? source->writer >= 0 : FALSE;
}

/* Returns whether the step can run again in the backward pass to compute values like `source`. */
static gboolean
may_repeat (LigRecomputation *self, const LigSource *source, const LigDraftStep *step)
{
  if (!step->kernel || step->empty ||
      (source->level != LIG_RECOMPUTE_ALL && step->kernel->work < 0))
    return FALSE;
  for (int i = step->n_inputs; i < step->n_operands; i++) {
    if (step->values[i] < 0)
      continue;
    const LigSource *output = lig_source (self, step->values[i]);
    int root = lig_draft_root (self->draft, step->values[i]);
    if (lig_value (self->draft, root)->role != LIG_VALUE_COMPUTED || output->unstable ||
        output->unit != source->unit)
      return FALSE;
    for (int j = 0; j < step->n_inputs; j++)
      if (step->values[j] >= 0 && lig_draft_root (self->draft, step->values[j]) == root)
        return FALSE;
  }
  return TRUE;
}

static gboolean
is_written (const LigRecomputation *self, const LigDraftStep *steps, guint count, int root)
{
  for (guint i = 0; i < count; i++)
    for (int j = steps[i].n_inputs; j < steps[i].n_operands; j++)
      if (steps[i].values[j] >= 0 && lig_draft_root (self->draft, steps[i].values[j]) == root)
        return TRUE;
  return FALSE;
}

/* Takes steps as the recipe of a value, if all of them can run again. */
static gboolean
take_recipe (LigRecomputation *self, int root, const LigDraftStep *steps, guint count)
{
  LigSource *source = &self->sources[root];
  if (!is_written (self, steps, count, root))
    return FALSE;
  for (guint i = 0; i < count; i++) {
    if (!may_repeat (self, source, &steps[i]))
      return FALSE;
    for (int j = 0; j < steps[i].n_inputs; j++) {
      int value = steps[i].values[j];
      if (value >= 0 && !is_written (self, steps, i, lig_draft_root (self->draft, value)) &&
          !may_read (self, source, value))
        return FALSE;
    }
  }
  source->first = self->recipes->len;
  source->count = count;
  source->available = TRUE;
  g_array_append_vals (self->recipes, steps, count);
  return TRUE;
}

/* Finds the kernels of an op by itself. Aliases are left as its group has set them. */
static gboolean
lower_alone (LigDraft *draft, int index, GArray *steps)
{
  const LigPart *part = lig_part (draft, index);
  LigGroup alone = {.pass = LIG_PASS_FORWARD, .first = index, .count = 1, .n_elements = 1};
  LigProbe probe = {0};
  int aliases[1 + LIG_MAX_EXTRA];
  aliases[0] = lig_value (draft, part->y)->alias;
  for (int i = 0; i < part->n_outputs; i++)
    aliases[i + 1] = lig_value (draft, part->extra_outputs[i])->alias;
  gboolean fine = lig_lower_group (draft, &alone, LIG_PASS_FORWARD, steps, &probe, NULL);
  lig_value (draft, part->y)->alias = aliases[0];
  for (int i = 0; i < part->n_outputs; i++)
    lig_value (draft, part->extra_outputs[i])->alias = aliases[i + 1];
  return fine && !probe.missing;
}

/* Takes the kernels of the value's op by itself. */
static void
take_alone (LigRecomputation *self, int root)
{
  int part = lig_value (self->draft, root)->part;
  g_autoptr (GArray) steps = g_array_new (FALSE, TRUE, sizeof (LigDraftStep));
  if (part >= 0 && lower_alone (self->draft, part, steps))
    take_recipe (self, root, (const LigDraftStep *) (gpointer) steps->data, steps->len);
}

static void
find_recipe (LigRecomputation *self, int root, const LigDraftStep *writer)
{
  LigSource *source = &self->sources[root];
  if (source->lasting || source->unstable || source->count > 0 ||
      source->level == LIG_RECOMPUTE_NONE)
    return;
  if (!take_recipe (self, root, writer, 1) && writer->kernel && writer->group >= 0 &&
      lig_group (self->draft, LIG_PASS_FORWARD, writer->group)->fusion)
    take_alone (self, root);
}

/* Finds recipes in the order of the forward pass. An output of a fused step may follow from another
 * one of the same step, so there are two rounds. */
static void
find_recipes (LigRecomputation *self)
{
  for (int i = self->draft->first_forward; i < self->draft->first_backward; i++) {
    const LigDraftStep step = *lig_step (self->draft, i);
    for (int j = 0; j < 2 * (step.n_operands - step.n_inputs); j++) {
      int value = step.values[step.n_inputs + j / 2];
      if (value >= 0)
        find_recipe (self, lig_draft_root (self->draft, value), &step);
    }
  }
}

/* Marks values that steps of other units need: these are saved, so that no unit is computed again
 * for another one. */
static void
find_inputs_of_units (LigRecomputation *self)
{
  for (int i = 0; i < self->n_sources; i++) {
    const LigSource *source = &self->sources[i];
    for (guint k = source->first; k < source->first + source->count; k++) {
      const LigDraftStep *step = &g_array_index (self->recipes, LigDraftStep, k);
      for (int j = 0; j < step->n_inputs; j++)
        if (step->values[j] >= 0 && lig_source (self, step->values[j])->unit != source->unit)
          lig_source (self, step->values[j])->outside = TRUE;
    }
  }
}

static gboolean
is_small (const LigRecomputation *self, int root)
{
  const LigSource *source = &self->sources[root];
  gint64 most = 0;
  for (guint k = source->first; k < source->first + source->count; k++) {
    const LigDraftStep *step = &g_array_index (self->recipes, LigDraftStep, k);
    for (int j = source->unit >= 0 ? step->n_inputs : 0; j < step->n_operands; j++)
      if (step->values[j] >= 0 && !lig_source (self, step->values[j])->lasting)
        most = MAX (most, lig_value (self->draft, step->values[j])->bytes);
  }
  return lig_value (self->draft, root)->bytes <= most / SMALL;
}

/* Chooses the values that are computed again. Returns whether there are any. */
static gboolean
choose (LigRecomputation *self)
{
  gboolean any = FALSE;
  for (int i = 0; i < self->n_sources; i++) {
    LigSource *source = &self->sources[i];
    source->again = source->read && !source->lasting && !source->dropped && source->count > 0 &&
                    (source->unit < 0 || !source->outside) && !is_small (self, i);
    any |= source->again;
  }
  return any;
}

static gint64
find_peak (LigDraft *draft)
{
  gint64 peak;
  g_autofree int *numbers = g_new (int, draft->values->len);
  g_autoptr (GArray) extents = lig_find_extents (draft, numbers);
  g_free (lig_sum_extents (draft, extents, &peak));
  return peak;
}

/* The parts of a draft that change, to undo the change. */
typedef struct {
  GArray *steps, *groups;
  int first_update;
} Before;

static Before
keep (const LigDraft *draft)
{
  return (Before){g_array_copy (draft->steps), g_array_copy (draft->groups[LIG_PASS_BACKWARD]),
                  draft->first_update};
}

static void
undo (LigRecomputation *self, const Before *before)
{
  GArray *steps = self->draft->steps, *groups = self->draft->groups[LIG_PASS_BACKWARD];
  g_array_set_size (self->draft->values, (guint) self->n_sources);
  g_array_set_size (steps, 0);
  g_array_append_vals (steps, before->steps->data, before->steps->len);
  g_array_set_size (groups, 0);
  g_array_append_vals (groups, before->groups->data, before->groups->len);
  self->draft->first_update = before->first_update;
}

/* Marks what is saved now. */
static void
mark_saved (LigRecomputation *self)
{
  LigDraft *draft = self->draft;
  for (int i = 0; i < self->n_sources; i++)
    if (lig_source (self, i)->again)
      lig_value (draft, i)->saved = FALSE;
  for (int i = draft->first_backward; i < draft->first_update; i++) {
    const LigDraftStep *step = lig_step (draft, i);
    for (int j = 0; j < step->n_inputs && step->again; j++)
      if (step->values[j] >= 0 && step->values[j] < self->n_sources &&
          lig_value (draft, step->values[j])->role == LIG_VALUE_COMPUTED)
        lig_value (draft, step->values[j])->saved = TRUE;
  }
}

/* Returns whether ranks repeat exchanges although their peaks differ: those of a context merge
 * other parts of attention. They have to do alike, so that none of them follows its own peak. */
static gboolean
repeats_unlike (const LigDraft *draft)
{
  if (lig_device_get_n_ranks (draft->device, LIG_GROUP_CONTEXT) == 1)
    return FALSE;
  for (int i = draft->first_backward; i < draft->first_update; i++)
    if (lig_step (draft, i)->again && lig_is_collective (lig_step (draft, i)))
      return TRUE;
  return FALSE;
}

static void
recompute (LigRecomputation *self)
{
  Before before = keep (self->draft);
  gint64 most = find_peak (self->draft);
  gboolean any = choose (self);
  if (any)
    lig_repeat_steps (self);
  gboolean unlike = repeats_unlike (self->draft);
  if (any && !unlike && lig_drop_repeated (self)) {
    undo (self, &before);
    if ((any = choose (self)))
      lig_repeat_steps (self);
  }
  self->draft->spared = any ? MAX (most - find_peak (self->draft), 0) : 0;
  if (self->draft->spared > 0 || unlike)
    mark_saved (self);
  else
    undo (self, &before);
  g_array_unref (before.steps);
  g_array_unref (before.groups);
}

gboolean
lig_recompute (LigDraft *draft, G_GNUC_UNUSED GError **error)
{
  if (!is_wanted (draft))
    return TRUE;
  LigRecomputation self = {
    .draft = draft,
    .n_sources = (int) draft->values->len,
    .sources = g_new0 (LigSource, draft->values->len),
    .recipes = g_array_new (FALSE, FALSE, sizeof (LigDraftStep)),
    .copies = g_new (int, draft->values->len),
  };
  find_sources (&self);
  find_recipes (&self);
  find_inputs_of_units (&self);
  recompute (&self);
  g_free (self.sources);
  g_array_unref (self.recipes);
  g_free (self.copies);
  return TRUE;
}
