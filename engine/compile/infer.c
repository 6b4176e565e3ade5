/* SPDX-License-Identifier: MIT */
/* infer: finds the shape and type of every value of the forward pass, the trained parameters and
 * their offsets in the state. */
#include "engine/compile/collect.h"
#include "engine/compile/owned.h"
#include "engine/compile/parameters.h"
#include "engine/compile/positions.h"
#include "engine/compile/quantizers.h"
#include "engine/compile/sharding.h"
#include <ligature/state-arrays.h>

#include <glib/gi18n-lib.h>
#include <string.h>

/* Elements of a state array are aligned for 16-byte accesses and cache lines. */
#define ALIGNED(elements) (((elements) + 63) / 64 * 64)

void
lig_infer_prepare (const LigDraft *draft, const LigPart *part, LigInfer *infer)
{
  const LigValue *x = lig_value (draft, part->x);
  const LigRange all = {G_MININT32, G_MAXINT32, G_MININT32};
  *infer = (LigInfer){
    .params = part->params,
    .name = part->title,
    .compute = draft->compute,
    .x = x->shape,
    .x_dtype = x->dtype,
    .y = x->shape,
    .y_dtype = x->dtype,
    .input = draft->input,
    .input_dtype = draft->input_dtype,
    .n_parameters = part->n_parameters,
    .x_range = all,
  };
  for (int i = 0; i < LIG_MAX_EXTRA; i++) {
    infer->extra_inputs[i].n_axes = -1;
    infer->extra_ranges[i] = all;
    infer->extra_input_dtypes[i] = draft->compute;
    infer->extra_outputs[i].n_axes = infer->extra_output_dtypes[i] = -1;
    infer->present[i] = part->present[i];
    infer->kept[i] = x->shape;
    infer->kept[i].n_axes = MAX (x->shape.n_axes - 1, 0);
    infer->kept_dtypes[i] = LIG_FP32;
  }
  for (int i = 0; i < part->n_inputs; i++)
    if (part->input_parts[i] >= 0) {
      const LigPart *producer = lig_part (draft, part->input_parts[i]);
      const LigValue *value = lig_value (draft, producer->extra_outputs[part->input_slots[i]]);
      infer->extra_inputs[i] = value->shape;
      infer->extra_input_dtypes[i] = value->dtype;
    }
  lig_sharding_prepare (draft, part, infer);
}

/* Checks that rows have features; zero rows are allowed. */
static gboolean
check_features (const LigInfer *infer, GError **error)
{
  gboolean fits = infer->x.n_axes == 0 || !lig_dtype_is_floating (infer->x_dtype) ||
                  lig_shape_columns (&infer->x) > 0;
  if (!fits)
    g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE,
                 _ ("input has 0 features, expected at least 1"));
  return fits;
}

static gboolean
check_type (const LigPart *part, const LigInfer *infer, GError **error)
{
  gboolean wants_integers = (part->info->flags & LIG_OP_INTEGER_INPUT) != 0;
  gboolean any = (part->info->flags & (LIG_OP_ANY_TYPE | LIG_OP_RECALL)) != 0;
  gboolean fits = wants_integers ? lig_dtype_has (infer->x_dtype, LIG_DTYPE_INDEXES)
                                 : any || lig_dtype_is_floating (infer->x_dtype);
  if (!fits)
    g_set_error (
      error, LIG_ERROR, LIG_ERROR_DTYPE, _ ("input is %s, expected %s"),
      lig_dtype_name (infer->x_dtype),
      lig_dtype_names (lig_dtypes_with (wants_integers ? LIG_DTYPE_INDEXES : LIG_DTYPE_COMPUTES),
                       _ (" or ")));
  return fits;
}

/* Checks the shape and the type that the op's infer function gave a value. */
static gboolean
check_value (const LigShape *shape, LigDtype dtype, const char *name, GError **error)
{
  if ((unsigned) dtype >= LIG_N_DTYPES)
    g_set_error (error, LIG_ERROR, LIG_ERROR_DTYPE,
                 _ ("the type of %s is %d, which is not a LigDtype"), name, (int) dtype);
  else if (shape->n_axes < 0)
    g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE,
                 _ ("the number of axes of %s is %d, expected at least 0"), name, shape->n_axes);
  else
    return lig_shape_check (shape, dtype, error);
  return FALSE;
}

static const LigShape *
shape_of_output (const LigInfer *infer, int slot)
{
  return infer->extra_outputs[slot].n_axes < 0 ? &infer->y : &infer->extra_outputs[slot];
}

