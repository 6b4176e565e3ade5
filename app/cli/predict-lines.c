/* SPDX-License-Identifier: MIT */
/* Requests are answered one after the other. All validation rows are predicted when they are first
 * needed together; their losses follow from the outputs, and the total from the engine. */
#include "app/cli/predict-lines.h"

#include "app/cli/print.h"
#include <ligature/error.h>
#include <ligature/json-members.h>
#include <ligature/json.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* The longest request in bytes, the most rows in a list, and the most classes of a matrix. */
enum { LONGEST = 16 << 20, WORST = 100, LISTED = 1000, MAX_CLASSES = 256 };

typedef struct {
  const LigTransform *transform;
  LigPredictor *predictor;
  const LigCliValidation *validation;
  gint64 classes;
  gint64 outputs; /* numbers of a row's output */

  /* Of all validation rows, null until they were predicted. */
  LigTensor *output;
  double *losses; /* of each row; NaN without a target */
  gint64 *order;  /* the rows, that with the largest loss first */
} Server;

/* --- Documents ----------------------------------------------------------------------------- */

static JsonBuilder *
begin (const char *id)
{
  JsonBuilder *builder = json_builder_new ();
  json_builder_begin_object (builder);
  lig_json_add_text (builder, "id", id);
  return builder;
}

static void
print (JsonBuilder *builder)
{
  json_builder_end_object (builder);
  lig_cli_print_document ("predict-lines", json_builder_get_root (builder));
}

static void
reply_error (const char *id, const char *message)
{
  g_autoptr (JsonBuilder) builder = begin (id);
  lig_json_add_text (builder, "error", message);
  print (builder);
}

/* Adds the range of a column in the validation rows, in the units of the data. */
static void
add_range (JsonBuilder *to, const Server *self, guint column)
{
  double mean, std, min = INFINITY, max = -INFINITY;
  const LigTensor *input = self->validation->input;
  guint columns = lig_transform_get_n_features (self->transform);
  lig_transform_get_statistics (self->transform, column, &mean, &std);
  for (gint64 row = 0; row < self->validation->count; row++) {
    double value = (double) ((const float *) input->data)[row * columns + column] * std + mean;
    min = MIN (min, value);
    max = MAX (max, value);
  }
  lig_json_add_number (to, "min", min);
  lig_json_add_number (to, "max", max);
}

static void
add_features (JsonBuilder *to, const Server *self)
{
  const char *name;
  lig_json_begin_array (to, "features");
  for (guint i = 0; (name = lig_transform_get_feature (self->transform, i)); i++) {
    double mean, std;
    gboolean scaled = lig_transform_get_statistics (self->transform, i, &mean, &std);
    json_builder_begin_object (to);
    lig_json_add_text (to, "name", name);
    lig_json_add_number (to, "mean", scaled ? mean : NAN);
    lig_json_add_number (to, "std", scaled ? std : NAN);
    add_range (to, self, i);
    json_builder_end_object (to);
  }
  json_builder_end_array (to);
}

/* Classes without labels are named by their numbers. */
static void
add_names (JsonBuilder *to, const Server *self)
{
  const char *name;
  lig_json_begin_array (to, "targets");
  for (guint i = 0; (name = lig_transform_get_target (self->transform, i)); i++)
    json_builder_add_string_value (to, name);
  json_builder_end_array (to);
  lig_json_begin_array (to, "classes");
  for (guint i = 0; i < self->classes; i++) {
    g_autofree char *number = g_strdup_printf ("%u", i);
    name = lig_transform_get_class (self->transform, i);
    json_builder_add_string_value (to, name ? name : number);
  }
  json_builder_end_array (to);
}

static void
describe (const Server *self, const LigCliModel *model, LigDevice *device)
{
  gint64 rows, columns;
  const char *name = lig_sequence_get_name (model->sequence);
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  json_builder_begin_object (builder);
  lig_json_add_text (builder, "model", name ? name : "");
  lig_json_add_text (builder, "weights", model->weights);
  lig_json_add_text (builder, "device", lig_device_get_name (device));
  lig_json_add_text (builder, "task", self->classes > 0 ? "class" : "value");
  add_features (builder, self);
  add_names (builder, self);
  if (lig_transform_get_image (self->transform, &rows, &columns)) {
    lig_json_begin_array (builder, "image");
    json_builder_add_int_value (builder, rows);
    json_builder_add_int_value (builder, columns);
    json_builder_end_array (builder);
  } else {
    lig_json_add_text (builder, "image", NULL);
  }
  lig_json_add_integer (builder, "validation", self->validation->count);
  lig_json_add_text (builder, "remark", self->validation->remark);
  print (builder);
}

