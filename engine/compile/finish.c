/* SPDX-License-Identifier: MIT */
/* Finishes a plan: adds to its tables the edges between ops, values and steps, names, and the
 * figures that depend on all steps. */
#include "engine/choose/choice.h"
#include "engine/choose/predict.h"
#include "engine/compile/compilation.h"
#include "engine/graph/op.h"
#include "engine/graph/step.h"
#include "engine/graph/value.h"
#include "engine/lower/lower.h"
#include "engine/parallel/vocabulary.h"
#include "engine/plan/attention.h"
#include "engine/plan/plan-private.h"

/* Returns the bytes that this op saves for the backward pass and no earlier op saved. */
static gint64
saved_bytes (const LigGraph *graph, const LigPart *part, gboolean *counted)
{
  gint64 bytes = 0;
  int values[4 + LIG_MAX_KEPT + LIG_MAX_EXTRA], n = 0;
  values[n++] = lig_part_loads_branch (part) ? -1 : part->x;
  for (int i = 0; i < part->n_inputs; i++)
    values[n++] = part->extra_inputs[i];
  for (int i = 0; i < part->n_kept; i++)
    values[n++] = part->kept[i];
  if (part->quantizers[LIG_ROLE_INPUT] >= 0) {
    const LigForm *copy = &lig_quantizer (graph, part->quantizers[LIG_ROLE_INPUT])->transposed;
    values[n++] = copy->data;
    values[n++] = copy->scale;
  }
  values[n++] = part->y;
  for (int i = 0; i < n; i++) {
    if (values[i] < 0)
      continue;
    int root = lig_graph_root (graph, values[i]);
    gboolean own = lig_ports_find (part->ports->saves, "y") >= 0 || i + 1 < n;
    if (!lig_value (graph, values[i])->saved || counted[root] || !own)
      continue;
    counted[root] = TRUE;
    bytes += lig_value (graph, root)->bytes;
  }
  return bytes;
}

static const LigParameter *
get_parameter (const LigGraph *graph, int value)
{
  int parameter = lig_value (graph, value)->parameter;
  return lig_parameter (graph, parameter);
}

static void
list_ops (LigPlan *self, LigGraph *graph)
{
  g_autofree gboolean *counted = g_new0 (gboolean, graph->values->len);
  for (int i = 0; i < (int) graph->parts->len; i++) {
    LigPart *part = lig_part (graph, i);
    LigPlanOp op = part->plan;
    op.op = g_object_ref (part->plan.op);
    op.params = g_steal_pointer (&part->params);
    op.hides[LIG_PASS_FORWARD] = lig_part_hides (part, LIG_PASS_FORWARD);
    op.hides[LIG_PASS_BACKWARD] = lig_part_hides (part, LIG_PASS_BACKWARD);
    op.x = lig_value (graph, lig_part_loads_branch (part) ? part->y : part->x)->shape;
    op.y = lig_value (graph, part->y)->shape;
    op.y_dtype = lig_value (graph, part->y)->dtype;
    op.saved_bytes = op.needs_backward ? saved_bytes (graph, part, counted) : 0;
    op.recipe = lig_part_is_quantized (part) ? part->recipe->info->name : NULL;
    for (int j = 0; j < part->n_parameters; j++) {
      const LigParameter *parameter = get_parameter (graph, part->parameters[j]);
      if (part->tied >> j & 1) {
        op.tied[j] = parameter->path;
        continue;
      }
      gint64 elements = lig_shape_size (&lig_value (graph, part->parameters[j])->shape);
      op.parameters += elements;
      op.frozen += parameter->trained || parameter->own_update ? 0 : elements;
      op.own_updated += parameter->own_update ? elements : 0;
    }
    g_array_append_val (self->ops, op);
  }
}

/* Returns the bits of a value's elements if it is a quantized copy, else 0. A byte holds two of 4
 * bits. */
static int
bits_of_copy (const LigGraph *graph, int value)
{
  if (lig_dtype_has (lig_value (graph, value)->dtype, LIG_DTYPE_QUANTIZED))
    return 8;
  for (guint i = 0; lig_value (graph, value)->dtype == LIG_UINT8 && i < graph->quantizers->len;
       i++) {
    const LigQuantizer *quantizer = lig_quantizer (graph, i);
    if (quantizer->row.data == value || quantizer->transposed.data == value)
      return quantizer->recipe->info->bits;
  }
  return 0;
}

