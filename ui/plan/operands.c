/* SPDX-License-Identifier: MIT */
/* The values that the selected step reads and writes, below the list of steps. */
#include "ui/plan/operands.h"
#include "ui/plan/list.h"
#include "ui/widgets/tooltip.h"

#include <glib/gi18n.h>
#include <string.h>

struct _LigPlanOperands {
  GtkWidget parent_instance;
  GtkLabel *title;
  GtkBox *lines[2]; /* its inputs, its outputs */
  LigPlan *plan;
  LigPlanLinks *links;
  int followed; /* the memory of the value that was followed last, or -1 */
  int last;     /* the reader of that value that was selected last */
};

G_DEFINE_FINAL_TYPE (LigPlanOperands, lig_plan_operands, GTK_TYPE_WIDGET)

static guint follow_signal;

/* Returns the step that the value leads to, or -1. Readers are cycled through only while the same
 * value is followed. */
static int
find_target (LigPlanOperands *self, int value)
{
  gboolean same = lig_plan_links_get_root (self->links, value) == self->followed;
  return lig_plan_links_follow (self->links, value, same ? self->last : -1);
}

void
lig_plan_operands_follow (LigPlanOperands *self, int value)
{
  int target = self->links ? find_target (self, value) : -1;
  if (target < 0)
    return;
  int root = lig_plan_links_get_root (self->links, value);
  int step = lig_plan_links_get_step (self->links);
  /* Going from a reader back to the writer keeps the position among the readers. */
  if (target > step)
    self->last = target;
  else if (root != self->followed)
    self->last = step;
  self->followed = root;
  g_signal_emit (self, follow_signal, 0, target);
}

static void
clicked (GtkButton *button, LigPlanOperands *self)
{
  lig_plan_operands_follow (self, GPOINTER_TO_INT (g_object_get_data (G_OBJECT (button), "value")));
}

/* --- Buttons --------------------------------------------------------------------------------- */

static GtkWidget *
new_content (const LigPlanValue *value, int step, int target)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 6), *label;
  g_autofree char *shape = lig_shape_to_string (&value->shape);
  g_autofree char *type = g_strdup_printf ("%s %s", shape, lig_dtype_name (value->dtype));
  gtk_box_append (GTK_BOX (box), gtk_label_new (value->name));
  label = gtk_label_new (type);
  gtk_widget_add_css_class (label, "dim-label");
  gtk_widget_add_css_class (label, "caption");
  gtk_box_append (GTK_BOX (box), label);
  if (target >= 0)
    gtk_box_append (GTK_BOX (box), gtk_image_new_from_icon_name (
                                     target < step ? "go-up-symbolic" : "go-down-symbolic"));
  return box;
}

static GtkWidget *
new_button (LigPlanOperands *self, int number)
{
  guint count;
  const LigPlanValue *value = &lig_plan_get_values (self->plan, &count)[number];
  GtkWidget *button = gtk_button_new ();
  int step = lig_plan_links_get_step (self->links), target = find_target (self, number);
  g_autofree char *about = lig_plan_links_describe_value (self->links, number);
  g_autofree char *action = target >= 0 ? g_strdup_printf (_ ("Go to step %d"), target) : NULL;
  g_autofree char *text = g_strjoin ("\n", about, action, NULL);
  gtk_button_set_child (GTK_BUTTON (button), new_content (value, step, target));
  gtk_widget_set_sensitive (button, target >= 0);
  gtk_widget_add_css_class (button, "flat");
  lig_tooltip_set (button, text);
  gtk_accessible_update_property (GTK_ACCESSIBLE (button), GTK_ACCESSIBLE_PROPERTY_LABEL, about,
                                  GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, action ? action : "", -1);
  g_object_set_data (G_OBJECT (button), "value", GINT_TO_POINTER (number));
  g_signal_connect (button, "clicked", G_CALLBACK (clicked), self);
  return button;
}

/* Returns the button that has the focus, or NULL. */
static GtkWidget *
find_focus (LigPlanOperands *self)
{
  GtkRoot *root = gtk_widget_get_root (GTK_WIDGET (self));
  GtkWidget *focus = root ? gtk_root_get_focus (root) : NULL;
  return focus && gtk_widget_is_ancestor (focus, GTK_WIDGET (self)) ? focus : NULL;
}

static void
empty (LigPlanOperands *self)
{
  GtkWidget *child;
  for (guint i = 0; i < G_N_ELEMENTS (self->lines); i++)
    while ((child = gtk_widget_get_first_child (GTK_WIDGET (self->lines[i]))))
      gtk_box_remove (self->lines[i], child);
}

/* Fills both lines; returns the button of the value that was followed last, or else the first. */
static GtkWidget *
fill (LigPlanOperands *self, const LigPlanStep *step)
{
  GtkWidget *same = NULL, *first = NULL;
  for (int i = 0; i < step->n_operands; i++) {
    int value = step->operands[i].value;
    if (value < 0)
      continue;
    GtkWidget *button = new_button (self, value);
    gtk_box_append (self->lines[i >= step->n_inputs], button);
    first = first ? first : button;
    same = lig_plan_links_get_root (self->links, value) == self->followed ? button : same;
  }
  return same ? same : first;
}

