/* SPDX-License-Identifier: MIT */
/* Finds the options of datasets and checks their values. */
#include "engine/base/suggest.h"
#include "engine/data/kind.h"

#include <string.h>

gboolean
lig_dataset_reject (const LigDataset *self, GError **error, LigError code, const char *format, ...)
{
  va_list arguments;
  va_start (arguments, format);
  g_autofree char *what = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_set_error (error, LIG_ERROR, code, "%s: %s", self->name, what);
  return FALSE;
}

static const LigDatasetOption shared[] = {
  {.type = LIG_DATASET_FRACTION_OR_FILE,
   .name = LIG_VALIDATION,
   .label = N_ ("Validation"),
   .help = N_ ("Share of the data for validation, or a validation file"),
   .minimum = 0,
   .maximum = 1,
   .initial = 0.1},
  {.name = NULL},
};

const LigDatasetOption *
lig_dataset_shared_options (void)
{
  return shared;
}

static const LigDatasetOption *
find_in (const LigDatasetOption *options, const char *key)
{
  for (; options && options->name; options++)
    if (strcmp (options->name, key) == 0)
      return options;
  return NULL;
}

static const LigDatasetOption *
find (const LigDataset *self, const char *key)
{
  const LigDatasetOption *option = find_in (shared, key);
  return option ? option : find_in (self->kind->info.options, key);
}

static void
append_names (GString *to, const LigDatasetOption *options)
{
  for (; options && options->name; options++)
    g_string_append_printf (to, "%s%s", to->len > 0 ? ", " : "", options->name);
}

static gboolean
reject_key (const LigDataset *self, const char *key, GError **error)
{
  g_autoptr (GString) names = g_string_new (NULL);
  append_names (names, shared);
  append_names (names, self->kind->info.options);
  g_auto (GStrv) list = g_strsplit (names->str, ", ", -1);
  g_autofree char *like = lig_suggest_ending (key, (const char *const *) list);
  return lig_dataset_reject (self, error, LIG_ERROR_VALUE, _ ("%s has no option '%s', only %s%s"),
                             self->kind->info.name, key, names->str, like);
}

static gboolean
reject (const LigDataset *self, const char *key, const char *text, const char *what, GError **error)
{
  return lig_dataset_reject (self, error, LIG_ERROR_VALUE, _ ("%s is '%s', expected %s"), key, text,
                             what);
}

static gboolean
check_choice (const LigDataset *self,
              const LigDatasetOption *option,
              const char *text,
              GError **error)
{
  g_autoptr (GString) names = g_string_new (NULL);
  for (const LigDatasetChoice *choice = option->choices; choice->name; choice++) {
    if (strcmp (choice->name, text) == 0)
      return TRUE;
    const char *before = names->len == 0 ? "" : choice[1].name ? ", " : _ (" or ");
    g_string_append_printf (names, "%s%s", before, choice->name);
  }
  g_autofree char *like = LIG_SUGGEST_FROM (text, option->choices, LigDatasetChoice);
  g_string_append (names, like);
  return reject (self, option->name, text, names->str, error);
}

static gboolean
check_count (const LigDataset *self,
             const LigDatasetOption *option,
             const char *text,
             GError **error)
{
  if (g_ascii_string_to_signed (text, 10, (gint64) option->minimum, (gint64) option->maximum, NULL,
                                NULL))
    return TRUE;
  g_autofree char *what =
    g_strdup_printf (_ ("a whole number from %.0f to %.0f"), option->minimum, option->maximum);
  return reject (self, option->name, text, what, error);
}

static gboolean
check_fraction (const LigDataset *self,
                const LigDatasetOption *option,
                const char *text,
                GError **error)
{
  char *end;
  double value = g_ascii_strtod (text, &end);
  if (end != text && !*end && value >= option->minimum && value < option->maximum)
    return TRUE;
  g_autofree char *what = g_strdup_printf (_ ("a fraction of at least %g and below %g"),
                                           option->minimum, option->maximum);
  return reject (self, option->name, text, what, error);
}

gboolean
lig_dataset_is_number (const char *text)
{
  char *end;
  g_ascii_strtod (text, &end);
  return end != text && !*end;
}

/* A kind without a file cannot have a validation file, and an empty text is not a file name. */
static gboolean
check_fraction_or_file (const LigDataset *self,
                        const LigDatasetOption *option,
                        const char *text,
                        GError **error)
{
  gboolean may_be_file = self->kind->info.path != LIG_DATASET_NO_PATH && *text;
  return (may_be_file && !lig_dataset_is_number (text)) ||
         check_fraction (self, option, text, error);
}

gboolean
lig_dataset_check_option (const LigDataset *self, const char *key, const char *text, GError **error)
{
  const LigDatasetOption *option = find (self, key);
  if (!option)
    return reject_key (self, key, error);
  switch (option->type) {
  case LIG_DATASET_CHOICE:
    return check_choice (self, option, text, error);
  case LIG_DATASET_BOOLEAN:
    return strcmp (text, "true") == 0 || strcmp (text, "false") == 0 ||
           reject (self, key, text, _ ("true or false"), error);
  case LIG_DATASET_COUNT:
    return check_count (self, option, text, error);
  case LIG_DATASET_FRACTION:
    return check_fraction (self, option, text, error);
  case LIG_DATASET_FRACTION_OR_FILE:
    return check_fraction_or_file (self, option, text, error);
  default:
    return TRUE;
  }
}

const char *
lig_dataset_option (const LigDataset *self, const char *key)
{
  return g_hash_table_lookup (self->options, key);
}

double
lig_dataset_number (const LigDataset *self, const char *key)
{
  const char *text = lig_dataset_option (self, key);
  return text ? g_ascii_strtod (text, NULL) : find (self, key)->initial;
}

gboolean
lig_dataset_boolean (const LigDataset *self, const char *key)
{
  const char *text = lig_dataset_option (self, key);
  return text ? strcmp (text, "true") == 0 : find (self, key)->initial != 0;
}
