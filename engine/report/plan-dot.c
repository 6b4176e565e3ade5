/* SPDX-License-Identifier: MIT */
/* A plan's graph in Graphviz' language: a node for each step, in a box for its pass, and an edge
 * for each value from the step that writes it to each step of the same pass that reads it. Values
 * of the state, of the caller and those saved for another pass are nodes, one in each pass that
 * uses them: names at both ends are more readable than lines across the whole picture, for which
 * Graphviz takes minutes with a model of twelve layers. */
#include "engine/report/dot.h"
#include "engine/report/format.h"
#include "engine/report/texts.h"
#include <ligature/plan-flow.h>
#include <ligature/units.h>

#include <string.h>

/* An edge. If one end is the node of a value, that step is -1. */
typedef struct {
  int writer, reader;
  int value; /* the value as the steps name it */
  int node;  /* the value that is drawn at the other end, or -1 */
  int from;  /* for a value that steps of another pass have written: the last of them; or -1 */
} Edge;

typedef struct {
  GString *to;
  LigPlan *plan;
  const LigPlanOp *ops;
  const LigPlanStep *steps;
  const LigPlanValue *values;
  guint n_ops, n_steps, n_values;
  LigPlanFlow *flow;
  unsigned *drawn; /* for each value: a bit for each pass in which it has a node */
  GArray *edges;
} Graph;

static void
graph_init (Graph *self, GString *to, LigPlan *plan)
{
  *self = (Graph){.to = to, .plan = plan};
  self->ops = lig_plan_get_ops (plan, &self->n_ops);
  self->steps = lig_plan_get_steps (plan, &self->n_steps);
  self->values = lig_plan_get_values (plan, &self->n_values);
  self->flow = lig_plan_flow_new (plan);
  self->drawn = g_new0 (unsigned, self->n_values);
  self->edges = g_array_new (FALSE, FALSE, sizeof (Edge));
}

static void
graph_clear (Graph *self)
{
  lig_plan_flow_free (self->flow);
  g_free (self->drawn);
  g_array_unref (self->edges);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Graph, graph_clear)

/* --- Edges --------------------------------------------------------------------------------- */

static gboolean
is_in_state (const LigPlanValue *value)
{
  return value->place == LIG_PLACE_STATE;
}

static gboolean
is_given (const LigPlanValue *value)
{
  return value->role == LIG_VALUE_INPUT || value->role == LIG_VALUE_EXTRA ||
         value->role == LIG_VALUE_GIVEN;
}

/* Returns the value whose node a step reads: one of the state or of the caller; -1 if a step
 * computes the value. */
static int
find_origin (Graph *self, int value)
{
  int number = lig_plan_flow_get_root (self->flow, value);
  const LigPlanValue *root = &self->values[number];
  return is_in_state (&self->values[value])      ? value
         : is_given (root) || is_in_state (root) ? number
                                                 : -1;
}

static void
add_edge (Graph *self, Edge edge)
{
  /* A step that uses a value twice, or whose result several steps read, has one edge. */
  for (guint i = self->edges->len; i-- > 0;) {
    const Edge *other = &g_array_index (self->edges, Edge, i);
    if (other->value != edge.value)
      break;
    if (other->writer == edge.writer && other->reader == edge.reader)
      return;
  }
  g_array_append_val (self->edges, edge);
}

/* Adds the edge from a step to one that reads its result; two edges if their passes differ. */
static void
link_steps (Graph *self, int value, int writer, int reader)
{
  if (self->steps[writer].pass == self->steps[reader].pass) {
    add_edge (self, (Edge){writer, reader, value, -1, -1});
    return;
  }
  add_edge (self, (Edge){writer, -1, value, value, -1});
  add_edge (self, (Edge){-1, reader, value, value, writer});
}

