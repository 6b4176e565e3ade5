/* SPDX-License-Identifier: MIT */
/* What a backend offers beside its kernels: devices, memory, streams, events, graphs. Plain C.
 *
 * A device belongs to one thread at a time. Every call that can fail returns a status and leaves
 * its words in `message (device)`, which stay until the next failure. Streams and events are the
 * backend's own; a backend without streams runs at once and gives null for them. */
#pragma once

#include <ligature/kernels.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Changes whenever this header, kernels.h, params.h or kernel-list.h change in a way that a module
 * built before would not survive. */
#define LIG_BACKEND_VERSION 2

/* What a device is, without measuring anything. */
typedef struct {
  char name[64];
  int capability, multiprocessors; /* 90 for sm_90 */
  int64_t memory, l2;              /* bytes */
  char libraries[128];             /* versions of all that a measured time depends on */
  char driver[32];
  char id[64]; /* this very device's, `GPU-` and its UUID; empty where there is but one */
} LigBackendFacts;

/* How a device does at the moment; negative or empty where it does not tell. */
typedef struct {
  double clock, memory_clock; /* MHz */
  double power, power_limit;  /* watts */
  double temperature;         /* degrees Celsius */
  char throttling[64];        /* why it runs below its clocks: `power cap`, `thermal`, or empty */
} LigBackendHealth;

/* The place where choices that were found by measuring are kept: text by text. The calls with the
 * guard may be null. */
typedef struct {
  bool (*get) (void *data, const char *key, char *choice, size_t size);
  void (*put) (void *data, const char *key, double microseconds, const char *choice);
  void *data;
  /* Around what is measured, so that nobody else measures there; others may have chosen meanwhile.
   */
  void (*begin) (void *guard);
  void (*end) (void *guard);
  void (*no_memory) (void *guard, const char *what); /* to try algorithms for it */
  void *guard;
} LigChoices;

typedef struct LigBackend {
  int version;                    /* LIG_BACKEND_VERSION as the module was built */
  int n_functions;                /* of kernel-list.h, likewise */
  const LigKernelFunc *functions; /* in the order of kernel-list.h */
  const char *built_for;          /* devices that it has code for, in words; null: all there are */

  /* How many devices there are; negative, with the reason in `why`, where none can be used. */
  int (*count) (char *why, size_t size);
  LigStatus (*open) (int number, LigBackendDevice **device, char *why, size_t size);
  void (*close) (LigBackendDevice *device);
  /* Before a thread launches kernels on the device: makes it the thread's own. */
  void (*enter) (LigBackendDevice *device);
  const char *(*message) (LigBackendDevice *device);
  void (*describe) (LigBackendDevice *device, LigBackendFacts *facts);
  void (*health) (LigBackendDevice *device, LigBackendHealth *health);
  void (*keep_choices) (LigBackendDevice *device, const LigChoices *choices); /* null: nowhere */

  /* Memory is 256-byte aligned. Host memory is of the kind that copies fast and asynchronously. */
  LigStatus (*allocate) (LigBackendDevice *device, size_t bytes, void **memory);
  void (*release) (LigBackendDevice *device, void *memory);
  LigStatus (*allocate_host) (LigBackendDevice *device, size_t bytes, void **memory);
  void (*release_host) (LigBackendDevice *device, void *memory);
  LigStatus (*room) (LigBackendDevice *device, size_t *unused, size_t *total);

  LigStatus (*stream_new) (LigBackendDevice *device, void **stream);
  void (*stream_free) (LigBackendDevice *device, void *stream);
  LigStatus (*wait) (LigBackendDevice *device, void *stream);

  /* In the order of the stream, between host and device or within it. From host memory that is not
   * of allocate_host(), it may return before the copy but not before the source was read. */
  LigStatus (*copy) (
    LigBackendDevice *device, void *target, const void *source, size_t bytes, void *stream);
  LigStatus (*fill) (LigBackendDevice *device, void *target, int byte, size_t bytes, void *stream);
  /* At most 64 bytes, which travel with the launch: the source may change at once. */
  LigStatus (*put) (
    LigBackendDevice *device, void *target, const void *source, size_t bytes, void *stream);

  /* An event is a place in a stream. A stream or the host can wait for it. */
  LigStatus (*event_new) (LigBackendDevice *device, void **event);
  void (*event_free) (LigBackendDevice *device, void *event);
  LigStatus (*record) (LigBackendDevice *device, void *event, void *stream);
  LigStatus (*await) (LigBackendDevice *device, void *stream, void *event);
  LigStatus (*settle) (LigBackendDevice *device, void *event);
  LigStatus (*elapsed) (LigBackendDevice *device, void *begin, void *end, double *seconds);

  /* What is launched into a capturing stream, and into those that await its events, becomes a graph
   * instead of running. Null where the backend has no graphs. */
  LigStatus (*capture) (LigBackendDevice *device, void *stream);
  LigStatus (*capture_end) (LigBackendDevice *device, void *stream, void **graph);
  LigStatus (*replay) (LigBackendDevice *device, void *graph, void *stream);
  void (*graph_free) (LigBackendDevice *device, void *graph);
} LigBackend;

/* The CPU's. Its only stream is null; everything has happened when a call returns. */
const LigBackend *lig_host_backend (void);

/* Returns the CPU's functions for this machine's vector instructions, in the order of
 * kernel-list.h.
 */
const LigKernelFunc *lig_cpu_functions (void);

/* Fills a backend's functions into the table of built-in kernels; at most once each. */
void lig_kernels_register (LigBackendKind kind, const LigKernelFunc *functions);

/* The one symbol of a module. */
#define LIG_BACKEND_SYMBOL "lig_backend"
typedef const LigBackend *(*LigBackendEntry) (void);

#ifdef __cplusplus
}
#endif
