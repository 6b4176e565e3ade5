/* SPDX-License-Identifier: MIT */
/* Keeps measured times and peak rates in the store. */
#include "engine/store/tuning.h"
#include "engine/device/device-private.h"
#include "engine/measure/tuning-private.h"
#include <ligature/device.h>
#include <ligature/store-rows.h>
#include <ligature/store.h>
#include <ligature/tuning.h>

#include <glib/gi18n-lib.h>

static gboolean
get (gpointer data, const char *key, double *microseconds, double *noise, char **choice)
{
  return data && lig_store_get_tuning (data, key, microseconds, noise, choice);
}

/* Ignores errors: a time that cannot be stored is measured again next time, which must not fail a
 * compilation. */
static void
put (gpointer data, const char *key, double microseconds, double noise, const char *choice)
{
  if (data)
    lig_store_put_tuning (data, key, microseconds, noise, choice, NULL);
}

static char *
list (gpointer data, const char *part)
{
  return data ? lig_store_list_choices (data, part) : NULL;
}

void
lig_tuning_init (LigTuning *self, LigStore *store)
{
  *self = (LigTuning){get, put, store, list};
}

/* Returns the key of peak rates that were measured quickly. It contains everything on which they
 * depend; the key of those stored by `lig devices --measure` is only the device's name. */
static char *
key_of (LigDevice *device)
{
  const LigDeviceFacts *facts = lig_device_get_facts (device);
  return g_strjoin ("|", lig_device_get_name (device), facts->name, facts->libraries, NULL);
}

static gboolean
recall_as (LigDevice *device, LigStore *store, const char *key)
{
  LigDeviceFacts facts;
  g_autofree char *json = lig_store_get_device (store, key, NULL);
  if (!json || !lig_device_facts_from_json (json, &facts, NULL) ||
      !g_str_equal (facts.name, lig_device_get_facts (device)->name) ||
      !g_str_equal (facts.libraries, lig_device_get_facts (device)->libraries))
    return FALSE;
  facts.measured = TRUE;
  /* Peak rates measured by an older version may be incomplete; the missing ones are taken from the
   * description. */
  if (!facts.costs.known)
    facts.costs = lig_device_get_facts (device)->costs;
  if (facts.upload == 0)
    facts.upload = lig_device_get_facts (device)->upload;
  lig_device_share_rates (device, &facts);
  lig_device_set_facts (device, &facts);
  return TRUE;
}

static gboolean
recall_from (LigDevice *device, LigStore *store)
{
  g_autofree char *key = key_of (device);
  return recall_as (device, store, lig_device_get_name (device)) || recall_as (device, store, key);
}

gboolean
lig_tuning_recall (LigDevice *device, const char *path)
{
  if (lig_device_has (device, LIG_DEVICE_DESCRIBED))
    return FALSE;
  g_autoptr (LigStore) store = lig_store_open_existing (path, LIG_STORE_READ, NULL);
  return store && recall_from (device, store);
}

void
lig_tuning_learn (LigDevice *device, LigStore *store)
{
  g_autoptr (GError) error = NULL;
  if (lig_device_has (device, LIG_DEVICE_DESCRIBED) || lig_device_get_facts (device)->measured ||
      (store && recall_from (device, store)) || lig_device_get_facts (device)->copy > 0 || !store)
    return;
  g_autofree char *said = g_strdup_printf (
    _ ("measuring how fast %s is, once; predictions use the result"), lig_device_get_name (device));
  lig_tuning_say (said);
  if (!lig_device_measure_quickly (device, &error)) {
    lig_tuning_say (error->message);
    return;
  }
  g_autofree char *key = key_of (device);
  g_autofree char *json = lig_device_facts_to_json (lig_device_get_facts (device));
  lig_store_put_device (store, key, json, NULL);
  LigDeviceFacts shared = *lig_device_get_facts (device);
  lig_device_share_rates (device, &shared);
  lig_device_set_facts (device, &shared);
}
