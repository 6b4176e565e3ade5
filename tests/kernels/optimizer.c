/* SPDX-License-Identifier: MIT */
/* Embedding and optimizers on the CPU against references in double precision. */
#include "tests/kernels/case.h"
#include <ligature/loss-scaling.h>
#include <ligature/params-optimizer.h>

static const int64_t sizes[] = {1, 3, 33, 1000, 40000};

static LigOperand
tokens (int64_t count, int64_t vocabulary)
{
  LigOperand x = blank (LIG_INT32, 1, count);
  for (int64_t i = 0; i < count; i++)
    ((int32_t *) x.data)[i] = (int32_t) ((i * i + 3 * i) % vocabulary);
  return x;
}

static void
embedding_case (
  int64_t count, int64_t vocabulary, int64_t columns, LigDtype dtype, LigDtype weights)
{
  LigOperand x = tokens (count, vocabulary), weight = random_tensor (weights, vocabulary, columns);
  LigOperand y = blank (dtype, count, columns), dy = random_tensor (dtype, count, columns);
  LigOperand dweight = blank (weights, vocabulary, columns);
  double *from = wide (weight), *want = doubles (count * columns), *dys = wide (dy);
  double *sums = doubles (vocabulary * columns);
  for (int64_t i = 0; i < count * columns; i++) {
    int64_t at = ((int32_t *) x.data)[i / columns] * columns + i % columns;
    want[i] = from[at];
    sums[at] += dys[i];
  }
  run ("embedding", (LigOperand[]){x, weight, y}, NULL, false);
  check (y, want, "embedding");
  run ("embedding_backward", (LigOperand[]){dy, x, dweight}, NULL, false);
  check (dweight, sums, "dweight");
  LigOperand first = copy (dweight);
  double *old = wide (first);
  for (int64_t i = 0; i < first.size; i++)
    sums[i] += old[i];
  int threads = omp_get_max_threads ();
  omp_set_num_threads (1);
  run ("embedding_backward", (LigOperand[]){dy, x, dweight}, NULL, true);
  check (dweight, sums, "accumulated dweight");
  run ("embedding_backward", (LigOperand[]){dy, x, dweight}, NULL, false);
  omp_set_num_threads (threads);
  check_same_bits (dweight, first);
}

static void
embedding (void)
{
  static const int64_t columns[] = {1, 3, 31, 200};
  for (size_t i = 0; i < G_N_ELEMENTS (columns); i++)
    for (size_t j = 0; j < G_N_ELEMENTS (floating); j++) {
      case_begin ();
      embedding_case (600, 57, columns[i], floating[j], floating[j]);
      embedding_case (17, 3, columns[i], floating[j], LIG_FP32);
      embedding_case (2, 100, columns[i], LIG_FP32, floating[j]);
      case_end ();
    }
  /* The weight has more rows than the workspace can hold at a time. */
  case_begin ();
  embedding_case (40, 4300, 2000, LIG_BF16, LIG_BF16);
  case_end ();
}

static void
outside (void)
{
  LigStatus status;
  case_begin ();
  LigOperand x = tokens (4, 3), weight = random_tensor (LIG_FP32, 3, 5);
  LigOperand y = blank (LIG_FP32, 4, 5), dweight = blank (LIG_FP32, 3, 5);
  for (int i = 0; i < 2; i++) {
    ((int32_t *) x.data)[3] = i ? 3 : -1;
    LigLaunch launch =
      try_run ("embedding", (LigOperand[]){x, weight, y}, NULL, NULL, false, &status);
    g_assert_cmpint (status, ==, LIG_FAILED);
    g_assert_nonnull (strstr (launch.where, "token outside the vocabulary"));
    try_run ("embedding_backward", (LigOperand[]){y, x, dweight}, NULL, NULL, false, &status);
    g_assert_cmpint (status, ==, LIG_FAILED);
  }
  case_end ();
}

