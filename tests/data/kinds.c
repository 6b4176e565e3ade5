/* SPDX-License-Identifier: MIT */
/* The tables of kinds of datasets are complete, and specs are checked by them. */
#include "tests/data/case.h"

static void
check_option (const LigDatasetOption *option)
{
  g_assert_true (option->label && option->help);
  g_assert_cmpfloat (option->minimum, <=, option->initial);
  if (option->type == LIG_DATASET_COUNT || option->type == LIG_DATASET_FRACTION ||
      option->type == LIG_DATASET_FRACTION_OR_FILE)
    g_assert_cmpfloat (option->initial, <, option->maximum);
  if (option->type == LIG_DATASET_CHOICE)
    g_assert_true (option->unset && option->choices[0].name && option->choices[1].name);
}

static void
test_tables (void)
{
  g_autoptr (GHashTable) names = g_hash_table_new (g_str_hash, g_str_equal);
  const LigDatasetInfo *info;
  for (guint n = 0; (info = lig_dataset_info_nth (n)); n++) {
    g_autoptr (GHashTable) keys = g_hash_table_new (g_str_hash, g_str_equal);
    g_autofree char *spec = g_strconcat (info->name, ":x?a=b", NULL);
    g_assert_true (g_hash_table_add (names, (gpointer) info->name));
    g_assert_true (info->title && info->help);
    g_assert_true (lig_dataset_info_of (info->name) == info);
    g_assert_true (lig_dataset_info_of (spec) == info);
    g_assert_true (!info->files || info->path != LIG_DATASET_NO_PATH);
    for (const LigDatasetOption *at = info->options; at && at->name; at++) {
      g_assert_true (g_hash_table_add (keys, (gpointer) at->name));
      check_option (at);
    }
    for (const LigDatasetOption *at = lig_dataset_shared_options (); at->name; at++) {
      g_assert_true (g_hash_table_add (keys, (gpointer) at->name));
      check_option (at);
    }
  }
  g_assert_cmpuint (g_hash_table_size (names), >=, 5);
  g_assert_null (lig_dataset_info_of ("tex"));
  g_assert_null (lig_dataset_info_of ("texts:x"));
}

/* Opens a spec of the kind with one option and the path of a missing file. */
static GError *
try_option (const LigDatasetInfo *info, const char *key, const char *value)
{
  GError *error = NULL;
  LigShape shape;
  const char *path = info->path == LIG_DATASET_NO_PATH ? "" : ":/no/where";
  g_autofree char *spec = g_strdup_printf ("%s%s?%s=%s", info->name, path, key, value);
  lig_shape_init (&shape, 2, (gint64) 2, (gint64) 3);
  g_autoptr (LigDataset) data = lig_dataset_open (spec, &shape, LIG_FP32, 0, 0, &error);
  return error;
}

static void
check_rejected (const LigDatasetInfo *info, const LigDatasetOption *option, const char *value)
{
  g_autoptr (GError) error = try_option (info, option->name, value);
  g_autofree char *words = g_strdup_printf ("%s is '%s', expected ", option->name, value);
  assert_error_has (error, LIG_ERROR_VALUE, words);
}

/* Checks that a valid value is not rejected, even if opening fails since the file is missing. */
static void
check_taken (const LigDatasetInfo *info, const LigDatasetOption *option, const char *value)
{
  g_autoptr (GError) error = try_option (info, option->name, value);
  g_assert_false (g_error_matches (error, LIG_ERROR, LIG_ERROR_VALUE));
}

static void
check_range (const LigDatasetInfo *info, const LigDatasetOption *option)
{
  g_autofree char *below = g_strdup_printf ("%.0f", option->minimum - 1);
  g_autofree char *above = g_strdup_printf ("%.0f", option->maximum + 1);
  g_autofree char *min = g_strdup_printf ("%.0f", option->minimum);
  check_rejected (info, option, below);
  check_rejected (info, option, above);
  check_rejected (info, option, "");
  check_rejected (info, option, "nan");
  check_rejected (info, option, "many");
  check_taken (info, option, min);
}

/* A share in its range or, for kinds that read files, a path. */
static void
check_fraction_or_file (const LigDatasetInfo *info, const LigDatasetOption *option)
{
  check_rejected (info, option, "-1");
  check_rejected (info, option, "1");
  check_rejected (info, option, "nan");
  check_rejected (info, option, "");
  check_taken (info, option, "0");
  check_taken (info, option, "0.5");
  (info->path == LIG_DATASET_NO_PATH ? check_rejected : check_taken) (info, option, "many");
}

static void
check_values (const LigDatasetInfo *info, const LigDatasetOption *option)
{
  switch (option->type) {
  case LIG_DATASET_CHOICE:
    check_rejected (info, option, "neither");
    for (const LigDatasetChoice *choice = option->choices; choice->name; choice++)
      check_taken (info, option, choice->name);
    break;
  case LIG_DATASET_BOOLEAN:
    check_rejected (info, option, "yes");
    check_taken (info, option, "true");
    check_taken (info, option, "false");
    break;
  case LIG_DATASET_COUNT:
  case LIG_DATASET_FRACTION:
    check_range (info, option);
    break;
  case LIG_DATASET_FRACTION_OR_FILE:
    check_fraction_or_file (info, option);
    break;
  default:
    check_taken (info, option, "anything");
  }
}

static void
test_options (void)
{
  const LigDatasetInfo *info;
  for (guint n = 0; (info = lig_dataset_info_nth (n)); n++) {
    g_autoptr (GError) error = try_option (info, "no-such", "1");
    assert_error_has (error, LIG_ERROR_VALUE, "no option 'no-such', only validation");
    for (const LigDatasetOption *at = info->options; at && at->name; at++) {
      g_assert_nonnull (strstr (error->message, at->name));
      check_values (info, at);
    }
    for (const LigDatasetOption *at = lig_dataset_shared_options (); at->name; at++)
      check_values (info, at);
  }
}

static void
test_split (void)
{
  char *path;
  g_auto (GStrv) all = lig_dataset_split ("csv:a?b:c.csv?target=y%26z&header=true", &path);
  g_assert_cmpstr (path, ==, "a?b:c.csv");
  g_assert_cmpuint (g_strv_length (all), ==, 4);
  g_assert_cmpstr (all[0], ==, "target");
  g_assert_cmpstr (all[1], ==, "y&z");
  g_assert_cmpstr (all[2], ==, "header");
  g_free (path);
  g_auto (GStrv) none = lig_dataset_split ("synthetic", &path);
  g_assert_null (path);
  g_assert_null (none[0]);
  g_auto (GStrv) some = lig_dataset_split ("synthetic?samples=4", &path);
  g_assert_null (path);
  g_assert_cmpstr (some[1], ==, "4");
}

int
main (int argc, char *argv[])
{
  start_tests (&argc, &argv);
  g_test_add_func ("/dataset/kinds/tables", test_tables);
  g_test_add_func ("/dataset/kinds/options", test_options);
  g_test_add_func ("/dataset/kinds/split", test_split);
  return finish_tests ();
}
