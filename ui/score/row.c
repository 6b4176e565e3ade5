/* SPDX-License-Identifier: MIT */
/* A row of the score: one op. It has no child widgets; its text is laid out when first visible. */
#include "ui/score/row-private.h"

#include "ui/score/marks.h"

#include "ui/widgets/css-class.h"
#include "ui/widgets/figures.h"
#include <ligature/problem-fix.h>

#include <glib/gi18n.h>
#include <string.h>

G_DEFINE_FINAL_TYPE (LigOpRow, lig_op_row, GTK_TYPE_WIDGET)

/* --- Content ------------------------------------------------------------------------------- */

static void
set_text (LigOpRow *self, int which, const char *text)
{
  if (lig_score_text_set (&self->texts[which], text))
    gtk_widget_queue_draw (GTK_WIDGET (self));
}

static void
grow_parts (LigOpRow *self, int count)
{
  if (count <= self->n_parts)
    return;
  self->parts = g_renew (LigPartTexts, self->parts, count);
  memset (&self->parts[self->n_parts], 0, (gsize) (count - self->n_parts) * sizeof *self->parts);
  self->n_parts = count;
}

static char *
name_part (const LigPlanOp *part)
{
  const char *title = _ (part->info->title), *name = lig_plan_op_get_part (part);
  return name && !g_str_equal (name, part->info->name) ? g_strdup_printf ("%s · %s", title, name)
                                                       : g_strdup (title);
}

static void
bind_part (LigOpRow *self, int k, const LigPlanOp *part)
{
  g_autofree char *text = part->parameters > 0 ? lig_figure_count_short (part->parameters) : NULL;
  g_autofree char *name = name_part (part);
  if (lig_score_text_set (&self->parts[k].name, name) |
      lig_score_text_set (&self->parts[k].count, text))
    gtk_widget_queue_draw (GTK_WIDGET (self));
}

static char *
count_text (LigOp *op)
{
  gint64 repeat;
  g_object_get (op, "repeat", &repeat, NULL);
  return g_strdup_printf ("× %" G_GINT64_FORMAT, repeat);
}

static char *
body_text (LigOp *op)
{
  LigSequence *body = lig_op_get_body (op);
  guint length = lig_sequence_get_length (body);
  g_autoptr (GString) text = g_string_new (NULL);
  for (guint i = 0; i < MIN (length, 12); i++) {
    const LigOpInfo *info = lig_op_get_info (lig_sequence_get (body, (int) i, NULL));
    g_string_append_printf (text, "%s%s", i > 0 ? " · " : "", _ (info->title));
  }
  if (length == 0)
    g_string_append (text, _ ("empty: drop operations here"));
  return g_strdup (text->str);
}

/* Returns the parameters of an op, or for a macro without any, the names of its parts. */
static char *
params_text (const LigScoreMap *map, const LigScoreSlot *slot, const LigPlanOp *parts)
{
  if (slot->block)
    return body_text (slot->op);
  g_autofree char *params = lig_score_params (slot->op, parts);
  if ((params && *params) || !slot->folds || !parts)
    return g_steal_pointer (&params);
  return lig_plan_list_parts (map->plan, slot->first, slot->count);
}

/* Returns `7 087 872 parameters, 404 MB saved for backward`; null without either. */
static char *
describe_sum (const LigScoreSum *sum)
{
  g_autofree char *count = lig_figure_count (sum->parameters);
  g_autofree char *bytes = lig_figure_bytes ((double) sum->saved_bytes);
  g_autofree char *parameters =
    g_strdup_printf (ngettext ("%s parameter", "%s parameters", (gulong) sum->parameters), count);
  g_autofree char *saved = g_strdup_printf (_ ("%s saved for backward"), bytes);
  if (sum->parameters > 0 && sum->saved_bytes > 0)
    return g_strdup_printf ("%s, %s", parameters, saved);
  return sum->parameters > 0    ? g_steal_pointer (&parameters)
         : sum->saved_bytes > 0 ? g_steal_pointer (&saved)
                                : NULL;
}