static void
gradient_norm (void)
{
  for (size_t i = 0; i < G_N_ELEMENTS (sizes); i++)
    for (size_t j = 0; j < G_N_ELEMENTS (floating); j++) {
      case_begin ();
      LigOperand gradients = random_tensor (floating[j], 1, sizes[i]);
      LigOperand norm = number (NAN), again = number (NAN);
      double want = norm_of (wide (gradients), sizes[i]);
      int threads = omp_get_max_threads ();
      run ("gradient_norm", (LigOperand[]){gradients, norm, absent (LIG_FP32, 1, 1)}, NULL, false);
      check_within (norm, &want, 1e-7 * want, "norm");
      omp_set_num_threads (1);
      run ("gradient_norm", (LigOperand[]){gradients, again, absent (LIG_FP32, 1, 1)}, NULL, false);
      omp_set_num_threads (threads);
      check_same_bits (norm, again);
      case_end ();
    }
  /* The squares exceed the range of fp32. */
  case_begin ();
  float large[] = {3e30f, 4e30f};
  LigOperand norm = number (NAN);
  double want = 5e30;
  run ("gradient_norm", (LigOperand[]){{large, 2, 2, LIG_FP32}, norm, absent (LIG_FP32, 1, 1)},
       NULL, false);
  check_within (norm, &want, 1e24, "norm");
  case_end ();
}

/* Returns a scaling as an operand. */
static LigOperand
scaling_operand (LigScaling *scaling)
{
  return (LigOperand){scaling, LIG_SCALING_FIELDS, LIG_SCALING_FIELDS, LIG_FP32};
}

/* The operands of an optimizer: gradients of either type that carry the factor 8, after two skipped
 * updates. */
typedef struct {
  LigOperand gradients, norm, scaling, parameters, mean, variance, master;
  double *g, *p, *m, *v, factor;
} Arena;

static Arena
arena (int64_t size, LigDtype dtype, bool master, const LigTick *tick)
{
  static LigScaling scaling;
  LigDtype gradients = size % 2 ? dtype : LIG_FP32;
  scaling = (LigScaling){.scale = 16, .carried = 8, .skipped = 2};
  Arena a = {.gradients = random_tensor (gradients, 1, size),
             .norm = number (NAN),
             .scaling = scaling_operand (&scaling),
             .parameters = random_tensor (dtype, 1, size),
             .mean = random_tensor (LIG_FP32, 1, size),
             .variance = random_tensor (LIG_FP32, 1, size),
             .master = random_tensor (LIG_FP32, 1, size)};
  if (!master)
    a.master.data = NULL;
  for (int64_t i = 0; i < size; i++)
    ((float *) a.variance.data)[i] = fabsf (((float *) a.variance.data)[i]);
  run ("gradient_norm", (LigOperand[]){a.gradients, a.norm, a.scaling}, NULL, false);
  g_assert_cmpfloat (scaling.scale, ==, 16);
  a.g = wide (a.gradients);
  a.p = wide (master ? a.master : a.parameters);
  a.m = wide (a.mean);
  a.v = wide (a.variance);
  double norm = *wide (a.norm), clip = (double) tick->clip_norm;
  a.factor = (clip > 0 && norm > clip ? clip / norm : 1) / 8;
  return a;
}

static void
run_update (const char *name, const LigOperand *operands, const void *params, const LigTick *tick)
{
  LigStatus status;
  try_run (name, operands, params, tick, false, &status);
  g_assert_cmpint (status, ==, LIG_OK);
}

static void
check_weights (const Arena *a)
{
  if (a->master.data)
    check (a->master, a->p, "master");
  check (a->parameters, a->p, "parameters");
}

static void
sgd_case (int64_t size, LigDtype dtype, bool master, const LigTick *tick)
{
  LigSgdParams params = {size % 2 ? 0.9f : 0, 0.1f};
  Arena a = arena (size, dtype, master, tick);
  if (params.momentum == 0)
    a.mean.data = NULL;
  LigOperand operands[] = {a.gradients, a.norm, a.scaling, a.parameters, a.mean, a.master};
  run_update ("sgd", operands, &params, tick);
  for (int64_t i = 0; i < size; i++) {
    double g = a.factor * a.g[i] + (double) params.weight_decay * a.p[i];
    a.m[i] = (double) params.momentum * a.m[i] + g;
    a.p[i] -= (double) tick->learning_rate * a.m[i];
  }
  if (a.mean.data)
    check (a.mean, a.m, "momentum");
  check_weights (&a);
}

