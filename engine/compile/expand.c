/* SPDX-License-Identifier: MIT */
/* expand: repeats blocks, takes macros apart, gives each op its index and path, and connects
 * channels. The result is a flat list of basic ops. */
#include "engine/compile/draft.h"

#include <string.h>

#define MOST_PARTS 1000000
#define MOST_NESTING 32

static gboolean expand_sequence (
  LigDraft *draft, LigSequence *sequence, const char *prefix, int depth, GError **error);

static void
add_part (LigDraft *draft, LigOp *written, LigOp *op, const char *path, gboolean fence)
{
  const LigOpInfo *info = lig_op_get_info (op);
  LigPart part = {
    .info = info,
    .op = g_object_ref (op),
    .written = written,
    .title = lig_op_get_name (written),
    .path = g_strdup (path),
    .fence = fence,
    .params = g_memdup2 (lig_op_get_params (op), MAX (info->params_size, 1)),
    .x = -1,
    .y = -1,
    .dx = -1,
    .group = {-1, -1},
    .n_inputs = lig_port_count (info->extra_inputs),
    .n_outputs = lig_port_count (info->extra_outputs),
    .n_kept = lig_port_count (info->computes),
  };
  while (info->parameters && info->parameters[part.n_parameters].name)
    part.n_parameters++;
  for (int i = 0; i < LIG_MAX_EXTRA; i++) {
    part.extra_inputs[i] = part.extra_outputs[i] = part.input_parts[i] = part.sums[i] = -1;
    part.extra_gradients[i] = part.parameters[i] = part.representations[i] = part.kept[i] = -1;
  }
  for (int i = 0; i < part.n_outputs; i++) {
    part.to_caller[i] = lig_op_get_extra_output_to_caller (op, i);
    part.output_channels[i] = g_strdup (lig_op_get_extra_output_channel (op, i));
  }
  if (info->place)
    info->place (part.params, path);
  g_array_append_val (draft->parts, part);
}

static gboolean
expand_op (LigDraft *draft, LigOp *op, const char *path, int depth, GError **error)
{
  const LigOpInfo *info = lig_op_get_info (op);
  guint first = draft->parts->len;
  if (!lig_op_check (op, error)) {
    g_prefix_error (error, "%s at %s: ", info->name, path);
    return FALSE;
  }
  if (info->flags & LIG_OP_BLOCK) {
    gint64 repeat;
    g_object_get (op, "repeat", &repeat, NULL);
    for (gint64 i = 0; i < repeat; i++) {
      g_autofree char *prefix = g_strdup_printf ("%s.%" G_GINT64_FORMAT ".", path, i);
      if (!expand_sequence (draft, lig_op_get_body (op), prefix, depth + 1, error))
        return FALSE;
    }
  } else if (info->expand) {
    g_autoptr (GPtrArray) parts = g_ptr_array_new_with_free_func (g_object_unref);
    info->expand (op, parts);
    for (guint i = 0; i < parts->len; i++)
      add_part (draft, op, parts->pdata[i], path, FALSE);
  } else {
    add_part (draft, op, op, path, FALSE);
  }
  if (draft->parts->len > first && lig_op_get_fence (op))
    lig_part (draft, first)->fence = TRUE;
  if (draft->parts->len <= MOST_PARTS)
    return TRUE;
  g_set_error (error, LIG_ERROR, LIG_ERROR_MEMORY,
               "%s at %s: the sequence expands to more than %d ops", info->name, path, MOST_PARTS);
  return FALSE;
}

/* How much of the prefix `3.0.2.1.` is the path of its block, `3.0.2`. */
static int
block_path_length (const char *prefix)
{
  int length = (int) strlen (prefix);
  for (int dots = 0; length > 0 && dots < 2; dots += prefix[length] == '.')
    length--;
  return length;
}

