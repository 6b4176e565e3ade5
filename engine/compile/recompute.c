/* SPDX-License-Identifier: MIT */
/* recompute: makes the backward pass recompute values instead of reading them from the forward
 * pass, so that their memory is free between the passes. The steps are those of the forward pass,
 * with the same fusions and bit-identical results; where a fused step does too much, such as a
 * matmul, or spans more than one unit, the op's own kernel runs instead. Random numbers depend only
 * on counters, so they are the same.
 *
 * The level `cheap` saves nothing additional: it recomputes values that can be computed, without
 * matmuls and attention, from values that backward reads anyway. The level `all` saves only the
 * inputs of each unit. */

#include "engine/choose/predict.h"
#include "engine/compile/compilation.h"
#include "engine/graph/lifetimes.h"
#include "engine/graph/place.h"
#include "engine/graph/step.h"
#include "engine/graph/value.h"
#include "engine/lower/lower.h"
#include <ligature/kernels.h>

/* A value of the forward pass that is not an alias. */
typedef struct {
  LigRecompute level;
  int unit;           /* see LigPart; -1 unless the level is LIG_RECOMPUTE_ALL */
  int writer;         /* step of the forward pass that writes it; -1: none, or several */
  gboolean read;      /* by the backward pass */
  gboolean lasting;   /* in memory until the end, whether it is read or not */
  gboolean unstable;  /* written by several steps */
  gboolean outside;   /* read, or needed for recomputation, outside its unit */
  gboolean available; /* to steps that recompute others */
  gboolean again;     /* the backward pass recomputes it */
  gboolean dropped;   /* it is saved, because recomputing it would not lower the peak */
  gboolean needed;    /* a step that recomputes it has been added */
  guint first, count; /* steps in Recomputation.recipes that compute it; none if count is 0 */
} Source;

typedef struct {
  LigGraph *graph;
  int n_sources;   /* values of the graph before copies are added */
  Source *sources; /* by value */
  GArray *recipes; /* of LigGraphStep, which read and write values of the forward pass */
  int *copies;     /* by value: the recomputed copy that backward uses instead, or -1 */
} Recomputation;

#define source_of(self, value) (&(self)->sources[lig_graph_root ((self)->graph, (value))])

/* --- Copies of steps ------------------------------------------------------------------------- */

/* Adds the steps that recompute values of the forward pass to the backward pass. */

/* A value to recompute. */
typedef struct {
  int root;
  int writer, part; /* values are computed in this order */
} Need;

typedef struct {
  Recomputation *self;
  GArray *steps; /* of LigGraphStep: the new list */
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
  Source *source = &at->self->sources[root];
  Need need = {root, source->writer, lig_value (at->self->graph, root)->op};
  if (!source->needed)
    g_array_append_val (at->needs, need);
  source->needed = TRUE;
}

/* Returns whether a step that recomputes values of `reader` reads a copy of the value instead of
 * the value itself. */
static gboolean
reads_copy (Recomputation *self, const Source *reader, int value)
{
  const Source *source = source_of (self, value);
  if (source->again)
    return TRUE;
  return !source->lasting && !source->read && !source->outside && source->unit == reader->unit &&
         source->count > 0;
}

/* Collects the values that the needed values depend on. */
static void
complete_needs (Repetition *at)
{
  Recomputation *self = at->self;
  for (guint i = 0; i < at->needs->len; i++) {
    const Source *source = &self->sources[g_array_index (at->needs, Need, i).root];
    for (guint k = source->first; k < source->first + source->count; k++) {
      const LigGraphStep *step = &g_array_index (self->recipes, LigGraphStep, k);
      for (int j = 0; j < step->plan.n_inputs; j++) {
        int root = lig_graph_root (self->graph, step->values[j]);
        if (root >= 0 && reads_copy (self, source, root))
          need (at, root);
      }
    }
  }
}

