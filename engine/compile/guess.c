/* SPDX-License-Identifier: MIT */
/* Guesses the shapes after an error, so that later ops are checked too. A matmul whose input does
 * not fit still has the output that it declares; an uncertain axis that an op passes on stays
 * uncertain, and errors that it may have caused are not reported. */
#include "engine/compile/shapes.h"
#include "engine/graph/problems.h"

#include <glib/gi18n-lib.h>
#include <string.h>

#define ALL (LIG_UNCERTAIN_FEATURES | LIG_UNCERTAIN_ROWS)

/* Returns a copy of the op's params without the inferred ones; a missing required number is set to
 * the input's number of features. */
static gpointer
relax (const LigPart *part, const LigShape *x)
{
  guint8 *params = g_memdup2 (part->params, MAX (part->plan.info->params_size, 1));
  for (const LigParam *at = part->plan.info->params; at && at->name; at++)
    if (at->flags & LIG_PARAM_INFERRED && at->kind == LIG_PARAM_INT)
      *(gint64 *) (gpointer) (params + at->offset) = 0;
    else if (at->kind == LIG_PARAM_INT && at->flags & LIG_PARAM_REQUIRED && part->incomplete)
      *(gint64 *) (gpointer) (params + at->offset) = MAX (lig_shape_columns (x), 1);
    else if (at->flags & LIG_PARAM_INFERRED && at->kind == LIG_PARAM_SHAPE)
      ((LigShape *) (gpointer) (params + at->offset))->n_axes = -1;
  return params;
}

static gboolean
infer_like (const LigGraph *graph, const LigPart *part, const LigInfer *like, LigInfer *infer)
{
  *infer = *like;
  infer->y = like->x;
  infer->y_dtype = like->x_dtype;
  return lig_infer_shapes (graph, part, infer, NULL);
}

static unsigned
compare (const LigShape *a, const LigShape *b)
{
  unsigned differs = 0;
  if (a->n_axes != b->n_axes)
    return ALL;
  for (int i = 0; i < a->n_axes; i++)
    if (a->axes[i] != b->axes[i])
      differs |= i == a->n_axes - 1 ? LIG_UNCERTAIN_FEATURES : LIG_UNCERTAIN_ROWS;
  return differs;
}

/* Doubles the axes of an extra input with this uncertain aspect, and the range of its integers.
 * Returns FALSE if it has no such axis. */
static gboolean
double_extra (LigInfer *infer, int slot, unsigned bit)
{
  LigShape *shape = &infer->extra_inputs[slot];
  LigRange *range = &infer->channel_ranges[slot];
  int axis = bit == LIG_UNCERTAIN_FEATURES ? shape->n_axes - 1 : 0;
  if (shape->n_axes < 1)
    return FALSE;
  shape->axes[axis] = MAX (shape->axes[axis], 1) * 2;
  if (bit == LIG_UNCERTAIN_FEATURES && range->max < G_MAXINT32 / 2)
    range->max = range->max * 2 + 1;
  return TRUE;
}

/* Returns what is uncertain about an extra input. */
static unsigned
get_extra_uncertainty (const LigGraph *graph, const LigPart *part, int slot)
{
  if (part->input_parts[slot] < 0)
    return 0;
  const LigPart *producer = lig_part (graph, part->input_parts[slot]);
  return lig_value_work (graph, producer->extra_outputs[part->input_slots[slot]])->uncertain;
}

/* Treats the extra inputs as inputs from the caller. Returns what differs (LIG_UNCERTAIN_…) between
 * them and the main input. */
static unsigned
detach_extra_inputs (const LigGraph *graph, const LigPart *part, LigInfer *infer)
{
  const LigRange all = {G_MININT32, G_MAXINT32, G_MININT32};
  unsigned differs = 0;
  for (int i = 0; i < part->n_inputs; i++) {
    if (part->input_parts[i] >= 0 && get_extra_uncertainty (graph, part, i) == 0)
      differs |= compare (&infer->extra_inputs[i], &infer->x);
    infer->extra_inputs[i].n_axes = -1;
    infer->extra_input_dtypes[i] = graph->request->compute;
    infer->channel_ranges[i] = all;
  }
  return differs;
}

/* Returns what is uncertain about the output: what changes when the uncertain axes of the input are
 * doubled. */
