/* SPDX-License-Identifier: MIT */
/* infer: finds the shape and type of every value of the forward pass, the trained parameters and
 * their offsets in the state. */
#include "engine/compile/compilation.h"
#include "engine/compile/parameters.h"
#include "engine/compile/shapes.h"
#include "engine/graph/gradients.h"
#include "engine/graph/op.h"
#include "engine/graph/problems.h"
#include "engine/graph/value.h"
#include "engine/parallel/sharding.h"
#include "engine/parallel/shares.h"
#include "engine/quantize/quantizers.h"
#include "engine/sequence/parts.h"
#include <ligature/state-arrays.h>

#include <glib/gi18n-lib.h>
#include <inttypes.h>
#include <string.h>

/* Elements of a state array are aligned for 16-byte accesses and cache lines. */
#define ALIGNED(elements) (((elements) + 63) / 64 * 64)

/* Sets the order of the rows of a value, of the op at the index if it is its own. */
static void
set_order (LigGraph *graph, int value, int order, int index)
{
  lig_value_work (graph, value)->order = order == LIG_ORDER_OWN ? index + 1 : order;
}

static void
add_outputs (LigGraph *graph, int index, const LigInfer *infer)
{
  LigPart *part = lig_part (graph, index);
  memcpy (part->output_ranges, infer->extra_output_ranges, sizeof part->output_ranges);
  part->y = lig_graph_add_value (graph, LIG_VALUE_COMPUTED, &infer->y, infer->y_dtype, index,
                                 "#%d.y", index);
  lig_value (graph, part->y)->sharding = infer->y_sharding;
  set_order (graph, part->y, infer->y_order, index);
  for (int i = 0; i < part->n_outputs; i++) {
    const char *name = part->ports->extra_outputs->ports[i].name;
    part->extra_outputs[i] =
      lig_graph_add_value (graph, LIG_VALUE_COMPUTED, lig_infer_output_shape (infer, i),
                           lig_infer_output_dtype (infer, i), index, "#%d.%s", index, name);
    lig_value (graph, part->extra_outputs[i])->sharding =
      infer->extra_output_shardings[i].kind ? infer->extra_output_shardings[i] : infer->y_sharding;
    int order = infer->extra_output_orders[i];
    set_order (graph, part->extra_outputs[i], order == LIG_ORDER_OF_Y ? infer->y_order : order,
               index);
    if (part->to_caller[i]) {
      lig_value (graph, part->extra_outputs[i])->kept_to_end = TRUE;
      g_array_append_val (graph->ends.extra_outputs, part->extra_outputs[i]);
    }
  }
  part->n_kept = infer->n_kept;
  for (int i = 0; i < part->n_kept; i++) {
    const char *name = part->ports->computes->ports[i].name;
    part->kept[i] = lig_graph_add_value (graph, LIG_VALUE_COMPUTED, &infer->kept[i],
                                         infer->kept_dtypes[i], index, "#%d.%s", index, name);
    lig_value (graph, part->kept[i])->kept_to_end =
      graph->request->options.training &&
      lig_ports_find (lig_ports_parse (part->plan.info->watches), name) >= 0;
  }
}

/* A line that continues from a value of the caller computes in the compute type, like the first
 * one. */
static void
convert_loaded (LigGraph *graph, int index, int slot)
{
  LigPart *part = lig_part (graph, index);
  int from = part->extra_inputs[slot];
  const LigPlanValue *value = lig_value (graph, from);
  if (!lig_dtype_is_floating (value->dtype) || value->dtype == graph->request->compute)
    return;
  LigShape shape = value->shape;
  g_autofree char *name = g_strdup (value->name);
  int to = lig_graph_add_value (graph, LIG_VALUE_COMPUTED, &shape, graph->request->compute, -1,
                                "%s:%s", name, lig_dtype_name (graph->request->compute));
  LigConversion conversion = {from, to, index};
  g_array_append_val (graph->gradients->conversions, conversion);
  part->extra_inputs[slot] = to;
}

/* Returns the index of a part in its macro. */
static int
place_in_macro (const LigGraph *graph, int index)
{
  int first = index;
  while (first > 0 &&
         g_str_equal (lig_part (graph, first - 1)->plan.path, lig_part (graph, index)->plan.path))
    first--;
  return index - first;
}

