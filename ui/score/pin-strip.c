/* SPDX-License-Identifier: MIT */
/* The line above the score while a plan is pinned. */
#include "ui/score/pin-strip.h"

#include "ui/document/pin.h"
#include "ui/score/compare-with.h"
#include "ui/session/task.h"
#include "ui/widgets/picture-view.h"
#include "ui/widgets/toast.h"
#include "ui/widgets/tooltip.h"
#include <ligature/draw.h>
#include <ligature/report.h>
#include <ligature/units.h>

#include <glib/gi18n.h>
#include <string.h>

struct _LigPinStrip {
  GtkWidget parent_instance;
  LigDocument *document;
  GtkBox *place;
  GPtrArray *hidden; /* children of @place that the comparison replaces */
  GtkMenuButton *pinned;
  GtkLabel *title, *text;
  GtkToggleButton *compare;
  GtkWidget *box, *sheet; /* with the picture */
  LigPictureView *picture;
};

G_DEFINE_FINAL_TYPE (LigPinStrip, lig_pin_strip, GTK_TYPE_WIDGET)

/* --- The picture --------------------------------------------------------------------------- */

static void
draw (LigCanvas *canvas, const LigColours *colours, double width, double height, gpointer data)
{
  LigDocument *document = data;
  LigPlanComparison *comparison = lig_document_get_pinned (document);
  if (comparison)
    lig_draw_comparison (canvas, colours, comparison, lig_document_get_pinned_title (document),
                         lig_document_get_present_title (document), width);
}

static double
get_height (gpointer data)
{
  LigPlanComparison *comparison = lig_document_get_pinned (data);
  return comparison ? lig_draw_comparison_height (comparison) : 0;
}

static GtkWidget *
new_picture (LigPinStrip *self)
{
  GtkWidget *window = gtk_scrolled_window_new ();
  GtkWidget *view = lig_picture_view_new (_ ("Both plans next to each other"), "comparison");
  GtkWidget *card = lig_picture_view_wrap (
    LIG_PICTURE_VIEW (view), _ ("Both plans next to each other"),
    _ ("Each rail shows the pinned plan on the left, the current one on the right"));
  self->picture = LIG_PICTURE_VIEW (view);
  gtk_widget_add_css_class (card, "pin-picture");
  gtk_widget_set_valign (card, GTK_ALIGN_START);
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (window), card);
  gtk_widget_set_vexpand (window, TRUE);
  return window;
}

/* --- Content ------------------------------------------------------------------------------- */

static guint
count_different (LigPlanComparison *comparison)
{
  guint count, different = 0;
  const LigPlanChange *changes = lig_plan_comparison_get_changes (comparison, &count);
  for (guint i = 0; i < count; i++)
    different += !changes[i].same;
  return different;
}

/* Returns `≈ 290 µs | NVIDIA H200 ≈ 106 µs (−184 µs, × 0.364, faster) · memory 3.20 GB (+1.10 GB) ·
 * the same groups`. */
static char *
describe (LigDocument *document)
{
  LigPlanChange total;
  LigPlanComparison *comparison = lig_document_get_pinned (document);
  if (!comparison)
    return g_strdup (_ ("there is no plan to compare with"));
  guint different = count_different (comparison);
  lig_plan_comparison_get_total (comparison, LIG_PASS_JOINT, &total);
  g_autofree char *before = lig_plan_change_side_text (&total, FALSE);
  g_autofree char *after = lig_plan_change_side_text (&total, TRUE);
  g_autofree char *change = lig_plan_change_time_text (&total);
  g_autoptr (GString) text = g_string_new (before ? before : "—");
  g_string_append_printf (text, " | %s %s", lig_document_get_present_title (document),
                          after ? after : "—");
  g_autofree char *ratio = lig_plan_change_ratio_text (&total);
  g_autofree char *needed = lig_units_bytes (total.after.memory);
  g_autofree char *memory = lig_plan_change_memory_text (&total);
  if (change)
    g_string_append_printf (text, " (%s%s%s)", change, ratio ? ", " : "", ratio ? ratio : "");
  g_string_append_printf (text, _ (" · memory %s (%s)"), needed, memory);
  g_autofree char *groups =
    different == 0
      ? g_strdup (_ ("the same groups"))
      : g_strdup_printf (ngettext ("%u group differs", "%u groups differ", different), different);
  g_string_append_printf (text, " · %s", groups);
  return g_strdup (text->str);
}

