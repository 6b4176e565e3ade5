/* SPDX-License-Identifier: MIT */
/* Patterns of frozen parameters follow an edit. A pattern that matches the same parameters by their
 * new paths is kept; otherwise it is replaced by the fewest, shortest patterns that do. */
#include "engine/repair/frozen-paths.h"

#include "engine/base/json-private.h"
#include "engine/sequence/op-private.h"
#include "engine/sequence/parts.h"
#include <ligature/json.h>

#include <string.h>

#define DEEPEST 32
#define MAX_PARAMETERS 20000 /* patterns of longer lists are not changed */

/* --- Paths --------------------------------------------------------------------------------- */

static LigSequence *
find_root (LigSequence *list)
{
  for (LigOp *block; list && (block = lig_sequence_get_block (list));)
    list = lig_op_get_owner (block);
  return list;
}

static void list_op (LigOp *op, const char *path, int level, GPtrArray *paths);

static void
list_block (LigSequence *body, gint64 repeat, const char *path, int level, GPtrArray *paths)
{
  for (gint64 i = 0; i < repeat; i++) {
    guint before = paths->len;
    for (guint j = 0; j < lig_sequence_get_length (body); j++) {
      g_autofree char *inner = g_strdup_printf ("%s.%" G_GINT64_FORMAT ".%u", path, i, j);
      list_op (lig_sequence_get (body, (int) j, NULL), inner, level + 1, paths);
    }
    if (paths->len == before)
      return;
  }
}

static void
list_macro (LigOp *op, const char *path, int level, GPtrArray *paths)
{
  g_autoptr (LigParts) parts = lig_parts_new (NULL);
  lig_op_get_info (op)->expand (op, parts);
  for (guint i = 0; i < parts->ops->len; i++) {
    const char *name = parts->names->pdata[i];
    g_autofree char *own = g_strdup_printf ("%s%s%s", path, name ? "." : "", name ? name : "");
    if (parts->ops->pdata[i])
      list_op (parts->ops->pdata[i], own, level + 1, paths);
  }
}

static void
list_op (LigOp *op, const char *path, int level, GPtrArray *paths)
{
  const LigOpInfo *info = lig_op_get_info (op);
  gint64 repeat = 1;
  if (level > DEEPEST || paths->len > MAX_PARAMETERS)
    return;
  if (lig_op_get_body (op)) {
    g_object_get (op, "repeat", &repeat, NULL);
    list_block (lig_op_get_body (op), repeat, path, level, paths);
  } else if (info->expand)
    list_macro (op, path, level, paths);
  for (const LigParameterInfo *at = info->parameters; at && at->name; at++)
    g_ptr_array_add (paths, g_strdup_printf ("%s.%s", path, at->name));
}

/* Returns the `train` object and the text of its patterns, or null. */
static JsonNode *
read_patterns (LigSequence *root, const char **patterns)
{
  const char *train = lig_sequence_get_train (root);
  g_autoptr (JsonNode) node = train ? lig_json_from_text (train, NULL) : NULL;
  JsonNode *freeze = node && JSON_NODE_HOLDS_OBJECT (node)
                       ? json_object_get_member (json_node_get_object (node), "freeze")
                       : NULL;
  if (!freeze || !JSON_NODE_HOLDS_VALUE (freeze) ||
      json_node_get_value_type (freeze) != G_TYPE_STRING)
    return NULL;
  *patterns = json_node_get_string (freeze);
  return g_steal_pointer (&node);
}

GPtrArray *
lig_frozen_paths_list (LigSequence *edited)
{
  const char *patterns;
  LigSequence *root = find_root (edited);
  g_autoptr (JsonNode) train = root ? read_patterns (root, &patterns) : NULL;
  GPtrArray *paths = train ? g_ptr_array_new_with_free_func (g_free) : NULL;
  for (guint i = 0; paths && i < lig_sequence_get_length (root); i++) {
    g_autofree char *path = g_strdup_printf ("%u", i);
    list_op (lig_sequence_get (root, (int) i, NULL), path, 0, paths);
  }
  return paths;
}

/* --- Patterns ------------------------------------------------------------------------------ */

