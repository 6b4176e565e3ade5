/* SPDX-License-Identifier: MIT */
/* The costs of kernels in device descriptions. */
#include "engine/device/costs.h"

#include <glib/gi18n-lib.h>
#include <math.h>

/* The longest plausible time: others are typing mistakes. */
#define MOST_SECONDS 10.0

/* A list of numbers in a description. */
typedef struct {
  const char *name;
  double *values;
  guint count;
  double most;
} List;

static gboolean
read_list (JsonObject *object, const List *list, GError **error)
{
  JsonNode *node = object ? json_object_get_member (object, list->name) : NULL;
  JsonArray *array = node && JSON_NODE_HOLDS_ARRAY (node) ? json_node_get_array (node) : NULL;
  guint length = array ? json_array_get_length (array) : 0;
  if (length != list->count) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_FORMAT, _ ("costs: length of %s is %u, expected %u"),
                 list->name, length, list->count);
    return FALSE;
  }
  for (guint i = 0; i < length; i++) {
    JsonNode *number = json_array_get_element (array, i);
    GType type = json_node_get_value_type (number);
    double value =
      type == G_TYPE_DOUBLE || type == G_TYPE_INT64 ? json_node_get_double (number) : NAN;
    if (!(value >= 0 && value <= list->most)) {
      g_set_error (error, LIG_ERROR, LIG_ERROR_FORMAT,
                   _ ("costs: %s contains %g, expected a number from 0 to %g"), list->name, value,
                   list->most);
      return FALSE;
    }
    list->values[i] = value;
  }
  return TRUE;
}

static JsonObject *
get_object (JsonObject *object, const char *name)
{
  JsonNode *node = object ? json_object_get_member (object, name) : NULL;
  return node && JSON_NODE_HOLDS_OBJECT (node) ? json_node_get_object (node) : NULL;
}

/* The kinds of additions with a bias of fp32, in the order of LigDeviceCosts.mixed. */
static const char *const mixed[LIG_MIXED_COSTS] = {"bias", "gelu", "add"};

/* Reads what older descriptions lack; each is there as a whole or not at all. */
static gboolean
read_later (JsonObject *object, LigDeviceCosts *costs, GError **error)
{
  JsonObject *attention = get_object (object, "attention"), *biases = get_object (object, "mixed");
  for (LigAttentionCost i = 0; attention && i < LIG_N_ATTENTION_COSTS; i++) {
    const List list = {lig_attention_cost_name (i), costs->attention + i * LIG_ATTENTION_SIZES,
                       LIG_ATTENTION_SIZES, MOST_SECONDS};
    if (!read_list (attention, &list, error))
      return FALSE;
  }
  for (int i = 0; biases && i < LIG_MIXED_COSTS; i++) {
    const List list = {mixed[i], costs->mixed + i * LIG_COST_SIZES, LIG_COST_SIZES, MOST_SECONDS};
    if (!read_list (biases, &list, error))
      return FALSE;
  }
  return TRUE;
}

gboolean
lig_costs_read (JsonObject *description, LigDeviceCosts *costs, GError **error)
{
  enum { PRODUCTS = LIG_COST_AREAS * LIG_COST_DEPTHS };
  *costs = (LigDeviceCosts){0};
  if (!json_object_has_member (description, "costs"))
    return TRUE;
  JsonObject *object = get_object (description, "costs");
  JsonObject *kernels = get_object (object, "kernels");
  const List lists[] = {
    {"products", costs->products, PRODUCTS, MOST_SECONDS},
    {"wide-products", costs->wide_products, PRODUCTS, MOST_SECONDS},
  };
  for (guint i = 0; i < G_N_ELEMENTS (lists); i++)
    if (!read_list (object, &lists[i], error))
      return FALSE;
  for (LigCost i = 0; i < LIG_N_COSTS; i++) {
    const List list = {lig_cost_name (i), costs->kernels + i * LIG_COST_SIZES, LIG_COST_SIZES,
                       MOST_SECONDS};
    if (!read_list (kernels, &list, error))
      return FALSE;
  }
  if (!read_later (object, costs, error))
    return FALSE;
  costs->known = TRUE;
  return TRUE;
}

/* Writes numbers with four digits: measurements are not more precise. */
static void
write_list (JsonBuilder *builder, const char *name, const double *values, guint count)
{
  json_builder_set_member_name (builder, name);
  json_builder_begin_array (builder);
  for (guint i = 0; i < count; i++) {
    char digits[G_ASCII_DTOSTR_BUF_SIZE];
    g_ascii_formatd (digits, sizeof digits, "%.4g", values[i]);
    json_builder_add_double_value (builder, g_ascii_strtod (digits, NULL));
  }
  json_builder_end_array (builder);
}

/* Writes what read_later() reads, if it is known. */
static void
write_later (JsonBuilder *builder, const LigDeviceCosts *costs)
{
  if (costs->attention[0] > 0) {
    json_builder_set_member_name (builder, "attention");
    json_builder_begin_object (builder);
    for (LigAttentionCost i = 0; i < LIG_N_ATTENTION_COSTS; i++)
      write_list (builder, lig_attention_cost_name (i), costs->attention + i * LIG_ATTENTION_SIZES,
                  LIG_ATTENTION_SIZES);
    json_builder_end_object (builder);
  }
  if (costs->mixed[LIG_COST_SIZES - 1] > 0) {
    json_builder_set_member_name (builder, "mixed");
    json_builder_begin_object (builder);
    for (int i = 0; i < LIG_MIXED_COSTS; i++)
      write_list (builder, mixed[i], costs->mixed + i * LIG_COST_SIZES, LIG_COST_SIZES);
    json_builder_end_object (builder);
  }
}

void
lig_costs_write (JsonBuilder *builder, const LigDeviceCosts *costs)
{
  json_builder_set_member_name (builder, "costs");
  json_builder_begin_object (builder);
  json_builder_set_member_name (builder, "kernels");
  json_builder_begin_object (builder);
  for (LigCost i = 0; i < LIG_N_COSTS; i++)
    write_list (builder, lig_cost_name (i), costs->kernels + i * LIG_COST_SIZES, LIG_COST_SIZES);
  json_builder_end_object (builder);
  write_list (builder, "products", costs->products, LIG_COST_AREAS * LIG_COST_DEPTHS);
  write_list (builder, "wide-products", costs->wide_products, LIG_COST_AREAS * LIG_COST_DEPTHS);
  write_later (builder, costs);
  json_builder_end_object (builder);
}
