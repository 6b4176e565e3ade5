/* SPDX-License-Identifier: MIT */
/* The session is shared by all windows: the store, the settings, the devices of this machine, the
 * runs in progress. */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

typedef struct _LigStore LigStore;

#define LIG_TYPE_SESSION (lig_session_get_type ())
G_DECLARE_FINAL_TYPE (LigSession, lig_session, LIG, SESSION, GObject)

/**
 * lig_session_new:
 * @store: (nullable): a database file; null for that of the setting, else the default
 *
 * Returns: (transfer full): a session, even if the store cannot be opened; %NULL with an error if
 *   the settings' schema is missing.
 *
 * Signals: `store-changed` when another store was opened. `devices-changed` when the list of
 * devices is known; until then, it contains only the CPU.
 */
LigSession *lig_session_new (const char *store, GError **error);

/* Returns: (nullable): null if the store could not be opened; the third function then returns the
 *   error's sentence. */
LigStore *lig_session_get_store (LigSession *self);
const char *lig_session_get_store_path (LigSession *self);
const char *lig_session_get_store_error (LigSession *self);

/* Opens another store, or reopens the current one, and on success writes the setting `store`. Fails
 * if the store does not respond soon; `store-changed` is emitted once it does. */
gboolean lig_session_open_store (LigSession *self, const char *path, GError **error);

/* Tries the last path again. */
gboolean lig_session_reopen_store (LigSession *self, GError **error);

/* Returns the settings, never null. Their keys are documented in
 * data/org.ligature.Ligature.gschema.xml. */
GSettings *lig_session_get_settings (LigSession *self);

/**
 * LigDeviceEntry: a device that can be chosen.
 *
 * @name: as lig_device_open() takes it
 * @title: `NVIDIA H200 (cuda:0)`, `This computer's CPU`, `NVIDIA H200, plan only`
 * @runs: whether plans run on it; a described device is plan-only
 */
typedef struct {
  char *name, *title;
  gboolean runs;
} LigDeviceEntry;

/* Returns: (transfer none): the devices. A thread finds them, because opening a GPU takes a
 * while. */
const LigDeviceEntry *lig_session_get_devices (LigSession *self, guint *count);

/* Returns: (transfer full): the title of a device: @name as in LigDeviceEntry, @facts_name
 *   (nullable for a CPU) as in its facts. */
char *lig_session_name_device (const char *name, const char *facts_name);

/* Returns the title of a device, or @name where the device is missing. */
const char *lig_session_get_device_title (LigSession *self, const char *name);

/* Returns: (transfer full): `TEXT · 2 ranks`; only the text for one. */
char *lig_session_append_ranks (const char *text, int ranks);

/* Returns: (transfer full): the title of a device on which this many processes train, each with
 * such a GPU: `2 × NVIDIA H200 (cuda:0)`, `This computer's CPU · 2 ranks`. */
char *lig_session_title_ranks (LigSession *self, const char *name, int ranks);

/* Returns the device of new documents: the setting's, else the first GPU, else `cpu`. */
const char *lig_session_get_default_device (LigSession *self);

/* Returns the training runs of this program, running and ended, of type LigTraining, newest
 * first. */
GListStore *lig_session_get_trainings (LigSession *self);

G_END_DECLS
