/* SPDX-License-Identifier: MIT */
/* The layers in float64, written from the papers' formulas, for tests of their macros: only a
 * forward pass, because the gradients are its central differences. It reads the parameters of a
 * macro from the text of its expression, so that both sides have the same source. */
#pragma once

#include <glib.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  int rows, columns;
  double *at;
} Matrix;

typedef struct {
  const char *text;    /* of the macro: "transformer-layer(2, bias=false)" */
  GHashTable *weights; /* `qkv.weight` -> Matrix */
  Matrix x, memory;    /* memory: no rows without one */
  int batch;
  const int *lengths, *documents, *memory_lengths; /* or null */
  GPtrArray *garbage;
} Model;

/* --- The text --------------------------------------------------------------------------------- */

/* Returns the text after `name=`, or null. */
static inline const char *
model_find (const Model *self, const char *name)
{
  gsize length = strlen (name);
  for (const char *at = self->text; (at = strstr (at, name)); at += length)
    if (at[length] == '=' && strchr (" (,", at[-1]))
      return at + length + 1;
  return NULL;
}

static inline double
model_number (const Model *self, const char *name, double initial)
{
  const char *at = model_find (self, name);
  return !at ? initial : g_str_has_prefix (at, "true") ? 1 : strtod (at, NULL);
}

static inline gboolean
model_is (const Model *self, const char *name, const char *choice)
{
  const char *at = model_find (self, name);
  gsize length = strlen (choice);
  return at && strncmp (at, choice, length) == 0 && strchr (",)", at[length]);
}

/* Returns the number in front of the named parameters. */
static inline int
model_first (const Model *self)
{
  return atoi (strchr (self->text, '(') + 1);
}

/* --- Matrices --------------------------------------------------------------------------------- */

static inline Matrix
matrix_new (Model *self, int rows, int columns)
{
  Matrix result = {rows, columns, g_new0 (double, (gsize) (rows * columns))};
  g_ptr_array_add (self->garbage, result.at);
  return result;
}

static inline Matrix
matrix_add (Model *self, Matrix a, Matrix b, double factor)
{
  Matrix y = matrix_new (self, a.rows, a.columns);
  g_assert_cmpint (a.columns, ==, b.columns);
  for (int i = 0; i < a.rows * a.columns; i++)
    y.at[i] = a.at[i] + factor * b.at[i];
  return y;
}

/* Returns some columns of each row. */
static inline Matrix
matrix_columns (Model *self, Matrix x, int first, int count)
{
  Matrix y = matrix_new (self, x.rows, count);
  for (int i = 0; i < x.rows; i++)
    memcpy (y.at + i * count, x.at + i * x.columns + first, (gsize) count * sizeof (double));
  return y;
}

static inline const double *
model_weight (const Model *self, const char *part, const char *name, int size)
{
  g_autofree char *path = g_strdup_printf ("%s.%s", part, name);
  const Matrix *weight = g_hash_table_lookup (self->weights, path);
  if (weight)
    g_assert_cmpint (weight->rows * weight->columns, ==, size);
  return weight ? weight->at : NULL;
}

/* --- Matmuls, norms, activations ---------------------------------------------------------------
 */

static inline Matrix
model_linear (Model *self, Matrix x, const char *part, int features)
{
  Matrix y = matrix_new (self, x.rows, features);
  const double *weight = model_weight (self, part, "weight", features * x.columns);
  const double *bias = model_weight (self, part, "bias", features);
  g_assert_true (weight && (bias != NULL) == (model_number (self, "bias", 1) != 0));
  for (int i = 0; i < x.rows; i++)
    for (int j = 0; j < features; j++) {
      double sum = bias ? bias[j] : 0;
      for (int k = 0; k < x.columns; k++)
        sum += x.at[i * x.columns + k] * weight[j * x.columns + k];
      y.at[i * features + j] = sum;
    }
  return y;
}

/* Normalizes n numbers; `gain` and `bias` may be null. */
static inline void
normalize (
  double *row, int n, gboolean centered, double eps, const double *gain, const double *bias)
{
  double mean = 0, square = 0;
  for (int i = 0; i < n && centered; i++)
    mean += row[i] / n;
  for (int i = 0; i < n; i++)
    square += (row[i] - mean) * (row[i] - mean) / n;
  for (int i = 0; i < n; i++)
    row[i] = (row[i] - mean) / sqrt (square + eps) * (gain ? gain[i] : 1) + (bias ? bias[i] : 0);
}

