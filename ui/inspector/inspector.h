/* SPDX-License-Identifier: MIT */
/* The inspector: parameters and facts of the op under the cursor, of several selected ops, or of
 * the whole sequence. It is generated from the tables of the ops. */
#pragma once

#include "ui/document/document.h"

#include <adwaita.h>

G_BEGIN_DECLS

#define LIG_TYPE_INSPECTOR (lig_inspector_get_type ())
G_DECLARE_FINAL_TYPE (LigInspector, lig_inspector, LIG, INSPECTOR, AdwBin)

GtkWidget *lig_inspector_new (LigDocument *doc);

G_END_DECLS