/* Returns whether both are the same part of the same op in two repetitions of a block. */
static gboolean
is_repetition (const LigGraph *graph, int first, int index)
{
  const LigPart *a = lig_part (graph, first), *b = lig_part (graph, index);
  return a->plan.written == b->plan.written && a->plan.info == b->plan.info &&
         !g_str_equal (a->plan.path, b->plan.path) &&
         place_in_macro (graph, first) == place_in_macro (graph, index);
}

/* Returns the value of the caller that an earlier repetition of the same op in a block reads at the
 * slot, or -1. All repetitions use the same lengths and documents of a batch; a value that has a
 * gradient may differ. */
static int
find_shared (const LigGraph *graph, int index, int slot, const LigInfer *infer)
{
  if (lig_dtype_is_floating (infer->extra_input_dtypes[slot]))
    return -1;
  for (guint i = 0; i < graph->ends.extra_inputs->len; i++) {
    int value = g_array_index (graph->ends.extra_inputs, int, i);
    int reader = lig_value_work (graph, value)->reader;
    if (lig_part (graph, reader)->extra_inputs[slot] == value &&
        is_repetition (graph, reader, index) &&
        lig_shape_equal (&lig_value (graph, value)->shape, lig_infer_input_shape (infer, slot)))
      return value;
  }
  return -1;
}

static void
add_inputs (LigGraph *graph, int index, const LigInfer *infer)
{
  LigPart *part = lig_part (graph, index);
  part->x_range = infer->x_range;
  memcpy (part->extra_ranges, infer->extra_ranges, sizeof part->extra_ranges);
  for (int i = 0; i < part->n_inputs; i++) {
    if (part->input_parts[i] >= 0) {
      part->extra_inputs[i] =
        lig_part (graph, part->input_parts[i])->extra_outputs[part->input_slots[i]];
      continue;
    }
    if (!part->present[i])
      continue;
    const char *name = part->ports->extra_inputs->ports[i].name;
    int shared = find_shared (graph, index, i, infer);
    if (shared >= 0) {
      part->extra_inputs[i] = shared;
      continue;
    }
    part->extra_inputs[i] =
      lig_graph_add_value (graph, LIG_VALUE_EXTRA, lig_infer_input_shape (infer, i),
                           infer->extra_input_dtypes[i], -1, "#%d.%s", index, name);
    lig_value_work (graph, part->extra_inputs[i])->reader = index;
    g_array_append_val (graph->ends.extra_inputs, part->extra_inputs[i]);
    if (lig_part_loads_branch (part))
      convert_loaded (graph, index, i);
  }
}

/* Returns the standard deviation of normal initial values, the op's parameter init-std. */
static float
std (const LigPart *part)
{
  float value = 0.02f;
  if (g_object_class_find_property (G_OBJECT_GET_CLASS (part->plan.op), "init-std"))
    g_object_get (part->plan.op, "init-std", &value, NULL);
  return value;
}

static gboolean
starts_at_zero (const LigPart *part)
{
  gboolean zero_centered = FALSE;
  if (g_object_class_find_property (G_OBJECT_GET_CLASS (part->plan.op), "zero-centered-gamma"))
    g_object_get (part->plan.op, "zero-centered-gamma", &zero_centered, NULL);
  return zero_centered;
}

static void
add_parameters (LigGraph *graph, int index, const LigInfer *infer)
{
  lig_part (graph, index)->n_parameters = infer->n_parameters;
  for (int i = 0; i < lig_part (graph, index)->n_parameters; i++) {
    LigTie needed = {.part = index, .slot = i, .shape = infer->parameters[i]};
    lig_sharding_parameter (&needed, infer);
    if (lig_op_get_tie (lig_part (graph, index)->plan.op, i, NULL))
      g_array_append_val (graph->ties, needed);
    else
      lig_add_parameter (graph, &needed);
  }
}