static inline Matrix
model_norm (Model *self, Matrix x, const char *part)
{
  Matrix y = matrix_columns (self, x, 0, x.columns);
  gboolean rms = model_is (self, "normalization", "rms-norm");
  const double *weight = model_weight (self, part, "weight", x.columns);
  const double *bias = model_weight (self, part, "bias", x.columns);
  g_autofree double *gain = g_memdup2 (weight, (gsize) x.columns * sizeof (double));
  g_assert_true (weight && (bias != NULL) == !rms);
  for (int i = 0; i < x.columns && model_number (self, "zero-centered-gamma", 0) != 0; i++)
    gain[i] += 1;
  for (int i = 0; i < x.rows; i++)
    normalize (y.at + i * x.columns, x.columns, !rms, model_number (self, "eps", 1e-5), gain, bias);
  return y;
}

static inline double
sigmoid (double x)
{
  return 1 / (1 + exp (-x));
}

static inline double
tanh_gelu (double x)
{
  return x / 2 * (1 + tanh (sqrt (2 / G_PI) * (x + 0.044715 * x * x * x)));
}

/* Returns the activation of a number, or of the gate of a gated unit. */
static inline double
activate (const char *name, double x)
{
  if (g_str_has_suffix (name, "qgelu") || g_str_equal (name, "qgeglu"))
    return x * sigmoid (1.702 * x);
  if (g_str_equal (name, "gelu") || g_str_equal (name, "geglu"))
    return tanh_gelu (x);
  if (g_str_equal (name, "gelu-erf"))
    return x / 2 * erfc (-x / sqrt (2));
  if (g_str_equal (name, "relu") || g_str_equal (name, "reglu"))
    return MAX (x, 0);
  if (g_str_equal (name, "srelu") || g_str_equal (name, "sreglu"))
    return MAX (x, 0) * MAX (x, 0);
  if (g_str_equal (name, "silu") || g_str_equal (name, "swiglu"))
    return x * sigmoid (x);
  g_assert_cmpstr (name, ==, "glu");
  return sigmoid (x);
}

static inline Matrix
model_activate (Model *self, Matrix x, const char *name)
{
  gboolean gated = strstr (name, "glu") != NULL;
  Matrix y = matrix_new (self, x.rows, gated ? x.columns / 2 : x.columns);
  double limit = model_number (self, "activation-limit", 7);
  double alpha = model_number (self, "activation-alpha", 1.702);
  double offset = model_number (self, "glu-linear-offset", 1);
  const double beta1 = 4, beta2 = 25;
  for (int i = 0; i < y.rows; i++)
    for (int j = 0; j < y.columns; j++) {
      double a = x.at[i * x.columns + j], b = gated ? x.at[i * x.columns + y.columns + j] : 1;
      double *to = y.at + i * y.columns + j;
      if (g_str_equal (name, "clamped-swiglu")) {
        a = MIN (a, limit);
        *to = a * sigmoid (alpha * a) * (CLAMP (b, -limit, limit) + offset);
      } else if (g_str_equal (name, "situ-glu"))
        *to = beta1 * tanh (a / beta1) * sigmoid (a) * beta2 * tanh (b / beta2);
      else
        *to = activate (name, a) * b;
    }
  return y;
}

static inline Matrix
model_mlp (Model *self, Matrix x, int features)
{
  const char *at = model_find (self, "activation");
  g_autofree char *name = at ? g_strndup (at, strcspn (at, ",)")) : g_strdup ("gelu");
  int inner = features > 0 ? features : 4 * self->x.columns;
  Matrix h = model_linear (self, x, "fc1", strstr (name, "glu") ? 2 * inner : inner);
  return model_linear (self, model_activate (self, h, name), "fc2", self->x.columns);
}

/* --- Experts ------------------------------------------------------------------------------------
 */

/* Returns the value of a parameter of the router, whose name has a prefix in a layer. */
static inline const char *
router_text (const Model *self, const char *name)
{
  g_autofree char *prefixed = g_strconcat ("router-", name, NULL);
  const char *at = model_find (self, prefixed);
  return at ? at : model_find (self, name);
}

