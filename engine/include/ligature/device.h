/* SPDX-License-Identifier: MIT */
/* Devices, each an opened backend. `cpu` is always available; `cuda:N` needs the module
 * ligature-cuda and a driver; `null[:DESCRIPTION]` makes plans for a device that you don't have,
 * from its description. */
#pragma once

#include <ligature/costs.h>
#include <ligature/fabric.h>
#include <ligature/groups.h>
#include <ligature/layout.h>

G_BEGIN_DECLS

typedef struct LigKernel LigKernel;
typedef struct LigRanks LigRanks;

/**
 * LigDeviceFacts:
 *
 * The capabilities of a device. Rates are peak rates: measured on random data if the device was
 * measured, otherwise from its profile. A rate is 0 if neither exists; then nothing is predicted.
 */
typedef struct {
  char name[64];                 /* `NVIDIA H200` */
  int capability;                /* 90 for sm_90; 0 on a CPU */
  int multiprocessors;           /* cores on a CPU */
  gint64 memory, l2;             /* bytes */
  double copy;                   /* bytes read and written per second */
  double matmul[LIG_MAX_DTYPES]; /* floating-point operations per second, by operand type */
  double launch;                 /* the shortest time of a kernel in seconds */
  char libraries[128];           /* versions, for the tuning table */
  gboolean measured;             /* whether the rates were measured on this device */
  char backend[16];              /* the backend whose kernels it runs; empty: CUDA if the
                                    capability is not 0, else the CPU */
  LigDeviceCosts costs;          /* costs of kernels beyond the rates above */
  double matmul_fp4; /* operations per second of 4-bit matmuls, which have no element type */
  LigFabric fabric;  /* its links to other devices */
  double upload;     /* bytes per second from host to device memory; 0 if it shares the host's */
} LigDeviceFacts;

/**
 * LigDeviceTraits:
 * @LIG_DEVICE_DESCRIBED: it is only described: plans can be made for it, but nothing runs on it
 * @LIG_DEVICE_ACCELERATOR: preferred to the CPU if no name is given
 * @LIG_DEVICE_ASYNCHRONOUS: calls return before their work is done, so steps overlap
 * @LIG_DEVICE_STAGES: it has its own memory, to which host memory is copied in two stages
 * @LIG_DEVICE_CHOOSES: its matmul algorithms are chosen by measuring, and results differ bitwise
 *   between them
 * @LIG_DEVICE_MEASURES: its default policy is %LIG_POLICY_MEASURED; so is that of a described GPU
 *   with known costs; else it is %LIG_POLICY_ALL
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
 * @name: the name, `cuda`; the name of a device is this name, or begins with it and a colon
 * @form: the form of its devices' names for help texts, `cuda:N`
 * @title: the name for people, `CUDA`
 * @traits: the #LigDeviceTraits of its devices
 */
typedef struct {
  const char *name, *form, *title;
  unsigned traits;
} LigBackendInfo;

/**
 * LigLibrary:
 *
 * A required or optional library of a backend. Texts are empty where they do not apply.
 */
typedef struct {
  char name[32];    /* `cuDNN` */
  char version[32]; /* `9.19.0`; empty if it is not used */
  char path[1024];  /* its file; empty if it is missing */
  char reason[256]; /* why it is not used; empty if it is used or missing */
  char cost[128];   /* what is lost without it; empty if nothing runs without it */
} LigLibrary;

/**
 * LigDeviceHealth:
 *
 * The current state of a device. A field is negative or empty if the device does not report it.
 */
typedef struct {
  double clock, memory_clock; /* MHz */
  double power, power_limit;  /* watts */
  double temperature;         /* degrees Celsius */
  char throttling[64];        /* why its clocks are reduced: `power cap`, `thermal` */
  char driver[32];
  double utilization; /* the recent fraction of time in which kernels ran, 0 to 1 */
} LigDeviceHealth;

/**
 * LigDevice:
 *
 * An opened device. Only one thread at a time may use it and its states and programs; several
 * devices of one name may be open. Any thread may read its name, backend and facts, unless another
 * thread is setting the facts.
 */
#define LIG_TYPE_DEVICE (lig_device_get_type ())
LIG_API
G_DECLARE_FINAL_TYPE (LigDevice, lig_device, LIG, DEVICE, GObject)

/**
 * lig_device_open:
 * @name: (nullable): `cpu`, `cuda:N`, `null`, `null:PROFILE` (the name of a shipped profile or a
 *   JSON file); null: the first usable GPU, otherwise the CPU
 *
 * Returns: (transfer full): the device, or %NULL with %LIG_ERROR_DEVICE set
 */
