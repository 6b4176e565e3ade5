/* SPDX-License-Identifier: MIT */
/* A kind of dataset: reads its data, checks what a loss wants, gives samples by number. Order,
 * batches, epochs and the position are dataset.c's. */
#pragma once

#include <ligature/dataset.h>

#define N_(text) text

G_BEGIN_DECLS

typedef enum { LIG_SPLIT_TRAINING, LIG_SPLIT_HELD_OUT, LIG_N_SPLITS } LigSplit;

typedef struct LigDatasetKind LigDatasetKind;

struct LigDataset {
  const LigDatasetKind *kind;
  char *path; /* null for a kind without */
  char *name; /* the path for messages, else the kind's name */
  GHashTable *options;
  double held_out; /* the fraction */
  guint64 seed;
  gint64 batch;

  /* First what the sequence has (no axes if it said nothing); the kind leaves what a batch has. */
  LigShape input;
  LigDtype dtype;

  /* Set by the kind. */
  gint64 samples[LIG_N_SPLITS];
  gint64 largest_token;
  const guint16 *tokens[LIG_N_SPLITS];
  gsize n_tokens[LIG_N_SPLITS];
  char *description;
  guint64 content; /* of lig_hash_content(); 0 where the options say all */
  gpointer data;

  LigTarget target;
  gint64 target_size; /* elements per sample, 0 until bound */
  guint64 position;
};

struct LigDatasetKind {
  LigDatasetInfo info; /* from which the command line and the window are made */

  /* Fills what is marked above; there must be a sample for training. */
  gboolean (*open) (LigDataset *self, GError **error);

  /* Checks a target whose `target_size` dataset.c has set; may change `samples`. If it
   * refuses, the data stay bound as before. */
  gboolean (*bind) (LigDataset *self, const LigTarget *target, gint64 size, GError **error);

  /* Writes one sample; `target` is null where the caller has no use for it. Allocates nothing. */
  void (*read) (const LigDataset *self, LigSplit part, gint64 sample, void *input, void *target);

  void (*close) (LigDataset *self);

  /* (nullable): appends the texts of a table's titles, then of at most `rows` rows, and says how
   * many columns it has; without it a table of the inputs' elements is made. */
  guint (*preview) (const LigDataset *self, guint rows, GPtrArray *cells);
};

/* The most columns of a table for people. */
#define LIG_PREVIEW_COLUMNS 8

/* Splits a spec and reads the options that every kind has. */
gboolean lig_dataset_parse (LigDataset *self, const char *spec, GError **error);
const LigDatasetKind *const *lig_dataset_kinds (void);

/* The spec with absolute paths; (transfer full). One that cannot be read stays as it is. */
char *lig_dataset_locate (const char *spec);

/* An option's text, null if it was not given. It was checked against the table already. */
const char *lig_dataset_option (const LigDataset *self, const char *key);

/* The value of a count or a fraction, and of a boolean: its default if it was not given. */
double lig_dataset_number (const LigDataset *self, const char *key);
gboolean lig_dataset_boolean (const LigDataset *self, const char *key);

/* Whether the kind has an option of that name, and the text is a value of it. */
gboolean lig_dataset_check_option (const LigDataset *self,
                                   const char *key,
                                   const char *text,
                                   GError **error);

/* How many of `total` bytes, tokens, rows or samples, at least one, are for training. */
gint64 lig_dataset_cut (const LigDataset *self, gint64 total);

/* Refuses targets other than one class per sample. */
gboolean lig_dataset_want_class (const LigDataset *self,
                                 const LigTarget *target,
                                 gint64 size,
                                 GError **error);

/* Sets `NAME: message`; always false. */
gboolean
lig_dataset_refuse (const LigDataset *self, GError **error, LigError code, const char *format, ...)
  G_GNUC_PRINTF (4, 5);

G_END_DECLS
