/* SPDX-License-Identifier: MIT */
/* Tests states: initial values, files, and training steps against a reference in double. */
#include "tests/plan/case.h"
#include <ligature/optimizer.h>

#include <glib/gstdio.h>

static LigPlanOptions
options_of (const LigOptimizer *optimizer)
{
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.optimizer = optimizer;
  return options;
}

static LigState *
fresh_state (LigSequence *sequence, LigPlanOptions options, guint64 seed)
{
  g_autoptr (GError) error = NULL;
  LigState *state = lig_state_new (sequence, cpu_device (), &options, seed, &error);
  g_assert_no_error (error);
  return state;
}

static gboolean
same (LigState *a, const char *path, LigState *b, const char *other)
{
  g_autoptr (LigTensor) x = read_value (a, LIG_STATE_PARAMETERS, path);
  g_autoptr (LigTensor) y = read_value (b, LIG_STATE_PARAMETERS, other);
  gsize bytes = MIN (lig_tensor_bytes (x), lig_tensor_bytes (y));
  return memcmp (x->data, y->data, bytes) == 0;
}

/* Initial values depend only on (seed, path), not on earlier ops, shape or type. */
static void
test_initial (void)
{
  g_autoptr (LigSequence) one = new_sequence ("gelu ! linear(8) ! linear(8)", "4x8");
  g_autoptr (LigSequence) two = new_sequence ("linear(8) ! linear(8) ! linear(9)", "4x8");
  LigPlanOptions options = options_of (NULL);
  g_autoptr (LigState) a = fresh_state (one, options, 1);
  g_autoptr (LigState) again = fresh_state (one, options, 1);
  g_autoptr (LigState) other = fresh_state (one, options, 2);
  g_autoptr (LigState) b = fresh_state (two, options, 1);
  g_assert_true (same (a, "1.weight", again, "1.weight"));
  g_assert_true (same (a, "1.weight", b, "1.weight"));
  g_assert_true (same (a, "2.weight", b, "2.weight"));
  g_assert_false (same (a, "1.weight", a, "2.weight"));
  g_assert_false (same (a, "1.weight", other, "1.weight"));
  options.parameters = LIG_BF16;
  g_autoptr (LigState) narrow = fresh_state (one, options, 1);
  g_autoptr (LigTensor) wide = read_value (a, LIG_STATE_PARAMETERS, "1.weight");
  g_autoptr (LigTensor) rounded = lig_tensor_convert (wide, LIG_BF16, NULL);
  g_autoptr (LigTensor) got = read_value (narrow, LIG_STATE_PARAMETERS, "1.weight");
  g_assert_cmpmem (rounded->data, lig_tensor_bytes (rounded), got->data, lig_tensor_bytes (got));
}

static void
test_repetitions (void)
{
  g_autoptr (LigSequence) sequence = new_sequence ("block(2) { linear(8) }", "4x8");
  g_autoptr (LigState) state = fresh_state (sequence, options_of (NULL), 1);
  g_assert_false (same (state, "0.0.0.weight", state, "0.1.0.weight"));
  g_assert_cmpint (lig_state_get_n_elements (state), ==, 2 * (64 + 8));
}

static void
test_store (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *folder = g_dir_make_tmp ("ligature-state-XXXXXX", &error);
  g_autofree char *path = g_build_filename (folder, "weights.safetensors", NULL);
  g_autoptr (LigSequence) sequence = new_sequence ("layer-norm ! linear(8)", "4x8");
  g_autoptr (LigState) from = new_state (sequence, &(LigPlanOptions) LIG_PLAN_OPTIONS_INIT);
  g_autoptr (LigTensorFile) file = lig_tensor_file_new ();
  g_assert_true (lig_state_store (from, file, FALSE, &error));
  g_assert_true (lig_tensor_file_save (file, path, &error));
  g_assert_no_error (error);
  for (guint i = 0; i < G_N_ELEMENTS (floating_types); i++) {
    LigPlanOptions options = options_of (NULL);
    options.parameters = (int) floating_types[i];
    g_autoptr (LigTensorFile) read = lig_tensor_file_load (path, &error);
    g_assert_no_error (error);
    g_autoptr (LigState) to = fresh_state (sequence, options, 99);
    g_assert_true (lig_state_load (to, read, &error));
    g_assert_no_error (error);
    for (const char *const *name = lig_state_get_paths (from); *name; name++) {
      g_autoptr (LigTensor) a = read_value (from, LIG_STATE_PARAMETERS, *name);
      g_autoptr (LigTensor) b = read_value (to, LIG_STATE_PARAMETERS, *name);
      /* Odd multiples of 1/32 are exact in all three types. */
      g_assert_cmpint (b->dtype, ==, floating_types[i]);
      g_assert_cmpfloat (distance_between (b, a), ==, 0);
    }
  }
  g_remove (path);
  g_rmdir (folder);
}

