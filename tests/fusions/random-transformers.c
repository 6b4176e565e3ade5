/* SPDX-License-Identifier: MIT */
/* Random sequences with attention, whole layers, tied and frozen parameters: with all fusions that
 * the compiler chose, the results agree with the unfused ops. The same plan gives the same bits
 * twice. LIGATURE_RANDOM=N tries N sequences instead of a few, LIGATURE_RANDOM_SEED=N others. */
#include "tests/fusions/noise.h"
#include <ligature/compile.h>

#include <stdlib.h>

typedef struct {
  GRand *random;
  GString *text;
  int length;  /* sequence length */
  int open[8]; /* channels to read */
  int n_open, next;
  int outer;     /* a channel outside the block, or -1 */
  int ops;       /* number of ops in the sequence so far; -1 in a block */
  int square[8]; /* those with an 8x8 weight */
  int n_square;
} Maker;

static int
below (Maker *self, int end)
{
  return g_rand_int_range (self->random, 0, end);
}

static gboolean
one_in (Maker *self, int count)
{
  return below (self, count) == 0;
}

static const char *
pick (Maker *self, const char *const *words)
{
  return words[below (self, (int) g_strv_length ((GStrv) words))];
}

#define PICK(self, ...) pick (self, (const char *const[]){__VA_ARGS__, NULL})

static void
add (Maker *self, const char *format, ...)
{
  va_list arguments;
  if (self->text->len > 0 && !g_str_has_suffix (self->text->str, "{ "))
    g_string_append (self->text, one_in (self, 14) ? " ! | ! " : " ! ");
  va_start (arguments, format);
  g_string_append_vprintf (self->text, format, arguments);
  va_end (arguments);
  if (self->ops >= 0)
    self->ops++;
}

/* Adds one parameter or none. */
static void
maybe (Maker *self, GString *values, int odds, const char *value)
{
  if (one_in (self, odds))
    g_string_append_printf (values, ", %s", value);
}

static const char *
frozen (Maker *self)
{
  return one_in (self, 6) ? ", trained=false" : "";
}

/* Adds masks and factors of attention; the caller's lengths are below 4. */
static void
add_masks (Maker *self, GString *values)
{
  maybe (self, values, 2, PICK (self, "mask=none", "mask=causal-bottom-right"));
  if (one_in (self, 3))
    g_string_append_printf (values, ", window=%d", 1 + below (self, 5));
  maybe (self, values, 4, "alibi=true");
  maybe (self, values, 4, "softcap=1.5");
  maybe (self, values, 3, "scale=0.25");
}

static char *
new_channel (Maker *self)
{
  return g_strdup_printf ("c%d", self->next++);
}

/* Returns a channel to read, or null; it stays open. */
static char *
find_channel (Maker *self)
{
  if (self->outer >= 0 && one_in (self, 3))
    return g_strdup_printf ("../c%d", self->outer);
  if (self->n_open == 0)
    return NULL;
  return g_strdup_printf ("c%d", self->open[below (self, self->n_open)]);
}

static void
add_branch (Maker *self)
{
  if (self->n_open == (int) G_N_ELEMENTS (self->open))
    return;
  self->open[self->n_open++] = self->next;
  add (self, "make-extra-output(c%d%s)", self->next++, one_in (self, 4) ? ", caller=true" : "");
}

static void
add_load_branch (Maker *self)
{
  g_autofree char *from = find_channel (self);
  g_autofree char *end = new_channel (self);
  if (!from)
    return;
  add (self, "make-extra-output(%s, caller=true)", end);
  add (self, "load-branch(%s)", from);
}

/* Adds a matmul that feeds attention, attention, and a matmul back to 8 features. */
static void
add_attention (Maker *self)
{
  static const int kv_heads[] = {1, 2, 4};
  int heads = kv_heads[below (self, 3)], kv = 1, features = 4 + 2 * below (self, 3);
  g_autoptr (GString) values = g_string_new (NULL);
  g_autofree char *memory = one_in (self, 4) ? find_channel (self) : NULL;
  while (kv < heads && one_in (self, 2))
    kv *= 2;
  if (memory) {
    g_autofree char *packed = new_channel (self), *line = new_channel (self);
    add (self, "make-extra-output(%s)", line);
    add (self, "load-branch(%s)", memory);
    add (self, "linear(%d%s)", 2 * kv * features, frozen (self));
    add (self, "make-extra-output(%s)", packed);
    add (self, "load-branch(%s)", line);
    add (self, "linear(%d%s)", heads * features, frozen (self));
    g_string_append_printf (values, ", memory=%s", packed);
  } else {
    add (self, "%s(%d%s)", PICK (self, "linear", "basic-linear"), (heads + 2 * kv) * features,
         frozen (self));
    if (one_in (self, 3))
      add (self, "qk-norm(%d, kv-heads=%d, kind=%s, eps=0.3%s)", heads, kv,
           PICK (self, "rms", "l2", "layer"), frozen (self));
    if (one_in (self, 3))
      add (self, "rotary(%d, kv-heads=%d%s)", heads, kv,
           PICK (self, "", ", interleaved=true", ", base=50", ", scaling=linear, factor=3"));
    maybe (self, values, 5, "documents=caller");
  }
  add_masks (self, values);
  maybe (self, values, 4, "lengths=caller");
  maybe (self, values, 4, "dropout=0.25");
  add (self, "attention(%d, kv-heads=%d%s)", heads, kv, values->str);
  add (self, "%s(8%s)", PICK (self, "linear", "basic-linear"), frozen (self));
}