static inline double
router_score (const Model *self, const double *logits, int experts, int e)
{
  const char *kind = router_text (self, "score");
  double sum = 0;
  if (kind && g_str_has_prefix (kind, "sigmoid"))
    return sigmoid (logits[e]);
  if (kind && g_str_has_prefix (kind, "sqrt"))
    return sqrt (log1p (exp (logits[e])));
  for (int i = 0; i < experts; i++)
    sum += exp (logits[i]);
  return exp (logits[e]) / sum;
}

/* Selects k experts, without groups, and computes their weights. The order of the softmax and the
 * selection only matters for weights that are not normalized. */
static inline void
route (const Model *self, const double *logits, int experts, int k, int *chosen, double *weights)
{
  const char *first = router_text (self, "first"), *divides = router_text (self, "normalize");
  const char *kind = router_text (self, "score"), *scale = router_text (self, "scale");
  gboolean soft = !kind || g_str_has_prefix (kind, "softmax");
  gboolean local = soft && !(first && g_str_has_prefix (first, "score"));
  gboolean normalized = local || (k > 1 && !(divides && g_str_has_prefix (divides, "false")));
  double sum = 0;
  for (int j = 0; j < k; j++) {
    chosen[j] = -1;
    for (int e = 0; e < experts; e++) {
      gboolean taken = FALSE;
      for (int i = 0; i < j; i++)
        taken |= chosen[i] == e;
      if (!taken && (chosen[j] < 0 || logits[e] > logits[chosen[j]]))
        chosen[j] = e;
    }
    sum += weights[j] = router_score (self, logits, experts, chosen[j]);
  }
  for (int j = 0; j < k; j++)
    weights[j] *= (scale ? strtod (scale, NULL) : 1) / (normalized ? sum : 1);
}

/* Returns a linear map of one row by the weight of an expert, or without experts, of number 0. */
static inline Matrix
expert_linear (Model *self, Matrix x, const char *part, int experts, int e, int features)
{
  Matrix y = matrix_new (self, 1, features);
  const double *weight = model_weight (self, part, "weight", experts * features * x.columns);
  const double *bias = model_weight (self, part, "bias", experts * features);
  for (int j = 0; j < features; j++) {
    y.at[j] = bias ? bias[e * features + j] : 0;
    for (int l = 0; l < x.columns; l++)
      y.at[j] += x.at[l] * weight[(e * features + j) * x.columns + l];
  }
  return y;
}

/* Restores the halves of a row from alternating blocks. */
static inline Matrix
separate (Model *self, Matrix x, int block)
{
  Matrix y = matrix_new (self, 1, x.columns);
  for (int c = 0; block > 0 && c < x.columns / 2; c++) {
    y.at[c] = x.at[c + c / block * block];
    y.at[c + x.columns / 2] = x.at[c + c / block * block + block];
  }
  return block > 0 ? y : x;
}

static inline Matrix
model_experts (Model *self, Matrix x, int experts)
{
  const char *at = model_find (self, "activation");
  g_autofree char *name = at ? g_strndup (at, strcspn (at, ",)")) : g_strdup ("swiglu");
  int k = (int) model_number (self, "top-k", 2), halves = strstr (name, "glu") ? 2 : 1;
  int inner = (int) model_number (self, "expert-features", 4 * x.columns);
  int shared = (int) model_number (self, "shared-features", 0), chosen[16];
  int block = (int) model_number (self, "interleave", 0);
  double weights[16];
  gboolean gated = model_find (self, "shared-gate") != NULL;
  Matrix y = matrix_new (self, x.rows, x.columns);
  for (int i = 0; i < x.rows; i++) {
    Matrix row = {1, x.columns, x.at + i * x.columns}, sum = {1, x.columns, y.at + i * x.columns};
    Matrix logits = expert_linear (self, row, "router", 1, 0, experts);
    route (self, logits.at, experts, k, chosen, weights);
    double gate = gated ? sigmoid (expert_linear (self, row, "shared-gate", 1, 0, 1).at[0]) : 1;
    for (int j = 0; j < k + (shared > 0); j++) {
      gboolean one = j < k;
      Matrix h = expert_linear (self, row, one ? "experts-fc1" : "shared-fc1", one ? experts : 1,
                                one ? chosen[j] : 0, halves * (one ? inner : shared));
      h = model_activate (self, separate (self, h, one ? block : 0), name);
      h = expert_linear (self, h, one ? "experts-fc2" : "shared-fc2", one ? experts : 1,
                         one ? chosen[j] : 0, x.columns);
      for (int c = 0; c < x.columns; c++)
        sum.at[c] += (one ? weights[j] : gate) * h.at[c];
    }
  }
  return y;
}

