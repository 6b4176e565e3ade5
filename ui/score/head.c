/* SPDX-License-Identifier: MIT */
/* The heads of the score's columns. The bytes saved are the difference to a plan with every op
 * unfused, which a worker thread compiles for a described device with the same facts. */
#include "ui/score/head.h"

#include "ui/score/text.h"
#include "ui/widgets/figures.h"

#include <glib/gi18n.h>

enum { FORWARD, OPS, BACKWARD, N_COLUMNS };

/* Successive edits compile one plan for comparison. */
enum { DELAY_MILLISECONDS = 250 };

struct _LigScoreHead {
  GtkWidget parent_instance;
  LigScoreSheet *sheet;
  GtkWidget *columns[N_COLUMNS];
  GtkLabel *titles[N_COLUMNS], *texts[N_COLUMNS];
  LigPlan *compared; /* whose unfused bytes are known */
  double apart[2];
  GCancellable *comparing;
  guint delay;
};

G_DEFINE_FINAL_TYPE (LigScoreHead, lig_score_head, GTK_TYPE_WIDGET)

/* --- Every op alone ------------------------------------------------------------------------ */

typedef struct {
  LigSequence *sequence;
  LigPlan *plan;
  LigDeviceFacts facts;
  LigPlanOptions options;
  char *device; /* the name to open */
  double apart[2];
} Comparison;

static void
free_comparison (gpointer data)
{
  Comparison *comparison = data;
  g_object_unref (comparison->sequence);
  lig_plan_unref (comparison->plan);
  g_free (comparison->device);
  g_free (comparison);
}

static double
sum_bytes (LigPlan *plan, LigPass pass)
{
  guint count;
  double bytes = 0;
  const LigPlanGroup *groups = lig_plan_get_groups (plan, pass, &count);
  for (guint i = 0; i < count; i++)
    bytes += groups[i].bytes;
  return bytes;
}

static void
compare (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  Comparison *comparison = data;
  g_autoptr (GError) error = NULL;
  g_autoptr (LigDevice) device = lig_device_open (comparison->device, &error);
  if (device && lig_device_has (device, LIG_DEVICE_DESCRIBED))
    lig_device_set_facts (device, &comparison->facts);
  g_autoptr (LigPlan) plan = NULL;
  if (device && !g_cancellable_is_cancelled (cancellable))
    plan = lig_plan_compile (comparison->sequence, device, &comparison->options, &error);
  for (guint pass = 0; plan && pass < 2; pass++)
    comparison->apart[pass] = sum_bytes (plan, (LigPass) pass);
  g_task_return_boolean (task, plan != NULL);
}

static void update_texts (LigScoreHead *self);

static void
compared (GObject *object, GAsyncResult *result, gpointer data)
{
  LigScoreHead *self = LIG_SCORE_HEAD (object);
  Comparison *comparison = g_task_get_task_data (G_TASK (result));
  if (g_cancellable_is_cancelled (g_task_get_cancellable (G_TASK (result))) || !self->sheet)
    return;
  if (g_task_propagate_boolean (G_TASK (result), NULL)) {
    g_clear_pointer (&self->compared, lig_plan_unref);
    self->compared = lig_plan_ref (comparison->plan);
    self->apart[0] = comparison->apart[0];
    self->apart[1] = comparison->apart[1];
    update_texts (self);
  }
}

static gboolean
ask_apart (gpointer data)
{
  LigScoreHead *self = data;
  LigDocument *document = lig_score_sheet_get_document (self->sheet);
  LigPlan *plan = lig_document_get_plan (document);
  self->delay = 0;
  if (!plan || lig_document_is_stale (document) || lig_document_get_problem (document, 0) ||
      self->compared == plan)
    return G_SOURCE_REMOVE;
  if (self->comparing)
    g_cancellable_cancel (self->comparing);
  g_clear_object (&self->comparing);
  self->comparing = g_cancellable_new ();
  LigDevice *device = lig_plan_get_device (plan);
  Comparison *comparison = g_new0 (Comparison, 1);
  comparison->sequence = lig_sequence_copy (lig_document_get_sequence (document));
  comparison->plan = lig_plan_ref (plan);
  comparison->facts = *lig_device_get_facts (device);
  comparison->device =
    g_strdup (lig_device_has (device, LIG_DEVICE_ACCELERATOR | LIG_DEVICE_DESCRIBED)
                ? "null"
                : lig_device_get_name (device));
  lig_document_get_options (document, &comparison->options);
  comparison->options.policy = LIG_POLICY_NONE;
  g_autoptr (GTask) task = g_task_new (self, self->comparing, compared, NULL);
  g_task_set_task_data (task, comparison, free_comparison);
  g_task_run_in_thread (task, compare);
  return G_SOURCE_REMOVE;
}

/* --- Content ------------------------------------------------------------------------------- */

/* Returns whether every group that has a kernel was measured. */
static gboolean
is_measured (const LigScoreMap *map, guint pass)
{
  for (guint i = 0; i < map->brackets[pass]->len; i++) {
    const LigScoreBracket *bracket = &g_array_index (map->brackets[pass], LigScoreBracket, i);
    if (bracket->group && bracket->measured <= 0 && bracket->group->n_steps > 0)
      return FALSE;
  }
  return TRUE;
}

