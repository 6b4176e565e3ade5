/* SPDX-License-Identifier: MIT */
/* Ports: the names in bindings become values. A joint fusion computes values in its forward kernels
 * for its backward ones, kernels of one op pass values to one another, and a piece is a value that
 * is a part of the rows of another one, in the same memory. These values belong to the fusion and
 * its first op, or to the op and a pass, so that all tried groups of the same ops share them. */
#include "engine/lower/ports.h"

#include "engine/graph/value.h"
#include "engine/quantize/quantizers.h"

#include <glib/gi18n-lib.h>
#include <string.h>

enum { PORT_UNKNOWN = -2, PORT_ABSENT = -1 };

/* Records the first error in the table of the op or fusion, which ends the compilation. */
void
lig_lower_fault (LigLowering *self, const char *format, ...)
{
  const LigPart *part = lig_part (self->graph, self->group->first);
  va_list arguments;
  if (self->error)
    return;
  va_start (arguments, format);
  g_autofree char *text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  self->error = g_error_new (LIG_ERROR, LIG_ERROR_OP, _ ("%s at %s: its %s"),
                             self->group->fusion ? self->group->fusion->name : part->plan.title,
                             part->plan.path, text);
  lig_error_set_path (&self->error, part->plan.path);
}

static void
no_such_port (LigLowering *self, const char *port)
{
  lig_lower_fault (self, "table names a port '%s' that does not exist", port);
}

/* Returns the value of a part's port; the port decides between the incoming and the outgoing
 * gradient. */
int
lig_lower_part_port (const LigGraph *graph, const LigPart *part, const char *name)
{
  const LigPortSlot *port = lig_op_ports_find (part->ports, name);
  if (!port)
    return PORT_UNKNOWN;
  gboolean gradient = port->gradient;
  switch (port->kind) {
  case LIG_PORT_X:
    return gradient ? part->dx : part->x;
  case LIG_PORT_Y:
    return gradient ? lig_value (graph, part->y)->gradient : part->y;
  case LIG_PORT_EXTRA_INPUT:
    return gradient ? part->extra_gradients[port->slot] : part->extra_inputs[port->slot];
  case LIG_PORT_EXTRA_OUTPUT:
    return gradient ? lig_value (graph, part->extra_outputs[port->slot])->gradient
                    : part->extra_outputs[port->slot];
  case LIG_PORT_KEPT:
    return part->kept[port->slot];
  default:
    /* Those that infer omitted are absent. */
    if (port->slot >= part->n_parameters || (gradient && part->frozen))
      return PORT_ABSENT;
    return gradient ? lig_value (graph, part->parameters[port->slot])->gradient
                    : part->representations[port->slot];
  }
}

/* Returns the value of a form of a port, `x:row`; `form` points past the colon. */
static int
form_port (const LigGraph *graph, const LigPart *part, const char *name, const char *form)
{
  char port[16] = "";
  if ((gsize) (form - name) > sizeof port)
    return PORT_UNKNOWN;
  g_strlcpy (port, name, (gsize) (form - name));
  const LigQuantizer *quantizer = lig_port_quantizer (graph, part, port);
  return quantizer ? lig_form_value (quantizer, form) : PORT_ABSENT;
}

const LigPart *
lig_lower_port_part (LigLowering *self, const LigBinding *port)
{
  const LigPlanGroup *group = self->group;
  if (!group->fusion)
    return lig_part (self->graph, group->first);
  if (port->element < 0 || port->element >= group->n_elements) {
    no_such_port (self, port->text);
    return NULL;
  }
  int part = group->elements[port->element];
  return part < 0 ? NULL : lig_part (self->graph, part);
}

/* Returns the value of the port's rows that a binding has. */
static int find_piece (LigLowering *self, const LigBinding *port);

