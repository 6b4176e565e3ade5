/* SPDX-License-Identifier: MIT */
/* Operands for any kernel of kernel-list.h, from the names in its signature: shapes and types by a
 * table of rules, values that are random or computed from other operands, and parameters. */
#pragma once

#include <ligature/dtype.h>
#include <ligature/kernels.h>
#include <ligature/launch.h>
#include <ligature/loss-scaling.h>
#include <ligature/params-gated.h>
#include <ligature/params-loss.h>
#include <ligature/params-matmul.h>
#include <ligature/params-norm.h>
#include <ligature/params-optimizer.h>
#include <ligature/params-random.h>

#include <glib.h>
#include <math.h>
#include <string.h>

typedef enum {
  POINTWISE, /* with biases and activations */
  GATED,
  NORM,
  MATMUL,
  EMBEDDING,
  ENTROPY, /* with accuracy */
  SQUARES,
  OPTIMIZER
} Family;

static inline Family
family_of (const char *kernel)
{
  if (g_str_has_prefix (kernel, "linear"))
    return MATMUL;
  if (g_str_has_prefix (kernel, "embedding"))
    return EMBEDDING;
  if (strstr (kernel, "entropy") || g_str_equal (kernel, "accuracy"))
    return ENTROPY;
  if (strstr (kernel, "squared"))
    return SQUARES;
  if (g_str_equal (kernel, "sgd") || g_str_equal (kernel, "adamw") ||
      g_str_equal (kernel, "gradient_norm") || g_str_equal (kernel, "scale_gradient"))
    return OPTIMIZER;
  if (strstr (kernel, "norm"))
    return NORM;
  return strstr (kernel, "glu") ? GATED : POINTWISE;
}

/* Returns whether a kernel's params depend on the shapes of its operands, or it needs scratch
 * memory: tests/gpu/heads.c, tests/gpu/joint-loss.c, tests/gpu/quantize.c, tests/gpu/sample.c and
 * tests/gpu/vocabulary.c have problems for these. */
static inline gboolean
is_shaped (const char *kernel)
{
  static const char *const names[] = {
    "attention", "rotary",    "qk_norm",      "quantize",     "update_scales", "linear_fp8",
    "position",  "drop_path", "linear_cross", "entropy_part", "accuracy_part", "_join",
    "halves",    "add_parts", "slice",        "sample",       "scaled",        "grouped",
    "router",    "permute",   "row_offsets",  "exchange_"};
  for (size_t i = 0; i < G_N_ELEMENTS (names); i++)
    if (strstr (kernel, names[i]))
      return TRUE;
  return FALSE;
}

/* The size of a problem. Matmuls: x is rows by columns, weight outputs by columns. Gated units:
 * a row of y has `columns`, a row of x twice as many. Embedding: rows tokens of `outputs`.
 * Optimizers: rows times columns elements. */
typedef struct {
  int64_t rows, columns, outputs;
  LigDtype compute, parameters;
} Problem;

typedef enum { ONE, TWO, ROWS, COLUMNS, WHOLE, OUTPUTS, ALL, FIELDS } Extent;
typedef enum { OF_COMPUTE, OF_PARAMETERS, NUMBERS, INTEGERS } Values;

/* The rules; the first that matches applies, null matches anything. */
typedef struct {
  Family family;
  const char *kernel, *names;
  Extent rows, columns;
  Values values;
} Rule;

