/* SPDX-License-Identifier: MIT */
/* Reads the rows of a csv file (RFC 4180, with one of three separators; blanks around a field are
 * dropped). */
#pragma once

#include "engine/data/kind.h"

G_BEGIN_DECLS

typedef struct {
  const LigDataset *dataset; /* for messages */
  const char *start, *at, *end;
  char separator;
  gint64 line, next_line; /* first lines of this row and the next one, counted from 1 */
  GString *text;          /* the fields of this row, each followed by a NUL */
  GArray *fields;         /* offset of each field in `text` */
} LigCsvRows;

/* Begins before the first row of `text`, which must not contain a NUL. The separator is the one
 * that occurs equally often in each line, NUL if two do. */
void
lig_csv_rows_init (LigCsvRows *self, const LigDataset *dataset, const char *text, gsize length);
void lig_csv_rows_clear (LigCsvRows *self);

/* Returns to the position before the first row. */
void lig_csv_rows_rewind (LigCsvRows *self);

/* Reads the next row that is not blank; sets `found` to false at the end. */
gboolean lig_csv_rows_next (LigCsvRows *self, gboolean *found, GError **error);

guint lig_csv_rows_count (const LigCsvRows *self);
const char *lig_csv_rows_field (const LigCsvRows *self, guint column);

/* Sets the error `FILE:LINE: message`. Always returns FALSE. */
gboolean lig_csv_refuse (
  const LigDataset *dataset, gint64 line, GError **error, LigError code, const char *format, ...)
  G_GNUC_PRINTF (5, 6);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (LigCsvRows, lig_csv_rows_clear)

G_END_DECLS
