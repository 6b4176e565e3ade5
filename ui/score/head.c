/* SPDX-License-Identifier: MIT */
/* The heads of the score's columns: time, saving and fraction of the roofline of each pass; between
 * them, the input and the origin of the times. */
#include "ui/score/head.h"

#include "ui/document/preview.h"
#include "ui/document/times.h"
#include "ui/widgets/css-class.h"
#include "ui/widgets/figures.h"
#include "ui/widgets/tooltip.h"
#include <ligature/report.h>

#include <glib/gi18n.h>
#include <math.h>

enum { FORWARD, OPS, BACKWARD, N_COLUMNS };

/* The old times are dimmed only if new ones take longer than this. */
enum { STALE_MILLISECONDS = 120 };

/* A column: title and time in the first line, saving and fraction of the roofline in the second.
 * The ops' column has the shape and the origin, centred, and nothing on the right. A text that
 * would be truncated is replaced by a shorter one: the saving in time, the step time. */
typedef struct {
  GtkLabel *title, *time, *text, *brief, *roofline;
  char *details; /* of all, shown as their tooltip */
} Column;

struct _LigScoreHead {
  GtkWidget parent_instance;
  LigScoreSheet *sheet;
  Column columns[N_COLUMNS];
  guint clock; /* updates the age of a measurement */
  guint stale_timer;
  gboolean narrow; /* title and time do not fit next to each other at their usual size */
  guint resize;
};

G_DEFINE_FINAL_TYPE (LigScoreHead, lig_score_head, GTK_TYPE_WIDGET)

/* --- Content ------------------------------------------------------------------------------- */

static void
set_text (GtkLabel *label, const char *text)
{
  if (g_strcmp0 (gtk_label_get_text (label), text ? text : "") != 0)
    gtk_label_set_text (label, text ? text : "");
}

static gboolean
show_details (GtkLabel *label, int x, int y, gboolean keyboard, GtkTooltip *tooltip, Column *column)
{
  gtk_tooltip_set_text (tooltip, column->details);
  return column->details != NULL;
}

/* Each lig_tooltip_set() would query the display server for the pointer position. */
static void
set_tooltip (Column *column, const char *text)
{
  GtkLabel *const labels[] = {column->title, column->time, column->text, column->brief,
                              column->roofline};
  const char *shown = text && *text ? text : NULL;
  if (g_strcmp0 (column->details, shown) == 0)
    return;
  g_free (column->details);
  column->details = g_strdup (shown);
  for (guint i = 0; i < G_N_ELEMENTS (labels); i++)
    gtk_accessible_update_property (GTK_ACCESSIBLE (labels[i]), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION,
                                    shown ? shown : "", -1);
}

/* Returns the words that replace a saving if there is none. */
static const char *
get_excuse (const LigScoreMap *map, guint pass, const char *time)
{
  guint count = 0;
  if (!map->plan)
    return "";
  lig_plan_get_groups (map->plan, (LigPass) pass, &count);
  if (count == 0)
    return _ ("no gradient needed");
  return time ? "" : _ ("time unknown");
}

static void
set_saving (Column *column, gboolean saves, gboolean loses, gboolean predicted)
{
  GtkLabel *const labels[] = {column->text, column->brief};
  for (guint i = 0; i < G_N_ELEMENTS (labels); i++) {
    lig_css_class_set (GTK_WIDGET (labels[i]), "saving", saves);
    lig_css_class_set (GTK_WIDGET (labels[i]), "loss", loses);
    lig_css_class_set (GTK_WIDGET (labels[i]), "predicted", predicted);
  }
}

/* Returns the saving in time without that in bytes, if both are known. */
static char *
describe_brief (const LigFigures *figures)
{
  LigFigures time = *figures;
  time.saved_bytes = isnan (time.saved_seconds) ? time.saved_bytes : NAN;
  return lig_figures_saving_text (&time);
}

/* A preview's change replaces the saving. */
static void
show_preview (LigScoreHead *self, Column *column, guint pass)
{
  LigPlanChange total;
  LigPlanComparison *preview =
    lig_document_get_preview (lig_score_sheet_get_document (self->sheet));
  lig_css_class_set (GTK_WIDGET (column->text), "preview", preview != NULL);
  lig_css_class_set (GTK_WIDGET (column->brief), "preview", preview != NULL);
  if (!preview)
    return;
  lig_plan_comparison_get_total (preview, (LigPass) pass, &total);
  int sign = lig_plan_change_get_sign (&total);
  g_autofree char *time = lig_plan_change_time_text (&total);
  g_autofree char *bytes = lig_plan_change_bytes_text (&total);
  gboolean moves = total.before.bytes != total.after.bytes;
  g_autofree char *moved = moves ? g_strdup_printf (_ ("%s moved"), bytes) : g_strdup (bytes);
  g_autofree char *text =
    time && moves ? g_strdup_printf ("%s, %s", time, moved) : g_strdup (time ? time : moved);
  set_text (column->text, text);
  set_text (column->brief, time ? time : moved);
  set_saving (column, sign != 0, sign > 0, FALSE);
}

