/* SPDX-License-Identifier: MIT */
/* expand: repeats blocks, replaces macros by their parts, gives each op its index and path, and
 * connects channels. The result is a flat list of basic ops. */
#include "engine/compile/compilation.h"
#include "engine/graph/op.h"
#include "engine/graph/problems.h"
#include "engine/parallel/positions.h"
#include "engine/parallel/vocabulary.h"
#include "engine/quantize/quantizers.h"
#include "engine/sequence/op-private.h"
#include "engine/sequence/parts.h"

#include <glib/gi18n-lib.h>
#include <string.h>

#define MAX_PARTS 1000000
#define MAX_NESTING 32
#define LONGEST_NAME 31 /* of a part's name */

/* The state shared by all ops during expansion. */
typedef struct {
  LigOp *quantizing[2]; /* the ops of implicit parts: before matmuls, and after them */
  int n_units;          /* of LIG_RECOMPUTE_ALL, see LigPart */
} Shared;

/* The context in which ops are expanded. */
typedef struct {
  Shared *shared;
  LigOp *written;     /* in a macro: the expanded op of the sequence; else null */
  const char *path;   /* in a macro: path of the written op */
  const char *prefix; /* of the ops' parameters: the text before an op's number or name */
  gboolean frozen;    /* the enclosing block or macro is */
  LigRecompute recompute;
  gboolean chosen;         /* an enclosing block or macro has set `recompute` itself */
  int unit;                /* see LigPart */
  const LigRecipe *recipe; /* how matmuls are quantized; null: they are not */
  gboolean gathered;       /* they are the parts of attention over a sharded sequence */
  char *scope; /* of their channels: repetitions and macros, outermost first, `/3.0/3.0.2` */
  int depth;
} Place;

static gboolean
expand_op (LigGraph *graph, LigOp *op, const Place *place, const char *prefix, GError **error);

static const char *
path_of (const Place *place, const char *prefix)
{
  return place->written ? place->path : prefix;
}

static void
add_part (LigGraph *graph, LigOp *op, const Place *place, const char *prefix)
{
  const LigOpInfo *info = lig_op_get_info (op);
  const LigOpPorts *ports = lig_op_info_ports (info);
  LigOp *written = place->written ? place->written : op;
  LigPart part = {
    .plan.info = info,
    .ports = ports,
    .plan.op = g_object_ref (op),
    .plan.written = written,
    .plan.title = lig_op_get_name (written),
    .plan.index = (int) graph->parts->len,
    .plan.path = g_string_chunk_insert (graph->strings, path_of (place, prefix)),
    .plan.prefix = g_string_chunk_insert (graph->strings, prefix),
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
    .cache = -1,
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
    const char *channel = lig_op_get_extra_output_channel (op, i);
    part.output_channels[i] =
      channel ? g_string_chunk_insert_const (graph->strings, channel) : NULL;
  }
  if (info->place)
    info->place (part.params, prefix);
  g_array_append_val (graph->parts, part);
}

/* Adds the part that quantizes the input of a matmul, or the gradient of its output. */
static void
add_quantizing (
  LigGraph *graph, LigOp *matmul, const Place *place, const char *prefix, LigPass pass)
{
  LigOp **op = &place->shared->quantizing[pass];
  Place inside = *place;
  if (!*op) {
    *op = lig_op_new (lig_op_info_with (LIG_OP_QUANTIZES)->name, NULL);
    g_object_set (*op, "forward", pass == LIG_PASS_FORWARD, "backward", pass == LIG_PASS_BACKWARD,
                  NULL);
  }
  inside.written = place->written ? place->written : matmul;
  inside.path = path_of (place, prefix);
  add_part (graph, *op, &inside, prefix);
  lig_part (graph, graph->parts->len - 1)->plan.implicit = TRUE;
}

/* Adds an op that is neither a block nor a macro; a matmul also gets its quantizing parts. */
static void
add_basic (LigGraph *graph, LigOp *op, const Place *place, const char *prefix)
{
  gboolean quantized =
    place->recipe && lig_op_get_info (op)->flags & (LIG_OP_MATMUL | LIG_OP_GROUPED);
  if (quantized)
    add_quantizing (graph, op, place, prefix, LIG_PASS_FORWARD);
  add_part (graph, op, place, prefix);
  if (quantized)
    add_quantizing (graph, op, place, prefix, LIG_PASS_BACKWARD);
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

/* Sets the recomputation level of the op. Each repetition of a block is a recomputation unit; so is
 * a macro outside of blocks. */
static void
enter_unit (LigGraph *graph, LigOp *op, Place *place)
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
    place->unit = place->shared->n_units++;
}

