/* SPDX-License-Identifier: MIT */
/* expand: repeats blocks, replaces macros by their parts, gives each op its index and path, and
 * connects channels. The result is a flat list of basic ops. */
#include "engine/compile/collect.h"
#include "engine/compile/parts.h"
#include "engine/compile/positions.h"
#include "engine/compile/quantizers.h"
#include "engine/compile/vocabulary.h"

#include <glib/gi18n-lib.h>
#include <string.h>

#define MOST_PARTS 1000000
#define MOST_NESTING 32
#define LONGEST_NAME 31 /* of a part's name */

/* The context in which ops are expanded. */
typedef struct {
  LigOp *written;     /* in a macro: the op of the sequence that is expanded; else null */
  const char *path;   /* in a macro: path of the written op */
  const char *prefix; /* of the ops' parameters: the text before an op's number or name */
  gboolean frozen;    /* the block or macro around them is */
  LigRecompute recompute;
  gboolean chosen;         /* a block or a macro around them has set `recompute` itself */
  int unit;                /* see LigPart */
  const LigRecipe *recipe; /* how products are quantized; null: they are not */
  gboolean gathered;       /* they are the parts of attention to the positions of other ranks */
  char *scope; /* of their channels: repetitions and macros, outermost first, `/3.0/3.0.2` */
  int depth;
} Place;

static gboolean
expand_op (LigDraft *draft, LigOp *op, const Place *place, const char *prefix, GError **error);

static const char *
path_of (const Place *place, const char *prefix)
{
  return place->written ? place->path : prefix;
}

