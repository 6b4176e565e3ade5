/* SPDX-License-Identifier: MIT */
/* The button that lists the models that can be tried. */
#pragma once

#include "ui/try/source.h"

#include <adwaita.h>

G_BEGIN_DECLS

#define LIG_TYPE_TRY_SOURCE_MENU (lig_try_source_menu_get_type ())
G_DECLARE_FINAL_TYPE (LigTrySourceMenu, lig_try_source_menu, LIG, TRY_SOURCE_MENU, AdwBin)

/* Signal: `chosen` with a LigTrySource, valid during the signal. `opened` before the list is shown,
 * when it should be read again. */
GtkWidget *lig_try_source_menu_new (void);

/* Shows the models. @model: the one in use */
void lig_try_source_menu_fill (LigTrySourceMenu *self, GPtrArray *sources, const char *model);

G_END_DECLS
