/* SPDX-License-Identifier: MIT */
#include "ui/savings/panel.h"

#include "ui/document/times.h"
#include "ui/savings/capacity-card.h"
#include "ui/savings/saving-row.h"
#include "ui/widgets/tooltip.h"
#include <ligature/plan-memory.h>
#include <ligature/units.h>

#include <glib/gi18n.h>

struct _LigSavingsPanel {
  AdwBin parent_instance;
  LigDocument *document;
  GtkLabel *summary, *note;
  GtkBox *rows;
  GtkToggleButton *filters[4]; /* all, then by the parts of the plan that change */
  GtkSizeGroup *columns[3];    /* time, memory, buttons */
};

G_DEFINE_FINAL_TYPE (LigSavingsPanel, lig_savings_panel, ADW_TYPE_BIN)

/* --- Filters ------------------------------------------------------------------------------- */

enum { ALL, FUSIONS, PRECISION, MEMORY };

static gboolean
matches (int filter, const LigSaving *saving)
{
  switch (filter) {
  case FUSIONS:
    return saving->kind == LIG_SAVING_FIX || saving->kind == LIG_SAVING_POLICY;
  case PRECISION:
    return saving->kind == LIG_SAVING_RECIPE || saving->kind == LIG_SAVING_DTYPE;
  case MEMORY:
    return saving->memory != 0;
  default:
    return TRUE;
  }
}

static int
get_filter (LigSavingsPanel *self)
{
  for (int i = FUSIONS; i <= MEMORY; i++)
    if (gtk_toggle_button_get_active (self->filters[i]))
      return i;
  return ALL;
}

/* --- Showing ------------------------------------------------------------------------------- */

/* Returns `NVIDIA H200 · step ≈ 28.0 ms · 8.10 GB · 585 k tokens/s, 60 % MFU`. */
static char *
describe_plan (LigDocument *document)
{
  LigTimedPlan timed, unfused;
  LigFigures step;
  LigUse use;
  lig_document_get_timed (document, &timed, &unfused);
  if (!timed.plan)
    return g_strdup ("");
  lig_figures_of_step (&timed, &unfused, &step);
  lig_figures_of_use (timed.plan, &step, &use);
  LigDevice *device = lig_plan_get_device (timed.plan);
  const char *name = lig_device_get_facts (device)->name;
  g_autofree char *time = lig_figures_time_text (&step), *rate = lig_figures_use_text (&use);
  g_autofree char *memory = lig_units_bytes (lig_plan_get_needed_memory (timed.plan));
  g_autofree char *text =
    g_strdup_printf (_ ("%s · step without update %s · %s"),
                     *name ? name : lig_device_get_name (device), time ? time : "–", memory);
  return rate ? g_strdup_printf ("%s · %s", text, rate) : g_steal_pointer (&text);
}

static const char *
get_note (LigSavingsPanel *self, GPtrArray *savings, guint shown)
{
  const LigProblem *problem = lig_document_get_problem (self->document, 0);
  const char *error = lig_document_get_savings_error (self->document);
  if (error)
    return error;
  if (!lig_document_get_plan (self->document) || (problem && !problem->whole))
    return _ ("Add operations, or solve the problems below.");
  if (!savings)
    return _ ("Trying changes…");
  if (savings->len == 0)
    return _ ("No other fusion, recipe, policy or recomputation saves time or memory.");
  return shown == 0 ? _ ("Nothing of this kind saves time or memory.") : NULL;
}

/* Returns a line with the names of the columns. */
static GtkWidget *
new_heads (LigSavingsPanel *self)
{
  const char *const names[] = {_ ("Time of a step"), _ ("Memory")};
  GtkWidget *line = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 12);
  GtkWidget *change = gtk_label_new (_ ("Change"));
  gtk_widget_add_css_class (line, "saving-row");
  gtk_widget_add_css_class (change, "saving-detail");
  gtk_label_set_xalign (GTK_LABEL (change), 0);
  gtk_widget_set_hexpand (change, TRUE);
  gtk_box_append (GTK_BOX (line), change);
  for (guint i = 0; i < G_N_ELEMENTS (self->columns); i++) {
    GtkWidget *name = gtk_label_new (i < G_N_ELEMENTS (names) ? names[i] : NULL);
    gtk_widget_add_css_class (name, "saving-detail");
    gtk_size_group_add_widget (self->columns[i], name);
    gtk_box_append (GTK_BOX (line), name);
  }
  return line;
}

