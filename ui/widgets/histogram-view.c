/* SPDX-License-Identifier: MIT */
#include "ui/widgets/histogram-view.h"

#include "ui/session/task.h"
#include "ui/widgets/picture-view.h"
#include "ui/widgets/tooltip.h"
#include <ligature/draw-histograms.h>
#include <ligature/store-histograms.h>

#include <glib/gi18n.h>

/* More columns would be narrower than the pointer. */
enum { MAX_STEPS = 128, MIN_HEIGHT = 180 };

struct _LigHistogramView {
  AdwBin parent_instance;
  GtkWidget *choosers;
  GtkDropDown *parameters;
  GtkToggleButton *gradients;
  LigPictureView *picture;
  LigStore *store;
  char *run;
  GStrv names;      /* (nullable): the paths of the parameters */
  char *chosen;     /* (nullable): the path of one */
  char *drawn;      /* (nullable): that of `shown`, until the chosen one is read */
  GPtrArray *shown; /* (nullable): of LigHistogramSeries */
  guint serial;     /* of the last question; answers to earlier ones are dropped */
  gboolean updating;
};

G_DEFINE_FINAL_TYPE (LigHistogramView, lig_histogram_view, ADW_TYPE_BIN)

/* --- The picture --------------------------------------------------------------------------- */

/* Returns the chosen series: of the weights, or of their gradient. */
static const LigHistogramSeries *
get_series (LigHistogramView *self)
{
  gboolean gradient = gtk_toggle_button_get_active (self->gradients);
  for (guint i = 0; self->shown && i < self->shown->len; i++) {
    const LigHistogramSeries *series = self->shown->pdata[i];
    if (series->gradient == gradient)
      return series;
  }
  return NULL;
}

static void
draw (LigCanvas *canvas, const LigColours *colours, double width, double height, gpointer data)
{
  const LigHistogramSeries *series = get_series (data);
  if (series)
    lig_draw_histograms (canvas, colours, series, LIG_HISTOGRAM_MARK_CELLS, width, height);
}

static double
get_height (gpointer data)
{
  const LigHistogramSeries *series = get_series (data);
  return series ? lig_draw_histograms_height (series) : 0;
}

static void
show_series (LigHistogramView *self)
{
  lig_picture_view_set_picture (self->picture, get_series (self) ? draw : NULL, get_height,
                                MIN_HEIGHT, self, NULL);
}

/* --- Reading ------------------------------------------------------------------------------- */

/* Returns the last step of the series; -1 without any. */
static gint64
get_newest (GPtrArray *all)
{
  if (!all || all->len == 0)
    return -1;
  const LigHistogramSeries *series = all->pdata[0];
  return g_array_index (series->steps, gint64, series->steps->len - 1);
}

typedef struct {
  LigStore *store;
  char *run, *chosen;
  guint serial;
  GStrv names;
  GPtrArray *series;
} Question;

static void
free_question (gpointer data)
{
  Question *self = data;
  g_object_unref (self->store);
  g_free (self->run);
  g_free (self->chosen);
  g_strfreev (self->names);
  g_clear_pointer (&self->series, g_ptr_array_unref);
  g_free (self);
}

static void
read_histograms (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  Question *self = data;
  self->names = lig_store_list_histograms (self->store, self->run, NULL);
  if (self->names && *self->names) {
    const char *const *names = (const char *const *) self->names;
    if (!self->chosen || !g_strv_contains (names, self->chosen)) {
      g_free (self->chosen);
      self->chosen = g_strdup (names[0]);
    }
    self->series = lig_store_get_histograms (self->store, self->run, self->chosen, MAX_STEPS, NULL);
  }
  g_task_return_boolean (task, TRUE);
}

static void
take_names (LigHistogramView *self, Question *answer)
{
  guint at = 0;
  while (answer->names[at] && g_strcmp0 (answer->names[at], answer->chosen) != 0)
    at++;
  self->updating = TRUE;
  if (!self->names ||
      !g_strv_equal ((const char *const *) self->names, (const char *const *) answer->names)) {
    g_autoptr (GtkStringList) list = gtk_string_list_new ((const char *const *) answer->names);
    gtk_drop_down_set_model (self->parameters, G_LIST_MODEL (list));
    g_strfreev (self->names);
    self->names = g_steal_pointer (&answer->names);
  }
  gtk_drop_down_set_selected (self->parameters, at);
  self->updating = FALSE;
}

