/* SPDX-License-Identifier: MIT */
/* Measuring: how fast a device is at best, and the store's tuning table as the place where plans
 * keep measured times. */
#pragma once

#include <ligature/device.h>
#include <ligature/store.h>

G_BEGIN_DECLS

/* Remembers what was measured: the store's tuning table, or nothing. A choice is a text of the
 * kernel's own; times of fusions come without one, and of those that arrive under one key the first
 * stays. The noise of a time is in microseconds, too. `choice` may be null in a call of get. */
typedef struct {
  gboolean (*get) (
    gpointer data, const char *key, double *microseconds, double *noise, char **choice);
  void (*put) (
    gpointer data, const char *key, double microseconds, double noise, const char *choice);
  gpointer data;
} LigTuning;

/**
 * lig_tuning_init:
 * @store: (nullable): kept by reference by nobody: it has to outlive the tuning
 *
 * Without a store nothing is remembered beyond one compilation.
 */
LIG_API void lig_tuning_init (LigTuning *self, LigStore *store);

/**
 * LigTuningMonitor:
 * @what: what is measured next, in a few words
 * @seconds: since this bout of measuring began
 */
typedef void (*LigTuningMonitor) (const char *what, double seconds);

/**
 * lig_tuning_set_monitor: (skip)
 *
 * Has a function called whenever something is about to be measured that no table remembers: for a
 * line of progress, as compiling for a new shape takes some seconds once. It is called on the
 * thread that compiles. Null: nobody is told.
 */
LIG_API void lig_tuning_set_monitor (LigTuningMonitor monitor);

/**
 * LigTuningListener:
 * @text: one translated sentence
 */
typedef void (*LigTuningListener) (const char *text);

/**
 * lig_tuning_set_listener: (skip)
 *
 * Has a function called with what a person should know of the measuring: that another process is
 * waited for, that there was no memory to try algorithms. It is called on the thread that measures.
 * Null: nobody is told.
 */
LIG_API void lig_tuning_set_listener (LigTuningListener listener);

/**
 * lig_tuning_recall:
 * @path: (nullable): of a store, as for lig_store_open()
 *
 * Gives the device the ceilings that `lig devices --measure` left in a store. Where there is no
 * such file or entry, or the entry is another machine's, the device stays as it is; no store is
 * made.
 *
 * Returns: whether measured ceilings were found
 */
LIG_API gboolean lig_tuning_recall (LigDevice *device, const char *path);

/**
 * lig_tuning_learn:
 * @store: (nullable): where ceilings are looked for and kept; null: nothing is measured either
 *
 * Gives a device that runs and has no ceilings some: those that the store knows, else what
 * lig_device_measure_quickly() finds, which the listener is told of and the store keeps. A device
 * that cannot be measured stays without.
 */
LIG_API void lig_tuning_learn (LigDevice *device, LigStore *store);

/**
 * lig_device_measure:
 *
 * Measures copy bandwidth and product rates on random data, some seconds long.
 *
 * Returns: %FALSE with %LIG_ERROR_DEVICE set; a null device cannot be measured
 */
LIG_API gboolean lig_device_measure (LigDevice *self, GError **error);

/* The same in a fraction of a second, a few percent worse. */
LIG_API gboolean lig_device_measure_quickly (LigDevice *self, GError **error);

G_END_DECLS
