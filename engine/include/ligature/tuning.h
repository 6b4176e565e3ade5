/* SPDX-License-Identifier: MIT */
/* Measuring: the peak rates of a device, and the store's tuning table of times measured for
 * plans. */
#pragma once

#include <ligature/error.h>

G_BEGIN_DECLS

typedef struct _LigDevice LigDevice;
typedef struct _LigStore LigStore;

/* A table of measured times, usually the store's. A choice is text that only the kernel interprets;
 * times of fusions have none, and the first such time under a key is kept. The noise of a time is
 * also in microseconds. The caller of `get` may pass null for `choice`. `list` returns the choices
 * whose keys contain a text, one per line: key, tab, choice (transfer full); it may be null. */
typedef struct _LigTuning {
  gboolean (*get) (
    gpointer data, const char *key, double *microseconds, double *noise, char **choice);
  void (*put) (
    gpointer data, const char *key, double microseconds, double noise, const char *choice);
  gpointer data;
  char *(*list) (gpointer data, const char *part);
} LigTuning;

/**
 * lig_tuning_init: (skip)
 * @self: (out caller-allocates): filled in
 * @store: (nullable): the store with the table; no reference is taken, so it must outlive @self
 *
 * Initializes a table. Without a store, times are kept only during one compilation.
 */
LIG_API void lig_tuning_init (LigTuning *self, LigStore *store);

/**
 * LigTuningMonitor:
 * @what: a short description of the next measurement
 * @seconds: the time since this series of measurements began
 * @share: the approximate fraction of the series that is done, from 0 to 1; negative if unknown
 *
 * Reports the progress of measuring.
 */
typedef void (*LigTuningMonitor) (const char *what, double seconds, double share);

/**
 * lig_tuning_set_monitor: (skip)
 * @monitor: (nullable) (scope forever): called before each measurement
 *
 * Sets a function that is called before each measurement whose result is not in the table, so that
 * a program can show the progress: the first compilation for a new shape may take some seconds. It
 * is called on the thread that compiles. %NULL removes the function.
 */
LIG_API void lig_tuning_set_monitor (LigTuningMonitor monitor);

/**
 * LigTuningListener:
 * @text: one translated sentence
 *
 * Reports a remark on measuring.
 */
typedef void (*LigTuningListener) (const char *text);

/**
 * lig_tuning_set_listener: (skip)
 * @listener: (nullable) (scope forever): called with each sentence
 *
 * Sets a function that is called with remarks for the user, for example that measuring waits for
 * another process, or that there was not enough memory to try algorithms. It is called on the
 * thread that measures. %NULL removes the function.
 */
LIG_API void lig_tuning_set_listener (LigTuningListener listener);

/**
 * lig_tuning_recall:
 * @device: a device
 * @path: (nullable): the path of a store, as for lig_store_open()
 *
 * Sets the peak rates of the device to measured ones from a store. If the file or the entry is
 * missing, or the entry is from another machine, the device is left unchanged; no store is created.
 *
 * Returns: whether measured peak rates were found
 */
LIG_API gboolean lig_tuning_recall (LigDevice *device, const char *path);

/**
 * lig_tuning_learn:
 * @device: a device
 * @store: (nullable): the store to read and write peak rates; %NULL: the call does nothing
 *
 * Sets the peak rates of a device that can run kernels and was not measured yet, from the store if
 * it has them. If neither the store nor a profile has them, the call informs the listener, measures
 * for a fraction of a second and stores the result. A device that cannot be measured is left
 * without peak rates.
 */
LIG_API void lig_tuning_learn (LigDevice *device, LigStore *store);

/**
 * lig_device_measure:
 * @self: a device
 *
 * Measures copy bandwidth and matmul rates on random data, which takes some seconds, and on a
 * device with graphs the costs of kernels, which takes about a minute; sets the device's facts.
 *
 * Returns: %FALSE with %LIG_ERROR_DEVICE set; a null device cannot be measured
 */
LIG_API gboolean lig_device_measure (LigDevice *self, GError **error);

G_END_DECLS
