/* SPDX-License-Identifier: MIT */
/* Walks from one step of a plan along its values. */
#include "ui/plan/links.h"
#include <ligature/plan-flow.h>

#include <glib/gi18n.h>
#include <string.h>

/* The maximum number of steps that a sentence lists. */
enum { LISTED = 8 };

struct _LigPlanLinks {
  LigPlan *plan;
  LigPlanFlow *flow;
  const LigPlanStep *steps;
  const LigPlanValue *values;
  guint n_steps, n_values;
  int step;
  guint8 *step_links, *value_links;
};

LigPlanLinks *
lig_plan_links_new (LigPlan *plan)
{
  LigPlanLinks *self = g_new0 (LigPlanLinks, 1);
  self->plan = lig_plan_ref (plan);
  self->flow = lig_plan_flow_new (plan);
  self->steps = lig_plan_get_steps (plan, &self->n_steps);
  self->values = lig_plan_get_values (plan, &self->n_values);
  self->step = -1;
  self->step_links = g_new0 (guint8, self->n_steps);
  self->value_links = g_new0 (guint8, self->n_values);
  return self;
}

void
lig_plan_links_free (LigPlanLinks *self)
{
  if (!self)
    return;
  lig_plan_flow_free (self->flow);
  lig_plan_unref (self->plan);
  g_free (self->step_links);
  g_free (self->value_links);
  g_free (self);
}

static void
mark_steps (LigPlanLinks *self, GArray *steps, unsigned link)
{
  for (guint i = 0; i < steps->len; i++)
    self->step_links[g_array_index (steps, int, i)] |= link;
}

static void
mark_operand (LigPlanLinks *self, int value, gboolean input)
{
  g_autoptr (GArray) steps = input ? lig_plan_flow_find_writers (self->flow, value, self->step)
                                   : lig_plan_flow_find_readers (self->flow, value, self->step);
  unsigned link = input ? LIG_LINK_BEFORE : LIG_LINK_AFTER;
  self->value_links[value] |= link;
  mark_steps (self, steps, link);
}

void
lig_plan_links_turn (LigPlanLinks *self, int step)
{
  if (self->n_steps > 0)
    memset (self->step_links, 0, self->n_steps);
  if (self->n_values > 0)
    memset (self->value_links, 0, self->n_values);
  self->step = step < (int) self->n_steps ? step : -1;
  if (self->step < 0)
    return;
  const LigPlanStep *of = &self->steps[step];
  for (int i = 0; i < of->n_operands; i++)
    if (of->operands[i].value >= 0)
      mark_operand (self, of->operands[i].value, i < of->n_inputs);
}

int
lig_plan_links_get_step (LigPlanLinks *self)
{
  return self->step;
}

unsigned
lig_plan_links_of_step (LigPlanLinks *self, int step)
{
  return self->step_links[step];
}

unsigned
lig_plan_links_of_value (LigPlanLinks *self, int value)
{
  return self->value_links[value];
}

int
lig_plan_links_get_root (LigPlanLinks *self, int value)
{
  return lig_plan_flow_get_root (self->flow, value);
}

/* Returns whether the step uses the memory of the value on that side. */
static gboolean
uses (LigPlanLinks *self, int value, unsigned link)
{
  const LigPlanStep *of = &self->steps[self->step];
  int from = link == LIG_LINK_BEFORE ? 0 : of->n_inputs;
  int to = link == LIG_LINK_BEFORE ? of->n_inputs : of->n_operands;
  int root = lig_plan_flow_get_root (self->flow, value);
  for (int i = from; i < to; i++)
    if (of->operands[i].value >= 0 &&
        lig_plan_flow_get_root (self->flow, of->operands[i].value) == root)
      return TRUE;
  return FALSE;
}

gboolean
lig_plan_links_has_operand (LigPlanLinks *self, int step, int operand)
{
  const LigPlanStep *of = &self->steps[step];
  /* The step reads the outputs of the steps before it. */
  unsigned link = operand < of->n_inputs ? LIG_LINK_AFTER : LIG_LINK_BEFORE;
  int value = of->operands[operand].value;
  return value >= 0 && self->step >= 0 && self->step_links[step] & link && uses (self, value, link);
}

/* Returns the number in the list that follows `last`, wrapping around at the end; -1 if only `own`
 * is in it. */
