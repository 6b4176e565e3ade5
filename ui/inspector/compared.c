/* SPDX-License-Identifier: MIT */
/* The inspector's section on the pinned plan: its step time compared with the current plan's, and
 * the groups that differ; without a pinned plan, the plans that can be pinned. */
#include "ui/inspector/compared.h"

#include "ui/document/pin.h"
#include "ui/document/times.h"
#include "ui/inspector/parts.h"
#include "ui/widgets/figures.h"
#include "ui/widgets/tooltip.h"
#include <ligature/row-changes.h>
#include <ligature/units.h>

#include <adwaita.h>
#include <glib/gi18n.h>

enum { MAX_ROWS = 8 };

#define LIG_TYPE_COMPARED (lig_compared_get_type ())
G_DECLARE_FINAL_TYPE (LigCompared, lig_compared, LIG, COMPARED, AdwBin)

struct _LigCompared {
  AdwBin parent_instance;
  LigDocument *document;
  GtkLabel *title;
  LigFacts *facts;
  GtkWidget *pin, *unpin;
  GtkMenuButton *devices;
};

G_DEFINE_FINAL_TYPE (LigCompared, lig_compared, ADW_TYPE_BIN)

/* --- Showing ------------------------------------------------------------------------------- */

static guint
count_different (LigPlanComparison *comparison, LigPass pass)
{
  guint count, different = 0;
  const LigPlanChange *changes = lig_plan_comparison_get_changes (comparison, &count);
  for (guint i = 0; i < count; i++)
    different += !changes[i].same && changes[i].pass == pass;
  return different;
}

/* Returns the pinned plan's time, `≈ 402 µs`. */
static char *
describe_step (LigPlanComparison *comparison)
{
  LigPlanChange total;
  lig_plan_comparison_get_total (comparison, LIG_PASS_JOINT, &total);
  g_autofree char *time = lig_plan_change_side_text (&total, FALSE);
  if (!time)
    return g_strdup (_ ("time unknown"));
  return g_steal_pointer (&time);
}

/* Returns `2 forward, 1 backward`. */
static char *
describe_groups (LigPlanComparison *comparison)
{
  guint forward = count_different (comparison, LIG_PASS_FORWARD);
  guint backward = count_different (comparison, LIG_PASS_BACKWARD);
  g_autofree char *first = g_strdup_printf (_ ("%u forward"), forward);
  g_autofree char *last = g_strdup_printf (_ ("%u backward"), backward);
  if (forward + backward == 0)
    return g_strdup (_ ("none"));
  return g_strjoin (", ", forward > 0 ? first : last, forward > 0 && backward > 0 ? last : NULL,
                    NULL);
}

/* Shows the rows in which the sequences differ; the comparison's report has all of them. */
static void
show_rows (LigFacts *facts, LigPlanComparison *comparison)
{
  static const char *const kinds[] = {N_ ("removed"), N_ ("added"), N_ ("changed")};
  g_autoptr (GPtrArray) changes = lig_row_change_list (comparison);
  g_autofree char *inputs = lig_row_change_inputs (comparison);
  if (inputs)
    lig_facts_add (facts, _ ("Input"), _ ("changed"), inputs);
  for (guint i = 0; i < MIN (changes->len, MAX_ROWS); i++) {
    const LigRowChange *change = changes->pdata[i];
    g_autofree char *place =
      g_strdup_printf ("%s %s", change->after ? change->after : change->before, change->op);
    lig_facts_add (facts, place, _ (kinds[change->kind]), *change->text ? change->text : NULL);
  }
  if (changes->len > MAX_ROWS)
    lig_facts_take (facts, _ ("Other rows"), lig_figure_count (changes->len - MAX_ROWS));
}

static void
show (LigCompared *self)
{
  gboolean pinned = lig_document_is_pinned (self->document);
  LigPlanComparison *comparison = lig_document_get_pinned (self->document);
  const char *name = lig_document_get_pinned_title (self->document);
  g_autofree char *title =
    name ? g_strdup_printf (_ ("Compared with %s"), name) : g_strdup (_ ("Compare"));
  gtk_label_set_text (self->title, title);
  lig_facts_begin (self->facts);
  if (comparison) {
    LigPlanChange total;
    lig_plan_comparison_get_total (comparison, LIG_PASS_JOINT, &total);
    g_autofree char *change = lig_plan_change_time_text (&total);
    g_autofree char *ratio = lig_plan_change_ratio_text (&total);
    g_autofree char *both = ratio ? g_strdup_printf ("%s, %s", change, ratio) : g_strdup (change);
    g_autofree char *detail = both ? g_strdup_printf (_ ("current: %s"), both) : NULL;
    g_autofree char *step = describe_step (comparison);
    g_autofree char *needed = lig_units_bytes (total.before.memory);
    g_autofree char *memory = lig_plan_change_memory_text (&total);
    g_autofree char *less = g_strdup_printf (_ ("current: %s"), memory);
    lig_facts_add (self->facts, lig_document_name_step (lig_document_get_plan (self->document)),
                   step, detail);
    lig_facts_add (self->facts, _ ("Memory"), needed, less);
    lig_facts_take (self->facts, _ ("Other groups"), describe_groups (comparison));
    show_rows (self->facts, comparison);
  }
  lig_facts_end (self->facts);
  gtk_widget_set_visible (self->pin, !pinned);
  gtk_widget_set_visible (GTK_WIDGET (self->devices), !pinned);
  gtk_widget_set_visible (self->unpin, pinned);
  gtk_widget_set_sensitive (self->pin, lig_document_get_plan (self->document) != NULL);
}

