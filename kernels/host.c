/* SPDX-License-Identifier: MIT */
/* The CPU as a backend: memory comes from malloc, a copy has finished when it returns, and an
 * event is the time at which it was recorded. */
#include "kernels/backend.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *
message (LigBackendDevice *device)
{
  (void) device;
  return "no memory";
}

static void
enter (LigBackendDevice *device)
{
  (void) device;
}

/* Allocates 256-byte aligned memory, at least 256 bytes. */
static LigStatus
allocate (LigBackendDevice *device, size_t bytes, void **memory)
{
  (void) device;
  *memory = NULL;
  return bytes <= SIZE_MAX / 4 && posix_memalign (memory, 256, bytes < 256 ? 256 : bytes) == 0
           ? LIG_OK
           : LIG_OUT_OF_MEMORY;
}

static void
release (LigBackendDevice *device, void *memory)
{
  (void) device;
  free (memory);
}

/* Makes a stream, of which the CPU needs none. */
static LigStatus
nothing_new (LigBackendDevice *device, void **stream)
{
  (void) device;
  *stream = NULL;
  return LIG_OK;
}

/* Frees a stream, of which there is nothing to free. */
static void
nothing_free (LigBackendDevice *device, void *stream)
{
  (void) device;
  (void) stream;
}

/* Waits for a stream or an event, both of which have finished already. */
static LigStatus
nothing_waits (LigBackendDevice *device, void *stream_or_event)
{
  (void) device;
  (void) stream_or_event;
  return LIG_OK;
}

/* Lets a stream wait for an event that has happened already. */
static LigStatus
nothing_awaits (LigBackendDevice *device, void *stream, void *event)
{
  (void) event;
  return nothing_waits (device, stream);
}

static LigStatus
copy (LigBackendDevice *device, void *target, const void *source, size_t bytes, void *stream)
{
  (void) device;
  (void) stream;
  memcpy (target, source, bytes);
  return LIG_OK;
}

static LigStatus
fill (LigBackendDevice *device, void *target, int byte, size_t bytes, void *stream)
{
  (void) device;
  (void) stream;
  memset (target, byte, bytes);
  return LIG_OK;
}

static LigStatus
event_new (LigBackendDevice *device, void **event)
{
  (void) device;
  *event = calloc (1, sizeof (struct timespec));
  return *event ? LIG_OK : LIG_OUT_OF_MEMORY;
}

static LigStatus
record (LigBackendDevice *device, void *event, void *stream)
{
  (void) device;
  (void) stream;
  clock_gettime (CLOCK_MONOTONIC, event);
  return LIG_OK;
}

static LigStatus
elapsed (LigBackendDevice *device, void *begin, void *end, double *seconds)
{
  const struct timespec *from = begin, *to = end;
  (void) device;
  *seconds = (double) (to->tv_sec - from->tv_sec) + 1e-9 * (double) (to->tv_nsec - from->tv_nsec);
  return LIG_OK;
}

/* Reports no free memory: the system decides how much a process may have. */
static LigStatus
free_memory (LigBackendDevice *device, size_t *unused, size_t *total)
{
  (void) device;
  *unused = *total = 0;
  return LIG_UNSUPPORTED;
}

static void
health (LigBackendDevice *device, LigBackendHealth *health)
{
  (void) device;
  *health = (LigBackendHealth){-1, -1, -1, -1, -1, "", -1};
}

static void
keep_choices (LigBackendDevice *device, const LigChoices *choices)
{
  (void) device;
  (void) choices;
}

const LigBackend *
lig_host_backend (void)
{
  static const LigBackend backend = {
    .version = LIG_BACKEND_VERSION,
    .enter = enter,
    .message = message,
    .health = health,
    .keep_choices = keep_choices,
    .allocate = allocate,
    .release = release,
    .allocate_host = allocate,
    .release_host = release,
    .free_memory = free_memory,
    .stream_new = nothing_new,
    .stream_free = nothing_free,
    .wait = nothing_waits,
    .copy = copy,
    .fill = fill,
    .put = copy,
    .event_new = event_new,
    .event_free = release,
    .record = record,
    .await = nothing_awaits,
    .wait_event = nothing_waits,
    .elapsed = elapsed,
  };
  return &backend;
}