/* Returns a new value for a recomputed one. An alias gets the memory of its root's copy. */
static int
add_copy (Recomputation *self, int value)
{
  LigGraph *graph = self->graph;
  const LigPlanValue *from = lig_value (graph, value);
  gint64 offset = from->alias_offset;
  LigShape shape = from->shape;
  int root = lig_graph_root (graph, value);
  g_autofree char *name = g_strdup (from->name);
  int copy = lig_graph_add_value (graph, LIG_VALUE_COMPUTED, &shape, from->dtype, from->op,
                                  "%s:again", name);
  if (root != value)
    lig_value (graph, copy)->alias = self->copies[root];
  lig_value (graph, copy)->alias_offset = offset;
  lig_value (graph, copy)->again = TRUE;
  return copy;
}

/* Returns the copy of a value whose root has one; else the value. */
static int
find_copy (Recomputation *self, int value)
{
  int root = lig_graph_root (self->graph, value);
  if (root < 0 || root >= self->n_sources || self->copies[root] < 0)
    return value;
  if (self->copies[value] < 0)
    self->copies[value] = add_copy (self, value);
  return self->copies[value];
}

/* Sets the outputs of a repeated step: new copies, or none for saved values. */
static void
set_outputs (Recomputation *self, LigGraphStep *step)
{
  for (int j = step->plan.n_inputs; j < step->plan.n_operands; j++) {
    int root = lig_graph_root (self->graph, step->values[j]);
    if (root < 0)
      continue;
    const Source *source = &self->sources[root];
    gboolean saved = source->lasting || (source->read && !source->again) || self->copies[root] >= 0;
    if (!saved)
      self->copies[root] = add_copy (self, root);
    step->values[j] = !saved                           ? find_copy (self, step->values[j])
                      : step->ports->ports[j].optional ? -1
                                                       : add_copy (self, root);
  }
}

/* Adds a step again. It reads copies where they exist. */
static void
repeat_step (Repetition *at, LigGraphStep step)
{
  Recomputation *self = at->self;
  for (int j = 0; j < step.plan.n_inputs; j++)
    step.values[j] = find_copy (self, step.values[j]);
  set_outputs (self, &step);
  step.plan.pass = LIG_PASS_BACKWARD;
  step.plan.group = -1;
  /* Ranks run collectives in one order: that of the lane. */
  if (step.plan.lane != LIG_LANE_COMMUNICATION)
    step.plan.lane = LIG_LANE_MAIN;
  step.plan.again = TRUE;
  lig_step_add_scratch (self->graph, &step);
  /* An unfused kernel in place of a fused one has no time yet; one that ran concurrently with
   * others had a share of their time. */
  lig_predict_steps (self->graph, &step, 1);
  g_array_append_val (at->steps, step);
}

/* Adds the steps that recompute the values that the steps from `first` to `end` - 1, those of a
 * group, read. */
static void
repeat_for (Repetition *at, int first, int end)
{
  Recomputation *self = at->self;
  g_array_set_size (at->needs, 0);
  for (int i = first; i < end; i++) {
    const LigGraphStep *step = lig_step (self->graph, i);
    for (int j = 0; j < step->plan.n_inputs; j++) {
      int root = lig_graph_root (self->graph, step->values[j]);
      if (root >= 0 && root < self->n_sources && self->sources[root].again)
        need (at, root);
    }
  }
  complete_needs (at);
  g_array_sort (at->needs, by_order);
  for (guint i = 0; i < at->needs->len; i++) {
    int root = g_array_index (at->needs, Need, i).root;
    const Source *source = &self->sources[root];
    for (guint k = 0; k < source->count && self->copies[root] < 0; k++)
      repeat_step (at, g_array_index (self->recipes, LigGraphStep, source->first + k));
  }
}

static void
append_steps (Repetition *at, int first, int end)
{
  Recomputation *self = at->self;
  for (int i = first; i < end; i++) {
    LigGraphStep step = *lig_step (self->graph, i);
    for (int j = 0; j < step.plan.n_inputs; j++) {
      int root = lig_graph_root (self->graph, step.values[j]);
      if (root >= 0 && root < self->n_sources && self->sources[root].again)
        step.values[j] = find_copy (self, step.values[j]);
    }
    g_array_append_val (at->steps, step);
  }
}