static LigDtype
dtype_of_output (const LigInfer *infer, int slot)
{
  int dtype = infer->extra_output_dtypes[slot];
  return dtype == -1 ? infer->y_dtype : (LigDtype) dtype;
}

static const LigShape *
shape_of_input (const LigInfer *infer, int slot)
{
  return infer->extra_inputs[slot].n_axes < 0 ? &infer->x : &infer->extra_inputs[slot];
}

/* Checks everything that the op's infer function gave. */
static gboolean
check_values (const LigDraft *draft, const LigPart *part, const LigInfer *infer, GError **error)
{
  gboolean fits = TRUE;
  for (int i = 0; i < part->n_inputs && fits; i++)
    fits = part->input_parts[i] >= 0 || !part->present[i] ||
           check_value (shape_of_input (infer, i), infer->extra_input_dtypes[i],
                        part->ports->extra_inputs->ports[i].name, error);
  fits = fits && check_value (&infer->y, infer->y_dtype, "y", error);
  for (int i = 0; i < part->n_outputs && fits; i++)
    fits = check_value (shape_of_output (infer, i), dtype_of_output (infer, i),
                        part->ports->extra_outputs->ports[i].name, error);
  for (int i = 0; i < part->n_kept && fits; i++)
    fits = check_value (&infer->kept[i], infer->kept_dtypes[i],
                        part->ports->computes->ports[i].name, error);
  for (int i = 0; i < infer->n_parameters && fits; i++)
    fits = check_value (&infer->parameters[i], draft->parameter_dtype,
                        part->info->parameters[i].name, error);
  return fits;
}

static void
add_outputs (LigDraft *draft, int index, const LigInfer *infer)
{
  LigPart *part = lig_part (draft, index);
  part->y = lig_draft_add_value (draft, LIG_VALUE_COMPUTED, &infer->y, infer->y_dtype, index,
                                 "#%d.y", index);
  lig_value (draft, part->y)->sharding = infer->y_sharding;
  for (int i = 0; i < part->n_outputs; i++) {
    const char *name = part->ports->extra_outputs->ports[i].name;
    part->extra_outputs[i] =
      lig_draft_add_value (draft, LIG_VALUE_COMPUTED, shape_of_output (infer, i),
                           dtype_of_output (infer, i), index, "#%d.%s", index, name);
    lig_value (draft, part->extra_outputs[i])->sharding =
      infer->extra_output_shardings[i].kind ? infer->extra_output_shardings[i] : infer->y_sharding;
    if (part->to_caller[i]) {
      lig_value (draft, part->extra_outputs[i])->kept_to_end = TRUE;
      g_array_append_val (draft->callers_outputs, part->extra_outputs[i]);
    }
  }
  for (int i = 0; i < part->n_kept; i++) {
    const char *name = part->ports->computes->ports[i].name;
    part->kept[i] = lig_draft_add_value (draft, LIG_VALUE_COMPUTED, &infer->kept[i],
                                         infer->kept_dtypes[i], index, "#%d.%s", index, name);
  }
}

/* A line that goes on from the caller's value computes in the compute type, like the first one. */
static void
convert_recalled (LigDraft *draft, int index, int slot)
{
  LigPart *part = lig_part (draft, index);
  int from = part->extra_inputs[slot];
  const LigValue *value = lig_value (draft, from);
  if (!lig_dtype_is_floating (value->dtype) || value->dtype == draft->compute)
    return;
  LigShape shape = value->shape;
  g_autofree char *name = g_strdup (value->name);
  int to = lig_draft_add_value (draft, LIG_VALUE_COMPUTED, &shape, draft->compute, -1, "%s:%s",
                                name, lig_dtype_name (draft->compute));
  LigConversion conversion = {from, to, index};
  g_array_append_val (draft->conversions, conversion);
  part->extra_inputs[slot] = to;
}

/* Returns the number of a part among those of its macro. */
static int
place_in_macro (const LigDraft *draft, int index)
{
  int first = index;
  while (first > 0 &&
         g_str_equal (lig_part (draft, first - 1)->path, lig_part (draft, index)->path))
    first--;
  return index - first;
}

/* Returns whether both are one part of one op as written, in two repetitions of a block. */
static gboolean
is_repetition (const LigDraft *draft, int first, int index)
{
  const LigPart *a = lig_part (draft, first), *b = lig_part (draft, index);
  return a->written == b->written && a->info == b->info && !g_str_equal (a->path, b->path) &&
         place_in_macro (draft, first) == place_in_macro (draft, index);
}