static unsigned
propagate_uncertainty (const LigGraph *graph,
                       const LigPart *part,
                       const LigInfer *like,
                       const LigShape *y,
                       unsigned uncertain)
{
  unsigned result = 0;
  int n = like->x.n_axes;
  for (unsigned bit = LIG_UNCERTAIN_FEATURES; bit <= LIG_UNCERTAIN_ROWS; bit <<= 1) {
    LigInfer other = *like, changed;
    int axis = bit == LIG_UNCERTAIN_FEATURES ? n - 1 : 0;
    if (!(uncertain & bit))
      continue;
    if (n == 0 || (bit == LIG_UNCERTAIN_ROWS && n < 2)) {
      result |= y->n_axes == 0 ? 0 : bit;
      continue;
    }
    other.x.axes[axis] = MAX (other.x.axes[axis], 1) * 2;
    result |= infer_like (graph, part, &other, &changed) ? compare (&changed.y, y) : ALL;
  }
  return result;
}

/* Returns what is uncertain about the output because an extra input is: what changes when its
 * uncertain axes are doubled, if the op accepts that. */
static unsigned
propagate_from_extras (const LigGraph *graph,
                       const LigPart *part,
                       const LigInfer *like,
                       const LigShape *y)
{
  unsigned result = 0;
  for (int i = 0; i < part->n_inputs; i++)
    for (unsigned bit = LIG_UNCERTAIN_FEATURES; bit <= LIG_UNCERTAIN_ROWS; bit <<= 1) {
      LigInfer other = *like, changed;
      if (get_extra_uncertainty (graph, part, i) & bit && double_extra (&other, i, bit) &&
          infer_like (graph, part, &other, &changed))
        result |= compare (&changed.y, y);
    }
  return result;
}

/* The values of uncertain extra inputs are unknown. */
static void
forget_ranges (const LigGraph *graph, const LigPart *part, LigInfer *infer)
{
  const LigRange all = {G_MININT32, G_MAXINT32, G_MININT32};
  for (int i = 0; i < part->n_inputs; i++)
    if (get_extra_uncertainty (graph, part, i) != 0)
      infer->channel_ranges[i] = all;
}

/* Returns the shape that the op declares for its whole output, like that of a reshape, or null. */
static const LigShape *
declared (const LigPart *part)
{
  for (const LigParam *at = part->plan.info->params; at && at->name; at++)
    if (at->kind == LIG_PARAM_SHAPE && at->flags & LIG_PARAM_REQUIRED) {
      const LigShape *shape =
        (const LigShape *) (gconstpointer) ((const guint8 *) part->params + at->offset);
      return shape->n_axes > 0 ? shape : NULL;
    }
  return NULL;
}

static gboolean
guess_declared (const LigGraph *graph,
                const LigPart *part,
                const LigInfer *like,
                LigInfer *infer,
                unsigned *uncertain)
{
  const LigShape *shape = declared (part);
  LigInfer own = *like;
  if (!shape)
    return FALSE;
  own.x = *shape;
  *uncertain = 0;
  for (int i = 0; i < shape->n_axes; i++)
    if (shape->axes[i] < 0) {
      own.x.axes[i] = 1;
      *uncertain = i == shape->n_axes - 1 ? LIG_UNCERTAIN_FEATURES : LIG_UNCERTAIN_ROWS;
    }
  return infer_like (graph, part, &own, infer);
}

/* Finds an input similar to the current one that the op accepts. */
static gboolean
guess_similar (
  const LigGraph *graph, const LigPart *part, LigInfer *like, LigInfer *infer, unsigned *uncertain)
{
  if (infer_like (graph, part, like, infer))
    return TRUE;
  if (like->x.n_axes == 0) {
    lig_shape_init (&like->x, 2, G_GINT64_CONSTANT (2), G_GINT64_CONSTANT (2));
    *uncertain |= ALL;
  } else {
    gint64 *features = &like->x.axes[like->x.n_axes - 1];
    *features = MAX (*features, 1) * 2;
    *uncertain |= LIG_UNCERTAIN_FEATURES;
  }
  return infer_like (graph, part, like, infer);
}

/* Fills in placeholder shapes that are valid. */
static void
give_up (const LigPart *part, LigInfer *infer)
{
  infer->y = infer->x;
  for (int i = 0; i < part->n_parameters; i++)
    lig_shape_init (&infer->parameters[i], 1, G_GINT64_CONSTANT (1));
}

