/* SPDX-License-Identifier: MIT */
/* Gives each quantized product its operands: the quantizers of its input, its weight and the
 * gradient of its output, with the copies that the product reads. Products that read one value
 * through branches share one quantizer; the first of them writes for all. */
#include "engine/compile/quantizers.h"

#include "engine/compile/parameters.h"
#include "engine/compile/reduce.h"
#include "kernels/quantize.h"
#include <ligature/params-product.h>
#include <ligature/params-quantize.h>
#include <ligature/state-arrays.h>

#include <string.h>

/* --- The copies --------------------------------------------------------------------------- */

/* Returns the shape of the scales of a matrix. */
static LigShape
scale_shape (LigScales kind, gint64 rows, gint64 columns)
{
  LigShape shape = {0};
  if (kind == LIG_SCALES_ROW)
    lig_shape_init (&shape, 1, rows);
  else if (kind == LIG_SCALES_BLOCK)
    lig_shape_init (&shape, 2, lig_scales_blocks (columns), rows);
  else if (kind == LIG_SCALES_TILE)
    lig_shape_init (&shape, 2, lig_scales_blocks (rows), lig_scales_stride (columns));
  else if (kind == LIG_SCALES_MX)
    lig_shape_init (&shape, 2, lig_scales_mx_rows (rows), lig_scales_mx_columns (columns));
  else if (kind == LIG_SCALES_NV)
    lig_shape_init (&shape, 1, lig_scales_nv_bytes (rows, columns));
  return shape;
}

static int
add_value (LigDraft *draft,
           const LigQuantizer *quantizer,
           const LigShape *shape,
           LigDtype dtype,
           const char *suffix)
{
  LigValueRole role =
    quantizer->role == LIG_ROLE_GRADIENT ? LIG_VALUE_GRADIENT : LIG_VALUE_COMPUTED;
  g_autofree char *name = g_strdup (lig_value (draft, quantizer->of)->name);
  return lig_draft_add_value (draft, role, shape, dtype, quantizer->part, "%s:%s", name, suffix);
}

/* Returns the type of the scales of a kind. */
static LigDtype
scale_dtype (LigScales kind)
{
  return kind == LIG_SCALES_MX || kind == LIG_SCALES_NV ? LIG_UINT8 : LIG_FP32;
}

/* Makes the shape of a matrix that of its copy: elements of 4 bits share a byte by two. */
static void
pack_copy (const LigQuantizer *quantizer, LigShape *shape)
{
  shape->axes[shape->n_axes - 1] /= 8 / quantizer->recipe->info->bits;
}

/* Adds the copy of a quantizer as it is, or the transposed one, unless it exists. `saved`: the
 * backward pass reads it. */
static void
want (LigDraft *draft, int number, gboolean transposed, gboolean saved)
{
  LigQuantizer quantizer = *lig_quantizer (draft, number);
  LigForm *form = transposed ? &quantizer.transposed : &quantizer.row;
  const LigRecipeInfo *info = quantizer.recipe->info;
  LigScales kind = (transposed ? info->transposed : info->row)[quantizer.role];
  LigShape shape = lig_value (draft, quantizer.of)->shape;
  gint64 columns = lig_shape_columns (&shape), rows = lig_shape_size (&shape) / MAX (columns, 1);
  LigForm other = transposed ? quantizer.row : quantizer.transposed;
  if (form->data < 0) {
    if (transposed)
      lig_shape_init (&shape, 2, columns, rows);
    LigShape scales = scale_shape (kind, transposed ? columns : rows, transposed ? rows : columns);
    gboolean shares = other.scale >= 0 && info->row[quantizer.role] == LIG_SCALES_TENSOR &&
                      info->transposed[quantizer.role] == LIG_SCALES_TENSOR;
    pack_copy (&quantizer, &shape);
    form->data =
      add_value (draft, &quantizer, &shape, lig_recipe_dtype (quantizer.recipe, quantizer.role),
                 transposed ? "transposed" : "row");
    form->scale = shares ? other.scale
                         : add_value (draft, &quantizer, &scales, scale_dtype (kind),
                                      transposed ? "transposed-scale" : "row-scale");
    *lig_quantizer (draft, number) = quantizer;
  }
  lig_value (draft, form->data)->saved |= saved;
  lig_value (draft, form->scale)->saved |= saved;
}