static int
find_bits (const LigGraph *graph, const LigPlanGroup *group)
{
  for (int i = 0; i < group->n_steps; i++) {
    const LigGraphStep *step = lig_step (graph, group->steps[i]);
    for (int k = 0; k < step->plan.n_operands; k++) {
      int bits = step->values[k] >= 0 ? bits_of_copy (graph, step->values[k]) : 0;
      if (bits > 0)
        return bits;
    }
  }
  return 0;
}

/* Lists the steps of each group: counts them, partitions one list, and fills it. */
static void
list_group_steps (LigPlan *self, LigGraph *graph)
{
  int *next = self->grouped = g_new (int, self->steps->len + 1);
  for (int pass = 0; pass < 2; pass++)
    for (int i = 0; i < (int) graph->groups[pass]->len; i++)
      lig_group (graph, pass, i)->n_steps = 0;
  for (int i = 0; i < (int) self->steps->len; i++) {
    const LigPlanStep *step = lig_plan_step (self, i);
    if (step->group >= 0)
      lig_group (graph, step->pass, step->group)->n_steps++;
  }
  for (int pass = 0; pass < 2; pass++)
    for (int i = 0; i < (int) graph->groups[pass]->len; i++) {
      LigPlanGroup *group = lig_group (graph, pass, i);
      group->steps = next;
      next += group->n_steps;
      group->n_steps = 0;
    }
  for (int i = 0; i < (int) self->steps->len; i++) {
    const LigPlanStep *step = lig_plan_step (self, i);
    if (step->group < 0)
      continue;
    LigPlanGroup *group = lig_group (graph, step->pass, step->group);
    ((int *) group->steps)[group->n_steps++] = i;
  }
}

/* Sets the figures of each group of a pass that depend on its steps. */
static void
finish_groups (LigPlan *self, LigGraph *graph, LigPass pass)
{
  for (int i = 0; i < (int) graph->groups[pass]->len; i++) {
    LigPlanGroup *group = lig_group (graph, pass, i);
    LigOp *written = lig_part (graph, group->first)->plan.written;
    g_autofree char *title = lig_plan_name_ops (self, group->first, group->count);
    for (int k = 0; k < group->n_steps; k++)
      group->floor += lig_plan_step (self, group->steps[k])->floor;
    group->title = g_string_chunk_insert_const (graph->strings, title);
    group->pieces =
      group->fusion && group->fusion->min_pieces > 0 ? lig_group_get_pieces (graph, group) : 0;
    group->bits = find_bits (graph, group);
    group->forced =
      group->fusion && g_strv_contains (lig_op_get_forced (written), group->fusion->name);
  }
  self->groups[pass] = g_array_ref (graph->groups[pass]);
}

static void
list_steps (LigPlan *self, LigGraph *graph)
{
  self->segments = 1;
  for (int i = 0; i < (int) graph->steps->len; i++) {
    const LigGraphStep *from = lig_step (graph, i);
    LigPlanStep step = from->plan;
    LigStepCode code = from->code;
    step.floor = lig_predict_floor (graph, from);
    step.once = i < graph->phases.forward;
    code.row_part = lig_step_row_part (graph, from);
    self->segments += from->plan.kernel == NULL;
    g_array_append_val (self->steps, step);
    g_array_append_val (self->codes, code);
  }
}

/* Sets the place of each value in memory; an alias is in the memory of another value. */
static void
place_values (LigPlan *self)
{
  for (int i = 0; i < (int) self->values->len; i++) {
    LigPlanValue *value = lig_plan_value (self, i);
    const LigPlanValue *root = lig_plan_value (self, lig_plan_root (self, i));
    gboolean in_state = value->role == LIG_VALUE_PARAMETER || value->role == LIG_VALUE_STATE ||
                        value->role == LIG_VALUE_PARAMETER_GRADIENT ||
                        value->role == LIG_VALUE_SCALING || value->role == LIG_VALUE_QUANTIZERS;
    value->place = in_state                         ? LIG_PLACE_STATE
                   : value->role == LIG_VALUE_CACHE ? LIG_PLACE_CACHE
                   : value->alias >= 0              ? LIG_PLACE_ALIAS
                   : value->offset < 0              ? LIG_PLACE_UNUSED
                                                    : LIG_PLACE_ARENA;
    value->first = root->first;
    value->last = root->last;
    if (root != value)
      value->offset = root->offset < 0 ? -1 : root->offset + value->alias_offset;
  }
}

/* --- Edges --------------------------------------------------------------------------------- */

