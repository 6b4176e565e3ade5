/* SPDX-License-Identifier: MIT */
/* Opens devices by name and calls their backends. */
#include "engine/base/suggest.h"
#include "engine/device/backend.h"
#include "kernels/times.h"
#include <ligature/kernels.h>

#include <glib/gi18n-lib.h>
#include <stdlib.h>
#include <string.h>

G_DEFINE_FINAL_TYPE (LigDevice, lig_device, G_TYPE_OBJECT)

static void
lig_device_finalize (GObject *object)
{
  LigDevice *self = LIG_DEVICE (object);
  lig_device_leave (self);
  for (int lane = 0; lane < LIG_N_LANES; lane++)
    if (self->streams[lane])
      self->calls->stream_free (self->handle, self->streams[lane]);
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
device_new (const LigBackendTable *backend, const char *name)
{
  LigDevice *self = g_object_new (LIG_TYPE_DEVICE, NULL);
  self->name = g_strdup (name);
  self->backend = backend;
  return self;
}

/* Sets the backend in the facts if the capability does not imply it, so that a description written
 * from these facts contains it. */
static LigDevice *
finish (LigDevice *self)
{
  if (self->calls && lig_backend_table_described (&self->facts) != self->backend)
    g_strlcpy (self->facts.backend, self->backend->info.name, sizeof self->facts.backend);
  return self;
}

/* Opens the first accelerator that works; else returns null with the first failure in `reason`. */
static LigDevice *
open_accelerator (char **reason)
{
  const LigBackendTable *backend;
  for (guint n = 0; (backend = lig_backend_table_nth (n)); n++) {
    char why[512] = "", first[512] = "";
    if (!backend->driver || !(backend->info.traits & LIG_DEVICE_ACCELERATOR))
      continue;
    int count = lig_numbered_count (backend, first, sizeof first);
    for (int i = 0; i < count; i++) {
      g_autoptr (LigDevice) self = device_new (backend, NULL);
      if (lig_numbered_try (self, i, why, sizeof why))
        return finish (g_steal_pointer (&self));
      if (i == 0)
        g_strlcpy (first, why, sizeof first);
    }
    if (!*reason)
      *reason = g_strdup (first);
  }
  return NULL;
}

static LigDevice *
open_with (const LigBackendTable *backend, const char *name, const char *rest, GError **error)
{
  g_autoptr (LigDevice) self = device_new (backend, name);
  if (!(backend->open ? backend->open : lig_numbered_open) (self, rest, error))
    return NULL;
  return finish (g_steal_pointer (&self));
}

/* Opens the first accelerator that works, else the CPU. */
static LigDevice *
open_best (GError **error)
{
  g_autofree char *reason = NULL;
  LigDevice *self = open_accelerator (&reason);
  if (self)
    return self;
  const LigDeviceFacts none = {0};
  const LigBackendTable *backend = lig_backend_table_described (&none);
  self = open_with (backend, backend->info.name, NULL, error);
  if (self)
    self->remark =
      g_strdup_printf (_ ("no GPU: %s; using the %s"), reason ? reason : _ ("none is supported"),
                       _ (backend->info.title));
  return self;
}

/* Returns whether the word is the part after the colon of a device's name, like `h100` in
 * `null:h100`. */
static gboolean
is_end_of (const char *word, const char *name)
{
  const char *colon = strchr (name, ':');
  return colon && !g_ascii_isdigit (*word) && g_ascii_strcasecmp (colon + 1, word) == 0;
}

/* Suggests a device of this computer, or the first one of a backend that has none here. */
static char *
suggest (const char *name)
{
  const LigBackendTable *backend;
  g_auto (GStrv) present = lig_device_list ();
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
  g_strv_builder_addv (builder, (const char **) present);
  for (guint i = 0; (backend = lig_backend_table_nth (i)); i++) {
    gboolean numbered = backend->takes != LIG_TAKES_NOTHING && backend->takes != LIG_TAKES_WORD;
    g_autofree char *first = g_strconcat (backend->info.name, numbered ? ":0" : "", NULL);
    g_strv_builder_add (builder, first);
  }
  g_auto (GStrv) names = g_strv_builder_end (builder);
  for (char **at = names; *at; at++)
    if (is_end_of (name, *at))
      return lig_suggest_ending (*at, (const char *const[]){*at, NULL});
  return lig_suggest_ending (name, (const char *const *) names);
}

LigDevice *
lig_device_open (const char *name, GError **error)
{
  const char *rest;
  if (!name)
    return open_best (error);
  const LigBackendTable *backend = lig_backend_table_find (name, &rest);
  if (backend)
    return open_with (backend, name, rest, error);
  g_autofree char *forms = lig_backend_join (_ (" and "), TRUE, 0);
  g_autofree char *like = suggest (name);
  g_set_error (error, LIG_ERROR, LIG_ERROR_DEVICE, _ ("device '%s' is unknown; choose from %s%s"),
               name, forms, like);
  return NULL;
}

const char *
lig_device_get_name (LigDevice *self)
{
  return self->name;
}

gboolean
lig_device_has (LigDevice *self, LigDeviceTraits trait)
{
  return (self->backend->info.traits & trait) != 0;
}

gint64
lig_device_count_scratch (LigDevice *self, const LigKernel *kernel, const LigLaunch *launch)
{
  LigBackendKind kind =
    lig_device_get_facts (self)->capability > 0 ? LIG_BACKEND_CUDA : LIG_BACKEND_CPU;
  return lig_kernel_scratch (kernel, launch, kind);
}

gboolean
lig_device_same_backend (LigDevice *self, const char *name)
{
  return lig_backend_find (name) == &self->backend->info;
}

void
lig_device_libraries (LigDevice *self, char *text, gsize size)
{
  g_strlcpy (text, self->facts.libraries, size);
  if (self->backend->libraries)
    self->backend->libraries (text, size);
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
  LigFabric measured = self->facts.fabric;
  self->facts = *facts;
  /* The description has only an estimate of the links to the ranks that the device joined. */
  if (self->ranks)
    self->facts.fabric = measured;
}

gboolean
lig_device_get_health (LigDevice *self, LigDeviceHealth *health)
{
  LigBackendHealth now = {-1, -1, -1, -1, -1, "", -1};
  LigBackendFacts facts = {0};
  if (self->handle) {
    self->calls->health (self->handle, &now);
    self->calls->describe (self->handle, &facts);
  }
  *health =
    (LigDeviceHealth){now.clock, now.memory_clock, now.power, now.power_limit, now.temperature, {0},
                      {0},       now.utilization};
  g_strlcpy (health->throttling, now.throttling, sizeof health->throttling);
  g_strlcpy (health->driver, facts.driver, sizeof health->driver);
  return self->handle != NULL;
}

gboolean
lig_device_has_kernel (LigDevice *self, const LigKernel *kernel, LigDtype dtype)
{
  /* A described GPU has every built-in kernel, because their functions may be in a module that is
   * not loaded, but of an embedding program's kernels only those with a function for its
   * backend. */
  gboolean described = lig_device_has (self, LIG_DEVICE_DESCRIBED);
  gboolean runs = described && kernel->traits & LIG_KERNEL_BUILT_IN;
  const LigBackendTable *of =
    described ? lig_backend_table_described (&self->facts) : self->backend;
  return kernel->types & LIG_TYPES (dtype) && (runs || (of && kernel->functions[of->kind]));
}

LigKernelFunc
lig_host_function (const LigKernel *kernel)
{
  return kernel->functions[LIG_BACKEND_CPU];
}

LigKernelFunc
lig_device_function (LigDevice *self, const LigKernel *kernel)
{
  return kernel->functions[self->backend->kind];
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
  return self->streams[LIG_LANE_MAIN];
}

void *
lig_device_lane (LigDevice *self, LigLane lane)
{
  return self->streams[lane];
}

gboolean
lig_device_check (LigDevice *self, LigStatus status, const char *what, GError **error)
{
  if (status == LIG_OK)
    return TRUE;
  g_set_error (error, LIG_ERROR, status == LIG_OUT_OF_MEMORY ? LIG_ERROR_MEMORY : LIG_ERROR_DEVICE,
               _ ("%s: %s on %s%s"), what, self->calls->message (self->handle), self->name,
               status == LIG_DEVICE_LOST ? _ ("; open the device again in a new process") : "");
  return FALSE;
}

/* Sets an error with the requested bytes and, if the device reports them, the free bytes. */
static void
explain_memory (LigDevice *self, gsize bytes, GError **error)
{
  gsize unused = 0, total = 0;
  if (self->calls->free_memory (self->handle, &unused, &total) == LIG_OK)
    g_set_error (error, LIG_ERROR, LIG_ERROR_MEMORY,
                 g_dngettext (GETTEXT_PACKAGE, "no memory for %zu byte on %s: %zu of %zu are free",
                              "no memory for %zu bytes on %s: %zu of %zu are free",
                              (gulong) (bytes)),
                 bytes, self->name, unused, total);
  else
    g_set_error (error, LIG_ERROR, LIG_ERROR_MEMORY,
                 g_dngettext (GETTEXT_PACKAGE, "no memory for %zu byte on %s, which has %zu",
                              "no memory for %zu bytes on %s, which has %zu", (gulong) (bytes)),
                 bytes, self->name, (gsize) self->facts.memory);
}

void *
lig_device_allocate (LigDevice *self, gsize bytes, GError **error)
{
  void *memory = NULL;
  if (!self->calls) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_DEVICE,
                 _ ("%s is only described; its plans cannot be run"), self->name);
    return NULL;
  }
  /* The system may promise the host more memory than it has. */
  gboolean fits =
    bytes <= G_MAXSSIZE / 2 && (self->facts.memory <= 0 || bytes <= (gsize) self->facts.memory);
  LigStatus status =
    fits ? self->calls->allocate (self->handle, bytes, &memory) : LIG_OUT_OF_MEMORY;
  if (status == LIG_OUT_OF_MEMORY)
    explain_memory (self, bytes, error);
  else
    lig_device_check (self, status, _ ("allocating"), error);
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
  return lig_device_check (
    self, self->calls->copy (self->handle, target, source, bytes, lig_device_stream (self)),
    _ ("uploading"), error);
}

gboolean
lig_device_download (LigDevice *self, void *target, const void *source, gsize bytes, GError **error)
{
  LigStatus status =
    self->calls->copy (self->handle, target, source, bytes, lig_device_stream (self));
  if (status == LIG_OK)
    status = self->calls->wait (self->handle, lig_device_stream (self));
  return lig_device_check (self, status, _ ("downloading"), error);
}

void
lig_device_leave (LigDevice *self)
{
  for (LigRankGroup group = 0; group < LIG_N_GROUPS; group++) {
    if (self->peers[group].handle)
      self->calls->disconnect (self->handle, self->peers[group].handle);
    self->peers[group].handle = NULL;
  }
}