static void
link_value (Graph *self, int number)
{
  const LigPlanValue *value = &self->values[number];
  int origin = find_origin (self, number);
  for (int i = 0; i < value->n_writers && origin >= 0; i++)
    add_edge (self, (Edge){value->writers[i], -1, number, origin, -1});
  for (int i = 0; i < value->n_readers; i++) {
    int reader = value->readers[i];
    if (origin >= 0) {
      add_edge (self, (Edge){-1, reader, number, origin, -1});
      continue;
    }
    g_autoptr (GArray) writers = lig_plan_flow_find_writers (self->flow, number, reader);
    for (guint j = 0; j < writers->len; j++)
      link_steps (self, number, g_array_index (writers, int, j), reader);
  }
  if (origin >= 0 || !value->kept_to_end)
    return;
  g_autoptr (GArray) writers = lig_plan_flow_find_writers (self->flow, number, G_MAXINT);
  for (guint j = 0; j < writers->len; j++)
    add_edge (self, (Edge){g_array_index (writers, int, j), -1, number, number, -1});
}

/* --- Nodes --------------------------------------------------------------------------------- */

static char
letter (LigPass pass)
{
  return lig_pass_name (pass)[0];
}

static char *
describe_value (Graph *self, const LigPlanValue *value)
{
  g_autofree char *name = lig_plan_name_values (self->plan, value->name);
  g_autofree char *shape = lig_shape_to_string (&value->shape);
  return g_strdup_printf ("%s\n%s %s", name, shape, lig_dtype_name (value->dtype));
}

static const char *
choose_look (const LigPlanValue *value)
{
  return is_in_state (value) ? "shape=cylinder; style=filled; fillcolor=\"#fdf3d5\""
         : is_given (value) || value->kept_to_end
           ? "shape=oval; style=filled; fillcolor=\"#f0e6f5\""
           : "shape=note; style=\"filled,dashed\"";
}

static LigPass
find_pass (Graph *self, const Edge *edge)
{
  return self->steps[edge->writer >= 0 ? edge->writer : edge->reader].pass;
}

/* Draws the value at the end of an edge. */
static void
draw_value (Graph *self, const Edge *edge)
{
  LigPass pass = find_pass (self, edge);
  const LigPlanValue *value = &self->values[edge->node];
  if (self->drawn[edge->node] & 1u << pass)
    return;
  self->drawn[edge->node] |= 1u << pass;
  g_autofree char *label = describe_value (self, value);
  g_string_append_printf (self->to, "    v%d%c [label=\"", edge->node, letter (pass));
  lig_dot_append_text (self->to, label);
  if (edge->from >= 0)
    g_string_append_printf (self->to, "\\nfrom step %d", edge->from);
  g_string_append_printf (self->to, "\"; %s; fontsize=10];\n", choose_look (value));
}

static const LigPlanGroup *
find_group (Graph *self, const LigPlanStep *step)
{
  guint count;
  if (step->group < 0)
    return NULL;
  const LigPlanGroup *group = &lig_plan_get_groups (self->plan, step->pass, &count)[step->group];
  return group->fusion ? group : NULL;
}

/* Returns the label of a step: its number and kernel, which op or fusion it computes, and the
 * predicted time. */
static char *
describe_step (Graph *self, int number)
{
  const LigPlanStep *step = &self->steps[number];
  const LigPlanGroup *group = find_group (self, step);
  GString *text = g_string_new (NULL);
  g_string_append_printf (text, "%d %s", number, lig_report_kernel_name (step));
  if (step->part >= 0) {
    const LigPlanOp *op = &self->ops[step->part];
    gboolean alone = group && group->n_steps == 1;
    g_string_append_printf (text, "\n%s %s%s", op->prefix,
                            alone ? group->fusion->name : op->info->name,
                            step->again ? ", again" : "");
  }
  if (step->predicted > 0) {
    g_autofree char *time = lig_units_time (step->predicted);
    g_string_append_printf (text, "\npredicted %s", time);
  }
  return g_string_free (text, FALSE);
}