static void
add_tensor (LigTensorFile *file, const char *name, gint64 rows, gint64 columns)
{
  LigShape shape;
  if (rows > 0)
    lig_shape_init (&shape, 2, rows, columns);
  else
    lig_shape_init (&shape, 1, columns);
  g_autoptr (LigTensor) tensor = named_tensor (name, LIG_FP32, &shape, 1);
  lig_tensor_file_add (file, name, tensor);
}

/* If the last tensor contains a number out of range, no tensor is set. */
static void
test_half (void)
{
  static const char header[] =
    "{\"0.bias\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]},"
    "\"0.weight\":{\"dtype\":\"F64\",\"shape\":[2,2],\"data_offsets\":[8,40]}}";
  const double values[] = {1, 2, 3, 1e300};
  const float bias[] = {5, 6};
  guint64 length = sizeof header - 1;
  g_autoptr (GError) error = NULL;
  g_autofree char *folder = g_dir_make_tmp ("ligature-state-XXXXXX", &error);
  g_autofree char *path = g_build_filename (folder, "half.safetensors", NULL);
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  g_byte_array_append (bytes, (const guint8 *) &length, sizeof length);
  g_byte_array_append (bytes, (const guint8 *) header, (guint) length);
  g_byte_array_append (bytes, (const guint8 *) bias, sizeof bias);
  g_byte_array_append (bytes, (const guint8 *) values, sizeof values);
  g_assert_true (g_file_set_contents (path, (char *) bytes->data, bytes->len, &error));
  g_autoptr (LigTensorFile) file = lig_tensor_file_load (path, &error);
  g_assert_no_error (error);
  g_autoptr (LigSequence) sequence = new_sequence ("linear(2)", "4x2");
  g_autoptr (LigState) state = fresh_state (sequence, options_of (NULL), 1);
  g_autoptr (LigState) before = fresh_state (sequence, options_of (NULL), 1);
  g_assert_false (lig_state_load (state, file, &error));
  g_assert_nonnull (strstr (error->message, "which does not fit into fp32"));
  g_assert_true (same (state, "0.bias", before, "0.bias"));
  g_assert_true (same (state, "0.weight", before, "0.weight"));
  g_remove (path);
  g_rmdir (folder);
}

/* Tokens must be integers. */
static void
test_tokens (void)
{
  static const LigDtype rejected[] = {LIG_FP32, LIG_BF16, LIG_FP8_E4M3, LIG_FP8_E5M2};
  g_autoptr (LigSequence) sequence = new_sequence ("embedding(4)", "2x3:int32");
  g_autoptr (LigState) state = fresh_state (sequence, options_of (NULL), 1);
  LigPlanOptions options = options_of (NULL);
  g_autoptr (LigProgram) program = new_program (state, sequence, &options);
  LigShape shape;
  lig_shape_init (&shape, 2, (gint64) 2, (gint64) 3);
  for (guint i = 0; i < G_N_ELEMENTS (rejected); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (LigTensor) tensor = lig_tensor_new (rejected[i], &shape, NULL);
    memset (tensor->data, 0, lig_tensor_bytes (tensor));
    g_assert_false (lig_program_set_input (program, tensor, &error));
    g_assert_error (error, LIG_ERROR, LIG_ERROR_DTYPE);
  }
  g_autoptr (LigTensor) fine = lig_tensor_new (LIG_INT32, &shape, NULL);
  memset (fine->data, 0, lig_tensor_bytes (fine));
  g_assert_true (lig_program_set_input (program, fine, NULL));
}