static unsigned
guess (LigGraph *graph, const LigPart *part, LigInfer *infer, unsigned uncertain)
{
  LigInfer like = *infer;
  unsigned whole;
  g_autofree gpointer relaxed = relax (part, &infer->x);
  gboolean integers = (part->plan.info->flags & LIG_OP_INTEGER_INPUT) != 0;
  like.params = relaxed;
  forget_ranges (graph, part, &like);
  if (integers != lig_dtype_has (like.x_dtype, LIG_DTYPE_INDEXES) &&
      !(part->plan.info->flags & LIG_OP_ANY_TYPE))
    like.x_dtype = integers ? LIG_INT32 : graph->request->compute;
  if (infer_like (graph, part, &like, infer)) {
    unsigned from_extras = propagate_from_extras (graph, part, &like, &infer->y);
    detach_extra_inputs (graph, part, &like);
    uncertain = propagate_uncertainty (graph, part, &like, &infer->y, uncertain) | from_extras;
  } else {
    uncertain |= detach_extra_inputs (graph, part, &like);
    if (guess_declared (graph, part, &like, infer, &whole))
      uncertain = whole;
    else if (guess_similar (graph, part, &like, infer, &uncertain))
      uncertain = propagate_uncertainty (graph, part, &like, &infer->y, uncertain);
    else {
      lig_infer_prepare (graph, part, infer);
      infer->y_dtype = infer->x_dtype = graph->request->compute;
      detach_extra_inputs (graph, part, infer);
      give_up (part, infer);
      uncertain = ALL;
    }
  }
  infer->params = part->params;
  return uncertain;
}

/* Returns what is uncertain about the value that load-branch continues from. */
static unsigned
get_loaded_uncertainty (const LigGraph *graph, const LigPart *part)
{
  if (part->input_parts[0] < 0)
    return graph->request->uncertain_input ? ALL : 0;
  const LigPart *producer = lig_part (graph, part->input_parts[0]);
  return lig_value_work (graph, producer->extra_outputs[part->input_slots[0]])->uncertain;
}

/* A load-branch has the shape of its branch, even an uncertain one, independently of the op before
 * it. */
static unsigned
guess_loaded (LigGraph *graph, int index, LigInfer *infer)
{
  LigPart *part = lig_part (graph, index);
  g_autoptr (GError) error = NULL;
  unsigned uncertain = get_loaded_uncertainty (graph, part);
  if (lig_infer_shapes (graph, part, infer, &error))
    return uncertain;
  if (uncertain == 0) {
    g_prefix_error (&error, _ ("%s at %s: "), part->plan.title, part->plan.path);
    lig_error_set_path (&error, part->plan.path);
    lig_graph_collect_problem (graph, index, &error);
    part->faulty = TRUE;
  }
  lig_infer_prepare (graph, part, infer);
  infer->y = infer->extra_inputs[0] = graph->request->input;
  return ALL;
}

/* Returns what is uncertain about the part's inputs. */
static unsigned
collect_uncertain (const LigGraph *graph, const LigPart *part)
{
  unsigned uncertain = lig_value_work (graph, part->x)->uncertain;
  for (int i = 0; i < part->n_inputs; i++)
    uncertain |= get_extra_uncertainty (graph, part, i);
  return uncertain;
}

/* Returns whether the error is the same for every sharding of the input. */
static gboolean
is_certain_for_any_sharding (const LigGraph *graph,
                             const LigPart *part,
                             LigInfer like,
                             const GError *error)
{
  for (int kind = LIG_SHARDING_NONE; kind <= LIG_SHARDING_SHARED; kind++) {
    g_autoptr (GError) other = NULL;
    LigInfer sharded = like;
    sharded.x_sharding = sharded.y_sharding = (LigSharding){.kind = (LigShardingKind) kind};
    if (lig_infer_shapes (graph, part, &sharded, &other) ||
        !g_str_equal (other->message, error->message))
      return FALSE;
  }
  return TRUE;
}

/* Returns whether the error may come from an uncertain extra input: its message changes when the
 * axes of the input are doubled. */