static void
add_part (LigDraft *draft, LigOp *op, const Place *place, const char *prefix)
{
  const LigOpInfo *info = lig_op_get_info (op);
  const LigOpPorts *ports = lig_op_info_ports (info);
  LigOp *written = place->written ? place->written : op;
  LigPart part = {
    .info = info,
    .ports = ports,
    .op = g_object_ref (op),
    .written = written,
    .title = lig_op_get_name (written),
    .path = g_strdup (path_of (place, prefix)),
    .prefix = g_strdup (prefix),
    .scope = g_ref_string_acquire (place->scope),
    .params = g_memdup2 (lig_op_get_params (op), MAX (info->params_size, 1)),
    .frozen = place->frozen,
    .recompute = place->recompute,
    .unit = place->unit,
    .recipe = place->recipe,
    .quantizers = {-1, -1, -1},
    .quantizes = {-1, -1},
    .histories = -1,
    .x = -1,
    .y = -1,
    .dx = -1,
    .group = {-1, -1},
    .n_inputs = ports->extra_inputs->count,
    .n_outputs = ports->extra_outputs->count,
    .n_kept = ports->computes->count,
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
    info->place (part.params, prefix);
  g_array_append_val (draft->parts, part);
}

/* Adds the part that quantizes the input of a product, or the gradient of its output. */
static void
add_quantizing (
  LigDraft *draft, LigOp *product, const Place *place, const char *prefix, LigPass pass)
{
  LigOp **op = &draft->quantizing[pass];
  Place inside = *place;
  if (!*op) {
    *op = lig_op_new ("quantize", NULL);
    g_object_set (*op, "forward", pass == LIG_PASS_FORWARD, "backward", pass == LIG_PASS_BACKWARD,
                  NULL);
  }
  inside.written = place->written ? place->written : product;
  inside.path = path_of (place, prefix);
  add_part (draft, *op, &inside, prefix);
  lig_part (draft, draft->parts->len - 1)->implicit = TRUE;
}

/* Adds an op that is neither a block nor a macro, a product with the parts that quantize. */
static void
add_basic (LigDraft *draft, LigOp *op, const Place *place, const char *prefix)
{
  gboolean quantized = place->recipe && g_str_equal (lig_op_get_name (op), "basic-linear");
  if (quantized)
    add_quantizing (draft, op, place, prefix, LIG_PASS_FORWARD);
  add_part (draft, op, place, prefix);
  if (quantized)
    add_quantizing (draft, op, place, prefix, LIG_PASS_BACKWARD);
}

/* Returns the level that a block or a macro sets by its parameter `recompute`, -1 for none. */
static int
own_recompute (LigOp *op)
{
  g_autofree char *name = NULL;
  LigRecompute level;
  GParamSpec *spec = g_object_class_find_property (G_OBJECT_GET_CLASS (op), "recompute");
  if (!spec || G_PARAM_SPEC_VALUE_TYPE (spec) != G_TYPE_STRING)
    return -1;
  g_object_get (op, "recompute", &name, NULL);
  return name && lig_recompute_from_name (name, &level) ? (int) level : -1;
}

/* Sets what is computed again in the op. A block's repetitions become units as they are expanded;
 * so does a macro outside of blocks. */
static void
enter_unit (LigDraft *draft, LigOp *op, Place *place)
{
  const LigOpInfo *info = lig_op_get_info (op);
  int level = own_recompute (op);
  if (level >= 0) {
    place->recompute = (LigRecompute) level;
    place->chosen = TRUE;
    place->unit = -1;
  }
  gboolean macro =
    info->expand && g_object_class_find_property (G_OBJECT_GET_CLASS (op), "recompute");
  if (macro && place->recompute == LIG_RECOMPUTE_ALL && place->unit < 0)
    place->unit = draft->n_units++;
}

/* Sets the recipe of the op's products. */
static gboolean
enter_recipe (LigDraft *draft, LigOp *op, Place *place, const char *prefix, GError **error)
{
  g_autoptr (GError) local = NULL;
  place->recipe = lig_recipe_of_op (draft, op, place->recipe, &local);
  if (!local)
    return TRUE;
  const char *path = path_of (place, prefix);
  g_propagate_prefixed_error (error, g_steal_pointer (&local), _ ("%s at %s: "),
                              lig_op_get_name (op), path);
  lig_error_set_path (error, path);
  return lig_draft_goes_on (draft, (int) draft->parts->len, error);
}

static gboolean
expand_block (LigDraft *draft, LigOp *op, const Place *place, const char *prefix, GError **error)
{
  LigSequence *body = lig_op_get_body (op);
  guint length = lig_sequence_get_length (body);
  gint64 repeat;
  g_object_get (op, "repeat", &repeat, NULL);
  if (length == 0) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_OP, _ ("block at %s: it has no ops"),
                 path_of (place, prefix));
    lig_error_set_path (error, path_of (place, prefix));
    gboolean goes_on = lig_draft_goes_on (draft, -1, error);
    lig_draft_offer (draft, LIG_PROBLEM_MEND_REMOVE_OP, path_of (place, prefix), "block", NULL);
    return goes_on;
  }
  gboolean divides = own_recompute (op) == LIG_RECOMPUTE_ALL ||
                     (place->recompute == LIG_RECOMPUTE_ALL && !place->chosen);
  for (gint64 i = 0; i < repeat; i++) {
    g_autofree char *own = g_strdup_printf ("%s.%" G_GINT64_FORMAT, prefix, i);
    g_autofree char *scope = g_strdup_printf ("%s/%s", place->scope, own);
    Place inside = *place;
    inside.scope = g_ref_string_new (scope);
    inside.depth++;
    if (divides)
      inside.unit = draft->n_units++;
    gboolean fine = TRUE;
    for (guint j = 0; j < length && fine; j++) {
      g_autofree char *inner = g_strdup_printf ("%s.%u", own, j);
      fine = expand_op (draft, lig_sequence_get (body, (int) j, NULL), &inside, inner, error);
    }
    g_ref_string_release (inside.scope);
    if (!fine)
      return FALSE;
  }
  return TRUE;
}

/* Checks the name of a part, which is used in the paths of parameters, where numbers mean ops. */
static gboolean
check_part (LigOp *macro, LigOp *part, const char *name, const char *path, GError **error)
{
  if (!part)
    g_set_error (error, LIG_ERROR, LIG_ERROR_OP, _ ("%s at %s: a part%s%s could not be made"),
                 lig_op_get_name (macro), path, name ? _ (" called ") : "", name ? name : "");
  else if (name && !lig_name_check (name, "-_", LONGEST_NAME))
    g_set_error (error, LIG_ERROR, LIG_ERROR_OP,
                 _ ("%s at %s: a part is called '%.60s', expected at most %d lower-case letters, "
                    "digits, - or _ after a letter"),
                 lig_op_get_name (macro), path, name, LONGEST_NAME);
  else
    return TRUE;
  return lig_error_set_path (error, path);
}

/* Records that the size of the last op follows from the input of the macro, whose parts begin at
 * `first`. */
static void
record_size (LigDraft *draft, const LigPartSize *size, int first)
{
  guint last = draft->parts->len - 1;
  while (lig_part (draft, last)->implicit)
    last--;
  lig_part (draft, last)->size = *size;
  lig_part (draft, last)->size_from = first;
}

