/* SPDX-License-Identifier: MIT */
/* The costs of kernels in device descriptions. */
#include "engine/base/former-names.h"
#include "engine/device/costs.h"

#include <glib/gi18n-lib.h>
#include <math.h>

/* The longest plausible time: longer ones are typing mistakes. */
#define MAX_SECONDS 10.0

/* A list of numbers in a description. */
typedef struct {
  const char *name;
  double *values;
  guint count;
  double max;
} List;

JsonNode *
lig_costs_find_member (JsonObject *object, const char *name)
{
  JsonNode *node = object ? json_object_get_member (object, name) : NULL;
  const char *former = node ? NULL : lig_former_name_get (LIG_FORMER_MEMBER, name);
  return object && former ? json_object_get_member (object, former) : node;
}

static gboolean
read_list (JsonObject *object, const List *list, GError **error)
{
  JsonNode *node = lig_costs_find_member (object, list->name);
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
    if (!(value >= 0 && value <= list->max)) {
      g_set_error (error, LIG_ERROR, LIG_ERROR_FORMAT,
                   _ ("costs: %s contains %g, expected a number from 0 to %g"), list->name, value,
                   list->max);
      return FALSE;
    }
    list->values[i] = value;
  }
  return TRUE;
}

static JsonObject *
get_object (JsonObject *object, const char *name)
{
  JsonNode *node = lig_costs_find_member (object, name);
  return node && JSON_NODE_HOLDS_OBJECT (node) ? json_node_get_object (node) : NULL;
}

/* The kinds of epilogues with an fp32 bias, in the order of LigDeviceCosts.mixed. */
static const char *const mixed[LIG_MIXED_COSTS] = {"bias", "gelu", "add"};

/* Reads the members that older descriptions lack; each is complete or missing. */
static gboolean
read_later (JsonObject *object, LigDeviceCosts *costs, GError **error)
{
  JsonObject *attention = get_object (object, "attention"), *biases = get_object (object, "mixed");
  for (LigAttentionCost i = 0; attention && i < LIG_N_ATTENTION_COSTS; i++) {
    const List list = {lig_attention_cost_name (i), costs->attention + i * LIG_ATTENTION_SIZES,
                       LIG_ATTENTION_SIZES, MAX_SECONDS};
    if (!read_list (attention, &list, error))
      return FALSE;
  }
  for (int i = 0; biases && i < LIG_MIXED_COSTS; i++) {
    const List list = {mixed[i], costs->mixed + i * LIG_COST_SIZES, LIG_COST_SIZES, MAX_SECONDS};
    if (!read_list (biases, &list, error))
      return FALSE;
  }
  return TRUE;
}

/* Reads the rates at which the costs were measured. Older descriptions lack them: `found` is then
 * FALSE. */
static gboolean
read_rates (JsonObject *object, LigCostRates *rates, gboolean *found, GError **error)
{
  JsonObject *member = get_object (object, "rates"), *matmul = get_object (member, "matmul");
  const struct {
    JsonObject *of;
    const char *name;
    double *value;
  } numbers[] = {
    {member, "copy", &rates->copy},
    {member, "launch", &rates->launch},
    {matmul, "fp32", &rates->fp32},
    {matmul, "bf16", &rates->bf16},
  };
  *found = member != NULL;
  for (guint i = 0; member && i < G_N_ELEMENTS (numbers); i++) {
    JsonNode *node = numbers[i].of ? json_object_get_member (numbers[i].of, numbers[i].name) : NULL;
    GType type = node ? json_node_get_value_type (node) : G_TYPE_INVALID;
    double value =
      type == G_TYPE_DOUBLE || type == G_TYPE_INT64 ? json_node_get_double (node) : NAN;
    if (!(value > 0 && isfinite (value))) {
      g_set_error (error, LIG_ERROR, LIG_ERROR_FORMAT,
                   _ ("costs: rates: %s is %g, expected a number above 0"), numbers[i].name, value);
      return FALSE;
    }
    *numbers[i].value = value;
  }
  return TRUE;
}