static void
show (LigSavingsPanel *self)
{
  GPtrArray *savings = lig_document_get_savings (self->document);
  g_autofree char *summary = describe_plan (self->document);
  int filter = get_filter (self);
  guint shown = 0;
  LigSavingScale scale;
  lig_saving_scale_find (&scale, savings);
  for (GtkWidget *child; (child = gtk_widget_get_first_child (GTK_WIDGET (self->rows)));)
    gtk_box_remove (self->rows, child);
  if (savings)
    gtk_box_append (self->rows, new_heads (self));
  for (guint i = 0; savings && i < savings->len; i++)
    if (matches (filter, savings->pdata[i])) {
      gtk_box_append (
        self->rows, lig_saving_row_new (self->document, savings->pdata[i], &scale, self->columns));
      shown++;
    }
  const char *note = get_note (self, savings, shown);
  gtk_label_set_text (self->summary, summary);
  gtk_label_set_text (self->note, note ? note : "");
  gtk_widget_set_visible (GTK_WIDGET (self->note), note != NULL);
  gtk_widget_set_visible (GTK_WIDGET (self->rows), shown > 0);
}

static void
lig_savings_panel_map (GtkWidget *widget)
{
  LigSavingsPanel *self = LIG_SAVINGS_PANEL (widget);
  GTK_WIDGET_CLASS (lig_savings_panel_parent_class)->map (widget);
  lig_document_want_capacity (self->document);
  show (self);
}

static void
follow (LigSavingsPanel *self)
{
  if (gtk_widget_get_mapped (GTK_WIDGET (self)))
    show (self);
}

/* --- Construction -------------------------------------------------------------------------- */

static void
dispose (GObject *object)
{
  LigSavingsPanel *self = LIG_SAVINGS_PANEL (object);
  g_clear_object (&self->document);
  for (guint i = 0; i < G_N_ELEMENTS (self->columns); i++)
    g_clear_object (&self->columns[i]);
  G_OBJECT_CLASS (lig_savings_panel_parent_class)->dispose (object);
}

static void
lig_savings_panel_class_init (LigSavingsPanelClass *class)
{
  G_OBJECT_CLASS (class)->dispose = dispose;
  GTK_WIDGET_CLASS (class)->map = lig_savings_panel_map;
}

static GtkLabel *
new_label (const char *text, const char *class)
{
  GtkWidget *label = gtk_label_new (text);
  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_label_set_wrap (GTK_LABEL (label), TRUE);
  if (class)
    gtk_widget_add_css_class (label, class);
  return GTK_LABEL (label);
}

static GtkWidget *
new_head (LigSavingsPanel *self)
{
  GtkWidget *head = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 12);
  GtkWidget *texts = gtk_box_new (GTK_ORIENTATION_VERTICAL, 3);
  GtkWidget *close = gtk_button_new_from_icon_name ("window-close-symbolic");
  self->summary = new_label (NULL, "saving-detail");
  gtk_widget_set_hexpand (texts, TRUE);
  gtk_widget_set_valign (close, GTK_ALIGN_START);
  gtk_widget_add_css_class (close, "flat");
  gtk_actionable_set_action_name (GTK_ACTIONABLE (close), "win.score");
  lig_tooltip_set (close, _ ("Back to the score (Escape)"));
  gtk_accessible_update_property (GTK_ACCESSIBLE (close), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Back to the score"), -1);
  gtk_box_append (GTK_BOX (texts), GTK_WIDGET (new_label (_ ("Savings"), "title-2")));
  gtk_box_append (GTK_BOX (texts), GTK_WIDGET (self->summary));
  gtk_box_append (GTK_BOX (head), texts);
  gtk_box_append (GTK_BOX (head), close);
  return head;
}