/* Each tensor that does not fit is named, and nothing changes. */
static void
test_misfits (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigSequence) sequence = new_sequence ("linear(8) ! linear(4)", "4x8");
  g_autoptr (LigState) state = fresh_state (sequence, options_of (NULL), 1);
  g_autoptr (LigState) untouched = fresh_state (sequence, options_of (NULL), 1);
  g_autoptr (LigTensorFile) file = lig_tensor_file_new ();
  add_tensor (file, "0.weight", 8, 8);
  add_tensor (file, "0.bias", 0, 7);
  add_tensor (file, "1.weight", 4, 8);
  add_tensor (file, "2.weight", 4, 8);
  add_tensor (file, "optimizer.moment.0.weight", 8, 8);
  g_assert_false (lig_state_load (state, file, &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_SHAPE);
  g_assert_cmpstr (error->message, ==,
                   "the weights do not fit the sequence: 0.bias is 7, expected 8; 1.bias is "
                   "missing; 2.weight is surplus");
  for (const char *const *path = lig_state_get_paths (state); *path; path++)
    g_assert_true (same (state, *path, untouched, *path));
  g_clear_error (&error);
  g_assert_null (lig_state_get (state, LIG_STATE_PARAMETERS, "7.weight", &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_INDEX);
  g_assert_cmpstr (error->message, ==, "parameter '7.weight' is unknown");
  g_clear_error (&error);
  g_assert_null (
    lig_state_get (state, (LigStateArray) lig_state_find_array ("variance"), "0.weight", &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_INDEX);
}

static LigTensor *
output_after (LigPolicy policy, guint64 seed, int passes, const char *expression)
{
  LigPlanOptions options = options_of (NULL);
  options.policy = policy;
  g_autoptr (LigSequence) sequence = new_sequence (expression, "16x8");
  g_autoptr (LigState) state = fresh_state (sequence, options, seed);
  g_autoptr (LigProgram) program = new_program (state, sequence, &options);
  feed_inputs (program);
  for (int i = 0; i < passes; i++)
    run_program (program, LIG_RUN_FORWARD);
  g_assert_cmpuint (lig_state_get_micro_step (state), ==, (guint) passes);
  return lig_program_read_output (program, NULL);
}

/* Masks depend on seed, path, micro-step and element, not on the groups. */
static void
test_dropout (void)
{
  const char *text = "bias ! relu ! bias ! dropout(0.5)";
  g_autoptr (LigTensor) none = output_after (LIG_POLICY_NONE, 1, 1, text);
  g_autoptr (LigTensor) all = output_after (LIG_POLICY_ALL, 1, 1, text);
  g_autoptr (LigTensor) later = output_after (LIG_POLICY_ALL, 1, 2, text);
  g_autoptr (LigTensor) seeded = output_after (LIG_POLICY_ALL, 2, 1, text);
  g_autoptr (LigTensor) moved =
    output_after (LIG_POLICY_ALL, 1, 1, "bias ! relu ! identity ! bias ! dropout(0.5)");
  g_assert_cmpmem (none->data, lig_tensor_bytes (none), all->data, lig_tensor_bytes (all));
  g_assert_cmpfloat (distance_between (later, none), >, 0.1);
  g_assert_cmpfloat (distance_between (seeded, none), >, 0.1);
  g_assert_cmpfloat (distance_between (moved, none), >, 0.1);
}

/* Evaluation in between does not advance the random numbers. */
static void
test_micro_steps (void)
{
  LigPlanOptions training = options_of (NULL), evaluation = options_of (NULL);
  evaluation.training = FALSE;
  g_autoptr (LigSequence) sequence = new_sequence ("bias ! dropout(0.5)", "16x8");
  g_autoptr (LigState) state = fresh_state (sequence, training, 1);
  g_autoptr (LigProgram) train = new_program (state, sequence, &training);
  g_autoptr (LigProgram) evaluate = new_program (state, sequence, &evaluation);
  feed_inputs (train);
  feed_inputs (evaluate);
  for (int i = 0; i < 3; i++) {
    run_program (train, LIG_RUN_FORWARD);
    run_program (evaluate, LIG_RUN_FORWARD);
  }
  g_assert_cmpuint (lig_state_get_micro_step (state), ==, 3);
  g_autoptr (LigTensor) mixed = lig_program_read_output (train, NULL);
  g_autoptr (LigTensor) alone = output_after (LIG_POLICY_ALL, 1, 3, "bias ! dropout(0.5)");
  g_assert_cmpmem (mixed->data, lig_tensor_bytes (mixed), alone->data, lig_tensor_bytes (alone));
}

enum { ROWS = 8, IN = 5, OUT = 3 };

static LigTensor *
matrix (const char *name, gint64 first, gint64 rows, gint64 columns, double bound)
{
  LigShape whole, shape;
  lig_shape_init (&whole, 2, (gint64) ROWS, columns);
  lig_shape_init (&shape, 2, rows, columns);
  g_autoptr (LigTensor) all = named_tensor (name, LIG_FP32, &whole, bound);
  LigTensor *part = lig_tensor_new (LIG_FP32, &shape, NULL);
  memcpy (part->data, (float *) all->data + first * columns, lig_tensor_bytes (part));
  return part;
}

static void
feed_rows (LigProgram *program, gint64 first, gint64 rows)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigTensor) x = matrix ("x", first, rows, IN, 1);
  g_autoptr (LigTensor) targets = matrix ("targets", first, rows, OUT, 1);
  lig_program_set_input (program, x, &error);
  g_assert_no_error (error);
  lig_program_set_extra_input (program, 0, targets, &error);
  g_assert_no_error (error);
}