/* Sets what a macro recomputes in the backward pass. */
static void
add_recompute (Maker *self, GString *values)
{
  maybe (self, values, 4, PICK (self, "recompute=none", "recompute=cheap", "recompute=all"));
}

/* Adds the parameters that both macros with attention share. */
static void
add_layer_values (Maker *self, GString *values)
{
  add_masks (self, values);
  maybe (self, values, 3, PICK (self, "kv-heads=1", "kv-heads=2", "kv-heads=4"));
  g_string_append_printf (values, ", %s",
                          PICK (self, "head-features=6", "head-features=4", "head-features=8"));
  maybe (self, values, 3, "bias=false");
  maybe (self, values, 3, "normalization=rms-norm");
  maybe (self, values, 4, "zero-centered-gamma=true");
  maybe (self, values, 4, "attention-dropout=0.25");
  maybe (self, values, 3, "eps=0.01");
  add_recompute (self, values);
}

static void
add_self_values (Maker *self, GString *values)
{
  maybe (self, values, 5, "documents=caller");
  maybe (self, values, 3,
         PICK (self, "rotary=true", "rotary=true, rotary-interleaved=true",
               "rotary=true, rotary-base=50, qk-norm-before-rotary=false"));
  maybe (self, values, 4,
         PICK (self, "qk-norm=rms, qk-norm-eps=0.3", "qk-norm=l2, qk-norm-eps=0.3",
               "qk-norm=layer, qk-norm-eps=0.3"));
}

static const char *
activation (Maker *self)
{
  return PICK (self, "gelu", "gelu-erf", "qgelu", "relu", "srelu", "silu", "glu", "geglu", "qgeglu",
               "reglu", "sreglu", "swiglu", "swiglu", "clamped-swiglu");
}

static void
add_multi_head_attention (Maker *self)
{
  g_autoptr (GString) values = g_string_new (NULL);
  g_autofree char *memory = one_in (self, 4) ? find_channel (self) : NULL;
  add_layer_values (self, values);
  maybe (self, values, 2, "input-layer-norm=true");
  maybe (self, values, 4, "lengths=caller");
  if (memory)
    g_string_append_printf (values, ", memory=%s", memory);
  else
    add_self_values (self, values);
  add (self, "multi-head-attention(4%s%s)", values->str, frozen (self));
}

static void
add_transformer_layer (Maker *self)
{
  g_autoptr (GString) values = g_string_new (NULL);
  g_autofree char *memory = one_in (self, 4) ? find_channel (self) : NULL;
  add_layer_values (self, values);
  add_self_values (self, values);
  maybe (self, values, 4, "lengths=caller");
  maybe (self, values, 4, "hidden-dropout=0.25");
  maybe (self, values, 4, "drop-path=0.25");
  maybe (self, values, 3, "ffn-features=12");
  g_string_append_printf (values, ", activation=%s", activation (self));
  if (memory) {
    g_string_append_printf (values, ", layer-type=decoder, memory=%s", memory);
    maybe (self, values, 3, "memory-lengths=caller");
  }
  if (!memory && one_in (self, 4)) {
    g_string_append (values, ", parallel-attention-mlp=true");
  } else {
    maybe (self, values, 4, "residual-post-norm=true");
    maybe (self, values, 4, "output-layer-norm=true");
  }
  add (self, "transformer-layer(4%s%s)", values->str, frozen (self));
}

/* Adds a matmul of 8 by 8, often with the weight of an earlier one. */
static void
add_square (Maker *self)
{
  const char *op = PICK (self, "linear", "basic-linear");
  if (self->ops >= 0 && self->n_square > 0 && one_in (self, 2)) {
    add (self, "%s(8, tied=\"%d\")", op, self->square[below (self, self->n_square)]);
    return;
  }
  if (self->ops >= 0 && self->n_square < (int) G_N_ELEMENTS (self->square))
    self->square[self->n_square++] = self->ops;
  add (self, "%s(8%s)", op, frozen (self));
}

