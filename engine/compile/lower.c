/* SPDX-License-Identifier: MIT */
/* Lowers groups: names of ports become values, kernels become steps. */
#include "engine/compile/lower.h"

#include "engine/compile/quantizers.h"
#include "engine/compile/register.h"
#include "engine/device/device-private.h"
#include "engine/sequence/table.h"

#include <glib/gi18n-lib.h>
#include <stdlib.h>
#include <string.h>

enum { PORT_UNKNOWN = -2, PORT_ABSENT = -1 };

/* Records the first error in the table of the op or fusion, which ends the compilation. */
static void G_GNUC_PRINTF (2, 3) fault (LigLowering *self, const char *format, ...)
{
  const LigPart *part = lig_part (self->draft, self->group->first);
  va_list arguments;
  if (self->error)
    return;
  va_start (arguments, format);
  g_autofree char *text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  self->error =
    g_error_new (LIG_ERROR, LIG_ERROR_OP, _ ("%s at %s: its %s"),
                 self->group->fusion ? self->group->fusion->name : part->title, part->path, text);
  lig_error_set_path (&self->error, part->path);
}

static void
no_such_port (LigLowering *self, const char *port)
{
  fault (self, "table names a port '%s' that does not exist", port);
}

/* Returns the value of a part's port; the port decides between the incoming and the outgoing
 * gradient. */
static int
part_port (const LigDraft *draft, const LigPart *part, const char *name)
{
  const LigOpInfo *info = part->info;
  int slot;
  if (!name[0] || !name[1]) { /* most operands are x or y, and strcmp is slow in comparison */
    if (name[0] == 'x')
      return part->x;
    if (name[0] == 'y')
      return part->y;
  } else if (name[0] == 'd' && !name[2]) {
    if (name[1] == 'x')
      return part->dx;
    if (name[1] == 'y')
      return lig_value (draft, part->y)->gradient;
  }
  if ((slot = lig_ports_find (part->ports->extra_inputs, name)) >= 0)
    return part->extra_inputs[slot];
  if ((slot = lig_ports_find (part->ports->extra_outputs, name)) >= 0)
    return part->extra_outputs[slot];
  if ((slot = lig_ports_find (part->ports->computes, name)) >= 0)
    return part->kept[slot];
  for (int i = 0; i < part->n_parameters; i++) {
    if (g_str_equal (info->parameters[i].name, name))
      return part->representations[i];
    if (name[0] == 'd' && g_str_equal (info->parameters[i].name, name + 1))
      return part->frozen ? PORT_ABSENT : lig_value (draft, part->parameters[i])->gradient;
  }
  /* Those that infer left out are absent. */
  for (int i = part->n_parameters; info->parameters && info->parameters[i].name; i++)
    if (g_str_equal (info->parameters[i].name, name) ||
        (name[0] == 'd' && g_str_equal (info->parameters[i].name, name + 1)))
      return PORT_ABSENT;
  if (name[0] != 'd')
    return PORT_UNKNOWN;
  if ((slot = lig_ports_find (part->ports->extra_inputs, name + 1)) >= 0)
    return part->extra_gradients[slot];
  if ((slot = lig_ports_find (part->ports->extra_outputs, name + 1)) >= 0)
    return lig_value (draft, part->extra_outputs[slot])->gradient;
  return PORT_UNKNOWN;
}

/* Returns the value of a form of a port, `x:row`; `form` points behind the colon. */
static int
form_port (const LigDraft *draft, const LigPart *part, const char *name, const char *form)
{
  char port[16] = "";
  if ((gsize) (form - name) > sizeof port)
    return PORT_UNKNOWN;
  g_strlcpy (port, name, (gsize) (form - name));
  const LigQuantizer *quantizer = lig_port_quantizer (draft, part, port);
  return quantizer ? lig_form_value (quantizer, form) : PORT_ABSENT;
}

const LigPart *
lig_lower_port_part (LigLowering *self, const char **port)
{
  const LigGroup *group = self->group;
  if (!group->fusion)
    return lig_part (self->draft, group->first);
  char *end;
  long element = strtol (*port, &end, 10);
  if (end == *port || *end != '.' || element < 0 || element >= group->n_elements) {
    no_such_port (self, *port);
    return NULL;
  }
  *port = end + 1;
  return group->elements[element] < 0 ? NULL : lig_part (self->draft, group->elements[element]);
}

