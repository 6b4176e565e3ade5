/* SPDX-License-Identifier: MIT */
/* Ties and frozen parameters: a tied op uses the parameter of another op, so that one parameter has
 * several readers; a frozen one is not trained. */
#include "engine/compile/parameters.h"

#include "engine/compile/collect.h"
#include "engine/compile/sharding.h"
#include "engine/sequence/tie.h"
#include <ligature/suggest.h>

#include <glib/gi18n-lib.h>
#include <string.h>

#define MOST_SHOWN 3 /* paths in a message */

static LigDraftParameter *
get (const LigDraft *draft, guint i)
{
  return &g_array_index (draft->parameters, LigDraftParameter, i);
}

int
lig_add_parameter (LigDraft *draft, const LigTie *needed)
{
  LigPart *part = lig_part (draft, needed->part);
  const char *name = part->info->parameters[needed->slot].name;
  int value = lig_draft_add_value (draft, LIG_VALUE_PARAMETER, &needed->shape,
                                   draft->parameter_dtype, -1, "%s.%s", part->prefix, name);
  LigDraftParameter parameter = {
    .path = g_strdup_printf ("%s.%s", part->prefix, name),
    .shape = needed->shape,
    .whole = lig_sharding_whole (needed),
    .sharding = needed->sharding,
    .summed = needed->summed,
    .part = needed->part,
    .slot = needed->slot,
    .trained = !part->frozen,
    .value = value,
    .stored = -1,
    .gradient = -1,
  };
  lig_value (draft, value)->parameter = (int) draft->parameters->len;
  lig_value (draft, value)->array = 0;
  part->parameters[needed->slot] = part->representations[needed->slot] = value;
  g_array_append_val (draft->parameters, parameter);
  return (int) draft->parameters->len - 1;
}

static int
by_offset (gconstpointer a, gconstpointer b, gpointer draft)
{
  const LigDraftParameter *x = get (draft, (guint) * (const int *) a);
  const LigDraftParameter *y = get (draft, (guint) * (const int *) b);
  return x->offset < y->offset   ? -1
         : x->offset > y->offset ? 1
                                 : *(const int *) a - *(const int *) b;
}

GArray *
lig_parameters_by_offset (const LigDraft *draft)
{
  GArray *numbers = g_array_new (FALSE, FALSE, sizeof (int));
  for (int i = 0; i < (int) draft->parameters->len; i++)
    g_array_append_val (numbers, i);
  g_array_sort_with_data (numbers, by_offset, (gpointer) draft);
  return numbers;
}

gboolean
lig_part_trains (const LigDraft *draft, const LigPart *part, int slot)
{
  int value = part->parameters[slot];
  return !part->frozen && value >= 0 &&
         get (draft, (guint) lig_value (draft, value)->parameter)->trained;
}

/* --- Ties ---------------------------------------------------------------------------------- */

static const char *
parameter_name (const LigDraft *draft, const LigTie *tie)
{
  return lig_part (draft, tie->part)->info->parameters[tie->slot].name;
}

/* Returns the path of the tied op's own parameter. */
static char *
own_path (const LigDraft *draft, const LigTie *tie)
{
  return g_strdup_printf ("%s.%s", lig_part (draft, tie->part)->prefix,
                          parameter_name (draft, tie));
}

/* Returns the path of the parameter that a tie names; null if there is none. */
static char *
wanted_path (const LigDraft *draft, const LigTie *tie)
{
  const LigPart *part = lig_part (draft, tie->part);
  g_autofree char *op = lig_tie_resolve (lig_op_get_tie (part->op, tie->slot, NULL), part->path);
  return op ? g_strdup_printf ("%s.%s", op, parameter_name (draft, tie)) : NULL;
}

/* Follows ties to tied ops. Returns the number of the parameter at their end, -1 if there is none;
 * `missing` is then the path that leads nowhere, or null if ties go round in a circle. */