/* Sets the recipe of the op's matmuls. */
static gboolean
enter_recipe (LigGraph *graph, LigOp *op, Place *place, const char *prefix, GError **error)
{
  g_autoptr (GError) local = NULL;
  place->recipe = lig_recipe_of_op (graph, op, place->recipe, &local);
  if (!local)
    return TRUE;
  const char *path = path_of (place, prefix);
  g_propagate_prefixed_error (error, g_steal_pointer (&local), _ ("%s at %s: "),
                              lig_op_get_name (op), path);
  lig_error_set_path (error, path);
  return lig_graph_collect_problem (graph, (int) graph->parts->len, error);
}

static gboolean
expand_block (LigGraph *graph, LigOp *op, const Place *place, const char *prefix, GError **error)
{
  LigSequence *body = lig_op_get_body (op);
  guint length = lig_sequence_get_length (body);
  gint64 repeat;
  g_object_get (op, "repeat", &repeat, NULL);
  if (length == 0) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_OP, _ ("block at %s: it has no ops"),
                 path_of (place, prefix));
    lig_error_set_path (error, path_of (place, prefix));
    gboolean collected = lig_graph_collect_problem (graph, -1, error);
    lig_graph_offer (graph, LIG_PROBLEM_FIX_REMOVE_OP, path_of (place, prefix),
                     lig_op_get_name (op), NULL);
    return collected;
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
      inside.unit = place->shared->n_units++;
    gboolean fine = TRUE;
    for (guint j = 0; j < length && fine; j++) {
      g_autofree char *inner = g_strdup_printf ("%s.%u", own, j);
      fine = expand_op (graph, lig_sequence_get (body, (int) j, NULL), &inside, inner, error);
    }
    g_ref_string_release (inside.scope);
    if (!fine)
      return FALSE;
  }
  return TRUE;
}

/* Checks the name of a part, which is used in parameter paths, where numbers denote ops. */
static gboolean
check_part (LigOp *macro, LigOp *part, const char *name, const char *path, GError **error)
{
  if (!part)
    g_set_error (error, LIG_ERROR, LIG_ERROR_OP, _ ("%s at %s: a part%s%s could not be created"),
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

/* Records that the size of the last op depends on the input of the macro, whose parts begin at
 * `first`. */
static void
record_size (LigGraph *graph, const LigPartSize *size, int first)
{
  guint last = graph->parts->len - 1;
  while (lig_part (graph, last)->plan.implicit)
    last--;
  lig_part (graph, last)->size = *size;
  lig_part (graph, last)->size_from = first;
}

/* Sets the error of a macro that has no parts. Returns whether expansion continues without them. */
static gboolean
reject_macro (LigGraph *graph, const Place *inside, const char *problem, GError **error)
{
  g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE, _ ("%s at %s: %s"),
               lig_op_get_name (inside->written), inside->path, problem);
  lig_error_set_path (error, inside->path);
  return lig_graph_collect_problem (graph, -1, error);
}

/* Ties the parameters of a part to those of the macro's part called `owner`. */
static void
share_parameters (LigOp *part, const char *prefix, const char *owner)
{
  const LigParameterInfo *parameters = lig_op_get_info (part)->parameters;
  g_autofree char *path = g_strdup_printf ("%s%s%s", prefix, *owner ? "." : "", owner);
  for (int slot = 0; parameters && parameters[slot].name; slot++)
    lig_op_set_tie (part, slot, path, NULL);
}

/* Parts that an incomplete macro cannot create are omitted. */
static gboolean
expand_macro (LigGraph *graph,
              LigOp *op,
              const Place *place,
              const char *prefix,
              gboolean incomplete,
              GError **error)
{
  g_autoptr (LigParts) parts = lig_parts_new (graph->request->device);
  parts->shards_vocabulary = lig_vocabulary_is_sharded (graph, op);
  g_autofree char *scope = g_strdup_printf ("%s/%s", place->scope, prefix);
  Place inside = *place;
  inside.written = place->written ? place->written : op;
  inside.path = path_of (place, prefix);
  inside.scope = g_ref_string_new (scope);
  inside.depth++;
  int first = (int) graph->parts->len;
  gboolean fine = TRUE;
  if (lig_op_get_info (op)->expand)
    lig_op_get_info (op)->expand (op, parts);
  else
    lig_op_get_info (op)->expand_positions (op, parts, graph->request->input.axes[1]);
  inside.gathered |= !lig_op_get_info (op)->expand;
  if (parts->problem) {
    fine = reject_macro (graph, &inside, parts->problem, error);
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
      fine = lig_graph_collect_problem (graph, -1, error);
      continue;
    }
    if (parts->owners->pdata[i])
      share_parameters (part, prefix, parts->owners->pdata[i]);
    guint before = graph->parts->len;
    fine = expand_op (graph, part, &inside, own, error);
    if (graph->parts->len > before && size->param)
      record_size (graph, size, first);
  }
  g_ref_string_release (inside.scope);
  return fine;
}