/* Returns the gradient of the plan's loss, by which an op multiplies those of losses of its own. */
static int
find_loss_gradient (LigLowering *self)
{
  const LigGraph *graph = self->graph;
  const LigPlanValue *output = lig_value (graph, graph->ends.output);
  if (output->shape.n_axes == 0 && output->gradient >= 0)
    return output->gradient;
  const LigPart *part = lig_part (graph, self->group->first);
  if (!self->error) {
    self->error = g_error_new (LIG_ERROR, LIG_ERROR_OP,
                               _ ("%s at %s: it adds to the loss, but the sequence ends in none; "
                                  "end it with one, such as cross-entropy"),
                               part->plan.title, part->plan.path);
    lig_error_set_path (&self->error, part->plan.path);
  }
  return PORT_ABSENT;
}

/* Returns the value of a port of the plan: `$loss_gradient`; `$gradient_norm`, which is absent if
 * nothing is trained; `$starts`, `$lengths`, `$slots` and `$sources` of texts in progress, or the
 * group's first `$cache`, which are absent in a plan without a cache and in its source. */
static int
find_plan_port (LigLowering *self, const char *name)
{
  static const char *const inputs[LIG_N_CACHE_INPUTS] = {"$starts", "$lengths", "$slots",
                                                         "$sources"};
  const LigGraph *graph = self->graph;
  if (g_str_equal (name, "$loss_gradient"))
    return find_loss_gradient (self);
  if (g_str_equal (name, "$gradient_norm"))
    return graph->ends.gradient_norm;
  if (graph->request->options.cache.rows == 0 || lig_part (graph, self->group->first)->source)
    return PORT_ABSENT;
  for (int i = 0; i < LIG_N_CACHE_INPUTS; i++)
    if (g_str_equal (name, inputs[i]))
      return graph->cache_inputs[i];
  for (int i = 0; i < self->group->count && g_str_equal (name, "$cache"); i++)
    if (lig_part (graph, self->group->first + i)->cache >= 0)
      return lig_part (graph, self->group->first + i)->cache;
  no_such_port (self, name);
  return PORT_ABSENT;
}

int
lig_lower_bound (LigLowering *self, const LigBinding *port)
{
  int own;
  if (g_str_equal (port->text, "-"))
    return PORT_ABSENT;
  if (port->text[0] == '$')
    return find_plan_port (self, port->text);
  if (port->pieces > 0)
    return find_piece (self, port);
  if (lig_find_own_value (self, port->text, &own))
    return own;
  const LigPart *part = lig_lower_port_part (self, port);
  if (!part)
    return PORT_ABSENT;
  const char *name = lig_lower_port_name (self, port);
  int value = port->form > 0 ? form_port (self->graph, part, name, port->text + port->form)
                             : lig_lower_part_port (self->graph, part, name);
  if (value == PORT_UNKNOWN)
    no_such_port (self, port->text);
  return MAX (value, PORT_ABSENT);
}

const char *
lig_lower_port_name (const LigLowering *self, const LigBinding *port)
{
  return self->group->fusion ? port->text + port->name : port->text;
}

int
lig_lower_port (LigLowering *self, const char *port)
{
  LigBinding binding;
  lig_binding_parse (&binding, port);
  return lig_lower_bound (self, &binding);
}

gboolean
lig_lower_has (LigLowering *self, const char *port)
{
  return lig_lower_port (self, port) >= 0;
}

const void *
lig_lower_params (LigLowering *self, int index)
{
  if (!self->group->fusion)
    return lig_part (self->graph, self->group->first)->params;
  if (index < 0 || index >= self->group->n_elements || self->group->elements[index] < 0)
    return NULL;
  return lig_part (self->graph, self->group->elements[index])->params;
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
    return lig_part (self->graph, self->group->first)->plan.info->name;
  if (index < 0 || index >= self->group->n_elements || self->group->elements[index] < 0)
    return NULL;
  return lig_part (self->graph, self->group->elements[index])->plan.info->name;
}

