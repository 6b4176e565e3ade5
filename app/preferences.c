/* SPDX-License-Identifier: MIT */
/* Preferences are written to the settings immediately. */
#include "app/preferences.h"
#include <ligature/store.h>

#include <glib/gi18n.h>

struct _LigPreferences {
  AdwPreferencesWindow parent_instance;
  LigSession *session;
  AdwComboRow *theme, *device, *policy;
  AdwActionRow *store;
  GtkSwitch *reopen;
  gboolean filling; /* the list of devices is being filled */
};

G_DEFINE_FINAL_TYPE (LigPreferences, lig_preferences, ADW_TYPE_PREFERENCES_WINDOW)

static void
toast (LigPreferences *self, const char *text)
{
  g_autofree char *markup = g_markup_escape_text (text, -1);
  adw_preferences_window_add_toast (ADW_PREFERENCES_WINDOW (self), adw_toast_new (markup));
}

/* --- Short choices --------------------------------------------------------------------- */

static void
take_theme (LigPreferences *self)
{
  g_settings_set_enum (lig_session_get_settings (self->session), "theme",
                       (int) adw_combo_row_get_selected (self->theme));
}

static void
take_policy (LigPreferences *self)
{
  g_settings_set_enum (lig_session_get_settings (self->session), "policy",
                       (int) adw_combo_row_get_selected (self->policy));
}

/* --- Devices ------------------------------------------------------------------------------- */

/* The first entry leaves the choice to the program. The devices follow, then the device that is set
 * if it is missing. */
static void
fill_devices (LigPreferences *self)
{
  guint count, selected = 0;
  const LigDeviceEntry *devices = lig_session_get_devices (self->session, &count);
  g_autofree char *wanted =
    g_settings_get_string (lig_session_get_settings (self->session), "device");
  g_autoptr (GtkStringList) list = gtk_string_list_new (NULL);
  gtk_string_list_append (list, _ ("The first GPU that works, else the CPU"));
  for (guint i = 0; i < count; i++) {
    gtk_string_list_append (list, devices[i].title);
    if (g_str_equal (devices[i].name, wanted))
      selected = i + 1;
  }
  if (*wanted && selected == 0) {
    g_autofree char *missing = g_strdup_printf (_ ("%s, not available now"), wanted);
    gtk_string_list_append (list, missing);
    selected = count + 1;
  }
  self->filling = TRUE;
  adw_combo_row_set_model (self->device, G_LIST_MODEL (list));
  adw_combo_row_set_selected (self->device, selected);
  self->filling = FALSE;
}

static void
take_device (LigPreferences *self)
{
  guint count, selected = adw_combo_row_get_selected (self->device);
  const LigDeviceEntry *devices = lig_session_get_devices (self->session, &count);
  if (!self->filling && selected <= count)
    g_settings_set_string (lig_session_get_settings (self->session), "device",
                           selected > 0 ? devices[selected - 1].name : "");
}

/* --- The store ----------------------------------------------------------------------------- */

static void
show_store (LigPreferences *self)
{
  LigStore *store = lig_session_get_store (self->session);
  const char *text =
    store ? lig_store_get_path (store) : lig_session_get_store_error (self->session);
  g_autofree char *markup = g_markup_escape_text (text ? text : "", -1);
  g_autofree char *set = g_settings_get_string (lig_session_get_settings (self->session), "store");
  adw_action_row_set_subtitle (self->store, markup);
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "preferences.reset-store", *set != '\0');
}

static void
open_store (LigPreferences *self, const char *path)
{
  g_autoptr (GError) error = NULL;
  if (!lig_session_open_store (self->session, path, &error))
    toast (self, error->message);
}

static void
take_chosen (GtkNativeDialog *chooser, int response, LigPreferences *self)
{
  g_autoptr (GFile) file = gtk_file_chooser_get_file (GTK_FILE_CHOOSER (chooser));
  g_autofree char *path = file ? g_file_get_path (file) : NULL;
  if (response == GTK_RESPONSE_ACCEPT && path)
    open_store (self, path);
  gtk_native_dialog_destroy (chooser);
  g_object_unref (chooser);
}

/* The same chooser opens an existing store or names a new one; it does not overwrite anything. */
static void
choose_store (GtkWidget *widget, const char *action, GVariant *parameter)
{
  GtkFileChooserNative *chooser = gtk_file_chooser_native_new (
    _ ("Choose a store"), GTK_WINDOW (widget), GTK_FILE_CHOOSER_ACTION_SAVE, _ ("_Use"), NULL);
  gtk_file_chooser_set_current_name (GTK_FILE_CHOOSER (chooser), "ligature.db");
  gtk_native_dialog_set_modal (GTK_NATIVE_DIALOG (chooser), TRUE);
  g_signal_connect_object (chooser, "response", G_CALLBACK (take_chosen), widget, 0);
  gtk_native_dialog_show (GTK_NATIVE_DIALOG (chooser));
}

static void
reset_store (GtkWidget *widget, const char *action, GVariant *parameter)
{
  open_store (LIG_PREFERENCES (widget), NULL);
}

/* --- Construction -------------------------------------------------------------------------- */

static void
lig_preferences_dispose (GObject *object)
{
  gtk_widget_dispose_template (GTK_WIDGET (object), LIG_TYPE_PREFERENCES);
  g_clear_object (&LIG_PREFERENCES (object)->session);
  G_OBJECT_CLASS (lig_preferences_parent_class)->dispose (object);
}

static void
lig_preferences_class_init (LigPreferencesClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);
  G_OBJECT_CLASS (class)->dispose = lig_preferences_dispose;
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/org/ligature/Ligature/app/preferences.ui");
  gtk_widget_class_bind_template_child (widget_class, LigPreferences, theme);
  gtk_widget_class_bind_template_child (widget_class, LigPreferences, device);
  gtk_widget_class_bind_template_child (widget_class, LigPreferences, policy);
  gtk_widget_class_bind_template_child (widget_class, LigPreferences, store);
  gtk_widget_class_bind_template_child (widget_class, LigPreferences, reopen);
  gtk_widget_class_install_action (widget_class, "preferences.choose-store", NULL, choose_store);
  gtk_widget_class_install_action (widget_class, "preferences.reset-store", NULL, reset_store);
}

static void
lig_preferences_init (LigPreferences *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
}

GtkWidget *
lig_preferences_new (LigSession *session)
{
  LigPreferences *self = g_object_new (LIG_TYPE_PREFERENCES, NULL);
  GSettings *settings = lig_session_get_settings (session);
  self->session = g_object_ref (session);
  adw_combo_row_set_selected (self->theme, (guint) g_settings_get_enum (settings, "theme"));
  adw_combo_row_set_selected (self->policy, (guint) g_settings_get_enum (settings, "policy"));
  g_settings_bind (settings, "reopen", self->reopen, "active", G_SETTINGS_BIND_DEFAULT);
  fill_devices (self);
  show_store (self);
  g_signal_connect_swapped (self->theme, "notify::selected", G_CALLBACK (take_theme), self);
  g_signal_connect_swapped (self->policy, "notify::selected", G_CALLBACK (take_policy), self);
  g_signal_connect_swapped (self->device, "notify::selected", G_CALLBACK (take_device), self);
  g_signal_connect_object (session, "devices-changed", G_CALLBACK (fill_devices), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (session, "store-changed", G_CALLBACK (show_store), self,
                           G_CONNECT_SWAPPED);
  return GTK_WIDGET (self);
}