static const Rule rules[] = {
  {MATMUL, "linear_backward_input_gelu", "dbias", ONE, COLUMNS, OF_PARAMETERS},
  {MATMUL, "linear_backward_input_gelu_bias", "dbias", ONE, COLUMNS, OF_PARAMETERS},
  {MATMUL, NULL, "bias dbias dlast", ONE, OUTPUTS, OF_PARAMETERS},
  {MATMUL, NULL, "weight", OUTPUTS, COLUMNS, OF_COMPUTE},
  {MATMUL, NULL, "dweight", OUTPUTS, COLUMNS, OF_PARAMETERS},
  {MATMUL, NULL, "x dx branch", ROWS, COLUMNS, OF_COMPUTE},
  {MATMUL, NULL, NULL, ROWS, OUTPUTS, OF_COMPUTE},
  {GATED, NULL, "bias dbias", ONE, WHOLE, OF_PARAMETERS},
  {GATED, NULL, "x dx sum", ROWS, WHOLE, OF_COMPUTE},
  {NORM, NULL, "weight bias dweight dbias", ONE, COLUMNS, OF_PARAMETERS},
  {NORM, NULL, "mean rstd", ROWS, ONE, NUMBERS},
  {EMBEDDING, NULL, "x", ONE, ROWS, INTEGERS},
  {EMBEDDING, NULL, "weight dweight", OUTPUTS, COLUMNS, OF_PARAMETERS},
  {ENTROPY, NULL, "targets", ONE, ROWS, INTEGERS},
  {ENTROPY, NULL, "lse", ROWS, TWO, NUMBERS},
  {ENTROPY, NULL, "y dy count correct", ONE, ONE, NUMBERS},
  {SQUARES, NULL, "y dy", ONE, ONE, NUMBERS},
  {OPTIMIZER, NULL, "norm", ONE, ONE, NUMBERS},
  {OPTIMIZER, NULL, "scaling", ONE, FIELDS, NUMBERS},
  {OPTIMIZER, "gradient_norm", NULL, ONE, ALL, OF_PARAMETERS},
  {OPTIMIZER, NULL, "gradients x y", ONE, ALL, OF_COMPUTE},
  {OPTIMIZER, NULL, "parameters", ONE, ALL, OF_PARAMETERS},
  {OPTIMIZER, NULL, NULL, ONE, ALL, NUMBERS},
  {POINTWISE, "convert", "y", ROWS, COLUMNS, OF_PARAMETERS},
  {POINTWISE, NULL, "bias dbias", ONE, COLUMNS, OF_PARAMETERS},
};

static inline gboolean
is_word_of (const char *words, const char *word)
{
  g_auto (GStrv) list = g_strsplit (words, " ", -1);
  return g_strv_contains ((const char *const *) list, word);
}

static inline Rule
rule_for (const char *kernel, const char *name)
{
  Family family = family_of (kernel);
  for (size_t i = 0; i < G_N_ELEMENTS (rules); i++)
    if (rules[i].family == family && (!rules[i].kernel || g_str_equal (rules[i].kernel, kernel)) &&
        (!rules[i].names || is_word_of (rules[i].names, name)))
      return rules[i];
  return (Rule){family, NULL, NULL, ROWS, COLUMNS, OF_COMPUTE};
}

static inline int64_t
extent (const Problem *p, Extent kind)
{
  const int64_t lengths[] = {1,
                             2,
                             p->rows,
                             p->columns,
                             2 * p->columns,
                             p->outputs,
                             p->rows * p->columns,
                             LIG_SCALING_FIELDS};
  return lengths[kind];
}

/* A kernel's operands without memory, and the marks of each in its signature. */
typedef struct {
  const LigKernel *kernel;
  Problem problem;
  int count, inputs;
  LigOperand operands[LIG_MAX_OPERANDS];
  char names[LIG_MAX_OPERANDS][32];
  bool optional[LIG_MAX_OPERANDS];
} Operands;

static inline Operands
operands_for (const LigKernel *kernel, Problem problem)
{
  Operands o = {.kernel = kernel, .problem = problem};
  o.count = lig_signature_count (kernel->signature, &o.inputs);
  for (int i = 0; i < o.count; i++) {
    o.optional[i] = lig_signature_name (kernel->signature, i, o.names[i]);
    Rule rule = rule_for (kernel->name, o.names[i]);
    const LigDtype dtypes[] = {problem.compute, problem.parameters, LIG_FP32, LIG_INT32};
    int64_t columns = extent (&problem, rule.columns);
    o.operands[i] =
      (LigOperand){NULL, extent (&problem, rule.rows) * columns, columns, dtypes[rule.values]};
  }
  return o;
}

static inline int
operand_index (const Operands *o, const char *name)
{
  for (int i = 0; i < o->count; i++)
    if (g_str_equal (o->names[i], name))
      return i;
  return -1;
}

static inline size_t
operand_bytes (const LigOperand *operand)
{
  return (size_t) operand->size * lig_dtype_size (operand->dtype);
}

/* Returns whether the operand is a gradient of a parameter, which a launch may accumulate. */
static inline bool
is_parameter_gradient (const char *name)
{
  return g_str_equal (name, "dweight") || g_str_equal (name, "dbias");
}

/* Returns whether the operand is an output whose old values are read: everything that an optimizer
 * updates. */