/* Sets how the parameters are initialized and whether weight decay applies. */
static void
describe_parameters (LigGraph *graph)
{
  for (guint i = 0; i < graph->layout->parameters->len; i++) {
    LigParameter *parameter = lig_parameter (graph, i);
    const LigPart *part = lig_part (graph, lig_owner (graph, i)->part);
    const LigParameterInfo *info = &part->plan.info->parameters[lig_owner (graph, i)->slot];
    parameter->init =
      info->init == LIG_INIT_ONES && starts_at_zero (part) ? LIG_INIT_ZEROS : info->init;
    parameter->std = std (part);
    parameter->decays = info->decays;
  }
}

static void
mark_uncertain (LigGraph *graph, const LigPart *part, unsigned uncertain)
{
  lig_value_work (graph, part->y)->uncertain = uncertain;
  for (int i = 0; i < part->n_outputs; i++)
    lig_value_work (graph, part->extra_outputs[i])->uncertain = uncertain;
}

/* Adds the keys and values that the op keeps in the cache. */
static gboolean
add_cached (LigGraph *graph, int index, const LigInfer *infer, GError **error)
{
  const LigCacheShape *cache = &graph->request->options.cache;
  LigShape shape;
  LigPart *part = lig_part (graph, index);
  part->cache = -1;
  if (cache->rows == 0 || infer->cached == 0)
    return TRUE;
  /* One more slot takes what the unused rows of a run write. */
  lig_shape_init (&shape, 3, cache->slots + 1, infer->cached_positions, infer->cached);
  if (!lig_shape_check (&shape, graph->request->compute, error)) {
    g_prefix_error (error, _ ("%s at %s: the cache: "), part->plan.title, part->plan.path);
    return lig_error_set_path (error, part->plan.path);
  }
  part->cache = lig_graph_add_value (graph, LIG_VALUE_CACHE, &shape, graph->request->compute, -1,
                                     "#%d.cache", index);
  LigPlanValue *value = lig_value (graph, part->cache);
  value->state_offset = graph->cache_bytes;
  if (lig_part_kept_input (part) < 0 && infer->cached_positions < cache->length &&
      (graph->cache_ring == 0 || infer->cached_positions < graph->cache_ring))
    graph->cache_ring = infer->cached_positions;
  if (__builtin_add_overflow (graph->cache_bytes, (value->bytes + 255) / 256 * 256,
                              &graph->cache_bytes)) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_MEMORY, _ ("the cache takes more than 2^63 bytes"));
    return FALSE;
  }
  return TRUE;
}

/* Checks that the op can extend a text: that its positions depend on no later ones. */
static gboolean
check_extends (const LigGraph *graph, const LigPart *part, const LigInfer *infer, GError **error)
{
  const char *reason = NULL;
  if (graph->request->options.cache.rows == 0 || part->source || lig_part_kept_input (part) >= 0 ||
      lig_part_positions (part, &infer->x, &infer->y, &reason) != LIG_POSITIONS_ALL)
    return TRUE;
  g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE, _ ("%s at %s: %s"), part->plan.info->name,
               part->plan.path, _ (reason));
  return lig_error_set_path (error, part->plan.path);
}

static gboolean
infer_part (LigGraph *graph, int index, GError **error)
{
  LigPart *part = lig_part (graph, index);
  LigInfer infer;
  unsigned uncertain = 0;
  if (!lig_infer_size (graph, index, error))
    return FALSE;
  lig_infer_prepare (graph, part, &infer);
  if (graph->problems)
    uncertain = lig_guess_shapes (graph, index, &infer);
  else if (!lig_infer_shapes (graph, part, &infer, error)) {
    g_prefix_error (error, _ ("%s at %s: "), part->plan.title, part->plan.path);
    return lig_error_set_path (error, part->plan.path);
  }
  if (!check_extends (graph, part, &infer, error) || !add_cached (graph, index, &infer, error))
    return FALSE;
  add_inputs (graph, index, &infer);
  add_outputs (graph, index, &infer);
  add_parameters (graph, index, &infer);
  mark_uncertain (graph, lig_part (graph, index), uncertain);
  return TRUE;
}

/* Returns the number of elements that a parameter takes in the arrays: more than it has if its type
 * is larger than that of the others. */
static gint64
count_elements (const LigGraph *graph, const LigParameter *parameter)
{
  gint64 elements = lig_shape_size (&parameter->shape);
  gsize size = lig_dtype_size (parameter->dtype);
  gsize usual = lig_dtype_size (graph->request->parameter_dtype);
  return size <= usual ? elements : elements * (gint64) ((size + usual - 1) / usual);
}

