/* SPDX-License-Identifier: MIT */
/* With the built catalogue the window's texts are in German: errors of expressions, shapes, data,
 * devices, the store and runs, and the descriptions of devices and data sets. */
#include <ligature/compile.h>
#include <ligature/dataset.h>
#include <ligature/folders.h>
#include <ligature/plan-options.h>
#include <ligature/plan.h>
#include <ligature/run.h>
#include <ligature/store.h>

#include <glib/gstdio.h>
#include <libintl.h>
#include <locale.h>
#include <string.h>

static void
expect (GError *error, const char *german)
{
  g_assert_nonnull (error);
  g_assert_cmpstr (error->message, ==, german);
  g_error_free (error);
}

static void
test_expressions (void)
{
  static const char *const cases[][2] = {
    {"linear (", "Spalte 9: erwartet: ein Wert, gefunden: das Ende"},
    {"gelu ! | ! | ! gelu", "Spalte 12: ein zweiter Zaun in einer Lücke"},
    {"gelux", "Spalte 1: Operation „gelux“ ist unbekannt; war „gelu“ gemeint?"},
    {"linear", "Spalte 1: linear braucht out-features"},
    {"linear(4, bias=2)", "Spalte 16: bias von linear: erwartet: true oder false, gefunden: 2"},
    {" ", "der Ausdruck ist leer, erwartet: eine Operation"},
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GError *error = NULL;
    g_assert_null (lig_sequence_from_expression (cases[i][0], &error));
    expect (error, cases[i][1]);
  }
}

/* Both numbers of a plural, and a channel. */
static void
test_rows (void)
{
  static const char *const cases[][2] = {
    {"linear(767) ! linear(5, in-features=768)",
     "linear bei 1: die Eingabe hat 767 Merkmale, erwartet: 768"},
    {"linear(1) ! linear(5, in-features=768)",
     "linear bei 1: die Eingabe hat 1 Merkmal, erwartet: 768"},
    {"add-extra-input(from=r)", "nichts schreibt den Zweig „r“, den add-extra-input bei 0 liest"},
  };
  g_autoptr (LigDevice) device = lig_device_open ("null:h200", NULL);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GError *error = NULL;
    g_autoptr (LigSequence) sequence = lig_sequence_from_expression (cases[i][0], &error);
    g_assert_no_error (error);
    LigShape shape = {.n_axes = 2, .axes = {16, 64}};
    lig_sequence_set_input (sequence, &shape, LIG_FP32);
    LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
    g_assert_null (lig_plan_compile (sequence, device, &options, &error));
    expect (error, cases[i][1]);
  }
}

static void
test_devices (void)
{
  GError *error = NULL;
  g_assert_null (lig_device_open ("tpu", &error));
  expect (error,
          "das Gerät „tpu“ ist unbekannt; zur Wahl stehen cpu, cuda:N und null[:DESCRIPTION]");
  error = NULL;
  g_assert_null (lig_device_open ("null:h300", &error));
  expect (error,
          "die Gerätebeschreibung „h300“ ist unbekannt; b200, h200, h100, a100 oder den Pfad "
          "einer JSON-Datei angeben; war „h100“ gemeint?");
}

static LigDataset *
open_data (const char *spec, GError **error)
{
  LigShape shape = {.n_axes = 2, .axes = {4, 2}};
  return lig_dataset_open (spec, &shape, LIG_FP32, 0, 0, error);
}

static void
test_data (void)
{
  g_autofree char *folder = g_dir_make_tmp ("ligature-XXXXXX", NULL);
  g_autofree char *file = g_build_filename (folder, "a.csv", NULL);
  g_autofree char *spec = g_strconcat ("csv:", file, NULL);
  GError *error = NULL;
  g_assert_null (open_data ("quux:a", &error));
  expect (error, "die Art der Daten „quux“ ist unbekannt; zur Wahl stehen text, tokens, csv, idx, "
                 "synthetic");
  error = NULL;
  g_assert_null (open_data ("csv", &error));
  expect (error, "csv: braucht einen Pfad, wie in csv:PFAD");
  error = NULL;
  g_file_set_contents (file, "1,2,3\n1,2\n", -1, NULL);
  g_assert_null (open_data (spec, &error));
  g_autofree char *german = g_strconcat (file, ":2: hat 2 Felder, die erste Zeile hat 3", NULL);
  expect (error, german);
  g_file_set_contents (file, "1,2,3\n4,5,6\n7,8,9\n1,1,1\n", -1, NULL);
  error = NULL;
  g_autoptr (LigDataset) data = open_data (spec, &error);
  g_assert_no_error (error);
  g_assert_nonnull (strstr (lig_dataset_describe (data), "4 Zeilen"));
  g_remove (file);
  g_remove (folder);
}

static void
test_store (void)
{
  GError *error = NULL;
  g_autofree char *folder = g_dir_make_tmp ("ligature-XXXXXX", NULL);
  g_autofree char *file = g_build_filename (folder, "none.db", NULL);
  g_assert_null (lig_store_open_existing (file, LIG_STORE_READ, &error));
  g_autofree char *german =
    g_strdup_printf ("die Ablage „%s“ gibt es nicht; ein Lauf oder ein Profil legt sie an", file);
  expect (error, german);
  g_remove (folder);
}

static void
test_settings (void)
{
  GError *error = NULL;
  g_auto (LigRunSettings) settings;
  lig_run_settings_init (&settings);
  g_assert_false (lig_run_settings_set (&settings, "warmth", "1", &error));
  expect (error, "Training hat keine Einstellung „warmth“; war „warmup“ gemeint?");
}

int
main (int argc, char **argv)
{
  g_setenv ("LANGUAGE", "de", TRUE);
  g_setenv ("LC_ALL", "C.UTF-8", TRUE);
  setlocale (LC_ALL, "");
  setlocale (LC_NUMERIC, "C");
  bindtextdomain ("ligature", lig_locale_folder ());
  bind_textdomain_codeset ("ligature", "UTF-8");
  g_test_init (&argc, &argv, NULL);
  g_autofree char *catalogue =
    g_build_filename (lig_locale_folder (), "de", "LC_MESSAGES", "ligature.mo", NULL);
  if (!g_file_test (catalogue, G_FILE_TEST_EXISTS)) {
    g_print ("1..0 # SKIP no catalogue was built, gettext is missing\n");
    return 0;
  }
  g_test_add_func ("/translation/expressions", test_expressions);
  g_test_add_func ("/translation/rows", test_rows);
  g_test_add_func ("/translation/devices", test_devices);
  g_test_add_func ("/translation/data", test_data);
  g_test_add_func ("/translation/store", test_store);
  g_test_add_func ("/translation/settings", test_settings);
  return g_test_run ();
}