static gboolean
depends_on_extras (const LigGraph *graph, const LigPart *part, const GError *error)
{
  for (int i = 0; i < part->n_inputs; i++) {
    unsigned uncertain = get_extra_uncertainty (graph, part, i);
    for (unsigned bit = LIG_UNCERTAIN_FEATURES; bit <= LIG_UNCERTAIN_ROWS; bit <<= 1) {
      g_autoptr (GError) other = NULL;
      LigInfer doubled;
      if (!(uncertain & bit))
        continue;
      lig_infer_prepare (graph, part, &doubled);
      if (!double_extra (&doubled, i, bit) || lig_infer_shapes (graph, part, &doubled, &other) ||
          !g_str_equal (other->message, error->message))
        return TRUE;
    }
  }
  return FALSE;
}

/* Returns whether the error is independent of the uncertain axes of the input: its message stays
 * the same when they are doubled. */
static gboolean
is_certain (const LigGraph *graph, const LigPart *part, unsigned collected, const GError *error)
{
  LigInfer like;
  unsigned uncertain = lig_value_work (graph, part->x)->uncertain;
  if (part->incomplete || collected != uncertain || depends_on_extras (graph, part, error))
    return FALSE;
  lig_infer_prepare (graph, part, &like);
  int n = like.x.n_axes;
  if ((uncertain && n == 0) || (uncertain & LIG_UNCERTAIN_ROWS && n < 2) ||
      (uncertain & LIG_UNCERTAIN_SHARDING &&
       !is_certain_for_any_sharding (graph, part, like, error)))
    return FALSE;
  for (unsigned bit = LIG_UNCERTAIN_FEATURES; bit <= LIG_UNCERTAIN_ROWS; bit <<= 1) {
    g_autoptr (GError) other = NULL;
    LigInfer doubled = like;
    int axis = bit == LIG_UNCERTAIN_FEATURES ? n - 1 : 0;
    if (!(uncertain & bit))
      continue;
    doubled.x.axes[axis] = MAX (doubled.x.axes[axis], 1) * 2;
    doubled.y = doubled.x;
    if (lig_infer_shapes (graph, part, &doubled, &other) ||
        !g_str_equal (other->message, error->message))
      return FALSE;
  }
  return TRUE;
}

/* Marks as uncertain the type of the input that an op rejected, also on the branches that carry it
 * elsewhere. */
static void
mark_type_uncertain (LigGraph *graph, int index)
{
  const LigPart *part = lig_part (graph, index);
  lig_value_work (graph, part->x)->uncertain |= LIG_UNCERTAIN_TYPE;
  for (int i = index - 1; i >= 0 && lig_part (graph, i)->plan.info->flags & LIG_OP_ANY_TYPE; i--)
    for (int slot = 0; slot < lig_part (graph, i)->n_outputs; slot++)
      lig_value_work (graph, lig_part (graph, i)->extra_outputs[slot])->uncertain |=
        LIG_UNCERTAIN_TYPE;
}

unsigned
lig_guess_shapes (LigGraph *graph, int index, LigInfer *infer)
{
  LigPart *part = lig_part (graph, index);
  if (lig_part_loads_branch (part))
    return guess_loaded (graph, index, infer);
  g_autoptr (GError) error = NULL;
  unsigned uncertain = lig_value_work (graph, part->x)->uncertain;
  unsigned collected = collect_uncertain (graph, part), passed = collected & LIG_UNCERTAIN_SHARDING;
  /* Ops rely on required parameters being in range, so shapes are not inferred if one is
   * missing. */
  gboolean fits = !part->incomplete && lig_infer_shapes (graph, part, infer, &error);
  if (fits && collected == 0)
    return 0;
  if (!fits && is_certain (graph, part, collected, error)) {
    g_prefix_error (&error, _ ("%s at %s: "), part->plan.title, part->plan.path);
    lig_error_set_path (&error, part->plan.path);
    if (error->code == LIG_ERROR_DTYPE)
      mark_type_uncertain (graph, index);
    lig_graph_collect_problem (graph, index, &error);
    part->faulty = TRUE;
    if (lig_device_get_n_ranks (graph->request->device, LIG_GROUP_TENSOR) > 1)
      passed = LIG_UNCERTAIN_SHARDING;
  }
  lig_infer_prepare (graph, part, infer);
  uncertain = guess (graph, part, infer, uncertain);
  return uncertain | passed | part->incomplete;
}