/* Sets the error of a macro that has no parts. Returns whether expansion goes on without them. */
static gboolean
refuse_macro (LigDraft *draft, LigOp *op, const Place *inside, const char *problem, GError **error)
{
  g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE, _ ("%s at %s: %s"), lig_op_get_name (op),
               inside->path, problem);
  lig_error_set_path (error, inside->path);
  return lig_draft_goes_on (draft, -1, error);
}

/* Parts that cannot be made of an incomplete macro are left out. */
static gboolean
expand_macro (LigDraft *draft,
              LigOp *op,
              const Place *place,
              const char *prefix,
              gboolean incomplete,
              GError **error)
{
  g_autoptr (LigParts) parts = lig_parts_new (draft->device);
  parts->divides = lig_vocabulary_is_divided (draft, op);
  g_autofree char *scope = g_strdup_printf ("%s/%s", place->scope, prefix);
  Place inside = *place;
  inside.written = place->written ? place->written : op;
  inside.path = path_of (place, prefix);
  inside.scope = g_ref_string_new (scope);
  inside.depth++;
  int first = (int) draft->parts->len;
  gboolean fine = TRUE;
  if (lig_op_get_info (op)->expand)
    lig_op_get_info (op)->expand (op, parts);
  else
    inside.gathered = lig_positions_expand (op, parts, draft->input.axes[1]);
  if (parts->problem) {
    fine = refuse_macro (draft, op, &inside, parts->problem, error);
    g_ptr_array_set_size (parts->ops, 0);
  }
  for (guint i = 0; i < parts->ops->len && fine; i++) {
    LigOp *part = parts->ops->pdata[i];
    const char *name = parts->names->pdata[i];
    const LigPartSize *size = &g_array_index (parts->sizes, LigPartSize, i);
    g_autofree char *own = g_strdup_printf ("%s%s%s", prefix, name ? "." : "", name ? name : "");
    if (!part && incomplete)
      continue;
    if (!check_part (op, part, name, inside.path, error)) {
      fine = lig_draft_goes_on (draft, -1, error);
      continue;
    }
    guint before = draft->parts->len;
    fine = expand_op (draft, part, &inside, own, error);
    if (draft->parts->len > before && size->param)
      record_size (draft, size, first);
  }
  g_ref_string_release (inside.scope);
  return fine;
}

/* Checks that the required parameters are set. Without one, the output is a guess. */
static gboolean
check_required (LigDraft *draft, LigOp *op, const char *path, unsigned *incomplete, GError **error)
{
  if (lig_op_check (op, error))
    return TRUE;
  g_prefix_error (error, _ ("%s at %s: "), lig_op_get_name (op), path);
  lig_error_set_path (error, path);
  *incomplete = LIG_UNSURE_FEATURES;
  for (const LigParam *at = lig_op_get_info (op)->params; at && at->name; at++)
    if (at->kind == LIG_PARAM_SHAPE && at->flags & LIG_PARAM_REQUIRED)
      *incomplete |= LIG_UNSURE_ROWS;
  return lig_draft_goes_on (draft, (int) draft->parts->len, error);
}

static gboolean
expand_op (LigDraft *draft, LigOp *op, const Place *around, const char *prefix, GError **error)
{
  Place own = *around, *place = &own;
  const LigOpInfo *info = lig_op_get_info (op);
  own.frozen |= !lig_op_get_trained (op);
  enter_unit (draft, op, &own);
  if (!enter_recipe (draft, op, &own, prefix, error))
    return FALSE;
  const char *path = path_of (place, prefix);
  guint first = draft->parts->len;
  gboolean fine = TRUE;
  unsigned incomplete = 0;
  if (!check_required (draft, op, path, &incomplete, error))
    return FALSE;
  if (place->depth > MOST_NESTING) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE,
                 _ ("%s at %s: blocks and macros nest deeper than %d"), info->name, path,
                 MOST_NESTING);
    lig_error_set_path (error, path);
    return lig_draft_goes_on (draft, -1, error);
  }
  if (info->flags & LIG_OP_BLOCK)
    fine = expand_block (draft, op, place, prefix, error);
  else if (info->expand || (!place->gathered && lig_positions_parts (draft, op)))
    fine = expand_macro (draft, op, place, prefix, incomplete != 0, error);
  else
    add_basic (draft, op, place, prefix);
  if (!fine)
    return FALSE;
  for (guint i = first; i < draft->parts->len; i++)
    lig_part (draft, i)->incomplete |= incomplete;
  if (draft->parts->len > first && lig_op_get_fence (op))
    lig_part (draft, first)->fence = TRUE;
  if (draft->parts->len <= MOST_PARTS)
    return TRUE;
  g_set_error (error, LIG_ERROR, LIG_ERROR_MEMORY,
               _ ("%s at %s: the sequence expands to more than %d ops"), info->name, path,
               MOST_PARTS);
  return lig_error_set_path (error, path);
}

