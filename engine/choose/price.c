/* SPDX-License-Identifier: MIT */
/* Finds prices of groups: from the tuning table, by measuring if neither this compilation nor the
 * table has one, or by prediction. */
#include "engine/choose/price.h"

#include "engine/choose/choice.h"
#include "engine/choose/predict.h"
#include "engine/graph/value.h"
#include "engine/measure/lock.h"
#include "engine/measure/tuning-private.h"
#include <ligature/kernels.h>
#include <ligature/units.h>

#include <math.h>
#include <string.h>

const char *
lig_format_price (LigGraph *graph, double seconds, const char *suffix)
{
  g_autofree char *time = lig_units_time (seconds);
  g_autofree char *text = g_strconcat (time, suffix, NULL);
  return g_string_chunk_insert_const (graph->strings, text);
}

static double
predict (LigGraph *graph, GArray *steps)
{
  return lig_predict_steps (graph, (LigGraphStep *) (gpointer) steps->data, steps->len);
}

/* Lowers a group to the steps to time: as in a plan, some may overlap. */
static gboolean
lower (LigGraph *graph,
       const LigPlanGroup *group,
       LigPass pass,
       GArray *steps,
       LigProbe *probe,
       GError **error)
{
  if (!lig_lower_group (graph, group, pass, steps, probe, error))
    return FALSE;
  if (pass == LIG_PASS_BACKWARD && !probe->missing)
    lig_start_beside (graph, steps, 0);
  return TRUE;
}

/* Long sequences need thousands of keys, and formatting takes most of that time. */
static void
append_number (GString *key, gint64 number)
{
  char digits[24], *at = digits + sizeof digits - 1;
  guint64 rest = number < 0 ? -(guint64) number : (guint64) number;
  *at = '\0';
  do
    *--at = (char) ('0' + rest % 10);
  while (rest /= 10);
  if (number < 0)
    *--at = '-';
  g_string_append (key, at);
}

static void
append_bytes (GString *key, const guint8 *bytes, gsize count)
{
  for (gsize i = 0; i < count; i++) {
    g_string_append_c (key, "0123456789abcdef"[bytes[i] >> 4]);
    g_string_append_c (key, "0123456789abcdef"[bytes[i] & 15]);
  }
}

/* Appends a kernel's params without their dependence on the path, so that the repetitions of a
 * block, which have different RNG streams, have the same key. Those of a step may differ from the
 * op's, but not in what depends on the path. */
static void
append_params (GString *key, const LigGraph *graph, const LigGraphStep *step)
{
  const LigPart *part = step->plan.part < 0 ? NULL : lig_part (graph, step->plan.part);
  guint8 params[sizeof step->code.params];
  memcpy (params, step->code.params, step->code.params_size);
  if (part && part->plan.info->place &&
      step->code.params_size == part->plan.info->kernel_params_size) {
    const guint8 *own = part->params;
    g_autofree guint8 *placed = g_memdup2 (own, part->plan.info->params_size);
    part->plan.info->place (placed, "0");
    for (gsize i = 0; i < step->code.params_size; i++)
      params[i] = params[i] == own[i] ? placed[i] : params[i];
  }
  if (step->code.params_size > 0)
    g_string_append_c (key, '#');
  append_bytes (key, params, step->code.params_size);
}

/* The key contains device, libraries, threads, kernels with their params, shapes and types. The
 * same group in two repetitions of a block has the same key. */
char *
lig_price_key (LigGraph *graph, GArray *steps)
{
  const LigDeviceFacts *facts = lig_device_get_facts (graph->request->device);
  GString *key = g_string_new (facts->name);
  char libraries[sizeof facts->libraries];
  lig_device_libraries (graph->request->device, libraries, sizeof libraries);
  g_string_append_printf (key, "|%s%s%s", libraries, graph->request->options.tf32 ? "|tf32" : "",
                          graph->request->options.nondeterministic ? "|nondeterministic" : "");
  for (guint i = 0; i < steps->len; i++) {
    const LigGraphStep *step = &g_array_index (steps, LigGraphStep, i);
    g_string_append (key, step->plan.lane ? "|&" : "|");
    g_string_append (key, step->plan.kernel ? step->plan.kernel->name : "opaque");
    append_params (key, graph, step);
    for (int j = 0; j < step->plan.n_operands; j++) {
      LigOperand operand = lig_graph_operand (graph, step->values[j]);
      g_string_append (key, step->values[j] < 0 ? " -" : " ");
      if (step->values[j] < 0)
        continue;
      append_number (key, operand.size);
      g_string_append_c (key, '/');
      append_number (key, operand.columns);
      g_string_append_c (key, ':');
      g_string_append (key, lig_dtype_name (operand.dtype));
    }
  }
  return g_string_free (key, FALSE);
}

