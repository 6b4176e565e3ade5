/* SPDX-License-Identifier: MIT */
/* Devices: one opened backend each. `cpu` is always there; `cuda:N` needs the module ligature-cuda
 * and a driver; `null[:PROFILE]` plans for a device that is described but not there. */
#pragma once

#include <ligature/error.h>

G_BEGIN_DECLS

/**
 * LigDeviceFacts:
 * Rates are ceilings: measured on random data where a device was measured, else from its profile;
 * 0 where neither is there, and nothing is predicted then.
 *
 * What a device can do.
 */
typedef struct {
  char name[64];                  /* `NVIDIA H200` */
  int capability;                 /* 90 for sm_90; 0 on a CPU */
  int multiprocessors;            /* cores on a CPU */
  gint64 memory, l2;              /* bytes */
  double copy;                    /* bytes read and written per second */
  double product[LIG_MAX_DTYPES]; /* floating-point operations per second, by operand type */
  double launch;                  /* seconds that a kernel takes at least */
  char libraries[128];            /* versions, for the tuning table */
  gboolean measured;              /* whether the rates were measured on this very device */
  char backend[16];               /* whose kernels it runs; empty: by the capability, CUDA's or the
                                     CPU's */
} LigDeviceFacts;

/**
 * LigDeviceTraits:
 * @LIG_DEVICE_DESCRIBED: plans are made for it and nothing runs on it
 * @LIG_DEVICE_ACCELERATOR: taken before the CPU where no name is given
 * @LIG_DEVICE_ASYNCHRONOUS: work goes on after a call returned, so steps overlap
 * @LIG_DEVICE_STAGES: it has memory of its own, into which host memory is copied in two stages
 * @LIG_DEVICE_CHOOSES: its products choose among algorithms by measuring, and their bits depend on
 *   the choice
 * @LIG_DEVICE_MEASURES: its default policy is %LIG_POLICY_MEASURED, else %LIG_POLICY_ALL
 */
typedef enum {
  LIG_DEVICE_DESCRIBED = 1 << 0,
  LIG_DEVICE_ACCELERATOR = 1 << 1,
  LIG_DEVICE_ASYNCHRONOUS = 1 << 2,
  LIG_DEVICE_STAGES = 1 << 3,
  LIG_DEVICE_CHOOSES = 1 << 4,
  LIG_DEVICE_MEASURES = 1 << 5
} LigDeviceTraits;

/**
 * LigBackendInfo:
 * @name: `cuda`; devices are called so, or so and a colon and more
 * @form: `cuda:N`, for help texts
 * @title: `CUDA`
 * @traits: #LigDeviceTraits of its devices
 */
typedef struct {
  const char *name, *form, *title;
  unsigned traits;
} LigBackendInfo;

/**
 * LigDeviceHealth:
 *
 * How a device does at the moment. Negative or empty: it does not tell.
 */
typedef struct {
  double clock, memory_clock; /* MHz */
  double power, power_limit;  /* watts */
  double temperature;         /* degrees Celsius */
  char throttling[64];        /* why it is slower than its clocks: `power cap`, `thermal` */
  char driver[32];
} LigDeviceHealth;

/**
 * LigDevice:
 *
 * Belongs to one thread at a time, with the states and programs on it; several may be
 * opened of one name. Its name, backend and facts may be asked for by any thread, while nobody sets
 * the facts.
 */
#define LIG_TYPE_DEVICE (lig_device_get_type ())
LIG_API
G_DECLARE_FINAL_TYPE (LigDevice, lig_device, LIG, DEVICE, GObject)

/**
 * lig_device_open:
 * @name: (nullable): `cpu`, `cuda:N`, `null`, `null:PROFILE` (the name of a shipped profile or a
 *   JSON file); null: the first GPU that works, else the CPU
 *
 * Returns: (transfer full): the device, or %NULL with %LIG_ERROR_DEVICE set
 */
LIG_API LigDevice *lig_device_open (const char *name, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The name it was opened by, `cuda:0` in full. */
LIG_API const char *lig_device_get_name (LigDevice *self);
LIG_API LigBackendKind lig_device_get_backend (LigDevice *self);

/* Whether the device has one of these traits. */
LIG_API gboolean lig_device_has (LigDevice *self, LigDeviceTraits traits);

/* The same of a device of that name, which is not opened; %FALSE where no device is called so. */
LIG_API gboolean lig_device_name_has (const char *name, LigDeviceTraits traits);

/* Returns the backends one by one, in the order in which they are listed; %NULL after the last. */
LIG_API const LigBackendInfo *lig_backend_nth (guint n);

/* Returns the backend of a device's name; %NULL where no device is called so. */
LIG_API const LigBackendInfo *lig_backend_find (const char *name);

/* Returns the forms of the names of devices without these traits, for a help text: `cpu, cuda:N or
 * null[:PROFILE]`. The text stays valid. */
LIG_API const char *lig_device_forms (LigDeviceTraits without);
LIG_API const LigDeviceFacts *lig_device_get_facts (LigDevice *self);

/* A sentence on why no GPU was taken when the name was left out; null otherwise. */
LIG_API const char *lig_device_get_remark (LigDevice *self);

/* The devices that the code which runs this one was built for, in words; null where there is no
 * such choice. */
LIG_API const char *lig_device_get_built_for (LigDevice *self);

/* FALSE on a device that tells nothing of the kind, like the CPU. */
LIG_API gboolean lig_device_get_health (LigDevice *self, LigDeviceHealth *health);

/* Replaces the ceilings by measured ones. */
LIG_API void lig_device_set_facts (LigDevice *self, const LigDeviceFacts *facts);

/**
 * lig_device_facts_to_json:
 *
 * Returns: (transfer full): the text of a profile as data/devices has it
 */
LIG_API char *lig_device_facts_to_json (const LigDeviceFacts *facts);

/**
 * lig_device_facts_from_json:
 * @text: of a profile
 * @facts: (out caller-allocates): filled in
 *
 * Returns: %FALSE with %LIG_ERROR_FORMAT set, and @facts unchanged, where the text is no profile
 */
LIG_API gboolean lig_device_facts_from_json (const char *text,
                                             LigDeviceFacts *facts,
                                             GError **error);

/**
 * lig_device_list:
 *
 * Returns: (transfer full): names that lig_device_open() takes on this machine, profiles included
 */
LIG_API GStrv lig_device_list (void);

/* Whether the device runs this kernel for this type. */
LIG_API gboolean lig_device_has_kernel (LigDevice *self, const LigKernel *kernel, LigDtype dtype);

/* Memory of the device, aligned to 256 bytes. A null device gives none: its plans are not run. */
LIG_API void *lig_device_allocate (LigDevice *self, gsize bytes, GError **error);
LIG_API void lig_device_release (LigDevice *self, void *memory);

/**
 * lig_device_upload: (skip)
 *
 * Copies from the host to the device in the order of what else was launched there. The source may
 * change as soon as the call returns.
 *
 * Returns: %FALSE with %LIG_ERROR_DEVICE set
 */
LIG_API gboolean
lig_device_upload (LigDevice *self, void *target, const void *source, gsize bytes, GError **error);

/**
 * lig_device_download: (skip)
 *
 * Copies from the device to the host in the order of what else was launched there. Returns when the
 * bytes have arrived, and reports what failed on the device before.
 *
 * Returns: %FALSE with %LIG_ERROR_DEVICE set
 */
LIG_API gboolean lig_device_download (
  LigDevice *self, void *target, const void *source, gsize bytes, GError **error);

G_END_DECLS
