/* SPDX-License-Identifier: MIT */
/* Replaces a macro of a sequence by its parts, so that each can be edited. */
#include "engine/compile/shapes.h"
#include "engine/repair/frozen-paths.h"
#include "engine/sequence/parts.h"
#include "engine/sequence/tie.h"
#include <ligature/error.h>
#include <ligature/expand-macro.h>
#include <ligature/fusion.h>

#include <glib/gi18n-lib.h>
#include <string.h>

static LigParts *
expand (LigOp *macro, gboolean apart)
{
  LigParts *parts = lig_parts_new (NULL);
  parts->apart = apart;
  lig_op_get_info (macro)->expand (macro, parts);
  return parts;
}

/* --- Counting ------------------------------------------------------------------------------ */

static guint
count_ops (LigOp *op, int level)
{
  enum { DEEPEST = 32 };
  guint count = 0;
  if (!lig_op_get_info (op)->expand || level >= DEEPEST)
    return 1;
  g_autoptr (LigParts) parts = expand (op, FALSE);
  for (guint i = 0; i < parts->ops->len; i++)
    count += parts->ops->pdata[i] ? count_ops (parts->ops->pdata[i], level + 1) : 1;
  return count;
}

guint
lig_op_count_ops (LigOp *self)
{
  return count_ops (self, 0);
}

/* --- Channels ------------------------------------------------------------------------------ */

/* Calls a function with each channel of an op and of the ops of its block, and sets the channel
 * that it returns, if any. `level` is the number of blocks between the op and the list. */
typedef char *(*ChangeChannel) (const char *channel, int level, gpointer data);

static void
walk_channels (LigOp *op, int level, ChangeChannel change, gpointer data)
{
  LigSequence *body = lig_op_get_body (op);
  for (int i = 0; i < LIG_MAX_EXTRA; i++) {
    const char *input = lig_op_get_extra_input_channel (op, i);
    const char *output = lig_op_get_extra_output_channel (op, i);
    g_autofree char *new_input = input ? change (input, level, data) : NULL;
    g_autofree char *new_output = output ? change (output, level, data) : NULL;
    if (new_input)
      lig_op_set_extra_input_channel (op, i, new_input, NULL);
    if (new_output)
      lig_op_set_extra_output_channel (op, i, new_output, lig_op_get_extra_output_to_caller (op, i),
                                       NULL);
  }
  for (guint i = 0; body && i < lig_sequence_get_length (body); i++)
    walk_channels (lig_sequence_get (body, (int) i, NULL), level + 1, change, data);
}

/* Returns the name without its `../`, and their number. */
static const char *
split_channel (const char *channel, int *outward)
{
  for (*outward = 0; g_str_has_prefix (channel, "../"); channel += 3)
    ++*outward;
  return channel;
}

/* Collects the names of the list's channels. */
static char *
collect (const char *channel, int level, gpointer names)
{
  int outward;
  const char *name = split_channel (channel, &outward);
  if (outward == level)
    g_hash_table_add (names, g_strdup (name));
  return NULL;
}

typedef struct {
  GHashTable *taken;   /* (element-type utf8): names of the list */
  GHashTable *renamed; /* from names of the macro to names in the list */
} Names;

/* Returns the name that a channel of the macro has in the list: its own if that is free. */
static const char *
choose_name (Names *names, const char *name)
{
  const char *known = g_hash_table_lookup (names->renamed, name);
  if (known)
    return known;
  char *chosen = g_strdup (name);
  for (guint i = 2; g_hash_table_contains (names->taken, chosen); i++) {
    g_free (chosen);
    chosen = g_strdup_printf ("%s-%u", name, i);
  }
  g_hash_table_add (names->taken, g_strdup (chosen));
  g_hash_table_insert (names->renamed, g_strdup (name), chosen);
  return chosen;
}

/* Names of the macro get their name in the list, and those beyond it lose one `../`. */
static char *
move_out (const char *channel, int level, gpointer data)
{
  int outward;
  Names *names = data;
  const char *name = split_channel (channel, &outward);
  if (outward > level)
    return g_strdup (channel + 3);
  if (outward < level || g_str_equal (channel, "caller"))
    return NULL;
  return g_strdup_printf ("%.*s%s", (int) (name - channel), channel, choose_name (names, name));
}

