/* SPDX-License-Identifier: MIT */
/* What all windows share: the store, the settings, the devices of this machine, the trainings that
 * are under way. */
#pragma once

#include <ligature/store.h>

#include <gio/gio.h>

G_BEGIN_DECLS

#define LIG_TYPE_SESSION (lig_session_get_type ())
G_DECLARE_FINAL_TYPE (LigSession, lig_session, LIG, SESSION, GObject)

/**
 * lig_session_new:
 * @store: (nullable): a database file; null for the setting's, else the usual one
 *
 * Returns: (transfer full): a session, also where the store does not open; %NULL with an error
 * where the settings' schema is missing.
 *
 * Signals: `store-changed` when another store was opened. `devices-changed` when the list of
 * devices is known; until then it holds the CPU and the shipped profiles.
 */
LigSession *lig_session_new (const char *store, GError **error);

/* (nullable): null where the store could not be opened; the error's sentence then says why. */
LigStore *lig_session_get_store (LigSession *self);
const char *lig_session_get_store_error (LigSession *self);

/* Opens another store, or the same again, and writes the setting `store` where it opened. Where the
 * store does not answer soon, this fails, and `store-changed` comes when it does. */
gboolean lig_session_open_store (LigSession *self, const char *path, GError **error);

/* Tries again what was tried last. */
gboolean lig_session_reopen_store (LigSession *self, GError **error);

/* Never null. Keys stand in data/org.ligature.Ligature.gschema.xml. */
GSettings *lig_session_get_settings (LigSession *self);

/**
 * LigDeviceEntry: a device that can be chosen.
 *
 * @name: as lig_device_open() takes it
 * @title: `NVIDIA H200 (cuda:0)`, `This computer's processor`, `H200, not here`
 * @runs: whether plans run on it; a profile only plans
 */
typedef struct {
  char *name, *title;
  gboolean runs;
} LigDeviceEntry;

/* Found on a thread, as opening a GPU takes a while. (transfer none) */
const LigDeviceEntry *lig_session_get_devices (LigSession *self, guint *count);

/* The name to begin with: the setting's, else the first GPU, else `cpu`. */
const char *lig_session_get_default_device (LigSession *self);

/* Trainings under way or ended while this program ran, of type LigTraining, newest first. */
GListStore *lig_session_get_trainings (LigSession *self);

G_END_DECLS