static void
repeat_steps (Recomputation *self)
{
  LigGraph *graph = self->graph;
  int first = graph->phases.backward, end;
  Repetition at = {
    .self = self,
    .steps = g_array_new (FALSE, TRUE, sizeof (LigGraphStep)),
    .needs = g_array_new (FALSE, FALSE, sizeof (Need)),
  };
  for (int i = 0; i < self->n_sources; i++) {
    self->copies[i] = -1;
    self->sources[i].needed = FALSE;
  }
  for (; first < graph->phases.update; first = end) {
    int group = lig_step (graph, first)->plan.group;
    for (end = first + 1; end < graph->phases.update && group >= 0; end++)
      if (lig_step (graph, end)->plan.group != group)
        break;
    repeat_for (&at, first, end);
    append_steps (&at, first, end);
  }
  int last = graph->phases.update;
  graph->phases.update = graph->phases.backward + (int) at.steps->len;
  g_array_append_vals (at.steps, lig_step (graph, last), graph->steps->len - (guint) last);
  g_array_set_size (graph->steps, (guint) graph->phases.backward);
  g_array_append_vals (graph->steps, at.steps->data, at.steps->len);
  g_array_unref (at.steps);
  g_array_unref (at.needs);
}

/* --- Recomputation that does not pay
 * ------------------------------------------------------------------ */

/* Finds values whose recomputation saves nothing: even if saved, they would fit below the memory
 * peak. The bytes alive at each step are kept in a segment tree. */

typedef struct {
  int root, unit, writer;
  int first, last; /* steps at which it would be saved */
  gint64 bytes;
} Chosen;

typedef struct {
  int length;          /* a power of two */
  gint64 *max, *added; /* by node: the maximum of the bytes below it; bytes added to all of it */
} Curve;

static void
curve_init (Curve *self, const gint64 *bytes, int count)
{
  for (self->length = 1; self->length < count;)
    self->length *= 2;
  self->max = g_new0 (gint64, 2 * (gsize) self->length);
  self->added = g_new0 (gint64, 2 * (gsize) self->length);
  for (int i = 0; i < count; i++)
    self->max[self->length + i] = bytes[i];
  for (int i = self->length - 1; i > 0; i--)
    self->max[i] = MAX (self->max[2 * i], self->max[2 * i + 1]);
}

/* Adds bytes to the steps from `first` to `last` that the node covers, `begin` to `end` - 1.
 * Returns the maximum of the bytes at these steps. */
static gint64
curve_add (Curve *self, int node, int begin, int end, int first, int last, gint64 bytes)
{
  if (last < begin || first >= end)
    return G_MININT64;
  if (first <= begin && end - 1 <= last) {
    self->added[node] += bytes;
    return self->max[node] += bytes;
  }
  int middle = begin + (end - begin) / 2;
  gint64 left = curve_add (self, 2 * node, begin, middle, first, last, bytes);
  gint64 right = curve_add (self, 2 * node + 1, middle, end, first, last, bytes);
  self->max[node] = MAX (self->max[2 * node], self->max[2 * node + 1]) + self->added[node];
  return MAX (left, right) + self->added[node];
}

/* Adds the bytes of a value to the steps between its last use in the forward pass and its copy, or
 * with the factor -1 removes them. Returns the maximum of the bytes at these steps. If the last use
 * is in place, another value already has its memory in that step. */
static gint64
bridge (Curve *curve, const Chosen *chosen, int factor)
{
  return curve_add (curve, 1, 0, curve->length, chosen->first, chosen->last,
                    factor * chosen->bytes);
}

/* The last values of the forward pass are the first that are saved after all; a unit counts as a
 * whole. */
