/* SPDX-License-Identifier: MIT */
/* Checks the kernels of embedding programs when they are first used or registered. */
#include "engine/base/rejection.h"
#include "engine/patterns/register.h"
#include "engine/sequence/op-private.h"
#include "engine/sequence/ports.h"
#include "engine/sequence/registry-lock.h"
#include "engine/sequence/table.h"
#include <ligature/kernels.h>

#include <string.h>

#define reject(error, table, ...) \
  lig_reject (error, LIG_ERROR_OP, "kernel", (table)->name, __VA_ARGS__)

static GMutex lock;
static GHashTable *adopted; /* from the program's kernel to the copy that plans use */

static gboolean
check_name (const LigKernel *kernel, GError **error)
{
  if (!lig_name_check (kernel->name, "-_", LIG_LONGEST_NAME)) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_OP,
                 "kernel is called '%.60s', expected at most %d lower-case letters, digits, - "
                 "or _ after a letter",
                 kernel->name ? kernel->name : "", LIG_LONGEST_NAME);
    return FALSE;
  }
  return !lig_kernel_find (kernel->name) ||
         reject (error, kernel, "it has the name of a built-in kernel; give it another");
}

/* Returns whether an output may share the memory of these inputs, `dy|x`. */
static gboolean
check_places (const LigKernel *kernel, const char *places, GHashTable *seen, GError **error)
{
  /* g_strsplit () returns no names for an empty text, which is an error here. */
  g_auto (GStrv) names = g_strsplit (*places ? places : "|", "|", -1);
  for (char **name = names; *name; name++)
    if (!GPOINTER_TO_INT (g_hash_table_lookup (seen, *name)))
      return reject (error, kernel,
                     "it has an output that shares the memory of '%.60s', which is not an input",
                     *name);
  return TRUE;
}

/* Checks one operand of a signature: an input, `bias?`, or an output, `y=x`. `seen` contains the
 * inputs. */
static gboolean
check_word (
  const LigKernel *kernel, const char *word, gboolean output, GHashTable *seen, GError **error)
{
  const char *places = output ? strchr (word, '=') : NULL;
  gsize length = places                                    ? (gsize) (places - word)
                 : !output && g_str_has_suffix (word, "?") ? strlen (word) - 1
                                                           : strlen (word);
  g_autofree char *name = g_strndup (word, length);
  if (!lig_name_check (name, "_", LIG_LONGEST_PORT))
    return reject (
      error, kernel,
      "it has the operand '%.60s', expected at most %d lower-case letters, digits or _ "
      "after a letter",
      word, LIG_LONGEST_PORT);
  if (g_hash_table_contains (seen, name))
    return reject (error, kernel, "it has two operands called %s", name);
  g_hash_table_insert (seen, g_steal_pointer (&name), GINT_TO_POINTER (!output));
  return !places || check_places (kernel, places + 1, seen, error);
}

static gboolean
check_signature (const LigKernel *kernel, GError **error)
{
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_auto (GStrv) words = g_strsplit (kernel->signature ? kernel->signature : "", " ", -1);
  int arrows = 0, counts[2] = {0, 0};
  for (char **word = words; *word; word++) {
    if (!**word)
      continue;
    if (g_str_equal (*word, "->")) {
      arrows++;
      continue;
    }
    if (!check_word (kernel, *word, arrows > 0, seen, error))
      return FALSE;
    counts[arrows > 0]++;
  }
  if (arrows != 1 || counts[1] == 0)
    return reject (error, kernel, "it has the signature '%.60s', expected one like 'x weight -> y'",
                   kernel->signature ? kernel->signature : "");
  if (counts[0] + counts[1] > LIG_MAX_OPERANDS)
    return reject (error, kernel, "it has %d operands, at most %d are allowed",
                   counts[0] + counts[1], LIG_MAX_OPERANDS);
  if (kernel->work < LIG_WORK_BY_PARAMS)
    return reject (error, kernel, "its work is %d, expected at least %d", kernel->work,
                   LIG_WORK_BY_PARAMS);
  if (kernel->work == LIG_WORK_BY_PARAMS)
    return kernel->flops || reject (error, kernel, "its work follows from its params; set flops");
  return kernel->work >= 0 || counts[0] >= 2 ||
         reject (error, kernel, "it is a matmul and has %d input%s, expected at least 2", counts[0],
                 LIG_ENDING (counts[0]));
}

static gboolean
check (const LigKernel *kernel, GError **error)
{
  int functions = 0;
  if (!check_name (kernel, error) || !check_signature (kernel, error))
    return FALSE;
  if (!(kernel->types & LIG_FLOATING_TYPES))
    return reject (error, kernel, "it supports none of %s; set its types",
                   lig_dtype_names (LIG_FLOATING_TYPES, " and "));
  if (kernel->traits & ~(unsigned) (LIG_KERNEL_BUILT_IN - 1))
    return reject (error, kernel, "its traits are 0x%x, expected some of 0x%x", kernel->traits,
                   LIG_KERNEL_BUILT_IN - 1);
  if (kernel->collective < 0 || kernel->collective > LIG_N_COLLECTIVES ||
      (kernel->collective > 0 && !kernel->communicates))
    return reject (error, kernel, "its collective is %d, expected 0, or 1 to %d for a collective",
                   kernel->collective, LIG_N_COLLECTIVES);
  for (int i = 0; i < LIG_N_BACKENDS; i++)
    functions += kernel->functions[i] != NULL;
  return functions > 0 || reject (error, kernel, "it has no function for any backend");
}

const LigKernel *
lig_kernel_adopt (const LigKernel *kernel, GError **error)
{
  g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&lock);
  LigKernel *known = adopted ? g_hash_table_lookup (adopted, kernel) : NULL;
  if (known)
    return known;
  if (!kernel || kernel->size < G_STRUCT_OFFSET (LigKernel, functions)) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_OP,
                 "kernel has size %" G_GSIZE_FORMAT ", expected at least %" G_GSIZE_FORMAT
                 "; set .size = sizeof (LigKernel)",
                 kernel ? kernel->size : 0, (gsize) G_STRUCT_OFFSET (LigKernel, functions));
    return NULL;
  }
  g_autofree LigKernel *copy = g_new0 (LigKernel, 1);
  memcpy (copy, kernel, MIN (kernel->size, sizeof *copy));
  copy->size = sizeof *copy;
  if (!check (copy, error))
    return NULL;
  if (!adopted)
    adopted = g_hash_table_new (NULL, NULL);
  g_hash_table_insert (adopted, (gpointer) kernel, copy);
  lig_ports_parse (copy->signature);
  return g_steal_pointer (&copy);
}

gboolean
lig_register_kernel (const LigKernel *kernel, GError **error)
{
  if (!lig_registry_open ("a kernel", LIG_ERROR_OP, error))
    return FALSE;
  const LigKernel *own = lig_kernel_adopt (kernel, error);
  gboolean fine = own && lig_kernel_name (own, error);
  lig_registry_close ();
  return fine;
}
