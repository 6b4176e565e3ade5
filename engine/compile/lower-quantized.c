/* SPDX-License-Identifier: MIT */
/* Emits the kernels that write quantized copies, and those that read them in the place of the
 * kernels that ops and fusions name. */
#include "engine/compile/quantizers.h"

#include "engine/sequence/ports.h"
#include "kernels/functions.h"
#include <ligature/fusion.h>
#include <ligature/kernels.h>
#include <ligature/params-gated.h>
#include <ligature/params-norm.h>
#include <ligature/params-product.h>
#include <ligature/params-quantize.h>

#include <string.h>

const LigPart *
lig_find_quantized (LigLowering *self, const LigKernel *kernel, const char *bindings)
{
  char bound[64];
  const LigPorts *ports = lig_ports_parse (kernel->signature);
  if (kernel->work >= 0 || self->draft->quantizers->len == 0)
    return NULL;
  for (int i = 0; i < ports->count; i++) {
    const char *name = ports->ports[i].name, *port = bound;
    if (!g_str_equal (name, "weight") && !g_str_equal (name, "dweight"))
      continue;
    lig_lower_bound_port (bindings, name, bound, sizeof bound);
    const LigPart *part = lig_lower_port_part (self, &port);
    if (part && lig_part_is_quantized (part))
      return part;
  }
  return NULL;
}

/* Appends the binding of an operand to the form that an operand of the twin names, `dy:row`, with a
 * suffix. */
static void
bind_form (
  GString *text, const char *bindings, const char *operand, const char *form, const char *suffix)
{
  char name[16], port[64];
  const char *colon = strchr (form, ':');
  g_strlcpy (name, form, MIN (sizeof name, (gsize) (colon - form) + 1));
  lig_lower_bound_port (bindings, name, port, sizeof port);
  g_string_append_printf (text, "%s=%s%s%s ", operand, port, colon, suffix);
}

/* Appends the binding of an operand to the port of the kernel's own operand; null: to none. */
static void
bind_like (GString *text, const char *bindings, const char *operand, const char *own)
{
  char port[64] = "-";
  if (own)
    lig_lower_bound_port (bindings, own, port, sizeof port);
  g_string_append_printf (text, "%s=%s ", operand, port);
}

/* Appends the bindings of the quantized operands, of their scales and of the bias. */
static void
bind_operands (GString *text, const char *bindings, const LigQuantizedTwin *twin)
{
  bind_form (text, bindings, "a", twin->left, "");
  bind_form (text, bindings, "b", twin->right, "");
  bind_form (text, bindings, "a_scale", twin->left, "-scale");
  bind_form (text, bindings, "b_scale", twin->right, "-scale");
  bind_like (text, bindings, "bias", twin->bias);
}

void
lig_emit_quantized (LigLowering *self,
                    const LigPart *product,
                    const LigKernel *kernel,
                    const char *bindings,
                    const LigScaleParams *scale)
{
  const LigQuantizedTwin *twin = lig_quantized_twin (kernel->name);
  if (!twin) {
    self->unquantized = product;
    return;
  }
  LigFp8Params params = lig_quantized_params (product, twin, scale ? scale->factor : 1);
  g_autoptr (GString) text = g_string_new (NULL);
  bind_operands (text, bindings, twin);
  bind_like (text, bindings, "extra", twin->extra);
  bind_like (text, bindings, "y", twin->y);
  lig_lower_emit (self, lig_kernel_find ("linear_fp8"), text->str, &params, sizeof params);
}

/* Appends the bindings of the copies of a port to the text, and of the scale. */
static void
bind_copies (GString *text, const LigQuantizer *quantizer, const char *to)
{
  gboolean shared = quantizer->row.scale == quantizer->transposed.scale;
  g_string_append_printf (
    text,
    " scale=%s:scale row=%s:row row_scale=%s:row-scale transposed=%s:transposed "
    "transposed_scale=%s%s recorded=%s:recorded",
    to, to, to, to, shared ? "-" : to, shared ? "" : ":transposed-scale", to);
}

/* Returns the quantizer that the part of a port has for itself; null if it has none. */
static const LigQuantizer *
own_quantizer (LigLowering *self, const char *port)
{
  const char *name = port;
  const LigPart *part = lig_lower_port_part (self, &name);
  const LigQuantizer *quantizer = part ? lig_port_quantizer (self->draft, part, name) : NULL;
  return quantizer && lig_part (self->draft, quantizer->part) == part ? quantizer : NULL;
}

