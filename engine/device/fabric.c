/* SPDX-License-Identifier: MIT */
/* The links between devices: descriptions, and predicted times of collectives. */
#include "engine/device/fabric.h"

#include <ligature/json-members.h>

#include <glib/gi18n-lib.h>
#include <math.h>
#include <string.h>

/* --- Times --------------------------------------------------------------------------------- */

/* Returns the seconds of a ring reduce-scatter or all-gather. */
static double
pass_around (const LigFabricLink *link, int ranks, double bytes)
{
  return (ranks - 1) * (link->latency + bytes / ranks / link->bandwidth);
}

static double
reduce_all (const LigFabricLink *link, int ranks, double bytes)
{
  double tree = 2 * (ceil (log2 (ranks)) * link->latency + bytes / link->bandwidth);
  return ranks < 2 ? 0 : MIN (2 * pass_around (link, ranks, bytes), tree);
}

/* Returns the seconds in which each rank sends a part of `bytes` to each other one. All messages
 * are on the way at once, those to ranks of its machine and those to other machines on different
 * links. */
static double
exchange_all (const LigFabric *self, int machines, int here, double bytes)
{
  double each = bytes / (machines * here);
  double latency =
    ceil (log2 (here)) * self->inside.latency + ceil (log2 (machines)) * self->between.latency;
  double inside = (here - 1) * each / self->inside.bandwidth;
  double between = (machines - 1) * here * each / self->between.bandwidth;
  return latency + MAX (inside, between);
}

/* Returns the seconds in which each rank sends to the next one: those of the slowest link. */
static double
pass_on (const LigFabric *self, int machines, int here, double bytes)
{
  const LigFabricLink *link = machines > 1 ? &self->between : &self->inside;
  double inside = self->inside.latency + bytes / self->inside.bandwidth;
  return MAX (link->latency + bytes / link->bandwidth, here > 1 ? inside : 0);
}

/* Returns the seconds of the transfer itself; the numbers of the group's ranks are `stride`
 * apart. */
static double
travel (const LigFabric *self, LigCollective collective, int ranks, int stride, double bytes)
{
  int devices = MAX (self->devices / MAX (stride, 1), 1);
  int here = MIN (ranks, devices), machines = (ranks + devices - 1) / devices;
  if (collective == LIG_RING_EXCHANGE)
    return pass_on (self, machines, here, bytes);
  if (collective == LIG_ALL_TO_ALL)
    return exchange_all (self, machines, here, bytes);
  if (machines == 1 && collective == LIG_ALL_REDUCE)
    return reduce_all (&self->inside, here, bytes);
  double inside = here > 1 ? pass_around (&self->inside, here, bytes) : 0;
  if (collective != LIG_ALL_REDUCE)
    return inside + (machines > 1 ? pass_around (&self->between, machines, bytes / here) : 0);
  return 2 * inside + reduce_all (&self->between, machines, bytes / here);
}

double
lig_fabric_predict (
  const LigFabric *self, LigCollective collective, int ranks, int stride, double bytes)
{
  if (self->devices < 1 || ranks < 2 || (guint) collective >= LIG_N_COLLECTIVES)
    return 0;
  return self->start + travel (self, collective, ranks, stride, bytes);
}

/* --- Descriptions -------------------------------------------------------------------------- */

/* A number in an object, and its plausible range. */
typedef struct {
  const char *key;
  double min, max;
} Number;

static gboolean
read_number (
  JsonObject *object, const char *place, const Number *number, double *to, GError **error)
{
  JsonNode *node = json_object_get_member (object, number->key);
  GType type = node && JSON_NODE_HOLDS_VALUE (node) ? json_node_get_value_type (node) : 0;
  *to = type == G_TYPE_INT64 || type == G_TYPE_DOUBLE ? json_node_get_double (node) : NAN;
  if (*to >= number->min && *to <= number->max)
    return TRUE;
  g_set_error (error, LIG_ERROR, LIG_ERROR_FORMAT, _ ("%s: %s is not a number from %g to %g"),
               place, number->key, number->min, number->max);
  return FALSE;
}

