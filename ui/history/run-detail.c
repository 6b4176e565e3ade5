/* SPDX-License-Identifier: MIT */
/* One run next to the list. The values of its row are shown at once; curves, fusions and files are
 * read on a thread. */
#include "ui/history/run-detail.h"
#include "ui/session/interrupted.h"

#include "ui/history/chart.h"
#include "ui/history/facts.h"
#include "ui/history/format.h"
#include "ui/session/task.h"
#include "ui/widgets/figures.h"
#include "ui/widgets/histogram-view.h"
#include "ui/widgets/load-view.h"
#include "ui/widgets/sample-list.h"
#include "ui/widgets/tooltip.h"
#include <ligature/store-sweeps.h>

#include <glib/gi18n.h>
#include <string.h>

#define SAVE_AFTER 500 /* milliseconds without a key press */

struct _LigRunDetail {
  AdwBin parent_instance;
  GtkLabel *name, *status, *message, *missing;
  GtkImage *status_icon;
  GtkWidget *resume, *sweep;
  LigRepeatRow *repeat_row;
  LigRunMenu *run_menu;
  LigHistoryChart *chart;
  LigSampleList *samples;
  LigHistogramView *histograms;
  LigLoadView *loads;
  GtkFlowBox *tags;
  GtkEntry *new_tag;
  GtkTextView *notes;
  GtkBox *sections;
  LigStore *store;
  LigRunItem *item;
  gint64 key;     /* of the run; the item may come to hold another run */
  LigRunRow *row; /* as it is shown */
  GPtrArray *fusions, *artifacts;
  LigPlan *plan; /* whose ops the fusions are of; null while it is unknown */
  char *checkpoint, *inputs;
  guint serial, save_source;
  gboolean updating, edited;
};

G_DEFINE_FINAL_TYPE (LigRunDetail, lig_run_detail, ADW_TYPE_BIN)

enum { NOTE, TAG, UNTAG, LOADED, N_SIGNALS };
static guint signals[N_SIGNALS];

/* --- Notes --------------------------------------------------------------------------------- */

static char *
get_notes (LigRunDetail *self)
{
  GtkTextIter start, end;
  GtkTextBuffer *buffer = gtk_text_view_get_buffer (self->notes);
  gtk_text_buffer_get_bounds (buffer, &start, &end);
  return gtk_text_buffer_get_text (buffer, &start, &end, FALSE);
}

void
lig_run_detail_save (LigRunDetail *self)
{
  g_clear_handle_id (&self->save_source, g_source_remove);
  if (!self->edited || !self->item)
    return;
  g_autofree char *text = get_notes (self);
  self->edited = FALSE;
  g_signal_emit (self, signals[NOTE], 0, self->key, text);
}

static gboolean
save_now (gpointer data)
{
  LIG_RUN_DETAIL (data)->save_source = 0;
  lig_run_detail_save (data);
  return G_SOURCE_REMOVE;
}

static void
note_edit (LigRunDetail *self)
{
  if (self->updating)
    return;
  self->edited = TRUE;
  g_clear_handle_id (&self->save_source, g_source_remove);
  self->save_source = g_timeout_add (SAVE_AFTER, save_now, self);
}

/* Typed text is newer than that in the store. */
static void
show_notes (LigRunDetail *self, const LigRunRow *row)
{
  g_autofree char *now = get_notes (self);
  if (self->edited || strcmp (now, row->notes) == 0)
    return;
  self->updating = TRUE;
  gtk_text_buffer_set_text (gtk_text_view_get_buffer (self->notes), row->notes, -1);
  self->updating = FALSE;
}

/* --- Tags ---------------------------------------------------------------------------------- */

static void
remove_tag (GtkButton *button, LigRunDetail *self)
{
  if (self->item)
    g_signal_emit (self, signals[UNTAG], 0, self->key,
                   g_object_get_data (G_OBJECT (button), "tag"));
}

static void
add_tag (LigRunDetail *self)
{
  g_autofree char *tag =
    g_strstrip (g_strdup (gtk_editable_get_text (GTK_EDITABLE (self->new_tag))));
  if (!*tag || !self->item)
    return;
  g_signal_emit (self, signals[TAG], 0, self->key, tag);
  gtk_editable_set_text (GTK_EDITABLE (self->new_tag), "");
}

