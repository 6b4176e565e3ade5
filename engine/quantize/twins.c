/* SPDX-License-Identifier: MIT */
/* The quantizers of ports, and the kernels that replace others for quantized operands. */
#include "engine/graph/op.h"
#include "engine/quantize/quantizers.h"
#include "engine/sequence/recipes.h"
#include <ligature/params-matmul.h>
#include <ligature/params-quantize.h>

#include <string.h>

const LigQuantizer *
lig_port_quantizer (const LigGraph *graph, const LigPart *part, const char *port)
{
  static const struct {
    const char *port;
    LigMatmulRole role;
  } operands[] = {{"x", LIG_ROLE_INPUT}, {"weight", LIG_ROLE_WEIGHT}, {"dy", LIG_ROLE_GRADIENT}};
  int number = -1;
  if (lig_part_is_matmul (part)) {
    for (guint i = 0; i < G_N_ELEMENTS (operands); i++)
      if (g_str_equal (operands[i].port, port))
        number = part->quantizers[operands[i].role];
  } else if (g_str_equal (port, "y"))
    number = part->quantizes[LIG_PASS_FORWARD];
  else if (g_str_equal (port, "dx"))
    number = part->quantizes[LIG_PASS_BACKWARD];
  return number >= 0 ? lig_quantizer (graph, number) : NULL;
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

/* Each element of an fp8 matmul is the dot product of a row of `left` and a row of `right`. */
static const LigQuantizedTwin twins[] = {
  {"linear", "linear_fp8", "x:row", "weight:row", NULL, NULL, "y"},
  {"linear_bias", "linear_fp8", "x:row", "weight:row", "bias", NULL, "y"},
  {"linear_bias_add", "linear_fp8", "x:row", "weight:row", "bias", "extra", "y"},
  {"linear_backward_input", "linear_fp8", "dy:row", "weight:transposed", NULL, NULL, "dx"},
  {"linear_backward_input_add", "linear_fp8", "dy:row", "weight:transposed", NULL, "branch", "dx"},
  {"linear_backward_weight", "linear_fp8", "dy:transposed", "x:transposed", NULL, NULL, "dweight"},
  {"grouped_linear", "grouped_fp8", "x:row", "weight:row", "bias", "scales", "y"},
  {"grouped_backward_input", "grouped_fp8", "dy:row", "weight:transposed", NULL, NULL, "dx"},
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
  LigMatmulRole role = operand[0] == 'x'   ? LIG_ROLE_INPUT
                       : operand[0] == 'w' ? LIG_ROLE_WEIGHT
                                           : LIG_ROLE_GRADIENT;
  return (g_str_has_suffix (operand, ":row") ? info->row : info->transposed)[role];
}

LigFp8Params
lig_quantized_params (const LigPart *matmul, const LigQuantizedTwin *twin, float factor)
{
  enum { FAST_FORWARD, FAST_NONE, FAST_ALL };
  const LigRecipe *recipe = matmul->recipe;
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