static void
take_histograms (GObject *source, GAsyncResult *result, gpointer unused)
{
  LigHistogramView *self = LIG_HISTOGRAM_VIEW (source);
  Question *answer = g_task_get_task_data (G_TASK (result));
  if (answer->serial != self->serial)
    return;
  gboolean some = answer->series && answer->series->len > 0;
  /* Drawing again would take the mark from under the pointer. */
  if (some && self->shown && g_strcmp0 (answer->chosen, self->drawn) == 0 &&
      get_newest (answer->series) == get_newest (self->shown))
    return;
  g_clear_pointer (&self->shown, g_ptr_array_unref);
  if (some) {
    take_names (self, answer);
    g_free (self->chosen);
    g_free (self->drawn);
    self->chosen = g_strdup (answer->chosen);
    self->drawn = g_steal_pointer (&answer->chosen);
    self->shown = g_steal_pointer (&answer->series);
  }
  show_series (self);
  gtk_widget_set_visible (GTK_WIDGET (self), some);
}

static void
ask (LigHistogramView *self)
{
  Question *question = g_new0 (Question, 1);
  question->store = g_object_ref (self->store);
  question->run = g_strdup (self->run);
  question->chosen = g_strdup (self->chosen);
  question->serial = ++self->serial;
  g_autoptr (GTask) task = g_task_new (self, NULL, take_histograms, NULL);
  g_task_set_task_data (task, question, free_question);
  lig_task_run (task, read_histograms);
}

void
lig_histogram_view_show (LigHistogramView *self, LigStore *store, const char *run)
{
  if (store != self->store || g_strcmp0 (run, self->run) != 0) {
    self->serial++;
    g_clear_pointer (&self->shown, g_ptr_array_unref);
    gtk_widget_set_visible (GTK_WIDGET (self), FALSE);
  }
  g_set_object (&self->store, store);
  g_autofree char *before = self->run;
  self->run = g_strdup (run);
  if (store && run)
    ask (self);
}

void
lig_histogram_view_set_narrow (LigHistogramView *self)
{
  gtk_orientable_set_orientation (GTK_ORIENTABLE (self->choosers), GTK_ORIENTATION_VERTICAL);
}

gint64
lig_histogram_view_get_newest (LigHistogramView *self)
{
  return get_newest (self->shown);
}

/* --- Construction -------------------------------------------------------------------------- */

static void
parameter_chosen (LigHistogramView *self)
{
  guint at = gtk_drop_down_get_selected (self->parameters);
  if (self->updating || !self->names || at >= g_strv_length (self->names) || !self->store ||
      !self->run)
    return;
  g_free (self->chosen);
  self->chosen = g_strdup (self->names[at]);
  ask (self);
}

static void
make_name (GtkSignalListItemFactory *factory, GtkListItem *item)
{
  GtkWidget *label = gtk_label_new (NULL);
  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_MIDDLE);
  gtk_list_item_set_child (item, label);
}

static void
show_name (GtkSignalListItemFactory *factory, GtkListItem *item)
{
  GtkStringObject *name = gtk_list_item_get_item (item);
  gtk_label_set_text (GTK_LABEL (gtk_list_item_get_child (item)),
                      gtk_string_object_get_string (name));
}

/* Paths may be long, and the side of the history is narrow: the button cuts them, the list does
 * not. */
static void
cut_names (GtkDropDown *chooser)
{
  g_autoptr (GtkListItemFactory) factory = gtk_signal_list_item_factory_new ();
  GtkListItemFactory *whole = gtk_drop_down_get_factory (chooser);
  g_signal_connect (factory, "setup", G_CALLBACK (make_name), NULL);
  g_signal_connect (factory, "bind", G_CALLBACK (show_name), NULL);
  gtk_drop_down_set_list_factory (chooser, whole);
  gtk_drop_down_set_factory (chooser, factory);
}

