/* SPDX-License-Identifier: MIT */
/* Compares a checkpoint with weights that were exported from it: they are read like any weights,
 * with their names, layouts and config.json, and each parameter is compared. */
#include "app/cli/verify.h"

#include "app/cli/document.h"
#include "app/cli/table.h"
#include <ligature/plan-options.h>
#include <ligature/state.h>
#include <ligature/weights.h>

#include <math.h>
#include <stdio.h>

typedef struct {
  const char *path; /* of the state */
  LigShape shape;
  double error, limit; /* relative */
  gint64 dropped;      /* rows at the end that the file lacks */
  gboolean outside;
} Compared;

/* Returns a state in fp32 with the weights. */
static LigState *
load (LigSequence *sequence, const char *path, GError **error)
{
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.compute = options.parameters = (int) LIG_FP32;
  options.recipe = "none";
  g_autofree char *note = NULL;
  g_autoptr (LigDevice) cpu = lig_device_open ("cpu", error);
  g_autoptr (LigState) state = cpu ? lig_state_new (sequence, cpu, &options, 0, error) : NULL;
  if (!state || !lig_state_load_weights (state, path, &note, error))
    return NULL;
  if (note)
    lig_cli_say ("%s: %s", path, note);
  return g_steal_pointer (&state);
}

/* Returns the rounding error of the coarsest type of the tensors: 0 if that is fp32, the type of
 * checkpoints. */
static double
find_limit (LigTensorFile *file)
{
  double limit = 0;
  for (const char *const *name = lig_tensor_file_get_names (file); *name; name++) {
    LigShape shape;
    LigDtype dtype;
    if (lig_tensor_file_get_shape (file, *name, &shape, &dtype))
      limit = MAX (limit, dtype == LIG_BF16 ? 0x1p-8 : dtype == LIG_FP16 ? 0x1p-11 : 0);
  }
  return limit;
}

/* Returns how many rows at the end are zero in the exported tensor only: padding of the vocabulary,
 * which was not exported. */
static gint64
count_dropped (const LigTensor *own, const LigTensor *other)
{
  gint64 columns = lig_shape_columns (&own->shape), end = other->size;
  if (own->shape.n_axes < 2 || columns < 1)
    return 0;
  while (end > 0 && lig_tensor_get (other, end - 1) == 0)
    end--;
  gint64 rows = own->size / columns, kept = (end + columns - 1) / columns;
  for (gint64 i = kept * columns; i < own->size; i++)
    if (lig_tensor_get (own, i) != 0)
      return rows - kept;
  return 0;
}

static gboolean
compare (LigState *states[2], const char *path, double limit, Compared *found, GError **error)
{
  g_autoptr (LigTensor) own = lig_state_get (states[0], LIG_STATE_PARAMETERS, path, error);
  g_autoptr (LigTensor) other =
    own ? lig_state_get (states[1], LIG_STATE_PARAMETERS, path, error) : NULL;
  if (!other)
    return FALSE;
  double difference = 0, whole = 0;
  *found = (Compared){.path = path, .shape = own->shape, .limit = limit};
  found->dropped = count_dropped (own, other);
  gint64 end = own->size - found->dropped * lig_shape_columns (&own->shape);
  for (gint64 i = 0; i < end; i++) {
    double x = (double) lig_tensor_get (own, i), y = (double) lig_tensor_get (other, i);
    difference += (x - y) * (x - y);
    whole += x * x;
  }
  found->error = difference == 0 ? 0 : whole > 0 ? sqrt (difference / whole) : INFINITY;
  found->outside = !(found->error <= limit);
  return TRUE;
}

static char *
explain (const GArray *all, const Compared *outside, const char *folder)
{
  if (outside)
    return g_strdup_printf (
      "%s of %s has a relative error of %.2g, the limit is %.2g; export the checkpoint again",
      outside->path, folder, outside->error, outside->limit);
  return g_strdup_printf ("the parameters of %s are those of the checkpoint: %u compared", folder,
                          all->len);
}

