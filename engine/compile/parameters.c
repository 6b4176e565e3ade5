/* SPDX-License-Identifier: MIT */
/* Tied and frozen parameters: a tied op uses the parameter of another op, so one parameter has
 * several readers; a frozen one is not trained, and its op does not change it either. */
#include "engine/compile/parameters.h"

#include "engine/graph/problems.h"
#include "engine/graph/value.h"
#include "engine/sequence/tie.h"
#include <ligature/suggest.h>

#include <glib/gi18n-lib.h>
#include <string.h>

#define MAX_SHOWN 3 /* paths in a message */

int
lig_add_parameter (LigGraph *graph, const LigTie *needed)
{
  LigPart *part = lig_part (graph, needed->part);
  const LigParameterInfo *info = &part->plan.info->parameters[needed->slot];
  LigDtype dtype = info->own_update ? LIG_FP32 : graph->request->parameter_dtype;
  int value = lig_graph_add_value (graph, LIG_VALUE_PARAMETER, &needed->shape, dtype, -1, "%s.%s",
                                   part->plan.prefix, info->name);
  LigParameter parameter = {
    .path = g_strdup_printf ("%s.%s", part->plan.prefix, info->name),
    .shape = needed->shape,
    .whole = lig_sharding_whole (needed),
    .sharding = needed->sharding,
    .summed = needed->summed,
    .trained = !part->frozen && !info->own_update,
    .own_update = !part->frozen && info->own_update,
    .dtype = dtype,
    .stored = -1,
  };
  LigOwner owner = {needed->part, needed->slot, value};
  lig_value (graph, value)->parameter = (int) graph->layout->parameters->len;
  lig_value (graph, value)->array = 0;
  part->parameters[needed->slot] = part->representations[needed->slot] = value;
  g_array_append_val (graph->layout->parameters, parameter);
  g_array_append_val (graph->owners, owner);
  return (int) graph->layout->parameters->len - 1;
}

/* --- Ties ---------------------------------------------------------------------------------- */

static const char *
parameter_name (const LigGraph *graph, const LigTie *tie)
{
  return lig_part (graph, tie->part)->plan.info->parameters[tie->slot].name;
}

/* Returns the path of the tied op's own parameter. */
static char *
own_path (const LigGraph *graph, const LigTie *tie)
{
  return g_strdup_printf ("%s.%s", lig_part (graph, tie->part)->plan.prefix,
                          parameter_name (graph, tie));
}

/* Returns the path of the parameter that a tie names; null if there is none. */
static char *
wanted_path (const LigGraph *graph, const LigTie *tie)
{
  const LigPart *part = lig_part (graph, tie->part);
  g_autofree char *op =
    lig_tie_resolve (lig_op_get_tie (part->plan.op, tie->slot, NULL), part->plan.path);
  return op ? g_strdup_printf ("%s.%s", op, parameter_name (graph, tie)) : NULL;
}

/* Follows ties to tied ops. Returns the number of the parameter at their end, -1 if there is none;
 * `missing` is then the path that names nothing, or null if the ties form a cycle. */
static int
find_root (const LigGraph *graph, GHashTable *numbers, const LigTie *tie, char **missing)
{
  g_autofree char *path = wanted_path (graph, tie);
  const guint max = graph->ties->len;
  *missing = NULL;
  for (guint steps = 0; steps <= max && path; steps++) {
    int number = GPOINTER_TO_INT (g_hash_table_lookup (numbers, path));
    if (number > 0)
      return number - 1;
    if (number == 0) {
      *missing = g_steal_pointer (&path);
      return -1;
    }
    const LigTie *next = &g_array_index (graph->ties, LigTie, -number - 1);
    g_free (path);
    path = wanted_path (graph, next);
  }
  return -1;
}