/* The weights, moments and loss of `linear(3) ! mean-squared-error` in double. */
typedef struct {
  double weight[OUT * IN], bias[OUT];
  double gradient[OUT * IN + OUT], mean[OUT * IN + OUT], variance[OUT * IN + OUT];
  double loss, norm;
} Reference;

static void
reference_gradient (Reference *r)
{
  g_autoptr (LigTensor) x = matrix ("x", 0, ROWS, IN, 1);
  g_autoptr (LigTensor) targets = matrix ("targets", 0, ROWS, OUT, 1);
  memset (r->gradient, 0, sizeof r->gradient);
  r->loss = r->norm = 0;
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < OUT; j++) {
      double y = r->bias[j] - (double) lig_tensor_get (targets, i * OUT + j);
      for (int k = 0; k < IN; k++)
        y += r->weight[j * IN + k] * (double) lig_tensor_get (x, i * IN + k);
      r->loss += y * y / (ROWS * OUT);
      for (int k = 0; k < IN; k++)
        r->gradient[j * IN + k] += 2 * y * (double) lig_tensor_get (x, i * IN + k) / (ROWS * OUT);
      r->gradient[OUT * IN + j] += 2 * y / (ROWS * OUT);
    }
  for (guint i = 0; i < G_N_ELEMENTS (r->gradient); i++)
    r->norm += r->gradient[i] * r->gradient[i];
  r->norm = sqrt (r->norm);
}

static void
reference_step (Reference *r, const LigOptimizer *optimizer, double rate, double clip, int step)
{
  reference_gradient (r);
  double factor = clip > 0 && r->norm > clip ? clip / r->norm : 1;
  for (int i = 0; i < OUT * IN + OUT; i++) {
    double *p = i < OUT * IN ? &r->weight[i] : &r->bias[i - OUT * IN];
    gboolean decays = i < OUT * IN;
    double g = factor * r->gradient[i];
    if (g_str_equal (optimizer->name, "sgd")) {
      g += decays ? (double) optimizer->sgd.weight_decay * *p : 0;
      r->mean[i] = (double) optimizer->sgd.momentum * r->mean[i] + g;
      *p -= rate * r->mean[i];
      continue;
    }
    double b1 = (double) optimizer->adamw.beta1, b2 = (double) optimizer->adamw.beta2;
    r->mean[i] = b1 * r->mean[i] + (1 - b1) * g;
    r->variance[i] = b2 * r->variance[i] + (1 - b2) * g * g;
    double mean = r->mean[i] / (1 - pow (b1, step)),
           variance = r->variance[i] / (1 - pow (b2, step));
    if (decays)
      *p -= rate * (double) optimizer->adamw.weight_decay * *p;
    *p -= rate * mean / (sqrt (variance) + (double) optimizer->adamw.eps);
  }
}

static void
check_near (
  LigState *state, LigStateArray array, const char *path, const double *want, double limit)
{
  g_autoptr (LigTensor) got = read_value (state, array, path);
  for (gint64 i = 0; i < got->size; i++)
    g_assert_cmpfloat_with_epsilon ((double) lig_tensor_get (got, i), want[i], limit);
}