int
lig_add_history_value (LigDraft *draft, int number, int field)
{
  const LigHistory *history = &g_array_index (draft->histories, LigHistory, number);
  const LigShape scalar = {0};
  int value = lig_draft_add_value (draft, LIG_VALUE_QUANTIZERS, &scalar, LIG_FP32, -1, "%s.%s.%s",
                                   history->path, lig_product_role_name (history->role),
                                   field == 0 ? "scale" : "amax");
  lig_value (draft, value)->state_offset = history->offset + field;
  return value;
}

static int
add_quantizer (LigDraft *draft, const LigPart *product, LigProductRole role, int of, int part)
{
  LigQuantizer quantizer = {
    .recipe = product->recipe,
    .role = role,
    .of = of,
    .part = part,
    .row = {-1, -1},
    .transposed = {-1, -1},
    .scale = -1,
    .recorded = -1,
  };
  if (product->histories >= 0) {
    int history = product->histories + (int) role;
    quantizer.scale = lig_add_history_value (draft, history, 0);
    if (draft->options.training)
      quantizer.recorded = lig_add_history_value (draft, history, 1);
  }
  g_array_append_val (draft->quantizers, quantizer);
  return (int) draft->quantizers->len - 1;
}

/* --- The readers of a copy -----------------------------------------------------------------------
 */

int
lig_find_source (const LigDraft *draft, int value)
{
  for (;;) {
    int producer = lig_value (draft, value)->part;
    const LigPart *part = producer >= 0 ? lig_part (draft, producer) : NULL;
    if (lig_value (draft, value)->role != LIG_VALUE_COMPUTED || !part)
      return value;
    if (lig_part_recalls (part) && part->extra_inputs[0] >= 0)
      value = part->extra_inputs[0];
    else if ((part->info->flags & LIG_OP_TRANSPARENT) || part->implicit)
      value = part->x;
    else
      return value;
  }
}

/* Returns the quantizer that writes copies of `of` for a product: that of an earlier product of the
 * same recipe, or of an op `quantize`, which `known` has by the source of the values, else a new
 * one in the part. */
static int
find_quantizer (
  LigDraft *draft, GHashTable *known, const LigPart *product, LigProductRole role, int of, int part)
{
  gpointer source = GINT_TO_POINTER (lig_find_source (draft, of)), number;
  if (g_hash_table_lookup_extended (known, source, NULL, &number) &&
      lig_quantizer (draft, GPOINTER_TO_INT (number))->recipe == product->recipe)
    return GPOINTER_TO_INT (number);
  int added = add_quantizer (draft, product, role, of, part);
  g_hash_table_insert (known, source, GINT_TO_POINTER (added));
  return added;
}

