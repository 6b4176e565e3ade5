/* SPDX-License-Identifier: MIT */
/* A byte-level model on real text, compared with a trigram model. */
#include "tests/train/case.h"
#include <ligature/device.h>

/* Returns the licences that every Debian has, else the documents of this project. */
static const char *
find_text (void)
{
  static const char debian[] = "/usr/share/common-licenses";
  const char *source = g_getenv ("LIGATURE_SOURCE");
  return g_file_test (debian, G_FILE_TEST_IS_DIR) ? debian : source;
}

/* Returns the validation loss of a trigram with one added to every count: -log of (n(abc) + 1) /
 * (n(ab) + 256) over the bytes that follow two others in their part. */
static double
score_trigram (LigDataset *dataset)
{
  gsize n_training, n_validation;
  const guint16 *training = lig_dataset_get_tokens (dataset, FALSE, &n_training);
  const guint16 *validation = lig_dataset_get_tokens (dataset, TRUE, &n_validation);
  g_autofree guint32 *pairs = g_new0 (guint32, 1 << 16), *triples = g_new0 (guint32, 1 << 24);
  double sum = 0;
  for (gsize i = 2; i < n_training; i++) {
    guint pair = (guint) training[i - 2] << 8 | training[i - 1];
    pairs[pair]++;
    triples[pair << 8 | training[i]]++;
  }
  for (gsize i = 2; i < n_validation; i++) {
    guint pair = (guint) validation[i - 2] << 8 | validation[i - 1];
    sum -= log ((triples[pair << 8 | validation[i]] + 1.0) / (pairs[pair] + 256.0));
  }
  return sum / (double) (n_validation - 2);
}

/* Opens the shipped model, with fewer steps than in its settings. */
static LigRun *
open_model (Fixture *f, const char *spec)
{
  g_autoptr (GError) error = NULL;
  g_auto (LigRunSettings) settings;
  g_autofree char *path =
    g_build_filename (g_getenv ("LIGATURE_DATA"), "examples", "byte-model.lig", NULL);
  g_autoptr (LigSequence) sequence = lig_sequence_open (path, NULL, &error);
  g_assert_no_error (error);
  lig_run_settings_init (&settings);
  lig_run_settings_read (&settings, lig_sequence_get_train (sequence), NULL, &error);
  g_assert_no_error (error);
  set (&settings, "steps=500");
  g_free (settings.data);
  settings.data = g_strdup (spec);
  LigRun *run = lig_run_new (sequence, f->device, &settings, NULL, f->store, &error);
  g_assert_no_error (error);
  return run;
}

static void
test_bytes (Fixture *f, gconstpointer data)
{
  const char *text = find_text ();
  if (SLOWNESS > 1 || !text || !g_getenv ("LIGATURE_DATA")) {
    g_test_skip (SLOWNESS > 1 ? "half a minute is too long with sanitizers" : "no text here");
    return;
  }
  g_autoptr (GError) error = NULL;
  g_autofree char *spec = g_strconcat ("text:", text, NULL);
  g_autoptr (LigRun) run = open_model (f, spec);
  LigRunProgress progress = finish (run);
  LigShape shape;
  LigDtype dtype;
  lig_sequence_get_input (lig_run_get_sequence (run), &shape, &dtype);
  g_autoptr (LigDataset) dataset = lig_dataset_open (spec, &shape, dtype, 0, 0, &error);
  g_assert_no_error (error);
  double bar = score_trigram (dataset);
  g_test_message ("validation loss %.4f, trigram %.4f, %.0f s", progress.eval_loss, bar,
                  progress.seconds);
  g_assert_cmpfloat (progress.eval_loss, <, bar);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add ("/train/bytes-beat-trigram", Fixture, NULL, set_up, test_bytes, tear_down);
  return run_tests ();
}
