/* SPDX-License-Identifier: MIT */
/* trigram DATA: prints the validation loss, in nats per byte, of a byte trigram model with add-one
 * smoothing, counted on the training split of DATA (in the syntax of `lig train --data`), as a
 * baseline for trained models. Every validation byte with two predecessors in its split is
 * predicted. */
#include <ligature/dataset.h>

#include <math.h>
#include <stdio.h>

enum { SYMBOLS = 256 };

/* counts[a][b][c]: how often c followed a b; totals[a][b]: how often any byte did. */
typedef struct {
  guint32 *counts, *totals;
} Trigram;

static void
count (Trigram *self, const guint16 *tokens, gsize n)
{
  for (gsize i = 2; i < n; i++) {
    gsize pair = (gsize) tokens[i - 2] * SYMBOLS + tokens[i - 1];
    self->totals[pair]++;
    self->counts[pair * SYMBOLS + tokens[i]]++;
  }
}

static double
evaluate (const Trigram *self, const guint16 *tokens, gsize n)
{
  double sum = 0;
  for (gsize i = 2; i < n; i++) {
    gsize pair = (gsize) tokens[i - 2] * SYMBOLS + tokens[i - 1];
    sum -= log ((self->counts[pair * SYMBOLS + tokens[i]] + 1.0) / (self->totals[pair] + SYMBOLS));
  }
  return sum / (double) (n - 2);
}

int
main (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  LigShape shape;
  lig_shape_init (&shape, 2, (gint64) 1, (gint64) 3);
  if (argc != 2) {
    g_printerr ("Usage: trigram DATA\n");
    return 2;
  }
  g_autoptr (LigDataset) data = lig_dataset_open (argv[1], &shape, LIG_INT32, 1, 0, &error);
  if (!data) {
    g_printerr ("trigram: %s\n", error->message);
    return 1;
  }
  gsize n_training, n_validation;
  const guint16 *training = lig_dataset_get_tokens (data, FALSE, &n_training);
  const guint16 *validation = lig_dataset_get_tokens (data, TRUE, &n_validation);
  if (!training || !validation || n_validation < 3 ||
      lig_dataset_get_largest_token (data) >= SYMBOLS) {
    g_printerr ("trigram: %s: bytes are wanted, at least three of them held out\n", argv[1]);
    return 1;
  }
  g_autofree guint32 *counts = g_new0 (guint32, SYMBOLS * SYMBOLS * SYMBOLS);
  g_autofree guint32 *totals = g_new0 (guint32, SYMBOLS * SYMBOLS);
  Trigram trigram = {counts, totals};
  count (&trigram, training, n_training);
  printf ("%.6f\n", evaluate (&trigram, validation, n_validation));
  return 0;
}
