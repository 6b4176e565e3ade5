/* SPDX-License-Identifier: MIT */
/* The registry of fusions, in the order in which they are tried. */
#include "engine/patterns/pattern.h"
#include "engine/patterns/register.h"
#include "engine/sequence/ports.h"
#include "engine/sequence/registry-lock.h"
#include <ligature/fusion.h>

#include <glib/gi18n-lib.h>

#define LIG_FUSION(name) extern const LigFusion lig_fusion_##name;
#include "fusion-list.h"
#undef LIG_FUSION

typedef struct {
  const LigFusion *fusion;
  LigPattern pattern;
} Entry;

static GMutex lock;
static GPtrArray *entries; /* of Entry; never moved in memory */

/* Returns the place of a fusion in the order of trial: joint fusions (forward and backward
 * together) come before forward ones, and forward before backward ones. */
static int
order (const LigFusion *fusion)
{
  return fusion->pass == LIG_PASS_JOINT ? 0 : fusion->pass == LIG_PASS_FORWARD ? 1 : 2;
}

static gboolean
add (const LigFusion *fusion, gboolean first, GError **error)
{
  g_autofree Entry *entry = g_new0 (Entry, 1);
  entry->fusion = fusion;
  lig_ports_parse (fusion->saves);
  if (!lig_pattern_parse (fusion->pattern, &entry->pattern, error))
    return FALSE;
  guint at = 0;
  for (; at < entries->len; at++) {
    const Entry *other = entries->pdata[at];
    if (order (other->fusion) > order (fusion) ||
        (first && order (other->fusion) == order (fusion)))
      break;
  }
  g_ptr_array_insert (entries, (int) at, g_steal_pointer (&entry));
  return TRUE;
}

/* Fills the list; called with the lock held. */
static void
fill (void)
{
  if (entries)
    return;
  entries = g_ptr_array_new ();
#define LIG_FUSION(name) add (&lig_fusion_##name, FALSE, NULL);
#include "fusion-list.h"
#undef LIG_FUSION
}

static const Entry *
find (const char *name)
{
  for (guint i = 0; i < entries->len; i++)
    if (g_str_equal (((Entry *) entries->pdata[i])->fusion->name, name))
      return entries->pdata[i];
  return NULL;
}

const LigFusion *
lig_fusion_nth (guint n)
{
  g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&lock);
  fill ();
  return n < entries->len ? ((Entry *) entries->pdata[n])->fusion : NULL;
}

const LigFusion *
lig_fusion_find (const char *name)
{
  g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&lock);
  fill ();
  const Entry *entry = find (name);
  return entry ? entry->fusion : NULL;
}

const LigPattern *
lig_fusion_get_pattern (const LigFusion *fusion)
{
  g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&lock);
  fill ();
  const Entry *entry = find (fusion->name);
  return entry ? &entry->pattern : NULL;
}

gboolean
lig_fusion_takes (const LigFusion *self, const LigOpInfo *op)
{
  g_return_val_if_fail (self && op, FALSE);
  const LigPattern *pattern = lig_fusion_get_pattern (self);
  for (int i = 0; pattern && i < pattern->n_elements; i++)
    if (lig_element_fits (&pattern->elements[i], op))
      return TRUE;
  return FALSE;
}

gboolean
lig_fusion_has (const LigFusion *self, int element, unsigned flags)
{
  g_return_val_if_fail (self, FALSE);
  const LigPattern *pattern = lig_fusion_get_pattern (self);
  int at = element < 0 && pattern ? pattern->n_elements + element : element;
  if (!pattern || at < 0 || at >= pattern->n_elements)
    return FALSE;
  for (char **name = pattern->elements[at].names; *name; name++) {
    const LigOpInfo *info = lig_op_info_find (*name);
    if (info && info->flags & flags)
      return TRUE;
  }
  return FALSE;
}

gboolean
lig_fusion_has_trait (const LigFusion *self, unsigned flags)
{
  for (int i = 0; i < LIG_MAX_ELEMENTS; i++)
    if (lig_fusion_has (self, i, flags))
      return TRUE;
  return FALSE;
}

/* Takes ownership of the table if it returns true. */
static gboolean
admit (LigFusion *fusion, gboolean first, GError **error)
{
  if (fusion->name && lig_fusion_find (fusion->name)) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_FUSION,
                 _ ("a fusion called %s is already "
                    "registered"),
                 fusion->name);
    return FALSE;
  }
  if (!lig_fusion_check (fusion, error))
    return FALSE;
  g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&lock);
  return add (fusion, first, error);
}

gboolean
lig_register_fusion (const LigFusion *fusion, gboolean first, GError **error)
{
  if (!lig_registry_open ("a fusion", LIG_ERROR_FUSION, error))
    return FALSE;
  LigFusion *whole = lig_fusion_complete (fusion, error);
  gboolean fine = whole && admit (whole, first, error);
  if (!fine)
    g_free (whole);
  lig_registry_close ();
  return fine;
}