/* Rejects members that are not in the list. */
static gboolean
check_keys (JsonObject *object, const char *place, const char *const *keys, GError **error)
{
  g_autoptr (GList) members = json_object_get_members (object);
  for (GList *at = members; at; at = at->next) {
    if (g_strv_contains (keys, at->data))
      continue;
    g_autofree char *known = g_strjoinv (", ", (char **) keys);
    g_set_error (error, LIG_ERROR, LIG_ERROR_FORMAT,
                 _ ("%s: key '%.60s' is unknown; the keys are %s"), place, (char *) at->data,
                 known);
    return FALSE;
  }
  return TRUE;
}

static JsonObject *
get_object (JsonObject *object, const char *name, GError **error)
{
  JsonNode *node = json_object_get_member (object, name);
  if (node && JSON_NODE_HOLDS_OBJECT (node))
    return json_node_get_object (node);
  g_set_error (error, LIG_ERROR, LIG_ERROR_FORMAT, _ ("%s is not an object"), name);
  return NULL;
}

static gboolean
read_link (JsonObject *fabric, const char *name, LigFabricLink *link, GError **error)
{
  static const char *const keys[] = {"bandwidth", "latency", NULL};
  static const Number numbers[] = {{"bandwidth", 1e6, 1e15}, {"latency", 0, 1}};
  g_autofree char *place = g_strconcat ("fabric: ", name, NULL);
  JsonObject *object = get_object (fabric, name, error);
  return object && check_keys (object, place, keys, error) &&
         read_number (object, place, &numbers[0], &link->bandwidth, error) &&
         read_number (object, place, &numbers[1], &link->latency, error);
}

gboolean
lig_fabric_read (JsonObject *description, LigFabric *fabric, GError **error)
{
  static const char *const keys[] = {"devices", "multiprocessors", "start",
                                     "inside",  "between",         NULL};
  static const Number numbers[] = {
    {"devices", 1, 1024}, {"multiprocessors", 0, 1e6}, {"start", 0, 1}};
  double devices, multiprocessors;
  *fabric = (LigFabric){0};
  if (!json_object_has_member (description, "fabric"))
    return TRUE;
  JsonObject *object = get_object (description, "fabric", error);
  LigFabric read = {0};
  if (!object || !check_keys (object, "fabric", keys, error) ||
      !read_number (object, "fabric", &numbers[0], &devices, error) ||
      !read_number (object, "fabric", &numbers[1], &multiprocessors, error) ||
      (json_object_has_member (object, "start") &&
       !read_number (object, "fabric", &numbers[2], &read.start, error)) ||
      !read_link (object, "inside", &read.inside, error) ||
      !read_link (object, "between", &read.between, error))
    return FALSE;
  read.devices = (int) devices;
  read.multiprocessors = (int) multiprocessors;
  *fabric = read;
  return TRUE;
}

static void
write_link (JsonBuilder *builder, const char *name, const LigFabricLink *link)
{
  lig_json_begin_object (builder, name);
  lig_json_add_number (builder, "bandwidth", link->bandwidth);
  lig_json_add_number (builder, "latency", link->latency);
  json_builder_end_object (builder);
}

void
lig_fabric_write (const LigFabric *fabric, JsonBuilder *builder)
{
  if (fabric->devices < 1)
    return;
  lig_json_begin_object (builder, "fabric");
  lig_json_add_integer (builder, "devices", fabric->devices);
  lig_json_add_integer (builder, "multiprocessors", fabric->multiprocessors);
  lig_json_add_number (builder, "start", fabric->start);
  write_link (builder, "inside", &fabric->inside);
  write_link (builder, "between", &fabric->between);
  json_builder_end_object (builder);
}