static void
fill_menu (LigPinStrip *self)
{
  guint count;
  g_autoptr (GMenu) menu = g_menu_new (), devices = g_menu_new ();
  const LigDeviceEntry *entries =
    lig_session_get_devices (lig_document_get_session (self->document), &count);
  g_menu_append (menu, _ ("The current plan"), "pin.present");
  g_menu_append (menu, _ ("Another sequence…"), "pin.file");
  for (guint i = 0; i < count; i++) {
    g_autoptr (GMenuItem) item = g_menu_item_new (entries[i].title, NULL);
    g_menu_item_set_action_and_target (item, "pin.device", "s", entries[i].name);
    g_menu_append_item (devices, item);
  }
  g_menu_append_section (menu, _ ("The current sequence on"), G_MENU_MODEL (devices));
  gtk_menu_button_set_menu_model (self->pinned, G_MENU_MODEL (menu));
}

static void
update (LigPinStrip *self)
{
  gboolean pinned = lig_document_is_pinned (self->document);
  const char *title = lig_document_get_pinned_title (self->document);
  g_autofree char *text = pinned ? describe (self->document) : NULL;
  LigPlanComparison *comparison = lig_document_get_pinned (self->document);
  LigPlanChange total = {0};
  if (comparison)
    lig_plan_comparison_get_total (comparison, LIG_PASS_JOINT, &total);
  gboolean cost = lig_plan_change_get_sign (&total) > 0;
  gtk_widget_set_visible (GTK_WIDGET (self), pinned);
  gtk_label_set_text (self->text, text ? text : "");
  lig_tooltip_set (GTK_WIDGET (self->text), text);
  (cost ? gtk_widget_add_css_class : gtk_widget_remove_css_class) (GTK_WIDGET (self->text), "cost");
  gtk_label_set_text (self->title, title ? title : _ ("Pinned"));
  if (!pinned)
    gtk_toggle_button_set_active (self->compare, FALSE);
  gtk_widget_queue_resize (GTK_WIDGET (self->picture));
  lig_picture_view_redraw (self->picture);
}

/* Both plans replace the score, which is kept unchanged. */
static void
follow_compare (LigPinStrip *self)
{
  gboolean comparing = gtk_toggle_button_get_active (self->compare);
  for (guint i = 0; i < self->hidden->len; i++)
    gtk_widget_set_visible (self->hidden->pdata[i], TRUE);
  g_ptr_array_set_size (self->hidden, 0);
  gtk_widget_set_visible (self->sheet, comparing);
  for (GtkWidget *child = gtk_widget_get_first_child (GTK_WIDGET (self->place)); child;
       child = gtk_widget_get_next_sibling (child))
    if (comparing && child != self->sheet && child != GTK_WIDGET (self) &&
        gtk_widget_get_visible (child)) {
      g_ptr_array_add (self->hidden, g_object_ref (child));
      gtk_widget_set_visible (child, FALSE);
    }
}

/* --- Saving -------------------------------------------------------------------------------- */

typedef struct {
  LigPlanComparison *comparison;
  char *before, *after, *path;
} Saving;

static void
free_saving (gpointer data)
{
  Saving *saving = data;
  lig_plan_comparison_unref (saving->comparison);
  g_free (saving->before);
  g_free (saving->after);
  g_free (saving->path);
  g_free (saving);
}

static void
write_report (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  const Saving *saving = data;
  GError *error = NULL;
  if (lig_report_write_comparison (saving->comparison, saving->before, saving->after, saving->path,
                                   &error))
    g_task_return_boolean (task, TRUE);
  else
    g_task_return_error (task, error);
}

static void
saved (GObject *source, GAsyncResult *result, gpointer data)
{
  GError *error = NULL;
  const Saving *saving = g_task_get_task_data (G_TASK (result));
  if (!g_task_propagate_boolean (G_TASK (result), &error)) {
    lig_toast_error (GTK_WIDGET (source), error);
    return;
  }
  lig_toast_exported (GTK_WIDGET (source), saving->path);
}

static void
save_to (LigPinStrip *self, const char *path)
{
  LigPlanComparison *comparison = lig_document_get_pinned (self->document);
  if (!comparison)
    return;
  Saving *saving = g_new0 (Saving, 1);
  saving->comparison = lig_plan_comparison_ref (comparison);
  saving->before = g_strdup (lig_document_get_pinned_title (self->document));
  saving->after = g_strdup (lig_document_get_present_title (self->document));
  saving->path = g_canonicalize_filename (path, NULL);
  g_autoptr (GTask) task = g_task_new (self, NULL, saved, NULL);
  g_task_set_task_data (task, saving, free_saving);
  lig_task_run (task, write_report);
}