static void
quantize_product (LigDraft *draft, GHashTable *known, int index)
{
  LigPart *part = lig_part (draft, index);
  gboolean weight = part->needs_backward && lig_part_trains (draft, part, 0);
  gboolean input = part->needs_backward && part->dx >= 0;
  int x = part->quantizers[LIG_ROLE_INPUT] =
    find_quantizer (draft, known, part, LIG_ROLE_INPUT, lig_part (draft, index - 1)->x, index - 1);
  lig_part (draft, index - 1)->quantizes[LIG_PASS_FORWARD] = x;
  want (draft, x, FALSE, FALSE);
  if (weight)
    want (draft, x, TRUE, TRUE);
  int w = part->quantizers[LIG_ROLE_WEIGHT] =
    find_quantizer (draft, known, part, LIG_ROLE_WEIGHT, part->parameters[0], index);
  want (draft, w, FALSE, FALSE);
  if (input)
    want (draft, w, TRUE, TRUE);
  LigPart *after = lig_part (draft, index + 1);
  if ((!weight && !input) || !after->needs_backward || after->dx < 0)
    return;
  int dy = part->quantizers[LIG_ROLE_GRADIENT] =
    add_quantizer (draft, part, LIG_ROLE_GRADIENT, after->dx, index + 1);
  after->quantizes[LIG_PASS_BACKWARD] = dy;
  if (input)
    want (draft, dy, FALSE, FALSE);
  if (weight)
    want (draft, dy, TRUE, FALSE);
}

/* Gives an op `quantize` that a person wrote its quantizers, whose values others read as well. */
static void
quantize_written (LigDraft *draft, GHashTable *known, int index)
{
  LigPart *part = lig_part (draft, index);
  gboolean forward, backward;
  g_object_get (part->op, "forward", &forward, "backward", &backward, NULL);
  if (forward) {
    int x = part->quantizes[LIG_PASS_FORWARD] =
      add_quantizer (draft, part, LIG_ROLE_INPUT, part->x, index);
    g_hash_table_insert (known, GINT_TO_POINTER (part->y), GINT_TO_POINTER (x));
  }
  if (backward && part->dx >= 0)
    part->quantizes[LIG_PASS_BACKWARD] =
      add_quantizer (draft, part, LIG_ROLE_GRADIENT, lig_value (draft, part->y)->gradient, index);
}

void
lig_quantize_products (LigDraft *draft)
{
  g_autoptr (GHashTable) known = g_hash_table_new (NULL, NULL);
  if (draft->options.calibrating)
    return;
  for (int i = 0; i < (int) draft->parts->len; i++) {
    const LigPart *part = lig_part (draft, i);
    if (lig_part_is_quantized (part))
      quantize_product (draft, known, i);
    else if (part->recipe && !part->implicit && g_str_equal (part->info->name, "quantize"))
      quantize_written (draft, known, i);
  }
}

/* --- Queries of the lowering ----------------------------------------------------------- */

gboolean
lig_part_is_transparent (const LigPart *part, LigPass pass)
{
  if (part->info->flags & LIG_OP_TRANSPARENT)
    return TRUE;
  if (!part->implicit)
    return FALSE;
  gboolean forward = part->quantizes[LIG_PASS_FORWARD] >= 0;
  gboolean backward = part->quantizes[LIG_PASS_BACKWARD] >= 0;
  return pass == LIG_PASS_FORWARD    ? !forward
         : pass == LIG_PASS_BACKWARD ? !backward
                                     : !forward && !backward;
}

int
lig_part_gradient (const LigDraft *draft, int index)
{
  const LigPart *next = index + 1 < (int) draft->parts->len ? lig_part (draft, index + 1) : NULL;
  if (next && lig_part_hides (next, LIG_PASS_BACKWARD))
    return lig_value (draft, next->y)->gradient;
  return lig_value (draft, lig_part (draft, index)->y)->gradient;
}

const LigQuantizer *
lig_port_quantizer (const LigDraft *draft, const LigPart *part, const char *port)
{
  static const struct {
    const char *port;
    LigProductRole role;
  } operands[] = {{"x", LIG_ROLE_INPUT}, {"weight", LIG_ROLE_WEIGHT}, {"dy", LIG_ROLE_GRADIENT}};
  int number = -1;
  if (lig_part_is_product (part)) {
    for (guint i = 0; i < G_N_ELEMENTS (operands); i++)
      if (g_str_equal (operands[i].port, port))
        number = part->quantizers[operands[i].role];
  } else if (g_str_equal (port, "y"))
    number = part->quantizes[LIG_PASS_FORWARD];
  else if (g_str_equal (port, "dx"))
    number = part->quantizes[LIG_PASS_BACKWARD];
  return number >= 0 ? lig_quantizer (draft, number) : NULL;
}

