/* SPDX-License-Identifier: MIT */
/* The interface between the engine and a backend: devices, memory, streams, events and graphs.
 * Plain C.
 *
 * A device belongs to one thread at a time. Every call that can fail returns a status and leaves
 * its reason in `message (device)`, valid until the next failure. Streams and events belong to
 * the backend; a backend without streams runs each call to its end and represents streams by
 * null. */
#pragma once

#include <ligature/launch.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this interface. It changes whenever this header, the public ones of kernels or
 * kernel-list.h change so that a module built before would misbehave. */
#define LIG_BACKEND_VERSION 9

/* The properties of a device that are known without measuring. */
typedef struct {
  char name[64];
  int capability, multiprocessors; /* 90 for sm_90 */
  int64_t memory, l2;              /* bytes */
  char libraries[128];             /* versions of everything that a measured time depends on */
  char driver[32];
  char id[64]; /* `GPU-` and the UUID of this device; empty if the backend has only one */
} LigBackendFacts;

/* A library that the backend uses, or uses if it is installed. */
typedef struct {
  const char *name; /* `cuDNN` */
  const char *cost; /* the loss without it; null if the backend is not loaded without it */
  char version[32]; /* empty if it is not used */
  char path[1024];  /* its file; empty if it is missing */
  char why[256];    /* the reason for not using it; empty if it is used, or missing */
} LigBackendLibrary;

/* The present state of a device; negative or empty where the device does not report it. */
typedef struct {
  double clock, memory_clock; /* MHz */
  double power, power_limit;  /* watts */
  double temperature;         /* degrees Celsius */
  char
    throttling[64]; /* the reason for running below its clocks: `power cap`, `thermal`; or empty */
  double utilization; /* the share of the last moments in which kernels ran, 0 to 1 */
} LigBackendHealth;

/* A store of choices that were found by measuring, keyed by text. `begin`, `end` and `no_memory`
 * may be null. */
typedef struct {
  bool (*get) (void *data, const char *key, char *choice, size_t size);
  void (*put) (void *data, const char *key, double microseconds, const char *choice);
  void *data;
  /* `begin` and `end` enclose a measurement, so that no other process measures on the device;
   * another process may have stored a choice before `begin` returns. */
  void (*begin) (void *guard);
  void (*end) (void *guard);
  void (*no_memory) (
    void *guard,
    const char *what); /* reports that there was no memory to try algorithms for `what`: the sizes
                          of a matmul, or words that begin with `attention` */
  void *guard;
} LigChoices;

/* Adds up times between places in a stream; in device memory, zeroed before its first use. */
typedef struct {
  double seconds;
  uint64_t began; /* nanoseconds */
} LigTimer;

/* The bytes of a key by which the devices of several processes find one another. */
#define LIG_CONNECTION_KEY 128

