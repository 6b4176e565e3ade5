/* SPDX-License-Identifier: MIT */
/* Emits the kernels that write quantized copies, and those that read them instead of the kernels
 * that ops and fusions name. */
#include "engine/lower/quantized.h"

#include "engine/graph/op.h"
#include "engine/lower/ports.h"
#include "engine/quantize/quantizers.h"
#include "engine/sequence/ports.h"
#include "engine/sequence/table.h"
#include <ligature/fusion.h>
#include <ligature/kernels.h>
#include <ligature/params-experts.h>
#include <ligature/params-gated.h>
#include <ligature/params-matmul.h>
#include <ligature/params-norm.h>
#include <ligature/params-quantize.h>

#include <string.h>

const LigPart *
lig_find_quantized (LigLowering *self, const LigKernel *kernel, const LigBindings *bindings)
{
  LigBinding port;
  const LigPorts *ports = lig_ports_parse (kernel->signature);
  if (kernel->work >= 0 || self->graph->quantizers->len == 0)
    return NULL;
  for (int i = 0; i < ports->count; i++) {
    const char *name = ports->ports[i].name;
    if (!g_str_equal (name, "weight") && !g_str_equal (name, "dweight"))
      continue;
    lig_bindings_find (bindings, name, &port);
    const LigPart *part = lig_lower_port_part (self, &port);
    /* The gradient of the weights of groups is computed in the compute type. */
    gboolean apart =
      part && part->plan.info->flags & LIG_OP_GROUPED && g_str_equal (name, "dweight");
    if (part && lig_part_is_quantized (part) && !apart)
      return part;
  }
  return NULL;
}

/* Binds an operand to the form that an operand of the twin names, `dy:row`, with a suffix. */
static void
bind_form (LigBindings *to,
           const LigBindings *bindings,
           const char *operand,
           const char *form,
           const char *suffix)
{
  char name[16];
  LigBinding port;
  const char *colon = strchr (form, ':');
  g_strlcpy (name, form, MIN (sizeof name, (gsize) (colon - form) + 1));
  lig_bindings_find (bindings, name, &port);
  lig_bindings_bind (to, operand, &port, colon + 1, suffix);
}

/* Binds an operand like the kernel's own operand; null: to nothing. */
static void
bind_like (LigBindings *to, const LigBindings *bindings, const char *operand, const char *own)
{
  LigBinding port;
  if (own)
    lig_bindings_find (bindings, own, &port);
  lig_bindings_bind (to, operand, own ? &port : NULL, NULL, NULL);
}

/* Binds an operand to a port of the pattern's element. */
static void
bind_port (LigBindings *to, const char *operand, int element, const char *name)
{
  char text[64];
  LigBinding port;
  g_snprintf (text, sizeof text, "%d.%s", element, name);
  lig_binding_parse (&port, text);
  lig_bindings_bind (to, operand, &port, NULL, NULL);
}

/* Binds the quantized operands, their scales and the bias. */
static void
bind_operands (LigBindings *to, const LigBindings *bindings, const LigQuantizedTwin *twin)
{
  bind_form (to, bindings, "a", twin->left, NULL);
  bind_form (to, bindings, "b", twin->right, NULL);
  bind_form (to, bindings, "a_scale", twin->left, "-scale");
  bind_form (to, bindings, "b_scale", twin->right, "-scale");
  bind_like (to, bindings, "bias", twin->bias);
}

void
lig_emit_quantized (LigLowering *self,
                    const LigPart *matmul,
                    const LigKernel *kernel,
                    const LigBindings *bindings,
                    const LigScaleParams *scale)
{
  const LigQuantizedTwin *twin = lig_quantized_twin (kernel->name);
  if (!twin) {
    self->unquantized = matmul;
    return;
  }
  const LigKernel *own = lig_kernel_find (twin->quantized);
  gboolean grouped = own->traits & LIG_KERNEL_GROUPED;
  LigGroupedFp8Params params = {
    .fp8 = lig_quantized_params (matmul, twin, scale && !grouped ? scale->factor : 1)};
  LigBindings all;
  all.count = 0;
  bind_operands (&all, bindings, twin);
  bind_like (&all, bindings, grouped ? "scales" : "extra", twin->extra);
  bind_like (&all, bindings, "y", twin->y);
  if (!grouped) {
    lig_lower_emit (self, own, &all, &params.fp8, sizeof params.fp8);
    return;
  }
  bind_like (&all, bindings, "offsets", "offsets");
  params.rows = ((const LigGroupedParams *) matmul->params)->rows;
  lig_lower_emit (self, own, &all, &params, sizeof params);
}

