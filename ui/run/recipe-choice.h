/* SPDX-License-Identifier: MIT */
/* The choice of the document's recipe: how the operands of matmuls are quantized. */
#pragma once

#include "ui/document/document.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

/* Lists the recipes in a drop-down, which shows that of the document and sets it. */
void lig_recipe_choice_set_up (GtkDropDown *choice, LigDocument *doc);

G_END_DECLS
