/* SPDX-License-Identifier: MIT */
#include "ui/widgets/load-view.h"

#include "ui/session/task.h"
#include "ui/widgets/picture-view.h"
#include "ui/widgets/tooltip.h"
#include <ligature/draw-loads.h>
#include <ligature/store-loads.h>

#include <glib/gi18n.h>
#include <inttypes.h>

/* A run writes its records with a delay: after so many answers without loads it has no experts. */
enum { MAX_QUESTIONS = 5, MIN_HEIGHT = 120 };

struct _LigLoadView {
  AdwBin parent_instance;
  GtkRange *steps; /* 0: all steps, else 1 + the index of a step */
  GtkLabel *step;
  LigPictureView *picture;
  LigStore *store;
  char *run;
  GPtrArray *shown; /* (nullable): of LigLoadSeries */
  guint serial;     /* of the last question; answers to earlier ones are dropped */
  guint empty;      /* answers without loads */
};

G_DEFINE_FINAL_TYPE (LigLoadView, lig_load_view, ADW_TYPE_BIN)

/* --- The picture --------------------------------------------------------------------------- */

static int
get_step (LigLoadView *self)
{
  return (int) gtk_range_get_value (self->steps) - 1;
}

static void
draw (LigCanvas *canvas, const LigColours *colours, double width, double height, gpointer data)
{
  LigLoadView *self = data;
  if (self->shown)
    lig_draw_loads (canvas, colours, self->shown, get_step (self), width, height);
}

static double
get_height (gpointer data)
{
  LigLoadView *self = data;
  return self->shown ? lig_draw_loads_height (self->shown) : 0;
}

/* Returns the recorded steps of the first router; those of the others are the same. */
static const GArray *
get_steps (GPtrArray *all)
{
  return all && all->len > 0 ? ((const LigLoadSeries *) all->pdata[0])->steps : NULL;
}

static void
show_step (LigLoadView *self)
{
  const GArray *steps = get_steps (self->shown);
  int at = get_step (self);
  g_autofree char *text =
    steps && at >= 0 && at < (int) steps->len
      ? g_strdup_printf (_ ("Step %" PRId64), g_array_index (steps, gint64, at))
      : g_strdup (_ ("All steps"));
  gtk_label_set_text (self->step, text);
  lig_picture_view_set_picture (self->picture, self->shown ? draw : NULL, get_height, MIN_HEIGHT,
                                self, NULL);
}

/* --- Reading ------------------------------------------------------------------------------- */

typedef struct {
  LigStore *store;
  char *run;
  guint serial;
  GPtrArray *loads;
} Question;

static void
free_question (gpointer data)
{
  Question *self = data;
  g_object_unref (self->store);
  g_free (self->run);
  g_clear_pointer (&self->loads, g_ptr_array_unref);
  g_free (self);
}

static void
read_loads (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  Question *self = data;
  self->loads = lig_store_get_loads (self->store, self->run, NULL);
  g_task_return_boolean (task, TRUE);
}

static gint64
newest_of (GPtrArray *all)
{
  const GArray *steps = get_steps (all);
  return steps && steps->len > 0 ? g_array_index (steps, gint64, steps->len - 1) : -1;
}

static void
take_loads (GObject *source, GAsyncResult *result, gpointer unused)
{
  LigLoadView *self = LIG_LOAD_VIEW (source);
  Question *answer = g_task_get_task_data (G_TASK (result));
  if (answer->serial != self->serial)
    return;
  gboolean some = answer->loads && answer->loads->len > 0;
  self->empty = some ? 0 : self->empty + 1;
  /* Drawing again would take the mark from under the pointer. */
  if (some && self->shown && newest_of (answer->loads) == newest_of (self->shown))
    return;
  g_clear_pointer (&self->shown, g_ptr_array_unref);
  if (some)
    self->shown = g_steal_pointer (&answer->loads);
  const GArray *steps = get_steps (self->shown);
  gtk_range_set_range (self->steps, 0, MAX (steps ? steps->len : 0, 1));
  gtk_widget_set_sensitive (GTK_WIDGET (self->steps), steps && steps->len > 1);
  show_step (self);
  gtk_widget_set_visible (GTK_WIDGET (self), some);
}