/* --- A prediction -------------------------------------------------------------------------- */

static gint64
find_largest (const float *numbers, gint64 count)
{
  gint64 top = 0;
  for (gint64 i = 1; i < count; i++)
    if (numbers[i] > numbers[top])
      top = i;
  return top;
}

/* Returns the logarithm of the sum of the exponentials of the logits. */
static double
sum_logits (const float *logits, gint64 count)
{
  double top = (double) logits[find_largest (logits, count)], sum = 0;
  for (gint64 i = 0; i < count; i++)
    sum += exp ((double) logits[i] - top);
  return top + log (sum);
}

static void
add_numbers (JsonBuilder *to, const char *name, const float *numbers, gint64 count)
{
  lig_json_begin_array (to, name);
  for (gint64 i = 0; i < count; i++)
    lig_json_add_number (to, NULL, (double) numbers[i]);
  json_builder_end_array (to);
}

static void
add_output (JsonBuilder *to, const Server *self, const float *output)
{
  if (self->classes == 0) {
    lig_json_add_text (to, "prediction", NULL);
    lig_json_add_text (to, "probabilities", NULL);
  } else {
    double total = sum_logits (output, self->classes);
    lig_json_add_integer (to, "prediction", find_largest (output, self->classes));
    lig_json_begin_array (to, "probabilities");
    for (gint64 i = 0; i < self->classes; i++)
      lig_json_add_number (to, NULL, exp ((double) output[i] - total));
    json_builder_end_array (to);
  }
  add_numbers (to, "values", output, self->outputs);
}

/* Adds the prediction of a row. Without targets, null, the loss is null. */
static gboolean
add_prediction (
  JsonBuilder *to, const Server *self, LigTensor *row, LigTensor *targets, GError **error)
{
  gint64 rows, columns, predicted = 0;
  LigPredictorFigures figures = {.loss = NAN};
  g_autoptr (LigTensor) output = lig_predictor_run (self->predictor, row, error);
  if (!output ||
      (targets && !lig_predictor_evaluate (self->predictor, row, targets, &figures, error)))
    return FALSE;
  if (self->classes > 0)
    predicted = find_largest (output->data, self->classes);
  g_autoptr (LigTensor) influence =
    lig_predictor_get_influence (self->predictor, row, predicted, error);
  if (!influence)
    return FALSE;
  add_output (to, self, output->data);
  lig_json_add_number (to, "loss", figures.loss);
  if (lig_transform_get_image (self->transform, &rows, &columns))
    lig_json_add_text (to, "influence", NULL);
  else
    add_numbers (to, "influence", influence->data, influence->size);
  return TRUE;
}

/* --- Typed rows ---------------------------------------------------------------------------- */

/* Reads a cell that may be a number. */
static char *
get_cell (JsonObject *row, const char *name)
{
  JsonNode *node = json_object_get_member (row, name);
  if (!node || !JSON_NODE_HOLDS_VALUE (node))
    return NULL;
  if (json_node_get_value_type (node) == G_TYPE_STRING)
    return json_node_dup_string (node);
  char number[G_ASCII_DTOSTR_BUF_SIZE];
  return g_strdup (g_ascii_formatd (number, sizeof number, "%.17g", json_node_get_double (node)));
}

static LigTensor *
read_row (const Server *self, JsonObject *row, GError **error)
{
  gint64 rows, columns;
  LigShape shape;
  guint count = lig_transform_get_n_features (self->transform);
  if (lig_transform_get_image (self->transform, &rows, &columns)) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                 "the model reads images; request validation rows, or predict a file");
    return NULL;
  }
  lig_shape_init (&shape, 2, (gint64) 1, (gint64) count);
  g_autoptr (LigTensor) tensor = lig_tensor_new (LIG_FP32, &shape, error);
  for (guint i = 0; tensor && i < count; i++) {
    g_autofree char *cell = get_cell (row, lig_transform_get_feature (self->transform, i));
    if (!lig_transform_read_feature (self->transform, i, cell, (float *) tensor->data + i, error))
      return NULL;
  }
  return g_steal_pointer (&tensor);
}