/* Binds the operands that are the copies of a port, and its scales. */
static void
bind_copies (LigBindings *to, const LigQuantizer *quantizer, const char *of)
{
  static const char *const forms[][2] = {{"scale", "scale"},
                                         {"row", "row"},
                                         {"row_scale", "row-scale"},
                                         {"transposed", "transposed"},
                                         {"transposed_scale", "transposed-scale"},
                                         {"recorded", "recorded"}};
  gboolean shared = quantizer->row.scale == quantizer->transposed.scale;
  LigBinding port;
  lig_binding_parse (&port, of);
  for (guint i = 0; i < G_N_ELEMENTS (forms); i++) {
    gboolean left_out = shared && g_str_equal (forms[i][0], "transposed_scale");
    lig_bindings_bind (to, forms[i][0], left_out ? NULL : &port, left_out ? NULL : forms[i][1],
                       NULL);
  }
}

/* Binds the operand for the rounded values, which an op that the user wrote also has. */
static void
bind_rounded (LigBindings *to,
              LigLowering *self,
              const LigQuantizer *quantizer,
              const char *operand,
              const char *of)
{
  LigBinding port;
  lig_binding_parse (&port, of);
  lig_bindings_bind (
    to, operand, lig_part (self->graph, quantizer->part)->plan.implicit ? NULL : &port, NULL, NULL);
}

/* Returns the quantizer that belongs to the part of a port; null if it has none. */
static const LigQuantizer *
own_quantizer (LigLowering *self, const char *port)
{
  LigBinding of;
  lig_binding_parse (&of, port);
  const LigPart *part = lig_lower_port_part (self, &of);
  const LigQuantizer *quantizer =
    part ? lig_port_quantizer (self->graph, part, lig_lower_port_name (self, &of)) : NULL;
  return quantizer && lig_part (self->graph, quantizer->part) == part ? quantizer : NULL;
}

/* Emits a kernel that is not a matmul by its name; that of a norm may be missing. */
static void
emit (LigLowering *self,
      const char *name,
      const LigBindings *bindings,
      const void *params,
      gsize params_size)
{
  const LigKernel *kernel = lig_kernel_named (name);
  if (kernel)
    lig_lower_emit (self, kernel, bindings, params, params_size);
  else if (!self->missing)
    self->missing = g_intern_string (name);
}

/* Emits a kernel that quantizes. */
static void
emit_copies (LigLowering *self,
             const LigQuantizer *quantizer,
             const char *kernel,
             const LigBindings *bindings,
             const void *params,
             gsize size)
{
  guint before = self->steps->len;
  emit (self, kernel, bindings, params, size);
  if (self->steps->len > before && lig_reads_again (quantizer))
    g_array_index (self->steps, LigGraphStep, before).plan.read *= 2;
}

/* Prevents timing of a fusion that would compute nothing because there is nothing to quantize. */
static void
reject_fusion (LigLowering *self)
{
  if (self->group->fusion && !self->missing)
    self->missing = "quantize";
}

/* Makes the port of an op `quantize` another name of the values that are quantized, if its matmul
 * reads these, too: those that the bindings name for the operand `name`, or, if they name none, the
 * port of that name of an element, which the kernel then writes. */
static void
keep_values (LigLowering *self,
             const LigQuantizer *quantizer,
             LigBindings *all,
             const char *name,
             int element,
             const char *to)
{
  LigBinding port;
  if (!quantizer->keeps)
    return;
  lig_bindings_find (all, name, &port);
  if (g_str_equal (port.text, "-")) {
    char text[64];
    LigBindings given = *all;
    g_snprintf (text, sizeof text, "%s=%d.%s", name, element, name);
    all->count = 0;
    lig_bindings_add (all, text);
    for (int i = 0; i < given.count && all->count < (int) G_N_ELEMENTS (all->list); i++)
      all->list[all->count++] = given.list[i];
    lig_bindings_find (all, name, &port);
  }
  lig_lower_alias (self, to, port.text);
}

