/* SPDX-License-Identifier: MIT */
/* The rows of `lig predict` and the files that it writes. */
#include "app/cli/predict-rows.h"

#include "app/cli/output-file.h"
#include <ligature/csv.h>
#include <ligature/tensor-file.h>

#include <inttypes.h>
#include <math.h>
#include <string.h>

void
lig_predict_rows_clear (LigPredictRows *self)
{
  g_clear_pointer (&self->transform, lig_transform_free);
  g_clear_pointer (&self->rows, lig_rows_free);
}

void
lig_predict_results_clear (LigPredictResults *self)
{
  g_clear_pointer (&self->output, lig_tensor_unref);
  g_clear_pointer (&self->device, g_free);
}

/* --- Tensors ------------------------------------------------------------------------------- */

/* Returns the tensor as fp32. */
static LigTensor *
widen (const LigTensor *from, GError **error)
{
  LigTensor *to = lig_tensor_new (LIG_FP32, &from->shape, error);
  for (gint64 i = 0; to && i < from->size; i++)
    ((float *) to->data)[i] = lig_tensor_get (from, i);
  return to;
}

gboolean
lig_predict_read_tensors (LigPredictRows *self, GError **error)
{
  g_autoptr (LigTensorFile) file = lig_tensor_file_load (self->path, error);
  g_autoptr (LigTensor) input = file ? lig_tensor_file_get (file, "input", error) : NULL;
  if (!input)
    return FALSE;
  if (input->shape.n_axes == 0 || input->shape.axes[0] == 0) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE,
                 "%s: input has no rows; its first axis counts "
                 "them",
                 self->path);
    return FALSE;
  }
  self->rows = g_atomic_rc_box_new0 (LigRows);
  self->rows->count = input->shape.axes[0];
  self->rows->input = g_steal_pointer (&input);
  if (!lig_tensor_file_get_shape (file, "targets", NULL, NULL))
    return TRUE;
  g_autoptr (LigTensor) targets = lig_tensor_file_get (file, "targets", error);
  self->rows->targets = targets ? widen (targets, error) : NULL;
  return self->rows->targets != NULL;
}

/* Returns the most probable class of each row of logits, and their softmax. */
static gboolean
classify (const LigPredictResults *results, LigTensor **best, LigTensor **shares, GError **error)
{
  const LigTensor *output = results->output;
  gint64 columns = lig_shape_columns (&output->shape), rows = output->size / columns;
  LigShape shape;
  lig_shape_init (&shape, 1, rows);
  *best = lig_tensor_new (LIG_INT32, &shape, error);
  lig_shape_init (&shape, 2, rows, results->classes);
  *shares = *best ? lig_tensor_new (LIG_FP32, &shape, error) : NULL;
  if (!*shares)
    return FALSE;
  for (gint64 row = 0; row < rows; row++) {
    const float *logits = (const float *) output->data + row * columns;
    float *to = (float *) (*shares)->data + row * results->classes;
    gint64 top = 0;
    double sum = 0;
    for (gint64 i = 1; i < results->classes; i++)
      if (logits[i] > logits[top])
        top = i;
    for (gint64 i = 0; i < results->classes; i++)
      sum += exp ((double) logits[i] - (double) logits[top]);
    for (gint64 i = 0; i < results->classes; i++)
      to[i] = (float) (exp ((double) logits[i] - (double) logits[top]) / sum);
    ((gint32 *) (*best)->data)[row] = (gint32) top;
  }
  return TRUE;
}

static gboolean
write_tensors (const LigPredictResults *results,
               LigTensor *best,
               LigTensor *shares,
               const char *file,
               GError **error)
{
  g_autoptr (LigTensorFile) to = lig_tensor_file_new ();
  lig_tensor_file_add (to, "output", results->output);
  if (best)
    lig_tensor_file_add (to, "prediction", best);
  if (shares)
    lig_tensor_file_add (to, "probability", shares);
  return lig_tensor_file_save (to, file, error);
}

/* --- csv ----------------------------------------------------------------------------------- */

