/* SPDX-License-Identifier: MIT */
/* The options of datasets as rows of a preferences group: one for each option of each kind; only
 * those of one kind are shown. */
#pragma once

#include <ligature/dataset.h>

#include <adwaita.h>

G_BEGIN_DECLS

typedef struct _LigDataOptions LigDataOptions;

/* Called after each change of a row. */
typedef void (*LigDataOptionsFunc) (gpointer data);

/* Adds the rows to the group, which must outlive them; (transfer full). */
LigDataOptions *
lig_data_options_new (AdwPreferencesGroup *group, LigDataOptionsFunc changed, gpointer data);
void lig_data_options_free (LigDataOptions *self);

/* Shows the rows of this kind and those common to all kinds. */
void lig_data_options_show (LigDataOptions *self, const LigDatasetInfo *info);

/* Appends the values that differ from the defaults of the kind, each as `&key=value`. */
void lig_data_options_append (LigDataOptions *self, const LigDatasetInfo *info, GString *to);

/* Fills in one row of the kind; a key that it does not have is ignored. */
void lig_data_options_set (LigDataOptions *self,
                           const LigDatasetInfo *info,
                           const char *key,
                           const char *value);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (LigDataOptions, lig_data_options_free)

G_END_DECLS
