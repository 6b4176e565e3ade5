/* SPDX-License-Identifier: MIT */
#include "engine/tensor/file-types.h"

#include <string.h>

/* File types that the engine reads as another type. */
static const LigFileType others[] = {{"I64", 8, LIG_INT32}, {"F64", 8, LIG_FP32}};

/* One entry for each of the engine's types, then the others. */
static LigFileType types[LIG_N_DTYPES + G_N_ELEMENTS (others)];

static void
fill_types (void)
{
  static gsize filled;
  if (!g_once_init_enter (&filled))
    return;
  for (int i = 0; i < LIG_N_DTYPES; i++)
    types[i] = (LigFileType){lig_dtype_file_name ((LigDtype) i), lig_dtype_size ((LigDtype) i),
                             (LigDtype) i};
  memcpy (types + LIG_N_DTYPES, others, sizeof others);
  g_once_init_leave (&filled, 1);
}

const LigFileType *
lig_file_type_of (LigDtype dtype)
{
  fill_types ();
  return &types[dtype];
}

const LigFileType *
lig_file_type_find (const char *name)
{
  fill_types ();
  for (gsize i = 0; i < G_N_ELEMENTS (types); i++)
    if (strcmp (types[i].name, name) == 0)
      return &types[i];
  return NULL;
}

char *
lig_file_types_join (void)
{
  GString *text = g_string_new (NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (types); i++)
    g_string_append_printf (text, "%s%s",
                            i == 0                         ? ""
                            : i + 1 < G_N_ELEMENTS (types) ? ", "
                                                           : " or ",
                            types[i].name);
  return g_string_free (text, FALSE);
}