/* --- Heads --------------------------------------------------------------------------------------
 */

static inline double
rotary_frequency (const Model *self, int pair, int rotated)
{
  double frequency = pow (model_number (self, "rotary-base", 10000), -2.0 * pair / rotated);
  double factor = model_number (self, "rotary-factor", 8), wave = 2 * G_PI / frequency;
  double original = model_number (self, "rotary-original", 8192);
  double low = model_number (self, "rotary-low", 1), high = model_number (self, "rotary-high", 4);
  if (model_is (self, "rotary-scaling", "linear"))
    return frequency / factor;
  if (model_is (self, "rotary-scaling", "yarn")) {
    double ends[2], turns[2] = {high, low}, base = model_number (self, "rotary-base", 10000);
    for (int i = 0; i < 2; i++)
      ends[i] = rotated * log (original / (turns[i] * 2 * G_PI)) / (2 * log (base));
    if (model_number (self, "rotary-truncate", 1) != 0) {
      ends[0] = floor (ends[0]);
      ends[1] = ceil (ends[1]);
    }
    double from = fmax (ends[0], 0), to = fmin (ends[1], rotated - 1);
    double share = fmin (fmax ((pair - from) / (to - from), 0), 1);
    return frequency / factor * share + frequency * (1 - share);
  }
  if (!model_is (self, "rotary-scaling", "llama3") || wave < original / high)
    return frequency;
  if (wave > original / low)
    return frequency / factor;
  double smooth = (original / wave - low) / (high - low);
  return (1 - smooth) * frequency / factor + smooth * frequency;
}

/* Applies rotary embeddings to the heads of each row in place. */
static inline void
model_rotate (const Model *self, Matrix x, int features)
{
  int rotated = (int) lrint (features * model_number (self, "rotary-fraction", 1));
  gboolean interleaved = model_number (self, "rotary-interleaved", 0) != 0;
  double magnitude = 1;
  if (model_is (self, "rotary-scaling", "yarn"))
    magnitude = model_number (self, "rotary-magnitude",
                              0.1 * log (model_number (self, "rotary-factor", 8)) + 1);
  for (int i = 0; i < x.rows; i++)
    for (int head = 0; head < x.columns / features; head++)
      for (int pair = 0; pair < rotated / 2; pair++) {
        double angle = i % (x.rows / self->batch) * rotary_frequency (self, pair, rotated);
        double *row = x.at + i * x.columns + head * features;
        double *a = row + (interleaved ? 2 * pair : pair);
        double *b = row + (interleaved ? 2 * pair + 1 : pair + rotated / 2), old = *a;
        *a = magnitude * (old * cos (angle) - *b * sin (angle));
        *b = magnitude * (*b * cos (angle) + old * sin (angle));
      }
}

/* Normalizes each head in place. */
static inline void
model_norm_heads (const Model *self, Matrix x, int features, const char *name)
{
  gboolean layer = model_is (self, "qk-norm", "layer"), l2 = model_is (self, "qk-norm", "l2");
  g_autofree char *bias = g_strconcat (name, "_bias", NULL);
  double eps = model_number (self, "qk-norm-eps", 1e-6);
  const double *gain = model_weight (self, "qk-norm", name, features);
  const double *added = model_weight (self, "qk-norm", bias, features);
  g_assert_true ((gain != NULL) == !l2 && (added != NULL) == layer);
  for (int i = 0; i < x.rows * x.columns; i += features) {
    normalize (x.at + i, features, layer, l2 ? eps / features : eps, gain, added);
    /* The root of the sum of squares is larger than that of their mean. */
    for (int j = 0; j < features && l2; j++)
      x.at[i + j] /= sqrt (features);
  }
}

static inline double
alibi_slope (int head, int heads)
{
  int power = 1;
  while (2 * power <= heads)
    power *= 2;
  return head < power ? pow (2, -8.0 * (head + 1) / power)
                      : pow (2, -4.0 * (2 * (head - power) + 1) / power);
}