static int
find_port (LigLowering *self, const char *port)
{
  const char *name = port;
  int own;
  if (g_str_equal (port, "-"))
    return PORT_ABSENT;
  if (strchr (port, '@'))
    return lig_lower_piece (self, port);
  if (lig_find_own_value (self, port, &own))
    return own;
  const LigPart *part = lig_lower_port_part (self, &name);
  if (!part)
    return PORT_ABSENT;
  const char *colon = strchr (name, ':');
  int value =
    colon ? form_port (self->draft, part, name, colon + 1) : part_port (self->draft, part, name);
  if (value == PORT_UNKNOWN)
    no_such_port (self, port);
  return MAX (value, PORT_ABSENT);
}

int
lig_lower_port (LigLowering *self, const char *port)
{
  return find_port (self, port);
}

void
lig_lower_bound_port (const char *bindings, const char *operand, char *port, gsize size)
{
  gsize length = strlen (operand);
  for (const char *at = bindings; at && *at;) {
    while (*at == ' ')
      at++;
    const char *word = at;
    while (*at && *at != ' ')
      at++;
    if ((gsize) (at - word) > length && word[length] == '=' &&
        memcmp (word, operand, length) == 0) {
      g_strlcpy (port, word + length + 1, MIN (size, (gsize) (at - word) - length));
      return;
    }
  }
  g_strlcpy (port, operand, size);
}

/* Returns whether a kernel has to compute the value. A value without readers may be omitted if the
 * kernel supports that. */
static gboolean
wanted_output (const LigDraft *draft, int value)
{
  const LigValue *of = lig_value (draft, value);
  if (of->role != LIG_VALUE_COMPUTED || of->saved || of->kept_to_end || of->part < 0)
    return TRUE;
  const LigPart *part = lig_part (draft, of->part);
  for (int i = 0; i < part->n_kept; i++)
    if (part->kept[i] == value)
      return FALSE;
  return TRUE;
}

/* Marks a step over no rows as empty: it computes nothing, and its sums over rows become zero. */
static void
find_empty (LigDraft *draft, LigDraftStep *step, const LigOperand *operands)
{
  for (int i = 0; i < step->n_operands; i++) {
    if (step->values[i] < 0)
      continue;
    if (operands[i].size == 0)
      step->empty = TRUE;
    else if (i >= step->n_inputs)
      step->zeroed |= 1u << i;
    if (lig_value (draft, step->values[i])->role == LIG_VALUE_PARAMETER_GRADIENT)
      step->added |= 1u << i;
  }
}

/* Returns the bytes of scratch memory that the step's kernel needs on the draft's device. */
static gint64
count_scratch (LigDraft *draft, const LigDraftStep *step, const LigOperand *operands)
{
  const LigLaunch launch = {.operands = operands,
                            .params = step->params_size > 0 ? step->params : NULL,
                            .tf32 = draft->options.tf32,
                            .nondeterministic = draft->options.nondeterministic};
  gint64 bytes = lig_device_count_scratch (draft->device, step->kernel, &launch);
  return step->empty ? 0 : MAX (bytes, 0);
}

/* Returns the operations of a step. Quantized operands that are bytes have two elements in each. */
static double
count_flops (const LigDraftStep *step, const LigOperand *operands)
{
  LigOperand whole[LIG_MAX_OPERANDS];
  memcpy (whole, operands, (gsize) step->n_operands * sizeof *whole);
  gboolean bytes = operands[0].dtype == LIG_UINT8;
  for (int i = 0; i < 2 && bytes && step->kernel == lig_kernel_find ("linear_fp8"); i++) {
    whole[i].size *= 2;
    whole[i].columns *= 2;
  }
  return lig_kernel_flops (step->kernel, whole, step->params_size > 0 ? step->params : NULL);
}

static void
finish_step (LigDraft *draft, LigDraftStep *step)
{
  LigOperand operands[LIG_MAX_OPERANDS];
  for (int i = 0; i < step->n_operands; i++)
    operands[i] = lig_draft_operand (draft, step->values[i]);
  if (!step->kernel)
    return;
  find_empty (draft, step, operands);
  lig_kernel_bytes (step->kernel, operands, &step->read, &step->written);
  step->flops = count_flops (step, operands);
  if (step->empty)
    step->read = step->flops = 0;
  step->scratch_bytes = count_scratch (draft, step, operands);
}

