/* SPDX-License-Identifier: MIT */
/* Drop-downs of element types, made from the table of types. */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

/**
 * lig_type_list_new:
 * @none: (nullable): a first entry that means no type, translated
 * @roles: #LigDtypeRole; types with one of them are listed
 *
 * Returns: (transfer full): the names of the types
 */
GtkStringList *lig_type_list_new (const char *none, unsigned roles);

/* Selects a type in a drop-down of such a list, to which `fp8` for parameters may be appended; -1
 * selects the entry for no type, if there is one. */
void lig_type_list_select (GtkDropDown *down, int dtype);

/* Returns the selected type, or -1. */
int lig_type_list_get (GtkDropDown *down);

G_END_DECLS