static int
find_root (const LigDraft *draft, GHashTable *numbers, const LigTie *tie, char **missing)
{
  g_autofree char *path = wanted_path (draft, tie);
  const guint most = draft->ties->len;
  *missing = NULL;
  for (guint steps = 0; steps <= most && path; steps++) {
    int number = GPOINTER_TO_INT (g_hash_table_lookup (numbers, path));
    if (number > 0)
      return number - 1;
    if (number == 0) {
      *missing = g_steal_pointer (&path);
      return -1;
    }
    const LigTie *next = &g_array_index (draft->ties, LigTie, -number - 1);
    g_free (path);
    path = wanted_path (draft, next);
  }
  return -1;
}

/* Returns `; did you mean '0'?`, from the ops that have such a parameter. */
static char *
suggest (const LigDraft *draft, const LigTie *tie, const char *missing)
{
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
  for (guint i = 0; i < draft->parameters->len; i++)
    if (g_str_has_suffix (get (draft, i)->path, parameter_name (draft, tie)))
      g_strv_builder_add (builder, get (draft, i)->path);
  g_auto (GStrv) paths = g_strv_builder_end (builder);
  return missing ? lig_suggest_ending (missing, (const char *const *) paths) : g_strdup ("");
}

/* Records that the tie cannot be made; the op then has a parameter of its own. */
static gboolean
give_up (LigDraft *draft, const LigTie *tie, GError **error)
{
  const LigPart *part = lig_part (draft, tie->part);
  lig_error_set_path (error, part->path);
  if (!lig_draft_goes_on (draft, tie->part, error))
    return FALSE;
  const LigParam *param = part->info->params;
  while (param->kind != LIG_PARAM_PATH || param->offset != (gsize) tie->slot)
    param++;
  lig_draft_offer (draft, LIG_PROBLEM_MEND_SET, part->path, param->name, NULL);
  lig_add_parameter (draft, tie);
  return TRUE;
}

static gboolean
refuse (LigDraft *draft, const LigTie *tie, const char *missing, GError **error)
{
  const LigPart *part = lig_part (draft, tie->part);
  const char *text = lig_op_get_tie (part->op, tie->slot, NULL);
  g_autofree char *like = suggest (draft, tie, missing);
  if (g_str_has_prefix (text, LIG_TIE_REMOVED))
    g_set_error (error, LIG_ERROR, LIG_ERROR_OP,
                 _ ("%s at %s: tied to the op that was at %s and is removed; leave out the tie, or "
                    "tie it to another op"),
                 part->title, part->path, text + strlen (LIG_TIE_REMOVED));
  else if (missing)
    g_set_error (error, LIG_ERROR, LIG_ERROR_OP,
                 _ ("%s at %s: tied to '%s', but no op has the parameter %s%s"), part->title,
                 part->path, text, missing, like);
  else
    g_set_error (error, LIG_ERROR, LIG_ERROR_OP,
                 _ ("%s at %s: tied to '%s', which leads to no op with a parameter of its own"),
                 part->title, part->path, text);
  return give_up (draft, tie, error);
}

/* Returns whether the shape of the part's parameter may follow from a guess. */
static gboolean
is_guessed (const LigDraft *draft, int index)
{
  const LigPart *part = lig_part (draft, index);
  return part->incomplete || part->faulty || lig_value (draft, part->x)->unsure;
}

static gboolean
tie_one (LigDraft *draft, const LigTie *tie, GHashTable *numbers, GError **error)
{
  g_autofree char *missing = NULL;
  int root = find_root (draft, numbers, tie, &missing);
  if (root < 0)
    return refuse (draft, tie, missing, error);
  LigPart *part = lig_part (draft, tie->part);
  LigDraftParameter *target = get (draft, (guint) root);
  if (!lig_sharding_same (tie, target)) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE,
                 _ ("%s at %s: its %s and %s, to which it is tied, are divided in different ways "
                    "over the ranks; give both ops the same parallel"),
                 part->title, part->path, parameter_name (draft, tie), target->path);
    return give_up (draft, tie, error);
  }
  if (!lig_shape_equal (&target->shape, &tie->shape)) {
    if (is_guessed (draft, tie->part) || is_guessed (draft, target->part)) {
      lig_add_parameter (draft, tie);
      return TRUE;
    }
    g_autofree char *own = lig_shape_to_string (&tie->shape);
    g_autofree char *there = lig_shape_to_string (&target->shape);
    g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE,
                 _ ("%s at %s: its %s is %s, but %s, to which it is tied, is %s"), part->title,
                 part->path, parameter_name (draft, tie), own, target->path, there);
    return give_up (draft, tie, error);
  }
  part->parameters[tie->slot] = part->representations[tie->slot] = target->value;
  part->tied |= 1u << tie->slot;
  target->shared = TRUE;
  return TRUE;
}