/* Returns whether anything outside the group reads the value or an alias of it. */
static gboolean
read_outside (const LigLowering *self, int value)
{
  const LigGroup *group = self->group;
  for (int i = group->first; i < group->first + group->count; i++) {
    const LigPart *part = lig_part (self->draft, i);
    const LigValue *y = lig_value (self->draft, part->y);
    gboolean last =
      i == group->first + group->count - 1 && !lig_part_hides (part, LIG_PASS_FORWARD);
    if (lig_draft_root (self->draft, part->y) == value && (y->saved || y->kept_to_end || last))
      return TRUE;
    for (int j = 0; j < part->n_outputs; j++)
      if (lig_draft_root (self->draft, part->extra_outputs[j]) == value &&
          lig_leaves_group (group, part, j))
        return TRUE;
  }
  return FALSE;
}

/* Returns whether the value is between the ops of a fused group and has no reader outside it, so
 * that it need not be written. */
static gboolean
inner_and_unread (const LigLowering *self, int value)
{
  const LigGroup *group = self->group;
  const LigValue *of = lig_value (self->draft, value);
  return group->fusion && !self->backward && of->role == LIG_VALUE_COMPUTED &&
         of->part >= group->first && of->part < group->first + group->count &&
         value == lig_part (self->draft, of->part)->y &&
         !read_outside (self, lig_draft_root (self->draft, value));
}

/* Copies the params into the step: the given ones, else the op's own. */
static gboolean
take_params (LigLowering *self, LigDraftStep *step, const void *params, gsize size)
{
  const LigPart *first = lig_part (self->draft, self->group->first);
  if (!params && !self->group->fusion && first->info->kernel_params_size > 0) {
    params = first->params;
    size = first->info->kernel_params_size;
  }
  if (params && size > sizeof step->params) {
    fault (self,
           "kernel %s is given %" G_GSIZE_FORMAT " bytes of parameters, at most %d are possible",
           step->kernel->name, size, (int) sizeof step->params);
    return FALSE;
  }
  if (params)
    memcpy (step->params, params, step->params_size = size);
  return TRUE;
}

void
lig_lower_emit (LigLowering *self,
                const LigKernel *kernel,
                const char *bindings,
                const void *params,
                gsize params_size)
{
  char port[64];
  gboolean any = FALSE;
  LigDraftStep step = {
    .kernel = kernel,
    .ports = lig_ports_parse (kernel->signature),
    .pass = self->backward ? LIG_PASS_BACKWARD : LIG_PASS_FORWARD,
    .group = -1,
    .part = self->group->first,
    .awaits = -1,
  };
  step.n_operands = step.ports->count;
  step.n_inputs = step.ports->n_inputs;
  for (int i = 0; i < step.n_operands; i++) {
    lig_lower_bound_port (bindings, step.ports->ports[i].name, port, sizeof port);
    int value = find_port (self, port);
    gboolean output = i >= step.n_inputs;
    if (output && value >= 0 && !self->keeps &&
        (!wanted_output (self->draft, value) || inner_and_unread (self, value)))
      value = PORT_ABSENT;
    step.values[i] = value;
    any |= output && value >= 0;
  }
  if (!take_params (self, &step, params, params_size) || !any)
    return;
  finish_step (self->draft, &step);
  g_array_append_val (self->steps, step);
}

void
lig_lower_custom (LigLowering *self,
                  const LigKernel *kernel,
                  const char *bindings,
                  const void *params,
                  gsize params_size)
{
  g_autoptr (GError) local = NULL;
  const LigKernel *own = lig_kernel_adopt (kernel, &local);
  if (own)
    lig_lower_emit (self, own, bindings, params, params_size);
  else
    fault (self, "%s", local->message);
}

void
lig_lower_kernel (
  LigLowering *self, const char *name, const char *bindings, const void *params, gsize params_size)
{
  const LigKernel *kernel = lig_kernel_named (name);
  const LigPart *product = kernel ? lig_find_quantized (self, kernel, bindings) : NULL;
  if (product)
    lig_emit_quantized (self, product, kernel, bindings, params);
  else if (kernel)
    lig_lower_emit (self, kernel, bindings, params, params_size);
  else if (!self->missing)
    self->missing = g_intern_string (name);
}

/* Checks that `to` can be an alias: the group itself must compute it, so that it has no memory yet,
 * and it must have the bytes of `from`. */
