/* SPDX-License-Identifier: MIT */
/* The registry of ops: the built-in ones, from the list that Meson generates from engine/ops, then
 * those registered at run time. */
#include "engine/sequence/op-private.h"
#include "engine/sequence/ports.h"
#include "engine/sequence/table.h"
#include <ligature/former-names.h>
#include <ligature/suggest.h>

#include <glib/gi18n-lib.h>
#include <string.h>

#define LIG_OP(name) extern const LigOpInfo lig_op_##name;
#include "op-list.h"
#undef LIG_OP

typedef struct {
  const LigOpInfo *info;
  GType type;
  const LigOpPorts *ports;
} Entry;

static GMutex lock;
static GArray *entries;     /* of Entry, grows only */
static GHashTable *numbers; /* by name: the index among the entries, from 1 */
static Entry proposed;      /* an op under test: visible only to the proposer */
static GThread *proposer;

/* Adds the ports of a list, or their gradients, unless a port of that name is known. */
static void
add_slot (LigOpPorts *self, const char *name, LigPortKind kind, int slot, gboolean gradient)
{
  g_autofree char *whole = g_strconcat (gradient ? "d" : "", name, NULL);
  if (g_hash_table_contains (self->slots, whole))
    return;
  LigPortSlot *added = g_new (LigPortSlot, 1);
  *added = (LigPortSlot){kind, slot, gradient};
  g_hash_table_insert (self->slots, g_steal_pointer (&whole), added);
}

static void
add_slots (LigOpPorts *self, const LigOpInfo *info)
{
  const struct {
    const LigPorts *list;
    LigPortKind kind;
  } lists[] = {{self->extra_inputs, LIG_PORT_EXTRA_INPUT},
               {self->extra_outputs, LIG_PORT_EXTRA_OUTPUT},
               {self->computes, LIG_PORT_KEPT}};
  self->slots = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  for (int gradient = 0; gradient < 2; gradient++) {
    add_slot (self, "x", LIG_PORT_X, 0, gradient);
    add_slot (self, "y", LIG_PORT_Y, 0, gradient);
    for (int i = 0; info->parameters && info->parameters[i].name; i++)
      add_slot (self, info->parameters[i].name, LIG_PORT_PARAMETER, i, gradient);
    for (guint k = 0; k < G_N_ELEMENTS (lists) - (gradient ? 1 : 0); k++)
      for (int i = 0; i < lists[k].list->count; i++)
        add_slot (self, lists[k].list->ports[i].name, lists[k].kind, i, gradient);
  }
}

static Entry
entry_new (const LigOpInfo *info)
{
  LigOpPorts *ports = g_new (LigOpPorts, 1);
  *ports = (LigOpPorts){
    .extra_inputs = lig_ports_parse (info->extra_inputs),
    .extra_outputs = lig_ports_parse (info->extra_outputs),
    .computes = lig_ports_parse (info->computes),
    .saves = lig_ports_parse (info->saves),
    .forward = g_strsplit (info->forward ? info->forward : "", " ", -1),
    .backward = g_strsplit (info->backward ? info->backward : "", " ", -1),
  };
  add_slots (ports, info);
  return (Entry){info, lig_op_register_type (info), ports};
}

static void
entry_free (Entry *entry)
{
  g_strfreev (entry->ports->forward);
  g_strfreev (entry->ports->backward);
  g_hash_table_unref (entry->ports->slots);
  g_free ((LigOpPorts *) entry->ports);
}

/* The first op of a name keeps it. */
static void
append (Entry entry)
{
  g_array_append_val (entries, entry);
  if (!g_hash_table_contains (numbers, entry.info->name))
    g_hash_table_insert (numbers, (gpointer) entry.info->name, GUINT_TO_POINTER (entries->len));
}

static void
add (const LigOpInfo *info)
{
  append (entry_new (info));
}

/* The caller holds the lock. */
static void
fill (void)
{
  if (entries)
    return;
  entries = g_array_new (FALSE, FALSE, sizeof (Entry));
  numbers = g_hash_table_new (g_str_hash, g_str_equal);
#define LIG_OP(name) add (&lig_op_##name);
#include "op-list.h"
#undef LIG_OP
}