static GtkWidget *
make_chip (LigRunDetail *self, const char *tag)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 0);
  GtkWidget *label = gtk_label_new (tag);
  GtkWidget *button = gtk_button_new_from_icon_name ("window-close-symbolic");
  g_autofree char *tip = g_strdup_printf (_ ("Remove the tag “%s”"), tag);
  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_END);
  gtk_label_set_max_width_chars (GTK_LABEL (label), 24);
  lig_tooltip_set (label, tag);
  lig_tooltip_set (button, tip);
  gtk_accessible_update_property (GTK_ACCESSIBLE (button), GTK_ACCESSIBLE_PROPERTY_LABEL, tip, -1);
  gtk_widget_add_css_class (button, "flat");
  gtk_widget_add_css_class (button, "circular");
  gtk_widget_add_css_class (box, "history-chip");
  gtk_widget_set_halign (box, GTK_ALIGN_START);
  g_object_set_data_full (G_OBJECT (button), "tag", g_strdup (tag), g_free);
  g_signal_connect_object (button, "clicked", G_CALLBACK (remove_tag), self, 0);
  gtk_box_append (GTK_BOX (box), label);
  gtk_box_append (GTK_BOX (box), button);
  return box;
}

static void
show_tags (LigRunDetail *self, const LigRunRow *row)
{
  GtkFlowBoxChild *child;
  if (self->row &&
      g_strv_equal ((const char *const *) self->row->tags, (const char *const *) row->tags))
    return;
  while ((child = gtk_flow_box_get_child_at_index (self->tags, 0)))
    gtk_flow_box_remove (self->tags, GTK_WIDGET (child));
  for (char **tag = row->tags; *tag; tag++)
    gtk_flow_box_append (self->tags, make_chip (self, *tag));
  gtk_widget_set_visible (GTK_WIDGET (self->tags), row->tags[0] != NULL);
}

/* --- The rest ------------------------------------------------------------------------------ */

static void
show_status (LigRunDetail *self, const LigRunRow *row)
{
  const char *classes[] = {"history-status", row->status, NULL};
  g_autofree char *ago = lig_figure_ago (row->started);
  g_autofree char *exact = lig_history_moment (row->started);
  g_autofree char *duration = lig_history_run_duration (row);
  /* Translators: status, when it was started, how long it took */
  g_autofree char *text = g_strdup_printf (_ ("%s · started %s · %s"),
                                           lig_history_status_word (row->status), ago, duration);
  gtk_image_set_from_icon_name (self->status_icon, lig_history_status_icon (row->status));
  gtk_widget_set_css_classes (GTK_WIDGET (self->status_icon), classes);
  gtk_label_set_text (self->status, text);
  lig_tooltip_set (GTK_WIDGET (self->status), exact);
  g_autofree char *message = lig_figure_excerpt (row->message);
  g_autofree char *name = lig_figure_excerpt (row->name);
  gtk_label_set_text (self->message, message);
  gtk_widget_set_visible (GTK_WIDGET (self->message), *row->message != '\0');
  gtk_label_set_text (self->name, *name ? name : _ ("Without a name"));
  lig_tooltip_set (GTK_WIDGET (self->name), name);
}

/* Says why the run cannot continue. */
static void
show_missing (LigRunDetail *self)
{
  const char *path = lig_interrupted_find_missing (self->artifacts);
  g_autofree char *text = path ? lig_interrupted_describe_missing (path) : NULL;
  g_autofree char *sentence = text ? lig_figure_sentence (text) : NULL;
  gtk_widget_set_visible (GTK_WIDGET (self->missing), path != NULL);
  gtk_label_set_text (self->missing, sentence ? sentence : "");
  gtk_widget_set_tooltip_text (GTK_WIDGET (self->resume),
                               path ? sentence
                               : self->artifacts && !self->checkpoint
                                 ? _ ("This run saved no checkpoint")
                                 : _ ("Continue from the run’s last checkpoint"));
}

static void
show_sections (LigRunDetail *self)
{
  GtkWidget *child;
  while ((child = gtk_widget_get_first_child (GTK_WIDGET (self->sections))))
    gtk_box_remove (self->sections, child);
  lig_history_facts_append (self->sections, self->row, self->inputs, self->fusions, self->plan,
                            self->artifacts);
  show_missing (self);
}

/* --- Reading on a thread ------------------------------------------------------------------- */

typedef struct {
  LigStore *store;
  LigRunRow *row;
  guint serial;
  GPtrArray *fusions, *artifacts;
  LigPlan *plan;
  char *checkpoint, *inputs;
} Question;

static void
free_question (gpointer data)
{
  Question *self = data;
  g_object_unref (self->store);
  g_clear_pointer (&self->fusions, g_ptr_array_unref);
  g_clear_pointer (&self->artifacts, g_ptr_array_unref);
  g_free (self->checkpoint);
  g_free (self->inputs);
  g_clear_pointer (&self->plan, lig_plan_unref);
  lig_run_row_free (self->row);
  g_free (self);
}