/* Emits a kernel that quantizes. */
static void
emit_copies (LigLowering *self,
             const LigQuantizer *quantizer,
             const char *kernel,
             const char *bindings,
             const void *params,
             gsize size)
{
  guint before = self->steps->len;
  lig_lower_kernel (self, kernel, bindings, params, size);
  if (self->steps->len > before && lig_reads_again (quantizer))
    g_array_index (self->steps, LigDraftStep, before).read *= 2;
}

/* Keeps a fusion that would compute nothing, as there is nothing to quantize, from being priced. */
static void
refuse_fusion (LigLowering *self)
{
  if (self->group->fusion && !self->missing)
    self->missing = "quantize";
}

gboolean
lig_lower_quantize (LigLowering *self, const char *bindings, const char *to)
{
  const LigQuantizer *quantizer = own_quantizer (self, to);
  if (!quantizer) {
    refuse_fusion (self);
    return FALSE;
  }
  const LigQuantizeParams params = lig_quantize_params (quantizer);
  g_autoptr (GString) text = g_string_new (bindings);
  bind_copies (text, quantizer, to);
  g_string_append_printf (text, " y=%s",
                          lig_part (self->draft, quantizer->part)->implicit ? "-" : to);
  emit_copies (self, quantizer, "quantize", text->str, &params, sizeof params);
  return TRUE;
}

gboolean
lig_lower_is_quantized (LigLowering *self, const char *port, LigRefusal *refusal)
{
  if (own_quantizer (self, port))
    return TRUE;
  refusal->reason = LIG_REASON_RECIPE;
  refusal->observed = g_strdup ("none");
  refusal->required = g_strdup ("fp8-current");
  return FALSE;
}

/* Refuses a product whose copies have other scales than those of rows or of the tensor. */
static gboolean
refuse_scales (const LigPart *part, const char *required, LigRefusal *refusal)
{
  refusal->reason = LIG_REASON_PARALLEL;
  refusal->observed = g_strdup_printf ("a product with recipe %s", part->recipe->info->name);
  refusal->required = g_strdup (required);
  return FALSE;
}

gboolean
lig_lower_divides_copies (
  LigLowering *self, int element, const char *port, int parts, LigRefusal *refusal)
{
  const LigPart *part =
    lig_lower_op (self, element) ? lig_part (self->draft, self->group->elements[element]) : NULL;
  if (!part || !lig_part_is_quantized (part))
    return TRUE;
  const LigQuantizer *quantizer = port ? lig_port_quantizer (self->draft, part, port) : NULL;
  if (!quantizer)
    return refuse_scales (part, "none", refusal);
  const LigRecipeInfo *info = quantizer->recipe->info;
  LigScales kind = info->row[quantizer->role];
  if (kind != LIG_SCALES_TENSOR && kind != LIG_SCALES_ROW)
    return refuse_scales (part, "one with a scale for a tensor or a row", refusal);
  const LigShape *shape = &lig_value (self->draft, quantizer->of)->shape;
  gint64 rows = lig_shape_size (shape) / MAX (lig_shape_columns (shape), 1);
  if (rows % (parts * info->multiple) == 0)
    return TRUE;
  refusal->reason = LIG_REASON_SHAPE;
  refusal->observed = g_strdup_printf ("%" G_GINT64_FORMAT " as the number of rows", rows);
  refusal->required = g_strdup_printf ("a multiple of %" G_GINT64_FORMAT " with recipe %s",
                                       parts * info->multiple, info->name);
  return FALSE;
}

gboolean
lig_lower_norm_fits (LigLowering *self, int element, LigRefusal *refusal)
{
  const LigPart *part = lig_part (self->draft, self->group->elements[element]);
  if (lig_ports_find (part->ports->computes, "rstd") < 0)
    return TRUE;
  gint64 length = lig_shape_size (&lig_value (self->draft, part->parameters[0])->shape);
  gint64 columns = lig_shape_columns (&lig_value (self->draft, part->x)->shape);
  if (length == columns)
    return TRUE;
  refusal->reason = LIG_REASON_SHAPE;
  refusal->observed_value = (double) length;
  refusal->required_value = (double) columns;
  refusal->unit = "values";
  refusal->observed = g_strdup_printf ("a norm over rows of %" G_GINT64_FORMAT, length);
  refusal->required = g_strdup_printf ("%" G_GINT64_FORMAT ", the last axis alone", columns);
  return FALSE;
}