/* Places the parameters of one kind (trained with or without weight decay, or others) from an
 * offset on. Returns the end, or -1 if it is too large. */
static gint64
place_kind (LigGraph *graph, gint64 at, LigParameterKind kind, gboolean trained, gboolean decays)
{
  for (guint i = 0; i < graph->layout->parameters->len && at >= 0; i++) {
    LigParameter *parameter = lig_parameter (graph, i);
    if (lig_parameter_kind (parameter) != kind || parameter->trained != trained ||
        (trained && (parameter->decays != FALSE) != decays))
      continue;
    parameter->offset = at;
    lig_value (graph, lig_owner (graph, i)->value)->state_offset = at;
    if (__builtin_add_overflow (at, ALIGNED (count_elements (graph, parameter)), &at) ||
        at > G_MAXINT64 / 64)
      return -1;
  }
  return at;
}

/* Returns whether parameters of a kind exist. */
static gboolean
has_kind (const LigGraph *graph, LigParameterKind kind)
{
  for (guint i = 0; i < graph->layout->parameters->len; i++)
    if (lig_parameter_kind (lig_parameter (graph, i)) == kind)
      return TRUE;
  return FALSE;
}

/* Returns the number of elements rounded up so that the shares of all ranks are equal, or -1. */
static gint64
round_up (const LigGraph *graph, gint64 elements)
{
  gint64 unit = lig_share_unit (graph);
  return elements < 0 ? elements : (elements + unit - 1) / unit * unit;
}

/* Places parameters of all kinds. Sharded ones come last among those with weight decay and first
 * among those without, so that they are one range. Divided experts have shares of their own. */
static gint64
place_parameters (LigGraph *graph, gint64 at, gboolean trained, gboolean decays)
{
  for (int i = 0; i < LIG_N_PARAMETER_KINDS; i++) {
    LigParameterKind kind = (LigParameterKind) (decays ? i : LIG_N_PARAMETER_KINDS - 1 - i);
    gboolean apart = kind == LIG_PARAMETER_EXPERT && trained && has_kind (graph, kind);
    gint64 first = at = apart ? round_up (graph, at) : at;
    at = place_kind (graph, at, kind, trained, decays);
    at = apart ? round_up (graph, at) : at;
    if (trained)
      graph->layout->ranges[kind][decays] = (LigElements){first, at};
  }
  return at;
}

/* Returns the path of the parameter with the most elements, or of the first whose number
 * overflows. */
static const char *
find_largest (const LigGraph *graph)
{
  const char *path = "";
  gint64 max = -1;
  for (guint i = 0; i < graph->layout->parameters->len; i++) {
    const LigParameter *parameter = lig_parameter (graph, i);
    gint64 size = lig_shape_size (&parameter->shape);
    if (size < 0)
      return parameter->path;
    if (size > max)
      path = parameter->path;
    max = MAX (max, size);
  }
  return path;
}

/* Places the parameters in the state: those with weight decay, the other trained ones, then those
 * that the optimizer does not change, so that gradients and optimizer state end before them. */
static gboolean
place_all (LigGraph *graph, GError **error)
{
  graph->layout->decayed = round_up (graph, place_parameters (graph, 0, TRUE, TRUE));
  if (graph->layout->decayed >= 0)
    graph->layout->elements =
      round_up (graph, place_parameters (graph, graph->layout->decayed, TRUE, FALSE));
  if (graph->layout->decayed >= 0 && graph->layout->elements >= 0)
    graph->layout->all_elements = place_parameters (graph, graph->layout->elements, FALSE, FALSE);
  if (graph->layout->decayed >= 0 && graph->layout->elements >= 0 &&
      graph->layout->all_elements >= 0)
    return TRUE;
  g_set_error (error, LIG_ERROR, LIG_ERROR_MEMORY,
               _ ("the parameters take more than 2^57 elements, most of them %s; give its op fewer "
                  "features"),
               find_largest (graph));
  return FALSE;
}

/* Returns whether a parameter is kept only in fp32 and fp8: it is the weight of one matmul whose
 * features fit the blocks of its recipe. The number of rows is ignored, because it differs between
 * the plans of a state; a plan that reads the weight in the compute type converts it. */