static GtkWidget *
new_filters (LigSavingsPanel *self)
{
  const char *const labels[] = {_ ("All"), _ ("Fusions"), _ ("Precision"), _ ("Memory")};
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 0);
  gtk_widget_add_css_class (box, "linked");
  gtk_widget_set_halign (box, GTK_ALIGN_START);
  for (guint i = 0; i < G_N_ELEMENTS (labels); i++) {
    GtkWidget *button = gtk_toggle_button_new_with_label (labels[i]);
    self->filters[i] = GTK_TOGGLE_BUTTON (button);
    gtk_toggle_button_set_group (self->filters[i], i > 0 ? self->filters[0] : NULL);
    gtk_box_append (GTK_BOX (box), button);
  }
  gtk_toggle_button_set_active (self->filters[ALL], TRUE);
  for (guint i = 0; i < G_N_ELEMENTS (labels); i++)
    g_signal_connect_swapped (self->filters[i], "toggled", G_CALLBACK (follow), self);
  return box;
}

static void
lig_savings_panel_init (LigSavingsPanel *self)
{
  GtkWidget *window = gtk_scrolled_window_new ();
  GtkWidget *clamp = adw_clamp_new ();
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 12);
  self->rows = GTK_BOX (gtk_box_new (GTK_ORIENTATION_VERTICAL, 0));
  self->note = new_label (NULL, "saving-detail");
  for (guint i = 0; i < G_N_ELEMENTS (self->columns); i++)
    self->columns[i] = gtk_size_group_new (GTK_SIZE_GROUP_HORIZONTAL);
  gtk_widget_add_css_class (GTK_WIDGET (self->rows), "card");
  gtk_widget_add_css_class (box, "savings");
  gtk_box_append (GTK_BOX (box), new_head (self));
  gtk_box_append (GTK_BOX (box), new_filters (self));
  gtk_box_append (GTK_BOX (box), GTK_WIDGET (self->note));
  gtk_box_append (GTK_BOX (box), GTK_WIDGET (self->rows));
  adw_clamp_set_maximum_size (ADW_CLAMP (clamp), 1100);
  adw_clamp_set_child (ADW_CLAMP (clamp), box);
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (window), clamp);
  gtk_scrolled_window_set_policy (GTK_SCROLLED_WINDOW (window), GTK_POLICY_NEVER,
                                  GTK_POLICY_AUTOMATIC);
  adw_bin_set_child (ADW_BIN (self), window);
}

GtkWidget *
lig_savings_panel_new (LigDocument *document)
{
  LigSavingsPanel *self = g_object_new (LIG_TYPE_SAVINGS_PANEL, NULL);
  GtkWidget *box = gtk_widget_get_parent (GTK_WIDGET (self->rows));
  GtkWidget *fits = gtk_flow_box_new ();
  self->document = g_object_ref (document);
  gtk_flow_box_set_selection_mode (GTK_FLOW_BOX (fits), GTK_SELECTION_NONE);
  gtk_flow_box_set_max_children_per_line (GTK_FLOW_BOX (fits), 2);
  gtk_flow_box_set_column_spacing (GTK_FLOW_BOX (fits), 12);
  for (int axis = 0; axis < 2; axis++)
    gtk_flow_box_insert (GTK_FLOW_BOX (fits),
                         lig_capacity_card_new (document, (LigCapacityAxis) axis), -1);
  gtk_box_append (GTK_BOX (box), GTK_WIDGET (new_label (_ ("What fits"), "title-4")));
  gtk_box_append (GTK_BOX (box), fits);
  gtk_box_append (GTK_BOX (box),
                  GTK_WIDGET (new_label (
                    _ ("Time and memory are those of the whole step; a change in a block counts in "
                       "all its repetitions. Try shows the plan on the score, and nothing changes "
                       "before Apply. lig fuse --savings and lig fit print the same."),
                    "saving-detail")));
  g_signal_connect_object (document, "savings", G_CALLBACK (follow), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "timed", G_CALLBACK (follow), self, G_CONNECT_SWAPPED);
  return GTK_WIDGET (self);
}