/* Declares that the costs belong to the device's rates. */
static void
fit_rates (LigDeviceFacts *facts, const LigCostRates *from, char **remark)
{
  g_autofree char *scaled = from ? lig_costs_compare (facts, from) : NULL;
  if (scaled)
    lig_costs_scale (facts, from);
  *remark = lig_costs_check (facts);
  if (*remark)
    facts->costs = (LigDeviceCosts){0};
  else
    *remark = g_steal_pointer (&scaled);
}

static gboolean
read_costs (JsonObject *description, LigDeviceCosts *costs, GError **error)
{
  enum { MATMULS = LIG_COST_AREAS * LIG_COST_DEPTHS };
  JsonObject *object = get_object (description, "costs");
  JsonObject *kernels = get_object (object, "kernels");
  const List lists[] = {
    {"matmuls", costs->matmuls, MATMULS, MAX_SECONDS},
    {"wide-matmuls", costs->wide_matmuls, MATMULS, MAX_SECONDS},
  };
  for (guint i = 0; i < G_N_ELEMENTS (lists); i++)
    if (!read_list (object, &lists[i], error))
      return FALSE;
  for (LigCost i = 0; i < LIG_N_COSTS; i++) {
    const List list = {lig_cost_name (i), costs->kernels + i * LIG_COST_SIZES, LIG_COST_SIZES,
                       MAX_SECONDS};
    if (!read_list (kernels, &list, error))
      return FALSE;
  }
  return read_later (object, costs, error);
}

gboolean
lig_costs_read (JsonObject *description, LigDeviceFacts *facts, char **remark, GError **error)
{
  LigCostRates rates = {0};
  gboolean has_rates;
  *remark = NULL;
  facts->costs = (LigDeviceCosts){0};
  if (!json_object_has_member (description, "costs"))
    return TRUE;
  if (!read_costs (description, &facts->costs, error) ||
      !read_rates (get_object (description, "costs"), &rates, &has_rates, error))
    return FALSE;
  facts->costs.known = TRUE;
  fit_rates (facts, has_rates ? &rates : NULL, remark);
  return TRUE;
}

/* Writes numbers with four digits: measurements are no more precise. */
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

/* Writes the members that read_later() reads, if they are known. */
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

/* Writes the rates to which the costs belong, if all are known. */
static void
write_rates (JsonBuilder *builder, const LigDeviceFacts *facts)
{
  enum { FIRST_MATMUL = 2 };
  const struct {
    const char *name;
    double value;
  } numbers[] = {
    {"copy", facts->copy},
    {"launch", facts->launch},
    {"fp32", facts->matmul[LIG_FP32]},
    {"bf16", facts->matmul[LIG_BF16]},
  };
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    if (!(numbers[i].value > 0))
      return;
  json_builder_set_member_name (builder, "rates");
  json_builder_begin_object (builder);
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++) {
    if (i == FIRST_MATMUL) {
      json_builder_set_member_name (builder, "matmul");
      json_builder_begin_object (builder);
    }
    json_builder_set_member_name (builder, numbers[i].name);
    json_builder_add_double_value (builder, numbers[i].value);
  }
  json_builder_end_object (builder);
  json_builder_end_object (builder);
}

void
lig_costs_write (JsonBuilder *builder, const LigDeviceFacts *facts)
{
  const LigDeviceCosts *costs = &facts->costs;
  json_builder_set_member_name (builder, "costs");
  json_builder_begin_object (builder);
  write_rates (builder, facts);
  json_builder_set_member_name (builder, "kernels");
  json_builder_begin_object (builder);
  for (LigCost i = 0; i < LIG_N_COSTS; i++)
    write_list (builder, lig_cost_name (i), costs->kernels + i * LIG_COST_SIZES, LIG_COST_SIZES);
  json_builder_end_object (builder);
  write_list (builder, "matmuls", costs->matmuls, LIG_COST_AREAS * LIG_COST_DEPTHS);
  write_list (builder, "wide-matmuls", costs->wide_matmuls, LIG_COST_AREAS * LIG_COST_DEPTHS);
  write_later (builder, costs);
  json_builder_end_object (builder);
}
