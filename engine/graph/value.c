/* SPDX-License-Identifier: MIT */
/* Values and parameters: adding them, and their properties. */
#include "engine/graph/value.h"

#include <ligature/loss-scaling.h>
#include <ligature/state-arrays.h>

int
lig_graph_add_value (LigGraph *self,
                     LigValueRole role,
                     const LigShape *shape,
                     LigDtype dtype,
                     int part,
                     const char *format,
                     ...)
{
  va_list arguments;
  LigPlanValue value = {
    .role = role,
    .shape = *shape,
    .dtype = dtype,
    .alias = -1,
    .gradient = -1,
    .op = part,
    .parameter = -1,
    .offset = -1,
    .first = G_MAXINT,
    .last = -1,
  };
  LigValueWork work = {.beside = 0};
  va_start (arguments, format);
  g_autofree char *name = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  value.bytes = lig_shape_size (shape) * (gint64) lig_dtype_size (dtype);
  value.name = g_string_chunk_insert (self->strings, name);
  g_array_append_val (self->values, value);
  g_array_append_val (self->value_work, work);
  return (int) self->values->len - 1;
}

int
lig_graph_scaling (LigGraph *self)
{
  LigShape shape;
  lig_shape_init (&shape, 1, (gint64) LIG_SCALING_FIELDS);
  if (self->ends.scaling < 0)
    self->ends.scaling =
      lig_graph_add_value (self, LIG_VALUE_SCALING, &shape, LIG_FP32, -1, "scaling");
  return self->ends.scaling;
}

int
lig_graph_root (const LigGraph *self, int value)
{
  return lig_values_root (self->values, value);
}

LigOperand
lig_graph_operand (const LigGraph *self, int value)
{
  return lig_value_operand (value < 0 ? NULL : lig_value (self, value));
}

int
lig_array_value (LigGraph *graph, int array, gint64 first, gint64 count)
{
  LigShape shape;
  lig_shape_init (&shape, 1, count);
  int value = lig_graph_add_value (
    graph, LIG_VALUE_STATE, &shape, lig_request_array_dtype (graph->request, array), -1,
    "%s[%" G_GINT64_FORMAT "]", lig_state_array_name ((LigStateArray) array), first);
  lig_value (graph, value)->array = array;
  lig_value (graph, value)->state_offset = first;
  return value;
}

LigShape
lig_sharding_whole (const LigTie *parameter)
{
  const LigSections *sections = &parameter->sharding.sections;
  LigShape whole = parameter->shape;
  if (parameter->sharding.axis < 0)
    return whole;
  gint64 *length = &whole.axes[parameter->sharding.axis];
  *length = 0;
  for (int i = 0; i < sections->count; i++)
    *length += sections->lengths[i];
  return whole;
}

gboolean
lig_sharding_same (const LigTie *tie, const LigParameter *parameter)
{
  const LigParameterSharding *a = &tie->sharding, *b = &parameter->sharding;
  gboolean same =
    tie->summed == parameter->summed && a->axis == b->axis && (a->axis < 0 || a->group == b->group);
  if (!same || a->axis < 0)
    return same;
  same = a->sections.count == b->sections.count;
  for (int i = 0; i < a->sections.count && same; i++)
    same = a->sections.lengths[i] == b->sections.lengths[i];
  return same;
}

static int
by_offset (gconstpointer a, gconstpointer b, gpointer data)
{
  const LigGraph *graph = data;
  const LigParameter *x = lig_parameter (graph, (guint) * (const int *) a);
  const LigParameter *y = lig_parameter (graph, (guint) * (const int *) b);
  return x->offset < y->offset   ? -1
         : x->offset > y->offset ? 1
                                 : *(const int *) a - *(const int *) b;
}

GArray *
lig_parameters_by_offset (const LigGraph *graph)
{
  GArray *numbers = g_array_new (FALSE, FALSE, sizeof (int));
  for (int i = 0; i < (int) graph->layout->parameters->len; i++)
    g_array_append_val (numbers, i);
  g_array_sort_with_data (numbers, by_offset, (gpointer) graph);
  return numbers;
}
