/* SPDX-License-Identifier: MIT */
/* The layout of a rank row among the settings of a sequence. */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

/**
 * LigRankRow:
 * @texts: the title and, below it, the help
 * @reset: sets the default
 */
typedef struct {
  GtkWidget *texts, *input, *reset;
  GtkLabel *help;
} LigRankRow;

/* Attaches a row with a title, an input and a button that restores the default. */
void
lig_rank_row_attach (LigRankRow *self, const char *title, GtkWidget *input, GtkGrid *to, int line);

void lig_rank_row_set_visible (LigRankRow *self, gboolean visible);

G_END_DECLS
