/* SPDX-License-Identifier: MIT */
/* Drop-downs of element types, made from the table of types. */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

/**
 * lig_type_list_new:
 * @none: (nullable): a first entry that stands for no type, translated
 * @roles: #LigDtypeRole; a type with one of them is listed
 *
 * Returns: (transfer full): the names of the types
 */
GtkStringList *lig_type_list_new (const char *none, unsigned roles);

/* Selects a type in a drop-down of such a list, to which `fp8` of parameters may be appended; -1
 * selects the entry for none, if there is one. */
void lig_type_list_select (GtkDropDown *down, int dtype);

/* Returns the type that is selected, or -1. */
int lig_type_list_get (GtkDropDown *down);

G_END_DECLS
