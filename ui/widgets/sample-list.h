/* SPDX-License-Identifier: MIT */
/* The texts that a run generated while it trained, those of one step at a time. */
#pragma once

#include <adwaita.h>

G_BEGIN_DECLS

typedef struct _LigStore LigStore;

#define LIG_TYPE_SAMPLE_LIST (lig_sample_list_get_type ())
G_DECLARE_FINAL_TYPE (LigSampleList, lig_sample_list, LIG, SAMPLE_LIST, AdwBin)

/* Reads the texts of a run on a thread, and shows the newest ones, unless an earlier step of the
 * same run has been chosen. Hidden while there are none, and without a store or a run. */
void lig_sample_list_show (LigSampleList *self, LigStore *store, const char *run);

/* Returns the step of the newest texts that were read; -1 without any. */
gint64 lig_sample_list_get_newest (LigSampleList *self);

G_END_DECLS