static void
read_run (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  Question *self = data;
  const char *run = self->row->uuid;
  self->fusions = lig_store_get_fusions (self->store, run, NULL);
  self->inputs = lig_store_get_inputs (self->store, run, NULL);
  self->artifacts = lig_store_get_artifacts (self->store, run, NULL);
  if (self->fusions && self->fusions->len > 0)
    self->plan = lig_history_facts_compile (self->row);
  self->checkpoint = g_strdup (lig_interrupted_find_checkpoint (self->artifacts));
  g_task_return_boolean (task, TRUE);
}

static void
take_run (GObject *source, GAsyncResult *result, gpointer unused)
{
  LigRunDetail *self = LIG_RUN_DETAIL (source);
  Question *answer = g_task_get_task_data (G_TASK (result));
  if (answer->serial != self->serial || !self->row)
    return;
  g_clear_pointer (&self->fusions, g_ptr_array_unref);
  g_clear_pointer (&self->artifacts, g_ptr_array_unref);
  g_clear_pointer (&self->plan, lig_plan_unref);
  self->plan = g_steal_pointer (&answer->plan);
  self->fusions = g_steal_pointer (&answer->fusions);
  self->artifacts = g_steal_pointer (&answer->artifacts);
  g_free (self->checkpoint);
  self->checkpoint = g_steal_pointer (&answer->checkpoint);
  g_free (self->inputs);
  self->inputs = g_steal_pointer (&answer->inputs);
  show_sections (self);
  g_signal_emit (self, signals[LOADED], 0);
}

static void
ask (LigRunDetail *self)
{
  Question *question = g_new0 (Question, 1);
  question->store = g_object_ref (self->store);
  question->row = lig_run_row_copy (self->row);
  question->serial = ++self->serial;
  g_autoptr (GTask) task = g_task_new (self, NULL, take_run, NULL);
  g_task_set_task_data (task, question, free_question);
  lig_task_run (task, read_run);
  g_autoptr (GPtrArray) runs = g_ptr_array_new_with_free_func ((GDestroyNotify) lig_run_row_free);
  g_ptr_array_add (runs, lig_run_row_copy (self->row));
  lig_history_chart_show (self->chart, self->store, runs);
  lig_sample_list_show (self->samples, self->store, self->row->uuid);
  lig_histogram_view_show (self->histograms, self->store, self->row->uuid);
  lig_load_view_show (self->loads, self->store, self->row->uuid);
  /* A profile has no curves. */
  gtk_widget_set_visible (GTK_WIDGET (self->chart), strcmp (self->row->kind, "profile") != 0);
}

/* Rows are reread when the store changes; unchanged values are not redrawn. */
static gboolean
is_same (const LigRunRow *a, const LigRunRow *b)
{
  return strcmp (a->uuid, b->uuid) == 0 && strcmp (a->status, b->status) == 0 &&
         a->last_step == b->last_step && a->ended == b->ended;
}

static void
show (LigRunDetail *self)
{
  gboolean here = self->item && lig_run_item_get_key (self->item) == self->key;
  const LigRunRow *row = here ? lig_run_item_get_row (self->item) : NULL;
  if (!row)
    return;
  gboolean same = self->row && is_same (self->row, row);
  show_status (self, row);
  show_tags (self, row);
  show_notes (self, row);
  gtk_widget_set_visible (self->sweep, row->point >= 0);
  lig_run_row_free (self->row);
  self->row = lig_run_row_copy (row);
  if (same)
    return;
  lig_run_menu_set_run (self->run_menu, self->store,
                        strcmp (row->kind, "train") == 0 ? row->uuid : NULL);
  show_sections (self);
  ask (self);
}

/* Nothing of the previous run may be attributed to this one. */
static void
leave (LigRunDetail *self)
{
  lig_run_detail_save (self);
  g_clear_pointer (&self->row, lig_run_row_free);
  g_clear_pointer (&self->fusions, g_ptr_array_unref);
  g_clear_pointer (&self->artifacts, g_ptr_array_unref);
  g_clear_pointer (&self->plan, lig_plan_unref);
  g_clear_pointer (&self->checkpoint, g_free);
  g_clear_pointer (&self->inputs, g_free);
  self->serial++;
}

void
lig_run_detail_show (LigRunDetail *self, LigStore *store, LigRunItem *item)
{
  gint64 key = item ? lig_run_item_get_key (item) : 0;
  gboolean same = self->key == key && self->store == store;
  if (same && self->item == item)
    return;
  if (self->item)
    g_signal_handlers_disconnect_by_func (self->item, show, self);
  if (!same)
    leave (self);
  g_set_object (&self->store, store);
  g_set_object (&self->item, item);
  self->key = key;
  if (!item)
    return;
  g_signal_connect_object (item, "changed", G_CALLBACK (show), self, G_CONNECT_SWAPPED);
  show (self);
}

