/* SPDX-License-Identifier: MIT */
/* Lists the kinds of datasets, and parses `KIND[:PATH][?key=value&...]`. */
#include "engine/base/file.h"
#include "engine/base/suggest.h"
#include "engine/data/kind.h"
#include <ligature/former-names.h>

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define LIG_DATASET(kind) extern const LigDatasetKind lig_dataset_##kind;
#include "engine/data/dataset-list.h"
#undef LIG_DATASET

static const LigDatasetKind *const kinds[] = {
#define LIG_DATASET(kind) &lig_dataset_##kind,
#include "engine/data/dataset-list.h"
#undef LIG_DATASET
  NULL,
};

const LigDatasetKind *const *
lig_dataset_kinds (void)
{
  return kinds;
}

const LigDatasetInfo *
lig_dataset_info_nth (guint n)
{
  return n < G_N_ELEMENTS (kinds) - 1 ? &kinds[n]->info : NULL;
}

static const char *
get_name (guint n)
{
  const LigDatasetInfo *info = lig_dataset_info_nth (n);
  return info ? info->name : NULL;
}

static char *
join_kinds (void)
{
  GString *text = g_string_new (NULL);
  for (const LigDatasetKind *const *kind = lig_dataset_kinds (); *kind; kind++)
    g_string_append_printf (text, "%s%s", text->len > 0 ? ", " : "", (*kind)->info.name);
  return g_string_free (text, FALSE);
}

/* Returns the kind whose files have names like the spec without its query; or null. */
static const char *
find_by_name (const char *spec)
{
  const LigDatasetInfo *info;
  g_autofree char *path = g_strndup (spec, strcspn (spec, "?"));
  g_autofree char *name = g_path_get_basename (path);
  g_autofree char *lower = g_ascii_strdown (name, -1);
  for (guint n = 0; (info = lig_dataset_info_nth (n)); n++) {
    g_auto (GStrv) patterns = g_strsplit (info->files ? info->files : "", " ", -1);
    for (char **pattern = patterns; *pattern; pattern++)
      if (**pattern && !g_str_equal (*pattern, "*") && g_pattern_match_simple (*pattern, lower))
        return info->name;
  }
  return NULL;
}

static gboolean
find_kind (LigDataset *self, const char *name, const char *spec, GError **error)
{
  for (const LigDatasetKind *const *kind = lig_dataset_kinds (); *kind; kind++) {
    if (strcmp ((*kind)->info.name, name) == 0) {
      self->kind = *kind;
      return TRUE;
    }
  }
  g_autofree char *shown = lig_format_excerpt (spec, 200);
  gboolean bare = strcspn (spec, ":") >= strcspn (spec, "/");
  const char *known = bare ? find_by_name (spec) : NULL;
  if (known) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_FORMAT,
                 _ ("'%s' names no kind of dataset; did you mean '%s:%s'?"), shown, known, shown);
    return FALSE;
  }
  if (g_file_test (spec, G_FILE_TEST_EXISTS)) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_FORMAT,
                 _ ("'%s' names no kind of dataset; text:%s reads its bytes as tokens"), shown,
                 shown);
    return FALSE;
  }
  g_autofree char *names = join_kinds ();
  g_autofree char *like = lig_suggest_nth (name, get_name);
  g_set_error (error, LIG_ERROR, LIG_ERROR_FORMAT,
               _ ("kind of data '%s' is unknown; choose from %s%s"), name, names, like);
  return FALSE;
}

/* Returns the query, which begins at the last question mark followed by `key=`, so that a path may
 * contain question marks. */
static const char *
find_query (const char *spec)
{
  const char *query = strrchr (spec, '?');
  return query && strchr (query, '=') ? query : spec + strlen (spec);
}

/* Replaces old names of options and of values by the current ones. */
static void
replace_former (char **key, char **value)
{
  const char *current = lig_former_name_replace (LIG_FORMER_DATA, *key);
  if (current != *key) {
    g_free (*key);
    *key = g_strdup (current);
  }
  g_autofree char *both = g_strdup_printf ("%s=%s", *key, *value);
  const char *replaced = lig_former_name_replace (LIG_FORMER_DATA, both);
  if (replaced == both)
    return;
  g_free (*value);
  *value = g_strdup (strchr (replaced, '=') + 1);
}