static int
from_last (gconstpointer a, gconstpointer b)
{
  const Chosen *x = a, *y = b;
  if (x->unit != y->unit)
    return x->unit > y->unit ? -1 : 1;
  return x->writer != y->writer ? (x->writer > y->writer ? -1 : 1) : x->root - y->root;
}

static GArray *
list_chosen (const Recomputation *self, const GArray *extents, const int *numbers)
{
  GArray *list = g_array_new (FALSE, FALSE, sizeof (Chosen));
  for (int i = 0; i < self->n_sources; i++) {
    if (!self->sources[i].again || self->copies[i] < 0 || numbers[i] < 0)
      continue;
    const LigPlanValue *value = lig_value (self->graph, i);
    gboolean shared = g_array_index (extents, LigExtent, numbers[i]).last > value->last;
    Chosen chosen = {i,
                     self->sources[i].unit,
                     self->sources[i].writer,
                     value->last + (shared ? 0 : 1),
                     lig_value (self->graph, self->copies[i])->first - 1,
                     value->bytes};
    g_array_append_val (list, chosen);
  }
  g_array_sort (list, from_last);
  return list;
}

static gboolean
drop_repeated (Recomputation *self)
{
  gint64 peak;
  gboolean any = FALSE;
  Curve curve;
  g_autofree int *numbers = g_new (int, self->graph->values->len);
  g_autoptr (GArray) extents = lig_find_extents (self->graph, numbers);
  g_autofree gint64 *bytes = lig_sum_extents (self->graph, extents, &peak);
  g_autoptr (GArray) list = list_chosen (self, extents, numbers);
  const Chosen *all = (const Chosen *) (gpointer) list->data;
  curve_init (&curve, bytes, (int) self->graph->steps->len + 1);
  for (guint i = 0, end; i < list->len; i = end) {
    gint64 max = G_MININT64;
    for (end = i;
         end < list->len && (end == i || (all[i].unit >= 0 && all[end].unit == all[i].unit)); end++)
      max = MAX (max, bridge (&curve, &all[end], 1));
    for (guint k = i; k < end; k++)
      if (max > peak)
        bridge (&curve, &all[k], -1);
      else
        self->sources[all[k].root].dropped = any = TRUE;
  }
  g_free (curve.max);
  g_free (curve.added);
  return any;
}

/* --- The pass ------------------------------------------------------------------------------ */

/* A value with less than this fraction of the bytes that its steps write is saved, for example
 * statistics; at the level `cheap` also one with less than this fraction of the bytes that they
 * read, for example the losses of rows. */
#define SMALL 4

/* Returns whether the bytes of all values and their copies can be summed without overflow. Other
 * plans are rejected when their memory is allocated. */
static gboolean
is_countable (const LigGraph *graph)
{
  gint64 total = 0;
  for (guint i = 0; i < graph->values->len; i++) {
    gint64 bytes = lig_value (graph, i)->bytes;
    if (bytes < 0 || bytes > G_MAXINT64 / 8 - total)
      return FALSE;
    total += bytes;
  }
  return TRUE;
}

static gboolean
is_wanted (const LigGraph *graph)
{
  if (!graph->request->options.training || graph->phases.backward >= graph->phases.update ||
      !is_countable (graph))
    return FALSE;
  for (guint i = 0; i < graph->parts->len; i++)
    if (lig_part (graph, i)->recompute != LIG_RECOMPUTE_NONE)
      return TRUE;
  return FALSE;
}

/* Returns whether the ops of a step of the backward pass belong to the unit. */
static gboolean
is_inside (const LigGraph *graph, const LigGraphStep *step, int unit)
{
  int first = step->plan.part, end = step->plan.part + 1;
  if (step->plan.group >= 0) {
    const LigPlanGroup *group = lig_group (graph, LIG_PASS_BACKWARD, step->plan.group);
    first = group->first;
    end = first + group->count;
  }
  for (int i = MAX (first, 0); i < end; i++)
    if (lig_part (graph, i)->unit == unit)
      return TRUE;
  return FALSE;
}

