/* SPDX-License-Identifier: MIT */
/* The parts of a transform, and the readers of its kinds of files. */
#pragma once

#include <ligature/transform.h>

G_BEGIN_DECLS

/* A column of the training data. */
typedef struct {
  char *name;
  guint number;       /* from 1 */
  double mean, scale; /* of a feature: the scaled number is (x - mean) * scale */
} LigTransformColumn;

struct _LigTransform {
  gboolean images;     /* idx instead of csv */
  gboolean header;     /* the columns have names; otherwise only their order counts */
  gboolean replaces;   /* missing cells are replaced by the mean */
  GArray *features;    /* LigTransformColumn */
  GArray *targets;     /* LigTransformColumn */
  GPtrArray *classes;  /* labels; empty if classes are numbers */
  GHashTable *indices; /* label to class */
  gint64 lengths[2];   /* rows and columns of an image */
};

/* Read the rows of one file. */
LigRows *lig_transform_read_csv (const LigTransform *self, const char *path, GError **error);
LigRows *lig_transform_read_idx (const LigTransform *self, const char *path, GError **error);

/* Read a cell; FALSE if it is not a number, or for a target not a label of the training data. */
gboolean lig_transform_parse_feature (const LigTransform *self,
                                      const LigTransformColumn *column,
                                      const char *text,
                                      float *to);
gboolean lig_transform_parse_target (const LigTransform *self, const char *text, float *to);

/* Allocates rows with `features` numbers and `targets` numbers (0: no targets) each. */
LigRows *lig_rows_new (gint64 count, gint64 features, gint64 targets, GError **error);

G_END_DECLS