/* Draws the step; steps of a fusion are filled, and several steps of one fusion have a box. */
static void
draw_step (Graph *self, int number)
{
  const LigPlanStep *step = &self->steps[number];
  const LigPlanGroup *group = find_group (self, step);
  gboolean boxed = group && group->n_steps > 1;
  g_autofree char *label = describe_step (self, number);
  if (boxed) {
    g_string_append_printf (self->to, "    subgraph cluster_%c%d { label=\"", letter (step->pass),
                            step->group);
    lig_dot_append_text (self->to, group->fusion->name);
    g_string_append_printf (
      self->to, "\"; style=\"rounded,filled\"; color=\"%s\"; fillcolor=\"%s\"; fontsize=11;",
      lig_dot_edge_colour (step->pass), lig_dot_inside_colour (step->pass));
  }
  g_string_append_printf (self->to, "%ss%d [label=\"", boxed ? " " : "    ", number);
  lig_dot_append_text (self->to, label);
  if (group && !boxed)
    g_string_append_printf (self->to, "\"; color=\"%s\"; fillcolor=\"%s",
                            lig_dot_edge_colour (step->pass), lig_dot_inside_colour (step->pass));
  g_string_append (self->to, boxed ? "\"]; }\n" : "\"];\n");
}

/* Draws the steps and the values of a pass in a box. */
static void
draw_pass (Graph *self, LigPass pass)
{
  if (!lig_plan_has_pass (self->plan, pass))
    return;
  g_string_append_printf (self->to,
                          "  subgraph cluster_%s {\n    label=\"%s\"; color=\"#d6d5da\";\n",
                          lig_pass_name (pass), lig_pass_name (pass));
  for (int i = 0; i < (int) self->n_steps; i++)
    if (self->steps[i].pass == pass)
      draw_step (self, i);
  for (guint i = 0; i < self->edges->len; i++) {
    const Edge *edge = &g_array_index (self->edges, Edge, i);
    if (edge->node >= 0 && find_pass (self, edge) == pass)
      draw_value (self, edge);
  }
  g_string_append (self->to, "  }\n");
}

static void
append_end (Graph *self, const Edge *edge, int step)
{
  if (step >= 0)
    g_string_append_printf (self->to, "s%d", step);
  else
    g_string_append_printf (self->to, "v%d%c", edge->node, letter (find_pass (self, edge)));
}

/* Draws an edge. The node at its end has the label, unless the steps use another name for the
 * value. */
static void
draw_edge (Graph *self, const Edge *edge)
{
  const LigPlanValue *value = &self->values[edge->value];
  g_autofree char *label = edge->node < 0 ? describe_value (self, value)
                           : edge->node != edge->value
                             ? lig_plan_name_values (self->plan, value->name)
                             : NULL;
  g_string_append (self->to, "  ");
  append_end (self, edge, edge->writer);
  g_string_append (self->to, " -> ");
  append_end (self, edge, edge->reader);
  if (label) {
    g_string_append (self->to, " [label=\"");
    lig_dot_append_text (self->to, label);
    g_string_append (self->to, "\"]");
  }
  g_string_append (self->to, ";\n");
}

char *
lig_plan_to_dot (LigPlan *self)
{
  g_return_val_if_fail (self, NULL);
  GString *text = g_string_new (NULL);
  g_auto (Graph) graph;
  g_autofree char *title = lig_report_name_sequence (lig_plan_get_sequence (self));
  graph_init (&graph, text, self);
  lig_dot_begin (text, title);
  for (int i = 0; i < (int) graph.n_values; i++)
    link_value (&graph, i);
  for (LigPass pass = LIG_PASS_FORWARD; pass <= LIG_PASS_UPDATE; pass++)
    draw_pass (&graph, pass);
  for (guint i = 0; i < graph.edges->len; i++)
    draw_edge (&graph, &g_array_index (graph.edges, Edge, i));
  g_string_append (text, "}\n");
  return g_string_free (text, FALSE);
}