/* Sets the sums over the ops that a folded row or a block represents, in all repetitions. */
static void
bind_sum (LigOpRow *self, const LigScoreSlot *slot, const LigPlanOp *ops)
{
  LigScoreSum sum;
  g_autofree char *text = NULL, *brief = NULL, *unit = NULL;
  if (ops && (slot->block || lig_score_slot_is_folded (slot))) {
    lig_score_sum_ops (ops, slot->count, &sum);
    text = describe_sum (&sum);
    /* The head of an unfolded block has no line for the sums. */
    if (sum.parameters > 0 && !slot->open) {
      brief = lig_figure_count_short (sum.parameters);
      unit = g_strdup_printf (ngettext ("%s parameter", "%s parameters", (gulong) sum.parameters),
                              brief);
    }
  }
  set_text (self, SUM, text);
  set_text (self, SUM_SHORT, brief);
  set_text (self, SUM_UNIT, unit);
}

/* Sets the shape, and its last axis for a row that is too narrow for all of it. */
static void
bind_shape (LigOpRow *self, const LigScoreSlot *slot, const LigPlanOp *ops)
{
  const LigShape *shape = ops ? &ops[slot->count - 1].y : NULL;
  g_autofree char *text = shape ? lig_figure_shape (shape) : NULL;
  g_autofree char *last =
    shape && shape->n_axes > 1
      ? g_strdup_printf ("… × %" G_GINT64_FORMAT, (gint64) shape->axes[shape->n_axes - 1])
      : NULL;
  set_text (self, SHAPE, text);
  set_text (self, SHAPE_SHORT, last);
}

static void
bind_texts (LigOpRow *self, const LigScoreMap *map, const LigScoreSlot *slot)
{
  const LigOpInfo *info = lig_op_get_info (slot->op);
  guint n_ops = 0;
  const LigPlanOp *ops = map->plan ? lig_plan_get_ops (map->plan, &n_ops) : NULL;
  gboolean planned =
    slot->first >= 0 && slot->count > 0 && slot->first + slot->count <= (int) n_ops;
  g_autofree char *count = slot->block ? count_text (slot->op) : NULL;
  g_autofree char *params = params_text (map, slot, planned ? &ops[slot->first] : NULL);
  if (!lig_op_get_trained (slot->op)) {
    g_autofree char *plain = params;
    params =
      plain && *plain ? g_strdup_printf ("%s · %s", _ ("frozen"), plain) : g_strdup (_ ("frozen"));
  }
  g_autofree char *note = NULL;
  self->end = lig_ends_find (self->document, slot->op, &note);
  if (note) {
    g_autofree char *plain = params;
    gboolean alone = !plain || !*plain || self->end == LIG_END_UNREAD || self->end == LIG_END_OPEN;
    params = alone ? g_strdup (note) : g_strdup_printf ("%s · %s", plain, note);
  }
  set_text (self, TITLE, _ (info->title));
  set_text (self, TITLE_SMALL, _ (info->title));
  set_text (self, COUNT, count);
  set_text (self, PARAMS, params);
  bind_shape (self, slot, planned ? &ops[slot->first] : NULL);
  bind_sum (self, slot, planned ? &ops[slot->first] : NULL);
  set_text (self, PATH, slot->path);
  self->shown = slot->shown;
  grow_parts (self, self->shown);
  for (int k = 0; k < self->shown && planned; k++)
    bind_part (self, k, &ops[slot->first + k]);
}

static void
append_fused (GString *text, const LigScoreMap *map, const LigScoreSlot *slot, LigPass pass)
{
  guint count;
  const LigPlanGroup *groups = lig_plan_get_groups (map->plan, pass, &count);
  guint low = 0, high = count;
  while (low < high) {
    guint middle = (low + high) / 2;
    if (groups[middle].first + groups[middle].count <= slot->first)
      low = middle + 1;
    else
      high = middle;
  }
  for (; low < count && groups[low].first < slot->first + slot->count; low++) {
    if (!groups[low].fusion || slot->block || lig_score_slot_is_folded (slot))
      continue;
    g_autofree char *name = lig_score_group_name (map->plan, &groups[low]);
    g_string_append (text, ", ");
    /* Translators: %s is a list of operations, like linear + bias + GELU. */
    g_string_append_printf (
      text, pass == LIG_PASS_FORWARD ? _ ("fused forward as %s") : _ ("fused backward as %s"),
      name);
  }
}