static void
add_port (LigPlan *self, LigPlanOp *op, LigPlanPort port)
{
  g_array_append_val (self->ports, port);
  op->n_ports++;
}

static void
add_extras (LigPlan *self, const LigGraph *graph, LigPlanOp *op, const LigPart *part)
{
  for (int i = 0; i < part->n_inputs; i++)
    add_port (self, op,
              (LigPlanPort){part->ports->extra_inputs->ports[i].name, LIG_PORT_EXTRA_INPUT,
                            part->extra_inputs[i], part->extra_gradients[i], part->input_parts[i],
                            part->input_slots[i], lig_op_get_extra_input_channel (op->op, i),
                            part->extra_ranges[i]});
  for (int i = 0; i < part->n_outputs; i++)
    add_port (self, op,
              (LigPlanPort){.name = part->ports->extra_outputs->ports[i].name,
                            .kind = LIG_PORT_EXTRA_OUTPUT,
                            .value = part->extra_outputs[i],
                            .gradient = lig_value (graph, part->extra_outputs[i])->gradient,
                            .from = -1,
                            .slot = -1,
                            .channel = part->output_channels[i]});
}

/* Lists the ports of all ops. */
static void
list_ports (LigPlan *self, const LigGraph *graph)
{
  for (int i = 0; i < (int) graph->parts->len; i++) {
    const LigPart *part = lig_part (graph, i);
    LigPlanOp *op = &g_array_index (self->ops, LigPlanOp, i);
    gboolean recalls = lig_part_loads_branch (part);
    add_port (self, op,
              (LigPlanPort){"x", LIG_PORT_X, recalls ? -1 : part->x, recalls ? -1 : part->dx,
                            recalls ? -1 : i - 1, -1, NULL, part->x_range});
    add_port (self, op,
              (LigPlanPort){.name = "y",
                            .kind = LIG_PORT_Y,
                            .value = part->y,
                            .gradient = lig_value (graph, part->y)->gradient,
                            .from = -1,
                            .slot = -1});
    add_extras (self, graph, op, part);
    for (int j = 0; j < part->n_parameters; j++)
      add_port (self, op,
                (LigPlanPort){.name = op->info->parameters[j].name,
                              .kind = LIG_PORT_PARAMETER,
                              .value = part->parameters[j],
                              .gradient = lig_value (graph, part->parameters[j])->gradient,
                              .from = -1,
                              .slot = -1});
    for (int j = 0; j < part->n_kept; j++)
      add_port (self, op,
                (LigPlanPort){.name = part->ports->computes->ports[j].name,
                              .kind = LIG_PORT_KEPT,
                              .value = part->kept[j],
                              .gradient = -1,
                              .from = -1,
                              .slot = -1});
  }
  const LigPlanPort *next = (const LigPlanPort *) (gpointer) self->ports->data;
  for (guint i = 0; i < self->ops->len; i++) {
    g_array_index (self->ops, LigPlanOp, i).ports = next;
    next += g_array_index (self->ops, LigPlanOp, i).n_ports;
  }
}

/* Lists the operands of all steps. */
static void
list_operands (LigPlan *self, const LigGraph *graph)
{
  for (int i = 0; i < (int) graph->steps->len; i++) {
    const LigGraphStep *step = lig_step (graph, i);
    for (int k = 0; k < step->plan.n_operands; k++) {
      LigPlanOperand operand = {step->values[k], step->ports ? step->ports->ports[k].name : NULL,
                                step->bound[k]};
      g_array_append_val (self->operands, operand);
    }
  }
  const LigPlanOperand *next = (const LigPlanOperand *) (gpointer) self->operands->data;
  for (guint i = 0; i < self->steps->len; i++) {
    g_array_index (self->steps, LigPlanStep, i).operands = next;
    next += g_array_index (self->steps, LigPlanStep, i).n_operands;
  }
}

/* Counts the steps that read and write each value, or stores them once the list is partitioned. */
static void
walk_operands (LigPlan *self, gboolean notes)
{
  for (int i = 0; i < (int) self->steps->len; i++) {
    const LigPlanStep *step = &g_array_index (self->steps, LigPlanStep, i);
    for (int k = 0; k < step->n_operands; k++) {
      if (step->operands[k].value < 0)
        continue;
      LigPlanValue *value = &g_array_index (self->values, LigPlanValue, step->operands[k].value);
      gboolean reads = k < step->n_inputs;
      int *at = reads ? &value->n_readers : &value->n_writers;
      if (notes)
        ((int *) (reads ? value->readers : value->writers))[*at] = i;
      ++*at;
    }
  }
}

