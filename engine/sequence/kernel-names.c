/* SPDX-License-Identifier: MIT */
/* The kernels that tables name: the built-in ones, and those that embedding programs registered. */
#include "engine/sequence/table.h"
#include <ligature/kernels.h>

static GMutex lock;
static GHashTable *named; /* name -> kernel, of the registered ones */

const LigKernel *
lig_kernel_named (const char *name)
{
  const LigKernel *kernel = lig_kernel_find (name);
  if (kernel)
    return kernel;
  g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&lock);
  return named ? g_hash_table_lookup (named, name) : NULL;
}

gboolean
lig_kernel_name (const LigKernel *kernel, GError **error)
{
  if (lig_kernel_named (kernel->name)) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_OP, "a kernel called %s is already registered",
                 kernel->name);
    return FALSE;
  }
  g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&lock);
  if (!named)
    named = g_hash_table_new (g_str_hash, g_str_equal);
  g_hash_table_insert (named, (gpointer) kernel->name, (gpointer) kernel);
  return TRUE;
}
