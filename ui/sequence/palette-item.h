/* SPDX-License-Identifier: MIT */
/* An op in the palette: dragging it inserts it into a gap, activating it adds it after the
 * cursor. */
#pragma once

#include <ligature/op.h>

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define LIG_TYPE_PALETTE_ITEM (lig_palette_item_get_type ())
G_DECLARE_FINAL_TYPE (LigPaletteItem, lig_palette_item, LIG, PALETTE_ITEM, GtkListBoxRow)

/* Its action `item.add` emits the list's `row-activated`. */
GtkWidget *lig_palette_item_new (const LigOpInfo *info, guint place);

const LigOpInfo *lig_palette_item_get_info (LigPaletteItem *self);

/* Ranks the op. @words: the search, folded as by g_utf8_casefold(); null for none. A smaller rank
 * is a better match, a negative one no match. */
void lig_palette_item_match (LigPaletteItem *self, const char *const *words);
int lig_palette_item_get_rank (LigPaletteItem *self);

/* Returns its number in the registry. */
guint lig_palette_item_get_place (LigPaletteItem *self);

G_END_DECLS
