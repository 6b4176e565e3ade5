/* SPDX-License-Identifier: MIT */
/* Device descriptions: JSON files with a device's facts, from data/devices or from a path. */
#include "engine/base/json-private.h"
#include "engine/base/suggest.h"
#include "engine/device/backend.h"
#include "engine/device/costs.h"
#include "engine/device/fabric.h"
#include <ligature/folders.h>
#include <ligature/json.h>

#include <errno.h>
#include <fcntl.h>
#include <glib/gi18n-lib.h>
#include <json-glib/json-glib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A description is a page of text; larger files are rejected. */
#define MAX_BYTES ((gsize) 1 << 20)

/* The descriptions of data/devices, compiled in so that a card is recognized by its name without
 * the data folder. */
static const struct {
  const char *name, *text;
} shipped[] = {
#include "engine/descriptions.h"
};

/* The plausible range of a number, with wide margins: values outside are typing mistakes, and would
 * make charts of unlimited size. */
typedef struct {
  const char *key, *unit;
  double min, max;
} Range;

static gboolean
read_number (JsonObject *object, const Range *range, double *value, GError **error)
{
  JsonNode *node = object ? json_object_get_member (object, range->key) : NULL;
  GType type = node ? json_node_get_value_type (node) : G_TYPE_INVALID;
  *value = 0;
  if (!node)
    return TRUE;
  if (type != G_TYPE_INT64 && type != G_TYPE_DOUBLE) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_FORMAT, _ ("%s is not a number"), range->key);
    return FALSE;
  }
  *value = json_node_get_double (node);
  if (*value == 0 || (*value >= range->min && *value <= range->max))
    return TRUE;
  g_set_error (error, LIG_ERROR, LIG_ERROR_FORMAT, _ ("%s is %g, expected %g to %g%s"), range->key,
               *value, range->min, range->max, range->unit);
  return FALSE;
}

static void
text (JsonObject *object, const char *key, char *target, gsize size)
{
  JsonNode *node = json_object_get_member (object, key);
  gboolean fits = node && json_node_get_value_type (node) == G_TYPE_STRING;
  g_strlcpy (target, fits ? json_node_get_string (node) : "", size);
}

/* The key of the rate of 4-bit matmuls. */
#define FP4 "fp4"

static gboolean
read_matmuls (JsonObject *object, LigDeviceFacts *facts, GError **error)
{
  JsonNode *node = lig_costs_find_member (object, "matmul");
  JsonObject *matmul = node && JSON_NODE_HOLDS_OBJECT (node) ? json_node_get_object (node) : NULL;
  for (int i = 0; i < LIG_N_DTYPES; i++) {
    Range range = {lig_dtype_name ((LigDtype) i), " operations a second", 1e6, 1e21};
    if (!read_number (matmul, &range, &facts->matmul[i], error)) {
      g_prefix_error (error, _ ("matmul: "));
      return FALSE;
    }
  }
  Range fp4 = {FP4, " operations a second", 1e6, 1e21};
  if (read_number (matmul, &fp4, &facts->matmul_fp4, error))
    return TRUE;
  g_prefix_error (error, _ ("matmul: "));
  return FALSE;
}

static gboolean
read_facts (JsonObject *object, LigDeviceFacts *facts, char **remark, GError **error)
{
  static const Range ranges[] = {
    {"capability", "", 1, 9999},
    {"multiprocessors", "", 1, 1e6},
    {"memory", " bytes", 1, 1e18},
    {"l2", " bytes", 1, 1e18},
    {"copy", " bytes a second", 1e6, 1e18},
    {"launch", " seconds", 1e-9, 1},
    {"upload", " bytes a second", 1e6, 1e18},
  };
  double values[G_N_ELEMENTS (ranges)];
  for (guint i = 0; i < G_N_ELEMENTS (ranges); i++)
    if (!read_number (object, &ranges[i], &values[i], error))
      return FALSE;
  *facts = (LigDeviceFacts){
    .capability = (int) values[0],
    .multiprocessors = (int) values[1],
    .memory = (gint64) values[2],
    .l2 = (gint64) values[3],
    .copy = values[4],
    .launch = values[5],
    .upload = values[6],
  };
  text (object, "name", facts->name, sizeof facts->name);
  text (object, "libraries", facts->libraries, sizeof facts->libraries);
  text (object, "backend", facts->backend, sizeof facts->backend);
  return read_matmuls (object, facts, error) && lig_costs_read (object, facts, remark, error) &&
         lig_fabric_read (object, &facts->fabric, error);
}