gboolean
lig_lower_quantize (LigLowering *self, const char *bindings, const char *to)
{
  const LigQuantizer *quantizer = own_quantizer (self, to);
  if (!quantizer) {
    reject_fusion (self);
    return FALSE;
  }
  const LigQuantizeParams params = lig_quantize_params (quantizer);
  LigBindings all;
  all.count = 0;
  lig_bindings_add (&all, bindings);
  keep_values (self, quantizer, &all, "x", 0, to);
  bind_copies (&all, quantizer, to);
  bind_rounded (&all, self, quantizer, "y", to);
  emit_copies (self, quantizer, "quantize", &all, &params, sizeof params);
  return TRUE;
}

gboolean
lig_lower_is_quantized (LigLowering *self, const char *port, LigRejection *rejection)
{
  if (own_quantizer (self, port))
    return TRUE;
  rejection->reason = LIG_REASON_RECIPE;
  rejection->observed = g_strdup ("none");
  rejection->required = g_strdup ("fp8-current");
  return FALSE;
}

/* Rejects a matmul whose copies do not have one scale per row or per tensor. */
static gboolean
reject_scales (const LigPart *part, const char *required, LigRejection *rejection)
{
  rejection->reason = LIG_REASON_PARALLEL;
  rejection->observed = g_strdup_printf ("a matmul with recipe %s", part->recipe->info->name);
  rejection->required = g_strdup (required);
  return FALSE;
}

gboolean
lig_lower_divides_copies (
  LigLowering *self, int element, const char *port, int parts, LigRejection *rejection)
{
  const LigPart *part =
    lig_lower_op (self, element) ? lig_part (self->graph, self->group->elements[element]) : NULL;
  if (!part || !lig_part_is_quantized (part))
    return TRUE;
  const LigQuantizer *quantizer = port ? lig_port_quantizer (self->graph, part, port) : NULL;
  if (!quantizer)
    return reject_scales (part, "none", rejection);
  const LigRecipeInfo *info = quantizer->recipe->info;
  LigScales kind = info->row[quantizer->role];
  if (kind != LIG_SCALES_TENSOR && kind != LIG_SCALES_ROW)
    return reject_scales (part, "one with a scale per tensor or per row", rejection);
  const LigShape *shape = &lig_value (self->graph, quantizer->of)->shape;
  gint64 rows = lig_shape_size (shape) / MAX (lig_shape_columns (shape), 1);
  if (rows % (parts * info->multiple) == 0)
    return TRUE;
  rejection->reason = LIG_REASON_SHAPE;
  rejection->observed = g_strdup_printf ("%" G_GINT64_FORMAT " as the number of rows", rows);
  rejection->required = g_strdup_printf ("a multiple of %" G_GINT64_FORMAT " with recipe %s",
                                         parts * info->multiple, info->name);
  return FALSE;
}

gboolean
lig_lower_norm_fits (LigLowering *self, int element, LigRejection *rejection)
{
  const LigPart *part = lig_part (self->graph, self->group->elements[element]);
  if (!(part->plan.info->flags & LIG_OP_NORM))
    return TRUE;
  gint64 length = lig_shape_size (&lig_value (self->graph, part->parameters[0])->shape);
  gint64 columns = lig_shape_columns (&lig_value (self->graph, part->x)->shape);
  if (length == columns)
    return TRUE;
  rejection->reason = LIG_REASON_SHAPE;
  rejection->observed_value = (double) length;
  rejection->required_value = (double) columns;
  rejection->unit = "values";
  rejection->observed = g_strdup_printf ("a norm over rows of %" G_GINT64_FORMAT, length);
  rejection->required = g_strdup_printf ("%" G_GINT64_FORMAT ", only the last axis", columns);
  return FALSE;
}

