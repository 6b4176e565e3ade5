/* SPDX-License-Identifier: MIT */
/* A template's card. The file is read and compiled on a thread; until then a spinner turns. */
#include "ui/sequence/template-card.h"

#include "ui/session/task.h"
#include "ui/widgets/figures.h"
#include "ui/widgets/style-colours.h"
#include <ligature/compile.h>
#include <ligature/draw.h>
#include <ligature/folders.h>
#include <ligature/plan-options.h>

#include <adwaita.h>
#include <glib/gi18n.h>

/* The score is laid out at this width and scaled down. */
#define SCORE_WIDTH 720.0
#define PICTURE_WIDTH 300
#define PICTURE_HEIGHT 190

struct _LigTemplateCard {
  GtkFlowBoxChild parent_instance;
  char *title;
  GtkStack *stack;
  GtkWidget *spinner, *picture;
  GtkLabel *error;
  LigSequence *sequence;
  LigPlan *plan;
  GCancellable *cancellable;
};

G_DEFINE_FINAL_TYPE (LigTemplateCard, lig_template_card, GTK_TYPE_FLOW_BOX_CHILD)

const char *
lig_template_card_get_title (LigTemplateCard *self)
{
  return self->title;
}

LigSequence *
lig_template_card_get_sequence (LigTemplateCard *self)
{
  return self->sequence;
}

LigPlan *
lig_template_card_get_plan (LigTemplateCard *self)
{
  return self->plan;
}

/* --- Picture ------------------------------------------------------------------------------- */

/* The top of a score that is too long for the card; a short one in the middle. */
static void
draw (GtkDrawingArea *area, cairo_t *cairo, int width, int height, gpointer data)
{
  LigTemplateCard *self = data;
  if (!self->plan)
    return;
  LigTimedPlan timed = {.plan = self->plan};
  double natural = lig_draw_score_height (self->plan);
  double scale = CLAMP (height / natural, 0.5 * width / SCORE_WIDTH, width / SCORE_WIDTH);
  cairo_translate (cairo, (width - SCORE_WIDTH * scale) / 2, MAX (0, height - natural * scale) / 2);
  cairo_scale (cairo, scale, scale);
  g_autoptr (LigCanvas) canvas = lig_canvas_new (cairo);
  lig_draw_score (canvas, lig_style_colours (), &timed, SCORE_WIDTH);
}

/* --- Loading ------------------------------------------------------------------------------- */

typedef struct {
  char *file, *device;
  LigSequence *sequence;
} Job;

static void
free_job (gpointer data)
{
  Job *job = data;
  g_clear_object (&job->sequence);
  g_free (job->file);
  g_free (job->device);
  g_free (job);
}

static LigPlan *
compile (Job *job, GError **error)
{
  g_autofree char *name = g_build_filename ("examples", job->file, NULL);
  g_autofree char *path = lig_data_find (name);
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.policy = LIG_POLICY_ALL;
  options.input_gradient = TRUE;
  if (!path) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_FILE, _ ("%s is not installed"), job->file);
    return NULL;
  }
  job->sequence = lig_sequence_load (path, NULL, error);
  if (!job->sequence)
    return NULL;
  g_autoptr (LigDevice) device = lig_device_open (job->device, error);
  g_autoptr (LigSequence) copy = lig_sequence_copy (job->sequence);
  return device ? lig_plan_compile (copy, device, &options, error) : NULL;
}

static void
work (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  GError *error = NULL;
  LigPlan *plan = compile (data, &error);
  if (plan)
    g_task_return_pointer (task, plan, (GDestroyNotify) lig_plan_unref);
  else
    g_task_return_error (task, error);
}

static void
finish (GObject *source, GAsyncResult *result, gpointer data)
{
  LigTemplateCard *self = LIG_TEMPLATE_CARD (source);
  g_autoptr (GError) error = NULL;
  Job *job = g_task_get_task_data (G_TASK (result));
  g_autoptr (LigPlan) plan = g_task_propagate_pointer (G_TASK (result), &error);
  if (g_cancellable_is_cancelled (self->cancellable))
    return;
  self->sequence = g_steal_pointer (&job->sequence);
  gtk_spinner_stop (GTK_SPINNER (self->spinner));
  if (plan) {
    self->plan = g_steal_pointer (&plan);
    gtk_widget_queue_draw (self->picture);
    gtk_stack_set_visible_child (self->stack, self->picture);
  } else {
    g_autofree char *text = lig_figure_sentence (error->message);
    gtk_label_set_text (self->error, text);
    gtk_stack_set_visible_child (self->stack, GTK_WIDGET (self->error));
  }
}

static void
load (LigTemplateCard *self, const char *file, const char *device)
{
  Job *job = g_new0 (Job, 1);
  g_autoptr (GTask) task = g_task_new (self, NULL, finish, NULL);
  job->file = g_strdup (file);
  job->device = g_strdup (device);
  g_task_set_task_data (task, job, free_job);
  lig_task_run (task, work);
}

/* --- Construction -------------------------------------------------------------------------- */