/* Lists the readers and writers of all values: counts them, partitions one list, and fills it. */
static void
list_edges (LigPlan *self)
{
  gsize count = 0;
  walk_operands (self, FALSE);
  for (guint i = 0; i < self->operands->len; i++)
    count += g_array_index (self->operands, LigPlanOperand, i).value >= 0;
  int *next = self->edges = g_new (int, count + 1);
  for (guint i = 0; i < self->values->len; i++) {
    LigPlanValue *value = &g_array_index (self->values, LigPlanValue, i);
    value->writers = next;
    value->readers = next + value->n_writers;
    next += value->n_writers + value->n_readers;
    value->n_writers = value->n_readers = 0;
  }
  walk_operands (self, TRUE);
}

/* --- The plan ------------------------------------------------------------------------------ */

/* Returns the name of a recipe that no op of the graph can use, or null. */
static const char *
find_idle_recipe (const LigGraph *graph)
{
  for (guint i = 0; i < graph->recipes->len; i++) {
    const LigRecipe *recipe = graph->recipes->pdata[i];
    gboolean used = FALSE;
    for (int k = 0; k < (int) graph->parts->len && !used; k++) {
      const LigPart *part = lig_part (graph, k);
      used = part->recipe == recipe &&
             part->plan.info->flags & (LIG_OP_MATMUL | LIG_OP_GROUPED | LIG_OP_QUANTIZES);
    }
    if (!used)
      return recipe->info->name;
  }
  return NULL;
}

static void
clear_op (gpointer data)
{
  LigPlanOp *op = data;
  g_clear_object (&op->op);
  g_free ((gpointer) op->params);
}

static LigPlan *
new_plan (const LigGraph *graph)
{
  LigPlan *self = g_new0 (LigPlan, 1);
  g_atomic_int_set (&self->count, 1);
  self->ops = g_array_sized_new (FALSE, FALSE, sizeof (LigPlanOp), graph->parts->len);
  g_array_set_clear_func (self->ops, clear_op);
  self->steps = g_array_sized_new (FALSE, FALSE, sizeof (LigPlanStep), graph->steps->len);
  self->codes = g_array_sized_new (FALSE, FALSE, sizeof (LigStepCode), graph->steps->len);
  self->values = g_array_ref (graph->values);
  self->ports = g_array_new (FALSE, FALSE, sizeof (LigPlanPort));
  self->operands = g_array_new (FALSE, FALSE, sizeof (LigPlanOperand));
  return self;
}

/* Moves the parts of the graph that a plan needs unchanged. */
static void
take_tables (LigPlan *self, LigGraph *graph)
{
  const LigChoice *choice = graph->choice;
  self->request = (LigRequest *) g_steal_pointer (&graph->request);
  self->layout = g_steal_pointer (&graph->layout);
  self->strings = g_steal_pointer (&graph->strings);
  self->phases = graph->phases;
  self->ends = graph->ends;
  graph->ends.extra_inputs = graph->ends.extra_outputs = NULL;
  self->verdicts = g_array_ref (choice->verdicts);
  self->fixes[0] = g_ptr_array_ref (choice->fixes);
  self->fixes[1] = g_ptr_array_ref (choice->alternatives);
  self->names = g_ptr_array_ref (choice->names);
  self->prices = choice->prices ? g_hash_table_ref (choice->prices) : NULL;
  self->unsharded = graph->vocabulary ? graph->vocabulary->unsharded : NULL;
  self->arena_bytes = graph->arena_bytes;
  self->cache_bytes = graph->cache_bytes;
  self->cache_ring = graph->cache_ring;
  self->memories = g_array_ref (graph->memories);
  self->live_peak = graph->live_peak;
  self->spared = graph->spared;
}

LigPlan *
lig_plan_finish (LigGraph *graph)
{
  LigPlan *self = new_plan (graph);
  list_ops (self, graph);
  list_steps (self, graph);
  list_group_steps (self, graph);
  finish_groups (self, graph, LIG_PASS_FORWARD);
  finish_groups (self, graph, LIG_PASS_BACKWARD);
  place_values (self);
  list_ports (self, graph);
  list_operands (self, graph);
  list_edges (self);
  self->idle_recipe = find_idle_recipe (graph);
  take_tables (self, graph);
  lig_attention_recall (self);
  lig_compilation_free (graph);
  return self;
}