static inline bool
is_updated (const Operands *o, int index)
{
  return index >= o->inputs && family_of (o->kernel->name) == OPTIMIZER &&
         !g_str_equal (o->names[index], "norm") && !g_str_equal (o->names[index], "y");
}

/* --- Values -------------------------------------------------------------------------------- */

enum { POOL = 1 << 20 };

/* Returns random values of a type: most of them between -2 and 2, some up to 6. */
static inline const char *
random_pool (LigDtype dtype)
{
  static char *pools[LIG_N_DTYPES];
  static float *values;
  if (!values) {
    g_autoptr (GRand) generator = g_rand_new_with_seed (1440);
    values = g_new (float, POOL);
    for (int i = 0; i < POOL; i++)
      values[i] =
        (float) ((g_rand_double_range (generator, -1, 1) + g_rand_double_range (generator, -1, 1)) *
                 (i % 7 == 3 ? 3 : 1));
  }
  if (!pools[dtype]) {
    pools[dtype] = g_malloc ((size_t) POOL * sizeof (float));
    lig_narrow (dtype, values, pools[dtype], POOL);
  }
  return pools[dtype];
}

/* Fills an operand with values that differ for each `seed`. */
static inline void
fill_random (const LigOperand *operand, unsigned seed)
{
  size_t element = lig_dtype_size (operand->dtype);
  int64_t from = (int64_t) (seed * 77773u % POOL);
  for (int64_t at = 0; at < operand->size;) {
    int64_t count = MIN (operand->size - at, POOL - from);
    memcpy ((char *) operand->data + (size_t) at * element,
            random_pool (operand->dtype) + (size_t) from * element, (size_t) count * element);
    at += count;
    from = 0;
  }
}

/* Fills in row indices below `limit`; with `ignored` one in five is -100. */
static inline void
fill_integers (const LigOperand *operand, int64_t limit, bool ignored)
{
  int32_t *values = operand->data;
  for (int64_t i = 0; i < operand->size; i++)
    values[i] = ignored && i % 5 == 1 ? -100 : (int32_t) ((i * 7919 + i / 3) % limit);
}

static inline void
fill_number (const LigOperand *operand, double value)
{
  *(float *) operand->data = (float) value;
}

/* Fills in the state of updates in the middle of a training run. */
static inline void
fill_scaling (const LigOperand *operand)
{
  const LigScaling scaling = {.scale = 32,
                              .carried = 16,
                              .good = LIG_SCALE_INTERVAL - 1,
                              .consecutive_skipped = 1,
                              .skipped = 2,
                              .norm = 9};
  memcpy (operand->data, &scaling, sizeof scaling);
}

/* Fills in mean and rstd of the rows of x as the forward kernel would. */
static inline void
fill_statistics (const Operands *o, const LigOperand *x, float *mean, float *rstd)
{
  bool centered = strstr (o->kernel->name, "layer_norm"), summed = strstr (o->kernel->name, "l2");
  int64_t columns = x->columns, rows = x->size / columns;
  size_t bytes = (size_t) columns * lig_dtype_size (x->dtype);
#pragma omp parallel for schedule(static) if (x->size > 16384)
  for (int64_t row = 0; row < rows; row++) {
    g_autofree float *values = g_new (float, columns);
    double sum = 0, squares = 0, n = summed ? 1 : (double) columns;
    lig_widen (x->dtype, (const char *) x->data + (size_t) row * bytes, values, (size_t) columns);
    for (int64_t i = 0; i < columns && centered; i++)
      sum += (double) values[i] / n;
    for (int64_t i = 0; i < columns; i++)
      squares += ((double) values[i] - sum) * ((double) values[i] - sum) / n;
    if (mean)
      mean[row] = (float) sum;
    rstd[row] = (float) (1 / sqrt (squares + 1e-3));
  }
}

static inline void
fill_entropy (const LigOperand *x, const int32_t *targets, float *lse, float *count)
{
  int64_t columns = x->columns, rows = x->size / columns;
  size_t bytes = (size_t) columns * lig_dtype_size (x->dtype);
#pragma omp parallel for schedule(static) if (x->size > 16384)
  for (int64_t row = 0; row < rows; row++) {
    g_autofree float *values = g_new (float, columns);
    double sum = 0;
    float max = -INFINITY;
    lig_widen (x->dtype, (const char *) x->data + (size_t) row * bytes, values, (size_t) columns);
    for (int64_t i = 0; i < columns; i++)
      max = MAX (max, values[i]);
    for (int64_t i = 0; i < columns; i++)
      sum += exp ((double) values[i] - (double) max);
    lse[2 * row] = max;
    lse[2 * row + 1] = (float) log (sum);
  }
  *count = 0;
  for (int64_t row = 0; row < rows; row++)
    *count += targets[row] != -100;
}