static gboolean
check_alias (LigLowering *self, const char *to, int target, const char *from, int source)
{
  const LigGroup *group = self->group;
  const LigValue *a = lig_value (self->draft, target), *b = lig_value (self->draft, source);
  gboolean computed = (a->role == LIG_VALUE_COMPUTED || a->role == LIG_VALUE_GRADIENT) &&
                      a->part >= group->first && a->part < group->first + group->count;
  if (!computed) {
    fault (self, "table makes '%s' another name of '%s', but does not compute it", to, from);
    return FALSE;
  }
  if (a->dtype == b->dtype && lig_shape_size (&a->shape) == lig_shape_size (&b->shape))
    return TRUE;
  g_autofree char *wanted = lig_shape_to_string (&a->shape);
  g_autofree char *given = lig_shape_to_string (&b->shape);
  fault (self, "table makes '%s', %s %s, another name of '%s', %s %s, which has a different size",
         to, wanted, lig_dtype_name (a->dtype), from, given, lig_dtype_name (b->dtype));
  return FALSE;
}

void
lig_lower_alias (LigLowering *self, const char *to, const char *from)
{
  int target = find_port (self, to), source = find_port (self, from);
  if (target < 0 || source < 0 || target == source || !check_alias (self, to, target, from, source))
    return;
  /* Point to the root of the source, so that chains of aliases stay short. */
  int root = lig_draft_root (self->draft, source);
  if (root == target) {
    fault (self, "table makes '%s' and '%s' names of each other", to, from);
    return;
  }
  lig_value (self->draft, target)->alias = root;
  if (self->probe)
    g_array_append_val (self->aliases, target);
}

gboolean
lig_lower_has (LigLowering *self, const char *port)
{
  return find_port (self, port) >= 0;
}

const void *
lig_lower_params (LigLowering *self, int index)
{
  if (!self->group->fusion)
    return lig_part (self->draft, self->group->first)->params;
  if (index < 0 || index >= self->group->n_elements || self->group->elements[index] < 0)
    return NULL;
  return lig_part (self->draft, self->group->elements[index])->params;
}

gsize
lig_lower_params_size (LigLowering *self, int index)
{
  const char *name = lig_lower_op (self, index);
  return name ? lig_op_info_find (name)->kernel_params_size : 0;
}

const char *
lig_lower_op (LigLowering *self, int index)
{
  if (!self->group->fusion)
    return lig_part (self->draft, self->group->first)->info->name;
  if (index < 0 || index >= self->group->n_elements || self->group->elements[index] < 0)
    return NULL;
  return lig_part (self->draft, self->group->elements[index])->info->name;
}

gboolean
lig_lower_is_training (LigLowering *self)
{
  return self->draft->options.training;
}

gboolean
lig_lower_is_measured (LigLowering *self)
{
  return self->draft->policy == LIG_POLICY_MEASURED &&
         lig_device_has (self->draft->device, LIG_DEVICE_MEASURES);
}

gboolean
lig_lower_is_forced (LigLowering *self)
{
  const LigPart *first = lig_part (self->draft, self->group->first);
  return self->group->fusion &&
         g_strv_contains (lig_op_get_forced (first->written), self->group->fusion->name);
}

double
lig_lower_share (LigLowering *self, const char *port)
{
  gint64 memory = lig_device_get_facts (self->draft->device)->memory;
  int value = find_port (self, port);
  return memory > 0 && value >= 0 ? (double) lig_value (self->draft, value)->bytes / (double) memory
                                  : 0;
}

static void
lower_opaque (LigLowering *self, const LigPart *part)
{
  gboolean backward = self->backward;
  LigDraftStep step = {
    .opaque = backward ? part->info->opaque_backward : part->info->opaque_forward,
    .opaque_data = part->info->opaque_data,
    .pass = backward ? LIG_PASS_BACKWARD : LIG_PASS_FORWARD,
    .group = -1,
    .part = self->group->first,
    .n_inputs = backward ? 3 : 1,
    .n_operands = backward ? 4 : 2,
  };
  static const char *const ports[2][4] = {{"x", "y"}, {"dy", "x", "y", "dx"}};
  for (int i = 0; i < step.n_operands; i++)
    step.values[i] = part_port (self->draft, part, ports[backward][i]);
  if (step.opaque && step.values[step.n_operands - 1] >= 0)
    g_array_append_val (self->steps, step);
}