/* Rejects the copies that a matmul would have to write, or to read. */
static gboolean
reject_copies (LigRejection *rejection, char *observed, const char *required)
{
  rejection->reason = LIG_REASON_RECIPE;
  rejection->observed = observed;
  rejection->required = g_strdup (required);
  return FALSE;
}

gboolean
lig_lower_fits_epilogue (LigLowering *self, int element, const char *to, LigRejection *rejection)
{
  const LigPart *matmul = lig_part (self->graph, self->group->elements[element]);
  const LigQuantizer *quantizer = own_quantizer (self, to);
  const LigRecipeInfo *reads = lig_part_is_quantized (matmul) ? matmul->recipe->info : NULL;
  const LigRecipeInfo *writes = quantizer->recipe->info;
  if (!reads || reads->row[LIG_ROLE_INPUT] != LIG_SCALES_TENSOR ||
      reads->row[LIG_ROLE_WEIGHT] != LIG_SCALES_TENSOR)
    return reject_copies (rejection, g_strdup (reads ? reads->name : "none"), "fp8-delayed");
  if (!writes->has_history)
    return reject_copies (rejection, g_strdup (writes->name), "fp8-delayed");
  if (quantizer->scale < 0)
    return reject_copies (rejection,
                          g_strdup_printf ("%s without a history, at a separate op", writes->name),
                          "one with the history of a matmul");
  if (quantizer->transposed.data >= 0)
    return reject_copies (
      rejection, g_strdup_printf ("%s with a transposed copy for the backward pass", writes->name),
      "only a row-major copy, as in evaluation");
  if (self->graph->request->compute != LIG_FP16)
    return TRUE;
  /* The epilogue would saturate, and so hide, an overflow of fp16: see lig_quantize_limit(). */
  rejection->reason = LIG_REASON_DTYPE;
  rejection->types = LIG_TYPES (LIG_FP32) | LIG_TYPES (LIG_BF16);
  rejection->observed = g_strdup (lig_dtype_name (LIG_FP16));
  rejection->required = g_strdup ("fp32 or bf16");
  return FALSE;
}

void
lig_lower_quantized_matmul (LigLowering *self, int element, const char *bindings, const char *to)
{
  const LigPart *matmul = lig_part (self->graph, self->group->elements[element]);
  const LigQuantizedTwin *twin = lig_quantized_twin ("linear_bias");
  LigFp8Params params = lig_quantized_params (matmul, twin, 1);
  LigBindings given, all;
  given.count = all.count = 0;
  lig_bindings_add (&given, bindings);
  bind_operands (&all, &given, twin);
  bind_copies (&all, own_quantizer (self, to), to);
  lig_lower_emit (self, lig_kernel_find ("linear_fp8_gelu"), &all, &params, sizeof params);
}

/* Binds the trained parameters and the statistics of a norm. */
static void
bind_norm (LigBindings *to, const LigPart *norm, int element, gboolean backward)
{
  static const char *const forward_names[] = {"weight", "bias", "mean", "rstd", NULL};
  static const char *const backward_names[] = {"weight", "dweight", "rstd", "mean", "dbias", NULL};
  gboolean centered = lig_ports_find (norm->ports->computes, "mean") >= 0;
  for (const char *const *name = backward ? backward_names : forward_names; *name; name++) {
    gboolean of_mean = g_str_equal (*name, "mean") || g_str_has_suffix (*name, "bias");
    if (of_mean && !centered)
      lig_bindings_bind (to, *name, NULL, NULL, NULL);
    else
      bind_port (to, *name, element, *name);
  }
}

/* Emits the kernel that computes the statistics of a norm, after an addition if the bindings have
 * one, and the kernel that normalizes and quantizes. */