static void
add_small (Maker *self)
{
  switch (below (self, 8)) {
  case 0:
    add (self, "position-embedding(%d%s)", self->length + below (self, 3), frozen (self));
    break;
  case 1:
    add (self, "drop-path(0.3)");
    break;
  case 2:
    add (self, "dropout(0.25)");
    break;
  case 3:
    add (self, "%s(%s)", PICK (self, "layer-norm", "rms-norm"),
         PICK (self, "", "trained=false", "zero-centered-gamma=true"));
    break;
  case 4:
    add (self, "bias(%s)", one_in (self, 3) ? "trained=false" : "");
    break;
  case 5:
    add (self, "%s", PICK (self, "gelu", "silu", "relu", "identity", "constant-scale(0.5)"));
    break;
  case 6:
    add (self, "layer-norm-linear(8%s%s)", PICK (self, "", ", normalization=rms-norm"),
         frozen (self));
    break;
  default:
    add (self, "layer-norm-mlp(%d, activation=%s%s%s)", 6 + below (self, 6), activation (self),
         one_in (self, 3) ? ", bias=false" : "", frozen (self));
  }
}

static void
add_op (Maker *self)
{
  int choice = below (self, 20);
  if (choice < 3) {
    add_branch (self);
  } else if (choice < 5) {
    add_load_branch (self);
  } else if (choice < 7) {
    g_autofree char *from = find_channel (self);
    if (from)
      add (self, "add-extra-input(%s)", from);
  } else if (choice < 10) {
    add_attention (self);
  } else if (choice < 12) {
    add_transformer_layer (self);
  } else if (choice < 14) {
    add_multi_head_attention (self);
  } else if (choice < 16) {
    add_square (self);
  } else {
    add_small (self);
  }
}

static void
add_block (Maker *self, int length)
{
  Maker inner = {.random = self->random, .text = self->text, .length = self->length, .ops = -1};
  inner.outer = self->n_open > 0 ? self->open[0] : -1;
  add (self, "block(2%s%s) { ", PICK (self, "", ", recompute=all", ", recompute=cheap"),
       frozen (self));
  for (int i = 0; i < length; i++)
    add_op (&inner);
  if (g_str_has_suffix (self->text->str, "{ "))
    add (&inner, "identity");
  g_string_append (self->text, " }");
}

/* Returns a sequence, and its input. */
static char *
make_expression (GRand *random, char **input)
{
  static const int lengths[] = {4, 5, 7, 9};
  Maker maker = {.random = random, .text = g_string_new (NULL), .outer = -1};
  gboolean tokens = one_in (&maker, 3);
  int body = below (&maker, 4), end = below (&maker, 4);
  maker.length = lengths[below (&maker, G_N_ELEMENTS (lengths))];
  *input = g_strdup_printf (tokens ? "2x%d:int32" : "2x%dx8", maker.length);
  if (tokens)
    add (&maker, "embedding(8, vocabulary=%d%s)", tokens && end == 0 ? 8 : 5, frozen (&maker));
  for (int i = 1 + below (&maker, 5); i > 0; i--)
    add_op (&maker);
  if (body > 0)
    add_block (&maker, body);
  if (one_in (&maker, 2))
    add_op (&maker);
  if (tokens && end == 0)
    add (&maker, "%s(8, tied=\"0\") ! cross-entropy", PICK (&maker, "basic-linear", "linear"));
  else if (end == 1)
    add (&maker, "linear(7) ! cross-entropy");
  else if (maker.text->len == 0)
    add (&maker, "identity");
  return g_string_free (maker.text, FALSE);
}

/* Repeated squaring soon exceeds the range of fp32, and large attention scores amplify rounding
 * errors without bound before that; such results are not compared. */
static gboolean
is_tame (const Results *results)
{
  for (guint i = 0; i < results->tensors->len; i++)
    if (!(size_of (results->tensors->pdata[i]) < 1e3))
      return FALSE;
  return TRUE;
}

static void
check_same_bits (const Results *a, const Results *b, const char *what)
{
  g_assert_cmpuint (a->names->len, ==, b->names->len);
  for (guint i = 0; i < a->names->len; i++) {
    const LigTensor *x = a->tensors->pdata[i], *y = b->tensors->pdata[i];
    if (memcmp (x->data, y->data, (gsize) x->size * lig_dtype_size (x->dtype)))
      g_error ("%s: %s differs bitwise the second time", what, (char *) a->names->pdata[i]);
  }
}

