/* SPDX-License-Identifier: MIT */
/* The list of problems: the count in a bar, the sentences below it. */
#include "ui/sequence/problems.h"

#include "ui/document/edit.h"
#include "ui/widgets/figures.h"
#include "ui/widgets/preview-hook.h"
#include "ui/widgets/toast.h"
#include "ui/widgets/tooltip.h"

#include <glib/gi18n.h>
#include <string.h>

/* More problems are only counted: a list of thousands would take long to build. */
#define MAX_ROWS 60

struct _LigProblems {
  GtkWidget parent_instance;
  LigDocument *doc;
  GtkRevealer *revealer;
  GtkLabel *count;
  GtkButton *next;
  GtkListBox *list;
  guint length, hidden; /* problems with and without a row */
  int shown;            /* by `next`; -1: none yet */
};

G_DEFINE_FINAL_TYPE (LigProblems, lig_problems, GTK_TYPE_WIDGET)

/* --- Going there --------------------------------------------------------------------------- */

/* Finds the row of the path and opens folded blocks around it. */
static const LigRow *
reach (LigProblems *self, const char *path)
{
  for (;;) {
    const LigRow *row = lig_document_find_path (self->doc, path);
    if (!row || row->open || !lig_op_get_body (row->op) || strlen (path) <= strlen (row->path))
      return row;
    lig_document_set_open (self->doc, row->op, TRUE);
  }
}

/* Selecting the row also scrolls to it. */
static void
go_to (LigProblems *self, guint n)
{
  const LigProblem *problem = lig_document_get_problem (self->doc, n);
  g_autofree char *path = problem ? g_strdup (problem->path) : NULL;
  const LigRow *row = path ? reach (self, path) : NULL;
  self->shown = (int) n;
  if (row)
    lig_document_select (self->doc, row->op, LIG_SELECT_ONLY);
  GtkListBoxRow *line = gtk_list_box_get_row_at_index (self->list, (int) n);
  if (line)
    gtk_list_box_select_row (self->list, line);
}

void
lig_problems_next (LigProblems *self)
{
  if (self->length > 0)
    go_to (self, (guint) (self->shown + 1) % (self->length + self->hidden));
}

static void
activate_row (LigProblems *self, GtkListBoxRow *row)
{
  guint index = (guint) gtk_list_box_row_get_index (row);
  if (index < self->length)
    go_to (self, index);
}

static void
run_next (GtkWidget *widget, const char *action, GVariant *parameter)
{
  lig_problems_next (LIG_PROBLEMS (widget));
}

/* --- The list ------------------------------------------------------------------------------ */

static void
fix (GtkButton *button, LigProblems *self)
{
  GError *error = NULL;
  g_autoptr (LigProblemFix) edit =
    lig_problem_fix_copy (g_object_get_data (G_OBJECT (button), "fix"));
  if (!lig_edit_fix_problem (self->doc, edit, &error))
    lig_toast_error (GTK_WIDGET (self), error);
}

/* Previews the sequence after the fix. */
static gboolean
try_fix (GtkWidget *button, LigDocument *document, LigPreviewTrial *trial, gpointer data)
{
  const LigProblemFix *edit = data;
  g_autoptr (LigSequence) copy = lig_sequence_copy (lig_document_get_sequence (document));
  g_autofree char *phrase = lig_problem_fix_describe (edit);
  if (!lig_problem_fix_apply (edit, copy, NULL))
    return FALSE;
  trial->sequence = g_steal_pointer (&copy);
  trial->label = lig_figure_sentence (phrase);
  return TRUE;
}

