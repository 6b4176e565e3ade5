/* SPDX-License-Identifier: MIT */
/* Markdown as GitHub and most others read it: text that stays text, tables, code; and figures in
 * units for people. */
#pragma once

#include "engine/report/format.h"

/* Appends text on one line in which nothing means anything. */
void lig_markdown_text (GString *to, const char *text);

/* Appends code within a line. */
void lig_markdown_code (GString *to, const char *text);

/* Appends a block of code and a blank line; the language may be empty. */
void lig_markdown_block (GString *to, const char *language, const char *text);

/* Appends a heading of the second rank. */
void lig_markdown_heading (GString *to, const char *text);

/* Appends the head of a table: columns between `|`, to the right where they begin with `>`. */
void lig_markdown_head (GString *to, const char *columns);

/* Appends a row of plain texts, ended by null. */
void lig_markdown_row (GString *to, ...) G_GNUC_NULL_TERMINATED;

/* Appends a row of a name and its value, unless this is null or empty. */
void lig_markdown_fact (GString *to, const char *name, const char *value);

/* (transfer full): `1.2 GB`; `60 T`; `12.3`, or `-` for NaN; `3 4 5`; `2048x768 fp32`. */
char *lig_report_bytes (double bytes);
char *lig_report_count (double count);
char *lig_report_number (double value);
char *lig_report_indexes (int first, int count);
char *lig_report_tensor (const LigShape *shape, LigDtype dtype);

/* (transfer full): a title of at most 80 characters. */
char *lig_report_shorten (const char *text);

/* What the format md does of runs. */
void lig_markdown_run (GString *to, const LigReportRun *run);