static GtkWidget *
make_parameters (LigHistogramView *self)
{
  GtkExpression *text = gtk_property_expression_new (GTK_TYPE_STRING_OBJECT, NULL, "string");
  GtkWidget *chooser = gtk_drop_down_new (NULL, text);
  gtk_drop_down_set_enable_search (GTK_DROP_DOWN (chooser), TRUE);
  cut_names (GTK_DROP_DOWN (chooser));
  gtk_widget_set_hexpand (chooser, TRUE);
  lig_tooltip_set (chooser, _ ("The parameter whose values are shown"));
  gtk_accessible_update_property (GTK_ACCESSIBLE (chooser), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Parameter"), -1);
  g_signal_connect_object (chooser, "notify::selected", G_CALLBACK (parameter_chosen), self,
                           G_CONNECT_SWAPPED);
  self->parameters = GTK_DROP_DOWN (chooser);
  return chooser;
}

/* Returns two buttons of which one is pressed. */
static GtkWidget *
make_kinds (LigHistogramView *self)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 0);
  GtkWidget *weights = gtk_toggle_button_new_with_label (_ ("Weights"));
  GtkWidget *gradients = gtk_toggle_button_new_with_label (_ ("Gradients"));
  self->gradients = GTK_TOGGLE_BUTTON (gradients);
  gtk_toggle_button_set_group (self->gradients, GTK_TOGGLE_BUTTON (weights));
  gtk_toggle_button_set_active (GTK_TOGGLE_BUTTON (weights), TRUE);
  gtk_widget_add_css_class (box, "linked");
  gtk_box_set_homogeneous (GTK_BOX (box), TRUE);
  gtk_box_append (GTK_BOX (box), weights);
  gtk_box_append (GTK_BOX (box), gradients);
  lig_tooltip_set (weights, _ ("The values of the parameter after each step"));
  lig_tooltip_set (gradients, _ ("The gradient that each step applied, before clipping"));
  g_signal_connect_object (gradients, "toggled", G_CALLBACK (show_series), self, G_CONNECT_SWAPPED);
  return box;
}

static void
lig_histogram_view_dispose (GObject *object)
{
  LigHistogramView *self = LIG_HISTOGRAM_VIEW (object);
  self->serial++;
  if (self->picture)
    lig_picture_view_set_picture (self->picture, NULL, NULL, 0, NULL, NULL);
  self->picture = NULL;
  g_clear_pointer (&self->shown, g_ptr_array_unref);
  g_clear_pointer (&self->names, g_strfreev);
  g_clear_pointer (&self->chosen, g_free);
  g_clear_pointer (&self->drawn, g_free);
  g_clear_pointer (&self->run, g_free);
  g_clear_object (&self->store);
  G_OBJECT_CLASS (lig_histogram_view_parent_class)->dispose (object);
}

static void
lig_histogram_view_class_init (LigHistogramViewClass *class)
{
  G_OBJECT_CLASS (class)->dispose = lig_histogram_view_dispose;
}

static void
lig_histogram_view_init (LigHistogramView *self)
{
  GtkWidget *picture = lig_picture_view_new (_ ("Histograms by step"), "histograms");
  GtkWidget *choosers = self->choosers = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 6);
  self->picture = LIG_PICTURE_VIEW (picture);
  GtkWidget *card =
    lig_picture_view_wrap (self->picture, _ ("Weights and gradients"),
                           _ ("How many of the elements have which magnitude, step by step"));
  gtk_box_append (GTK_BOX (choosers), make_parameters (self));
  gtk_box_append (GTK_BOX (choosers), make_kinds (self));
  g_object_set (choosers, "margin-start", 18, "margin-end", 12, "margin-top", 6, "margin-bottom", 6,
                NULL);
  gtk_box_insert_child_after (GTK_BOX (card), choosers, gtk_widget_get_first_child (card));
  gtk_widget_set_visible (GTK_WIDGET (self), FALSE);
  adw_bin_set_child (ADW_BIN (self), card);
}
