/* SPDX-License-Identifier: MIT */
/* The interface between the engine and a backend: devices, memory, streams, events and graphs.
 * Plain C.
 *
 * A device is used by one thread at a time. Every call that can fail returns a status and leaves
 * the reason in `message (device)`, valid until the next failure. Streams and events belong to the
 * backend; a backend without streams runs each call synchronously and represents streams by
 * null. */
#pragma once

#include <ligature/launch.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this interface. It changes whenever this header, the public headers of kernels or
 * kernel-list.h change such that a previously built module would misbehave. */
#define LIG_BACKEND_VERSION 11

/* The properties of a device that are known without measurements. */
typedef struct {
  char name[64];
  int capability, multiprocessors; /* 90 for sm_90 */
  int64_t memory, l2;              /* bytes */
  char libraries[128];             /* versions of everything that affects measured times */
  char driver[32];
  char id[64]; /* `GPU-` and the UUID of this device; empty if the backend has only one */
} LigBackendFacts;

/* A library that the backend uses if it is installed. */
typedef struct {
  const char *name; /* `cuDNN` */
  const char *cost; /* the effect of its absence; null if the backend does not load without it */
  char version[32]; /* empty if it is not used */
  char path[1024];  /* its path; empty if it is missing */
  char why[256];    /* the reason for not using it; empty if it is used or missing */
} LigBackendLibrary;

/* The current state of a device; negative or empty where the device does not report it. */
typedef struct {
  double clock, memory_clock; /* MHz */
  double power, power_limit;  /* watts */
  double temperature;         /* degrees Celsius */
  char throttling[64];        /* the reason for reduced clocks: `power cap`, `thermal`; or empty */
  double utilization; /* recent utilization: the share of time in which kernels ran, 0 to 1 */
} LigBackendHealth;

/* A store of choices that were made by timing, keyed by text. `begin`, `end` and `no_memory` may be
 * null. */
typedef struct {
  bool (*get) (void *data, const char *key, char *choice, size_t size);
  void (*put) (void *data, const char *key, double microseconds, const char *choice);
  void *data;
  /* `begin` and `end` enclose a measurement, so that no other process measures on the device
   * concurrently; another process may have stored a choice before `begin` returns. */
  void (*begin) (void *guard);
  void (*end) (void *guard);
  void (*no_memory) (
    void *guard,
    const char *what); /* reports that there was no memory to try algorithms for `what`: the sizes
                          of a matmul, or text that begins with `attention` */
  void *guard;
} LigChoices;

/* Accumulates the time between points in a stream; in device memory, zeroed before its first
 * use. */
typedef struct {
  double seconds;
  uint64_t began; /* nanoseconds */
} LigTimer;

/* The bytes of the key by which the devices of several processes find each other, an ncclUniqueId
 * on CUDA. */
#define LIG_CONNECTION_KEY 128