static int
find_next (const int *steps, int count, int last, int own)
{
  int first = -1;
  for (int i = 0; i < count; i++) {
    if (steps[i] == own)
      continue;
    if (steps[i] > last)
      return steps[i];
    first = first < 0 ? steps[i] : first;
  }
  return first;
}

static int
find_last (GArray *steps)
{
  int last = -1;
  for (guint i = 0; i < steps->len; i++)
    last = MAX (last, g_array_index (steps, int, i));
  return last;
}

int
lig_plan_links_follow (LigPlanLinks *self, int value, int last)
{
  const LigPlanValue *of = &self->values[value];
  unsigned link = self->value_links[value];
  if (link & LIG_LINK_AFTER) {
    g_autoptr (GArray) readers = lig_plan_flow_find_readers (self->flow, value, self->step);
    return find_next ((const int *) (gpointer) readers->data, (int) readers->len, last, self->step);
  }
  g_autoptr (GArray) writers =
    lig_plan_flow_find_writers (self->flow, value, link ? self->step : (int) self->n_steps);
  int writer = find_last (writers);
  return writer >= 0 && writer != self->step
           ? writer
           : find_next (of->readers, of->n_readers, link ? self->step : last, self->step);
}

/* --- Sentences ------------------------------------------------------------------------------- */

/* Lists the steps in their order: `3, 12, 15 …`. */
static char *
list_steps (const int *steps, int count)
{
  GString *text = g_string_new (NULL);
  for (int i = 0; i < count; i++) {
    if (i > 0 && steps[i] == steps[i - 1])
      continue;
    if (i == LISTED) {
      g_string_append (text, " …");
      break;
    }
    g_string_append_printf (text, "%s%d", text->len > 0 ? ", " : "", steps[i]);
  }
  return g_string_free (text, FALSE);
}

static const char *
describe_origin (const LigPlanValue *value)
{
  return value->place == LIG_PLACE_STATE ? _ ("in the state")
         : value->role == LIG_VALUE_INPUT || value->role == LIG_VALUE_EXTRA ||
             value->role == LIG_VALUE_GIVEN
           ? _ ("given by the caller")
           : _ ("written by no step");
}

static int
compare (gconstpointer a, gconstpointer b)
{
  return *(const int *) a - *(const int *) b;
}

char *
lig_plan_links_describe_value (LigPlanLinks *self, int value)
{
  const LigPlanValue *of = &self->values[value];
  const LigPlanValue *root = &self->values[lig_plan_flow_get_root (self->flow, value)];
  g_autoptr (GArray) writers = lig_plan_flow_find_writers (self->flow, value, (int) self->n_steps);
  g_autofree char *readers = list_steps (of->readers, of->n_readers);
  g_array_sort (writers, compare);
  g_autofree char *wrote = list_steps ((const int *) (gpointer) writers->data, (int) writers->len);
  g_autofree char *written =
    writers->len > 0
      ? g_strdup_printf (ngettext ("written by step %s", "written by steps %s", writers->len),
                         wrote)
      : g_strdup (describe_origin (root));
  g_autofree char *read =
    of->n_readers > 0
      ? g_strdup_printf (ngettext ("read by step %s", "read by steps %s", (unsigned) of->n_readers),
                         readers)
      : g_strdup (_ ("read by no step"));
  return g_strdup_printf ("%s: %s, %s", of->name, written, read);
}

/* Lists the names of the values that connect the other step with the step. */
static char *
list_values (LigPlanLinks *self, int step)
{
  const LigPlanStep *of = &self->steps[step];
  GString *names = g_string_new (NULL);
  for (int i = 0; i < of->n_operands; i++)
    if (lig_plan_links_has_operand (self, step, i))
      g_string_append_printf (names, "%s%s", names->len > 0 ? ", " : "",
                              self->values[of->operands[i].value].name);
  return g_string_free (names, FALSE);
}

char *
lig_plan_links_describe_step (LigPlanLinks *self, int step)
{
  unsigned link = self->step_links[step];
  if (self->step < 0 || !link)
    return NULL;
  g_autofree char *names = list_values (self, step);
  return link & LIG_LINK_BEFORE ? g_strdup_printf (_ ("Writes %s for step %d"), names, self->step)
                                : g_strdup_printf (_ ("Reads %s from step %d"), names, self->step);
}