/* Checks that the required parameters are set. If one is missing, the output is a guess. */
static gboolean
check_required (LigGraph *graph, LigOp *op, const char *path, unsigned *incomplete, GError **error)
{
  if (lig_op_check (op, error))
    return TRUE;
  g_prefix_error (error, _ ("%s at %s: "), lig_op_get_name (op), path);
  lig_error_set_path (error, path);
  *incomplete = LIG_UNCERTAIN_FEATURES;
  for (const LigParam *at = lig_op_get_info (op)->params; at && at->name; at++)
    if (at->kind == LIG_PARAM_SHAPE && at->flags & LIG_PARAM_REQUIRED)
      *incomplete |= LIG_UNCERTAIN_ROWS;
  return lig_graph_collect_problem (graph, (int) graph->parts->len, error);
}

static gboolean
expand_op (LigGraph *graph, LigOp *op, const Place *around, const char *prefix, GError **error)
{
  Place own = *around, *place = &own;
  const LigOpInfo *info = lig_op_get_info (op);
  own.frozen |= !lig_op_get_trained (op);
  enter_unit (graph, op, &own);
  if (!enter_recipe (graph, op, &own, prefix, error))
    return FALSE;
  const char *path = path_of (place, prefix);
  guint first = graph->parts->len;
  gboolean fine = TRUE;
  unsigned incomplete = 0;
  if (!check_required (graph, op, path, &incomplete, error))
    return FALSE;
  if (place->depth > MAX_NESTING) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE,
                 _ ("%s at %s: blocks and macros nest deeper than %d"), info->name, path,
                 MAX_NESTING);
    lig_error_set_path (error, path);
    return lig_graph_collect_problem (graph, -1, error);
  }
  if (info->flags & LIG_OP_BLOCK)
    fine = expand_block (graph, op, place, prefix, error);
  else if (info->expand || (!place->gathered && lig_positions_parts (graph, op)))
    fine = expand_macro (graph, op, place, prefix, incomplete != 0, error);
  else
    add_basic (graph, op, place, prefix);
  if (!fine)
    return FALSE;
  for (guint i = first; i < graph->parts->len; i++)
    lig_part (graph, i)->incomplete |= incomplete;
  if (graph->parts->len > first && lig_op_get_fence (op))
    lig_part (graph, first)->plan.fence = TRUE;
  if (graph->parts->len <= MAX_PARTS)
    return TRUE;
  g_set_error (error, LIG_ERROR, LIG_ERROR_MEMORY,
               _ ("%s at %s: the sequence expands to more than %d ops"), info->name, path,
               MAX_PARTS);
  return lig_error_set_path (error, path);
}

static gboolean
expand_sequence (LigGraph *graph, GError **error)
{
  Shared shared = {0};
  Place place = {.shared = &shared,
                 .recompute = graph->request->options.recompute,
                 .unit = -1,
                 .recipe = graph->request->recipe.info ? &graph->request->recipe : NULL,
                 .scope = g_ref_string_new ("")};
  guint length = lig_sequence_get_length (graph->request->sequence);
  gboolean fine = TRUE;
  for (guint i = 0; i < length && fine; i++) {
    g_autofree char *path = g_strdup_printf ("%u", i);
    LigOp *op = lig_sequence_get (graph->request->sequence, (int) i, NULL);
    fine = expand_op (graph, op, &place, path, error);
  }
  g_ref_string_release (place.scope);
  g_clear_object (&shared.quantizing[0]);
  g_clear_object (&shared.quantizing[1]);
  return fine;
}