static void
rename_channels (LigSequence *self, const LigParts *parts)
{
  Names names = {g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL),
                 g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free)};
  for (guint i = 0; i < lig_sequence_get_length (self); i++)
    walk_channels (lig_sequence_get (self, (int) i, NULL), 0, collect, names.taken);
  for (guint i = 0; i < parts->ops->len; i++)
    walk_channels (parts->ops->pdata[i], 0, move_out, &names);
  g_hash_table_unref (names.taken);
  g_hash_table_unref (names.renamed);
}

/* --- Forced and forbidden fusions
 * -------------------------------------------------------------------------------- */

/* Returns whether a fusion may begin at the part, or within it if it is a macro. */
static gboolean
takes (const LigFusion *fusion, LigOp *part)
{
  gboolean found = FALSE;
  if (!lig_op_get_info (part)->expand)
    return lig_fusion_takes (fusion, lig_op_get_info (part));
  g_autoptr (LigParts) inner = expand (part, TRUE);
  for (guint i = 0; i < inner->ops->len && !found; i++)
    found = inner->ops->pdata[i] && takes (fusion, inner->ops->pdata[i]);
  return found;
}

/* A frozen macro has frozen parts. A fusion that is forbidden at the macro is forbidden at each
 * part; one that is forced is forced at the first part that it takes. */
static void
carry_overrides (LigOp *macro, const LigParts *parts)
{
  const char *const *forced = lig_op_get_forced (macro);
  for (guint i = 0; i < parts->ops->len; i++)
    lig_op_set_forbidden (parts->ops->pdata[i], lig_op_get_forbidden (macro));
  for (guint i = 0; i < parts->ops->len && !lig_op_get_trained (macro); i++)
    lig_op_set_trained (parts->ops->pdata[i], FALSE);
  for (; *forced; forced++) {
    const LigFusion *fusion = lig_fusion_find (*forced);
    for (guint i = 0; i < parts->ops->len && fusion; i++) {
      LigOp *part = parts->ops->pdata[i];
      if (!takes (fusion, part))
        continue;
      g_autoptr (GStrvBuilder) all = g_strv_builder_new ();
      g_strv_builder_addv (all, (const char **) lig_op_get_forced (part));
      g_strv_builder_add (all, *forced);
      g_auto (GStrv) names = g_strv_builder_end (all);
      lig_op_set_forced (part, (const char *const *) names);
      break;
    }
  }
}

/* --- Macros within a macro ------------------------------------------------------------------ */

/* Makes each macro collapse the parts that it stands for, which is shorter to read and to edit. */
static void
collect_macros (LigParts *parts)
{
  const LigOpInfo *info;
  for (guint k = 0; (info = lig_op_info_nth (k)); k++)
    for (guint i = 0; info->collect && i < parts->ops->len; i++)
      i = info->collect (parts, i);
}

/* --- Ties ---------------------------------------------------------------------------------- */

/* Returns whether an op has a parameter itself, or a part at the path has it. */
static gboolean has_parameter (LigOp *op, const char *path, const char *parameter);

/* Returns the number of the part that has the parameter, -1 if there is none; `rest` is the path
 * within the part. */
static int
find_part (const LigParts *parts, const char *path, const char *parameter, const char **rest)
{
  for (guint i = 0; i < parts->ops->len; i++) {
    const char *name = parts->names->pdata[i];
    gsize length = name ? strlen (name) + 1 : 0;
    if (name && (*path != '.' || !g_str_has_prefix (path + 1, name) ||
                 (path[length] && path[length] != '.')))
      continue;
    *rest = path + length;
    if (parts->ops->pdata[i] && has_parameter (parts->ops->pdata[i], *rest, parameter))
      return (int) i;
  }
  return -1;
}

static gboolean
has_parameter (LigOp *op, const char *path, const char *parameter)
{
  const LigOpInfo *info = lig_op_get_info (op);
  const char *rest;
  if (info->expand) {
    g_autoptr (LigParts) parts = expand (op, TRUE);
    return find_part (parts, path, parameter, &rest) >= 0;
  }
  for (int i = 0; *path == '\0' && info->parameters && info->parameters[i].name; i++)
    if (!parameter || g_str_equal (info->parameters[i].name, parameter))
      return TRUE;
  return FALSE;
}

static LigOp *
find_tied (const char *suffix, const char *parameter, const char **rest, gpointer data)
{
  const LigParts *parts = data;
  int part = find_part (parts, suffix, parameter, rest);
  return part < 0 ? NULL : parts->ops->pdata[part];
}

/* --- The macro ----------------------------------------------------------------------------- */