static void
check_training (const LigOptimizer *optimizer, double clip, LigDtype parameters, double limit)
{
  LigPlanOptions options = options_of (optimizer);
  options.compute = LIG_FP32;
  options.parameters = (int) parameters;
  g_autoptr (LigSequence) sequence = new_sequence ("linear(3) ! mean-squared-error", "8x5");
  g_autoptr (LigState) state = new_state (sequence, &options);
  g_autoptr (LigProgram) program = new_program (state, sequence, &options);
  Reference reference = {0};
  g_autoptr (LigTensor) weight = read_value (state, LIG_STATE_PARAMETERS, "0.weight");
  g_autoptr (LigTensor) bias = read_value (state, LIG_STATE_PARAMETERS, "0.bias");
  for (int i = 0; i < OUT * IN; i++)
    reference.weight[i] = (double) lig_tensor_get (weight, i);
  for (int i = 0; i < OUT; i++)
    reference.bias[i] = (double) lig_tensor_get (bias, i);
  feed_rows (program, 0, ROWS);
  for (int step = 1; step <= 5; step++) {
    double rate = 0.05 / step;
    lig_program_set_rate (program, rate, clip);
    run_program (program, LIG_RUN_FORWARD | LIG_RUN_BACKWARD | LIG_RUN_UPDATE);
    reference_step (&reference, optimizer, rate, clip, step);
    g_assert_cmpfloat_with_epsilon ((double) read_loss (program), reference.loss, limit);
    float norm;
    g_assert_true (lig_program_read_gradient_norm (program, &norm, NULL));
    g_assert_cmpfloat_with_epsilon ((double) norm, reference.norm, limit);
    check_near (state, LIG_STATE_PARAMETERS, "0.weight", reference.weight, limit);
    check_near (state, LIG_STATE_PARAMETERS, "0.bias", reference.bias, limit);
  }
  g_assert_cmpuint (lig_state_get_step (state), ==, 5);
}

static void
test_training (void)
{
  LigOptimizer sgd = {.name = "sgd"}, adamw = LIG_OPTIMIZER_INIT;
  check_training (&sgd, 0, LIG_FP32, 1e-6);
  sgd.sgd.momentum = 0.9f;
  check_training (&sgd, 0, LIG_FP32, 1e-6);
  sgd.sgd.weight_decay = 0.1f;
  check_training (&sgd, 0.1, LIG_FP32, 1e-6);
  check_training (&adamw, 0, LIG_FP32, 2e-6);
  adamw.adamw.weight_decay = 0.2f;
  check_training (&adamw, 0.1, LIG_FP32, 2e-6);
  check_training (&adamw, 0, LIG_BF16, 2e-2);
  check_training (&sgd, 0.1, LIG_FP16, 2e-3);
}

/* Steps too small for bf16 accumulate in the fp32 master weights. */
static void
test_master (void)
{
  LigOptimizer sgd = {.name = "sgd"};
  LigPlanOptions options = options_of (&sgd);
  options.compute = LIG_FP32;
  options.parameters = LIG_BF16;
  g_autoptr (LigSequence) sequence = new_sequence ("linear(3) ! mean-squared-error", "8x5");
  g_autoptr (LigState) state = new_state (sequence, &options);
  g_autoptr (LigProgram) program = new_program (state, sequence, &options);
  feed_rows (program, 0, ROWS);
  g_autoptr (LigTensor) before = read_value (state, LIG_STATE_PARAMETERS, "0.weight");
  for (int i = 0; i < 200; i++) {
    lig_program_set_rate (program, 1e-4, 0);
    run_program (program, LIG_RUN_FORWARD | LIG_RUN_BACKWARD | LIG_RUN_UPDATE);
    if (i > 0)
      continue;
    g_autoptr (LigTensor) first = read_value (state, LIG_STATE_PARAMETERS, "0.weight");
    g_assert_cmpfloat (distance_between (first, before), <, 2e-4);
  }
  g_autoptr (LigTensor) after = read_value (state, LIG_STATE_PARAMETERS, "0.weight");
  g_autoptr (LigTensor) master = read_value (state, LIG_STATE_MASTER, "0.weight");
  g_assert_cmpint (master->dtype, ==, LIG_FP32);
  g_assert_cmpfloat (distance_between (after, before), >, 2e-3);
  g_assert_cmpfloat (distance_between (after, master), <, 4e-3);
  /* Setting a parameter sets both, exactly. */
  g_autoptr (LigTensor) value = named_tensor ("third", LIG_FP32, &master->shape, 1);
  for (gint64 i = 0; i < value->size; i++)
    lig_tensor_set (value, i, lig_tensor_get (value, i) / 3);
  g_assert_true (lig_state_set (state, LIG_STATE_PARAMETERS, "0.weight", value, NULL));
  g_autoptr (LigTensor) set = read_value (state, LIG_STATE_MASTER, "0.weight");
  g_assert_cmpmem (set->data, lig_tensor_bytes (set), value->data, lig_tensor_bytes (value));
}