static void
print_json (const GArray *all, const char *checkpoint, const char *folder, const Compared *outside)
{
  g_autofree char *text = explain (all, outside, folder);
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  json_builder_begin_object (builder);
  lig_json_add_text (builder, "checkpoint", checkpoint);
  lig_json_add_text (builder, "against", folder);
  lig_json_add_truth (builder, "inside", !outside);
  lig_json_add_text (builder, "text", text);
  lig_json_begin_array (builder, "parameters");
  for (guint i = 0; i < all->len; i++) {
    const Compared *at = &g_array_index (all, Compared, i);
    json_builder_begin_object (builder);
    lig_json_add_text (builder, "path", at->path);
    lig_cli_add_shape (builder, "shape", &at->shape);
    lig_json_add_number (builder, "error", at->error);
    lig_json_add_number (builder, "limit", at->limit);
    lig_json_add_integer (builder, "dropped_rows", at->dropped);
    lig_json_add_truth (builder, "outside", at->outside);
    json_builder_end_object (builder);
  }
  json_builder_end_array (builder);
  json_builder_end_object (builder);
  lig_cli_print_document ("verify-weights", json_builder_get_root (builder));
}

static void
print_table (const GArray *all, const char *folder, const Compared *outside)
{
  static const char *const header[] = {"<parameter", "shape", ">error", ">limit", "", NULL};
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func ((GDestroyNotify) g_strfreev);
  g_autofree char *text = explain (all, outside, folder);
  for (guint i = 0; i < all->len; i++) {
    const Compared *at = &g_array_index (all, Compared, i);
    char **cells = g_new0 (char *, 6);
    cells[0] = g_strdup (at->path);
    cells[1] = lig_shape_to_string (&at->shape);
    cells[2] = g_strdup_printf ("%.1e", at->error);
    cells[3] = g_strdup_printf ("%.1e", at->limit);
    cells[4] = at->dropped > 0
                 ? g_strdup_printf ("the last %" G_GINT64_FORMAT " row%s not exported", at->dropped,
                                    at->dropped == 1 ? " is" : "s are")
                 : g_strdup (at->outside ? "OUTSIDE" : "");
    g_ptr_array_add (rows, cells);
  }
  lig_cli_print_fitted (header, rows, lig_cli_text_width ());
  printf ("\n");
  lig_cli_print_wrapped (text, lig_cli_text_width ());
}

static gboolean
compare_all (LigState *states[2], double limit, GArray *all, GError **error)
{
  for (const char *const *path = lig_state_get_paths (states[0]); *path; path++) {
    Compared found;
    if (!compare (states, *path, limit, &found, error))
      return FALSE;
    g_array_append_val (all, found);
  }
  return TRUE;
}

int
lig_cli_verify_weights (const char *checkpoint, const char *folder, GError **error)
{
  g_autoptr (LigTensorFile) own = lig_tensor_file_load (checkpoint, error);
  g_autoptr (LigTensorFile) other = own ? lig_weights_open (folder, error) : NULL;
  const char *json = other ? lig_tensor_file_get_metadata (own, "ligature.sequence") : NULL;
  g_autoptr (GArray) all = g_array_new (FALSE, FALSE, sizeof (Compared));
  const Compared *outside = NULL;
  if (other && !json)
    g_set_error (error, LIG_ERROR, LIG_ERROR_FORMAT,
                 "%s has no sequence; give a run or a checkpoint", checkpoint);
  g_autoptr (LigSequence) sequence = json ? lig_sequence_from_json (json, -1, NULL, error) : NULL;
  g_autoptr (LigState) first = sequence ? load (sequence, checkpoint, error) : NULL;
  g_autoptr (LigState) second = first ? load (sequence, folder, error) : NULL;
  LigState *states[] = {first, second};
  if (!second || !compare_all (states, find_limit (other), all, error))
    return LIG_EXIT_FAILED;
  for (guint i = 0; i < all->len && !outside; i++)
    if (g_array_index (all, Compared, i).outside)
      outside = &g_array_index (all, Compared, i);
  if (lig_cli_json ())
    print_json (all, checkpoint, folder, outside);
  else
    print_table (all, folder, outside);
  return outside ? LIG_EXIT_FAILED : LIG_EXIT_OK;
}