/* Records that a part has something with that path; false if an earlier one already has. */
static gboolean
claim (LigGraph *graph, GHashTable *owners, int index, char *path, const char *what, GError **error)
{
  const LigPart *part = lig_part (graph, index);
  gpointer other;
  if (!g_hash_table_lookup_extended (owners, path, NULL, &other)) {
    g_hash_table_insert (owners, path, GINT_TO_POINTER (index));
    return TRUE;
  }
  g_set_error (error, LIG_ERROR, LIG_ERROR_OP,
               _ ("%s at %s: its parts %s and %s both have %s %s; give the parts different names"),
               part->plan.title, part->plan.path,
               lig_part (graph, GPOINTER_TO_INT (other))->plan.info->name, part->plan.info->name,
               what, path);
  g_free (path);
  return lig_error_set_path (error, part->plan.path);
}

/* Checks that paths are unique. A parameter's path is its name in the state and in files, and seeds
 * its random numbers. Ops have different paths, so only parts of one macro can collide. */
static gboolean
check_unique (LigGraph *graph, GError **error)
{
  g_autoptr (GHashTable) owners = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GHashTable) draws = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  for (int i = 0; i < (int) graph->parts->len; i++) {
    const LigPart *part = lig_part (graph, i);
    if (part->plan.info->place &&
        !claim (graph, draws, i, g_strdup (part->plan.prefix), _ ("the path"), error) &&
        !lig_graph_collect_problem (graph, i, error))
      return FALSE;
    for (int j = 0; j < part->n_parameters; j++) {
      char *path =
        g_strdup_printf ("%s.%s", part->plan.prefix, part->plan.info->parameters[j].name);
      if (!claim (graph, owners, i, path, _ ("a parameter"), error) &&
          !lig_graph_collect_problem (graph, i, error))
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
  g_autofree char *macro = g_strdup_printf ("/%s", part->plan.path);
  const char *scope = part->plan.written == part->plan.op ? NULL : strstr (part->scope, macro);
  for (; scope && g_str_has_prefix (channel, "../"); scope = strchr (scope + 1, '/'))
    channel += 3;
  return channel;
}

static gboolean
add_producers (LigGraph *graph, GHashTable *producers, GError **error)
{
  for (int i = 0; i < (int) graph->parts->len; i++) {
    LigPart *part = lig_part (graph, i);
    for (int slot = 0; slot < part->n_outputs; slot++) {
      const char *channel = part->output_channels[slot];
      if (!channel)
        continue;
      g_autofree char *full = full_name (part, channel);
      Port *other = g_hash_table_lookup (producers, full);
      if (other) {
        channel = written_name (part, channel);
        g_set_error (error, LIG_ERROR, LIG_ERROR_CHANNEL,
                     _ ("branch '%s' is written twice (%s at %s and %s at %s)"), channel,
                     lig_part (graph, other->part)->plan.title,
                     lig_part (graph, other->part)->plan.path, part->plan.title, part->plan.path);
        lig_error_set_path (error, lig_part (graph, other->part)->plan.path);
        if (!lig_graph_collect_problem (graph, i, error))
          return FALSE;
        lig_graph_offer (graph, LIG_PROBLEM_FIX_RENAME, part->plan.path, channel, NULL);
        lig_graph_offer (graph, LIG_PROBLEM_FIX_DISCONNECT, part->plan.path, channel, NULL);
        continue;
      }
      Port port = {i, slot};
      g_hash_table_insert (producers, g_steal_pointer (&full), g_memdup2 (&port, sizeof port));
    }
  }
  return TRUE;
}

/* Returns whether the caller provides a channel that no op starts. */
static gboolean
is_caller (const char *channel)
{
  while (g_str_has_prefix (channel, "../"))
    channel += 3;
  return g_str_equal (channel, "caller");
}

static gboolean
connect (LigGraph *graph, int index, int slot, GHashTable *producers, GError **error)
{
  LigPart *part = lig_part (graph, index);
  const char *channel = lig_op_get_extra_input_channel (part->plan.op, slot);
  part->present[slot] = channel || !part->ports->extra_inputs->ports[slot].optional;
  if (!channel)
    return TRUE;
  g_autofree char *full = full_name (part, channel);
  const Port *producer = g_hash_table_lookup (producers, full);
  if (!producer && is_caller (channel))
    return TRUE;
  if (!producer || producer->part >= index) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_CHANNEL,
                 producer ? _ ("branch '%s', which %s at %s reads, is only written later")
                          : _ ("nothing writes branch '%s', which %s at %s reads"),
                 written_name (part, channel), part->plan.title, part->plan.path);
    lig_error_set_path (error, part->plan.path);
    return lig_graph_collect_problem (graph, index, error);
  }
  part->input_parts[slot] = producer->part;
  part->input_slots[slot] = producer->slot;
  lig_part (graph, producer->part)->consumed[producer->slot] = TRUE;
  lig_part (graph, producer->part)->last_reader[producer->slot] = index;
  lig_part (graph, producer->part)->read_by_macro |=
    !g_str_equal (part->plan.title, part->plan.info->name);
  return TRUE;
}

