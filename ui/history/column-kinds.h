/* SPDX-License-Identifier: MIT */
/* The kinds of columns that the history can show: the facts of a run, its results, and each of its
 * settings. */
#pragma once

#include <ligature/run.h>
#include <ligature/store-rows.h>

G_BEGIN_DECLS

/**
 * LigHistoryColumn:
 *
 * @name: `loss`; of a setting `setting-lr`
 * @title: for lig_history_column_title()
 * @order: LIG_RUN_N_ORDERS: not sortable
 * @numeric: whether its texts are numbers, which are right-aligned and never truncated
 * @width: in pixels, for text of the usual size
 * @text: (nullable): null for the star and for a setting
 * @tip: (nullable): null for the text itself
 * @setting: (nullable): the setting that it shows
 */
typedef struct {
  const char *name, *title;
  LigRunOrder order;
  gboolean numeric;
  int width;
  char *(*text) (const LigRunRow *row);
  char *(*tip) (const LigRunRow *row);
  const LigSetting *setting;
} LigHistoryColumn;

/* Returns: (nullable): null after the last; the settings follow the others. */
const LigHistoryColumn *lig_history_column_nth (guint n);

/* Returns: (nullable): the column of that name. */
const LigHistoryColumn *lig_history_column_find (const char *name);

/* Returns the column of the stars, which is not one of the others. */
const LigHistoryColumn *lig_history_column_star (void);

/* Returns: (transfer none): the translated title. */
const char *lig_history_column_title (const LigHistoryColumn *self);

/* Returns: (transfer full): a run's text in a column. */
char *lig_history_column_text (const LigHistoryColumn *self, const LigRunRow *row);

G_END_DECLS
