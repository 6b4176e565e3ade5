/* SPDX-License-Identifier: MIT */
/* The key under which a state keeps a plan. */
#include "engine/graph/request.h"
#include "engine/sequence/sequence-private.h"
#include "engine/state/state.h"
#include <ligature/optimizer.h>

/* Appends the optimizer's parameters; an unknown optimizer fails when the plan is compiled. */
static void
append_optimizer (GString *key, const LigOptimizer *optimizer)
{
  const LigOptimizerInfo *info = lig_optimizer_info_find (optimizer->name, NULL);
  g_string_append_printf (key, " optimizer %s %a", info ? info->name : "", optimizer->loss_scale);
  for (const LigParam *param = info ? info->params : NULL; param && param->name; param++)
    g_string_append_printf (key, " %a", lig_optimizer_get (optimizer, param));
}

char *
lig_plan_key (LigSequence *sequence, const LigPlanOptions *options)
{
  g_autoptr (GString) key = g_string_new (NULL);
  g_string_printf (
    key,
    "%" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT
    " %d%d%d%d%d%d%d policy %d recompute %d, %d %d as types, batch %" G_GINT64_FORMAT,
    lig_sequence_get_serial (sequence), lig_sequence_get_version (sequence), options->training,
    options->input_gradient, options->tf32, options->accuracy, options->accumulate, options->recall,
    options->nondeterministic, options->policy, options->recompute, options->compute,
    options->parameters, options->batch);
  if (options->optimizer)
    append_optimizer (key, options->optimizer);
  if (options->recipe)
    g_string_append_printf (key, " recipe %s;", options->recipe);
  if (options->keep_values)
    g_string_append (key, " keeping values");
  if (options->calibrating)
    g_string_append (key, " calibrating");
  if (options->shard_optimizer)
    g_string_append (key, " sharded");
  if (options->before_loss)
    g_string_append (key, " before the loss");
  if (options->cache.rows > 0)
    g_string_append_printf (key,
                            " cache %" G_GINT64_FORMAT "x%" G_GINT64_FORMAT "x%" G_GINT64_FORMAT
                            "x%" G_GINT64_FORMAT "x%" G_GINT64_FORMAT "x%" G_GINT64_FORMAT "%s%s",
                            options->cache.rows, options->cache.step, options->cache.length,
                            options->cache.slots, options->cache.chunk, options->cache.memory,
                            options->cache.fill ? " fill" : "",
                            options->cache.source ? " source" : "");
  g_string_append_printf (key, " buckets %" G_GINT64_FORMAT, options->bucket_bytes);
  if (options->freeze)
    g_string_append_printf (key, " freeze %s;", options->freeze);
  if (options->choices)
    g_string_append_printf (key, " choices %s", options->choices);
  return g_strdup (key->str);
}