/* Returns `; did you mean '0'?`, from the ops that have such a parameter. */
static char *
suggest (const LigGraph *graph, const LigTie *tie, const char *missing)
{
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
  for (guint i = 0; i < graph->layout->parameters->len; i++)
    if (g_str_has_suffix (lig_parameter (graph, i)->path, parameter_name (graph, tie)))
      g_strv_builder_add (builder, lig_parameter (graph, i)->path);
  g_auto (GStrv) paths = g_strv_builder_end (builder);
  return missing ? lig_suggest_ending (missing, (const char *const *) paths) : g_strdup ("");
}

/* Records that the tie is invalid; the op then has its own parameter. */
static gboolean
give_up (LigGraph *graph, const LigTie *tie, GError **error)
{
  const LigPart *part = lig_part (graph, tie->part);
  lig_error_set_path (error, part->plan.path);
  if (!lig_graph_collect_problem (graph, tie->part, error))
    return FALSE;
  const LigParam *param = part->plan.info->params;
  while (param->kind != LIG_PARAM_PATH || param->offset != (gsize) tie->slot)
    param++;
  lig_graph_offer (graph, LIG_PROBLEM_FIX_SET, part->plan.path, param->name, NULL);
  lig_add_parameter (graph, tie);
  return TRUE;
}

static gboolean
reject (LigGraph *graph, const LigTie *tie, const char *missing, GError **error)
{
  const LigPart *part = lig_part (graph, tie->part);
  const char *text = lig_op_get_tie (part->plan.op, tie->slot, NULL);
  g_autofree char *like = suggest (graph, tie, missing);
  if (g_str_has_prefix (text, LIG_TIE_REMOVED))
    g_set_error (error, LIG_ERROR, LIG_ERROR_OP,
                 _ ("%s at %s: tied to the op that was at %s and is removed; omit the tie, or "
                    "tie it to another op"),
                 part->plan.title, part->plan.path, text + strlen (LIG_TIE_REMOVED));
  else if (missing)
    g_set_error (error, LIG_ERROR, LIG_ERROR_OP,
                 _ ("%s at %s: tied to '%s', but no op has the parameter %s%s"), part->plan.title,
                 part->plan.path, text, missing, like);
  else
    g_set_error (error, LIG_ERROR, LIG_ERROR_OP,
                 _ ("%s at %s: tied to '%s', which does not lead to an op with its own "
                    "parameter"),
                 part->plan.title, part->plan.path, text);
  return give_up (graph, tie, error);
}

/* Returns whether the shape of the part's parameter may depend on a guess. */
static gboolean
is_guessed (const LigGraph *graph, int index)
{
  const LigPart *part = lig_part (graph, index);
  return part->incomplete || part->faulty || lig_value_work (graph, part->x)->uncertain;
}

static gboolean
tie_one (LigGraph *graph, const LigTie *tie, GHashTable *numbers, GError **error)
{
  g_autofree char *missing = NULL;
  int root = find_root (graph, numbers, tie, &missing);
  if (root < 0)
    return reject (graph, tie, missing, error);
  LigPart *part = lig_part (graph, tie->part);
  LigParameter *target = lig_parameter (graph, (guint) root);
  if (!lig_sharding_same (tie, target)) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE,
                 _ ("%s at %s: its %s and %s, to which it is tied, are sharded differently; "
                    "give both ops the same parallel"),
                 part->plan.title, part->plan.path, parameter_name (graph, tie), target->path);
    return give_up (graph, tie, error);
  }
  if (!lig_shape_equal (&target->shape, &tie->shape)) {
    if (is_guessed (graph, tie->part) || is_guessed (graph, lig_owner (graph, root)->part)) {
      lig_add_parameter (graph, tie);
      return TRUE;
    }
    g_autofree char *own = lig_shape_to_string (&tie->shape);
    g_autofree char *there = lig_shape_to_string (&target->shape);
    g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE,
                 _ ("%s at %s: its %s is %s, but %s, to which it is tied, is %s"), part->plan.title,
                 part->plan.path, parameter_name (graph, tie), own, target->path, there);
    return give_up (graph, tie, error);
  }
  part->parameters[tie->slot] = part->representations[tie->slot] = lig_owner (graph, root)->value;
  part->tied |= 1u << tie->slot;
  target->shared = TRUE;
  return TRUE;
}