/* Returns the name of the op that makes a branch and changes nothing else. */
static const char *
name_branch (void)
{
  const LigOpInfo *info;
  for (guint i = 0; (info = lig_op_info_nth (i)); i++)
    if (info->flags & LIG_OP_TRANSPARENT && info->extra_outputs && !info->extra_inputs)
      return info->name;
  return NULL;
}

/* Checks that every line that ends at a load-branch has a branch. */
static gboolean
check_lines (LigGraph *graph, GError **error)
{
  for (int i = 1; i < (int) graph->parts->len; i++) {
    const LigPart *last = lig_part (graph, i - 1), *part = lig_part (graph, i);
    if (!lig_part_loads_branch (part) || lig_branch_is_used (last))
      continue;
    g_set_error (error, LIG_ERROR, LIG_ERROR_OP,
                 _ ("%s at %s: nothing reads its output, because %s at %s continues from "
                    "another value; remove it, or put %s after it"),
                 last->plan.title, last->plan.path, part->plan.title, part->plan.path,
                 name_branch ());
    lig_error_set_path (error, last->plan.path);
    if (!lig_graph_collect_problem (graph, i - 1, error))
      return FALSE;
    lig_graph_offer (graph, LIG_PROBLEM_FIX_REMOVE_OP, last->plan.path, last->plan.title, NULL);
    if (part->plan.written == part->plan.op)
      lig_graph_offer (graph, LIG_PROBLEM_FIX_INSERT_OP, part->plan.path, NULL, name_branch ());
  }
  return TRUE;
}

/* Removes the loss and the ops after it, so that the loss's input becomes the output. */
static gboolean
remove_loss (LigGraph *graph, GError **error)
{
  for (guint i = 0; i < graph->parts->len; i++) {
    const LigPart *part = lig_part (graph, i);
    if (!(part->plan.info->flags & LIG_OP_LOSS))
      continue;
    if (i > 0) {
      g_array_set_size (graph->parts, i);
      return TRUE;
    }
    g_set_error (error, LIG_ERROR, LIG_ERROR_OP,
                 _ ("%s at %s: nothing comes before the loss; add the ops that predict"),
                 part->plan.title, part->plan.path);
    return lig_error_set_path (error, part->plan.path);
  }
  return TRUE;
}

gboolean
lig_expand (LigGraph *graph, GError **error)
{
  lig_vocabulary_choose (graph);
  if (!expand_sequence (graph, error) || !check_unique (graph, error))
    return FALSE;
  if (graph->request->options.before_loss && !remove_loss (graph, error))
    return FALSE;
  if (graph->parts->len == 0) {
    if (graph->problems && lig_collection_count (graph->problems) > 0)
      return FALSE;
    g_set_error (error, LIG_ERROR, LIG_ERROR_OP, _ ("the sequence has no ops"));
    return FALSE;
  }
  g_autoptr (GHashTable) producers =
    g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  if (!add_producers (graph, producers, error))
    return FALSE;
  for (int i = 0; i < (int) graph->parts->len; i++)
    for (int slot = 0; slot < lig_part (graph, i)->n_inputs; slot++)
      if (!connect (graph, i, slot, producers, error))
        return FALSE;
  return check_lines (graph, error);
}
