/* SPDX-License-Identifier: MIT */
/* Previews of the run bar's choices: an item of an open list is previewed under the pointer or by
 * Space. */
#pragma once

#include "ui/document/document.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* The items are the session's devices, in their order. */
void lig_preview_devices (GtkDropDown *choice, LigDocument *document);

/* The items are the policies, in the order of LigPolicy. */
void lig_preview_policies (GtkDropDown *choice, LigDocument *document);

G_END_DECLS