static gboolean
expand_sequence (
  LigDraft *draft, LigSequence *sequence, const char *prefix, int depth, GError **error)
{
  if (depth > MOST_NESTING) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE, "block at %.*s: blocks nest deeper than %d",
                 block_path_length (prefix), prefix, MOST_NESTING);
    return FALSE;
  }
  if (lig_sequence_get_length (sequence) == 0 && depth > 0) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_OP, "block at %.*s: it has no ops",
                 block_path_length (prefix), prefix);
    return FALSE;
  }
  for (guint i = 0; i < lig_sequence_get_length (sequence); i++) {
    g_autofree char *path = g_strdup_printf ("%s%u", prefix, i);
    if (!expand_op (draft, lig_sequence_get (sequence, (int) i, NULL), path, depth, error))
      return FALSE;
  }
  return TRUE;
}

/* A channel's full name: its scope is the block repetition of its op, `../` leaves one block. */
static char *
scope (const char *path, const char *channel)
{
  g_autofree char *base = g_strdup (path);
  char *dot = strrchr (base, '.');
  *(dot ? dot : base) = '\0';
  while (g_str_has_prefix (channel, "../")) {
    channel += 3;
    for (int i = 0; i < 2; i++) {
      dot = strrchr (base, '.');
      *(dot ? dot : base) = '\0';
    }
  }
  return g_strdup_printf ("%s/%s", base, channel);
}

typedef struct {
  int part, slot;
} Port;

static gboolean
add_producers (LigDraft *draft, GHashTable *producers, GError **error)
{
  for (int i = 0; i < (int) draft->parts->len; i++) {
    LigPart *part = lig_part (draft, i);
    for (int slot = 0; slot < part->n_outputs; slot++) {
      const char *channel = part->output_channels[slot];
      if (!channel)
        continue;
      g_autofree char *full = scope (part->path, channel);
      Port *other = g_hash_table_lookup (producers, full);
      if (other) {
        g_set_error (error, LIG_ERROR, LIG_ERROR_CHANNEL,
                     "extra tensor channel '%s' has multiple producers (%s at %s and %s at %s)",
                     channel, lig_part (draft, other->part)->title,
                     lig_part (draft, other->part)->path, part->title, part->path);
        return FALSE;
      }
      Port port = {i, slot};
      g_hash_table_insert (producers, g_steal_pointer (&full), g_memdup2 (&port, sizeof port));
    }
  }
  return TRUE;
}

static gboolean
connect (LigDraft *draft, int index, int slot, GHashTable *producers, GError **error)
{
  LigPart *part = lig_part (draft, index);
  const char *channel = lig_op_get_extra_input_channel (part->op, slot);
  if (!channel)
    return TRUE;
  g_autofree char *full = scope (part->path, channel);
  const Port *producer = g_hash_table_lookup (producers, full);
  if (!producer || producer->part >= index) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_CHANNEL,
                 "extra tensor channel '%s' consumed by %s at %s has no %sproducer", channel,
                 part->title, part->path, producer ? "earlier " : "");
    return FALSE;
  }
  part->input_parts[slot] = producer->part;
  part->input_slots[slot] = producer->slot;
  lig_part (draft, producer->part)->consumed[producer->slot] = TRUE;
  lig_part (draft, producer->part)->last_reader[producer->slot] = index;
  return TRUE;
}

gboolean
lig_expand (LigDraft *draft, GError **error)
{
  if (!expand_sequence (draft, draft->sequence, "", 0, error))
    return FALSE;
  if (draft->parts->len == 0) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_OP, "the sequence has no ops");
    return FALSE;
  }
  g_autoptr (GHashTable) producers =
    g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  if (!add_producers (draft, producers, error))
    return FALSE;
  for (int i = 0; i < (int) draft->parts->len; i++)
    for (int slot = 0; slot < lig_part (draft, i)->n_inputs; slot++)
      if (!connect (draft, i, slot, producers, error))
        return FALSE;
  return TRUE;
}