static void
update_label (LigOpRow *self, const LigScoreMap *map, const LigScoreSlot *slot)
{
  g_autoptr (GString) text = g_string_new (self->texts[TITLE].text);
  if (self->texts[COUNT].text)
    g_string_append_printf (text, " %s", self->texts[COUNT].text);
  if (self->texts[SHAPE].text)
    g_string_append_printf (text, ", %s", self->texts[SHAPE].text);
  g_string_append (text, ", ");
  g_string_append_printf (text, _ ("row %u of %u"), self->number + 1, map->slots->len);
  if (lig_op_get_fence (slot->op))
    g_string_append_printf (text, ", %s", _ ("fence above"));
  if (self->marks)
    g_string_append_printf (text, ", %s", lig_score_marks_text (self->marks));
  if (map->plan && slot->first >= 0) {
    append_fused (text, map, slot, LIG_PASS_FORWARD);
    append_fused (text, map, slot, LIG_PASS_BACKWARD);
  }
  if (g_strcmp0 (text->str, self->label) == 0)
    return;
  g_free (self->label);
  self->label = g_strdup (text->str);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL, self->label,
                                  -1);
}

void
lig_op_row_place (LigOpRow *self, const LigScoreMap *map, guint number)
{
  const LigScoreSlot *slot = lig_score_map_get_slot (map, number);
  g_set_object (&self->op, slot->op);
  self->metrics = map->metrics;
  self->number = number;
}

void
lig_op_row_bind (LigOpRow *self, const LigScoreMap *map, guint number)
{
  const LigScoreSlot *slot = lig_score_map_get_slot (map, number);
  lig_op_row_place (self, map, number);
  if (self->open != slot->open || self->depth != slot->depth || self->block != slot->block ||
      self->folds != slot->folds)
    gtk_widget_queue_draw (GTK_WIDGET (self));
  if (slot->folds && (!self->folds || self->open != slot->open))
    gtk_accessible_update_state (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_STATE_EXPANDED, slot->open,
                                 -1);
  else if (self->folds && !slot->folds)
    gtk_accessible_reset_state (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_STATE_EXPANDED);
  self->folds = slot->folds;
  self->block = slot->block;
  self->open = slot->open;
  self->empty = slot->block && lig_sequence_get_length (lig_op_get_body (slot->op)) == 0;
  self->depth = slot->depth;
  LigScoreMarks marks = lig_score_marks_of (slot->op);
  if (marks != self->marks)
    gtk_widget_queue_draw (GTK_WIDGET (self));
  self->marks = marks;
  bind_texts (self, map, slot);
  lig_op_row_bind_load (self, map, slot);
  update_label (self, map, slot);
  lig_css_class_set (GTK_WIDGET (self), "open", slot->block && slot->open);
  lig_op_row_update (self);
}

/* --- Content ------------------------------------------------------------------------------- */

static void
set_flag (GtkWidget *widget, GtkStateFlags flag, gboolean on)
{
  if (((gtk_widget_get_state_flags (widget) & flag) != 0) == on)
    return;
  if (on)
    gtk_widget_set_state_flags (widget, flag, FALSE);
  else
    gtk_widget_unset_state_flags (widget, flag);
}

static void
describe (LigOpRow *self, const char *problem)
{
  const char *params = self->texts[PARAMS].text, *sum = self->texts[SUM].text;
  g_autofree char *both = params && *params && sum ? g_strdup_printf ("%s; %s", params, sum) : NULL;
  const char *own = problem ? problem : both ? both : sum ? sum : params;
  const char *load = problem ? NULL : self->load.text;
  g_autofree char *all = own && *own && load ? g_strdup_printf ("%s; %s", own, load) : NULL;
  const char *text = all ? all : load ? load : own;
  if (g_strcmp0 (text, self->description) == 0)
    return;
  g_free (self->description);
  self->description = g_strdup (text);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION,
                                  self->description ? self->description : "", -1);
}

/* The row already shows the op's name and path, so `linear at 3: input has …` starts after them. */
static const char *
skip_place (LigOpRow *self, const char *problem)
{
  g_autofree char *place = g_strconcat (lig_op_get_name (self->op), " at ", NULL);
  const char *rest = problem && g_str_has_prefix (problem, place) ? strstr (problem, ": ") : NULL;
  return rest ? rest + 2 : problem;
}