int
lig_form_value (const LigQuantizer *quantizer, const char *form)
{
  const struct {
    const char *name;
    int value;
  } forms[] = {
    {"row", quantizer->row.data},
    {"row-scale", quantizer->row.scale},
    {"transposed", quantizer->transposed.data},
    {"transposed-scale", quantizer->transposed.scale},
    {"scale", quantizer->scale},
    {"recorded", quantizer->recorded},
  };
  for (guint i = 0; i < G_N_ELEMENTS (forms); i++)
    if (g_str_equal (forms[i].name, form))
      return forms[i].value;
  return -1;
}

LigQuantizeParams
lig_quantize_params (const LigQuantizer *quantizer)
{
  const LigRecipe *recipe = quantizer->recipe;
  return (LigQuantizeParams){
    .format = (int32_t) lig_recipe_dtype (recipe, quantizer->role),
    .row = (int32_t) recipe->info->row[quantizer->role],
    .transposed = (int32_t) recipe->info->transposed[quantizer->role],
    .powers = recipe->params.powers,
  };
}

/* Returns whether the scales of a copy are known only after all values were read. */
static gboolean
needs_reading (const LigQuantizer *quantizer, LigScales kind)
{
  return kind == LIG_SCALES_ROW || kind == LIG_SCALES_NV ||
         (kind == LIG_SCALES_TENSOR && quantizer->scale < 0);
}

gboolean
lig_reads_again (const LigQuantizer *quantizer)
{
  const LigRecipeInfo *info = quantizer->recipe->info;
  gboolean transposed = quantizer->transposed.data >= 0;
  gboolean row = quantizer->row.data >= 0 || !transposed;
  return (row && needs_reading (quantizer, info->row[quantizer->role])) ||
         (transposed && needs_reading (quantizer, info->transposed[quantizer->role]));
}

/* Each product of fp8 is one of a row of `left` and a row of `right`. */
static const LigQuantizedTwin twins[] = {
  {"linear", "x:row", "weight:row", NULL, NULL, "y"},
  {"linear_bias", "x:row", "weight:row", "bias", NULL, "y"},
  {"linear_bias_add", "x:row", "weight:row", "bias", "extra", "y"},
  {"linear_backward_input", "dy:row", "weight:transposed", NULL, NULL, "dx"},
  {"linear_backward_input_add", "dy:row", "weight:transposed", NULL, "branch", "dx"},
  {"linear_backward_weight", "dy:transposed", "x:transposed", NULL, NULL, "dweight"},
};

const LigQuantizedTwin *
lig_quantized_twin (const char *kernel)
{
  for (guint i = 0; i < G_N_ELEMENTS (twins); i++)
    if (g_str_equal (twins[i].name, kernel))
      return &twins[i];
  return NULL;
}

/* Returns the kind of the scales of an operand, `dy:row`. */
static LigScales
scales_of (const LigRecipeInfo *info, const char *operand)
{
  LigProductRole role = operand[0] == 'x'   ? LIG_ROLE_INPUT
                        : operand[0] == 'w' ? LIG_ROLE_WEIGHT
                                            : LIG_ROLE_GRADIENT;
  return (g_str_has_suffix (operand, ":row") ? info->row : info->transposed)[role];
}

LigFp8Params
lig_quantized_params (const LigPart *product, const LigQuantizedTwin *twin, float factor)
{
  enum { FAST_FORWARD, FAST_NONE, FAST_ALL };
  const LigRecipe *recipe = product->recipe;
  LigScales left = scales_of (recipe->info, twin->left);
  LigScales right = scales_of (recipe->info, twin->right);
  gboolean forward = twin->left[0] == 'x', whole = left < LIG_SCALES_BLOCK;
  return (LigFp8Params){
    .factor = factor,
    .left = (int32_t) left,
    .right = (int32_t) right,
    .fast = whole &&
            (recipe->params.fast == FAST_ALL || (recipe->params.fast == FAST_FORWARD && forward)),
  };
}