/* Reads the target of a row with one target; null without one, or with an error set. */
static LigTensor *
read_target (const Server *self, JsonObject *request, GError **error)
{
  LigShape shape;
  g_autofree char *text = get_cell (request, "target");
  if (!text || !*text)
    return NULL;
  if (!lig_transform_get_target (self->transform, 0) ||
      lig_transform_get_target (self->transform, 1)) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                 "target: the model does not have one target column; omit it");
    return NULL;
  }
  lig_shape_init (&shape, 2, (gint64) 1, (gint64) 1);
  g_autoptr (LigTensor) target = lig_tensor_new (LIG_FP32, &shape, error);
  return target && lig_transform_read_target (self->transform, 0, text, target->data, error)
           ? g_steal_pointer (&target)
           : NULL;
}

static gboolean
answer_row (const Server *self, const char *id, JsonObject *request, GError **error)
{
  g_autoptr (GError) local = NULL;
  JsonObject *row = json_object_get_object_member (request, "row");
  g_autoptr (JsonBuilder) builder = begin (id);
  g_autoptr (LigTensor) input = read_row (self, row, error);
  g_autoptr (LigTensor) target = input ? read_target (self, request, &local) : NULL;
  if (local)
    g_propagate_error (error, g_steal_pointer (&local));
  if (!input || (error && *error) || !add_prediction (builder, self, input, target, error))
    return FALSE;
  print (builder);
  return TRUE;
}

/* --- Validation rows ----------------------------------------------------------------------- */

/* Formats a number of a column with the decimals that fp32 keeps: the scaled number and its
 * rounding are of the size of the standard deviation. */
static char *
format_cell (double value, gboolean scaled, double std)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE], format[16];
  int decimals = (int) CLAMP (5 - floor (log10 (std)), 0, 12);
  if (!scaled)
    return g_strdup (g_ascii_formatd (text, sizeof text, "%.7g", value));
  g_snprintf (format, sizeof format, "%%.%df", decimals);
  g_ascii_formatd (text, sizeof text, format, value);
  if (strchr (text, '.')) {
    char *end = text + strlen (text);
    while (end[-1] == '0')
      *--end = '\0';
    if (end[-1] == '.')
      end[-1] = '\0';
  }
  return g_strdup (strcmp (text, "-0") == 0 ? "0" : text);
}

/* Adds the cells in the units of the data. */
static void
add_cells (JsonBuilder *to, const Server *self, const float *scaled)
{
  const char *name;
  lig_json_begin_object (to, "row");
  for (guint i = 0; (name = lig_transform_get_feature (self->transform, i)); i++) {
    double mean, std;
    gboolean scales = lig_transform_get_statistics (self->transform, i, &mean, &std);
    g_autofree char *text = format_cell ((double) scaled[i] * std + mean, scales, std);
    lig_json_add_text (to, name, text);
  }
  json_builder_end_object (to);
}

/* Adds the target: the index of a class, or the numbers. */
static void
add_target (JsonBuilder *to, const Server *self, const LigTensor *targets)
{
  const float *numbers = targets->data;
  if (self->classes == 0)
    add_numbers (to, "target", numbers, targets->size);
  else if (isnan (numbers[0]))
    lig_json_add_text (to, "target", NULL);
  else
    lig_json_add_integer (to, "target", (gint64) numbers[0]);
}

static gboolean
answer_validation (const Server *self, const char *id, gint64 row, GError **error)
{
  gint64 rows, columns;
  if (row < 0 || row >= self->validation->count) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_INDEX,
                 "validation %" PRId64 ": no such row; the last one is %" PRId64, row,
                 self->validation->count - 1);
    return FALSE;
  }
  g_autoptr (JsonBuilder) builder = begin (id);
  g_autoptr (LigTensor) input = lig_cli_validation_get (self->validation->input, row, error);
  g_autoptr (LigTensor) targets =
    input ? lig_cli_validation_get (self->validation->targets, row, error) : NULL;
  if (!targets || !add_prediction (builder, self, input, targets, error))
    return FALSE;
  if (lig_transform_get_image (self->transform, &rows, &columns))
    add_numbers (builder, "pixels", input->data, input->size);
  else
    add_cells (builder, self, input->data);
  add_target (builder, self, targets);
  print (builder);
  return TRUE;
}

/* --- Evaluations --------------------------------------------------------------------------- */