double
lig_lower_share (LigLowering *self, const char *port)
{
  gint64 memory = lig_device_get_facts (self->graph->request->device)->memory;
  int value = lig_lower_port (self, port);
  return memory > 0 && value >= 0 ? (double) lig_value (self->graph, value)->bytes / (double) memory
                                  : 0;
}

gint64
lig_lower_columns (LigLowering *self, const char *port)
{
  int value = lig_lower_port (self, port);
  return value >= 0 ? lig_shape_columns (&lig_value (self->graph, value)->shape) : 0;
}

/* Adds a piece of a value, whose rows are split into `count` equal pieces. The scales of rows are a
 * vector, with one element per row. */
static int
add_piece (LigGraph *graph, int whole, int index, int count)
{
  const LigPlanValue *of = lig_value (graph, whole);
  LigShape shape = of->shape;
  LigValueRole role = of->role;
  g_autofree char *name = g_strdup (of->name);
  gint64 columns = shape.n_axes > 1 ? MAX (lig_shape_columns (&shape), 1) : 1;
  gint64 rows = lig_shape_size (&shape) / columns;
  int part = of->op;
  lig_shape_init (&shape, MIN (shape.n_axes, 2), rows / count, columns);
  int piece =
    lig_graph_add_value (graph, role, &shape, of->dtype, part, "%s@%d/%d", name, index, count);
  LigPlanValue *added = lig_value (graph, piece);
  added->alias = whole;
  added->alias_offset = index * added->bytes;
  return piece;
}

static int
find_piece (LigLowering *self, const LigBinding *port)
{
  LigBinding all = *port;
  int piece;
  all.pieces = 0;
  int whole = lig_lower_bound (self, &all);
  /* All rows share the scale of a tensor. */
  if (whole < 0 || (port->form > 0 && lig_value (self->graph, whole)->shape.n_axes == 0))
    return whole;
  g_autofree char *key = g_strdup_printf ("%d@%d/%d", whole, port->piece, port->pieces);
  if (lig_find_own (self->graph, key, &piece))
    return piece;
  piece = add_piece (self->graph, whole, port->piece, port->pieces);
  lig_keep_own (self->graph, g_steal_pointer (&key), piece);
  return piece;
}

/* Returns the entry of a name in LigFusion.computes, `gx=0.x` or `gweight=0.weight:fp32`, or
 * null. */
static const char *
find_entry (const char *computes, const char *name)
{
  gsize length = strlen (name);
  for (const char *at = computes; at && *at; at += strcspn (at, " ")) {
    at += strspn (at, " ");
    if (strncmp (at, name, length) == 0 && at[length] == '=')
      return at + length + 1;
  }
  return NULL;
}

static int
add_value (LigLowering *self, const char *entry, const char *name)
{
  gsize length = strcspn (entry, " "), port_length = strcspn (entry, " :");
  g_autofree char *port = g_strndup (entry, port_length);
  int like = lig_lower_port (self, port);
  if (like < 0)
    return -1;
  LigShape shape = lig_value (self->graph, like)->shape;
  LigDtype dtype = lig_value (self->graph, like)->dtype;
  if (port_length < length) {
    g_autofree char *type = g_strndup (entry + port_length + 1, length - port_length - 1);
    lig_dtype_from_name (type, &dtype);
  }
  int first = self->group->first;
  return lig_graph_add_value (self->graph, LIG_VALUE_COMPUTED, &shape, dtype, first, "#%d.%s",
                              first, name);
}

gboolean
lig_find_own (const LigGraph *graph, const char *key, int *value)
{
  gpointer known;
  if (!graph->own_values || !g_hash_table_lookup_extended (graph->own_values, key, NULL, &known))
    return FALSE;
  *value = GPOINTER_TO_INT (known);
  return TRUE;
}

void
lig_keep_own (LigGraph *graph, char *key, int value)
{
  if (!graph->own_values)
    graph->own_values = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_hash_table_insert (graph->own_values, key, GINT_TO_POINTER (value));
}

