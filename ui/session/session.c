/* SPDX-License-Identifier: MIT */
/* A thread finds the devices, because opening a GPU takes a while. The store is also opened on a
 * thread, because another program may have locked it. */
#include "ui/session/session.h"

#include "ui/session/settings.h"
#include "ui/session/task.h"
#include <ligature/device.h>
#include <ligature/purge.h>
#include <ligature/store.h>

#include <glib/gi18n.h>

/* The time that a window waits for its store; most open within a few milliseconds. */
#define MAX_WAIT_MS 250

struct _LigSession {
  GObject parent_instance;
  LigStore *store;
  char *store_path; /* (nullable): the path of the last request */
  char *store_error;
  guint store_serial;
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
  g_free (self->store_path);
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

char *
lig_session_name_device (const char *name, const char *facts_name)
{
  if (lig_device_name_has (name, LIG_DEVICE_DESCRIBED))
    return g_strdup_printf (_ ("%s, plan only"), facts_name);
  if (lig_device_name_has (name, LIG_DEVICE_ACCELERATOR))
    return g_strdup_printf ("%s (%s)", facts_name, name);
  return g_strdup (_ ("This computer’s CPU"));
}

static void
add_entry (GArray *entries, const char *name, const char *facts_name)
{
  LigDeviceEntry entry = {.name = g_strdup (name),
                          .title = lig_session_name_device (name, facts_name),
                          .runs = !lig_device_name_has (name, LIG_DEVICE_DESCRIBED)};
  g_array_append_val (entries, entry);
}

static void
lig_session_init (LigSession *self)
{
  self->devices = new_entries ();
  /* Of LigTraining, which needs a session. */
  self->trainings = g_list_store_new (G_TYPE_OBJECT);
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
    else if (!chosen && lig_device_name_has (entry->name, LIG_DEVICE_ACCELERATOR))
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
lig_session_get_device_title (LigSession *self, const char *name)
{
  for (guint i = 0; i < self->devices->len; i++) {
    const LigDeviceEntry *entry = &g_array_index (self->devices, LigDeviceEntry, i);
    if (g_strcmp0 (entry->name, name) == 0)
      return entry->title;
  }
  return name;
}

char *
lig_session_append_ranks (const char *text, int ranks)
{
  return ranks < 2 ? g_strdup (text)
                   : g_strdup_printf (ngettext ("%s · %d rank", "%s · %d ranks", (gulong) ranks),
                                      text, ranks);
}

char *
lig_session_title_ranks (LigSession *self, const char *name, int ranks)
{
  const char *title = lig_session_get_device_title (self, name);
  gboolean own = lig_device_name_has (name, LIG_DEVICE_ACCELERATOR) ||
                 lig_device_name_has (name, LIG_DEVICE_DESCRIBED);
  return own && ranks > 1 ? g_strdup_printf ("%d × %s", ranks, title)
                          : lig_session_append_ranks (title, ranks);
}

const char *
lig_session_get_default_device (LigSession *self)
{
  return self->default_device;
}

/* --- The store ----------------------------------------------------------------------------- */

typedef struct {
  char *path;
  guint serial;
  gboolean keep; /* whether it is the path in the setting */
  GMutex lock;
  GCond opened;
  gboolean done, taken;
  LigStore *store;
  GError *error;
} Opening;

static void
free_opening (gpointer data)
{
  Opening *opening = data;
  g_mutex_clear (&opening->lock);
  g_cond_clear (&opening->opened);
  g_clear_object (&opening->store);
  g_clear_error (&opening->error);
  g_free (opening->path);
  g_free (opening);
}

/* Deletes the runs that have been in the trash for too long; what fails is tried again next time.
 */
static void
purge_expired (LigStore *store)
{
  gint64 before = g_get_real_time () - LIG_TRASH_DAYS * G_TIME_SPAN_DAY;
  g_auto (GStrv) runs = lig_store_list_trash (store, before, NULL);
  if (runs && *runs)
    lig_purge_runs (store, (const char *const *) runs, g_strv_length (runs), NULL);
}

static void
open_on_thread (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  Opening *opening = data;
  GError *error = NULL;
  g_autoptr (LigStore) store = lig_store_open (opening->path, &error);
  g_mutex_lock (&opening->lock);
  opening->store = store ? g_object_ref (store) : NULL;
  opening->error = error;
  opening->done = TRUE;
  g_cond_signal (&opening->opened);
  g_mutex_unlock (&opening->lock);
  g_task_return_boolean (task, TRUE);
  /* The window does not wait for this. */
  if (store)
    purge_expired (store);
}

/* The open store stays if another one cannot be opened. */
static gboolean
take_store (LigSession *self, Opening *opening, GError **error)
{
  opening->taken = TRUE;
  if (!opening->store) {
    if (!self->store) {
      g_free (self->store_error);
      self->store_error = g_strdup (opening->error->message);
    }
    g_propagate_error (error, g_steal_pointer (&opening->error));
    return FALSE;
  }
  g_clear_object (&self->store);
  g_clear_pointer (&self->store_error, g_free);
  self->store = g_steal_pointer (&opening->store);
  if (opening->keep)
    g_settings_set_string (self->settings, "store", opening->path ? opening->path : "");
  return TRUE;
}

/* The window has continued without a store; a later request takes precedence. */
static void
take_late_store (GObject *source, GAsyncResult *result, gpointer data)
{
  LigSession *self = LIG_SESSION (source);
  Opening *opening = g_task_get_task_data (G_TASK (result));
  g_autoptr (GError) error = NULL;
  if (opening->taken || opening->serial != self->store_serial)
    return;
  if (take_store (self, opening, &error) || !self->store)
    g_signal_emit (self, signals[STORE_CHANGED], 0);
}

static gboolean
wait_for_store (Opening *opening)
{
  gint64 end = g_get_monotonic_time () + MAX_WAIT_MS * G_TIME_SPAN_MILLISECOND;
  g_mutex_lock (&opening->lock);
  while (!opening->done && g_cond_wait_until (&opening->opened, &opening->lock, end))
    ;
  gboolean done = opening->done;
  g_mutex_unlock (&opening->lock);
  return done;
}

static gboolean
open_store (LigSession *self, const char *path, gboolean keep, GError **error)
{
  Opening *opening = g_new0 (Opening, 1);
  g_mutex_init (&opening->lock);
  g_cond_init (&opening->opened);
  opening->path = g_strdup (path);
  opening->keep = keep;
  opening->serial = ++self->store_serial;
  g_autoptr (GTask) task = g_task_new (self, NULL, take_late_store, NULL);
  g_task_set_task_data (task, opening, free_opening);
  lig_task_run (task, open_on_thread);
  if (wait_for_store (opening))
    return take_store (self, opening, error);
  g_set_error_literal (error, LIG_ERROR, LIG_ERROR_STORE,
                       _ ("the store is not responding; another program may be using it; it opens "
                          "as soon as it responds"));
  return FALSE;
}

gboolean
lig_session_open_store (LigSession *self, const char *path, GError **error)
{
  if (!open_store (self, path, TRUE, error))
    return FALSE;
  g_free (self->store_path);
  self->store_path = g_strdup (path);
  g_signal_emit (self, signals[STORE_CHANGED], 0);
  return TRUE;
}

gboolean
lig_session_reopen_store (LigSession *self, GError **error)
{
  if (!open_store (self, self->store_path, FALSE, error))
    return FALSE;
  g_signal_emit (self, signals[STORE_CHANGED], 0);
  return TRUE;
}

/* --- Construction -------------------------------------------------------------------------- */

LigSession *
lig_session_new (const char *store, GError **error)
{
  g_autoptr (GSettings) settings = lig_settings_open (error);
  if (!settings)
    return NULL;
  LigSession *self = g_object_new (LIG_TYPE_SESSION, NULL);
  g_autoptr (GError) rejection = NULL;
  self->settings = g_steal_pointer (&settings);
  g_autofree char *usual = g_settings_get_string (self->settings, "store");
  const char *path = store ? store : *usual && !g_getenv ("LIGATURE_STORE") ? usual : NULL;
  self->store_path = g_strdup (path);
  if (!open_store (self, path, FALSE, &rejection) && !self->store_error)
    self->store_error = g_strdup (rejection->message);
  g_autoptr (GTask) task = g_task_new (self, NULL, take_devices, NULL);
  lig_task_run (task, find_devices);
  return self;
}

LigStore *
lig_session_get_store (LigSession *self)
{
  return self->store;
}

const char *
lig_session_get_store_path (LigSession *self)
{
  return self->store ? lig_store_get_path (self->store) : NULL;
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