static void
add_sources (Recomputation *self)
{
  const LigGraph *graph = self->graph;
  for (int i = 0; i < self->n_sources; i++) {
    const LigPlanValue *value = lig_value (graph, i);
    Source *source = &self->sources[i];
    source->writer = source->unit = -1;
    source->lasting = value->role != LIG_VALUE_COMPUTED;
    if (value->op < 0)
      continue;
    const LigPart *part = lig_part (graph, value->op);
    source->level = part->recompute;
    if (source->level == LIG_RECOMPUTE_ALL)
      source->unit = part->unit;
    if (source->unit < 0)
      source->level = MIN (source->level, LIG_RECOMPUTE_CHEAP);
  }
  for (int i = 0; i < self->n_sources; i++)
    source_of (self, i)->lasting |= lig_value (graph, i)->kept_to_end;
}

static void
add_written (Recomputation *self, int index)
{
  const LigGraphStep *step = lig_step (self->graph, index);
  for (int i = step->plan.n_inputs; i < step->plan.n_operands; i++) {
    if (step->values[i] < 0)
      continue;
    Source *source = source_of (self, step->values[i]);
    source->lasting |= index < self->graph->phases.forward;
    source->unstable |= source->writer >= 0 || index >= self->graph->phases.backward;
    source->writer = index;
  }
}

static void
find_sources (Recomputation *self)
{
  const LigGraph *graph = self->graph;
  add_sources (self);
  for (int i = 0; i < graph->phases.update; i++)
    add_written (self, i);
  for (int i = graph->phases.backward; i < graph->phases.update; i++) {
    const LigGraphStep *step = lig_step (graph, i);
    for (int j = 0; j < step->plan.n_inputs; j++) {
      if (step->values[j] < 0)
        continue;
      Source *source = source_of (self, step->values[j]);
      source->read = TRUE;
      source->outside |= source->unit >= 0 && !is_inside (graph, step, source->unit);
    }
  }
}