/* --- Steps that belong to no op ------------------------------------------------------------ */

/* Returns the value that the copies of a weight are made of. A weight that is kept in fp32 and fp8
 * alone is first rounded to the compute type, so that its copies are those of a stored one. */
static int
round_weight (LigDraft *draft, const LigQuantizer *quantizer)
{
  const LigValue *of = lig_value (draft, quantizer->of);
  if (of->role != LIG_VALUE_PARAMETER || of->array != LIG_STATE_MASTER)
    return quantizer->of;
  LigShape shape = of->shape;
  g_autofree char *name = g_strdup (of->name);
  int rounded = lig_draft_add_value (draft, LIG_VALUE_COMPUTED, &shape, draft->compute,
                                     quantizer->part, "%s:rounded", name);
  lig_value (draft, rounded)->brief = TRUE;
  const int values[] = {quantizer->of, rounded};
  lig_lower_plain (draft, draft->steps, LIG_PASS_FORWARD, quantizer->part, "convert", values, NULL,
                   0);
  return rounded;
}

void
lig_schedule_weights (LigDraft *draft)
{
  for (guint i = 0; i < draft->quantizers->len; i++) {
    const LigQuantizer quantizer = *lig_quantizer (draft, i);
    LigQuantizeParams params = lig_quantize_params (&quantizer);
    if (quantizer.role != LIG_ROLE_WEIGHT)
      continue;
    int row_scale = quantizer.row.scale, transposed_scale = quantizer.transposed.scale;
    int values[] = {round_weight (draft, &quantizer),
                    quantizer.scale,
                    quantizer.row.data,
                    row_scale,
                    quantizer.transposed.data,
                    transposed_scale == row_scale ? -1 : transposed_scale,
                    quantizer.recorded,
                    -1,
                    -1};
    lig_lower_plain (draft, draft->steps, LIG_PASS_FORWARD, quantizer.part, "quantize", values,
                     &params, sizeof params);
    if (lig_reads_again (&quantizer))
      g_array_index (draft->steps, LigDraftStep, draft->steps->len - 1).read *= 2;
  }
}

/* Adds the step for the histories from `first` on that have one recipe; returns the next one. */
static guint
schedule_recipe (LigDraft *draft, guint first)
{
  const LigHistory *begin = &g_array_index (draft->histories, LigHistory, first);
  const LigRecipe *recipe = begin->recipe;
  guint end = first;
  LigShape shape;
  while (end < draft->histories->len &&
         g_array_index (draft->histories, LigHistory, end).recipe == recipe)
    end++;
  lig_shape_init (&shape, 2, (gint64) (end - first), begin->length);
  LigHistoryParams params = {
    .margin = (int32_t) recipe->params.margin,
    .most_recent = recipe->params.amax == 1,
  };
  for (LigProductRole role = 0; role < LIG_N_ROLES; role++)
    params.formats[role] = (int32_t) lig_recipe_dtype (recipe, role);
  int value = lig_draft_add_value (draft, LIG_VALUE_QUANTIZERS, &shape, LIG_FP32, -1,
                                   "quantizers[%u]", first);
  lig_value (draft, value)->state_offset = begin->offset;
  lig_reduce_amaxes (draft, value);
  const int values[] = {draft->gradient_norm, value};
  lig_lower_plain (draft, draft->steps, LIG_PASS_UPDATE, -1, "update_scales", values, &params,
                   sizeof params);
  return end;
}

void
lig_schedule_histories (LigDraft *draft)
{
  for (guint i = 0; i < draft->histories->len;)
    i = schedule_recipe (draft, i);
}
