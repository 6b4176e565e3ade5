/* SPDX-License-Identifier: MIT */
/* The table of a backend: one constant in each file that meson.build lists. Nothing outside this
 * folder asks which backend a device belongs to; callers ask for its traits. */
#pragma once

#include "engine/device/device-private.h"

/* How the part of a device's name behind the colon is read. */
typedef enum {
  LIG_TAKES_NOTHING, /* `cpu` */
  LIG_TAKES_NUMBER,  /* `cuda:1`; `cuda` alone is `cuda:0` */
  LIG_TAKES_WORD     /* `null:h200`; may be left out */
} LigTakes;

typedef struct {
  LigBackendInfo info;
  LigBackendKind kind; /* the place of its functions in LigKernel */
  LigTakes takes;

  /* Of a backend in a module, ligature-NAME.so: a library without which the module is not opened,
   * and whose driver that is, `NVIDIA`. Its devices are numbered; `open` and `list` are null. */
  const char *driver, *maker;

  /* Fills in a device's facts, calls and handle. `rest` is the part of the name behind the colon,
   * null where there is none. */
  gboolean (*open) (LigDevice *self, const char *rest, GError **error);

  /* Adds the names of the devices of this machine. */
  void (*list) (GPtrArray *names);

  /* Writes the versions that times depend on, where they change while the process runs; null: the
   * facts hold them. */
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
  const LigBackend *calls; /* null where the device is only described */
  LigBackendDevice *handle;
  void *stream, *branch;
};

/* Returns the backend number `n` in the list's order; null after the last. */
const LigBackendTable *lig_backend_table_nth (guint n);

/* Returns the backend of a device's name and sets `rest`, or null where no device is called so. */
const LigBackendTable *lig_backend_table_find (const char *name, const char **rest);

/* Joins the names of the backends without these traits, or the forms of their devices' names:
 * `cpu, cuda:N LAST null[:PROFILE]`. */
char *lig_backend_join (const char *last, gboolean forms, LigDeviceTraits without);

/* Returns the backend whose kernels a device of these facts would run. */
const LigBackendTable *lig_backend_table_described (const LigDeviceFacts *facts);

/* Returns the calls of a backend's module, opened at the first call, or null with the reason in
 * words, which stay valid. May be called by any thread. */
const LigBackend *lig_module_load (const LigBackendTable *backend, const char **reason);

/* The devices of a backend in a module: open number `rest`, the same with the reason alone in
 * `why`, and count them. A count of 0 leaves the reason in `why`. */
gboolean lig_numbered_open (LigDevice *self, const char *rest, GError **error);
gboolean lig_numbered_try (LigDevice *self, int number, char *why, gsize size);
int lig_numbered_count (const LigBackendTable *backend, char *why, gsize size);