static const float *
get_targets (const Server *self, gint64 row)
{
  const LigTensor *targets = self->validation->targets;
  return (const float *) targets->data + row * (targets->size / self->validation->count);
}

static const float *
get_output (const Server *self, gint64 row)
{
  return (const float *) self->output->data + row * self->outputs;
}

/* Returns -log of the probability of the target, or the mean square of the errors. */
static double
compute_loss (const Server *self, gint64 row)
{
  const float *targets = get_targets (self, row), *output = get_output (self, row);
  double sum = 0;
  if (self->classes > 0)
    return isnan (targets[0])
             ? NAN
             : sum_logits (output, self->classes) - (double) output[(gint64) targets[0]];
  for (gint64 i = 0; i < self->outputs; i++)
    sum += pow ((double) output[i] - (double) targets[i], 2);
  return sum / (double) self->outputs;
}

static int
compare_losses (gconstpointer a, gconstpointer b, gpointer data)
{
  const double *losses = data;
  double one = losses[*(const gint64 *) a], other = losses[*(const gint64 *) b];
  if (isnan (one) || isnan (other))
    return isnan (one) - isnan (other);
  return (one < other) - (one > other);
}

static gboolean
predict_all (Server *self, GError **error)
{
  gint64 count = self->validation->count;
  if (self->output)
    return TRUE;
  if (count == 0) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE, "%s", self->validation->remark);
    return FALSE;
  }
  self->output = lig_predictor_run (self->predictor, self->validation->input, error);
  if (!self->output)
    return FALSE;
  self->losses = g_new (double, count);
  self->order = g_new (gint64, count);
  for (gint64 row = 0; row < count; row++) {
    self->losses[row] = compute_loss (self, row);
    self->order[row] = row;
  }
  g_qsort_with_data (self->order, (int) count, sizeof *self->order, compare_losses, self->losses);
  return TRUE;
}

static void
add_confusion (JsonBuilder *to, const Server *self)
{
  gint64 n = self->classes;
  if (n == 0 || n > MAX_CLASSES) {
    lig_json_add_text (to, "confusion", NULL);
    return;
  }
  g_autofree gint64 *counts = g_new0 (gint64, n * n);
  for (gint64 row = 0; row < self->validation->count; row++) {
    float target = get_targets (self, row)[0];
    if (!isnan (target))
      counts[(gint64) target * n + find_largest (get_output (self, row), n)]++;
  }
  lig_json_begin_array (to, "confusion");
  for (gint64 i = 0; i < n; i++) {
    json_builder_begin_array (to);
    for (gint64 j = 0; j < n; j++)
      json_builder_add_int_value (to, counts[i * n + j]);
    json_builder_end_array (to);
  }
  json_builder_end_array (to);
}

static void
add_worst (JsonBuilder *to, const Server *self)
{
  lig_json_begin_array (to, "worst");
  for (gint64 i = 0; i < MIN (self->validation->count, WORST); i++) {
    gint64 row = self->order[i];
    if (isnan (self->losses[row]))
      break;
    json_builder_begin_object (to);
    lig_json_add_integer (to, "row", row);
    lig_json_add_number (to, "loss", self->losses[row]);
    if (self->classes > 0) {
      lig_json_add_integer (to, "target", (gint64) get_targets (self, row)[0]);
      lig_json_add_integer (to, "prediction", find_largest (get_output (self, row), self->classes));
    } else {
      lig_json_add_number (to, "target", (double) get_targets (self, row)[0]);
      lig_json_add_number (to, "prediction", (double) get_output (self, row)[0]);
    }
    json_builder_end_object (to);
  }
  json_builder_end_array (to);
}

static gboolean
answer_evaluate (Server *self, const char *id, GError **error)
{
  LigPredictorFigures figures;
  if (!predict_all (self, error) ||
      !lig_predictor_evaluate (self->predictor, self->validation->input, self->validation->targets,
                               &figures, error))
    return FALSE;
  g_autoptr (JsonBuilder) builder = begin (id);
  lig_json_add_integer (builder, "rows", self->validation->count);
  lig_json_add_number (builder, "loss", figures.loss);
  lig_json_add_number (builder, "accuracy", figures.accuracy);
  add_confusion (builder, self);
  add_worst (builder, self);
  print (builder);
  return TRUE;
}