const char *
lig_run_detail_get_checkpoint (LigRunDetail *self)
{
  return self->checkpoint;
}

LigRunMenu *
lig_run_detail_get_run_menu (LigRunDetail *self)
{
  return self->run_menu;
}

LigRepeatRow *
lig_run_detail_get_repeat_row (LigRunDetail *self)
{
  return self->repeat_row;
}

void
lig_run_detail_edit_notes (LigRunDetail *self)
{
  gtk_widget_grab_focus (GTK_WIDGET (self->notes));
}

void
lig_run_detail_edit_tags (LigRunDetail *self)
{
  gtk_widget_grab_focus (GTK_WIDGET (self->new_tag));
}

/* --- Construction -------------------------------------------------------------------------- */

static void
lig_run_detail_dispose (GObject *object)
{
  LigRunDetail *self = LIG_RUN_DETAIL (object);
  if (self->notes)
    lig_run_detail_show (self, NULL, NULL);
  g_clear_handle_id (&self->save_source, g_source_remove);
  gtk_widget_dispose_template (GTK_WIDGET (self), LIG_TYPE_RUN_DETAIL);
  G_OBJECT_CLASS (lig_run_detail_parent_class)->dispose (object);
}

static void
bind_children (GtkWidgetClass *widget)
{
  gtk_widget_class_set_template_from_resource (widget,
                                               "/org/ligature/Ligature/ui/history/run-detail.ui");
  gtk_widget_class_bind_template_child (widget, LigRunDetail, name);
  gtk_widget_class_bind_template_child (widget, LigRunDetail, status);
  gtk_widget_class_bind_template_child (widget, LigRunDetail, message);
  gtk_widget_class_bind_template_child (widget, LigRunDetail, status_icon);
  gtk_widget_class_bind_template_child (widget, LigRunDetail, resume);
  gtk_widget_class_bind_template_child (widget, LigRunDetail, missing);
  gtk_widget_class_bind_template_child (widget, LigRunDetail, sweep);
  gtk_widget_class_bind_template_child (widget, LigRunDetail, repeat_row);
  gtk_widget_class_bind_template_child (widget, LigRunDetail, run_menu);
  gtk_widget_class_bind_template_child (widget, LigRunDetail, chart);
  gtk_widget_class_bind_template_child (widget, LigRunDetail, samples);
  gtk_widget_class_bind_template_child (widget, LigRunDetail, histograms);
  gtk_widget_class_bind_template_child (widget, LigRunDetail, loads);
  gtk_widget_class_bind_template_child (widget, LigRunDetail, tags);
  gtk_widget_class_bind_template_child (widget, LigRunDetail, new_tag);
  gtk_widget_class_bind_template_child (widget, LigRunDetail, notes);
  gtk_widget_class_bind_template_child (widget, LigRunDetail, sections);
}

static void
lig_run_detail_class_init (LigRunDetailClass *class)
{
  g_type_ensure (LIG_TYPE_HISTORY_CHART);
  g_type_ensure (LIG_TYPE_REPEAT_ROW);
  g_type_ensure (LIG_TYPE_RUN_MENU);
  g_type_ensure (LIG_TYPE_SAMPLE_LIST);
  g_type_ensure (LIG_TYPE_HISTOGRAM_VIEW);
  g_type_ensure (LIG_TYPE_LOAD_VIEW);
  G_OBJECT_CLASS (class)->dispose = lig_run_detail_dispose;
  bind_children (GTK_WIDGET_CLASS (class));
  static const char *const names[] = {"note", "tag", "untag"};
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    signals[i] = g_signal_new (names[i], LIG_TYPE_RUN_DETAIL, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                               NULL, G_TYPE_NONE, 2, G_TYPE_INT64, G_TYPE_STRING);
  signals[LOADED] = g_signal_new ("loaded", LIG_TYPE_RUN_DETAIL, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                                  NULL, G_TYPE_NONE, 0);
}

static void
lig_run_detail_init (LigRunDetail *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  lig_histogram_view_set_narrow (self->histograms);
  GtkEventController *focus = gtk_event_controller_focus_new ();
  gtk_widget_add_controller (GTK_WIDGET (self->notes), focus);
  g_signal_connect_object (focus, "leave", G_CALLBACK (lig_run_detail_save), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (gtk_text_view_get_buffer (self->notes), "changed",
                           G_CALLBACK (note_edit), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (self->new_tag, "activate", G_CALLBACK (add_tag), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (self->new_tag, "icon-press", G_CALLBACK (add_tag), self,
                           G_CONNECT_SWAPPED);
}
