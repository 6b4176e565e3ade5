/* SPDX-License-Identifier: MIT */
#include "engine/choose/choice.h"

LigChoice *
lig_fuse_choice_new (void)
{
  LigChoice *self = g_new0 (LigChoice, 1);
  self->verdicts = g_array_new (FALSE, TRUE, sizeof (LigVerdict));
  self->fixes = g_ptr_array_new_with_free_func (g_free);
  self->alternatives = g_ptr_array_new_with_free_func (g_free);
  self->names = g_ptr_array_new_with_free_func (g_free);
  self->accepted = g_hash_table_new (NULL, NULL);
  return self;
}

void
lig_fuse_choice_free (LigChoice *self)
{
  if (!self)
    return;
  g_array_unref (self->verdicts);
  g_ptr_array_unref (self->fixes);
  g_ptr_array_unref (self->alternatives);
  g_ptr_array_unref (self->names);
  g_hash_table_unref (self->accepted);
  g_free (self->owners[0]);
  g_free (self->owners[1]);
  g_clear_pointer (&self->prices, g_hash_table_unref);
  g_free (self);
}
