/* SPDX-License-Identifier: MIT */
/* A kind of dataset: reads its data, checks the target of a loss, and returns samples by index. The
 * file dataset.c implements order, batches, epochs and the position. */
#pragma once

#include <ligature/dataset.h>

#include <glib/gi18n-lib.h>
#include <json-glib/json-glib.h>

G_BEGIN_DECLS

typedef enum { LIG_SPLIT_TRAINING, LIG_SPLIT_VALIDATION, LIG_N_SPLITS } LigSplit;

typedef struct LigDatasetKind LigDatasetKind;

/* Two of the 2 `ranks` equal blocks of a sample's sequence axis; fewer than 2 ranks: all of it. */
typedef struct {
  int rank, ranks;
  char *input, *target; /* a whole sample */
} LigBlocks;

struct LigDataset {
  const LigDatasetKind *kind;
  char *path; /* null for a kind without a path */
  char *name; /* name in messages: the path, else the kind's name */
  GHashTable *options;
  double validation;     /* validation fraction of the data, 0 with a validation file */
  char *validation_path; /* (nullable): the validation file */
  guint64 seed;
  gint64 batch;     /* the rows of this rank */
  int rank, ranks;  /* 0 ranks: this process reads all rows of a batch */
  LigBlocks blocks; /* the part of a sample's sequence that this rank gets */

  /* Before `open` the input of the op sequence (no axes if unspecified); the kind changes it to the
   * input of a batch. */
  LigShape input;
  LigDtype dtype;

  /* Set by the kind. */
  gint64 samples[LIG_N_SPLITS];
  gint64 *order; /* (nullable): the training rows, then the validation rows; see split.c */
  gint64 largest_token;
  char *largest_place; /* (nullable): the file and offset of that token */
  gboolean ignores;    /* targets without a class are replaced by the one that the loss ignores */
  gint64 vocabulary;   /* set by the caller: exclusive upper bound of tokens; 0: unknown */
  const guint16 *tokens[LIG_N_SPLITS];
  gsize n_tokens[LIG_N_SPLITS];
  char *description;
  char *warning;   /* (nullable): about classes that the training rows lack */
  guint64 content; /* lig_hash_content() of the data; 0 if the options determine them */
  gpointer data;

  LigTarget target;
  gint64 target_size; /* elements per sample, 0 until bound */
  gint32 ignored;     /* the integer target that the loss ignores */
  guint64 position;
};

struct LigDatasetKind {
  LigDatasetInfo info; /* used by the command line and the window */

  /* Sets the fields marked above; there must be at least one training sample. */
  gboolean (*open) (LigDataset *self, GError **error);

  /* Checks a target whose `target_size` dataset.c has set; may change `samples`. On failure the
   * data stay bound as before. */
  gboolean (*bind) (LigDataset *self, const LigTarget *target, gint64 size, GError **error);

  /* Writes one sample; `target` is null if the caller does not need it. Allocates nothing. Fails
   * only for data that are read lazily. */
  gboolean (*read) (const LigDataset *self,
                    LigSplit part,
                    gint64 sample,
                    void *input,
                    void *target,
                    GError **error);

  void (*close) (LigDataset *self);

  /* (nullable): appends the column titles of a table, then the cells of at most `rows` rows, and
   * returns the number of columns. If null, the table shows the elements of the inputs. */
  guint (*preview) (const LigDataset *self, guint rows, GPtrArray *cells);

  /* (nullable): adds the members of lig_dataset_describe_table(). */
  void (*table) (const LigDataset *self, JsonBuilder *to);
};

/* Returns the shape of this rank's shard: axis 1 is sharded. */
LigShape lig_blocks_shape (const LigDataset *self, const LigShape *shape);

/* Reads one sample, or this rank's blocks of it. */
gboolean lig_blocks_read (
  const LigDataset *self, LigSplit part, gint64 sample, void *input, void *target, GError **error);

/* Checks that the `size` targets of a sample are the same number per token, if ranks shard the
 * sequence. */
gboolean lig_blocks_check_target (const LigDataset *self, gint64 size, GError **error);

/* Allocates whole samples for the bound target. */
void lig_blocks_bind (LigDataset *self);

