/* SPDX-License-Identifier: MIT */
/* Devices by name: the CPU, CUDA devices through their module, and devices that are only described.
 */
#include <ligature/device.h>

#include "engine/device/device-private.h"
#include "kernels/times.h"

#include <stdlib.h>
#include <string.h>

struct _LigDevice {
  GObject parent_instance;
  char *name, *remark;
  char id[64];
  LigBackendKind backend;
  LigDeviceFacts facts;
  const LigBackend *calls; /* null of a null device */
  LigBackendDevice *handle;
  void *stream, *branch;
};

G_DEFINE_FINAL_TYPE (LigDevice, lig_device, G_TYPE_OBJECT)

static void
lig_device_finalize (GObject *object)
{
  LigDevice *self = LIG_DEVICE (object);
  if (self->stream)
    self->calls->stream_free (self->handle, self->stream);
  if (self->branch)
    self->calls->stream_free (self->handle, self->branch);
  if (self->handle)
    self->calls->close (self->handle);
  g_free (self->name);
  g_free (self->remark);
  G_OBJECT_CLASS (lig_device_parent_class)->finalize (object);
}

static void
lig_device_class_init (LigDeviceClass *class)
{
  G_OBJECT_CLASS (class)->finalize = lig_device_finalize;
}

static void
lig_device_init (LigDevice *self)
{
}

static LigDevice *
device_new (const char *name, LigBackendKind backend)
{
  LigDevice *self = g_object_new (LIG_TYPE_DEVICE, NULL);
  self->name = g_strdup (name);
  self->backend = backend;
  return self;
}

static LigDevice *
open_cpu (void)
{
  LigDevice *self = device_new ("cpu", LIG_BACKEND_CPU);
  self->calls = lig_host_backend ();
  lig_cpu_facts (&self->facts);
  return self;
}

static LigDevice *
open_null (const char *name, GError **error)
{
  g_autoptr (LigDevice) self = device_new (name, LIG_BACKEND_NULL);
  const char *profile = name[4] == ':' ? name + 5 : NULL;
  if (!profile) {
    g_strlcpy (self->facts.name, "null", sizeof self->facts.name);
    return g_steal_pointer (&self);
  }
  return lig_profile_load (profile, &self->facts, error) ? g_steal_pointer (&self) : NULL;
}

/* Until it is measured, a GPU has the ceilings of the shipped profile of its name, or none: nothing
 * is predicted then. */
static void
assume_ceilings (LigDeviceFacts *facts)
{
  LigDeviceFacts like;
  if (!lig_profile_find (facts, &like))
    return;
  facts->copy = like.copy;
  facts->launch = like.launch;
  memcpy (facts->product, like.product, sizeof facts->product);
}

static void
describe_cuda (LigDevice *self)
{
  LigBackendFacts from;
  self->calls->describe (self->handle, &from);
  self->facts = (LigDeviceFacts){.capability = from.capability,
                                 .multiprocessors = from.multiprocessors,
                                 .memory = from.memory,
                                 .l2 = from.l2};
  g_strlcpy (self->facts.name, from.name, sizeof self->facts.name);
  g_strlcpy (self->facts.libraries, from.libraries, sizeof self->facts.libraries);
  g_strlcpy (self->id, from.id, sizeof self->id);
  assume_ceilings (&self->facts);
}

/* Null with the reason in `why`. */
static LigDevice *
open_cuda (int number, char *why, gsize size)
{
  const char *reason = NULL;
  const LigBackend *calls = lig_cuda_backend (&reason);
  if (!calls) {
    g_strlcpy (why, reason, size);
    return NULL;
  }
  g_autofree char *name = g_strdup_printf ("cuda:%d", number);
  g_autoptr (LigDevice) self = device_new (name, LIG_BACKEND_CUDA);
  self->calls = calls;
  if (calls->open (number, &self->handle, why, size) != LIG_OK)
    return NULL;
  if (calls->stream_new (self->handle, &self->stream) != LIG_OK ||
      calls->stream_new (self->handle, &self->branch) != LIG_OK) {
    g_strlcpy (why, calls->message (self->handle), size);
    return NULL;
  }
  describe_cuda (self);
  lig_times_mark ("device");
  return g_steal_pointer (&self);
}

/* The first GPU that works, else the CPU. */
static LigDevice *
open_best (void)
{
  char why[512] = "", first[512] = "";
  const char *reason = NULL;
  const LigBackend *calls = lig_cuda_backend (&reason);
  int count = calls ? calls->count (why, sizeof why) : 0;
  if (reason)
    g_strlcpy (why, reason, sizeof why);
  g_strlcpy (first, why, sizeof first);
  for (int i = 0; i < count; i++) {
    LigDevice *self = open_cuda (i, why, sizeof why);
    if (self)
      return self;
    if (i == 0)
      g_strlcpy (first, why, sizeof first);
  }
  LigDevice *self = open_cpu ();
  self->remark = g_strdup_printf ("no GPU: %s; using the CPU", first);
  return self;
}

/* `cuda` is `cuda:0`; -1 where the name is another's. */
static int
cuda_number (const char *name)
{
  guint64 number;
  if (g_str_equal (name, "cuda"))
    return 0;
  return g_str_has_prefix (name, "cuda:") &&
             g_ascii_string_to_unsigned (name + 5, 10, 0, 4095, &number, NULL)
           ? (int) number
           : -1;
}

