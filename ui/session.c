/* SPDX-License-Identifier: MIT */
/* What all windows share. The devices are looked for on a thread: opening a GPU takes a while. */
#include "ui/session.h"

#include "engine/device.h"
#include "ui/settings.h"
#include "ui/training.h"

#include <glib/gi18n.h>

struct _LigSession {
  GObject parent_instance;
  LigStore *store;
  char *store_error;
  GSettings *settings;
  GArray *devices; /* of LigDeviceEntry */
  char *default_device;
  GListStore *trainings;
};

G_DEFINE_FINAL_TYPE (LigSession, lig_session, G_TYPE_OBJECT)

enum { STORE_CHANGED, DEVICES_CHANGED, N_SIGNALS };
static guint signals[N_SIGNALS];

static void
clear_entry (gpointer data)
{
  LigDeviceEntry *entry = data;
  g_free (entry->name);
  g_free (entry->title);
}

static GArray *
new_entries (void)
{
  GArray *entries = g_array_new (FALSE, TRUE, sizeof (LigDeviceEntry));
  g_array_set_clear_func (entries, clear_entry);
  return entries;
}

static void
lig_session_finalize (GObject *object)
{
  LigSession *self = LIG_SESSION (object);
  g_clear_object (&self->trainings);
  g_clear_object (&self->store);
  g_clear_object (&self->settings);
  g_array_unref (self->devices);
  g_free (self->store_error);
  g_free (self->default_device);
  G_OBJECT_CLASS (lig_session_parent_class)->finalize (object);
}

static void
lig_session_class_init (LigSessionClass *class)
{
  G_OBJECT_CLASS (class)->finalize = lig_session_finalize;
  signals[STORE_CHANGED] = g_signal_new ("store-changed", LIG_TYPE_SESSION, G_SIGNAL_RUN_LAST, 0,
                                         NULL, NULL, NULL, G_TYPE_NONE, 0);
  signals[DEVICES_CHANGED] = g_signal_new ("devices-changed", LIG_TYPE_SESSION, G_SIGNAL_RUN_LAST,
                                           0, NULL, NULL, NULL, G_TYPE_NONE, 0);
}

static void
add_entry (GArray *entries, const char *name, const char *facts_name)
{
  LigDeviceEntry entry = {.name = g_strdup (name), .runs = !g_str_has_prefix (name, "null")};
  if (g_str_equal (name, "cpu"))
    entry.title = g_strdup (_ ("This computer’s processor"));
  else if (entry.runs)
    entry.title = g_strdup_printf ("%s (%s)", facts_name, name);
  else
    entry.title = g_strdup_printf (_ ("%s, only planned for"), facts_name);
  g_array_append_val (entries, entry);
}

static void
lig_session_init (LigSession *self)
{
  self->devices = new_entries ();
  self->trainings = g_list_store_new (LIG_TYPE_TRAINING);
  self->default_device = g_strdup ("cpu");
  add_entry (self->devices, "cpu", NULL);
}

/* --- Devices ------------------------------------------------------------------------------- */

static void
find_devices (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  GArray *entries = new_entries ();
  g_auto (GStrv) names = lig_device_list ();
  for (char **name = names; *name; name++) {
    g_autoptr (LigDevice) device = lig_device_open (*name, NULL);
    if (device)
      add_entry (entries, *name, lig_device_get_facts (device)->name);
  }
  g_task_return_pointer (task, entries, (GDestroyNotify) g_array_unref);
}

static void
choose_default (LigSession *self)
{
  g_autofree char *wanted = g_settings_get_string (self->settings, "device");
  const char *chosen = NULL;
  for (guint i = 0; i < self->devices->len; i++) {
    const LigDeviceEntry *entry = &g_array_index (self->devices, LigDeviceEntry, i);
    if (g_str_equal (entry->name, wanted))
      chosen = entry->name;
    else if (!chosen && g_str_has_prefix (entry->name, "cuda:"))
      chosen = entry->name;
  }
  g_free (self->default_device);
  self->default_device = g_strdup (chosen ? chosen : "cpu");
}

static void
take_devices (GObject *source, GAsyncResult *result, gpointer data)
{
  LigSession *self = LIG_SESSION (source);
  g_array_unref (self->devices);
  self->devices = g_task_propagate_pointer (G_TASK (result), NULL);
  choose_default (self);
  g_signal_emit (self, signals[DEVICES_CHANGED], 0);
}

const LigDeviceEntry *
lig_session_get_devices (LigSession *self, guint *count)
{
  *count = self->devices->len;
  return (const LigDeviceEntry *) (gpointer) self->devices->data;
}

const char *
lig_session_get_default_device (LigSession *self)
{
  return self->default_device;
}

/* --- Construction -------------------------------------------------------------------------- */

LigSession *
lig_session_new (const char *store, GError **error)
{
  g_autoptr (GSettings) settings = lig_settings_open (error);
  if (!settings)
    return NULL;
  LigSession *self = g_object_new (LIG_TYPE_SESSION, NULL);
  g_autoptr (GError) refusal = NULL;
  self->settings = g_steal_pointer (&settings);
  g_autofree char *usual = g_settings_get_string (self->settings, "store");
  const char *path = store ? store : *usual && !g_getenv ("LIGATURE_STORE") ? usual : NULL;
  self->store = lig_store_open (path, &refusal);
  if (!self->store)
    self->store_error = g_strdup (refusal->message);
  g_autoptr (GTask) task = g_task_new (self, NULL, take_devices, NULL);
  g_task_run_in_thread (task, find_devices);
  return self;
}

gboolean
lig_session_open_store (LigSession *self, const char *path, GError **error)
{
  LigStore *store = lig_store_open (path, error);
  if (!store)
    return FALSE;
  g_clear_object (&self->store);
  g_clear_pointer (&self->store_error, g_free);
  self->store = store;
  g_settings_set_string (self->settings, "store", path ? path : "");
  g_signal_emit (self, signals[STORE_CHANGED], 0);
  return TRUE;
}

LigStore *
lig_session_get_store (LigSession *self)
{
  return self->store;
}

const char *
lig_session_get_store_error (LigSession *self)
{
  return self->store_error;
}

GSettings *
lig_session_get_settings (LigSession *self)
{
  return self->settings;
}

GListStore *
lig_session_get_trainings (LigSession *self)
{
  return self->trainings;
}