static char *
describe_pass (LigScoreHead *self, guint pass)
{
  const LigScoreMap *map = lig_score_sheet_get_map (self->sheet);
  guint count = 0;
  if (!map->plan)
    return g_strdup ("—");
  lig_plan_get_groups (map->plan, (LigPass) pass, &count);
  if (count == 0)
    return g_strdup (_ ("no gradient is needed"));
  g_autofree char *time = lig_figure_time (map->seconds[pass]);
  double saved = self->compared == map->plan ? self->apart[pass] - map->bytes[pass] : 0;
  g_autofree char *bytes = lig_figure_bytes (MAX (saved, 0));
  g_autofree char *whole =
    is_measured (map, pass) ? g_strdup_printf (_ ("%s measured"), time) : g_steal_pointer (&time);
  if (saved <= 0)
    return g_steal_pointer (&whole);
  /* Without the device's ceilings no time is known, but the bytes moved are. */
  if (!*whole)
    return g_strdup_printf (_ ("%s not moved"), bytes);
  return g_strdup_printf (_ ("%s · %s not moved"), whole, bytes);
}

static char *
describe_input (LigScoreHead *self)
{
  LigShape shape;
  LigDtype dtype;
  LigSequence *sequence = lig_document_get_sequence (lig_score_sheet_get_document (self->sheet));
  lig_sequence_get_input (sequence, &shape, &dtype);
  g_autofree char *axes = lig_figure_shape (&shape);
  return g_strdup_printf ("%s %s", axes, lig_dtype_name (dtype));
}

static void
set_text (LigScoreHead *self, guint column, const char *text)
{
  gtk_label_set_text (self->texts[column], text);
  gtk_widget_set_tooltip_text (self->columns[column], text);
}

static void
update_texts (LigScoreHead *self)
{
  g_autofree char *forward = describe_pass (self, 0);
  g_autofree char *backward = describe_pass (self, 1);
  g_autofree char *input = describe_input (self);
  set_text (self, FORWARD, forward);
  set_text (self, OPS, input);
  set_text (self, BACKWARD, backward);
}

void
lig_score_head_update (LigScoreHead *self, LigScoreSheet *sheet)
{
  g_set_object (&self->sheet, sheet);
  update_texts (self);
  g_clear_handle_id (&self->delay, g_source_remove);
  self->delay = g_timeout_add (DELAY_MILLISECONDS, ask_apart, self);
  gtk_widget_queue_allocate (GTK_WIDGET (self));
}

/* --- Construction -------------------------------------------------------------------------- */

static void
size_allocate (GtkWidget *widget, int width, int height, int baseline)
{
  LigScoreHead *self = LIG_SCORE_HEAD (widget);
  LigScoreColumns columns;
  lig_score_columns (&columns, self->sheet ? lig_score_sheet_get_map (self->sheet) : NULL, width);
  const int x[] = {columns.forward, columns.ops, columns.backward};
  const int widths[] = {columns.rail, columns.ops_width, columns.rail};
  for (guint i = 0; i < N_COLUMNS; i++)
    gtk_widget_size_allocate (self->columns[i], &(GtkAllocation){x[i], 0, widths[i], height}, -1);
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
  LigScoreHead *self = LIG_SCORE_HEAD (widget);
  *minimum = *natural = 0;
  for (guint i = 0; i < N_COLUMNS && orientation == GTK_ORIENTATION_VERTICAL; i++) {
    int least, wanted;
    gtk_widget_measure (self->columns[i], orientation, -1, &least, &wanted, NULL, NULL);
    *minimum = *natural = MAX (*natural, wanted);
  }
}

static void
dispose (GObject *object)
{
  LigScoreHead *self = LIG_SCORE_HEAD (object);
  g_clear_handle_id (&self->delay, g_source_remove);
  if (self->comparing)
    g_cancellable_cancel (self->comparing);
  g_clear_object (&self->comparing);
  g_clear_pointer (&self->compared, lig_plan_unref);
  g_clear_object (&self->sheet);
  for (guint i = 0; i < N_COLUMNS; i++)
    g_clear_pointer (&self->columns[i], gtk_widget_unparent);
  G_OBJECT_CLASS (lig_score_head_parent_class)->dispose (object);
}

static void
lig_score_head_class_init (LigScoreHeadClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);
  G_OBJECT_CLASS (class)->dispose = dispose;
  widget_class->size_allocate = size_allocate;
  widget_class->measure = measure;
  gtk_widget_class_set_css_name (widget_class, "scorehead");
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_GROUP);
}

static void
lig_score_head_init (LigScoreHead *self)
{
  const char *titles[] = {_ ("Forward"), _ ("Input"), _ ("Backward")};
  static const char *const classes[] = {"forward", "input", "backward"};
  for (guint i = 0; i < N_COLUMNS; i++) {
    self->columns[i] = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
    gtk_widget_add_css_class (self->columns[i], classes[i]);
    gtk_widget_set_parent (self->columns[i], GTK_WIDGET (self));
    self->titles[i] = GTK_LABEL (gtk_label_new (titles[i]));
    self->texts[i] = GTK_LABEL (gtk_label_new (NULL));
    gtk_label_set_ellipsize (self->titles[i], PANGO_ELLIPSIZE_END);
    gtk_label_set_ellipsize (self->texts[i], PANGO_ELLIPSIZE_END);
    gtk_widget_add_css_class (GTK_WIDGET (self->titles[i]), "head-title");
    gtk_widget_add_css_class (GTK_WIDGET (self->texts[i]), "head-text");
    gtk_box_append (GTK_BOX (self->columns[i]), GTK_WIDGET (self->titles[i]));
    gtk_box_append (GTK_BOX (self->columns[i]), GTK_WIDGET (self->texts[i]));
  }
}