static void
fill_menu (LigCompared *self)
{
  guint count;
  g_autoptr (GMenu) menu = g_menu_new ();
  const LigDeviceEntry *entries =
    lig_session_get_devices (lig_document_get_session (self->document), &count);
  for (guint i = 0; i < count; i++) {
    g_autoptr (GMenuItem) item = g_menu_item_new (entries[i].title, NULL);
    g_menu_item_set_action_and_target (item, "compared.device", "s", entries[i].name);
    g_menu_append_item (menu, item);
  }
  gtk_menu_button_set_menu_model (self->devices, G_MENU_MODEL (menu));
}

/* --- Actions ------------------------------------------------------------------------------- */

static void
pin (GtkWidget *widget, const char *action, GVariant *target)
{
  lig_document_pin (LIG_COMPARED (widget)->document);
}

static void
unpin (GtkWidget *widget, const char *action, GVariant *target)
{
  lig_document_unpin (LIG_COMPARED (widget)->document);
}

static void
pin_device (GtkWidget *widget, const char *action, GVariant *target)
{
  const char *name = g_variant_get_string (target, NULL);
  lig_document_pin_device (LIG_COMPARED (widget)->document, name, name);
}

/* --- Construction -------------------------------------------------------------------------- */

static void
dispose (GObject *object)
{
  g_clear_object (&LIG_COMPARED (object)->document);
  G_OBJECT_CLASS (lig_compared_parent_class)->dispose (object);
}

static void
lig_compared_class_init (LigComparedClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);
  G_OBJECT_CLASS (class)->dispose = dispose;
  gtk_widget_class_install_action (widget_class, "compared.pin", NULL, pin);
  gtk_widget_class_install_action (widget_class, "compared.unpin", NULL, unpin);
  gtk_widget_class_install_action (widget_class, "compared.device", "s", pin_device);
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_GROUP);
}

static GtkWidget *
new_button (const char *label, const char *action, const char *tooltip)
{
  GtkWidget *button = gtk_button_new_with_label (label);
  gtk_actionable_set_action_name (GTK_ACTIONABLE (button), action);
  lig_tooltip_set (button, tooltip);
  return button;
}

static void
lig_compared_init (LigCompared *self)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 6);
  GtkWidget *buttons = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 6);
  self->title = GTK_LABEL (lig_inspector_label (NULL, "heading"));
  self->facts = LIG_FACTS (lig_facts_new (NULL));
  self->pin = new_button (_ ("Pin this plan"), "compared.pin",
                          _ ("Keep this plan to compare it with those of later edits (Ctrl+P)"));
  self->unpin = new_button (_ ("Unpin"), "compared.unpin", _ ("Stop comparing"));
  self->devices = GTK_MENU_BUTTON (gtk_menu_button_new ());
  gtk_menu_button_set_label (self->devices, _ ("Another device"));
  lig_tooltip_set (GTK_WIDGET (self->devices),
                   _ ("Pin the plan of this sequence for another device"));
  gtk_box_append (GTK_BOX (buttons), self->pin);
  gtk_box_append (GTK_BOX (buttons), GTK_WIDGET (self->devices));
  gtk_box_append (GTK_BOX (buttons), self->unpin);
  gtk_box_append (GTK_BOX (box), GTK_WIDGET (self->title));
  gtk_box_append (GTK_BOX (box), GTK_WIDGET (self->facts));
  gtk_box_append (GTK_BOX (box), buttons);
  adw_bin_set_child (ADW_BIN (self), box);
}

GtkWidget *
lig_compared_new (LigDocument *document)
{
  LigCompared *self = g_object_new (LIG_TYPE_COMPARED, NULL);
  self->document = g_object_ref (document);
  fill_menu (self);
  g_signal_connect_object (lig_document_get_session (document), "devices-changed",
                           G_CALLBACK (fill_menu), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "pinned", G_CALLBACK (show), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "planned", G_CALLBACK (show), self, G_CONNECT_SWAPPED);
  show (self);
  return GTK_WIDGET (self);
}
