/* SPDX-License-Identifier: MIT */
/* A button with a list of the newest training runs, one of which is compared with the run of the
 * page.
 *
 * Signal: `chosen` with the uuid of the other run. */
#pragma once

#include <adwaita.h>

G_BEGIN_DECLS

typedef struct _LigStore LigStore;

#define LIG_TYPE_RUN_MENU (lig_run_menu_get_type ())
G_DECLARE_FINAL_TYPE (LigRunMenu, lig_run_menu, LIG, RUN_MENU, AdwBin)

/* Sets the run that is not listed. @store, @run: (nullable): null for none, which has no menu */
void lig_run_menu_set_run (LigRunMenu *self, LigStore *store, const char *run);

/* Returns: (nullable): the uuid of the run that is not listed. */
const char *lig_run_menu_get_run (LigRunMenu *self);

G_END_DECLS