static gboolean
check_backend (const LigDeviceFacts *facts, GError **error)
{
  const LigBackendTable *backend = lig_backend_table_described (facts);
  if (backend && !(backend->info.traits & LIG_DEVICE_DESCRIBED))
    return TRUE;
  g_autofree char *names = lig_backend_join (_ (" or "), FALSE, LIG_DEVICE_DESCRIBED);
  g_set_error (error, LIG_ERROR, LIG_ERROR_FORMAT, _ ("backend is '%s', expected %s"),
               facts->backend, names);
  return FALSE;
}

/* @remark: (out): a sentence about costs that do not belong to the rates, or null */
static gboolean
parse (const char *json, LigDeviceFacts *facts, char **remark, GError **error)
{
  g_autoptr (GError) local = NULL;
  g_autoptr (JsonNode) root = lig_json_read (json, strlen (json), NULL, &local);
  if (!root || !JSON_NODE_HOLDS_OBJECT (root)) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_FORMAT,
                 _ ("a device description is a JSON object%s%s"), local ? ": " : "",
                 local ? local->message : "");
    return FALSE;
  }
  if (!read_facts (json_node_get_object (root), facts, remark, error) ||
      !check_backend (facts, error))
    return FALSE;
  if (facts->copy > 0 && facts->name[0])
    return TRUE;
  g_set_error (error, LIG_ERROR, LIG_ERROR_FORMAT,
               _ ("a device description needs a name and a copy bandwidth"));
  return FALSE;
}

gboolean
lig_device_facts_from_json (const char *json, LigDeviceFacts *facts, GError **error)
{
  g_autofree char *remark = NULL;
  return parse (json, facts, &remark, error);
}

static void
write_matmuls (JsonBuilder *builder, const LigDeviceFacts *facts)
{
  json_builder_set_member_name (builder, "matmul");
  json_builder_begin_object (builder);
  for (int i = 0; i < LIG_N_DTYPES; i++)
    if (facts->matmul[i] > 0) {
      json_builder_set_member_name (builder, lig_dtype_name ((LigDtype) i));
      json_builder_add_double_value (builder, facts->matmul[i]);
    }
  if (facts->matmul_fp4 > 0) {
    json_builder_set_member_name (builder, FP4);
    json_builder_add_double_value (builder, facts->matmul_fp4);
  }
  json_builder_end_object (builder);
}

char *
lig_device_facts_to_json (const LigDeviceFacts *facts)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  json_builder_begin_object (builder);
  json_builder_set_member_name (builder, "name");
  json_builder_add_string_value (builder, facts->name);
  const struct {
    const char *key;
    double value;
  } numbers[] = {
    {"capability", facts->capability},
    {"multiprocessors", facts->multiprocessors},
    {"memory", (double) facts->memory},
    {"l2", (double) facts->l2},
    {"copy", facts->copy},
    {"launch", facts->launch},
    {"upload", facts->upload},
  };
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++) {
    /* The memory of a CPU is that of the host. */
    if (numbers[i].value == 0 && g_str_equal (numbers[i].key, "upload"))
      continue;
    json_builder_set_member_name (builder, numbers[i].key);
    if (numbers[i].value == (double) (gint64) numbers[i].value)
      json_builder_add_int_value (builder, (gint64) numbers[i].value);
    else
      json_builder_add_double_value (builder, numbers[i].value);
  }
  json_builder_set_member_name (builder, "libraries");
  json_builder_add_string_value (builder, facts->libraries);
  if (facts->backend[0]) {
    json_builder_set_member_name (builder, "backend");
    json_builder_add_string_value (builder, facts->backend);
  }
  write_matmuls (builder, facts);
  if (facts->costs.known)
    lig_costs_write (builder, facts);
  lig_fabric_write (&facts->fabric, builder);
  json_builder_end_object (builder);
  g_autoptr (JsonNode) root = json_builder_get_root (builder);
  return lig_json_to_text (root);
}