static gboolean
is_kept_in_fp8 (const LigGraph *graph, int number)
{
  const LigParameter *parameter = lig_parameter (graph, number);
  const LigOwner *owner = lig_owner (graph, number);
  const LigPart *part = lig_part (graph, owner->part);
  if (!graph->request->fp8_parameters || !parameter->trained || parameter->shared ||
      !part->recipe || !lig_part_is_matmul (part) || owner->slot != 0)
    return FALSE;
  if (lig_part_rejects_recipe (part))
    return FALSE;
  const LigShape *shape = &parameter->shape;
  gint64 multiple = part->recipe->info->multiple;
  return lig_shape_columns (shape) % multiple == 0 &&
         shape->axes[shape->n_axes - 2] % multiple == 0;
}

/* Checks that a recipe quantizes weights. */
static gboolean
check_recipes (const LigGraph *graph, GError **error)
{
  const LigRecipeInfo *found = NULL;
  for (int i = 0; i < (int) graph->parts->len; i++) {
    const LigPart *part = lig_part (graph, i);
    if (!part->recipe || !lig_part_is_matmul (part))
      continue;
    found = part->recipe->info;
    if (found->described) {
      g_set_error (error, LIG_ERROR, LIG_ERROR_DTYPE,
                   _ ("parameters in fp8 need a recipe that can run, %s can only be planned; "
                      "choose another one, like fp8-current"),
                   found->name);
      return lig_error_set_setting (error, "dtype");
    }
  }
  if (found)
    return TRUE;
  g_set_error (error, LIG_ERROR, LIG_ERROR_DTYPE,
               _ ("parameters in fp8 need a recipe, and no matmul has one; choose one, like "
                  "fp8-current, or parameters in %s"),
               lig_dtype_name (graph->request->compute));
  return lig_error_set_setting (error, "dtype");
}

/* Places the parameters in their array, in the order of the other arrays, except those that are
 * kept in fp8. The value of those is their fp32 master. */
static gboolean
store_parameters (LigGraph *graph, GError **error)
{
  gint64 spared = 0;
  g_autoptr (GArray) order = lig_parameters_by_offset (graph);
  if (graph->request->fp8_parameters && !check_recipes (graph, error))
    return FALSE;
  for (guint i = 0; i < order->len; i++) {
    int number = g_array_index (order, int, i);
    LigParameter *parameter = lig_parameter (graph, number);
    LigPlanValue *value = lig_value (graph, lig_owner (graph, number)->value);
    gint64 elements = lig_shape_size (&parameter->shape);
    if (!is_kept_in_fp8 (graph, number)) {
      parameter->stored = value->state_offset = parameter->offset - spared;
      continue;
    }
    spared += ALIGNED (elements);
    value->array = LIG_STATE_MASTER;
    value->dtype = LIG_FP32;
    value->bytes = elements * (gint64) sizeof (float);
  }
  graph->layout->stored_elements = graph->layout->all_elements - spared;
  return TRUE;
}

/* Adds the extra inputs of a plan with a cache. */
static void
add_cache_inputs (LigGraph *graph)
{
  static const char *const names[LIG_N_CACHE_INPUTS] = {"starts", "lengths", "slots", "sources"};
  const LigCacheShape *cache = &graph->request->options.cache;
  LigShape shape;
  lig_shape_init (&shape, 1, cache->rows);
  for (int i = 0; i < LIG_N_CACHE_INPUTS; i++) {
    graph->cache_inputs[i] = -1;
    if (cache->rows == 0 || (i == LIG_CACHE_SOURCES && cache->memory == 0))
      continue;
    graph->cache_inputs[i] =
      lig_graph_add_value (graph, LIG_VALUE_EXTRA, &shape, LIG_INT32, -1, "cache.%s", names[i]);
    g_array_append_val (graph->ends.extra_inputs, graph->cache_inputs[i]);
  }
}

/* The output of a run that only fills the cache is of no use: it is what the last op with a cache
 * writes besides. */
static void
end_at_cache (LigGraph *graph)
{
  int at = (int) graph->parts->len - 1;
  while (at > 0 && lig_part (graph, at)->cache < 0)
    at--;
  lig_value (graph, graph->ends.output)->kept_to_end = FALSE;
  graph->ends.output = lig_part (graph, at)->y;
}