/* Returns the value of the caller that an earlier repetition of the same op in a block reads at the
 * slot, or -1. The lengths and documents of a batch are the same for all of them; a value that has
 * a gradient may differ. */
static int
find_shared (const LigDraft *draft, int index, int slot, const LigInfer *infer)
{
  if (lig_dtype_is_floating (infer->extra_input_dtypes[slot]))
    return -1;
  for (guint i = 0; i < draft->callers_inputs->len; i++) {
    int value = g_array_index (draft->callers_inputs, int, i);
    int reader = lig_value (draft, value)->reader;
    if (lig_part (draft, reader)->extra_inputs[slot] == value &&
        is_repetition (draft, reader, index) &&
        lig_shape_equal (&lig_value (draft, value)->shape, shape_of_input (infer, slot)))
      return value;
  }
  return -1;
}

static void
add_inputs (LigDraft *draft, int index, const LigInfer *infer)
{
  LigPart *part = lig_part (draft, index);
  part->x_range = infer->x_range;
  memcpy (part->extra_ranges, infer->extra_ranges, sizeof part->extra_ranges);
  for (int i = 0; i < part->n_inputs; i++) {
    if (part->input_parts[i] >= 0) {
      part->extra_inputs[i] =
        lig_part (draft, part->input_parts[i])->extra_outputs[part->input_slots[i]];
      continue;
    }
    if (!part->present[i])
      continue;
    const char *name = part->ports->extra_inputs->ports[i].name;
    int shared = find_shared (draft, index, i, infer);
    if (shared >= 0) {
      part->extra_inputs[i] = shared;
      continue;
    }
    part->extra_inputs[i] =
      lig_draft_add_value (draft, LIG_VALUE_EXTRA, shape_of_input (infer, i),
                           infer->extra_input_dtypes[i], -1, "#%d.%s", index, name);
    lig_value (draft, part->extra_inputs[i])->reader = index;
    g_array_append_val (draft->callers_inputs, part->extra_inputs[i]);
    if (lig_part_recalls (part))
      convert_recalled (draft, index, i);
  }
}

/* Returns the deviation of normal initial values, the op's parameter init-std. */
static float
deviation (const LigPart *part)
{
  float value = 0.02f;
  if (g_object_class_find_property (G_OBJECT_GET_CLASS (part->op), "init-std"))
    g_object_get (part->op, "init-std", &value, NULL);
  return value;
}

static gboolean
starts_at_zero (const LigPart *part)
{
  gboolean zero_centered = FALSE;
  if (g_object_class_find_property (G_OBJECT_GET_CLASS (part->op), "zero-centered-gamma"))
    g_object_get (part->op, "zero-centered-gamma", &zero_centered, NULL);
  return zero_centered;
}

static void
add_parameters (LigDraft *draft, int index, const LigInfer *infer)
{
  lig_part (draft, index)->n_parameters = infer->n_parameters;
  for (int i = 0; i < lig_part (draft, index)->n_parameters; i++) {
    LigTie needed = {.part = index, .slot = i, .shape = infer->parameters[i]};
    lig_sharding_parameter (&needed, infer);
    if (lig_op_get_tie (lig_part (draft, index)->op, i, NULL))
      g_array_append_val (draft->ties, needed);
    else
      lig_add_parameter (draft, &needed);
  }
}

/* Sets how the parameters begin and whether they decay. */
static void
describe_parameters (LigDraft *draft)
{
  for (guint i = 0; i < draft->parameters->len; i++) {
    LigDraftParameter *parameter = &g_array_index (draft->parameters, LigDraftParameter, i);
    const LigPart *part = lig_part (draft, parameter->part);
    const LigParameterInfo *info = &part->info->parameters[parameter->slot];
    parameter->init =
      info->init == LIG_INIT_ONES && starts_at_zero (part) ? LIG_INIT_ZEROS : info->init;
    parameter->deviation = deviation (part);
    parameter->decays = info->decays;
  }
}

gboolean
lig_infer_shapes (const LigDraft *draft, const LigPart *part, LigInfer *infer, GError **error)
{
  return check_type (part, infer, error) &&
         (lig_part_recalls (part) || check_features (infer, error)) &&
         (!part->info->infer || part->info->infer (infer, error)) &&
         lig_sharding_check (part, infer, error) && lig_positions_check (part, infer, error) &&
         check_values (draft, part, infer, error);
}