static char *
find_file (const char *description)
{
  if (strchr (description, '/') || g_str_has_suffix (description, ".json"))
    return g_strdup (description);
  g_autofree char *file = g_strconcat (description, ".json", NULL);
  g_autofree char *name = g_build_filename ("devices", file, NULL);
  return lig_data_find (name);
}

/* Reads a file (transfer full). Rejects a pipe, without waiting for a writer. */
static char *
read_file (const char *path, GError **error)
{
  struct stat file;
  int number = open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  const char *failed = NULL;
  g_autofree char *json = NULL;
  gsize length = 0;
  if (number < 0 || fstat (number, &file) != 0)
    failed = g_strerror (errno);
  else if (!S_ISREG (file.st_mode))
    failed = _ ("not a regular file");
  else if ((guint64) file.st_size > MAX_BYTES)
    failed = _ ("more than 1048576 bytes");
  if (!failed) {
    json = g_malloc (MAX_BYTES + 1);
    for (gssize got; length < MAX_BYTES; length += (gsize) got)
      if ((got = read (number, json + length, MAX_BYTES - length)) <= 0)
        break;
    json[length] = '\0';
  }
  if (number >= 0)
    close (number);
  if (!failed)
    return g_steal_pointer (&json);
  g_set_error (error, LIG_ERROR, LIG_ERROR_FILE,
               _ ("%s: cannot be read as a device description: %s"), path, failed);
  return NULL;
}

const char *
lig_description_nth (guint n)
{
  return n < G_N_ELEMENTS (shipped) ? shipped[n].name : NULL;
}

/* The fraction of a card's memory that the driver may reserve for itself. */
#define MAX_RESERVED 0.1

gboolean
lig_description_find (const LigDeviceFacts *card, LigDeviceFacts *facts)
{
  for (guint i = 0; i < G_N_ELEMENTS (shipped); i++) {
    g_autofree char *model = g_ascii_strup (shipped[i].name, -1);
    if (!strstr (card->name, model) || !lig_device_facts_from_json (shipped[i].text, facts, NULL))
      continue;
    if (facts->multiprocessors == card->multiprocessors &&
        ABS (facts->memory - card->memory) < (gint64) (MAX_RESERVED * (double) facts->memory))
      return TRUE;
  }
  return FALSE;
}

gboolean
lig_description_load (const char *description, LigDeviceFacts *facts, char **remark, GError **error)
{
  g_autofree char *path = find_file (description);
  for (guint i = 0; i < G_N_ELEMENTS (shipped) && !path; i++)
    if (g_str_equal (description, shipped[i].name))
      return parse (shipped[i].text, facts, remark, error);
  if (!path) {
    g_autofree char *like = lig_suggest_nth (description, lig_description_nth);
    g_set_error (
      error, LIG_ERROR, LIG_ERROR_DEVICE,
      _ ("device description '%s' is unknown; use b200, h200, h100, a100 or the path of a "
         "JSON file%s"),
      description, like);
    return FALSE;
  }
  g_autofree char *json = read_file (path, error);
  if (!json)
    return FALSE;
  if (parse (json, facts, remark, error))
    return TRUE;
  g_prefix_error (error, "%s: ", path);
  return FALSE;
}