static void
adamw_case (int64_t size, LigDtype dtype, bool master, const LigTick *tick)
{
  LigAdamwParams params = {0.9f, 0.999f, 1e-8f, 0.1f};
  Arena a = arena (size, dtype, master, tick);
  LigOperand operands[] = {a.gradients, a.norm,     a.scaling, a.parameters,
                           a.mean,      a.variance, a.master};
  double b1 = (double) params.beta1, b2 = (double) params.beta2, t = (double) tick->step - 2;
  double rate = (double) tick->learning_rate;
  run_update ("adamw", operands, &params, tick);
  for (int64_t i = 0; i < size; i++) {
    double g = a.factor * a.g[i];
    a.p[i] *= 1 - rate * (double) params.weight_decay;
    a.m[i] = b1 * a.m[i] + (1 - b1) * g;
    a.v[i] = b2 * a.v[i] + (1 - b2) * g * g;
    a.p[i] -=
      rate * a.m[i] / (1 - pow (b1, t)) / (sqrt (a.v[i] / (1 - pow (b2, t))) + (double) params.eps);
  }
  check (a.mean, a.m, "mean");
  check (a.variance, a.v, "variance");
  check_weights (&a);
}

static void
each (gconstpointer data)
{
  void (*test) (int64_t, LigDtype, bool, const LigTick *) =
    *(void (*const *) (int64_t, LigDtype, bool, const LigTick *)) data;
  static const LigTick ticks[] = {{.step = 3, .learning_rate = 0.01f},
                                  {.step = 9, .learning_rate = 0.02f, .clip_norm = 0.0625f},
                                  {.step = 11, .learning_rate = 0.02f, .clip_norm = 1e6f}};
  for (size_t i = 0; i < G_N_ELEMENTS (sizes); i++)
    for (size_t j = 0; j < G_N_ELEMENTS (floating); j++)
      for (size_t k = 0; k < G_N_ELEMENTS (ticks); k++)
        for (int master = 0; master <= (floating[j] != LIG_FP32); master++) {
          case_begin ();
          test (sizes[i], floating[j], master, &ticks[k]);
          case_end ();
        }
}

/* Without a norm nothing is clipped. */
static void
no_norm (void)
{
  case_begin ();
  LigTick tick = {.step = 1, .learning_rate = 0.5f, .clip_norm = 1e-3f};
  float gradient = 2, parameter = 1;
  LigOperand none = absent (LIG_FP32, 1, 1);
  LigOperand operands[] = {{&gradient, 1, 1, LIG_FP32},  none, none,
                           {&parameter, 1, 1, LIG_FP32}, none, none};
  run_update ("sgd", operands, NULL, &tick);
  g_assert_cmpfloat (parameter, ==, 0);
  case_end ();
}

/* With a norm that is not finite no bit changes, with and without clipping. */
static void
not_finite (void)
{
  static const double norms[] = {NAN, INFINITY};
  for (size_t i = 0; i < G_N_ELEMENTS (floating) * G_N_ELEMENTS (norms) * 2; i++) {
    case_begin ();
    LigTick tick = {.step = 4, .learning_rate = 0.5f, .clip_norm = i % 2 ? 1 : 0};
    LigOperand g = random_tensor (floating[i / 4], 1, 4097), norm = number (norms[i / 2 % 2]);
    LigOperand o[] = {random_tensor (floating[i / 4], 1, 4097), random_tensor (LIG_FP32, 1, 4097),
                      random_tensor (LIG_FP32, 1, 4097), random_tensor (LIG_FP32, 1, 4097)};
    LigOperand old[] = {copy (o[0]), copy (o[1]), copy (o[2]), copy (o[3])};
    LigOperand none = absent (LIG_FP32, 1, 1);
    run_update ("sgd", (LigOperand[]){g, norm, none, o[0], o[1], o[3]}, NULL, &tick);
    run_update ("adamw", (LigOperand[]){g, norm, none, o[0], o[1], o[2], o[3]}, NULL, &tick);
    for (int j = 0; j < 4; j++)
      check_same_bits (o[j], old[j]);
    case_end ();
  }
}