LIG_API LigDevice *lig_device_open (const char *name, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/**
 * lig_device_get_name:
 * @self: a device
 *
 * Returns: (transfer none): the full name of the device, `cuda:0`
 */
LIG_API const char *lig_device_get_name (LigDevice *self);

/**
 * lig_device_has:
 * @self: a device
 * @traits: one or several #LigDeviceTraits
 *
 * Returns: whether the device has at least one of them
 */
LIG_API gboolean lig_device_has (LigDevice *self, LigDeviceTraits traits);

/**
 * lig_device_name_has:
 * @name: as for lig_device_open()
 * @traits: one or several #LigDeviceTraits
 *
 * Returns: whether devices of that name have at least one of them; no device is opened
 */
LIG_API gboolean lig_device_name_has (const char *name, LigDeviceTraits traits);

/**
 * lig_backend_nth:
 * @n: the backend's number, from 0
 *
 * Returns: (nullable) (transfer none): the @n-th backend; %NULL after the last
 */
LIG_API const LigBackendInfo *lig_backend_nth (guint n);

/**
 * lig_backend_find:
 * @name: the name of a backend or of a device
 *
 * Returns: (nullable) (transfer none): the backend of that name, or %NULL if none has it
 */
LIG_API const LigBackendInfo *lig_backend_find (const char *name);

/**
 * lig_backend_get_library:
 * @name: the name of a backend or of a device
 * @n: the library's number, from 0
 * @library: (out caller-allocates): filled in
 *
 * Describes a library of a backend. Loads the backend if necessary, but opens no device. May be
 * called from any thread.
 *
 * Returns: %FALSE after the last library, or if the backend has none or cannot be loaded
 */
LIG_API gboolean lig_backend_get_library (const char *name, guint n, LigLibrary *library);

/**
 * lig_library_to_text:
 * @library: a library
 *
 * Returns: (transfer full): a sentence without a full stop: its version and file, or what is lost
 * without it and the remedy
 */
LIG_API char *lig_library_to_text (const LigLibrary *library);

/**
 * lig_device_forms:
 * @without: #LigDeviceTraits; backends with any of these are omitted; 0 for all backends
 *
 * Returns: (transfer none): the names of devices, for help texts: `cpu, cuda:N`
 */
LIG_API const char *lig_device_forms (LigDeviceTraits without);

/**
 * lig_device_get_facts:
 * @self: a device
 *
 * Returns: (transfer none): the device's facts, valid until lig_device_set_facts() is called
 */
LIG_API const LigDeviceFacts *lig_device_get_facts (LigDevice *self);

/**
 * lig_device_get_remark:
 * @self: a device
 *
 * Returns: (transfer none) (nullable): a sentence that explains why no GPU was chosen by default,
 *   or that the costs in a description were measured at other rates than its own and are therefore
 *   scaled or not used; %NULL otherwise
 */
LIG_API const char *lig_device_get_remark (LigDevice *self);

/**
 * lig_device_get_built_for:
 * @self: a device
 *
 * Returns: (transfer none) (nullable): a description of the devices that the running code was built
 *   for; %NULL if the backend is not built for particular devices
 */
LIG_API const char *lig_device_get_built_for (LigDevice *self);

/**
 * lig_device_get_health:
 * @self: a device
 * @health: (out caller-allocates): filled in
 *
 * Reads clocks, power and temperature.
 *
 * Returns: %FALSE on a device that reports none of them, like the CPU
 */
LIG_API gboolean lig_device_get_health (LigDevice *self, LigDeviceHealth *health);

/**
 * lig_device_set_facts:
 * @self: a device
 * @facts: the new facts, copied
 *
 * Replaces the facts, for example to set measured peak rates. No other thread may read them during
 * the call.
 */
LIG_API void lig_device_set_facts (LigDevice *self, const LigDeviceFacts *facts);

/**
 * lig_device_facts_to_json:
 * @facts: the facts of a device
 *
 * Returns: (transfer full): the text of a profile, as in the files of data/devices
 */
LIG_API char *lig_device_facts_to_json (const LigDeviceFacts *facts);

/**
 * lig_device_facts_from_json:
 * @text: the text of a profile
 * @facts: (out caller-allocates): filled in
 *
 * Returns: %FALSE with %LIG_ERROR_FORMAT set, and @facts unchanged, if the text is not a profile
 */
LIG_API gboolean lig_device_facts_from_json (const char *text,
                                             LigDeviceFacts *facts,
                                             GError **error);

/**
 * lig_device_list_accelerators:
 * @first: (nullable): the name of one of them; %NULL, or a name without a number: the first
 *
 * Returns: (transfer full): the names of this machine's accelerators from that one on, each of
 *   which can run a rank; empty if @first is not an accelerator of this machine
 */
LIG_API GStrv lig_device_list_accelerators (const char *first);

/**
 * lig_device_list:
 *
 * Returns: (transfer full): the names that lig_device_open() accepts on this machine, profiles
 *   included
 */
LIG_API GStrv lig_device_list (void);

/**
 * lig_device_has_kernel:
 * @self: a device
 * @kernel: a kernel
 * @dtype: a type
 *
 * Returns: whether the device runs this kernel for this type
 */
LIG_API gboolean lig_device_has_kernel (LigDevice *self, const LigKernel *kernel, LigDtype dtype);

/**
 * lig_device_allocate: (skip)
 * @self: a device
 * @bytes: the number of bytes
 *
 * Allocates memory of the device, aligned to 256 bytes. A device that is only described has no
 * memory.
 *
 * Returns: (nullable): an address on the device, to be released with lig_device_release(); %NULL
 *   with %LIG_ERROR_MEMORY or %LIG_ERROR_DEVICE set
 */
LIG_API void *lig_device_allocate (LigDevice *self, gsize bytes, GError **error);

/**
 * lig_device_release: (skip)
 * @self: a device
 * @memory: (nullable): an address on the device
 *
 * Releases what lig_device_allocate() returned.
 */
LIG_API void lig_device_release (LigDevice *self, void *memory);

/**
 * lig_device_upload: (skip)
 * @self: a device
 * @target: an address on the device
 * @source: an address on the host
 * @bytes: the number of bytes
 *
 * Copies from the host to the device, in order with the device's other work. The caller may change
 * the source as soon as the call returns.
 *
 * Returns: %FALSE with %LIG_ERROR_DEVICE set
 */
LIG_API gboolean
lig_device_upload (LigDevice *self, void *target, const void *source, gsize bytes, GError **error);

/**
 * lig_device_download: (skip)
 * @self: a device
 * @target: an address on the host
 * @source: an address on the device
 * @bytes: the number of bytes
 *
 * Copies from the device to the host, in order with the device's other work. The call returns when
 * the bytes have arrived, and reports earlier failures on the device, too.
 *
 * Returns: %FALSE with %LIG_ERROR_DEVICE set
 */
LIG_API gboolean lig_device_download (
  LigDevice *self, void *target, const void *source, gsize bytes, GError **error);

/**
 * lig_device_join:
 * @self: a device
 * @ranks: (nullable): the ranks of this process, each with a device of the same kind
 *
 * Makes the device one of several ranks that train together. Call it before compiling anything for
 * the device.
 *
 * Returns: %FALSE with %LIG_ERROR_DEVICE set if its kernels do not support collectives
 */
LIG_API gboolean lig_device_join (LigDevice *self, LigRanks *ranks, GError **error);

/**
 * lig_device_assume_ranks:
 * @self: a device that has not joined ranks
 * @rank: the rank that it represents, from 0
 * @layout: the parallelism of all ranks
 *
 * Makes plans for the device those of one of several ranks. Ranks on the CPU share its cores, so
 * each is predicted to be slower by their number.
 */
LIG_API void lig_device_assume_ranks (LigDevice *self, int rank, const LigLayout *layout);

/**
 * lig_device_get_ranks:
 * @self: a device
 *
 * Returns: (transfer none) (nullable): the ranks that it has joined
 */
LIG_API LigRanks *lig_device_get_ranks (LigDevice *self);

/**
 * lig_device_get_layout:
 * @self: a device
 *
 * Returns: (transfer none) (nullable): the parallelism of its ranks; %NULL if it has joined none
 */
LIG_API const LigLayout *lig_device_get_layout (LigDevice *self);

/**
 * lig_device_get_rank:
 * @self: a device
 * @group: a group of ranks
 *
 * Returns: its rank within the group; 0 if it has joined none
 */
LIG_API int lig_device_get_rank (LigDevice *self, LigRankGroup group);

/**
 * lig_device_get_n_ranks:
 * @self: a device
 * @group: a group of ranks
 *
 * Returns: the number of ranks in the group; 1 if it has joined none
 */
LIG_API int lig_device_get_n_ranks (LigDevice *self, LigRankGroup group);

/**
 * lig_device_get_replicas:
 * @self: a device
 *
 * Returns: the group of the ranks that have the same parameters as its rank, over which gradients
 *   are averaged: %LIG_GROUP_REPLICAS with context parallelism, otherwise %LIG_GROUP_DATA
 */
LIG_API LigRankGroup lig_device_get_replicas (LigDevice *self);

G_END_DECLS