typedef struct {
  int heads, kv_heads, features, queries, keys; /* per row of the batch */
  const char *mask;
  const int *lengths, *documents;
  const double *sinks;
  gboolean cross, behind; /* after self attention: without its window and ALiBi */
} Attention;

static inline gboolean
sees (const Model *self, const Attention *a, int batch, int i, int j)
{
  int window = a->behind ? 0 : (int) model_number (self, "window", 0);
  int length = a->keys, at = i;
  if (a->lengths)
    length = a->lengths[batch];
  if (g_str_equal (a->mask, "causal-bottom-right") && a->cross)
    at = i + length - a->queries;
  if (j >= length || (!a->cross && i >= length))
    return FALSE;
  if (!g_str_equal (a->mask, "none") && j > at)
    return FALSE;
  if (window > 0 && (j <= at - window || j >= at + window))
    return FALSE;
  return !a->documents ||
         a->documents[batch * a->queries + i] == a->documents[batch * a->queries + j];
}

static inline double
score (const Model *self, const Attention *a, const double *q, const double *k, int head, int ahead)
{
  double scale = model_number (self, "scale", 0), cap = model_number (self, "softcap", 0), s = 0;
  for (int d = 0; d < a->features; d++)
    s += q[d] * k[d];
  s *= scale > 0 ? scale : 1 / sqrt (a->features);
  if (cap > 0)
    s = cap * tanh (s / cap);
  return !a->behind && model_number (self, "alibi", 0) != 0
           ? s + alibi_slope (head, a->heads) * ahead
           : s;
}

/* Adds one query's values, softmax of the scores, to y. */
static inline void
attend_one (const Model *self,
            const Attention *a,
            const double *q,
            Matrix k,
            Matrix v,
            int batch,
            int head,
            int i,
            double *y)
{
  int offset = head / (a->heads / a->kv_heads) * a->features;
  double total = a->sinks ? exp (a->sinks[head]) : 0;
  for (int pass = 0; pass < 2; pass++)
    for (int j = 0; j < a->keys; j++) {
      int row = (batch * a->keys + j) * k.columns + offset;
      if (!sees (self, a, batch, i, j))
        continue;
      double weight = exp (score (self, a, q, k.at + row, head, -abs (j - i)));
      if (pass == 0)
        total += weight;
      for (int d = 0; d < a->features && pass == 1; d++)
        y[d] += weight / total * v.at[row + d];
    }
}

static inline Matrix
model_attend (Model *self, const Attention *a, Matrix q, Matrix k, Matrix v)
{
  Matrix y = matrix_new (self, q.rows, q.columns);
  if (model_number (self, "attention-dropout", 0) == 1)
    return y;
  for (int row = 0; row < q.rows; row++)
    for (int head = 0; head < a->heads; head++) {
      int at = row * q.columns + head * a->features;
      attend_one (self, a, q.at + at, k, v, row / a->queries, head, row % a->queries, y.at + at);
    }
  return y;
}

static inline Attention
attention_of (const Model *self)
{
  int heads = model_first (self);
  Attention a = {
    .heads = heads,
    .kv_heads = (int) model_number (self, "kv-heads", heads),
    .features = (int) model_number (self, "head-features", self->x.columns / heads),
    .queries = self->x.rows / self->batch,
  };
  a.mask = model_is (self, "mask", "none")                  ? "none"
           : model_is (self, "mask", "causal-bottom-right") ? "causal-bottom-right"
                                                            : "causal";
  return a;
}

static inline Matrix
model_self_attention (Model *self, Matrix x)
{
  Attention a = attention_of (self);
  int wide = a.heads * a.features, narrow = a.kv_heads * a.features;
  Matrix packed = model_linear (self, x, "qkv", wide + 2 * narrow);
  Matrix q = matrix_columns (self, packed, 0, wide);
  Matrix k = matrix_columns (self, packed, wide, narrow);
  Matrix v = matrix_columns (self, packed, wide + narrow, narrow);
  gboolean first = model_number (self, "qk-norm-before-rotary", 1) != 0;
  for (int pass = 0; pass < 2; pass++) {
    if ((pass == 0) == first && model_find (self, "qk-norm")) {
      model_norm_heads (self, q, a.features, "query");
      model_norm_heads (self, k, a.features, "key");
    }
    if ((pass == 1) == first && model_number (self, "rotary", 0) != 0) {
      model_rotate (self, q, a.features);
      model_rotate (self, k, a.features);
    }
  }
  a.keys = a.queries;
  a.lengths = self->lengths;
  a.documents = self->documents;
  a.sinks = model_weight (self, "attention", "sinks", a.heads);
  g_assert_true ((a.sinks != NULL) == (model_number (self, "sinks", 0) != 0));
  return model_linear (self, model_attend (self, &a, q, k, v), "proj", self->x.columns);
}

