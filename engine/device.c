/* SPDX-License-Identifier: MIT */
/* Devices by name: the CPU, CUDA devices through their module, and devices that are only described.
 */
#include "engine/device.h"

#include "engine/private/device.h"

#include <stdlib.h>
#include <string.h>

struct _LigDevice {
  GObject parent_instance;
  char *name, *remark;
  LigBackendKind backend;
  LigDeviceFacts facts;
};

G_DEFINE_FINAL_TYPE (LigDevice, lig_device, G_TYPE_OBJECT)

static void
lig_device_finalize (GObject *object)
{
  LigDevice *self = LIG_DEVICE (object);
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
  if (backend == LIG_BACKEND_CPU)
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

LigDevice *
lig_device_open (const char *name, GError **error)
{
  if (name && (g_str_equal (name, "null") || g_str_has_prefix (name, "null:")))
    return open_null (name, error);
  if (name && g_str_equal (name, "cpu"))
    return device_new ("cpu", LIG_BACKEND_CPU);
  g_autofree char *reason = lig_cuda_missing ();
  if (!name) {
    LigDevice *self = device_new ("cpu", LIG_BACKEND_CPU);
    self->remark = g_strdup_printf ("no GPU: %s; using the CPU", reason);
    return self;
  }
  if (g_str_equal (name, "cuda") || g_str_has_prefix (name, "cuda:"))
    g_set_error (error, LIG_ERROR, LIG_ERROR_DEVICE, "%s cannot be used: %s", name, reason);
  else
    g_set_error (error, LIG_ERROR, LIG_ERROR_DEVICE,
                 "no device is called '%s'; there are cpu, cuda:N and null[:PROFILE]", name);
  return NULL;
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
lig_device_measure (LigDevice *self, GError **error)
{
  if (self->backend == LIG_BACKEND_CPU)
    return lig_cpu_measure (&self->facts, error);
  g_set_error (error, LIG_ERROR, LIG_ERROR_DEVICE, "%s is not there and cannot be measured",
               self->name);
  return FALSE;
}

gboolean
lig_device_has_kernel (LigDevice *self, const LigKernel *kernel, LigDtype dtype)
{
  return kernel->types & LIG_TYPES (dtype) &&
         (self->backend == LIG_BACKEND_NULL || kernel->functions[self->backend]);
}

void *
lig_device_allocate (LigDevice *self, gsize bytes, GError **error)
{
  void *memory = NULL;
  if (self->backend == LIG_BACKEND_NULL)
    g_set_error (error, LIG_ERROR, LIG_ERROR_DEVICE, "%s is not there: its plans cannot be run",
                 self->name);
  else if (bytes > G_MAXSSIZE / 2 || posix_memalign (&memory, 256, MAX (bytes, 256)) != 0)
    g_set_error (error, LIG_ERROR, LIG_ERROR_MEMORY,
                 "no memory for %" G_GSIZE_FORMAT " bytes on %s", bytes, self->name);
  else
    return memory;
  return NULL;
}

void
lig_device_release (LigDevice *self, void *memory)
{
  free (memory);
}

void
lig_device_upload (LigDevice *self, void *target, const void *source, gsize bytes)
{
  memcpy (target, source, bytes);
}

void
lig_device_download (LigDevice *self, void *target, const void *source, gsize bytes)
{
  memcpy (target, source, bytes);
}