void
lig_plan_operands_show (LigPlanOperands *self, LigPlan *plan, LigPlanLinks *links)
{
  guint count;
  int number = links ? lig_plan_links_get_step (links) : -1;
  gboolean focused = find_focus (self) != NULL;
  self->followed = plan == self->plan ? self->followed : -1;
  self->plan = plan;
  self->links = links;
  empty (self);
  gtk_widget_set_visible (GTK_WIDGET (self), number >= 0);
  if (number < 0)
    return;
  const LigPlanStep *step = &lig_plan_get_steps (plan, &count)[number];
  g_autofree char *title =
    g_strdup_printf (_ ("Step %d: %s"), number, lig_plan_step_name_kernel (step));
  gtk_label_set_label (self->title, title);
  GtkWidget *button = fill (self, step);
  for (guint i = 0; i < G_N_ELEMENTS (self->lines); i++)
    gtk_widget_set_visible (
      gtk_widget_get_ancestor (GTK_WIDGET (self->lines[i]), GTK_TYPE_SCROLLED_WINDOW),
      gtk_widget_get_first_child (GTK_WIDGET (self->lines[i])) != NULL);
  if (focused && button)
    gtk_widget_grab_focus (button);
}

/* --- Construction ---------------------------------------------------------------------------- */

static void
lig_plan_operands_dispose (GObject *object)
{
  GtkWidget *child;
  while ((child = gtk_widget_get_first_child (GTK_WIDGET (object))))
    gtk_widget_unparent (child);
  G_OBJECT_CLASS (lig_plan_operands_parent_class)->dispose (object);
}

static void
lig_plan_operands_class_init (LigPlanOperandsClass *class)
{
  G_OBJECT_CLASS (class)->dispose = lig_plan_operands_dispose;
  gtk_widget_class_set_css_name (GTK_WIDGET_CLASS (class), "planoperands");
  gtk_widget_class_set_layout_manager_type (GTK_WIDGET_CLASS (class), GTK_TYPE_BIN_LAYOUT);
  gtk_widget_class_set_accessible_role (GTK_WIDGET_CLASS (class), GTK_ACCESSIBLE_ROLE_GROUP);
  follow_signal = g_signal_new ("follow", LIG_TYPE_PLAN_OPERANDS, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                                NULL, G_TYPE_NONE, 1, G_TYPE_INT);
}

/* Explains one of the marks in the list of steps. */
static GtkWidget *
new_legend (const char *style, const char *icon, const char *text)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 6), *label = gtk_label_new (text);
  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_END);
  gtk_widget_add_css_class (label, "caption");
  gtk_widget_add_css_class (box, "plan-mark");
  gtk_widget_add_css_class (box, style);
  gtk_box_append (GTK_BOX (box), gtk_image_new_from_icon_name (icon));
  gtk_box_append (GTK_BOX (box), label);
  lig_tooltip_when_cut (GTK_LABEL (label));
  return box;
}

static GtkWidget *
new_head (LigPlanOperands *self)
{
  GtkWidget *head = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 18);
  self->title = GTK_LABEL (gtk_label_new (NULL));
  gtk_label_set_xalign (self->title, 0);
  gtk_label_set_ellipsize (self->title, PANGO_ELLIPSIZE_END);
  gtk_widget_set_hexpand (GTK_WIDGET (self->title), TRUE);
  gtk_widget_add_css_class (GTK_WIDGET (self->title), "heading");
  gtk_box_append (GTK_BOX (head), GTK_WIDGET (self->title));
  gtk_box_append (GTK_BOX (head),
                  new_legend ("before", "go-down-symbolic", _ ("wrote its inputs")));
  gtk_box_append (GTK_BOX (head), new_legend ("after", "go-up-symbolic", _ ("reads its outputs")));
  return head;
}

static GtkWidget *
new_line (LigPlanOperands *self, int number, GtkSizeGroup *group)
{
  const char *text = number == 0 ? _ ("Reads") : _ ("Writes");
  GtkWidget *line = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 6), *label = gtk_label_new (text);
  GtkWidget *window = gtk_scrolled_window_new ();
  GtkWidget *buttons = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 3);
  self->lines[number] = GTK_BOX (buttons);
  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_widget_add_css_class (label, "dim-label");
  gtk_widget_add_css_class (label, "caption-heading");
  gtk_size_group_add_widget (group, label);
  gtk_box_append (GTK_BOX (line), label);
  gtk_box_append (GTK_BOX (line), buttons);
  gtk_scrolled_window_set_policy (GTK_SCROLLED_WINDOW (window), GTK_POLICY_AUTOMATIC,
                                  GTK_POLICY_NEVER);
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (window), line);
  gtk_accessible_update_property (GTK_ACCESSIBLE (buttons), GTK_ACCESSIBLE_PROPERTY_LABEL, text,
                                  -1);
  return window;
}

static void
lig_plan_operands_init (LigPlanOperands *self)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 3);
  g_autoptr (GtkSizeGroup) group = gtk_size_group_new (GTK_SIZE_GROUP_HORIZONTAL);
  self->followed = -1;
  gtk_box_append (GTK_BOX (box), gtk_separator_new (GTK_ORIENTATION_HORIZONTAL));
  gtk_box_append (GTK_BOX (box), new_head (self));
  for (int i = 0; i < 2; i++)
    gtk_box_append (GTK_BOX (box), new_line (self, i, group));
  gtk_widget_set_parent (box, GTK_WIDGET (self));
  gtk_widget_set_visible (GTK_WIDGET (self), FALSE);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Values of the selected step"), -1);
}

GtkWidget *
lig_plan_operands_new (void)
{
  return g_object_new (LIG_TYPE_PLAN_OPERANDS, NULL);
}