void
lig_lower_value (LigLowering *self, const char *name, const LigShape *shape, LigDtype dtype)
{
  int first = self->group->first, value;
  const char *fusion = self->group->fusion ? self->group->fusion->name : "";
  int pass = self->update ? LIG_PASS_UPDATE : self->backward ? LIG_PASS_BACKWARD : LIG_PASS_FORWARD;
  g_autofree char *key = g_strdup_printf ("%s %d %d %s", fusion, first, pass, name);
  if (!lig_find_own (self->graph, key, &value)) {
    value =
      lig_graph_add_value (self->graph, self->backward ? LIG_VALUE_GRADIENT : LIG_VALUE_COMPUTED,
                           shape, dtype, first, "#%d.%s", first, name);
    lig_keep_own (self->graph, g_steal_pointer (&key), value);
  }
  if (!self->own)
    self->own = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_hash_table_insert (self->own, g_strdup (name), GINT_TO_POINTER (value));
}

void
lig_lower_value_like (LigLowering *self, const char *name, const char *port)
{
  int value = lig_lower_port (self, port);
  if (value < 0)
    return;
  LigShape shape = lig_value (self->graph, value)->shape;
  lig_lower_value (self, name, &shape, lig_value (self->graph, value)->dtype);
}

gboolean
lig_find_own_value (LigLowering *self, const char *name, int *value)
{
  gpointer own;
  if (self->own && g_hash_table_lookup_extended (self->own, name, NULL, &own)) {
    *value = GPOINTER_TO_INT (own);
    return TRUE;
  }
  const LigFusion *fusion = self->group->fusion;
  const char *entry = fusion ? find_entry (fusion->computes, name) : NULL;
  if (!entry)
    return FALSE;
  g_autofree char *key =
    g_strdup_printf ("%s %d %d %s", fusion->name, self->group->first, self->group->count, name);
  if (lig_find_own (self->graph, key, value))
    return TRUE;
  *value = add_value (self, entry, name);
  lig_keep_own (self->graph, g_steal_pointer (&key), *value);
  return TRUE;
}

/* Checks that `to` can be an alias: the group itself must compute it, so that it has no memory yet,
 * and it must have the size of `from`. */
static gboolean
check_alias (LigLowering *self, const char *to, int target, const char *from, int source)
{
  const LigPlanGroup *group = self->group;
  const LigPlanValue *a = lig_value (self->graph, target), *b = lig_value (self->graph, source);
  gboolean computed = (a->role == LIG_VALUE_COMPUTED || a->role == LIG_VALUE_GRADIENT) &&
                      a->op >= group->first && a->op < group->first + group->count;
  if (!computed) {
    lig_lower_fault (self, "table makes '%s' another name of '%s', but does not compute it", to,
                     from);
    return FALSE;
  }
  if (a->dtype == b->dtype && lig_shape_size (&a->shape) == lig_shape_size (&b->shape))
    return TRUE;
  g_autofree char *wanted = lig_shape_to_string (&a->shape);
  g_autofree char *given = lig_shape_to_string (&b->shape);
  lig_lower_fault (
    self, "table makes '%s', %s %s, another name of '%s', %s %s, which has a different size", to,
    wanted, lig_dtype_name (a->dtype), from, given, lig_dtype_name (b->dtype));
  return FALSE;
}

void
lig_lower_alias (LigLowering *self, const char *to, const char *from)
{
  int target = lig_lower_port (self, to), source = lig_lower_port (self, from);
  if (target < 0 || source < 0 || target == source || !check_alias (self, to, target, from, source))
    return;
  /* Point to the root of the source, so that chains of aliases stay short. */
  int root = lig_graph_root (self->graph, source);
  if (root == target) {
    lig_lower_fault (self, "table makes '%s' and '%s' names of each other", to, from);
    return;
  }
  lig_value (self->graph, target)->alias = root;
  if (self->probe)
    g_array_append_val (self->aliases, target);
}
