/* SPDX-License-Identifier: MIT */
/* Values that a joint fusion computes in its forward kernels for its backward ones, and those that
 * kernels of one op hand to one another. They belong to the fusion and its first op, or to the op
 * and a pass, so that all groups of the same ops that are tried share them. */
#include "engine/compile/lower.h"

#include <string.h>

/* Returns the entry of a name in LigFusion.computes, `gx=0.x` or `gweight=0.weight:fp32`, or
 * null. */
static const char *
find_entry (const char *computes, const char *name)
{
  gsize length = strlen (name);
  for (const char *at = computes; at && *at; at += strcspn (at, " ")) {
    at += strspn (at, " ");
    if (strncmp (at, name, length) == 0 && at[length] == '=')
      return at + length + 1;
  }
  return NULL;
}

static int
add_value (LigLowering *self, const char *entry, const char *name)
{
  gsize length = strcspn (entry, " "), port_length = strcspn (entry, " :");
  g_autofree char *port = g_strndup (entry, port_length);
  int like = lig_lower_port (self, port);
  if (like < 0)
    return -1;
  LigShape shape = lig_value (self->draft, like)->shape;
  LigDtype dtype = lig_value (self->draft, like)->dtype;
  if (port_length < length) {
    g_autofree char *type = g_strndup (entry + port_length + 1, length - port_length - 1);
    lig_dtype_from_name (type, &dtype);
  }
  int first = self->group->first;
  return lig_draft_add_value (self->draft, LIG_VALUE_COMPUTED, &shape, dtype, first, "#%d.%s",
                              first, name);
}

gboolean
lig_find_own (const LigDraft *draft, const char *key, int *value)
{
  gpointer known;
  if (!draft->own_values || !g_hash_table_lookup_extended (draft->own_values, key, NULL, &known))
    return FALSE;
  *value = GPOINTER_TO_INT (known);
  return TRUE;
}

void
lig_keep_own (LigDraft *draft, char *key, int value)
{
  if (!draft->own_values)
    draft->own_values = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_hash_table_insert (draft->own_values, key, GINT_TO_POINTER (value));
}

void
lig_lower_value (LigLowering *self, const char *name, const LigShape *shape, LigDtype dtype)
{
  int first = self->group->first, value;
  const char *fusion = self->group->fusion ? self->group->fusion->name : "";
  g_autofree char *key = g_strdup_printf ("%s %d %d %s", fusion, first, self->backward, name);
  if (!lig_find_own (self->draft, key, &value)) {
    value =
      lig_draft_add_value (self->draft, self->backward ? LIG_VALUE_GRADIENT : LIG_VALUE_COMPUTED,
                           shape, dtype, first, "#%d.%s", first, name);
    lig_keep_own (self->draft, g_steal_pointer (&key), value);
  }
  if (!self->own)
    self->own = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_hash_table_insert (self->own, g_strdup (name), GINT_TO_POINTER (value));
}

void
lig_lower_value_like (LigLowering *self, const char *name, const char *port)
{
  int value = lig_lower_port (self, port);
  if (value < 0)
    return;
  LigShape shape = lig_value (self->draft, value)->shape;
  lig_lower_value (self, name, &shape, lig_value (self->draft, value)->dtype);
}

gboolean
lig_find_own_value (LigLowering *self, const char *name, int *value)
{
  gpointer own;
  if (self->own && g_hash_table_lookup_extended (self->own, name, NULL, &own)) {
    *value = GPOINTER_TO_INT (own);
    return TRUE;
  }
  const LigFusion *fusion = self->group->fusion;
  const char *entry = fusion ? find_entry (fusion->computes, name) : NULL;
  if (!entry)
    return FALSE;
  g_autofree char *key =
    g_strdup_printf ("%s %d %d %s", fusion->name, self->group->first, self->group->count, name);
  if (lig_find_own (self->draft, key, value))
    return TRUE;
  *value = add_value (self, entry, name);
  lig_keep_own (self->draft, g_steal_pointer (&key), *value);
  return TRUE;
}