static gboolean
expand_sequence (LigDraft *draft, GError **error)
{
  Place place = {.recompute = draft->options.recompute,
                 .unit = -1,
                 .recipe = draft->recipe.info ? &draft->recipe : NULL,
                 .scope = g_ref_string_new ("")};
  guint length = lig_sequence_get_length (draft->sequence);
  gboolean fine = TRUE;
  for (guint i = 0; i < length && fine; i++) {
    g_autofree char *path = g_strdup_printf ("%u", i);
    LigOp *op = lig_sequence_get (draft->sequence, (int) i, NULL);
    fine = expand_op (draft, op, &place, path, error);
  }
  g_ref_string_release (place.scope);
  return fine;
}

/* Records that a part has something with that path; false if an earlier one has it, too. */
static gboolean
claim (LigDraft *draft, GHashTable *owners, int index, char *path, const char *what, GError **error)
{
  const LigPart *part = lig_part (draft, index);
  gpointer other;
  if (!g_hash_table_lookup_extended (owners, path, NULL, &other)) {
    g_hash_table_insert (owners, path, GINT_TO_POINTER (index));
    return TRUE;
  }
  g_set_error (
    error, LIG_ERROR, LIG_ERROR_OP,
    _ ("%s at %s: its parts %s and %s both have %s %s; give the parts names of their own"),
    part->title, part->path, lig_part (draft, GPOINTER_TO_INT (other))->info->name,
    part->info->name, what, path);
  g_free (path);
  return lig_error_set_path (error, part->path);
}

/* Checks that paths are unique. A parameter's path is its name in the state and in files, and the
 * seed of its random numbers. Ops have different paths, so only parts of one macro can collide. */
static gboolean
check_unique (LigDraft *draft, GError **error)
{
  g_autoptr (GHashTable) owners = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GHashTable) draws = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  for (int i = 0; i < (int) draft->parts->len; i++) {
    const LigPart *part = lig_part (draft, i);
    if (part->info->place &&
        !claim (draft, draws, i, g_strdup (part->prefix), _ ("the path"), error) &&
        !lig_draft_goes_on (draft, i, error))
      return FALSE;
    for (int j = 0; j < part->n_parameters; j++) {
      char *path = g_strdup_printf ("%s.%s", part->prefix, part->info->parameters[j].name);
      if (!claim (draft, owners, i, path, _ ("a parameter"), error) &&
          !lig_draft_goes_on (draft, i, error))
        return FALSE;
    }
  }
  return TRUE;
}

/* Returns a channel's full name: its scope is the block repetition or the macro of its op; each
 * `../` removes one of them. */
static char *
full_name (const LigPart *part, const char *channel)
{
  gsize length = strlen (part->scope);
  for (; g_str_has_prefix (channel, "../"); channel += 3)
    while (length > 0 && part->scope[--length] != '/')
      ;
  return g_strdup_printf ("%.*s:%s", (int) length, part->scope, channel);
}

typedef struct {
  int part, slot;
} Port;

/* Returns the channel's name as it is written: a macro puts `../` before those that its parts use
 * outside of it. */
static const char *
written_name (const LigPart *part, const char *channel)
{
  g_autofree char *macro = g_strdup_printf ("/%s", part->path);
  const char *scope = part->written == part->op ? NULL : strstr (part->scope, macro);
  for (; scope && g_str_has_prefix (channel, "../"); scope = strchr (scope + 1, '/'))
    channel += 3;
  return channel;
}