static void
mark_unsure (LigDraft *draft, const LigPart *part, unsigned unsure)
{
  lig_value (draft, part->y)->unsure = unsure;
  for (int i = 0; i < part->n_outputs; i++)
    lig_value (draft, part->extra_outputs[i])->unsure = unsure;
}

static gboolean
infer_part (LigDraft *draft, int index, GError **error)
{
  LigPart *part = lig_part (draft, index);
  LigInfer infer;
  unsigned unsure = 0;
  if (!lig_infer_size (draft, index, error))
    return FALSE;
  lig_infer_prepare (draft, part, &infer);
  if (draft->problems)
    unsure = lig_guess_shapes (draft, index, &infer);
  else if (!lig_infer_shapes (draft, part, &infer, error)) {
    g_prefix_error (error, _ ("%s at %s: "), part->title, part->path);
    return lig_error_set_path (error, part->path);
  }
  add_inputs (draft, index, &infer);
  add_outputs (draft, index, &infer);
  add_parameters (draft, index, &infer);
  mark_unsure (draft, lig_part (draft, index), unsure);
  return TRUE;
}

/* Places the parameters of a kind that are trained with or without weight decay, or frozen, from an
 * offset on. Returns the end, -1 if it is too large. */
static gint64
place_kind (LigDraft *draft, gint64 at, LigParameterKind kind, gboolean trained, gboolean decays)
{
  for (guint i = 0; i < draft->parameters->len && at >= 0; i++) {
    LigDraftParameter *parameter = &g_array_index (draft->parameters, LigDraftParameter, i);
    if (lig_parameter_kind (parameter) != kind || parameter->trained != trained ||
        (trained && (parameter->decays != FALSE) != decays))
      continue;
    parameter->offset = at;
    lig_value (draft, parameter->value)->state_offset = at;
    if (__builtin_add_overflow (at, ALIGNED (lig_shape_size (&parameter->shape)), &at) ||
        at > G_MAXINT64 / 64)
      return -1;
  }
  return at;
}

/* Places parameters of all kinds. Divided ones are behind the others with weight decay and before
 * those without, so that all of them are one range. */
static gint64
place_parameters (LigDraft *draft, gint64 at, gboolean trained, gboolean decays)
{
  for (int i = 0; i < LIG_N_PARAMETER_KINDS; i++) {
    LigParameterKind kind = (LigParameterKind) (decays ? i : LIG_N_PARAMETER_KINDS - 1 - i);
    gint64 first = at;
    at = place_kind (draft, at, kind, trained, decays);
    if (trained)
      draft->ranges[kind][decays] = (LigDraftRange){first, at};
  }
  return at;
}

/* Returns the number of elements, or -1, from which the shares of all ranks are equal. */
static gint64
round_up (const LigDraft *draft, gint64 elements)
{
  gint64 unit = lig_share_unit (draft);
  return elements < 0 ? elements : (elements + unit - 1) / unit * unit;
}

/* Returns the path of the parameter with the most elements, or of the first whose number is too
 * large to be known. */
static const char *
find_largest (const LigDraft *draft)
{
  const char *path = "";
  gint64 most = -1;
  for (guint i = 0; i < draft->parameters->len; i++) {
    const LigDraftParameter *parameter = &g_array_index (draft->parameters, LigDraftParameter, i);
    gint64 size = lig_shape_size (&parameter->shape);
    if (size < 0)
      return parameter->path;
    if (size > most)
      path = parameter->path;
    most = MAX (most, size);
  }
  return path;
}

/* Places the parameters in the state: those with weight decay, the other trained ones, then the
 * frozen ones, so that gradients and the optimizer's arrays end before them. */
static gboolean
place_all (LigDraft *draft, GError **error)
{
  draft->decayed = round_up (draft, place_parameters (draft, 0, TRUE, TRUE));
  if (draft->decayed >= 0)
    draft->elements = round_up (draft, place_parameters (draft, draft->decayed, TRUE, FALSE));
  if (draft->decayed >= 0 && draft->elements >= 0)
    draft->all_elements = place_parameters (draft, draft->elements, FALSE, FALSE);
  if (draft->decayed >= 0 && draft->elements >= 0 && draft->all_elements >= 0)
    return TRUE;
  g_set_error (error, LIG_ERROR, LIG_ERROR_MEMORY,
               _ ("the parameters take more than 2^57 elements, most of them %s; give its op fewer "
                  "features"),
               find_largest (draft));
  return FALSE;
}

