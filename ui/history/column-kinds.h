/* SPDX-License-Identifier: MIT */
/* The kinds of columns that the history can show: the facts of a run, its results, and each of its
 * settings. */
#pragma once

#include <ligature/run.h>
#include <ligature/store-groups.h>
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
 * @mean: of a result: the offset of its #LigRunMean in #LigRunFold; else 0
 */
typedef struct {
  const char *name, *title;
  LigRunOrder order;
  gboolean numeric;
  int width;
  char *(*text) (const LigRunRow *row);
  char *(*tip) (const LigRunRow *row);
  const LigSetting *setting;
  gsize mean;
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

/* Returns: (transfer full): the text of a fold in a column: the number of its runs after the name,
 *   the mean and the spread of the best settings, and facts that all of its runs share. @sample:
 *   the row of the newest run with the best settings */
char *lig_history_column_fold_text (const LigHistoryColumn *self,
                                    const LigRunFold *fold,
                                    const LigRunRow *sample);

/* Returns: (transfer full) (nullable): what the text of a fold means. */
char *lig_history_column_fold_tip (const LigHistoryColumn *self, const LigRunFold *fold);

/* Returns: (transfer none): the status of most concern among the runs of a fold. */
const char *lig_history_fold_status (const LigRunFold *fold);

G_END_DECLS
