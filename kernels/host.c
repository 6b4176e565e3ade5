/* SPDX-License-Identifier: MIT */
/* The CPU as a backend: memory comes from malloc, copies are synchronous, and an event is a
 * position in a queue, or the time at which it was recorded. */
#include "kernels/backend.h"
#include "kernels/host-queue.h"

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

typedef struct {
  struct timespec time;
  LigHostQueue *queue; /* null: the stream of the launching thread */
  uint64_t place;
} Event;

static LigStatus
stream_new (LigBackendDevice *device, void **stream)
{
  (void) device;
  *stream = lig_host_queue_new ();
  return *stream ? LIG_OK : LIG_OUT_OF_MEMORY;
}

static void
stream_free (LigBackendDevice *device, void *stream)
{
  (void) device;
  lig_host_queue_free (stream);
}

static LigStatus
wait (LigBackendDevice *device, void *stream)
{
  (void) device;
  return stream ? lig_host_queue_wait (stream, lig_host_queue_place (stream)) : LIG_OK;
}

static LigStatus
enqueue (LigBackendDevice *device, void *stream, LigKernelFunc function, LigLaunch *launch)
{
  (void) device;
  lig_host_queue_append (stream, function, launch);
  return LIG_OK;
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
  *event = calloc (1, sizeof (Event));
  return *event ? LIG_OK : LIG_OUT_OF_MEMORY;
}

static LigStatus
record (LigBackendDevice *device, void *event, void *stream)
{
  Event *self = event;
  (void) device;
  self->queue = stream;
  self->place = stream ? lig_host_queue_place (stream) : 0;
  clock_gettime (CLOCK_MONOTONIC, &self->time);
  return LIG_OK;
}

static LigStatus
wait_event (LigBackendDevice *device, void *event)
{
  const Event *self = event;
  (void) device;
  return self->queue ? lig_host_queue_wait (self->queue, self->place) : LIG_OK;
}

/* The calls of a queue run in order, so that only another stream has to wait. */
static LigStatus
await (LigBackendDevice *device, void *stream, void *event)
{
  const Event *self = event;
  return self->queue == stream ? LIG_OK : wait_event (device, event);
}

static LigStatus
elapsed (LigBackendDevice *device, void *begin, void *end, double *seconds)
{
  const struct timespec *from = &((const Event *) begin)->time, *to = &((const Event *) end)->time;
  (void) device;
  *seconds = (double) (to->tv_sec - from->tv_sec) + 1e-9 * (double) (to->tv_nsec - from->tv_nsec);
  return LIG_OK;
}

static uint64_t
get_nanoseconds (void)
{
  struct timespec now;
  clock_gettime (CLOCK_MONOTONIC, &now);
  return (uint64_t) now.tv_sec * 1000000000u + (uint64_t) now.tv_nsec;
}

static LigStatus
start (LigBackendDevice *device, LigTimer *timer, void *stream)
{
  (void) device;
  (void) stream;
  timer->began = get_nanoseconds ();
  return LIG_OK;
}

static LigStatus
stop (LigBackendDevice *device, LigTimer *timer, void *stream)
{
  (void) device;
  (void) stream;
  timer->seconds += 1e-9 * (double) (get_nanoseconds () - timer->began);
  return LIG_OK;
}

/* Reports no free memory: the system decides how much a process may use. */
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
    .stream_new = stream_new,
    .stream_free = stream_free,
    .wait = wait,
    .enqueue = enqueue,
    .copy = copy,
    .fill = fill,
    .put = copy,
    .event_new = event_new,
    .event_free = release,
    .record = record,
    .await = await,
    .wait_event = wait_event,
    .elapsed = elapsed,
    .start = start,
    .stop = stop,
  };
  return &backend;
}