static GtkWidget *
make_button (LigProblems *self, const LigProblemFix *edit, gboolean best)
{
  g_autofree char *phrase = lig_problem_fix_describe (edit);
  g_autofree char *sentence = lig_figure_sentence (phrase);
  GtkWidget *label = gtk_label_new (sentence), *button = gtk_button_new ();
  /* If space is short, all fixes but the best are truncated. */
  if (!best)
    gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_END);
  lig_tooltip_when_cut (GTK_LABEL (label));
  gtk_button_set_child (GTK_BUTTON (button), label);
  gtk_accessible_update_property (GTK_ACCESSIBLE (button), GTK_ACCESSIBLE_PROPERTY_LABEL, sentence,
                                  -1);
  gtk_widget_add_css_class (button, "fix");
  if (!best)
    gtk_widget_add_css_class (button, "flat");
  g_object_set_data_full (G_OBJECT (button), "fix", lig_problem_fix_copy (edit),
                          (GDestroyNotify) lig_problem_fix_free);
  g_signal_connect_object (button, "clicked", G_CALLBACK (fix), self, 0);
  lig_preview_hook (button, self->doc, try_fix, lig_problem_fix_copy (edit),
                    (GDestroyNotify) lig_problem_fix_free);
  return button;
}

static GtkWidget *
make_buttons (LigProblems *self, const LigProblem *problem)
{
  GtkWidget *buttons = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 6);
  for (guint i = 0; i < problem->fixes->len; i++)
    gtk_box_append (GTK_BOX (buttons), make_button (self, problem->fixes->pdata[i], i == 0));
  gtk_widget_set_visible (buttons, problem->fixes->len > 0);
  return buttons;
}

/* Returns the text and the fixes, for comparison with those of a row. */
static char *
describe (const LigProblem *problem)
{
  g_autoptr (GString) text = g_string_new (problem->text);
  for (guint i = 0; i < problem->fixes->len; i++) {
    g_autofree char *phrase = lig_problem_fix_describe (problem->fixes->pdata[i]);
    g_string_append_printf (text, "\n%s", phrase);
  }
  return g_strdup (text->str);
}

static GtkWidget *
make_row (LigProblems *self, const LigProblem *problem)
{
  GtkWidget *row = gtk_list_box_row_new ();
  GtkWidget *line = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 12);
  GtkWidget *column = gtk_box_new (GTK_ORIENTATION_VERTICAL, 3);
  GtkWidget *path = gtk_label_new (problem->path ? problem->path : "–");
  g_autofree char *sentence = lig_figure_sentence (problem->text);
  GtkWidget *text = gtk_label_new (sentence);
  gtk_label_set_xalign (GTK_LABEL (path), 0);
  gtk_label_set_width_chars (GTK_LABEL (path), 4);
  gtk_widget_set_valign (path, GTK_ALIGN_START);
  gtk_widget_add_css_class (path, "numeric");
  gtk_widget_add_css_class (path, "dim-label");
  gtk_label_set_xalign (GTK_LABEL (text), 0);
  gtk_label_set_wrap (GTK_LABEL (text), TRUE);
  gtk_label_set_wrap_mode (GTK_LABEL (text), PANGO_WRAP_WORD_CHAR);
  gtk_widget_set_hexpand (column, TRUE);
  gtk_box_append (GTK_BOX (column), text);
  gtk_box_append (GTK_BOX (column), make_buttons (self, problem));
  gtk_box_append (GTK_BOX (line), path);
  gtk_box_append (GTK_BOX (line), column);
  gtk_list_box_row_set_child (GTK_LIST_BOX_ROW (row), line);
  gtk_accessible_update_property (GTK_ACCESSIBLE (row), GTK_ACCESSIBLE_PROPERTY_LABEL, sentence,
                                  GTK_ACCESSIBLE_PROPERTY_DESCRIPTION,
                                  problem->path ? _ ("Selects the operation") : "", -1);
  g_object_set_data_full (G_OBJECT (row), "text", describe (problem), g_free);
  return row;
}

/* Returns the number of problems that have no row. */
static guint
count_hidden (LigProblems *self)
{
  guint count = MAX_ROWS;
  while (lig_document_get_problem (self->doc, count))
    count++;
  return count - MAX_ROWS;
}