/* The keys and values of a source are its results, and its tokens its only input. */
static void
end_at_memories (LigGraph *graph)
{
  lig_value (graph, graph->ends.output)->kept_to_end = FALSE;
  for (int i = 0; i < (int) graph->parts->len; i++) {
    const LigPart *part = lig_part (graph, i);
    int slot = lig_part_kept_input (part);
    if (part->cache < 0 || slot < 0)
      continue;
    LigMemory memory = {part->extra_inputs[slot], part->cache};
    g_array_append_val (graph->memories, memory);
    lig_value (graph, memory.value)->kept_to_end = TRUE;
    graph->ends.output = memory.value;
  }
  g_array_set_size (graph->ends.extra_inputs, 0);
}

/* The tokens of a text, which its first part loads, are the input. */
static gboolean
begin_at_text (LigGraph *graph, GError **error)
{
  const LigPart *part = lig_part (graph, graph->text_start);
  int tokens = part->extra_inputs[0];
  if (lig_value (graph, tokens)->dtype != LIG_INT32) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_DTYPE,
                 _ ("the text that %s loads is %s, a plan with a cache takes tokens, int32"),
                 part->plan.path, lig_dtype_name (lig_value (graph, tokens)->dtype));
    return lig_error_set_path (error, part->plan.path);
  }
  for (guint i = 0; i < graph->ends.extra_inputs->len; i++)
    if (g_array_index (graph->ends.extra_inputs, int, i) == tokens)
      g_array_remove_index (graph->ends.extra_inputs, i);
  lig_value (graph, tokens)->role = LIG_VALUE_INPUT;
  graph->ends.input = tokens;
  return TRUE;
}

/* Sets the ends of a plan with a cache. */
static gboolean
find_cache_ends (LigGraph *graph, GError **error)
{
  const LigCacheShape *cache = &graph->request->options.cache;
  if (cache->fill)
    end_at_cache (graph);
  if (cache->source)
    end_at_memories (graph);
  else if (cache->memory > 0)
    return begin_at_text (graph, error);
  return TRUE;
}

/* Checks that no matmul is quantized: amaxes of ranks with other experts are not compared. */
static gboolean
check_unquantized (const LigGraph *graph, int ranks, GError **error)
{
  for (int i = 0; i < (int) graph->parts->len; i++) {
    const LigPart *part = lig_part (graph, i);
    if (!part->recipe || !lig_part_is_matmul (part))
      continue;
    g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                 _ ("%s at %s: its recipe is %s, expected none with expert=%d; omit the recipe, or "
                    "expert"),
                 part->plan.title, part->plan.path, part->recipe->info->name, ranks);
    return lig_error_set_path (error, part->plan.path);
  }
  return TRUE;
}

/* Checks that ranks that share the experts have experts to share. */
static gboolean
check_expert_ranks (const LigGraph *graph, GError **error)
{
  int ranks = lig_device_get_n_ranks (graph->request->device, LIG_GROUP_EXPERT);
  if (ranks == 1 || graph->problems)
    return TRUE;
  if (has_kind (graph, LIG_PARAMETER_EXPERT))
    return check_unquantized (graph, ranks, error);
  g_set_error (
    error, LIG_ERROR, LIG_ERROR_VALUE,
    _ ("the parallelism has expert=%d, but no op divides its experts; set parallel=expert "
       "of a mixture of experts, or omit expert"),
    ranks);
  return lig_error_set_setting (error, "ranks");
}