static void
append_cell (GString *to, const char *text)
{
  lig_csv_append_text (to, text);
  g_string_append_c (to, ',');
}

/* Appends the titles of the predictions and ends the line. */
static void
append_titles (GString *to, const LigPredictRows *rows, const LigPredictResults *results)
{
  gint64 columns = lig_shape_columns (&results->output->shape);
  const LigTransform *transform = rows->transform;
  if (results->classes > 0)
    append_cell (to, "prediction");
  for (gint64 i = 0; i < (results->classes > 0 ? results->classes : columns); i++) {
    const char *known = !transform             ? NULL
                        : results->classes > 0 ? lig_transform_get_class (transform, (guint) i)
                                               : lig_transform_get_target (transform, (guint) i);
    g_autofree char *number = g_strdup_printf ("%" PRId64, i);
    g_autofree char *title = g_strconcat (results->classes > 0 ? "probability." : "prediction.",
                                          known ? known : number, NULL);
    append_cell (to, title);
  }
  to->str[to->len - 1] = '\n';
}

/* Appends the predictions of a row and ends the line. */
static void
append_row (GString *to,
            const LigPredictRows *rows,
            const LigPredictResults *results,
            const LigTensor *best,
            const LigTensor *shares,
            gint64 row)
{
  gint64 columns = shares ? results->classes : lig_shape_columns (&results->output->shape);
  const float *numbers = (const float *) (shares ? shares : results->output)->data + row * columns;
  if (best) {
    gint32 class = ((const gint32 *) best->data)[row];
    const char *label =
      rows->transform ? lig_transform_get_class (rows->transform, (guint) class) : NULL;
    g_autofree char *number = g_strdup_printf ("%d", class);
    append_cell (to, label ? label : number);
  }
  for (gint64 i = 0; i < columns; i++) {
    /* Nine digits tell all fp32 numbers apart. */
    char number[G_ASCII_DTOSTR_BUF_SIZE];
    append_cell (to, g_ascii_formatd (number, sizeof number, "%.9g", (double) numbers[i]));
  }
  to->str[to->len - 1] = '\n';
}

static gboolean
is_tensors (const char *file)
{
  return g_str_has_suffix (file, ".safetensors");
}

gboolean
lig_predict_check_output (const char *file, GError **error)
{
  if (is_tensors (file))
    return lig_cli_check_output (file, "safetensors", error) && lig_cli_check_tensors (file, error);
  if (!lig_cli_is_standard (file) && !g_str_has_suffix (file, ".csv")) {
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                 "-o '%s': predictions are .csv or .safetensors; give a name with one of these",
                 file);
    return FALSE;
  }
  return lig_cli_check_output (file, NULL, error) &&
         (lig_cli_is_standard (file) || lig_cli_check_file (file, error));
}

gboolean
lig_predict_write (const LigPredictRows *rows,
                   const LigPredictResults *results,
                   const char *file,
                   GError **error)
{
  g_autoptr (LigTensor) best = NULL, shares = NULL;
  gint64 columns = lig_shape_columns (&results->output->shape);
  if (!*file)
    return TRUE;
  if (results->classes > 0 && !classify (results, &best, &shares, error))
    return FALSE;
  if (is_tensors (file))
    return write_tensors (results, best, shares, file, error);
  if (results->output->size / columns != rows->rows->count) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE,
                 "%s: the number of predicted rows is %" PRId64 ", that of the input %" PRId64
                 "; write a .safetensors file with -o",
                 file, results->output->size / columns, rows->rows->count);
    return FALSE;
  }
  g_autoptr (GString) text = g_string_new (NULL);
  GPtrArray *lines = rows->rows->lines;
  for (gint64 row = -1; row < rows->rows->count; row++) {
    if (lines)
      g_string_append_printf (text, "%s,", (const char *) lines->pdata[row + 1]);
    if (row < 0)
      append_titles (text, rows, results);
    else
      append_row (text, rows, results, best, shares, row);
  }
  g_autoptr (GBytes) bytes = g_string_free_to_bytes (g_steal_pointer (&text));
  return lig_cli_write_output (bytes, file, error);
}