static void
take_file (GtkNativeDialog *dialog, int response, LigPinStrip *self)
{
  g_autoptr (GFile) file = gtk_file_chooser_get_file (GTK_FILE_CHOOSER (dialog));
  g_autofree char *path = file ? g_file_get_path (file) : NULL;
  if (response == GTK_RESPONSE_ACCEPT && path)
    save_to (self, path);
  g_object_unref (dialog);
}

static void
add_filters (GtkFileChooser *chooser)
{
  static const char *const formats[] = {"html", "md", "svg", "pdf", "png", "json", "csv"};
  for (guint i = 0; i < G_N_ELEMENTS (formats); i++) {
    g_autoptr (GtkFileFilter) filter = gtk_file_filter_new ();
    gtk_file_filter_set_name (filter, _ (lig_report_format_title (formats[i])));
    gtk_file_filter_add_suffix (filter, formats[i]);
    gtk_file_chooser_add_filter (chooser, filter);
  }
}

static void
choose_file (GtkWidget *widget, const char *action, GVariant *target)
{
  LigPinStrip *self = LIG_PIN_STRIP (widget);
  g_autofree char *title = lig_document_get_title (self->document);
  g_autofree char *name = g_strdup_printf (_ ("%s compared.html"), g_strdelimit (title, "/", '-'));
  GtkFileChooserNative *dialog = gtk_file_chooser_native_new (
    _ ("Save the comparison as a report"), GTK_WINDOW (gtk_widget_get_root (widget)),
    GTK_FILE_CHOOSER_ACTION_SAVE, _ ("_Save"), _ ("_Cancel"));
  gtk_file_chooser_set_current_name (GTK_FILE_CHOOSER (dialog), name);
  gtk_native_dialog_set_modal (GTK_NATIVE_DIALOG (dialog), TRUE);
  add_filters (GTK_FILE_CHOOSER (dialog));
  g_signal_connect_object (dialog, "response", G_CALLBACK (take_file), self, 0);
  gtk_native_dialog_show (GTK_NATIVE_DIALOG (dialog));
}

/* --- Actions ------------------------------------------------------------------------------- */

static void
save_to_path (GtkWidget *widget, const char *action, GVariant *target)
{
  save_to (LIG_PIN_STRIP (widget), g_variant_get_string (target, NULL));
}

static void
toggle_compare (GtkWidget *widget, const char *action, GVariant *target)
{
  LigPinStrip *self = LIG_PIN_STRIP (widget);
  gtk_toggle_button_set_active (self->compare, !gtk_toggle_button_get_active (self->compare));
}

static void
pin_device (GtkWidget *widget, const char *action, GVariant *target)
{
  guint count;
  LigPinStrip *self = LIG_PIN_STRIP (widget);
  const char *name = g_variant_get_string (target, NULL);
  const LigDeviceEntry *entries =
    lig_session_get_devices (lig_document_get_session (self->document), &count);
  for (guint i = 0; i < count; i++)
    if (g_str_equal (entries[i].name, name))
      lig_document_pin_device (self->document, name, entries[i].title);
}

static void
pin_present (GtkWidget *widget, const char *action, GVariant *target)
{
  LigPinStrip *self = LIG_PIN_STRIP (widget);
  lig_document_pin (self->document);
}

static void
pin_file (GtkWidget *widget, const char *action, GVariant *target)
{
  lig_compare_with_choose (widget, LIG_PIN_STRIP (widget)->document);
}

static void
unpin (GtkWidget *widget, const char *action, GVariant *target)
{
  lig_document_unpin (LIG_PIN_STRIP (widget)->document);
}

/* --- Construction -------------------------------------------------------------------------- */

static void
dispose (GObject *object)
{
  LigPinStrip *self = LIG_PIN_STRIP (object);
  g_clear_pointer (&self->box, gtk_widget_unparent);
  g_clear_object (&self->document);
  g_clear_pointer (&self->hidden, g_ptr_array_unref);
  G_OBJECT_CLASS (lig_pin_strip_parent_class)->dispose (object);
}

static void
lig_pin_strip_class_init (LigPinStripClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);
  G_OBJECT_CLASS (class)->dispose = dispose;
  gtk_widget_class_set_layout_manager_type (widget_class, GTK_TYPE_BIN_LAYOUT);
  gtk_widget_class_set_css_name (widget_class, "pinstrip");
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_GROUP);
  gtk_widget_class_install_action (widget_class, "pin.compare", NULL, toggle_compare);
  gtk_widget_class_install_action (widget_class, "pin.save", NULL, choose_file);
  gtk_widget_class_install_action (widget_class, "pin.save-to", "s", save_to_path);
  gtk_widget_class_install_action (widget_class, "pin.device", "s", pin_device);
  gtk_widget_class_install_action (widget_class, "pin.present", NULL, pin_present);
  gtk_widget_class_install_action (widget_class, "pin.file", NULL, pin_file);
  gtk_widget_class_install_action (widget_class, "pin.remove", NULL, unpin);
}