/* Runs one update after another, and checks the scale and the counters against the norms. */
static void
scale_follows (void)
{
  const LigScalingParams dynamic = {0}, fixed = {1024};
  LigScaling s = {.scale = 65536, .carried = 65536};
  float gradient = INFINITY, norm = 0;
  LigOperand operands[] = {
    {&gradient, 1, 1, LIG_FP32}, {&norm, 1, 1, LIG_FP32}, scaling_operand (&s)};
  run ("gradient_norm", operands, &fixed, false);
  g_assert_cmpfloat (s.scale, ==, 65536);
  g_assert_cmpfloat (s.skipped, ==, 1);
  run ("gradient_norm", operands, &dynamic, false);
  gradient = NAN;
  run ("gradient_norm", operands, &dynamic, false);
  g_assert_cmpfloat (s.scale, ==, 16384);
  g_assert_cmpfloat (s.consecutive_skipped, ==, 3);
  gradient = 3 * 65536;
  for (int i = 0; i < LIG_SCALE_INTERVAL; i++) {
    g_assert_cmpfloat (s.scale, ==, 16384);
    run ("gradient_norm", operands, &dynamic, false);
    g_assert_cmpfloat (norm, ==, 3);
    g_assert_cmpfloat (s.norm, ==, 3);
  }
  g_assert_cmpfloat (s.scale, ==, 32768);
  g_assert_cmpfloat (s.consecutive_skipped, ==, 0);
  g_assert_cmpfloat (s.skipped, ==, 3);
  s.scale = LIG_MAX_SCALE;
  s.good = LIG_SCALE_INTERVAL - 1;
  run ("gradient_norm", operands, &dynamic, false);
  g_assert_cmpfloat (s.scale, ==, LIG_MAX_SCALE);
  s.scale = LIG_MIN_SCALE;
  gradient = NAN;
  run ("gradient_norm", operands, &dynamic, false);
  g_assert_cmpfloat (s.scale, ==, LIG_MIN_SCALE);
}

/* Computes y = scale x in every type, and checks the factor that gradients now carry. */
static void
scale_gradient (void)
{
  const LigScalingParams fixed = {0.25f};
  for (size_t i = 0; i < G_N_ELEMENTS (sizes) * G_N_ELEMENTS (floating); i++) {
    case_begin ();
    LigScaling s = {.scale = 8, .carried = 1};
    LigDtype dtype = floating[i % G_N_ELEMENTS (floating)];
    int64_t size = sizes[i / G_N_ELEMENTS (floating)];
    LigOperand x = random_tensor (dtype, 1, size), y = blank (dtype, 1, size);
    double *want = wide (x);
    for (int64_t j = 0; j < size; j++)
      want[j] *= 8;
    run ("scale_gradient", (LigOperand[]){x, y, scaling_operand (&s)}, NULL, false);
    check (y, want, "scaled");
    g_assert_cmpfloat (s.carried, ==, 8);
    run ("scale_gradient", (LigOperand[]){x, y, scaling_operand (&s)}, &fixed, false);
    for (int64_t j = 0; j < size; j++)
      want[j] /= 32;
    check (y, want, "scaled");
    g_assert_cmpfloat (s.carried, ==, 0.25f);
    case_end ();
  }
}

int
main (int argc, char **argv)
{
  static void (*const cases[]) (int64_t, LigDtype, bool, const LigTick *) = {sgd_case, adamw_case};
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/kernels/embedding", embedding);
  g_test_add_func ("/kernels/embedding/outside", outside);
  g_test_add_func ("/kernels/optimizer/gradient-norm", gradient_norm);
  g_test_add_data_func ("/kernels/optimizer/sgd", &cases[0], each);
  g_test_add_data_func ("/kernels/optimizer/adamw", &cases[1], each);
  g_test_add_func ("/kernels/optimizer/no-norm", no_norm);
  g_test_add_func ("/kernels/optimizer/not-finite", not_finite);
  g_test_add_func ("/kernels/optimizer/scale-follows", scale_follows);
  g_test_add_func ("/kernels/optimizer/scale-gradient", scale_gradient);
  return g_test_run ();
}