typedef struct LigBackend {
  int version;                    /* LIG_BACKEND_VERSION when the module was compiled */
  int n_functions;                /* length of kernel-list.h when the module was compiled */
  const LigKernelFunc *functions; /* in the order of kernel-list.h */
  const char *built_for;          /* the devices that the module has code for, as text; null: all */

  /* Returns the number of devices; negative, with the reason in `why`, if none is usable. */
  int (*count) (char *why, size_t size);
  /* Opens and describes library `n`; returns false after the last. Needs no device. Null if the
   * backend uses no libraries. */
  bool (*library) (int n, LigBackendLibrary *library);
  LigStatus (*open) (int number, LigBackendDevice **device, char *why, size_t size);
  void (*close) (LigBackendDevice *device);
  /* Makes the device current in the calling thread. A thread calls it before it launches
   * kernels. */
  void (*enter) (LigBackendDevice *device);
  const char *(*message) (LigBackendDevice *device);
  void (*describe) (LigBackendDevice *device, LigBackendFacts *facts);
  void (*health) (LigBackendDevice *device, LigBackendHealth *health);
  void (*keep_choices) (LigBackendDevice *device,
                        const LigChoices *choices); /* null: choices are not kept */

  /* Device memory is 256-byte aligned. Host memory is page-locked if that makes copies fast and
   * asynchronous. */
  LigStatus (*allocate) (LigBackendDevice *device, size_t bytes, void **memory);
  void (*release) (LigBackendDevice *device, void *memory);
  LigStatus (*allocate_host) (LigBackendDevice *device, size_t bytes, void **memory);
  void (*release_host) (LigBackendDevice *device, void *memory);
  LigStatus (*free_memory) (LigBackendDevice *device, size_t *unused, size_t *total);

  LigStatus (*stream_new) (LigBackendDevice *device, void **stream);
  void (*stream_free) (LigBackendDevice *device, void *stream);
  LigStatus (*wait) (LigBackendDevice *device, void *stream);
  /* Enqueues a call of a kernel's function in a stream that is not null, and returns at once; the
   * launch must stay valid until the stream has called it. A failure is returned by the next wait
   * for the stream or for an event in it. Null if the functions enqueue their work themselves. */
  LigStatus (*enqueue) (LigBackendDevice *device,
                        void *stream,
                        LigKernelFunc function,
                        LigLaunch *launch);

  /* Copies between host and device, or within the device, in stream order. A copy from host memory
   * that is not from allocate_host() may return before it has finished, but not before the source
   * has been read. */
  LigStatus (*copy) (
    LigBackendDevice *device, void *target, const void *source, size_t bytes, void *stream);
  LigStatus (*fill) (LigBackendDevice *device, void *target, int byte, size_t bytes, void *stream);
  /* Writes at most 64 bytes, which are passed as a launch argument: the caller may change the
   * source at once. */
  LigStatus (*put) (
    LigBackendDevice *device, void *target, const void *source, size_t bytes, void *stream);

  /* An event marks a point in a stream. A stream or the host can wait for it. */
  LigStatus (*event_new) (LigBackendDevice *device, void **event);
  void (*event_free) (LigBackendDevice *device, void *event);
  LigStatus (*record) (LigBackendDevice *device, void *event, void *stream);
  LigStatus (*await) (LigBackendDevice *device, void *stream, void *event);
  LigStatus (*wait_event) (LigBackendDevice *device, void *event);
  LigStatus (*elapsed) (LigBackendDevice *device, void *begin, void *end, double *seconds);

  /* Starts or stops a timer when the stream reaches this point. */
  LigStatus (*start) (LigBackendDevice *device, LigTimer *timer, void *stream);
  LigStatus (*stop) (LigBackendDevice *device, LigTimer *timer, void *stream);

  /* Launches into a capturing stream, and into streams that wait for its events, are captured into
   * a graph instead of run. Null if the backend has no graphs. */
  LigStatus (*capture) (LigBackendDevice *device, void *stream);
  LigStatus (*capture_end) (LigBackendDevice *device, void *stream, void **graph);
  LigStatus (*replay) (LigBackendDevice *device, void *graph, void *stream);
  void (*graph_free) (LigBackendDevice *device, void *graph);

  /* Connections to the devices of other processes, used by collectives: a connection is the handle
   * of the launch's peers. One process makes a key, and all processes connect with it; the call
   * returns when all have done so. The state is the failure of a previously launched collective, if
   * any. Null if collectives use the functions of their peers. */
  LigStatus (*connection_key) (LigBackendDevice *device, char *key);
  LigStatus (*connect) (
    LigBackendDevice *device, const char *key, int rank, int count, void **connection);
  void (*disconnect) (LigBackendDevice *device, void *connection);
  LigStatus (*connection_state) (LigBackendDevice *device, void *connection);
} LigBackend;

/* Returns the CPU backend. Calls in its null stream are synchronous; each other stream is a
 * thread. */
const LigBackend *lig_host_backend (void);

/* Returns the CPU kernels for this machine's vector instructions, in the order of kernel-list.h. */
const LigKernelFunc *lig_cpu_functions (void);

/* Registers a backend's functions in the table of built-in kernels; at most once per backend. */
void lig_kernels_register (LigBackendKind kind, const LigKernelFunc *functions);

/* The only symbol that a module exports. */
#define LIG_BACKEND_SYMBOL "lig_backend"
typedef const LigBackend *(*LigBackendEntry) (void);

#ifdef __cplusplus
}
#endif