static gboolean
look_up (LigGraph *graph, const char *key, LigPrice *price)
{
  const LigTuning *tuning = graph->request->options.tuning;
  const LigPrice *known =
    graph->choice->prices ? g_hash_table_lookup (graph->choice->prices, key) : NULL;
  double microseconds, noise;
  if (known) {
    *price = *known;
    return TRUE;
  }
  if (!tuning || !tuning->get (tuning->data, key, &microseconds, &noise, NULL) ||
      !isfinite (microseconds) || !isfinite (noise))
    return FALSE;
  *price = (LigPrice){.seconds = microseconds * 1e-6, .noise = noise * 1e-6, .measured = TRUE};
  if (!graph->choice->prices)
    graph->choice->prices = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  g_hash_table_insert (graph->choice->prices, g_strdup (key), g_memdup2 (price, sizeof *price));
  return TRUE;
}

/* Stores a price and reads it back, so that this compilation decides by the same figures as the
 * next, even if another process measured first. */
static void
remember (LigGraph *graph, const char *key, LigPrice *price)
{
  const LigTuning *tuning = graph->request->options.tuning;
  if (tuning && price->measured) {
    tuning->put (tuning->data, key, price->seconds * 1e6, price->noise * 1e6, NULL);
    look_up (graph, key, price);
  }
  g_hash_table_insert (graph->choice->prices, g_strdup (key), g_memdup2 (price, sizeof *price));
}

static void
tell_what (GPtrArray *lists)
{
  const GArray *steps = lists->pdata[0];
  const LigKernel *kernel = g_array_index (steps, LigGraphStep, steps->len - 1).plan.kernel;
  lig_tuning_report (kernel ? kernel->name : "an opaque op");
}

/* Times the lists. They are predicted if the device is only described or must not be used, or has
 * no memory for more buffers. */
static gboolean
time_or_predict (LigGraph *graph, GPtrArray *lists, LigPrice *prices, GError **error)
{
  g_autoptr (GError) local = NULL;
  if (!lig_device_has (graph->request->device, LIG_DEVICE_DESCRIBED) &&
      !graph->request->options.recall) {
    tell_what (lists);
    if (lig_time_lists (graph, (GArray *const *) lists->pdata, lists->len, LIG_TIMING_GROUPS,
                        prices, &local))
      return TRUE;
    if (!g_error_matches (local, LIG_ERROR, LIG_ERROR_MEMORY)) {
      g_propagate_error (error, g_steal_pointer (&local));
      return FALSE;
    }
  }
  for (guint i = 0; i < lists->len; i++)
    prices[i] = (LigPrice){.seconds = predict (graph, lists->pdata[i])};
  return TRUE;
}

/* Fills in the known prices and returns the lists and indexes of the others. */
static GPtrArray *
find_unknown (LigGraph *graph, GPtrArray *lists, GPtrArray *keys, LigPrice *prices, GArray *numbers)
{
  GPtrArray *unknown = g_ptr_array_new ();
  g_array_set_size (numbers, 0);
  for (guint i = 0; i < lists->len; i++) {
    GArray *steps = lists->pdata[i];
    prices[i] = (LigPrice){0};
    if (steps->len == 0 || look_up (graph, keys->pdata[i], &prices[i]))
      continue;
    g_ptr_array_add (unknown, steps);
    g_array_append_val (numbers, i);
  }
  return unknown;
}

/* Estimates the seconds to time a list: the first run of a matmul or of attention searches for its
 * fastest algorithm. */
static double
work_of (const GArray *steps)
{
  double work = 0.2;
  for (guint i = 0; i < steps->len; i++) {
    const LigKernel *kernel = g_array_index (steps, LigGraphStep, i).plan.kernel;
    work += kernel && (kernel->work < 0 || kernel->flops) ? 1 : 0;
  }
  return work;
}

/* Times the lists without a price; a lock ensures that no other process measures on the device at
 * the same time. */
static gboolean
time_unknown (LigGraph *graph, GPtrArray *lists, GPtrArray *keys, LigPrice *prices, GError **error)
{
  g_autoptr (GArray) numbers = g_array_new (FALSE, FALSE, sizeof (guint));
  g_autoptr (GPtrArray) unknown = find_unknown (graph, lists, keys, prices, numbers);
  if (unknown->len == 0)
    return TRUE;
  g_autofree LigPrice *timed = g_new0 (LigPrice, unknown->len);
  if (!time_or_predict (graph, unknown, timed, error))
    return FALSE;
  for (guint i = 0; i < unknown->len; i++) {
    guint number = g_array_index (numbers, guint, i);
    prices[number] = timed[i];
    remember (graph, keys->pdata[number], &timed[i]);
    lig_tuning_advance (work_of (unknown->pdata[i]));
  }
  return TRUE;
}