/* Returns the expression without recomputation. */
static char *
without_recompute (const char *expression)
{
  static const char *const words[] = {", recompute=none", ", recompute=cheap", ", recompute=all"};
  GString *text = g_string_new (expression);
  for (guint i = 0; i < G_N_ELEMENTS (words); i++)
    g_string_replace (text, words[i], "", 0);
  return g_string_free (text, FALSE);
}

/* Recomputed values in the backward pass have the same bits. Returns the number of plans that
 * recompute any. */
static guint
check_recompute (LigPlanOptions options, const char *expression, const char *input)
{
  guint spared = 0;
  g_autofree char *text = without_recompute (expression);
  g_autoptr (LigSequence) sequence = new_sequence (expression, input);
  g_autoptr (LigSequence) plain = new_sequence (text, input);
  g_autoptr (Results) want = compute_trained (plain, &options);
  for (int level = LIG_RECOMPUTE_NONE; level <= LIG_RECOMPUTE_ALL; level++) {
    options.recompute = (LigRecompute) level;
    g_autoptr (Results) got = compute_trained (sequence, &options);
    g_autoptr (LigPlan) plan = lig_plan_compile (sequence, cpu_device (), &options, NULL);
    g_assert_nonnull (plan);
    check_same_bits (want, got, expression);
    spared += lig_plan_get_spared_bytes (plan) > 0;
  }
  return spared;
}

/* Long chains of ops amplify rounding errors of nearly constant rows; bugs cause larger errors. */
#define SLACK 1e-2

static guint
check_one (const char *expression, const char *input, GRand *random)
{
  guint spared = 0;
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.input_gradient = g_rand_boolean (random) && !g_str_has_suffix (input, "int32");
  options.training = g_rand_int_range (random, 0, 4) > 0;
  options.policy = LIG_POLICY_NONE;
  g_autoptr (LigSequence) sequence = new_sequence (expression, input);
  g_autoptr (Results) none = compute_trained (sequence, &options);
  if (!is_tame (none))
    return 0;
  spared += check_recompute (options, expression, input);
  options.policy = LIG_POLICY_ALL;
  g_autoptr (Results) all = compute_trained (sequence, &options);
  g_autoptr (Results) again = compute_trained (sequence, &options);
  check_same_bits (all, again, expression);
  g_assert_cmpuint (all->names->len, ==, none->names->len);
  for (guint i = 0; i < none->names->len; i++) {
    double distance = relative (all, none, i, expression);
    if (!(distance <= SLACK))
      g_error ("%s @ %s: %s is off by %g", expression, input, (char *) none->names->pdata[i],
               distance);
  }
  spared += check_recompute (options, expression, input);
  if (g_rand_boolean (random)) {
    check_half (sequence, options, expression);
    options.compute = LIG_BF16;
    options.policy = LIG_POLICY_NONE;
    spared += check_recompute (options, expression, input);
  }
  return spared;
}

static void
test_random (void)
{
  const char *number = g_getenv ("LIGATURE_RANDOM"), *seed = g_getenv ("LIGATURE_RANDOM_SEED");
  int count = number ? atoi (number) : 80;
  guint spared = 0;
  GRand *random = g_rand_new_with_seed (seed ? (guint32) atoi (seed) : 13);
  for (int i = 0; i < count; i++) {
    g_autofree char *input = NULL;
    g_autofree char *expression = make_expression (random, &input);
    g_test_message ("%d: %s @ %s", i, expression, input);
    spared += check_one (expression, input, random);
  }
  g_test_message ("%u plans computed values again", spared);
  g_assert_true (number || spared > 20);
  g_rand_free (random);
}

/* A 16-bit op without an input gradient, but with parameter gradients. */
static void
test_without_input (void)
{
  static const char *const cases[] = {
    "linear(24, trained=false) ! qk-norm(2, kind=layer) ! linear(8)",
    "basic-linear(8, trained=false) ! layer-norm",
    "basic-linear(8, trained=false) ! position-embedding(5)",
    "make-extra-output(m) ! linear(8, trained=false) ! make-extra-output(x) ! load-branch(m) ! "
    "linear(16) ! make-extra-output(kv) ! load-branch(x) ! attention(2, memory=kv)",
    "make-extra-output(m) ! linear(16, trained=false) ! make-extra-output(kv) ! load-branch(m) ! "
    "linear(8) ! attention(2, memory=kv)",
  };
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (LigSequence) sequence = new_sequence (cases[i], "2x5x8");
    g_test_message ("%s", cases[i]);
    check_half (sequence, options, cases[i]);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/fusions/random-transformers", test_random);
  g_test_add_func ("/fusions/without-input-gradient", test_without_input);
  return g_test_run ();
}