/* Returns whether a step that recomputes values of `reader`'s level and unit may read the value. */
static gboolean
may_read (Recomputation *self, const Source *reader, int value)
{
  const Source *source = source_of (self, value);
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
may_repeat (Recomputation *self, const Source *source, const LigGraphStep *step)
{
  if (!step->plan.kernel || step->code.empty ||
      (source->level != LIG_RECOMPUTE_ALL && step->plan.kernel->work < 0))
    return FALSE;
  for (int i = step->plan.n_inputs; i < step->plan.n_operands; i++) {
    if (step->values[i] < 0)
      continue;
    const Source *output = source_of (self, step->values[i]);
    int root = lig_graph_root (self->graph, step->values[i]);
    if (lig_value (self->graph, root)->role != LIG_VALUE_COMPUTED || output->unstable ||
        output->unit != source->unit)
      return FALSE;
    for (int j = 0; j < step->plan.n_inputs; j++)
      if (step->values[j] >= 0 && lig_graph_root (self->graph, step->values[j]) == root)
        return FALSE;
  }
  return TRUE;
}

static gboolean
is_written (const Recomputation *self, const LigGraphStep *steps, guint count, int root)
{
  for (guint i = 0; i < count; i++)
    for (int j = steps[i].plan.n_inputs; j < steps[i].plan.n_operands; j++)
      if (steps[i].values[j] >= 0 && lig_graph_root (self->graph, steps[i].values[j]) == root)
        return TRUE;
  return FALSE;
}

/* Uses steps as the recipe of a value if all of them can run again. */
static gboolean
take_recipe (Recomputation *self, int root, const LigGraphStep *steps, guint count)
{
  Source *source = &self->sources[root];
  if (!is_written (self, steps, count, root))
    return FALSE;
  for (guint i = 0; i < count; i++) {
    if (!may_repeat (self, source, &steps[i]))
      return FALSE;
    for (int j = 0; j < steps[i].plan.n_inputs; j++) {
      int value = steps[i].values[j];
      if (value >= 0 && !is_written (self, steps, i, lig_graph_root (self->graph, value)) &&
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

/* Finds the kernels of an unfused op. Aliases are left as its group has set them. */
static gboolean
lower_alone (LigGraph *graph, int index, GArray *steps)
{
  const LigPart *part = lig_part (graph, index);
  LigPlanGroup alone = {.pass = LIG_PASS_FORWARD, .first = index, .count = 1, .n_elements = 1};
  LigProbe probe = {0};
  int aliases[1 + LIG_MAX_EXTRA];
  aliases[0] = lig_value (graph, part->y)->alias;
  for (int i = 0; i < part->n_outputs; i++)
    aliases[i + 1] = lig_value (graph, part->extra_outputs[i])->alias;
  gboolean fine = lig_lower_group (graph, &alone, LIG_PASS_FORWARD, steps, &probe, NULL);
  lig_value (graph, part->y)->alias = aliases[0];
  for (int i = 0; i < part->n_outputs; i++)
    lig_value (graph, part->extra_outputs[i])->alias = aliases[i + 1];
  return fine && !probe.missing;
}

/* Uses the kernels of the value's unfused op. */
static void
take_alone (Recomputation *self, int root)
{
  int part = lig_value (self->graph, root)->op;
  g_autoptr (GArray) steps = g_array_new (FALSE, TRUE, sizeof (LigGraphStep));
  if (part >= 0 && lower_alone (self->graph, part, steps))
    take_recipe (self, root, (const LigGraphStep *) (gpointer) steps->data, steps->len);
}

static void
find_recipe (Recomputation *self, int root, const LigGraphStep *writer)
{
  Source *source = &self->sources[root];
  if (source->lasting || source->unstable || source->count > 0 ||
      source->level == LIG_RECOMPUTE_NONE)
    return;
  if (!take_recipe (self, root, writer, 1) && writer->plan.kernel && writer->plan.group >= 0 &&
      lig_group (self->graph, LIG_PASS_FORWARD, writer->plan.group)->fusion)
    take_alone (self, root);
}

/* Finds recipes in the order of the forward pass. An output of a fused step may depend on another
 * one of the same step, so there are two rounds. */
static void
find_recipes (Recomputation *self)
{
  for (int i = self->graph->phases.forward; i < self->graph->phases.backward; i++) {
    const LigGraphStep step = *lig_step (self->graph, i);
    for (int j = 0; j < 2 * (step.plan.n_operands - step.plan.n_inputs); j++) {
      int value = step.values[step.plan.n_inputs + j / 2];
      if (value >= 0)
        find_recipe (self, lig_graph_root (self->graph, value), &step);
    }
  }
}

/* Marks values that steps of other units need: these are saved, so that no unit is recomputed for
 * another one. */
static void
find_inputs_of_units (Recomputation *self)
{
  for (int i = 0; i < self->n_sources; i++) {
    const Source *source = &self->sources[i];
    for (guint k = source->first; k < source->first + source->count; k++) {
      const LigGraphStep *step = &g_array_index (self->recipes, LigGraphStep, k);
      for (int j = 0; j < step->plan.n_inputs; j++)
        if (step->values[j] >= 0 && source_of (self, step->values[j])->unit != source->unit)
          source_of (self, step->values[j])->outside = TRUE;
    }
  }
}

static gboolean
is_small (const Recomputation *self, int root)
{
  const Source *source = &self->sources[root];
  gint64 max = 0;
  for (guint k = source->first; k < source->first + source->count; k++) {
    const LigGraphStep *step = &g_array_index (self->recipes, LigGraphStep, k);
    for (int j = source->unit >= 0 ? step->plan.n_inputs : 0; j < step->plan.n_operands; j++)
      if (step->values[j] >= 0 && !source_of (self, step->values[j])->lasting)
        max = MAX (max, lig_value (self->graph, step->values[j])->bytes);
  }
  return lig_value (self->graph, root)->bytes <= max / SMALL;
}

/* Chooses the values to recompute. Returns whether there are any. */
static gboolean
choose (Recomputation *self)
{
  gboolean any = FALSE;
  for (int i = 0; i < self->n_sources; i++) {
    Source *source = &self->sources[i];
    source->again = source->read && !source->lasting && !source->dropped && source->count > 0 &&
                    (source->unit < 0 || !source->outside) && !is_small (self, i);
    any |= source->again;
  }
  return any;
}

static gint64
find_peak (LigGraph *graph)
{
  gint64 peak;
  g_autofree int *numbers = g_new (int, graph->values->len);
  g_autoptr (GArray) extents = lig_find_extents (graph, numbers);
  g_free (lig_sum_extents (graph, extents, &peak));
  return peak;
}

/* The parts of a graph that change, kept to undo the change. */
typedef struct {
  GArray *steps, *groups;
  int first_update;
} Before;

static Before
keep (const LigGraph *graph)
{
  return (Before){g_array_copy (graph->steps), g_array_copy (graph->groups[LIG_PASS_BACKWARD]),
                  graph->phases.update};
}

static void
undo (Recomputation *self, const Before *before)
{
  GArray *steps = self->graph->steps, *groups = self->graph->groups[LIG_PASS_BACKWARD];
  g_array_set_size (self->graph->values, (guint) self->n_sources);
  g_array_set_size (steps, 0);
  g_array_append_vals (steps, before->steps->data, before->steps->len);
  g_array_set_size (groups, 0);
  g_array_append_vals (groups, before->groups->data, before->groups->len);
  self->graph->phases.update = before->first_update;
}

/* Marks the values that are now saved. */
static void
mark_saved (Recomputation *self)
{
  LigGraph *graph = self->graph;
  for (int i = 0; i < self->n_sources; i++)
    if (source_of (self, i)->again)
      lig_value (graph, i)->saved = FALSE;
  for (int i = graph->phases.backward; i < graph->phases.update; i++) {
    const LigGraphStep *step = lig_step (graph, i);
    for (int j = 0; j < step->plan.n_inputs && step->plan.again; j++)
      if (step->values[j] >= 0 && step->values[j] < self->n_sources &&
          lig_value (graph, step->values[j])->role == LIG_VALUE_COMPUTED)
        lig_value (graph, step->values[j])->saved = TRUE;
  }
}

/* Returns whether ranks repeat collectives although their peaks differ, because ranks of a
 * context-parallel group merge different parts of attention. All ranks must repeat the same ones,
 * so none may decide by its own peak. */
static gboolean
repeats_unlike (const LigGraph *graph)
{
  if (lig_device_get_n_ranks (graph->request->device, LIG_GROUP_CONTEXT) == 1)
    return FALSE;
  for (int i = graph->phases.backward; i < graph->phases.update; i++)
    if (lig_step (graph, i)->plan.again && lig_is_collective (lig_step (graph, i)))
      return TRUE;
  return FALSE;
}

static void
recompute (Recomputation *self)
{
  Before before = keep (self->graph);
  gint64 max = find_peak (self->graph);
  gboolean any = choose (self);
  if (any)
    repeat_steps (self);
  gboolean unlike = repeats_unlike (self->graph);
  if (any && !unlike && drop_repeated (self)) {
    undo (self, &before);
    if ((any = choose (self)))
      repeat_steps (self);
  }
  self->graph->spared = any ? MAX (max - find_peak (self->graph), 0) : 0;
  if (self->graph->spared > 0 || unlike)
    mark_saved (self);
  else
    undo (self, &before);
  g_array_unref (before.steps);
  g_array_unref (before.groups);
}

gboolean
lig_recompute (LigGraph *graph, G_GNUC_UNUSED GError **error)
{
  if (!is_wanted (graph))
    return TRUE;
  Recomputation self = {
    .graph = graph,
    .n_sources = (int) graph->values->len,
    .sources = g_new0 (Source, graph->values->len),
    .recipes = g_array_new (FALSE, FALSE, sizeof (LigGraphStep)),
    .copies = g_new (int, graph->values->len),
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