static void
choose (GtkWidget *widget, const char *action, GVariant *parameter)
{
  GtkWidget *box = gtk_widget_get_ancestor (widget, GTK_TYPE_FLOW_BOX);
  if (box)
    g_signal_emit_by_name (box, "child-activated", widget);
}

static void
lig_template_card_dispose (GObject *object)
{
  LigTemplateCard *self = LIG_TEMPLATE_CARD (object);
  g_cancellable_cancel (self->cancellable);
  G_OBJECT_CLASS (lig_template_card_parent_class)->dispose (object);
}

static void
lig_template_card_finalize (GObject *object)
{
  LigTemplateCard *self = LIG_TEMPLATE_CARD (object);
  g_clear_object (&self->cancellable);
  g_clear_object (&self->sequence);
  g_clear_pointer (&self->plan, lig_plan_unref);
  g_free (self->title);
  G_OBJECT_CLASS (lig_template_card_parent_class)->finalize (object);
}

static void
lig_template_card_class_init (LigTemplateCardClass *class)
{
  G_OBJECT_CLASS (class)->dispose = lig_template_card_dispose;
  G_OBJECT_CLASS (class)->finalize = lig_template_card_finalize;
  gtk_widget_class_install_action (GTK_WIDGET_CLASS (class), "template.choose", NULL, choose);
}

static void
redraw (LigTemplateCard *self)
{
  gtk_widget_queue_draw (self->picture);
}

static void
lig_template_card_init (LigTemplateCard *self)
{
  AdwStyleManager *style = adw_style_manager_get_default ();
  self->cancellable = g_cancellable_new ();
  g_signal_connect_object (style, "notify::dark", G_CALLBACK (redraw), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (style, "notify::high-contrast", G_CALLBACK (redraw), self,
                           G_CONNECT_SWAPPED);
}

static GtkWidget *
make_text (const char *text, const char *class)
{
  GtkWidget *label = gtk_label_new (text);
  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_label_set_wrap (GTK_LABEL (label), TRUE);
  gtk_label_set_max_width_chars (GTK_LABEL (label), 28);
  gtk_widget_add_css_class (label, class);
  return label;
}

/* The button shows that the card can be opened; a click anywhere on the card opens it. */
static GtkWidget *
make_button (void)
{
  GtkWidget *button = gtk_button_new_with_mnemonic (_ ("_Open"));
  gtk_widget_set_halign (button, GTK_ALIGN_END);
  gtk_widget_set_valign (button, GTK_ALIGN_END);
  gtk_widget_set_vexpand (button, TRUE);
  gtk_widget_set_margin_top (button, 6);
  gtk_actionable_set_action_name (GTK_ACTIONABLE (button), "template.choose");
  return button;
}

static GtkWidget *
make_picture (LigTemplateCard *self)
{
  self->stack = GTK_STACK (gtk_stack_new ());
  self->spinner = gtk_spinner_new ();
  self->picture = gtk_drawing_area_new ();
  self->error = GTK_LABEL (make_text ("", "dim-label"));
  gtk_spinner_start (GTK_SPINNER (self->spinner));
  gtk_widget_set_halign (self->spinner, GTK_ALIGN_CENTER);
  gtk_widget_set_valign (self->spinner, GTK_ALIGN_CENTER);
  gtk_widget_set_size_request (self->spinner, 32, 32);
  gtk_drawing_area_set_draw_func (GTK_DRAWING_AREA (self->picture), draw, self, NULL);
  gtk_widget_set_size_request (GTK_WIDGET (self->stack), PICTURE_WIDTH, PICTURE_HEIGHT);
  gtk_widget_set_overflow (GTK_WIDGET (self->stack), GTK_OVERFLOW_HIDDEN);
  gtk_widget_add_css_class (GTK_WIDGET (self->stack), "picture");
  gtk_stack_add_child (self->stack, self->spinner);
  gtk_stack_add_child (self->stack, self->picture);
  gtk_stack_add_child (self->stack, GTK_WIDGET (self->error));
  return GTK_WIDGET (self->stack);
}

GtkWidget *
lig_template_card_new (const char *file,
                       const char *title,
                       const char *description,
                       const char *device)
{
  LigTemplateCard *self = g_object_new (LIG_TYPE_TEMPLATE_CARD, NULL);
  GtkWidget *whole = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  GtkWidget *texts = gtk_box_new (GTK_ORIENTATION_VERTICAL, 3);
  self->title = g_strdup (title);
  gtk_widget_add_css_class (texts, "texts");
  gtk_box_append (GTK_BOX (texts), make_text (title, "heading"));
  gtk_box_append (GTK_BOX (texts), make_text (description, "dim-label"));
  gtk_box_append (GTK_BOX (texts), make_button ());
  gtk_box_append (GTK_BOX (whole), make_picture (self));
  gtk_box_append (GTK_BOX (whole), texts);
  gtk_flow_box_child_set_child (GTK_FLOW_BOX_CHILD (self), whole);
  gtk_widget_add_css_class (GTK_WIDGET (self), "card");
  gtk_widget_add_css_class (GTK_WIDGET (self), "activatable");
  gtk_widget_add_css_class (GTK_WIDGET (self), "template-card");
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL, title,
                                  GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, description, -1);
  load (self, file, device);
  return GTK_WIDGET (self);
}
