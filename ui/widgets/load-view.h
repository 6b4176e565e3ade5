/* SPDX-License-Identifier: MIT */
/* The load of a run's experts: a map of routers and experts, of one recorded step or of all. */
#pragma once

#include <adwaita.h>

G_BEGIN_DECLS

typedef struct _LigStore LigStore;

#define LIG_TYPE_LOAD_VIEW (lig_load_view_get_type ())
G_DECLARE_FINAL_TYPE (LigLoadView, lig_load_view, LIG, LOAD_VIEW, AdwBin)

/* Reads the loads of a run on a thread, and shows them. Hidden while there are none, and without a
 * store or a run. */
void lig_load_view_show (LigLoadView *self, LigStore *store, const char *run);

/* Returns the newest recorded step; -1 without any; %G_MAXINT64 once several questions have found
 * that the run has no experts. */
gint64 lig_load_view_get_newest (LigLoadView *self);

G_END_DECLS