LigDevice *
lig_device_open (const char *name, GError **error)
{
  char why[512] = "";
  if (!name)
    return open_best ();
  if (g_str_equal (name, "null") || g_str_has_prefix (name, "null:"))
    return open_null (name, error);
  if (g_str_equal (name, "cpu"))
    return open_cpu ();
  int number = cuda_number (name);
  if (number < 0) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_DEVICE,
                 "no device is called '%s'; there are cpu, cuda:N and null[:PROFILE]", name);
    return NULL;
  }
  LigDevice *self = open_cuda (number, why, sizeof why);
  if (!self)
    g_set_error (error, LIG_ERROR, LIG_ERROR_DEVICE, "%s cannot be used: %s", name, why);
  return self;
}

const char *
lig_device_get_name (LigDevice *self)
{
  return self->name;
}

LigBackendKind
lig_device_get_backend (LigDevice *self)
{
  return self->backend;
}

const LigDeviceFacts *
lig_device_get_facts (LigDevice *self)
{
  return &self->facts;
}

const char *
lig_device_get_built_for (LigDevice *self)
{
  return self->calls ? self->calls->built_for : NULL;
}

const char *
lig_device_get_id (LigDevice *self)
{
  return self->id;
}

const char *
lig_device_get_remark (LigDevice *self)
{
  return self->remark;
}

void
lig_device_set_facts (LigDevice *self, const LigDeviceFacts *facts)
{
  self->facts = *facts;
}

gboolean
lig_device_get_health (LigDevice *self, LigDeviceHealth *health)
{
  LigBackendHealth now = {-1, -1, -1, -1, -1, ""};
  LigBackendFacts facts = {0};
  if (self->handle) {
    self->calls->health (self->handle, &now);
    self->calls->describe (self->handle, &facts);
  }
  *health = (LigDeviceHealth){
    now.clock, now.memory_clock, now.power, now.power_limit, now.temperature, {0}, {0}};
  g_strlcpy (health->throttling, now.throttling, sizeof health->throttling);
  g_strlcpy (health->driver, facts.driver, sizeof health->driver);
  return self->handle != NULL;
}

gboolean
lig_device_has_kernel (LigDevice *self, const LigKernel *kernel, LigDtype dtype)
{
  /* A built-in kernel needs no module to be known of; a described GPU has of an embedding program's
   * kernels those that have a function for CUDA. */
  gboolean runs = self->backend == LIG_BACKEND_NULL && lig_kernel_find (kernel->name) == kernel;
  LigBackendKind kind = self->backend != LIG_BACKEND_NULL ? self->backend
                        : self->facts.capability > 0      ? LIG_BACKEND_CUDA
                                                          : LIG_BACKEND_CPU;
  return kernel->types & LIG_TYPES (dtype) && (runs || kernel->functions[kind]);
}

const LigBackend *
lig_device_calls (LigDevice *self)
{
  return self->calls;
}

LigBackendDevice *
lig_device_handle (LigDevice *self)
{
  return self->handle;
}

void *
lig_device_stream (LigDevice *self)
{
  return self->stream;
}

void *
lig_device_branch (LigDevice *self)
{
  return self->branch;
}

gboolean
lig_device_check (LigDevice *self, LigStatus status, const char *what, GError **error)
{
  if (status == LIG_OK)
    return TRUE;
  g_set_error (error, LIG_ERROR, status == LIG_OUT_OF_MEMORY ? LIG_ERROR_MEMORY : LIG_ERROR_DEVICE,
               "%s: %s on %s%s", what, self->calls->message (self->handle), self->name,
               status == LIG_DEVICE_LOST ? "; the device has to be opened anew, by another process"
                                         : "");
  return FALSE;
}

/* What was asked for, and what is left where the device tells. */
static void
explain_memory (LigDevice *self, gsize bytes, GError **error)
{
  gsize unused = 0, total = 0;
  if (self->calls->room (self->handle, &unused, &total) == LIG_OK)
    g_set_error (error, LIG_ERROR, LIG_ERROR_MEMORY,
                 "no memory for %" G_GSIZE_FORMAT " byte%s on %s: %" G_GSIZE_FORMAT
                 " of %" G_GSIZE_FORMAT " are free",
                 bytes, LIG_ENDING (bytes), self->name, unused, total);
  else
    g_set_error (error, LIG_ERROR, LIG_ERROR_MEMORY,
                 "no memory for %" G_GSIZE_FORMAT " byte%s on %s", bytes, LIG_ENDING (bytes),
                 self->name);
}

void *
lig_device_allocate (LigDevice *self, gsize bytes, GError **error)
{
  void *memory = NULL;
  if (!self->calls) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_DEVICE, "%s is not there: its plans cannot be run",
                 self->name);
    return NULL;
  }
  LigStatus status = bytes > G_MAXSSIZE / 2 ? LIG_OUT_OF_MEMORY
                                            : self->calls->allocate (self->handle, bytes, &memory);
  if (status == LIG_OUT_OF_MEMORY)
    explain_memory (self, bytes, error);
  else
    lig_device_check (self, status, "allocating", error);
  return memory;
}

void
lig_device_release (LigDevice *self, void *memory)
{
  if (memory)
    self->calls->release (self->handle, memory);
}

gboolean
lig_device_upload (LigDevice *self, void *target, const void *source, gsize bytes, GError **error)
{
  return lig_device_check (self,
                           self->calls->copy (self->handle, target, source, bytes, self->stream),
                           "uploading", error);
}

gboolean
lig_device_download (LigDevice *self, void *target, const void *source, gsize bytes, GError **error)
{
  LigStatus status = self->calls->copy (self->handle, target, source, bytes, self->stream);
  if (status == LIG_OK)
    status = self->calls->wait (self->handle, self->stream);
  return lig_device_check (self, status, "downloading", error);
}