/* Four micro-batches of two rows give four times the gradient of all eight. */
static void
check_accumulation (LigDtype parameters, double limit)
{
  LigPlanOptions options = options_of (NULL);
  options.compute = LIG_FP32;
  options.parameters = (int) parameters;
  options.accumulate = TRUE;
  g_autoptr (LigSequence) sequence =
    new_sequence ("linear(6) ! layer-norm ! gelu ! linear(3) ! mean-squared-error", "8x5");
  g_autoptr (LigState) state = new_state (sequence, &options);
  g_autoptr (LigState) parted = new_state (sequence, &options);
  g_autoptr (LigProgram) whole = new_program (state, sequence, &options);
  options.batch = 2;
  g_autoptr (LigProgram) part = new_program (parted, sequence, &options);
  feed_rows (whole, 0, ROWS);
  run_program (whole, LIG_RUN_FORWARD | LIG_RUN_BACKWARD);
  for (int i = 0; i < 4; i++) {
    feed_rows (part, 2 * i, 2);
    run_program (part, LIG_RUN_FORWARD | LIG_RUN_BACKWARD | (i > 0 ? LIG_RUN_ACCUMULATE : 0));
  }
  for (const char *const *path = lig_state_get_paths (state); *path; path++) {
    g_autoptr (LigTensor) want = read_value (state, LIG_STATE_GRADIENTS, *path);
    g_autoptr (LigTensor) got = read_value (parted, LIG_STATE_GRADIENTS, *path);
    for (gint64 i = 0; i < want->size; i++)
      lig_tensor_set (want, i, 4 * lig_tensor_get (want, i));
    g_test_message ("%s: %g", *path, distance_between (got, want));
    g_assert_cmpfloat (distance_between (got, want), <, limit);
  }
}

static void
test_accumulation (void)
{
  check_accumulation (LIG_FP32, 1e-5);
  check_accumulation (LIG_BF16, 1.6e-2);
}

static LigTensor *
train (LigPolicy policy, float *losses, int steps)
{
  LigOptimizer optimizer = LIG_OPTIMIZER_INIT;
  LigPlanOptions options = options_of (&optimizer);
  options.policy = policy;
  g_autoptr (LigSequence) sequence = new_sequence (
    "embedding(32) ! block(2) { make-extra-output(r) ! layer-norm ! linear(64) ! gelu ! dropout ! "
    "linear(32) ! add-extra-input(r) } ! linear(256) ! cross-entropy",
    "4x64:int32");
  g_autoptr (LigState) state = fresh_state (sequence, options, 3);
  g_autoptr (LigProgram) program = new_program (state, sequence, &options);
  feed_inputs (program);
  for (int i = 0; i < steps; i++) {
    lig_program_set_rate (program, 1e-2, 1);
    run_program (program, LIG_RUN_FORWARD | LIG_RUN_BACKWARD | LIG_RUN_UPDATE);
    losses[i] = read_loss (program);
    g_assert_true (isfinite (losses[i]));
  }
  g_assert_cmpfloat (losses[steps - 1], <, losses[0]);
  return read_value (state, LIG_STATE_PARAMETERS, "1.1.5.weight");
}

static void
test_repeat (void)
{
  enum { STEPS = 12 };
  float first[STEPS], second[STEPS];
  g_autoptr (LigTensor) a = train (LIG_POLICY_ALL, first, STEPS);
  g_autoptr (LigTensor) b = train (LIG_POLICY_ALL, second, STEPS);
  g_assert_cmpmem (first, sizeof first, second, sizeof second);
  g_assert_cmpmem (a->data, lig_tensor_bytes (a), b->data, lig_tensor_bytes (b));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/state/initial", test_initial);
  g_test_add_func ("/state/repetitions", test_repetitions);
  g_test_add_func ("/state/store", test_store);
  g_test_add_func ("/state/misfits", test_misfits);
  g_test_add_func ("/state/half", test_half);
  g_test_add_func ("/state/tokens", test_tokens);
  g_test_add_func ("/state/dropout", test_dropout);
  g_test_add_func ("/state/micro-steps", test_micro_steps);
  g_test_add_func ("/state/training", test_training);
  g_test_add_func ("/state/master", test_master);
  g_test_add_func ("/state/accumulation", test_accumulation);
  g_test_add_func ("/state/repeat", test_repeat);
  return g_test_run ();
}