/* Sets the lengths of parts that depend on the features of the macro's input. */
static gboolean
set_sizes (const LigParts *parts, gint64 features, GError **error)
{
  for (guint i = 0; i < parts->ops->len; i++) {
    const LigPartSize *size = &g_array_index (parts->sizes, LigPartSize, i);
    LigOp *part = parts->ops->pdata[i];
    gint64 length;
    if (!size->param)
      continue;
    if (features < 1) {
      g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE,
                   _ ("its parts depend on the features of its input, which are not known; give "
                      "the sequence an input"));
      return FALSE;
    }
    if (!lig_part_size_find (size, lig_op_get_info (part), features, &length, error))
      return FALSE;
    g_object_set (part, size->param, length, NULL);
  }
  return TRUE;
}

static gboolean
check_parts (LigOp *macro, const LigParts *parts, gint64 features, GError **error)
{
  if (!lig_op_check (macro, error))
    return FALSE;
  if (parts->problem) {
    g_set_error_literal (error, LIG_ERROR, LIG_ERROR_VALUE, parts->problem);
    return FALSE;
  }
  for (guint i = 0; i < parts->ops->len; i++)
    if (!parts->ops->pdata[i]) {
      g_set_error_literal (error, LIG_ERROR, LIG_ERROR_OP, _ ("a part could not be created"));
      return FALSE;
    }
  return set_sizes (parts, features, error);
}

/* Returns (transfer full) (nullable) a block with the macro's recomputation level; null if the
 * macro inherits it. The block's channels are as private as those of the macro, and keep their
 * names. */
static LigOp *
make_block (LigOp *macro, const LigParts *parts)
{
  g_autofree char *level = NULL;
  GParamSpec *spec = g_object_class_find_property (G_OBJECT_GET_CLASS (macro), "recompute");
  if (spec && G_PARAM_SPEC_VALUE_TYPE (spec) == G_TYPE_STRING)
    g_object_get (macro, "recompute", &level, NULL);
  LigRecompute known;
  if (!level || !lig_recompute_from_name (level, &known))
    return NULL;
  LigOp *block = lig_op_new (lig_op_info_with (LIG_OP_BLOCK)->name, NULL);
  g_object_set (block, "recompute", level, NULL);
  for (guint i = 0; i < parts->ops->len; i++)
    lig_sequence_append (lig_op_get_body (block), parts->ops->pdata[i], NULL);
  return block;
}

/* The ties of the parts are relative to the macro's position, and are resolved while it is
 * there. */
static gboolean
replace (LigSequence *self, int index, const LigParts *parts, GError **error)
{
  for (guint i = 0; i < parts->ops->len; i++)
    lig_ties_find (self, parts->ops->pdata[i]);
  g_autoptr (LigOp) macro = lig_sequence_pop (self, index, error);
  g_autoptr (LigOp) block = make_block (macro, parts);
  carry_overrides (macro, parts);
  if (block) {
    if (!lig_sequence_insert (self, index, block, error))
      return FALSE;
  } else {
    rename_channels (self, parts);
    for (guint i = 0; i < parts->ops->len; i++)
      if (!lig_sequence_insert (self, index + (int) i, parts->ops->pdata[i], error))
        return FALSE;
  }
  lig_ties_split (self, macro, find_tied, (gpointer) parts);
  lig_ties_renew (self);
  if (parts->ops->len > 0 && lig_op_get_fence (macro))
    lig_op_set_fence (parts->ops->pdata[0], TRUE);
  return TRUE;
}

gboolean
lig_sequence_expand_macro (LigSequence *self, int index, gint64 features, GError **error)
{
  g_return_val_if_fail (LIG_IS_SEQUENCE (self), FALSE);
  LigOp *op = lig_sequence_get (self, index, error);
  if (!op)
    return FALSE;
  index = index < 0 ? index + (int) lig_sequence_get_length (self) : index;
  if (!lig_op_get_info (op)->expand) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_OP,
                 _ ("%s at %d: it has no parts; only a macro can be expanded"),
                 lig_op_get_name (op), index);
    return FALSE;
  }
  g_autoptr (LigParts) parts = expand (op, TRUE);
  if (!check_parts (op, parts, features, error)) {
    g_prefix_error (error, _ ("%s at %d: "), lig_op_get_name (op), index);
    return FALSE;
  }
  collect_macros (parts);
  g_autoptr (GPtrArray) paths = lig_frozen_paths_list (self);
  if (!replace (self, index, parts, error))
    return FALSE;
  lig_frozen_paths_follow (self, paths);
  return TRUE;
}