static gboolean
read_cell (const Server *self, JsonObject *request, gint64 cell[2], GError **error)
{
  JsonArray *array = lig_json_get_array (request, "cell");
  gboolean fine = array && json_array_get_length (array) == 2;
  for (guint i = 0; fine && i < 2; i++) {
    JsonNode *node = json_array_get_element (array, i);
    cell[i] = JSON_NODE_HOLDS_VALUE (node) ? json_node_get_int (node) : -1;
    fine = cell[i] >= 0 && cell[i] < self->classes;
  }
  if (!fine)
    g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                 "cell: expected [target, prediction], two classes from 0 to %" PRId64,
                 self->classes - 1);
  return fine;
}

static gboolean
answer_cell (Server *self, const char *id, JsonObject *request, GError **error)
{
  gint64 cell[2];
  if (!read_cell (self, request, cell, error) || !predict_all (self, error))
    return FALSE;
  g_autoptr (JsonBuilder) builder = begin (id);
  g_autoptr (GArray) rows = g_array_new (FALSE, FALSE, sizeof (gint64));
  for (gint64 i = 0; i < self->validation->count && rows->len < LISTED; i++) {
    gint64 row = self->order[i];
    if (get_targets (self, row)[0] == (float) cell[0] &&
        find_largest (get_output (self, row), self->classes) == cell[1])
      g_array_append_val (rows, row);
  }
  lig_json_begin_array (builder, "rows");
  for (guint i = 0; i < rows->len; i++)
    json_builder_add_int_value (builder, g_array_index (rows, gint64, i));
  json_builder_end_array (builder);
  lig_json_begin_array (builder, "losses");
  for (guint i = 0; i < rows->len; i++)
    lig_json_add_number (builder, NULL, self->losses[g_array_index (rows, gint64, i)]);
  json_builder_end_array (builder);
  print (builder);
  return TRUE;
}

/* --- Requests ------------------------------------------------------------------------------ */

static gboolean
answer (Server *self, const char *id, JsonObject *request, GError **error)
{
  JsonNode *row = json_object_get_member (request, "row");
  JsonNode *validation = json_object_get_member (request, "validation");
  if (row && JSON_NODE_HOLDS_OBJECT (row))
    return answer_row (self, id, request, error);
  if (validation && JSON_NODE_HOLDS_VALUE (validation))
    return answer_validation (self, id, json_node_get_int (validation), error);
  if (json_object_has_member (request, "evaluate"))
    return answer_evaluate (self, id, error);
  if (json_object_has_member (request, "cell"))
    return answer_cell (self, id, request, error);
  g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
               "the request has none of row, validation, evaluate and cell");
  return FALSE;
}

static void
serve (Server *self, const char *line)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (JsonNode) root = lig_json_from_text (line, &error);
  JsonObject *object = root && JSON_NODE_HOLDS_OBJECT (root) ? json_node_get_object (root) : NULL;
  const char *id = object ? lig_json_get_string (object, "id", NULL) : NULL;
  if (!id)
    reply_error (NULL, error ? error->message : "the request has no id, a text");
  else if (!answer (self, id, object, &error))
    reply_error (id, error->message);
}

gboolean
lig_predict_lines (const LigCliModel *model,
                   const LigTransform *transform,
                   LigDevice *device,
                   LigPredictor *predictor,
                   const LigCliValidation *validation,
                   GError **error)
{
  LigShape input, output;
  LigDtype dtype;
  lig_plan_get_input (lig_predictor_get_plan (predictor), &input, &dtype);
  lig_plan_get_output (lig_predictor_get_plan (predictor), &output, &dtype);
  Server self = {.transform = transform,
                 .predictor = predictor,
                 .validation = validation,
                 .classes = lig_predictor_get_classes (predictor),
                 .outputs = lig_shape_size (&output) / input.axes[0]};
  char *line = NULL;
  size_t size = 0;
  gssize length;
  lig_cli_request_lines ();
  describe (&self, model, device);
  while ((length = getline (&line, &size, stdin)) >= 0 && length <= LONGEST)
    if (*g_strstrip (line))
      serve (&self, line);
  free (line);
  g_clear_pointer (&self.output, lig_tensor_unref);
  g_free (self.losses);
  g_free (self.order);
  if (length > LONGEST)
    g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                 "--lines: a request is longer than %d MiB; end each with a line break",
                 LONGEST >> 20);
  return length <= LONGEST;
}