static gboolean
add_producers (LigDraft *draft, GHashTable *producers, GError **error)
{
  for (int i = 0; i < (int) draft->parts->len; i++) {
    LigPart *part = lig_part (draft, i);
    for (int slot = 0; slot < part->n_outputs; slot++) {
      const char *channel = part->output_channels[slot];
      if (!channel)
        continue;
      g_autofree char *full = full_name (part, channel);
      Port *other = g_hash_table_lookup (producers, full);
      if (other) {
        channel = written_name (part, channel);
        g_set_error (error, LIG_ERROR, LIG_ERROR_CHANNEL,
                     _ ("extra tensor channel '%s' has multiple producers (%s at %s and %s at %s)"),
                     channel, lig_part (draft, other->part)->title,
                     lig_part (draft, other->part)->path, part->title, part->path);
        lig_error_set_path (error, lig_part (draft, other->part)->path);
        if (!lig_draft_goes_on (draft, i, error))
          return FALSE;
        lig_draft_offer (draft, LIG_PROBLEM_MEND_RENAME, part->path, channel, NULL);
        lig_draft_offer (draft, LIG_PROBLEM_MEND_DISCONNECT, part->path, channel, NULL);
        continue;
      }
      Port port = {i, slot};
      g_hash_table_insert (producers, g_steal_pointer (&full), g_memdup2 (&port, sizeof port));
    }
  }
  return TRUE;
}

/* Returns whether a channel that no op starts is the caller's. */
static gboolean
is_caller (const char *channel)
{
  while (g_str_has_prefix (channel, "../"))
    channel += 3;
  return g_str_equal (channel, "caller");
}

static gboolean
connect (LigDraft *draft, int index, int slot, GHashTable *producers, GError **error)
{
  LigPart *part = lig_part (draft, index);
  const char *channel = lig_op_get_extra_input_channel (part->op, slot);
  part->present[slot] = channel || !part->ports->extra_inputs->ports[slot].optional;
  if (!channel)
    return TRUE;
  g_autofree char *full = full_name (part, channel);
  const Port *producer = g_hash_table_lookup (producers, full);
  if (!producer && is_caller (channel))
    return TRUE;
  if (!producer || producer->part >= index) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_CHANNEL,
                 _ ("extra tensor channel '%s' consumed by %s at %s has no %sproducer"),
                 written_name (part, channel), part->title, part->path,
                 producer ? _ ("earlier ") : "");
    lig_error_set_path (error, part->path);
    return lig_draft_goes_on (draft, index, error);
  }
  part->input_parts[slot] = producer->part;
  part->input_slots[slot] = producer->slot;
  lig_part (draft, producer->part)->consumed[producer->slot] = TRUE;
  lig_part (draft, producer->part)->last_reader[producer->slot] = index;
  lig_part (draft, producer->part)->read_by_macro |= !g_str_equal (part->title, part->info->name);
  return TRUE;
}

static gboolean
has_branch (const LigPart *part)
{
  for (int i = 0; i < part->n_outputs; i++)
    if (part->consumed[i] || part->to_caller[i])
      return TRUE;
  return FALSE;
}

/* Checks that a branch leads on from every line that ends at a recall. */
static gboolean
check_lines (LigDraft *draft, GError **error)
{
  for (int i = 1; i < (int) draft->parts->len; i++) {
    const LigPart *last = lig_part (draft, i - 1), *part = lig_part (draft, i);
    if (!lig_part_recalls (part) || has_branch (last))
      continue;
    g_set_error (error, LIG_ERROR, LIG_ERROR_OP,
                 _ ("%s at %s: nobody reads its output, as %s at %s goes on from elsewhere; remove "
                    "it, or put make-extra-output after it"),
                 last->title, last->path, part->title, part->path);
    lig_error_set_path (error, last->path);
    if (!lig_draft_goes_on (draft, i - 1, error))
      return FALSE;
    lig_draft_offer (draft, LIG_PROBLEM_MEND_REMOVE_OP, last->path, last->title, NULL);
    if (part->written == part->op)
      lig_draft_offer (draft, LIG_PROBLEM_MEND_INSERT_OP, part->path, NULL, "make-extra-output");
  }
  return TRUE;
}

gboolean
lig_expand (LigDraft *draft, GError **error)
{
  lig_vocabulary_choose (draft);
  if (!expand_sequence (draft, error) || !check_unique (draft, error))
    return FALSE;
  if (draft->parts->len == 0) {
    if (draft->problems && lig_collection_count (draft->problems) > 0)
      return FALSE;
    g_set_error (error, LIG_ERROR, LIG_ERROR_OP, _ ("the sequence has no ops"));
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
  return check_lines (draft, error);
}