static void
show_pass (LigScoreHead *self, guint which, guint pass)
{
  Column *column = &self->columns[which];
  const LigScoreMap *map = lig_score_sheet_get_map (self->sheet);
  const LigFigures *figures = &map->figures[pass];
  gboolean planned = map->plan && figures->kernels > 0;
  g_autofree char *time = planned ? lig_figures_time_text (figures) : NULL;
  g_autofree char *saving = planned ? lig_figures_saving_text (figures) : NULL;
  g_autofree char *brief = saving ? describe_brief (figures) : NULL;
  g_autofree char *roofline = planned ? lig_figures_roofline_text (figures) : NULL;
  g_autofree char *details = planned ? lig_figures_describe (figures) : NULL;
  set_text (column->time, time ? time : map->plan ? "" : "—");
  set_text (column->text, saving ? saving : get_excuse (map, pass, time));
  set_text (column->roofline, roofline);
  lig_css_class_set (GTK_WIDGET (column->time), "predicted", !figures->measured);
  set_text (column->brief, brief);
  set_saving (column, saving != NULL, saving && figures->saved_seconds < 0,
              saving && !figures->saved_measured);
  set_tooltip (column, details);
  show_preview (self, column, pass);
}

static void
follow_preview (LigScoreHead *self)
{
  show_pass (self, FORWARD, 0);
  show_pass (self, BACKWARD, 1);
  gtk_widget_queue_allocate (GTK_WIDGET (self));
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

/* Returns the time of a whole step and the origin of the times. @step_only: (out): without origin.
 * @rate: (out): the tokens per second and the MFU */
static char *
describe_step (LigScoreHead *self, gint64 now, char **step_only, char **rate)
{
  LigUse use;
  LigTimedPlan timed, unfused;
  LigFigures step;
  LigDocument *document = lig_score_sheet_get_document (self->sheet);
  g_autofree char *origin = lig_document_describe_times (document, now);
  lig_document_get_timed (document, &timed, &unfused);
  if (!timed.plan)
    return g_steal_pointer (&origin);
  lig_figures_of_step (&timed, &unfused, &step);
  lig_figures_of_use (timed.plan, &step, &use);
  *rate = lig_figures_use_text (&use);
  int ranks = lig_device_get_n_ranks (lig_plan_get_device (timed.plan), LIG_GROUP_ALL);
  g_autofree char *time = step.kernels > 0 ? lig_figures_time_text (&step) : NULL;
  if (!time)
    return g_steal_pointer (&origin);
  g_autofree char *one = g_strdup_printf (_ ("step %s"), time);
  g_autofree char *text = lig_session_append_ranks (one, ranks);
  *step_only = g_strdup (text);
  return *origin ? g_strdup_printf ("%s · %s", text, origin) : g_steal_pointer (&text);
}

static gboolean show_origin (gpointer data);

/* Ages below a minute are shown in seconds. */
static void
set_clock (LigScoreHead *self, gint64 age)
{
  g_clear_handle_id (&self->clock, g_source_remove);
  self->clock = g_timeout_add_seconds (age < 60 * G_USEC_PER_SEC ? 1 : 20, show_origin, self);
}

static gboolean
show_origin (gpointer data)
{
  LigScoreHead *self = data;
  Column *column = &self->columns[OPS];
  LigDocument *document = lig_score_sheet_get_document (self->sheet);
  gint64 now = g_get_real_time (), when = lig_document_get_measured_at (document);
  g_autofree char *step = NULL, *rate = NULL;
  g_autofree char *origin = describe_step (self, now, &step, &rate);
  g_autofree char *input = describe_input (self);
  LigPlan *plan = lig_document_get_plan (document);
  g_autofree char *ranks = plan ? lig_plan_explain_ranks (plan) : NULL;
  g_autofree char *recorded = lig_document_describe_recorded (document);
  g_autoptr (GStrvBuilder) lines = g_strv_builder_new ();
  const char *const name = plan ? lig_document_name_step (plan) : NULL;
  const char *const all[] = {input, name, origin, recorded, rate, ranks};
  for (guint i = 0; i < G_N_ELEMENTS (all); i++)
    if (all[i])
      g_strv_builder_add (lines, all[i]);
  g_auto (GStrv) texts = g_strv_builder_end (lines);
  g_autofree char *both = g_strjoinv ("\n", texts);
  set_text (column->text, origin);
  set_text (column->brief, step);
  set_tooltip (column, both);
  if (when > 0)
    set_clock (self, now - when);
  else
    self->clock = 0;
  return G_SOURCE_REMOVE;
}

/* --- Staleness ----------------------------------------------------------------------------- */

static gboolean
dim (gpointer data)
{
  LigScoreHead *self = data;
  self->stale_timer = 0;
  gtk_widget_add_css_class (GTK_WIDGET (self), "stale");
  return G_SOURCE_REMOVE;
}

static void
follow_staleness (LigScoreHead *self)
{
  gboolean stale = lig_document_is_stale (lig_score_sheet_get_document (self->sheet));
  if (stale && !self->stale_timer && !gtk_widget_has_css_class (GTK_WIDGET (self), "stale"))
    self->stale_timer = g_timeout_add (STALE_MILLISECONDS, dim, self);
  if (stale)
    return;
  g_clear_handle_id (&self->stale_timer, g_source_remove);
  gtk_widget_remove_css_class (GTK_WIDGET (self), "stale");
}

void
lig_score_head_update (LigScoreHead *self, LigScoreSheet *sheet)
{
  if (g_set_object (&self->sheet, sheet)) {
    LigDocument *document = lig_score_sheet_get_document (sheet);
    g_signal_connect_object (document, "planned", G_CALLBACK (follow_staleness), self,
                             G_CONNECT_SWAPPED);
    g_signal_connect_object (document, "previewed", G_CALLBACK (follow_preview), self,
                             G_CONNECT_SWAPPED);
  }
  g_autofree char *input = describe_input (self);
  set_text (self->columns[OPS].title, input);
  show_pass (self, FORWARD, 0);
  show_pass (self, BACKWARD, 1);
  g_clear_handle_id (&self->clock, g_source_remove);
  show_origin (self);
  follow_staleness (self);
  gtk_widget_queue_allocate (GTK_WIDGET (self));
}

/* --- Layout -------------------------------------------------------------------------------- */

static int
get_natural (GtkLabel *label, GtkOrientation orientation)
{
  int natural;
  gtk_widget_measure (GTK_WIDGET (label), orientation, -1, NULL, &natural, NULL, NULL);
  return natural;
}

/* Places one label on the left and one on the right of a line. The right one is omitted if the left
 * one would be truncated. */
static void
place_line (GtkLabel *left, GtkLabel *right, const GtkAllocation *line, gboolean needed, int space)
{
  int wanted = get_natural (left, GTK_ORIENTATION_HORIZONTAL);
  int end = get_natural (right, GTK_ORIENTATION_HORIZONTAL);
  gboolean empty = !*gtk_label_get_text (right);
  gboolean shown = !empty && (needed || wanted + space + end <= line->width);
  end = shown ? MIN (end, line->width) : 0;
  gtk_widget_set_child_visible (GTK_WIDGET (right), shown);
  GtkAllocation area = {line->x, line->y, MAX (line->width - end - (shown ? space : 0), 0),
                        line->height};
  gtk_widget_size_allocate (GTK_WIDGET (left), &area, -1);
  area.x = line->x + line->width - end;
  area.width = end;
  if (shown)
    gtk_widget_size_allocate (GTK_WIDGET (right), &area, -1);
}

/* Returns the label of the second line that fits, and hides the other. */
static GtkLabel *
choose_text (Column *column, int width)
{
  gboolean cut = get_natural (column->text, GTK_ORIENTATION_HORIZONTAL) > width;
  gboolean brief = cut && *gtk_label_get_text (column->brief);
  gtk_widget_set_child_visible (GTK_WIDGET (column->text), !brief);
  gtk_widget_set_child_visible (GTK_WIDGET (column->brief), brief);
  return brief ? column->brief : column->text;
}

static void
find_heights (LigScoreHead *self, int *first, int *second)
{
  *first = *second = 0;
  for (guint i = 0; i < N_COLUMNS; i++) {
    const Column *column = &self->columns[i];
    *first = MAX (*first, get_natural (column->title, GTK_ORIENTATION_VERTICAL));
    *first = MAX (*first, get_natural (column->time, GTK_ORIENTATION_VERTICAL));
    *second = MAX (*second, get_natural (column->text, GTK_ORIENTATION_VERTICAL));
  }
}

static gboolean
change_size (gpointer data)
{
  LigScoreHead *self = data;
  self->resize = 0;
  lig_css_class_set (GTK_WIDGET (self), "narrow", self->narrow);
  return G_SOURCE_REMOVE;
}

static gboolean
has_narrow_rails (LigScoreHead *self, const LigScoreColumns *columns)
{
  enum { NARROW = 160 };
  double unit = self->sheet ? lig_score_sheet_get_map (self->sheet)->metrics.unit : 1;
  return columns->rail < NARROW * unit;
}

/* Makes the text smaller in narrow rails. A style must not change while sizes are allocated. */
static void
follow_width (LigScoreHead *self, const LigScoreColumns *columns)
{
  gboolean narrow = has_narrow_rails (self, columns);
  if (narrow == self->narrow)
    return;
  self->narrow = narrow;
  if (!self->resize)
    self->resize = g_idle_add_full (G_PRIORITY_HIGH_IDLE, change_size, self, NULL);
}

static void
size_allocate (GtkWidget *widget, int width, int height, int baseline)
{
  LigScoreHead *self = LIG_SCORE_HEAD (widget);
  LigScoreColumns columns;
  int first, second;
  lig_score_columns (&columns, self->sheet ? lig_score_sheet_get_map (self->sheet) : NULL, width);
  /* Heads are wider than narrow rails, because nothing separates the columns here. */
  const int max = columns.backward - columns.ops - columns.ops_width - 6;
  const int over = has_narrow_rails (self, &columns) ? MAX (max, 0) : 0;
  const int x[] = {columns.forward, columns.ops, columns.backward - over};
  const int widths[] = {columns.rail + over, columns.ops_width, columns.rail + over};
  find_heights (self, &first, &second);
  follow_width (self, &columns);
  for (guint i = 0; i < N_COLUMNS; i++) {
    Column *column = &self->columns[i];
    place_line (column->title, column->time, &(GtkAllocation){x[i], 0, widths[i], first}, TRUE, 9);
    place_line (choose_text (column, widths[i]), column->roofline,
                &(GtkAllocation){x[i], first, widths[i], second}, FALSE, 9);
  }
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
  int first = 0, second = 0;
  if (orientation == GTK_ORIENTATION_VERTICAL)
    find_heights (LIG_SCORE_HEAD (widget), &first, &second);
  *minimum = *natural = first + second;
}

/* --- Construction -------------------------------------------------------------------------- */

static void
dispose (GObject *object)
{
  LigScoreHead *self = LIG_SCORE_HEAD (object);
  GtkWidget *child;
  g_clear_handle_id (&self->clock, g_source_remove);
  g_clear_handle_id (&self->stale_timer, g_source_remove);
  g_clear_handle_id (&self->resize, g_source_remove);
  g_clear_object (&self->sheet);
  while ((child = gtk_widget_get_first_child (GTK_WIDGET (self))))
    gtk_widget_unparent (child);
  G_OBJECT_CLASS (lig_score_head_parent_class)->dispose (object);
}

static void
finalize (GObject *object)
{
  for (guint i = 0; i < N_COLUMNS; i++)
    g_free (LIG_SCORE_HEAD (object)->columns[i].details);
  G_OBJECT_CLASS (lig_score_head_parent_class)->finalize (object);
}

static void
lig_score_head_class_init (LigScoreHeadClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);
  G_OBJECT_CLASS (class)->dispose = dispose;
  G_OBJECT_CLASS (class)->finalize = finalize;
  widget_class->size_allocate = size_allocate;
  widget_class->measure = measure;
  gtk_widget_class_set_css_name (widget_class, "scorehead");
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_GROUP);
}