/* Refuses the copies that a product would have to write, or to read. */
static gboolean
refuse_copies (LigRefusal *refusal, char *observed, const char *required)
{
  refusal->reason = LIG_REASON_RECIPE;
  refusal->observed = observed;
  refusal->required = g_strdup (required);
  return FALSE;
}

gboolean
lig_lower_fits_epilogue (LigLowering *self, int element, const char *to, LigRefusal *refusal)
{
  const LigPart *product = lig_part (self->draft, self->group->elements[element]);
  const LigQuantizer *quantizer = own_quantizer (self, to);
  const LigRecipeInfo *reads = lig_part_is_quantized (product) ? product->recipe->info : NULL;
  const LigRecipeInfo *writes = quantizer->recipe->info;
  if (!reads || reads->row[LIG_ROLE_INPUT] != LIG_SCALES_TENSOR ||
      reads->row[LIG_ROLE_WEIGHT] != LIG_SCALES_TENSOR)
    return refuse_copies (refusal, g_strdup (reads ? reads->name : "none"), "fp8-delayed");
  if (!writes->has_history)
    return refuse_copies (refusal, g_strdup (writes->name), "fp8-delayed");
  if (quantizer->scale < 0)
    return refuse_copies (
      refusal, g_strdup_printf ("%s without a history, at an op of its own", writes->name),
      "one with the history of a product");
  if (quantizer->transposed.data >= 0)
    return refuse_copies (
      refusal, g_strdup_printf ("%s with a transposed copy for the backward pass", writes->name),
      "a copy of rows alone, as in evaluation");
  if (self->draft->compute != LIG_FP16)
    return TRUE;
  /* The epilogue saturates what overflows in fp16, and would hide it: see lig_quantize_limit(). */
  refusal->reason = LIG_REASON_DTYPE;
  refusal->types = LIG_TYPES (LIG_FP32) | LIG_TYPES (LIG_BF16);
  refusal->observed = g_strdup (lig_dtype_name (LIG_FP16));
  refusal->required = g_strdup ("fp32 or bf16");
  return FALSE;
}

void
lig_lower_quantized_product (LigLowering *self, int element, const char *bindings, const char *to)
{
  const LigPart *product = lig_part (self->draft, self->group->elements[element]);
  const LigQuantizedTwin *twin = lig_quantized_twin ("linear_bias");
  LigFp8Params params = lig_quantized_params (product, twin, 1);
  g_autoptr (GString) text = g_string_new (NULL);
  bind_operands (text, bindings, twin);
  g_string_append_printf (text, "scale=%s:scale row=%s:row row_scale=%s:row-scale", to, to, to);
  lig_lower_emit (self, lig_kernel_find ("linear_fp8_gelu"), text->str, &params, sizeof params);
}

/* Returns the number of a name, with `-` for `_`, in a list; -1 if it is none of them. */
static int
find_function (const char *op, const char *const *names, int count)
{
  g_autofree char *name = g_strdelimit (g_strdup (op), "-", '_');
  for (int i = 0; i < count; i++)
    if (g_str_equal (names[i], name))
      return i;
  return -1;
}

/* Emits the kernel that finds the statistics of a norm, behind an addition if the bindings have
 * one, and the kernel that normalizes and quantizes. */
static void
lower_normalized (LigLowering *self,
                  int element,
                  const LigQuantizer *quantizer,
                  const char *bindings,
                  const char *to)
{
  const LigPart *part = lig_part (self->draft, self->group->elements[element]);
  gboolean centered = g_str_equal (part->info->name, "layer-norm");
  gboolean added = strstr (bindings, "extra=") != NULL;
  const LigNormParams *norm = lig_lower_params (self, element);
  LigProducerParams params = {.quantize = lig_quantize_params (quantizer), .norm = *norm};
  char x[64];
  g_autofree char *ports =
    centered ? g_strdup_printf ("weight=%d.weight bias=%d.bias mean=%d.mean rstd=%d.rstd", element,
                                element, element, element)
             : g_strdup_printf ("weight=%d.weight bias=- mean=- rstd=%d.rstd", element, element);
  g_autofree char *statistics = g_strdup_printf ("y=- %s %s", ports, bindings);
  g_autofree char *kernel =
    g_strconcat (added ? "add_" : "", centered ? "layer_norm" : "rms_norm", NULL);
  self->keeps = TRUE;
  lig_lower_kernel (self, kernel, statistics, norm, sizeof *norm);
  self->keeps = FALSE;
  lig_lower_bound_port (bindings, added ? "sum" : "x", x, sizeof x);
  g_autoptr (GString) text = g_string_new (NULL);
  g_string_printf (text, "x=%s %s %s", x, ports, bindings);
  bind_copies (text, quantizer, to);
  g_string_append_printf (text, " rounded=%s",
                          lig_part (self->draft, quantizer->part)->implicit ? "-" : to);
  emit_copies (self, quantizer, "norm_quantize", text->str, &params, sizeof params);
}

