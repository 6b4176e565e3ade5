/* SPDX-License-Identifier: MIT */
#include "engine/sequence/ports.h"
#include <ligature/kernels.h>

#include <string.h>

static GMutex lock;
static GHashTable *parsed; /* text -> LigPorts, grows only */

static LigPorts *
parse (const char *text)
{
  char name[32];
  LigPorts *self = g_new0 (LigPorts, 1);
  self->count = lig_signature_count (text, &self->n_inputs);
  LigPort *ports = g_new0 (LigPort, (gsize) self->count);
  for (int i = 0; i < self->count; i++) {
    ports[i].optional = lig_signature_name (text, i, name);
    ports[i].name = g_intern_string (name);
    ports[i].places = lig_signature_places (text, i);
  }
  self->ports = ports;
  return self;
}

/* The caller holds the lock. */
static const LigPorts *
find (const char *text)
{
  LigPorts *self = g_hash_table_lookup (parsed, text);
  if (!self)
    g_hash_table_insert (parsed, g_strdup (text), self = parse (text));
  return self;
}

const LigPorts *
lig_ports_parse (const char *text)
{
  static const LigPorts none;
  if (!text || !*text)
    return &none;
  g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&lock);
  if (!parsed) {
    const LigKernel *kernel;
    parsed = g_hash_table_new (g_str_hash, g_str_equal);
    for (int i = 0; (kernel = lig_kernel_nth (i)); i++)
      find (kernel->signature);
  }
  return find (text);
}

guint
lig_ports_parsed (void)
{
  g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&lock);
  return parsed ? g_hash_table_size (parsed) : 0;
}

int
lig_ports_find (const LigPorts *self, const char *name)
{
  for (int i = 0; i < self->count; i++)
    if (strcmp (self->ports[i].name, name) == 0)
      return i;
  return -1;
}

const LigPortSlot *
lig_op_ports_find (const LigOpPorts *self, const char *name)
{
  return g_hash_table_lookup (self->slots, name);
}