static GtkLabel *
make_label (
  LigScoreHead *self, const char *text, const char *class, const char *column, float align)
{
  GtkWidget *label = gtk_label_new (text);
  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_END);
  gtk_label_set_xalign (GTK_LABEL (label), align);
  gtk_widget_add_css_class (label, class);
  gtk_widget_add_css_class (label, column);
  gtk_widget_set_valign (label, GTK_ALIGN_BASELINE);
  gtk_widget_set_parent (label, GTK_WIDGET (self));
  return GTK_LABEL (label);
}

static void
lig_score_head_init (LigScoreHead *self)
{
  const char *titles[] = {_ ("Forward"), NULL, _ ("Backward")};
  static const char *const names[] = {"forward", "input", "backward"};
  for (guint i = 0; i < N_COLUMNS; i++) {
    Column *column = &self->columns[i];
    float align = i == OPS ? 0.5f : 0;
    column->title = make_label (self, titles[i], "head-title", names[i], align);
    column->time = make_label (self, NULL, "head-time", names[i], 1);
    column->text = make_label (self, NULL, "head-text", names[i], align);
    column->brief = make_label (self, NULL, "head-text", names[i], align);
    column->roofline = make_label (self, NULL, "head-roofline", names[i], 1);
    GtkLabel *const labels[] = {column->title, column->time, column->text, column->brief,
                                column->roofline};
    for (guint k = 0; k < G_N_ELEMENTS (labels); k++) {
      gtk_widget_set_has_tooltip (GTK_WIDGET (labels[k]), TRUE);
      g_signal_connect (labels[k], "query-tooltip", G_CALLBACK (show_details), column);
    }
  }
}