/* The table of numbers contains a parameter's number plus 1, and for a tied one the negative number
 * of its tie. */
gboolean
lig_tie_parameters (LigGraph *graph, GError **error)
{
  g_autoptr (GHashTable) numbers = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  if (graph->ties->len == 0)
    return TRUE;
  for (guint i = 0; i < graph->layout->parameters->len; i++)
    g_hash_table_insert (numbers, g_strdup (lig_parameter (graph, i)->path),
                         GINT_TO_POINTER ((int) i + 1));
  for (guint i = 0; i < graph->ties->len; i++)
    g_hash_table_insert (numbers, own_path (graph, &g_array_index (graph->ties, LigTie, i)),
                         GINT_TO_POINTER (-(int) i - 1));
  for (guint i = 0; i < graph->ties->len; i++)
    if (!tie_one (graph, &g_array_index (graph->ties, LigTie, i), numbers, error))
      return FALSE;
  return TRUE;
}

/* --- Frozen parameters --------------------------------------------------------------------- */

/* Returns `; did you mean '0.weight'?` with the path, or the pattern made of one, that is most
 * similar to a pattern. */
static char *
suggest_pattern (LigGraph *graph, const char *pattern)
{
  g_autoptr (GPtrArray) known = g_ptr_array_new_with_free_func (g_free);
  for (guint i = 0; i < graph->layout->parameters->len; i++) {
    const char *path = lig_parameter (graph, i)->path, *name = strrchr (path, '.');
    g_ptr_array_add (known, g_strdup (path));
    g_ptr_array_add (known, g_strdup_printf ("%.*s.*", (int) (name - path), path));
    g_ptr_array_add (known, g_strconcat ("*", name, NULL));
  }
  g_ptr_array_add (known, NULL);
  return lig_suggest_ending (pattern, (const char *const *) known->pdata);
}

static gboolean
freeze (LigGraph *graph, const char *pattern, GError **error)
{
  g_autoptr (GPatternSpec) spec = g_pattern_spec_new (pattern);
  g_autoptr (GString) some = g_string_new (NULL);
  gboolean found = FALSE;
  for (guint i = 0; i < graph->layout->parameters->len; i++) {
    if (g_pattern_spec_match_string (spec, lig_parameter (graph, i)->path)) {
      lig_parameter (graph, i)->trained = lig_parameter (graph, i)->own_update = FALSE;
      found = TRUE;
    }
    if (i < MAX_SHOWN)
      g_string_append_printf (some, "%s%s", i > 0 ? ", " : "", lig_parameter (graph, i)->path);
  }
  if (found)
    return TRUE;
  g_autofree char *like = suggest_pattern (graph, pattern);
  g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
               some->len > 0 ? _ ("no parameter has a path like '%s' to freeze; there are %s%s%s")
                             : _ ("no parameter has a path like '%s' to freeze; there are no "
                                  "parameters%s%s%s"),
               pattern, some->str, graph->layout->parameters->len > MAX_SHOWN ? " …" : "", like);
  return lig_error_set_setting (error, "freeze");
}

gboolean
lig_freeze_parameters (LigGraph *graph, GError **error)
{
  if (!graph->request->options.freeze)
    return TRUE;
  g_auto (GStrv) patterns = g_strsplit (graph->request->options.freeze, ",", -1);
  for (char **pattern = patterns; *pattern; pattern++)
    if (!*g_strstrip (*pattern)) {
      g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                   _ ("freeze is '%.60s': a pattern is empty, expected one like 0.* or *.bias"),
                   graph->request->options.freeze);
      return lig_error_set_setting (error, "freeze");
    } else if (!freeze (graph, *pattern, error))
      return FALSE;
  return TRUE;
}