void
lig_load_view_show (LigLoadView *self, LigStore *store, const char *run)
{
  if (store != self->store || g_strcmp0 (run, self->run) != 0) {
    self->serial++;
    self->empty = 0;
    g_clear_pointer (&self->shown, g_ptr_array_unref);
    gtk_range_set_value (self->steps, 0);
    gtk_widget_set_visible (GTK_WIDGET (self), FALSE);
  }
  g_set_object (&self->store, store);
  g_autofree char *before = self->run;
  self->run = g_strdup (run);
  if (!store || !run)
    return;
  Question *question = g_new0 (Question, 1);
  question->store = g_object_ref (store);
  question->run = g_strdup (run);
  question->serial = ++self->serial;
  g_autoptr (GTask) task = g_task_new (self, NULL, take_loads, NULL);
  g_task_set_task_data (task, question, free_question);
  lig_task_run (task, read_loads);
}

gint64
lig_load_view_get_newest (LigLoadView *self)
{
  return self->empty >= MAX_QUESTIONS ? G_MAXINT64 : newest_of (self->shown);
}

/* --- Construction -------------------------------------------------------------------------- */

/* Returns the chooser of a step, with its name. */
static GtkWidget *
make_steps (LigLoadView *self)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 12);
  GtkWidget *label = gtk_label_new (NULL);
  GtkWidget *scale = gtk_scale_new_with_range (GTK_ORIENTATION_HORIZONTAL, 0, 1, 1);
  self->step = GTK_LABEL (label);
  self->steps = GTK_RANGE (scale);
  gtk_label_set_width_chars (self->step, 14);
  gtk_label_set_xalign (self->step, 0);
  gtk_scale_set_draw_value (GTK_SCALE (scale), FALSE);
  gtk_widget_set_hexpand (scale, TRUE);
  gtk_accessible_update_property (GTK_ACCESSIBLE (scale), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Recorded step"), -1);
  lig_tooltip_set (scale, _ ("The recorded step that is shown; at the left end all of them"));
  gtk_box_append (GTK_BOX (box), label);
  gtk_box_append (GTK_BOX (box), scale);
  g_object_set (box, "margin-start", 18, "margin-end", 12, "margin-top", 6, "margin-bottom", 6,
                NULL);
  g_signal_connect_object (scale, "value-changed", G_CALLBACK (show_step), self, G_CONNECT_SWAPPED);
  return box;
}

static void
lig_load_view_dispose (GObject *object)
{
  LigLoadView *self = LIG_LOAD_VIEW (object);
  self->serial++;
  if (self->picture)
    lig_picture_view_set_picture (self->picture, NULL, NULL, 0, NULL, NULL);
  self->picture = NULL;
  g_clear_pointer (&self->shown, g_ptr_array_unref);
  g_clear_pointer (&self->run, g_free);
  g_clear_object (&self->store);
  G_OBJECT_CLASS (lig_load_view_parent_class)->dispose (object);
}

static void
lig_load_view_class_init (LigLoadViewClass *class)
{
  G_OBJECT_CLASS (class)->dispose = lig_load_view_dispose;
}

static void
lig_load_view_init (LigLoadView *self)
{
  GtkWidget *picture = lig_picture_view_new (_ ("Load of experts"), "experts");
  self->picture = LIG_PICTURE_VIEW (picture);
  GtkWidget *card = lig_picture_view_wrap (self->picture, _ ("Experts"),
                                           _ ("The rows that each expert received, by router"));
  gtk_box_insert_child_after (GTK_BOX (card), make_steps (self), gtk_widget_get_first_child (card));
  gtk_widget_set_visible (GTK_WIDGET (self), FALSE);
  adw_bin_set_child (ADW_BIN (self), card);
}