static void
lower_normalized (LigLowering *self,
                  int element,
                  const LigQuantizer *quantizer,
                  const LigBindings *given,
                  const char *bindings,
                  const char *to)
{
  const LigPart *part = lig_part (self->graph, self->group->elements[element]);
  const LigNormParams *norm = lig_lower_params (self, element);
  LigProducerParams params = {.quantize = lig_quantize_params (quantizer), .norm = *norm};
  LigBindings statistics, all;
  LigBinding extra;
  lig_bindings_find (given, "extra", &extra);
  gboolean added = extra.operand[0] != '\0';
  g_autofree char *kernel = g_strconcat (added ? "add_" : "", part->plan.info->forward, NULL);
  statistics.count = all.count = 0;
  lig_bindings_bind (&statistics, "y", NULL, NULL, NULL);
  bind_norm (&statistics, part, element, FALSE);
  lig_bindings_add (&statistics, bindings);
  self->keeps = TRUE;
  emit (self, kernel, &statistics, norm, sizeof *norm);
  self->keeps = FALSE;
  bind_like (&all, given, "x", added ? "sum" : "x");
  bind_norm (&all, part, element, FALSE);
  lig_bindings_add (&all, bindings);
  bind_copies (&all, quantizer, to);
  bind_rounded (&all, self, quantizer, "rounded", to);
  emit_copies (self, quantizer, "norm_quantize", &all, &params, sizeof params);
}

/* Emits the kernel of a norm's gradient and its copies, which reads that gradient again unless the
 * scale is known. */
static void
lower_norm_backward (LigLowering *self,
                     int element,
                     const LigQuantizer *quantizer,
                     LigBindings *bindings,
                     const char *to)
{
  const LigPart *part = lig_part (self->graph, self->group->elements[element]);
  const LigNormParams *norm = lig_lower_params (self, element);
  LigProducerParams params = {.quantize = lig_quantize_params (quantizer), .norm = *norm};
  guint before = self->steps->len;
  LigBinding dx;
  bind_norm (bindings, part, element, TRUE);
  bind_copies (bindings, quantizer, to);
  bind_rounded (bindings, self, quantizer, "rounded", to);
  emit (self, "norm_backward_quantize", bindings, &params, sizeof params);
  if (self->steps->len == before || quantizer->scale >= 0)
    return;
  lig_bindings_find (bindings, "dx", &dx);
  g_array_index (self->steps, LigGraphStep, before).plan.read +=
    (double) lig_value (self->graph, lig_lower_bound (self, &dx))->bytes;
}

void
lig_lower_quantized (LigLowering *self, int element, const char *bindings, const char *to)
{
  const LigQuantizer *quantizer = own_quantizer (self, to);
  const LigPart *part = lig_part (self->graph, self->group->elements[element]);
  if (!quantizer) {
    reject_fusion (self);
    return;
  }
  LigBindings all, given;
  all.count = given.count = 0;
  lig_bindings_add (&given, bindings);
  keep_values (self, quantizer, &given, self->backward ? "dx" : "y", element, to);
  if (part->plan.info->flags & LIG_OP_NORM) {
    if (self->backward)
      lower_norm_backward (self, element, quantizer, &given, to);
    else
      lower_normalized (self, element, quantizer, &given, bindings, to);
    return;
  }
  LigProducerParams params = {
    .quantize = lig_quantize_params (quantizer),
    .function = part->plan.info->function - 1,
    .gated = {.limit = 7, .alpha = 1.702f, .offset = 1, .beta1 = 4, .beta2 = 25}};
  gboolean unit = part->plan.info->flags & LIG_OP_GATED;
  if (unit && lig_lower_params_size (self, element) == sizeof params.gated)
    params.gated = *(const LigGatedParams *) lig_lower_params (self, element);
  g_autofree char *kernel = g_strconcat (unit ? "gated" : "activation",
                                         self->backward ? "_backward" : "", "_quantize", NULL);
  /* The backward pass of some activations reads their output. */
  if (self->backward && g_str_equal (part->plan.info->saves, "y"))
    bind_like (&all, &given, "x", "y");
  for (int i = 0; i < given.count && all.count < (int) G_N_ELEMENTS (all.list); i++)
    all.list[all.count++] = given.list[i];
  bind_copies (&all, quantizer, to);
  lig_bindings_bind (&all, "bias", NULL, NULL, NULL);
  lig_bindings_bind (&all, "sum", NULL, NULL, NULL);
  bind_rounded (&all, self, quantizer, "rounded", to);
  if (params.function < 0)
    self->missing = part->plan.info->name;
  else
    emit_copies (self, quantizer, kernel, &all, &params, sizeof params);
}