static GtkWidget *
add_icon_button (LigPinStrip *self, const char *icon, const char *label, const char *action)
{
  GtkWidget *button = gtk_button_new_from_icon_name (icon);
  gtk_actionable_set_action_name (GTK_ACTIONABLE (button), action);
  lig_tooltip_set (button, label);
  gtk_accessible_update_property (GTK_ACCESSIBLE (button), GTK_ACCESSIBLE_PROPERTY_LABEL, label,
                                  -1);
  gtk_widget_add_css_class (button, "flat");
  gtk_box_append (GTK_BOX (self->box), button);
  return button;
}

static void
lig_pin_strip_init (LigPinStrip *self)
{
  GtkWidget *icon = gtk_image_new_from_icon_name ("view-pin-symbolic");
  self->box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 6);
  self->hidden = g_ptr_array_new_with_free_func (g_object_unref);
  self->pinned = GTK_MENU_BUTTON (gtk_menu_button_new ());
  self->text =
    g_object_new (GTK_TYPE_LABEL, "accessible-role", GTK_ACCESSIBLE_ROLE_STATUS, "ellipsize",
                  PANGO_ELLIPSIZE_END, "xalign", 0.0, "hexpand", TRUE, NULL);
  self->compare = GTK_TOGGLE_BUTTON (gtk_toggle_button_new_with_label (_ ("Compare")));
  self->title = GTK_LABEL (gtk_label_new (NULL));
  gtk_label_set_ellipsize (self->title, PANGO_ELLIPSIZE_END);
  gtk_label_set_max_width_chars (self->title, 22);
  gtk_menu_button_set_child (self->pinned, GTK_WIDGET (self->title));
  gtk_menu_button_set_always_show_arrow (self->pinned, TRUE);
  gtk_widget_set_parent (self->box, GTK_WIDGET (self));
  gtk_widget_add_css_class (GTK_WIDGET (self->pinned), "flat");
  lig_tooltip_set (GTK_WIDGET (self->pinned), _ ("Pinned plan: choose another"));
  lig_tooltip_set (GTK_WIDGET (self->compare),
                   _ ("Show both plans next to each other and highlight the differences"));
  gtk_box_append (GTK_BOX (self->box), icon);
  gtk_box_append (GTK_BOX (self->box), GTK_WIDGET (self->pinned));
  gtk_box_append (GTK_BOX (self->box), gtk_separator_new (GTK_ORIENTATION_VERTICAL));
  gtk_box_append (GTK_BOX (self->box), GTK_WIDGET (self->text));
  gtk_box_append (GTK_BOX (self->box), GTK_WIDGET (self->compare));
  add_icon_button (self, "document-save-symbolic", _ ("Save the comparison as a report"),
                   "pin.save");
  add_icon_button (self, "window-close-symbolic", _ ("Unpin the plan"), "pin.remove");
}

LigPinStrip *
lig_pin_strip_attach (GtkBox *place, LigDocument *document)
{
  LigPinStrip *self = g_object_new (LIG_TYPE_PIN_STRIP, NULL);
  self->document = g_object_ref (document);
  self->place = place;
  self->sheet = new_picture (self);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Pinned plan"), -1);
  lig_picture_view_set_picture (self->picture, draw, get_height, 0, g_object_ref (document),
                                g_object_unref);
  gtk_box_prepend (place, GTK_WIDGET (self));
  gtk_box_append (place, self->sheet);
  gtk_widget_set_visible (self->sheet, FALSE);
  fill_menu (self);
  g_signal_connect_object (self->compare, "toggled", G_CALLBACK (follow_compare), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (lig_document_get_session (document), "devices-changed",
                           G_CALLBACK (fill_menu), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "pinned", G_CALLBACK (update), self, G_CONNECT_SWAPPED);
  update (self);
  return self;
}

gboolean
lig_pin_strip_is_comparing (LigPinStrip *self)
{
  return gtk_toggle_button_get_active (self->compare);
}

const char *
lig_pin_strip_get_text (LigPinStrip *self)
{
  return gtk_label_get_text (self->text);
}