void
lig_price_collectives (const LigGraph *graph, GArray *steps, LigPrice *price)
{
  if (price->measured && steps->len > 0)
    price->seconds = lig_predict_collectives (graph, (LigGraphStep *) (gpointer) steps->data,
                                              steps->len, price->seconds);
}

/* Finds the prices of lists without their collectives. */
static gboolean
price_lists (LigGraph *graph, GPtrArray *lists, GPtrArray *keys, LigPrice *prices, GError **error)
{
  g_autoptr (GArray) numbers = g_array_new (FALSE, FALSE, sizeof (guint));
  g_autoptr (GPtrArray) unknown = find_unknown (graph, lists, keys, prices, numbers);
  if (unknown->len == 0)
    return TRUE;
  /* Without measuring there is no need to wait for another process that measures. */
  if (graph->request->options.recall)
    return time_unknown (graph, lists, keys, prices, error);
  lig_measuring_begin (graph->request->device);
  gboolean fine = time_unknown (graph, lists, keys, prices, error);
  lig_measuring_end (graph->request->device);
  return fine;
}

gboolean
lig_price_groups (LigGraph *graph,
                  const LigPlanGroup *groups,
                  guint count,
                  LigPass pass,
                  LigPrice *prices,
                  GError **error)
{
  g_autoptr (GPtrArray) lists = g_ptr_array_new_with_free_func ((GDestroyNotify) g_array_unref);
  g_autoptr (GPtrArray) keys = g_ptr_array_new_with_free_func (g_free);
  if (!graph->choice->prices)
    graph->choice->prices = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  for (guint i = 0; i < count; i++) {
    GArray *steps = g_array_new (FALSE, FALSE, sizeof (LigGraphStep));
    LigProbe probe;
    g_ptr_array_add (lists, steps);
    if (!lower (graph, &groups[i], pass, steps, &probe, error))
      return FALSE;
    g_ptr_array_add (keys, lig_price_key (graph, steps));
  }
  if (!price_lists (graph, lists, keys, prices, error))
    return FALSE;
  for (guint i = 0; i < count; i++)
    lig_price_collectives (graph, lists->pdata[i], &prices[i]);
  return TRUE;
}

double
lig_price_count_work (
  LigGraph *graph, const LigPlanGroup *groups, guint count, LigPass pass, GHashTable *seen)
{
  double work = 0;
  for (guint i = 0; i < count; i++) {
    g_autoptr (GArray) steps = g_array_new (FALSE, FALSE, sizeof (LigGraphStep));
    LigProbe probe;
    LigPrice price;
    if (!lower (graph, &groups[i], pass, steps, &probe, NULL) || steps->len == 0)
      continue;
    g_autofree char *key = lig_price_key (graph, steps);
    if (!look_up (graph, key, &price) && g_hash_table_add (seen, g_steal_pointer (&key)))
      work += work_of (steps);
  }
  return work;
}

void
lig_price_recall (LigGraph *graph, const LigPlanGroup *group, LigPass pass, LigPrice *price)
{
  double bytes;
  lig_price_recall_bytes (graph, group, pass, price, &bytes);
}

void
lig_price_recall_bytes (
  LigGraph *graph, const LigPlanGroup *group, LigPass pass, LigPrice *price, double *bytes)
{
  LigProbe probe;
  g_autoptr (GArray) steps = g_array_new (FALSE, FALSE, sizeof (LigGraphStep));
  gboolean lowered =
    lower (graph, group, pass, steps, &probe, NULL) && !probe.missing && !probe.unquantized;
  *bytes = lowered ? 0 : NAN;
  for (guint i = 0; lowered && i < steps->len; i++) {
    const LigGraphStep *step = &g_array_index (steps, LigGraphStep, i);
    *bytes += step->plan.read + step->plan.written;
  }
  *price = (LigPrice){.seconds = lowered && steps->len == 0 ? 0 : NAN};
  if (!lowered || steps->len == 0)
    return;
  if (graph->choice->prices || graph->request->options.tuning) {
    g_autofree char *key = lig_price_key (graph, steps);
    if (look_up (graph, key, price)) {
      /* A device without peak rates has no predictions. */
      if (!price->measured && price->seconds <= 0)
        price->seconds = NAN;
      lig_price_collectives (graph, steps, price);
      return;
    }
  }
  double seconds = predict (graph, steps);
  price->seconds = seconds > 0 ? seconds : NAN;
}