gboolean
lig_infer (LigGraph *graph, GError **error)
{
  LigDtype dtype = graph->request->input_dtype;
  int at = lig_graph_add_value (graph, LIG_VALUE_INPUT, &graph->request->input, dtype, -1, "input");
  graph->ends.input = at;
  if (lig_dtype_is_floating (dtype) && dtype != graph->request->compute) {
    /* The pass represent inserts the conversion that writes it. */
    at = lig_graph_add_value (graph, LIG_VALUE_COMPUTED, &graph->request->input,
                              graph->request->compute, -1, "input:%s",
                              lig_dtype_name (graph->request->compute));
  }
  if (graph->request->options.cache.rows > 0 && !lig_find_sources (graph, error))
    return FALSE;
  add_cache_inputs (graph);
  if (graph->request->uncertain_input)
    lig_value_work (graph, at)->uncertain = LIG_UNCERTAIN_FEATURES | LIG_UNCERTAIN_ROWS;
  for (int i = 0; i < (int) graph->parts->len; i++) {
    lig_part (graph, i)->x = at;
    if (!infer_part (graph, i, error))
      return FALSE;
    at = lig_part (graph, i)->y;
  }
  graph->ends.output = at;
  lig_value (graph, at)->kept_to_end = TRUE;
  if (!lig_tie_parameters (graph, error) || !lig_freeze_parameters (graph, error))
    return FALSE;
  if (!check_expert_ranks (graph, error))
    return FALSE;
  describe_parameters (graph);
  lig_decide_quantized (graph);
  if (!place_all (graph, error) || !store_parameters (graph, error) ||
      !lig_find_shares (graph, error) || !lig_place_histories (graph, error))
    return FALSE;
  return find_cache_ends (graph, error);
}

/* --- Lengths that follow from the input of a macro ------------------------------------------- */

/* Sets the lengths of a macro's parts that depend on the macro's input. A macro expands before any
 * shape is known, but `3.qkv.weight` has a multiple of the features of the macro's input, and the
 * last matmul has exactly as many, whatever is between them. So a part may carry such a rule
 * (lig_parts_add_scaled()), which is applied here, once inference has reached the macro. It is
 * applied to the op too, so that expanding a macro in the sequence leaves complete ops. */

static const LigParam *
find_param (const LigOpInfo *info, const LigPartSize *size)
{
  const LigParam *at = info->params;
  while (!g_str_equal (at->name, size->param))
    at++;
  return at;
}

gboolean
lig_part_size_find (
  const LigPartSize *size, const LigOpInfo *info, gint64 features, gint64 *length, GError **error)
{
  gint64 max = (gint64) find_param (info, size)->maximum, product;
  if (__builtin_mul_overflow (features, size->multiple, &product) ||
      product / size->divisor > max) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE,
                 _ ("input has %" PRId64 " features, of which %s takes %" PRId64 "/%" PRId64
                    ", expected at most %" PRId64),
                 features, size->param, size->multiple, size->divisor, max);
    return FALSE;
  }
  *length = product / size->divisor;
  if (features % size->divisor == 0 && *length > 0)
    return TRUE;
  if (features == 0)
    g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE,
                 _ ("input has 0 features, expected at least 1"));
  else
    g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE,
                 g_dngettext (GETTEXT_PACKAGE,
                              "input has %" PRId64 " feature, expected a multiple of %" PRId64,
                              "input has %" PRId64 " features, expected a multiple of %" PRId64,
                              (gulong) features),
                 features, size->divisor);
  return FALSE;
}

static void
set_length (LigPart *part, gint64 length)
{
  *(gint64 *) (gpointer) ((guint8 *) part->params +
                          find_param (part->plan.info, &part->size)->offset) = length;
  g_object_set (part->plan.op, part->size.param, length, NULL);
}

gboolean
lig_infer_size (LigGraph *graph, int index, GError **error)
{
  LigPart *part = lig_part (graph, index);
  if (!part->size.param)
    return TRUE;
  int input = lig_part (graph, part->size_from)->x;
  gint64 features = lig_shape_columns (&lig_value (graph, input)->shape), length = 1;
  gboolean fine = lig_part_size_find (&part->size, part->plan.info, features, &length, error);
  set_length (part, fine ? length : 1);
  part->incomplete |= lig_value_work (graph, input)->uncertain & LIG_UNCERTAIN_FEATURES;
  if (fine)
    return TRUE;
  g_prefix_error (error, _ ("%s at %s: "), part->plan.title, part->plan.path);
  lig_error_set_path (error, part->plan.path);
  part->faulty = part->incomplete == 0;
  part->incomplete |= LIG_UNCERTAIN_FEATURES;
  if (graph->problems && !part->faulty) {
    g_clear_error (error);
    return TRUE;
  }
  return lig_graph_collect_problem (graph, index, error);
}