static gboolean
add_option (LigDataset *self, const char *text, GError **error)
{
  const char *sign = strchr (text, '=');
  g_autofree char *key = sign ? g_strndup (text, (gsize) (sign - text)) : g_strdup (text);
  g_autofree char *value = sign ? g_uri_unescape_string (sign + 1, NULL) : NULL;
  if (!value)
    return lig_dataset_reject (self, error, LIG_ERROR_FORMAT,
                               _ ("option '%s' has no value; options are written key=value"), key);
  replace_former (&key, &value);
  if (!lig_dataset_check_option (self, key, value, error))
    return FALSE;
  if (g_hash_table_contains (self->options, key))
    return lig_dataset_reject (self, error, LIG_ERROR_VALUE, _ ("option '%s' is given twice"), key);
  g_hash_table_insert (self->options, g_steal_pointer (&key), g_steal_pointer (&value));
  return TRUE;
}

/* Validation data are a share of the data or a separate file. */
static gboolean
take_validation (LigDataset *self, GError **error)
{
  const char *text = lig_dataset_option (self, LIG_VALIDATION);
  if (!text || lig_dataset_is_number (text)) {
    self->validation = lig_dataset_number (self, LIG_VALIDATION);
    return TRUE;
  }
  self->validation_path = g_strdup (text);
  if (!lig_dataset_option (self, LIG_SPLIT))
    return TRUE;
  return lig_dataset_reject (self, error, LIG_ERROR_VALUE,
                             _ ("split and the file validation=%s cannot be combined; omit one"),
                             text);
}

gboolean
lig_dataset_parse (LigDataset *self, const char *spec, GError **error)
{
  const char *query = find_query (spec);
  g_autofree char *whole = g_strndup (spec, (gsize) (query - spec));
  g_auto (GStrv) parts = g_strsplit (whole, ":", 2);
  g_auto (GStrv) options = g_strsplit (*query ? query + 1 : "", "&", -1);
  const char *path = parts[0] && parts[1] && *parts[1] ? parts[1] : NULL;
  if (!find_kind (self, parts[0] ? parts[0] : "", whole, error))
    return FALSE;
  const LigDatasetInfo *info = &self->kind->info;
  self->path = g_strdup (path);
  self->name = path ? g_filename_display_name (path) : g_strdup (info->name);
  if (info->path != LIG_DATASET_NO_PATH && !path)
    return lig_dataset_reject (self, error, LIG_ERROR_FORMAT, _ ("needs a path, as in %s:PATH"),
                               info->name);
  if (info->path == LIG_DATASET_NO_PATH && path)
    return lig_dataset_reject (self, error, LIG_ERROR_FORMAT, _ ("%s takes no path"), info->name);
  for (char **option = options; *option; option++)
    if (!add_option (self, *option, error))
      return FALSE;
  return take_validation (self, error);
}

const LigDatasetInfo *
lig_dataset_info_of (const char *spec)
{
  gsize length = strcspn (spec, ":?");
  for (const LigDatasetKind *const *kind = lig_dataset_kinds (); *kind; kind++)
    if (strlen ((*kind)->info.name) == length && strncmp ((*kind)->info.name, spec, length) == 0)
      return &(*kind)->info;
  return NULL;
}

GStrv
lig_dataset_split (const char *spec, char **path)
{
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
  const char *query = find_query (spec), *colon = memchr (spec, ':', (gsize) (query - spec));
  g_auto (GStrv) options = g_strsplit (*query ? query + 1 : "", "&", -1);
  *path = colon && colon + 1 < query ? g_strndup (colon + 1, (gsize) (query - colon - 1)) : NULL;
  for (char **option = options; *option; option++) {
    g_auto (GStrv) pair = g_strsplit (*option, "=", 2);
    g_autofree char *value = pair[0] && pair[1] ? g_uri_unescape_string (pair[1], NULL) : NULL;
    if (value) {
      g_strv_builder_add (builder, pair[0]);
      g_strv_builder_add (builder, value);
    }
  }
  return g_strv_builder_end (builder);
}