typedef struct LigBackend {
  int version;                    /* LIG_BACKEND_VERSION as the module was compiled */
  int n_functions;                /* length of kernel-list.h as the module was compiled */
  const LigKernelFunc *functions; /* in the order of kernel-list.h */
  const char *built_for; /* the devices that the module has code for, in words; null: all */

  /* Returns the number of devices; negative, with the reason in `why`, if none can be used. */
  int (*count) (char *why, size_t size);
  /* Describes library `n`, which is opened, and returns false after the last. Needs no device. Null
   * if the backend uses none. */
  bool (*library) (int n, LigBackendLibrary *library);
  LigStatus (*open) (int number, LigBackendDevice **device, char *why, size_t size);
  void (*close) (LigBackendDevice *device);
  /* Makes the device the calling thread's current one. A thread calls it before it launches
   * kernels. */
  void (*enter) (LigBackendDevice *device);
  const char *(*message) (LigBackendDevice *device);
  void (*describe) (LigBackendDevice *device, LigBackendFacts *facts);
  void (*health) (LigBackendDevice *device, LigBackendHealth *health);
  void (*keep_choices) (LigBackendDevice *device,
                        const LigChoices *choices); /* null: keeps no choices */

  /* Device memory is 256-byte aligned. Host memory is page-locked where that makes copies fast
   * and asynchronous. */
  LigStatus (*allocate) (LigBackendDevice *device, size_t bytes, void **memory);
  void (*release) (LigBackendDevice *device, void *memory);
  LigStatus (*allocate_host) (LigBackendDevice *device, size_t bytes, void **memory);
  void (*release_host) (LigBackendDevice *device, void *memory);
  LigStatus (*free_memory) (LigBackendDevice *device, size_t *unused, size_t *total);

  LigStatus (*stream_new) (LigBackendDevice *device, void **stream);
  void (*stream_free) (LigBackendDevice *device, void *stream);
  LigStatus (*wait) (LigBackendDevice *device, void *stream);
  /* Calls a kernel's function in the order of a stream that is not null, and returns at once; the
   * launch stays valid until the stream has called it. A failure is returned by the next wait for
   * the stream or for an event in it. Null if the functions enqueue their work themselves. */
  LigStatus (*enqueue) (LigBackendDevice *device,
                        void *stream,
                        LigKernelFunc function,
                        LigLaunch *launch);

  /* Copies between host and device, or within the device, in the order of the stream. From host
   * memory that is not from allocate_host() it may return before the copy ends, but not before
   * the source was read. */
  LigStatus (*copy) (
    LigBackendDevice *device, void *target, const void *source, size_t bytes, void *stream);
  LigStatus (*fill) (LigBackendDevice *device, void *target, int byte, size_t bytes, void *stream);
  /* Writes at most 64 bytes, which travel as an argument of the launch: the caller may change
   * the source at once. */
  LigStatus (*put) (
    LigBackendDevice *device, void *target, const void *source, size_t bytes, void *stream);

  /* An event marks a place in a stream. A stream or the host can wait for it. */
  LigStatus (*event_new) (LigBackendDevice *device, void **event);
  void (*event_free) (LigBackendDevice *device, void *event);
  LigStatus (*record) (LigBackendDevice *device, void *event, void *stream);
  LigStatus (*await) (LigBackendDevice *device, void *stream, void *event);
  LigStatus (*wait_event) (LigBackendDevice *device, void *event);
  LigStatus (*elapsed) (LigBackendDevice *device, void *begin, void *end, double *seconds);

  /* Starts a timer when the stream comes to this place, or stops it. */
  LigStatus (*start) (LigBackendDevice *device, LigTimer *timer, void *stream);
  LigStatus (*stop) (LigBackendDevice *device, LigTimer *timer, void *stream);

  /* Launches into a capturing stream, and into streams that await its events, become a graph
   * instead of running. Null if the backend has no graphs. */
  LigStatus (*capture) (LigBackendDevice *device, void *stream);
  LigStatus (*capture_end) (LigBackendDevice *device, void *stream, void **graph);
  LigStatus (*replay) (LigBackendDevice *device, void *graph, void *stream);
  void (*graph_free) (LigBackendDevice *device, void *graph);

  /* Connections with the devices of other processes, by which kernels exchange: a connection is the
   * handle of the launch's peers. One of the processes makes a key, and all of them connect with
   * it, which ends when all have done so. The state is the failure of a collective that was
   * launched before, if there was any. Null if kernels exchange by the functions of their peers. */
  LigStatus (*connection_key) (LigBackendDevice *device, char *key);
  LigStatus (*connect) (
    LigBackendDevice *device, const char *key, int rank, int count, void **connection);
  void (*disconnect) (LigBackendDevice *device, void *connection);
  LigStatus (*connection_state) (LigBackendDevice *device, void *connection);
} LigBackend;

/* Returns the CPU's backend. Each call in its null stream has finished when it returns; each other
 * stream is a thread. */
const LigBackend *lig_host_backend (void);

/* Returns the CPU's functions for this machine's vector instructions, in the order of
 * kernel-list.h.
 */
const LigKernelFunc *lig_cpu_functions (void);

/* Enters a backend's functions into the table of built-in kernels; at most once per backend. */
void lig_kernels_register (LigBackendKind kind, const LigKernelFunc *functions);

/* The only symbol that a module exports. */
#define LIG_BACKEND_SYMBOL "lig_backend"
typedef const LigBackend *(*LigBackendEntry) (void);

#ifdef __cplusplus
}
#endif
