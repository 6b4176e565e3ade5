/* SPDX-License-Identifier: MIT */
/* The table of a backend: one constant in each file that meson.build lists. Code outside this
 * folder checks a device's traits, never which backend it belongs to. */
#pragma once

#include "engine/device/device-private.h"

/* The form of the part of a device's name after the colon. */
typedef enum {
  LIG_TAKES_NOTHING, /* `cpu` */
  LIG_TAKES_NUMBER,  /* `cuda:1`; `cuda` alone is `cuda:0` */
  LIG_TAKES_WORD     /* `null:h200`; the word is optional */
} LigTakes;

typedef struct {
  LigBackendInfo info;
  LigBackendKind kind; /* index of its functions in LigKernel */
  LigTakes takes;

  /* For a backend in a module, ligature-NAME.so: the driver library that must exist before the
   * module is opened, and the driver's vendor, `NVIDIA`. Its devices are numbered; `open` and
   * `list` are null. */
  const char *driver, *maker;

  /* Fills in a device's facts, calls and handle. `rest` is the part of the name after the colon,
   * null without a colon. */
  gboolean (*open) (LigDevice *self, const char *rest, GError **error);

  /* Adds the names of the devices of this machine. */
  void (*list) (GPtrArray *names);

  /* Writes the versions that times depend on, if they can change while the process runs; null if
   * the facts contain them. */
  void (*libraries) (char *text, gsize size);
} LigBackendTable;

/* Begins the table of the backend of that name: LIG_BACKEND_TABLE (cuda) = {...}; */
#define LIG_BACKEND_TABLE(name) \
  extern const LigBackendTable lig_backend_##name; \
  const LigBackendTable lig_backend_##name

struct _LigDevice {
  GObject parent_instance;
  char *name, *remark;
  char id[64];
  const LigBackendTable *backend;
  LigDeviceFacts facts;
  const LigBackend *calls; /* null for a device that is only described */
  LigBackendDevice *handle;
  void *streams[LIG_N_LANES]; /* null on a backend without streams, and before the device joins
                                 others */
  LigRanks *ranks;            /* null: there is one process, or the ranks are only assumed */
  int rank;
  LigLayout layout;             /* no ranks: there is one process */
  LigPeers peers[LIG_N_GROUPS]; /* of a backend with its own connections */
};

/* Returns backend `n` in the order of the list; null after the last. */
const LigBackendTable *lig_backend_table_nth (guint n);

/* Returns the backend of a device's name and sets `rest`, or returns null if no backend accepts the
 * name. */
const LigBackendTable *lig_backend_table_find (const char *name, const char **rest);

/* Joins the names of the backends without these traits or, if `forms`, the forms of their devices'
 * names: `cpu, cuda:N LAST null[:DESCRIPTION]`. */
char *lig_backend_join (const char *last, gboolean forms, LigDeviceTraits without);

/* Returns the backend whose kernels a device with these facts would run. */
const LigBackendTable *lig_backend_table_described (const LigDeviceFacts *facts);

/* Returns the calls of a backend's module, which is opened at the first call, or null with a
 * message in `reason` that stays valid. May be called by any thread. */
const LigBackend *lig_module_load (const LigBackendTable *backend, const char **reason);

/* Devices of a backend in a module: open the device with the number `rest`; open device `number`,
 * with the reason of a failure in `why`; return the number of devices, with the reason in `why` if
 * it is 0. */
gboolean lig_numbered_open (LigDevice *self, const char *rest, GError **error);
gboolean lig_numbered_try (LigDevice *self, int number, char *why, gsize size);
int lig_numbered_count (const LigBackendTable *backend, char *why, gsize size);