void
lig_op_row_update (LigOpRow *self)
{
  GtkWidget *widget = GTK_WIDGET (self);
  if (!self->op)
    return;
  const LigProblem *found = lig_document_find_problem (self->document, self->op);
  const char *problem = found ? found->text : NULL;
  g_autofree char *best =
    problem && found->fixes->len > 0 ? lig_problem_fix_describe (found->fixes->pdata[0]) : NULL;
  /* Translators: %s is an edit that removes a problem, like “set in-features to 768 at 2”. */
  g_autofree char *fix = best ? g_strdup_printf (_ ("To fix it: %s"), best) : NULL;
  g_autofree char *whole = fix ? g_strconcat (problem, "\n", fix, NULL) : g_strdup (problem);
  gboolean selected = lig_document_is_selected (self->document, self->op);
  if (((gtk_widget_get_state_flags (widget) & GTK_STATE_FLAG_SELECTED) != 0) != selected)
    gtk_accessible_update_state (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_STATE_SELECTED, selected,
                                 -1);
  set_flag (widget, GTK_STATE_FLAG_SELECTED, selected);
  lig_css_class_set (widget, "cursor", lig_document_get_cursor (self->document) == self->op);
  lig_css_class_set (widget, "error", problem != NULL);
  set_text (self, PROBLEM, skip_place (self, problem));
  describe (self, whole);
}

/* --- As a widget --------------------------------------------------------------------------- */

static void
snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  lig_op_row_draw (LIG_OP_ROW (widget), snapshot);
}

static gboolean
query_tooltip (GtkWidget *widget, int x, int y, gboolean keyboard, GtkTooltip *tooltip)
{
  LigOpRow *self = LIG_OP_ROW (widget);
  g_autofree char *hidden = lig_op_row_find_hidden (self);
  g_autofree char *text = self->menu ? NULL : lig_op_row_describe_at (self, x, y, hidden);
  if (!text)
    return FALSE;
  gtk_tooltip_set_text (tooltip, text);
  return TRUE;
}

static void
measure (GtkWidget *widget,
         GtkOrientation orientation,
         int for_size,
         int *minimum,
         int *natural,
         int *minimum_baseline,
         int *natural_baseline)
{
  *minimum = *natural = orientation == GTK_ORIENTATION_HORIZONTAL ? 60 : 18;
}

static void
size_allocate (GtkWidget *widget, int width, int height, int baseline)
{
  LigOpRow *self = LIG_OP_ROW (widget);
  if (self->menu)
    gtk_popover_present (GTK_POPOVER (self->menu));
}

/* --- Construction -------------------------------------------------------------------------- */

static void
dispose (GObject *object)
{
  LigOpRow *self = LIG_OP_ROW (object);
  g_clear_pointer (&self->menu, gtk_widget_unparent);
  g_clear_object (&self->op);
  G_OBJECT_CLASS (lig_op_row_parent_class)->dispose (object);
}

static void
finalize (GObject *object)
{
  LigOpRow *self = LIG_OP_ROW (object);
  for (int i = 0; i < N_TEXTS; i++)
    lig_score_text_clear (&self->texts[i]);
  for (int i = 0; i < self->n_parts; i++) {
    lig_score_text_clear (&self->parts[i].name);
    lig_score_text_clear (&self->parts[i].count);
  }
  g_free (self->parts);
  lig_op_row_clear_load (self);
  g_free (self->label);
  g_free (self->description);
  G_OBJECT_CLASS (lig_op_row_parent_class)->finalize (object);
}

static void
lig_op_row_class_init (LigOpRowClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);
  G_OBJECT_CLASS (class)->dispose = dispose;
  G_OBJECT_CLASS (class)->finalize = finalize;
  widget_class->snapshot = snapshot;
  widget_class->measure = measure;
  widget_class->size_allocate = size_allocate;
  widget_class->query_tooltip = query_tooltip;
  gtk_widget_class_set_css_name (widget_class, "scorerow");
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_LIST_ITEM);
}

static void
lig_op_row_init (LigOpRow *self)
{
  gtk_widget_set_focusable (GTK_WIDGET (self), TRUE);
  gtk_widget_set_has_tooltip (GTK_WIDGET (self), TRUE);
}

GtkWidget *
lig_op_row_new (LigDocument *document)
{
  LigOpRow *self = g_object_new (LIG_TYPE_OP_ROW, NULL);
  self->document = document;
  return GTK_WIDGET (self);
}

LigOp *
lig_op_row_get_op (LigOpRow *self)
{
  return self->op;
}

guint
lig_op_row_get_number (LigOpRow *self)
{
  return self->number;
}

LigDocument *
lig_op_row_get_document (LigOpRow *self)
{
  return self->document;
}