static const LigDatasetOption *
find_option (const LigDatasetOption *options, const char *key, gsize length)
{
  for (; options && options->name; options++)
    if (strlen (options->name) == length && strncmp (options->name, key, length) == 0)
      return options;
  return NULL;
}

static gboolean
is_path (const LigDatasetInfo *info, const char *key, gsize length, const char *value)
{
  const LigDatasetOption *option = find_option (info ? info->options : NULL, key, length);
  if (!option)
    option = find_option (lig_dataset_shared_options (), key, length);
  return option &&
         (option->type == LIG_DATASET_PATH ||
          (option->type == LIG_DATASET_FRACTION_OR_FILE && !lig_dataset_is_number (value)));
}

static char *
locate_option (const LigDatasetInfo *info, const char *option)
{
  gsize length = strcspn (option, "=");
  g_autofree char *path = option[length] ? g_uri_unescape_string (option + length + 1, NULL) : NULL;
  if (!path || !is_path (info, option, length, path))
    return g_strdup (option);
  g_autofree char *whole = g_canonicalize_filename (path, NULL);
  g_autofree char *escaped = whole ? g_uri_escape_string (whole, "/", TRUE) : NULL;
  return escaped ? g_strdup_printf ("%.*s=%s", (int) length, option, escaped) : g_strdup (option);
}

char *
lig_dataset_locate (const char *spec)
{
  const LigDatasetInfo *info = lig_dataset_info_of (spec);
  const char *query = find_query (spec), *colon = strchr (spec, ':');
  if (!colon || colon >= query || colon + 1 == query)
    return g_strdup (spec);
  g_autofree char *path = g_strndup (colon + 1, (gsize) (query - colon - 1));
  g_autofree char *whole = g_canonicalize_filename (path, NULL);
  GString *text = g_string_new_len (spec, colon + 1 - spec);
  g_auto (GStrv) options = g_strsplit (*query ? query + 1 : "", "&", -1);
  g_string_append (text, whole);
  for (char **option = options; *option; option++) {
    g_autofree char *located = locate_option (info, *option);
    g_string_append_printf (text, "%c%s", option == options ? '?' : '&', located);
  }
  return g_string_free (text, FALSE);
}

/* Returns whether the spec leaves the choice of validation rows open. */
static gboolean
leaves_split_open (const char *spec)
{
  const LigDatasetInfo *info = lig_dataset_info_of (spec);
  g_autofree char *path = NULL;
  g_auto (GStrv) given = lig_dataset_split (spec, &path);
  if (!info || !find_option (info->options, LIG_SPLIT, strlen (LIG_SPLIT)))
    return FALSE;
  for (char **key = given; *key; key += 2)
    if (strcmp (key[0], LIG_SPLIT) == 0 ||
        (strcmp (key[0], LIG_VALIDATION) == 0 && !lig_dataset_is_number (key[1])))
      return FALSE;
  return TRUE;
}

char *
lig_dataset_name_split (const char *spec, const char *split)
{
  return leaves_split_open (spec)
           ? g_strdup_printf ("%s%c" LIG_SPLIT "=%s", spec, *find_query (spec) ? '&' : '?', split)
           : g_strdup (spec);
}

gint64
lig_dataset_cut (const LigDataset *self, gint64 total)
{
  /* Avoids rounding errors: 30 * 0.1 may be slightly above 3. */
  double share = (double) total * self->validation;
  gint64 validation = (gint64) ceil (share - share * 1e-12);
  return total - CLAMP (validation, 0, total - 1);
}

gboolean
lig_dataset_require_class (const LigDataset *self,
                           const LigTarget *target,
                           gint64 size,
                           GError **error)
{
  if (target->classes == 0)
    return lig_dataset_reject (self, error, LIG_ERROR_DTYPE,
                               _ ("%s gives classes, the loss requires %s values"),
                               self->kind->info.name, lig_dtype_name (target->dtype));
  if (size != 1)
    return lig_dataset_reject (self, error, LIG_ERROR_SHAPE,
                               _ ("%s gives 1 class per sample, the loss requires %" PRId64),
                               self->kind->info.name, size);
  return TRUE;
}