static void
add_rest (LigProblems *self)
{
  if (self->hidden == 0)
    return;
  g_autofree char *text =
    g_strdup_printf (ngettext ("%u more problem", "%u more problems", self->hidden), self->hidden);
  GtkWidget *label = gtk_label_new (text);
  gtk_widget_add_css_class (label, "dim-label");
  gtk_list_box_append (self->list, label);
}

static gboolean
is_shown (LigProblems *self)
{
  for (guint i = 0;; i++) {
    const LigProblem *problem = lig_document_get_problem (self->doc, i);
    GtkListBoxRow *row = gtk_list_box_get_row_at_index (self->list, (int) i);
    if (i == self->length || !problem || !row)
      return i == self->length && (i == MAX_ROWS ? self->hidden == count_hidden (self) : !problem);
    g_autofree char *text = describe (problem);
    if (g_strcmp0 (g_object_get_data (G_OBJECT (row), "text"), text) != 0)
      return FALSE;
  }
}

static void
update (LigProblems *self)
{
  const LigProblem *problem;
  GtkListBoxRow *row;
  if (is_shown (self))
    return;
  while ((row = gtk_list_box_get_row_at_index (self->list, 0)))
    gtk_list_box_remove (self->list, GTK_WIDGET (row));
  self->length = 0;
  while (self->length < MAX_ROWS &&
         (problem = lig_document_get_problem (self->doc, self->length))) {
    gtk_list_box_append (self->list, make_row (self, problem));
    self->length++;
  }
  self->hidden = self->length == MAX_ROWS ? count_hidden (self) : 0;
  add_rest (self);
  self->shown = -1;
  /* The bar keeps its text while an animation hides it. */
  if (self->length > 0) {
    guint count = self->length + self->hidden;
    g_autofree char *text = g_strdup_printf (ngettext ("%u problem", "%u problems", count), count);
    gtk_label_set_text (self->count, text);
    gtk_accessible_update_property (GTK_ACCESSIBLE (self->count), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                    text, -1);
  }
  gtk_revealer_set_reveal_child (self->revealer, self->length > 0);
}

/* --- Construction -------------------------------------------------------------------------- */

static void
lig_problems_dispose (GObject *object)
{
  LigProblems *self = LIG_PROBLEMS (object);
  gtk_widget_dispose_template (GTK_WIDGET (self), LIG_TYPE_PROBLEMS);
  g_clear_object (&self->doc);
  G_OBJECT_CLASS (lig_problems_parent_class)->dispose (object);
}

static void
lig_problems_class_init (LigProblemsClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);
  G_OBJECT_CLASS (class)->dispose = lig_problems_dispose;
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/org/ligature/Ligature/ui/sequence/problems.ui");
  gtk_widget_class_bind_template_child (widget_class, LigProblems, revealer);
  gtk_widget_class_bind_template_child (widget_class, LigProblems, count);
  gtk_widget_class_bind_template_child (widget_class, LigProblems, next);
  gtk_widget_class_bind_template_child (widget_class, LigProblems, list);
  gtk_widget_class_bind_template_callback (widget_class, activate_row);
  gtk_widget_class_install_action (widget_class, "problems.next", NULL, run_next);
  gtk_widget_class_set_css_name (widget_class, "problems");
  gtk_widget_class_set_layout_manager_type (widget_class, GTK_TYPE_BIN_LAYOUT);
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_GROUP);
}

static void
lig_problems_init (LigProblems *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  self->shown = -1;
}

GtkWidget *
lig_problems_new (LigDocument *doc)
{
  LigProblems *self = g_object_new (LIG_TYPE_PROBLEMS, NULL);
  self->doc = g_object_ref (doc);
  g_signal_connect_object (doc, "planned", G_CALLBACK (update), self, G_CONNECT_SWAPPED);
  update (self);
  return GTK_WIDGET (self);
}