typedef struct {
  const GPtrArray *paths;
  gboolean *wanted;  /* by path: a pattern matched it before */
  gboolean *covered; /* by path: a new pattern matches it */
} Cover;

/* Marks the paths that a pattern matches, unless it matches an unwanted one. */
static gboolean
cover_by (Cover *self, const char *pattern)
{
  g_autoptr (GPatternSpec) spec = g_pattern_spec_new (pattern);
  for (guint i = 0; i < self->paths->len; i++)
    if (!self->wanted[i] && g_pattern_spec_match_string (spec, self->paths->pdata[i]))
      return FALSE;
  for (guint i = 0; i < self->paths->len; i++)
    self->covered[i] |= g_pattern_spec_match_string (spec, self->paths->pdata[i]);
  return TRUE;
}

/* Returns the first `count` words of a path with `*` after them unless they are all; `again`: with
 * `*` for the numbers of repetitions, which are every second one. */
static char *
make_pattern (char **words, guint count, gboolean again)
{
  g_autoptr (GString) text = g_string_new (NULL);
  for (guint i = 0; i < count; i++) {
    gboolean repetition = again && i % 2 == 1 && g_ascii_isdigit (*words[i]);
    g_string_append_printf (text, "%s%s", i > 0 ? "." : "", repetition ? "*" : words[i]);
  }
  if (words[count])
    g_string_append (text, ".*");
  return g_strdup (text->str);
}

/* Adds the most general pattern that matches a path and no unwanted one. */
static void
cover_path (Cover *self, const char *path, GPtrArray *patterns)
{
  g_auto (GStrv) words = g_strsplit (path, ".", -1);
  for (guint count = 1; count <= g_strv_length (words); count++)
    for (int again = TRUE; again >= FALSE; again--) {
      g_autofree char *pattern = make_pattern (words, count, again);
      if (!cover_by (self, pattern))
        continue;
      g_ptr_array_add (patterns, g_steal_pointer (&pattern));
      return;
    }
}

/* Adds patterns that match the new paths of the parameters whose old paths one pattern matched. */
static void
follow (const char *pattern, const GPtrArray *before, const GPtrArray *after, GPtrArray *patterns)
{
  g_autoptr (GPatternSpec) spec = g_pattern_spec_new (pattern);
  g_autofree gboolean *wanted = g_new0 (gboolean, after->len + 1);
  g_autofree gboolean *covered = g_new0 (gboolean, after->len + 1);
  Cover cover = {after, wanted, covered};
  gboolean same = TRUE;
  for (guint i = 0; i < after->len; i++) {
    wanted[i] = g_pattern_spec_match_string (spec, before->pdata[i]);
    same &= wanted[i] == g_pattern_spec_match_string (spec, after->pdata[i]);
  }
  if (same)
    g_ptr_array_add (patterns, g_strdup (pattern));
  for (guint i = 0; i < after->len && !same; i++)
    if (wanted[i] && !covered[i])
      cover_path (&cover, after->pdata[i], patterns);
}

void
lig_frozen_paths_follow (LigSequence *edited, const GPtrArray *before)
{
  const char *text;
  LigSequence *root = find_root (edited);
  g_autoptr (GPtrArray) after = before ? lig_frozen_paths_list (edited) : NULL;
  if (!after || after->len != before->len || after->len > MAX_PARAMETERS)
    return;
  g_autoptr (JsonNode) train = read_patterns (root, &text);
  g_auto (GStrv) old = g_strsplit (text, ",", -1);
  g_autoptr (GPtrArray) new = g_ptr_array_new_with_free_func (g_free);
  for (char **pattern = old; *pattern; pattern++)
    follow (g_strstrip (*pattern), before, after, new);
  g_ptr_array_add (new, NULL);
  g_autofree char *joined = g_strjoinv (",", (GStrv) new->pdata);
  if (g_str_equal (joined, text))
    return;
  g_autoptr (GString) written = g_string_new (NULL);
  json_object_set_string_member (json_node_get_object (train), "freeze", joined);
  lig_json_append (written, train);
  lig_sequence_set_train (root, written->str);
}
