/* SPDX-License-Identifier: MIT */
/* Emits the kernels that write quantized copies, and those that read them in the place of the
 * kernels that ops and fusions name. */
#include "engine/compile/quantizers.h"

#include "engine/sequence/ports.h"

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
  bind_form (text, bindings, "a", twin->left, "");
  bind_form (text, bindings, "b", twin->right, "");
  bind_form (text, bindings, "a_scale", twin->left, "-scale");
  bind_form (text, bindings, "b_scale", twin->right, "-scale");
  bind_like (text, bindings, "bias", twin->bias);
  bind_like (text, bindings, "extra", twin->extra);
  bind_like (text, bindings, "y", twin->y);
  lig_lower_emit (self, lig_kernel_find ("linear_fp8"), text->str, &params, sizeof params);
}

gboolean
lig_lower_quantize (LigLowering *self, const char *from, const char *to)
{
  const char *name = to;
  const LigPart *part = lig_lower_port_part (self, &name);
  const LigQuantizer *quantizer = part ? lig_port_quantizer (self->draft, part, name) : NULL;
  if (!quantizer || lig_part (self->draft, quantizer->part) != part)
    return FALSE;
  const LigQuantizeParams params = lig_quantize_params (quantizer);
  gboolean needed = lig_quantizer_needs_amax (quantizer, !part->implicit);
  gboolean shared = quantizer->row.scale == quantizer->transposed.scale;
  g_autofree char *amax = g_strdup_printf ("x=%s amax=%s:amax", from, to);
  g_autofree char *copies = g_strdup_printf (
    "x=%s scale=%s:scale amax=%s%s row=%s:row row_scale=%s:row-scale transposed=%s:transposed "
    "transposed_scale=%s%s recorded=%s:recorded y=%s",
    from, to, needed ? to : "-", needed ? ":amax" : "", to, to, to, shared ? "-" : to,
    shared ? "" : ":transposed-scale", to, part->implicit ? "-" : to);
  if (needed)
    lig_lower_kernel (self, "amax", amax, NULL, 0);
  lig_lower_kernel (self, "quantize", copies, &params, sizeof params);
  return TRUE;
}
