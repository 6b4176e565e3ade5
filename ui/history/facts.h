/* SPDX-License-Identifier: MIT */
/* The data of a run in the store, as tables of names and values. */
#pragma once

#include <ligature/store-rows.h>

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* Appends a table for each of results, run, settings, versions, fusions and files. @fusions and
 * @artifacts may be null until they are read. */
void lig_history_facts_append (
  GtkBox *to, const LigRunRow *row, const char *inputs, GPtrArray *fusions, GPtrArray *artifacts);

G_END_DECLS