/* Emits the kernel of a norm's gradient and its copies, which reads that gradient again unless the
 * scale is known. */
static void
lower_norm_backward (LigLowering *self,
                     int element,
                     const LigQuantizer *quantizer,
                     const char *bindings,
                     const char *to)
{
  const LigPart *part = lig_part (self->draft, self->group->elements[element]);
  gboolean centered = g_str_equal (part->info->name, "layer-norm");
  const LigNormParams *norm = lig_lower_params (self, element);
  LigProducerParams params = {.quantize = lig_quantize_params (quantizer), .norm = *norm};
  guint before = self->steps->len;
  g_autoptr (GString) text = g_string_new (bindings);
  g_string_append_printf (text, " weight=%d.weight dweight=%d.dweight rstd=%d.rstd", element,
                          element, element);
  if (centered)
    g_string_append_printf (text, " mean=%d.mean dbias=%d.dbias", element, element);
  else
    g_string_append (text, " mean=- dbias=-");
  bind_copies (text, quantizer, to);
  g_string_append_printf (text, " rounded=%s",
                          lig_part (self->draft, quantizer->part)->implicit ? "-" : to);
  lig_lower_kernel (self, "norm_backward_quantize", text->str, &params, sizeof params);
  if (self->steps->len == before || quantizer->scale >= 0)
    return;
  char dx[64];
  lig_lower_bound_port (bindings, "dx", dx, sizeof dx);
  g_array_index (self->steps, LigDraftStep, before).read +=
    (double) lig_value (self->draft, lig_lower_port (self, dx))->bytes;
}

void
lig_lower_quantized (LigLowering *self, int element, const char *bindings, const char *to)
{
  static const char *const activations[] = LIG_ACTIVATION_NAMES, *const gated[] = LIG_GATED_NAMES;
  const LigQuantizer *quantizer = own_quantizer (self, to);
  const LigPart *part = lig_part (self->draft, self->group->elements[element]);
  if (!quantizer) {
    refuse_fusion (self);
    return;
  }
  if (lig_ports_find (part->ports->computes, "rstd") >= 0) {
    if (self->backward)
      lower_norm_backward (self, element, quantizer, bindings, to);
    else
      lower_normalized (self, element, quantizer, bindings, to);
    return;
  }
  LigProducerParams params = {.quantize = lig_quantize_params (quantizer),
                              .clamped = {.limit = 7, .alpha = 1.702f, .offset = 1}};
  gboolean unit = part->info->flags & LIG_OP_GATED;
  params.function = unit ? find_function (part->info->name, gated, LIG_N_GATED)
                         : find_function (part->info->name, activations, LIG_N_ACTIVATIONS);
  if (unit && lig_lower_params_size (self, element) == sizeof params.clamped)
    params.clamped = *(const LigClampedParams *) lig_lower_params (self, element);
  g_autoptr (GString) text = g_string_new (bindings);
  g_autofree char *kernel = g_strconcat (unit ? "gated" : "activation",
                                         self->backward ? "_backward" : "", "_quantize", NULL);
  /* The backward pass of some activations reads their output. */
  if (self->backward && g_str_equal (part->info->saves, "y")) {
    char output[64];
    lig_lower_bound_port (bindings, "y", output, sizeof output);
    g_string_printf (text, "x=%s %s", output, bindings);
  }
  bind_copies (text, quantizer, to);
  g_string_append_printf (text, " bias=- sum=- rounded=%s",
                          lig_part (self->draft, quantizer->part)->implicit ? "-" : to);
  if (params.function < 0)
    self->missing = part->info->name;
  else
    emit_copies (self, quantizer, kernel, text->str, &params, sizeof params);
}