/* Returns whether a parameter is kept in fp32 and fp8 alone: the weight of one product whose
 * features its recipe divides. The number of rows does not matter, which differs between the plans
 * of a state; a plan that reads the weight in the compute type converts it. */
static gboolean
is_kept_in_fp8 (const LigDraft *draft, const LigDraftParameter *parameter)
{
  const LigPart *part = lig_part (draft, parameter->part);
  if (!draft->fp8_parameters || !parameter->trained || parameter->shared || !part->recipe ||
      !lig_part_is_product (part) || parameter->slot != 0)
    return FALSE;
  gint64 multiple = part->recipe->info->multiple, columns = lig_shape_columns (&parameter->shape);
  return columns % multiple == 0 && lig_shape_size (&parameter->shape) / columns % multiple == 0;
}

/* Checks that a recipe quantizes weights. */
static gboolean
check_recipes (const LigDraft *draft, GError **error)
{
  const LigRecipeInfo *found = NULL;
  for (int i = 0; i < (int) draft->parts->len; i++) {
    const LigPart *part = lig_part (draft, i);
    if (!part->recipe || !lig_part_is_product (part))
      continue;
    found = part->recipe->info;
    if (found->described) {
      g_set_error (error, LIG_ERROR, LIG_ERROR_DTYPE,
                   _ ("parameters in fp8 need a recipe that is computed, %s is only described; "
                      "choose fp8-current or another one"),
                   found->name);
      return lig_error_set_setting (error, "dtype");
    }
  }
  if (found)
    return TRUE;
  g_set_error (error, LIG_ERROR, LIG_ERROR_DTYPE,
               _ ("parameters in fp8 need a recipe, and no product has one; choose one, like "
                  "fp8-current, or parameters in %s"),
               lig_dtype_name (draft->compute));
  return lig_error_set_setting (error, "dtype");
}

/* Places the parameters in their array, in the order of the other arrays, without those that are
 * kept in fp8. The value of such a parameter is its fp32 master. */
static gboolean
store_parameters (LigDraft *draft, GError **error)
{
  gint64 spared = 0;
  g_autoptr (GArray) order = lig_parameters_by_offset (draft);
  if (draft->fp8_parameters && !check_recipes (draft, error))
    return FALSE;
  for (guint i = 0; i < order->len; i++) {
    LigDraftParameter *parameter =
      &g_array_index (draft->parameters, LigDraftParameter, g_array_index (order, int, i));
    LigValue *value = lig_value (draft, parameter->value);
    gint64 elements = lig_shape_size (&parameter->shape);
    if (!is_kept_in_fp8 (draft, parameter)) {
      parameter->stored = value->state_offset = parameter->offset - spared;
      continue;
    }
    spared += ALIGNED (elements);
    value->array = LIG_STATE_MASTER;
    value->dtype = LIG_FP32;
    value->bytes = elements * (gint64) sizeof (float);
  }
  draft->stored_elements = draft->all_elements - spared;
  return TRUE;
}

gboolean
lig_infer (LigDraft *draft, GError **error)
{
  LigDtype dtype = draft->input_dtype;
  int at = lig_draft_add_value (draft, LIG_VALUE_INPUT, &draft->input, dtype, -1, "input");
  draft->input_value = at;
  if (lig_dtype_is_floating (dtype) && dtype != draft->compute) {
    /* represent inserts the conversion that writes it. */
    at = lig_draft_add_value (draft, LIG_VALUE_COMPUTED, &draft->input, draft->compute, -1,
                              "input:%s", lig_dtype_name (draft->compute));
  }
  if (draft->unsure_input)
    lig_value (draft, at)->unsure = LIG_UNSURE_FEATURES | LIG_UNSURE_ROWS;
  for (int i = 0; i < (int) draft->parts->len; i++) {
    lig_part (draft, i)->x = at;
    if (!infer_part (draft, i, error))
      return FALSE;
    at = lig_part (draft, i)->y;
  }
  draft->output_value = at;
  lig_value (draft, at)->kept_to_end = TRUE;
  if (!lig_tie_parameters (draft, error) || !lig_freeze_parameters (draft, error))
    return FALSE;
  describe_parameters (draft);
  lig_decide_quantized (draft);
  return place_all (draft, error) && store_parameters (draft, error) &&
         lig_find_shares (draft, error) && lig_place_histories (draft, error);
}