static void
lower_op (LigLowering *self, const LigPart *part)
{
  const LigOpInfo *info = part->info;
  void (*lower) (LigLowering *) = self->backward ? info->lower_backward : info->lower_forward;
  char *const *names = self->backward ? part->ports->backward : part->ports->forward;
  if (info->opaque_forward)
    lower_opaque (self, part);
  else if (lower)
    lower (self);
  for (char *const *name = names; *name && !lower; name++)
    if (**name)
      lig_lower_kernel (self, *name, NULL, NULL, 0);
}

static void
finish_probe (LigLowering *self, guint first_step, LigProbe *probe)
{
  probe->missing = self->missing;
  probe->unquantized = self->unquantized;
  probe->unwritten = -1;
  if (self->group->fusion && !self->missing && !self->unquantized)
    probe->unwritten = lig_find_unwritten (self, first_step);
  for (guint i = 0; i < self->aliases->len; i++)
    lig_value (self->draft, g_array_index (self->aliases, int, i))->alias = -1;
}

gboolean
lig_lower_group (LigDraft *draft,
                 const LigGroup *group,
                 LigPass pass,
                 GArray *steps,
                 LigProbe *probe,
                 GError **error)
{
  g_autoptr (GArray) aliases = g_array_new (FALSE, FALSE, sizeof (int));
  guint first_step = steps->len;
  LigLowering lowering = {
    .draft = draft,
    .group = group,
    .backward = pass == LIG_PASS_BACKWARD,
    .steps = steps,
    .probe = probe != NULL,
    .aliases = aliases,
  };
  if (!group->fusion)
    lower_op (&lowering, lig_part (draft, group->first));
  else if (group->fusion->pass == LIG_PASS_JOINT && lowering.backward)
    group->fusion->lower_backward (&lowering);
  else
    group->fusion->lower (&lowering);
  g_clear_pointer (&lowering.own, g_hash_table_unref);
  if (probe)
    finish_probe (&lowering, first_step, probe);
  else if (lowering.missing && !lowering.error) {
    const LigPart *part = lig_part (draft, group->first);
    lowering.error = g_error_new (LIG_ERROR, LIG_ERROR_OP, _ ("%s at %s: no kernel is called '%s'"),
                                  part->title, part->path, lowering.missing);
    lig_error_set_path (&lowering.error, part->path);
  }
  if (!lowering.error)
    return TRUE;
  g_propagate_error (error, lowering.error);
  return FALSE;
}

/* Unmarks the values of the group that only its own ops save. */
static void
forget_inner (LigDraft *draft, const LigGroup *group)
{
  int end = group->first + group->count;
  for (int i = group->first; i < end; i++) {
    const LigPart *part = lig_part (draft, i);
    if (i + 1 < end)
      lig_value (draft, part->y)->saved = FALSE;
    for (int j = 0; j < part->n_kept; j++)
      lig_value (draft, part->kept[j])->saved = FALSE;
  }
}

gboolean
lig_lower_saves (LigDraft *draft, const LigGroup *group, GError **error)
{
  const LigPorts *saves = lig_ports_parse (group->fusion ? group->fusion->saves : NULL);
  LigLowering lowering = {.draft = draft, .group = group};
  if (saves->count == 0 || group->fusion->pass != LIG_PASS_JOINT)
    return TRUE;
  forget_inner (draft, group);
  for (int i = 0; i < saves->count && !lowering.error; i++) {
    int value = find_port (&lowering, saves->ports[i].name);
    if (value >= 0 && lig_value (draft, value)->role == LIG_VALUE_COMPUTED)
      lig_value (draft, value)->saved = TRUE;
  }
  if (!lowering.error)
    return TRUE;
  g_propagate_error (error, lowering.error);
  return FALSE;
}

void
lig_lower_plain (LigDraft *draft,
                 GArray *steps,
                 LigPass pass,
                 int part,
                 const char *name,
                 const int *values,
                 const void *params,
                 gsize params_size)
{
  const LigKernel *kernel = lig_kernel_find (name);
  const LigPorts *ports = lig_ports_parse (kernel->signature);
  LigDraftStep step = {
    .kernel = kernel,
    .ports = ports,
    .pass = pass,
    .group = -1,
    .part = part,
    .awaits = -1,
    .n_operands = ports->count,
    .n_inputs = ports->n_inputs,
  };
  memcpy (step.values, values, (gsize) step.n_operands * sizeof *values);
  if (params)
    memcpy (step.params, params, step.params_size = params_size);
  finish_step (draft, &step);
  g_array_append_val (steps, step);
}