/* In the table of numbers, a parameter has its number plus 1, a tied one has its tie's, negative.
 */
gboolean
lig_tie_parameters (LigDraft *draft, GError **error)
{
  g_autoptr (GHashTable) numbers = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  if (draft->ties->len == 0)
    return TRUE;
  for (guint i = 0; i < draft->parameters->len; i++)
    g_hash_table_insert (numbers, g_strdup (get (draft, i)->path), GINT_TO_POINTER ((int) i + 1));
  for (guint i = 0; i < draft->ties->len; i++)
    g_hash_table_insert (numbers, own_path (draft, &g_array_index (draft->ties, LigTie, i)),
                         GINT_TO_POINTER (-(int) i - 1));
  for (guint i = 0; i < draft->ties->len; i++)
    if (!tie_one (draft, &g_array_index (draft->ties, LigTie, i), numbers, error))
      return FALSE;
  return TRUE;
}

/* --- Frozen parameters --------------------------------------------------------------------- */

/* Returns `; did you mean '0.weight'?` with the path, or the pattern made of one, that is most
 * similar to a pattern. */
static char *
suggest_pattern (LigDraft *draft, const char *pattern)
{
  g_autoptr (GPtrArray) known = g_ptr_array_new_with_free_func (g_free);
  for (guint i = 0; i < draft->parameters->len; i++) {
    const char *path = get (draft, i)->path, *name = strrchr (path, '.');
    g_ptr_array_add (known, g_strdup (path));
    g_ptr_array_add (known, g_strdup_printf ("%.*s.*", (int) (name - path), path));
    g_ptr_array_add (known, g_strconcat ("*", name, NULL));
  }
  g_ptr_array_add (known, NULL);
  return lig_suggest_ending (pattern, (const char *const *) known->pdata);
}

static gboolean
freeze (LigDraft *draft, const char *pattern, GError **error)
{
  g_autoptr (GPatternSpec) spec = g_pattern_spec_new (pattern);
  g_autoptr (GString) some = g_string_new (NULL);
  gboolean found = FALSE;
  for (guint i = 0; i < draft->parameters->len; i++) {
    if (g_pattern_spec_match_string (spec, get (draft, i)->path)) {
      get (draft, i)->trained = FALSE;
      found = TRUE;
    }
    if (i < MOST_SHOWN)
      g_string_append_printf (some, "%s%s", i > 0 ? ", " : "", get (draft, i)->path);
  }
  if (found)
    return TRUE;
  g_autofree char *like = suggest_pattern (draft, pattern);
  g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
               some->len > 0
                 ? _ ("no parameter has a path like '%s' to freeze; there are %s%s%s")
                 : _ ("no parameter has a path like '%s' to freeze; there are none%s%s%s"),
               pattern, some->str, draft->parameters->len > MOST_SHOWN ? " …" : "", like);
  return lig_error_set_setting (error, "freeze");
}

gboolean
lig_freeze_parameters (LigDraft *draft, GError **error)
{
  if (!draft->options.freeze)
    return TRUE;
  g_auto (GStrv) patterns = g_strsplit (draft->options.freeze, ",", -1);
  for (char **pattern = patterns; *pattern; pattern++)
    if (!*g_strstrip (*pattern)) {
      g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                   _ ("freeze is '%.60s': a pattern is empty, expected one like 0.* or *.bias"),
                   draft->options.freeze);
      return lig_error_set_setting (error, "freeze");
    } else if (!freeze (draft, *pattern, error))
      return FALSE;
  return TRUE;
}