/* Fills in one operand that has memory: an input, or an output whose old values are read. */
static inline void
fill_operand (const Operands *o, int index)
{
  const LigOperand *operand = &o->operands[index];
  const char *name = o->names[index];
  Family family = family_of (o->kernel->name);
  bool loss = family == ENTROPY || family == SQUARES;
  if (operand->dtype == LIG_INT32)
    fill_integers (operand, family == EMBEDDING ? o->problem.outputs : o->problem.columns,
                   family == ENTROPY);
  else if (family == OPTIMIZER && g_str_equal (name, "norm"))
    fill_number (operand, 3);
  else if (family == OPTIMIZER && g_str_equal (name, "scaling"))
    fill_scaling (operand);
  else if (loss && g_str_equal (name, "dy")) /* so that dx is of the order of x */
    fill_number (operand,
                 0.375 * (double) (family == ENTROPY ? o->problem.rows
                                                     : o->problem.rows * o->problem.columns));
  else
    fill_random (operand, (unsigned) (index * 31 + o->problem.rows * 7 + o->problem.columns));
  for (int64_t i = 0; i < operand->size && g_str_equal (name, "variance"); i++)
    ((float *) operand->data)[i] = fabsf (((float *) operand->data)[i]);
}

/* Fills in values that are computed from others. */
static inline void
fill_derived (const Operands *o)
{
  int x = operand_index (o, "x"), rstd = operand_index (o, "rstd");
  int mean = operand_index (o, "mean"), lse = operand_index (o, "lse");
  if (rstd >= 0 && rstd < o->inputs)
    fill_statistics (o, &o->operands[x], mean >= 0 ? o->operands[mean].data : NULL,
                     o->operands[rstd].data);
  if (lse >= 0 && lse < o->inputs)
    fill_entropy (&o->operands[x], o->operands[operand_index (o, "targets")].data,
                  o->operands[lse].data, o->operands[operand_index (o, "count")].data);
}

/* --- Parameters ---------------------------------------------------------------------------- */

static const LigTick test_tick = {.seed = 0x1234567890abcdef,
                                  .micro_step = 3,
                                  .step = 7,
                                  .learning_rate = 0.02f,
                                  .clip_norm = 0.5f};

/* Returns the parameters of a kernel; every third `variation` is null, for its defaults. */
static inline const void *
params_for (const char *kernel, int variation)
{
  static const LigNormParams norms[] = {{1e-3f, true}, {1e-3f, false}};
  static const LigGatedParams gated = {
    .limit = 1.5f, .alpha = 1.25f, .offset = 0.5f, .beta1 = 2, .beta2 = 3};
  static const LigScaleParams factors[] = {{-1.5f}, {0.75f}};
  static const LigDropoutParams dropout[] = {{.probability = 0.3f, .path_hash = 0xfedcba9876543210},
                                             {.probability = 1, .path_hash = 7}};
  static const LigCrossEntropyParams entropy[] = {{.ignored = -100, .label_smoothing = 0.1f},
                                                  {.ignored = -100}};
  static const LigScalingParams scalings[] = {{0.25f}, {0}};
  static const LigSgdParams sgd = {0.9f, 0.1f};
  static const LigAdamwParams adamw = {0.9f, 0.99f, 1e-6f, 0.1f};
  int other = variation % 3 == 1;
  if (variation % 3 == 2)
    return NULL;
  switch (family_of (kernel)) {
  case NORM:
    return &norms[other];
  case ENTROPY:
    return &entropy[other];
  case MATMUL:
    return &factors[other];
  case OPTIMIZER:
    return strstr (kernel, "gradient")   ? (const void *) &scalings[other]
           : g_str_equal (kernel, "sgd") ? (const void *) &sgd
                                         : &adamw;
  case GATED:
    return &gated;
  default:
    return g_str_equal (kernel, "dropout") ? (const void *) &dropout[other]
           : g_str_equal (kernel, "scale") ? (const void *) &factors[other]
                                           : NULL;
  }
}
