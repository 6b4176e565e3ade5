/* SPDX-License-Identifier: MIT */
/* The backends listed in meson.build, and the names of their devices. */
#include "engine/device/backend.h"

#include <glib/gi18n-lib.h>
#include <string.h>

#define LIG_LISTED(name) extern const LigBackendTable lig_backend_##name;
#include "backend-list.h"
#undef LIG_LISTED

static const LigBackendTable *const backends[] = {
#define LIG_LISTED(name) &lig_backend_##name,
#include "backend-list.h"
#undef LIG_LISTED
};

const LigBackendTable *
lig_backend_table_nth (guint n)
{
  return n < G_N_ELEMENTS (backends) ? backends[n] : NULL;
}

const LigBackendInfo *
lig_backend_nth (guint n)
{
  return n < G_N_ELEMENTS (backends) ? &backends[n]->info : NULL;
}

/* Returns whether the backend accepts the part of a device name after the backend's name, and sets
 * `rest` to the part after the colon. */
static gboolean
accepts (const LigBackendTable *backend, const char *suffix, const char **rest)
{
  guint64 number;
  *rest = *suffix == ':' ? suffix + 1 : NULL;
  if (*suffix == '\0')
    return TRUE;
  if (!*rest || backend->takes == LIG_TAKES_NOTHING)
    return FALSE;
  return backend->takes == LIG_TAKES_WORD ||
         g_ascii_string_to_unsigned (*rest, 10, 0, 4095, &number, NULL);
}

const LigBackendTable *
lig_backend_table_find (const char *name, const char **rest)
{
  for (guint i = 0; i < G_N_ELEMENTS (backends); i++)
    if (g_str_has_prefix (name, backends[i]->info.name) &&
        accepts (backends[i], name + strlen (backends[i]->info.name), rest))
      return backends[i];
  return NULL;
}

const LigBackendInfo *
lig_backend_find (const char *name)
{
  const char *rest;
  const LigBackendTable *backend = lig_backend_table_find (name, &rest);
  return backend ? &backend->info : NULL;
}

gboolean
lig_device_name_has (const char *name, LigDeviceTraits trait)
{
  const LigBackendInfo *info = lig_backend_find (name);
  return info && info->traits & trait;
}

const LigBackendTable *
lig_backend_table_described (const LigDeviceFacts *facts)
{
  gboolean named = facts->backend[0] != '\0', accelerator = facts->capability > 0;
  for (guint i = 0; i < G_N_ELEMENTS (backends); i++) {
    unsigned traits = backends[i]->info.traits;
    if (named ? g_str_equal (backends[i]->info.name, facts->backend)
              : !(traits & LIG_DEVICE_DESCRIBED) &&
                  accelerator == ((traits & LIG_DEVICE_ACCELERATOR) != 0))
      return backends[i];
  }
  return NULL;
}

char *
lig_backend_join (const char *last, gboolean forms, LigDeviceTraits without)
{
  g_autoptr (GPtrArray) words = g_ptr_array_new ();
  GString *text = g_string_new (NULL);
  for (guint i = 0; i < G_N_ELEMENTS (backends); i++)
    if (!(backends[i]->info.traits & without))
      g_ptr_array_add (words, (gpointer) (forms ? backends[i]->info.form : backends[i]->info.name));
  for (guint i = 0; i < words->len; i++)
    g_string_append_printf (text, "%s%s",
                            i == 0               ? ""
                            : i + 1 < words->len ? ", "
                                                 : last,
                            (const char *) words->pdata[i]);
  return g_string_free (text, FALSE);
}

const char *
lig_device_forms (LigDeviceTraits without)
{
  g_autofree char *text = lig_backend_join (_ (" or "), TRUE, without);
  return g_intern_string (text);
}
