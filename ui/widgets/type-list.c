/* SPDX-License-Identifier: MIT */
#include "ui/widgets/type-list.h"
#include <ligature/sequence.h>

GtkStringList *
lig_type_list_new (const char *none, unsigned roles)
{
  GtkStringList *list = gtk_string_list_new (NULL);
  if (none)
    gtk_string_list_append (list, none);
  for (int i = 0; i < LIG_N_DTYPES; i++)
    if (lig_dtype_has ((LigDtype) i, roles))
      gtk_string_list_append (list, lig_dtype_name ((LigDtype) i));
  return list;
}

/* The type of an entry; -1 for an entry without a type. */
static int
type_at (GtkDropDown *down, guint position)
{
  LigDtype dtype;
  int parameters;
  GtkStringList *list = GTK_STRING_LIST (gtk_drop_down_get_model (down));
  const char *name = gtk_string_list_get_string (list, position);
  if (name && lig_dtype_from_name (name, &dtype))
    return (int) dtype;
  return name && lig_parameters_from_name (name, &parameters) ? parameters : -1;
}

void
lig_type_list_select (GtkDropDown *down, int dtype)
{
  guint count = g_list_model_get_n_items (gtk_drop_down_get_model (down));
  guint chosen = GTK_INVALID_LIST_POSITION;
  for (guint i = 0; i < count && chosen == GTK_INVALID_LIST_POSITION; i++)
    if (type_at (down, i) == dtype)
      chosen = i;
  gtk_drop_down_set_selected (down, chosen);
}

int
lig_type_list_get (GtkDropDown *down)
{
  return type_at (down, gtk_drop_down_get_selected (down));
}
