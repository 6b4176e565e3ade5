/* SPDX-License-Identifier: MIT */
/* The rows of a csv file (RFC 4180, any of three separators, blanks around a field dropped). */
#pragma once

#include "engine/data/kind.h"

G_BEGIN_DECLS

typedef struct {
  const LigDataset *dataset; /* for messages */
  const char *start, *at, *end;
  char separator;
  gint64 line, next_line; /* where this row and the next one begin, from 1 */
  GString *text;          /* the fields of this row, each followed by a NUL */
  GArray *fields;         /* where each begins in `text` */
} LigCsvRows;

/* `text` must not hold a NUL. The separator is the one that the first line has most of. */
void
lig_csv_rows_init (LigCsvRows *self, const LigDataset *dataset, const char *text, gsize length);
void lig_csv_rows_clear (LigCsvRows *self);

/* Back to before the first row. */
void lig_csv_rows_rewind (LigCsvRows *self);

/* Reads the next row that is not blank; `found` is false at the end. */
gboolean lig_csv_rows_next (LigCsvRows *self, gboolean *found, GError **error);

guint lig_csv_rows_count (const LigCsvRows *self);
const char *lig_csv_rows_field (const LigCsvRows *self, guint column);

/* Sets `FILE:LINE: message`; always false. */
gboolean lig_csv_refuse (
  const LigDataset *dataset, gint64 line, GError **error, LigError code, const char *format, ...)
  G_GNUC_PRINTF (5, 6);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (LigCsvRows, lig_csv_rows_clear)

G_END_DECLS
