/* SPDX-License-Identifier: MIT */
/* Reads the rows of a csv file (RFC 4180, with one of three separators; blanks around a field are
 * dropped). */
#pragma once

#include "engine/data/kind.h"

G_BEGIN_DECLS

/* The first line of a row, counted from 1, and the name of its file in messages, which the caller
 * owns. */
typedef struct {
  const char *name;
  gint64 line;
} LigCsvPlace;

typedef struct {
  LigCsvPlace place; /* of this row */
  const char *start, *at, *end;
  char separator;
  gint64 next_line;
  GString *text;  /* the fields of this row, each followed by a NUL */
  GArray *fields; /* offset of each field in `text` */
} LigCsvRows;

/* Starts before the first row of `text`, which must not contain a NUL. Detects the separator, the
 * one that occurs equally often in each line; NUL if two do. */
void lig_csv_rows_init (LigCsvRows *self, const char *name, const char *text, gsize length);

/* Starts before the first row of a file, whose bytes must outlive it. Fails if they are not text or
 * if the separator is ambiguous. */
gboolean lig_csv_rows_open (LigCsvRows *self, const char *name, GBytes *bytes, GError **error);

void lig_csv_rows_clear (LigCsvRows *self);

/* Returns to the position before the first row. */
void lig_csv_rows_rewind (LigCsvRows *self);

/* Reads the next row that is not blank; sets `found` to false at the end. */
gboolean lig_csv_rows_next (LigCsvRows *self, gboolean *found, GError **error);

guint lig_csv_rows_count (const LigCsvRows *self);
const char *lig_csv_rows_field (const LigCsvRows *self, guint column);

/* Parses decimal numbers only. Accepts NaN and infinity, for which the caller has separate
 * messages. */
gboolean lig_csv_parse_number (const char *text, double *value);

/* Returns whether a field is a missing value by the rules of pandas. */
gboolean lig_csv_is_missing (const char *text);

/* Sets the error `FILE:LINE: message`. Always returns FALSE. */
gboolean
lig_csv_reject (const LigCsvPlace *place, GError **error, LigError code, const char *format, ...)
  G_GNUC_PRINTF (4, 5);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (LigCsvRows, lig_csv_rows_clear)

G_END_DECLS