/* The option whose value is the token that ends a document, and its entry in a list of options; -1
 * if tokens are not divided into documents. */
#define LIG_SEPARATOR "separator"
#define LIG_SEPARATOR_OPTION(max) \
  { \
    .type = LIG_DATASET_COUNT, .name = LIG_SEPARATOR, .label = N_ ("Separator"), \
    .help = N_ ("Token that ends a document, for attention with documents=caller; -1 means none"), \
    .minimum = -1, .maximum = (max), .initial = -1 \
  }

/* The option that chooses the validation rows. A kind that has it splits its rows by
 * lig_dataset_divide(), and its samples are rows in the order of lig_dataset_row(). */
#define LIG_SPLIT "split"
#define LIG_SPLIT_USUAL "random"
#define LIG_SPLIT_END "end"
#define LIG_SPLIT_OPTION \
  { \
    .type = LIG_DATASET_CHOICE, .name = LIG_SPLIT, .label = N_ ("Split"), \
    .help = N_ ("Validation rows: random ones by default, the same in each run"), \
    .choices = lig_split_choices, .unset = N_ ("At random") \
  }
extern const LigDatasetChoice lig_split_choices[];

/* Splits `total` rows, at least one, by the options: sets `samples` and `order`. `classes`
 * (nullable) has the class of each row, negative for none; null is an error for a stratified
 * split. */
gboolean lig_dataset_divide (LigDataset *self, gint64 total, const gint32 *classes, GError **error);

/* Takes the first `training` of `total` rows for training; the others come from the validation
 * file. */
void lig_dataset_divide_files (LigDataset *self, gint64 training, gint64 total);

/* Returns the row index of a sample. */
gint64 lig_dataset_row (const LigDataset *self, LigSplit part, gint64 sample);

/* Returns the part of a description about validation rows that are not at the end (transfer
 * full). */
char *lig_dataset_describe_split (const LigDataset *self);

/* Sets the warning of a dataset whose training rows lack a class of the validation rows. `names`
 * (nullable): the name of each class. */
void
lig_dataset_compare_classes (LigDataset *self, const gint32 *classes, const char *const *names);

/* Returns element `place` of the permutation of 0 to count - 1 that `key` determines. */
gint64 lig_dataset_permute (gint64 place, gint64 count, guint64 key);

/* The option that is the validation share of the data, or a validation file. */
#define LIG_VALIDATION "validation"

/* Returns whether the text is a number of any range. */
gboolean lig_dataset_is_number (const char *text);

/* The maximum number of columns of a preview. */
#define LIG_PREVIEW_COLUMNS 8

/* Parses a spec and reads the options that every kind has. */
gboolean lig_dataset_parse (LigDataset *self, const char *spec, GError **error);
const LigDatasetKind *const *lig_dataset_kinds (void);

/* Returns the spec with absolute paths (transfer full), or an unchanged copy if it cannot be
 * parsed. */
char *lig_dataset_locate (const char *spec);

/* Returns the spec with this split (transfer full), or an unchanged copy if its kind has no such
 * option, or if the spec sets the split already. */
char *lig_dataset_name_split (const char *spec, const char *split);

/* Returns an option's text, which is valid for its type, or null by default. */
const char *lig_dataset_option (const LigDataset *self, const char *key);

/* Return the value of a count or a fraction, or of a boolean, or its default. */
double lig_dataset_number (const LigDataset *self, const char *key);
gboolean lig_dataset_boolean (const LigDataset *self, const char *key);

/* Returns whether the kind has an option of that name for which the text is a valid value. */
gboolean lig_dataset_check_option (const LigDataset *self,
                                   const char *key,
                                   const char *text,
                                   GError **error);

/* Returns how many of `total` (at least one) bytes, tokens, rows or samples are for training. */
gint64 lig_dataset_cut (const LigDataset *self, gint64 total);

/* Rejects targets other than one class per sample. */
gboolean lig_dataset_require_class (const LigDataset *self,
                                    const LigTarget *target,
                                    gint64 size,
                                    GError **error);

/* Sets the error `NAME: message`. Always returns FALSE. */
gboolean
lig_dataset_reject (const LigDataset *self, GError **error, LigError code, const char *format, ...)
  G_GNUC_PRINTF (4, 5);

G_END_DECLS