static Entry
find (const char *name)
{
  guint number = GPOINTER_TO_UINT (g_hash_table_lookup (numbers, name));
  if (number > 0)
    return g_array_index (entries, Entry, number - 1);
  if (proposer == g_thread_self () && g_str_equal (proposed.info->name, name))
    return proposed;
  const char *current = lig_former_name_replace (LIG_FORMER_OP, name);
  if (current != name)
    return find (current);
  return (Entry){NULL, 0, NULL};
}

const LigOpInfo *
lig_op_info_nth (guint n)
{
  g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&lock);
  fill ();
  return n < entries->len ? g_array_index (entries, Entry, n).info : NULL;
}

const LigOpInfo *
lig_op_info_find (const char *name)
{
  g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&lock);
  fill ();
  return find (name).info;
}

const LigOpInfo *
lig_op_info_with (unsigned flags)
{
  const LigOpInfo *info = NULL;
  for (guint i = 0; (info = lig_op_info_nth (i)); i++)
    if ((info->flags & flags) == flags)
      break;
  return info;
}

const LigOpPorts *
lig_op_info_ports (const LigOpInfo *info)
{
  g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&lock);
  fill ();
  for (guint i = 0; i < entries->len; i++)
    if (g_array_index (entries, Entry, i).info == info)
      return g_array_index (entries, Entry, i).ports;
  g_assert (proposer == g_thread_self () && proposed.info == info);
  return proposed.ports;
}

static gboolean
is_optional (const char *list, int index)
{
  const LigPorts *ports = lig_ports_parse (list);
  return index >= 0 && index < ports->count && ports->ports[index].optional;
}

gboolean
lig_op_info_is_optional (const LigOpInfo *info, int index)
{
  return is_optional (info->extra_inputs, index);
}

gboolean
lig_op_info_is_optional_output (const LigOpInfo *info, int index)
{
  return is_optional (info->extra_outputs, index);
}

static gboolean
is_free (const char *name, GError **error)
{
  if (!name || !lig_op_info_find (name))
    return TRUE;
  g_set_error (error, LIG_ERROR, LIG_ERROR_OP, _ ("an op called %s is already registered"), name);
  return FALSE;
}

gboolean
lig_op_info_propose (const LigOpInfo *info, GError **error)
{
  if (!is_free (info->name, error) || !lig_op_info_check (info, error))
    return FALSE;
  Entry entry = entry_new (info);
  g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&lock);
  proposed = entry;
  proposer = g_thread_self ();
  return TRUE;
}

void
lig_op_info_decide (gboolean accepted)
{
  g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&lock);
  if (accepted)
    append (proposed);
  else
    entry_free (&proposed);
  proposed = (Entry){NULL, 0, NULL};
  proposer = NULL;
}

/* Returns the end of an error's sentence that names the most similar op, or an empty text. */
static char *
suggest (const char *name)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  for (guint i = 0; i < entries->len; i++)
    g_ptr_array_add (names, (gpointer) g_array_index (entries, Entry, i).info->name);
  g_ptr_array_add (names, NULL);
  return lig_suggest_ending (name, (const char *const *) names->pdata);
}

LigOp *
lig_op_new (const char *name, GError **error)
{
  Entry entry;
  g_autofree char *like = NULL;
  {
    g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&lock);
    fill ();
    entry = find (name);
    if (!entry.info)
      like = suggest (name);
  }
  if (entry.info)
    return g_object_new (entry.type, NULL);
  g_set_error (error, LIG_ERROR, LIG_ERROR_OP, _ ("op '%.60s' is unknown%s"), name, like);
  return NULL;
}

gboolean
lig_name_check (const char *name, const char *more, gsize longest)
{
  const char *at = name;
  if (!name || !g_ascii_islower (*name))
    return FALSE;
  while (g_ascii_islower (*at) || g_ascii_isdigit (*at) || (*at && strchr (more, *at)))
    at++;
  return !*at && (gsize) (at - name) <= longest;
}