static inline Matrix
model_cross_attention (Model *self, Matrix x, const char *mask, const char *proj)
{
  Attention a = attention_of (self);
  int wide = a.heads * a.features, narrow = a.kv_heads * a.features;
  Matrix q = model_linear (self, x, "query", wide);
  Matrix packed = model_linear (self, self->memory, "key-value", 2 * narrow);
  Matrix k = matrix_columns (self, packed, 0, narrow);
  Matrix v = matrix_columns (self, packed, narrow, narrow);
  a.mask = mask ? mask : a.mask;
  a.cross = TRUE;
  a.keys = self->memory.rows / self->batch;
  a.behind = g_str_equal (proj, "cross-proj");
  a.lengths = mask ? self->memory_lengths : self->lengths;
  a.sinks = model_weight (self, g_str_equal (proj, "proj") ? "attention" : "cross-attention",
                          "sinks", a.heads);
  return model_linear (self, model_attend (self, &a, q, k, v), proj, self->x.columns);
}

/* --- Layers -------------------------------------------------------------------------------------
 */

/* Adds a branch to the main line; with a drop probability of 1, nothing of it remains. */
static inline Matrix
model_join (Model *self, Matrix residual, Matrix branch)
{
  gboolean dropped =
    model_number (self, "hidden-dropout", 0) == 1 || model_number (self, "drop-path", 0) == 1;
  return matrix_add (self, residual, branch, dropped ? 0 : 1);
}

static inline Matrix
model_transformer_layer (Model *self, Matrix x)
{
  gboolean post = model_number (self, "residual-post-norm", 0) != 0;
  gboolean output = model_number (self, "output-layer-norm", 0) != 0;
  int features = (int) model_number (self, "ffn-features", 0);
  int experts = (int) model_number (self, "experts", 0);
  Matrix n = output ? x : model_norm (self, x, "attention-norm");
  Matrix attention = model_self_attention (self, n);
  if (model_number (self, "parallel-attention-mlp", 0) != 0) {
    Matrix mlp = model_mlp (self, model_norm (self, x, "mlp-norm"), features);
    return model_join (self, x, matrix_add (self, attention, mlp, 1));
  }
  x = model_join (self, post ? n : x, attention);
  if (model_is (self, "layer-type", "decoder")) {
    n = model_norm (self, x, "cross-norm");
    x = model_join (self, post ? n : x, model_cross_attention (self, n, "none", "cross-proj"));
  }
  n = model_norm (self, x, "mlp-norm");
  x = model_join (self, post ? n : x,
                  experts > 0 ? model_experts (self, n, experts) : model_mlp (self, n, features));
  return output ? model_norm (self, x, "output-norm") : x;
}

/* Returns the output of the macro, for the caller to free. */
static inline double *
model_run (Model *self)
{
  Matrix y, x = self->x;
  self->garbage = g_ptr_array_new_with_free_func (g_free);
  if (g_str_has_prefix (self->text, "layer-norm-linear"))
    y = model_linear (self, model_norm (self, x, "norm"), "linear", model_first (self));
  else if (g_str_has_prefix (self->text, "layer-norm-mlp"))
    y = model_mlp (self, model_norm (self, x, "norm"), model_first (self));
  else if (g_str_has_prefix (self->text, "mixture-of-experts"))
    y = model_experts (self, x, model_first (self));
  else if (g_str_has_prefix (self->text, "transformer-layer"))
    y = model_transformer_layer (self, x);
  else {
    x = model_number (self, "input-layer-norm", 0) != 0 ? model_norm (self, x, "norm") : x;
    y = self->memory.rows > 0 ? model_cross_attention (self, x, NULL, "proj")
                              : model_self_attention (self, x);
  }
  double *result = g_memdup2 (y.at, (gsize) (y.rows * y.columns) * sizeof (double));
  g_ptr_array_unref (self->garbage);
  return result;
}
