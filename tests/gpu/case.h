/* SPDX-License-Identifier: MIT */
/* Shared code of the programs that need a GPU: the device `cuda:0` and its memory. Without it each
 * test is skipped with the reason. LIGATURE_QUICK=1 selects few and small cases, for tools that
 * make every memory access of a kernel a hundred times slower. */
#pragma once

#include "engine/device/device-private.h"

#include <string.h>

typedef struct {
  LigDevice *device;
  const LigBackend *calls;
  LigBackendDevice *handle;
  void *stream;
} Gpu;

/* Returns the device, opened once per program; null, with the reason, if that fails. */
static inline const Gpu *
gpu_open (const char **reason)
{
  static Gpu gpu;
  static char *why;
  if (!gpu.device && !why) {
    g_autoptr (GError) error = NULL;
    gpu.device = lig_device_open ("cuda:0", &error);
    if (gpu.device) {
      gpu.calls = lig_device_calls (gpu.device);
      gpu.handle = lig_device_handle (gpu.device);
      gpu.stream = lig_device_stream (gpu.device);
      gpu.calls->enter (gpu.handle);
    } else {
      why = g_strdup (error->message);
    }
  }
  *reason = why;
  return gpu.device ? &gpu : NULL;
}

/* Returns the device; null after it marked the test as skipped. */
static inline const Gpu *
gpu_or_skip (void)
{
  const char *reason;
  const Gpu *gpu = gpu_open (&reason);
  if (!gpu)
    g_test_skip (reason);
  return gpu;
}

/* Returns the device if it has 8-bit formats; else null, after it marked the test as skipped. */
static inline const Gpu *
gpu_that_quantizes_or_skip (void)
{
  const Gpu *gpu = gpu_or_skip ();
  if (!gpu || lig_device_get_facts (gpu->device)->capability >= 89)
    return gpu;
  g_test_skip ("quantizing needs compute capability 8.9");
  return NULL;
}

/* Initializes the tests like g_test_init(), but a failed assertion or test does not end the
 * program: time on a GPU is expensive. */
static inline void
gpu_test_init (int argc, char **argv)
{
  char **longer = g_new0 (char *, argc + 2);
  int count = argc + 1;
  for (int i = 0; i < argc; i++)
    longer[i] = argv[i];
  longer[argc] = (char *) "--keep-going";
  g_test_init (&count, &longer, NULL);
  g_test_set_nonfatal_assertions ();
}

static inline gboolean
quick (void)
{
  const char *value = g_getenv ("LIGATURE_QUICK");
  return value && *value && !g_str_equal (value, "0");
}

/* Ends the program if a call of the backend failed: later results would be meaningless. */
static inline void
gpu_check (const Gpu *gpu, LigStatus status, const char *what)
{
  if (status != LIG_OK)
    g_error ("%s: status %d: %s", what, (int) status, gpu->calls->message (gpu->handle));
}

static inline void *
gpu_memory (const Gpu *gpu, size_t bytes)
{
  void *memory = NULL;
  gpu_check (gpu, gpu->calls->allocate (gpu->handle, bytes, &memory), "allocating");
  return memory;
}

static inline void *
gpu_host_memory (const Gpu *gpu, size_t bytes)
{
  void *memory = NULL;
  gpu_check (gpu, gpu->calls->allocate_host (gpu->handle, bytes, &memory), "host memory");
  return memory;
}

static inline void
gpu_copy (const Gpu *gpu, void *target, const void *source, size_t bytes)
{
  gpu_check (gpu, gpu->calls->copy (gpu->handle, target, source, bytes, gpu->stream), "copying");
}

static inline void
gpu_fill (const Gpu *gpu, void *target, int byte, size_t bytes)
{
  gpu_check (gpu, gpu->calls->fill (gpu->handle, target, byte, bytes, gpu->stream), "filling");
}

static inline void
gpu_wait (const Gpu *gpu, const char *what)
{
  gpu_check (gpu, gpu->calls->wait (gpu->handle, gpu->stream), what);
}
