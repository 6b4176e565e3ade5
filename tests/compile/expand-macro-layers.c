/* SPDX-License-Identifier: MIT */
/* Layers with random parameters compute the same bits when expanded, also next to tied ops, in
 * blocks, and between branches. */
#include "tests/compile/apart-case.h"

#include <ligature/lowering.h>

#define FEATURES 8

static const char *
pick (GRand *random, const char *list)
{
  static char chosen[64];
  g_auto (GStrv) words = g_strsplit (list, "|", -1);
  g_strlcpy (chosen, words[g_rand_int_range (random, 0, (int) g_strv_length (words))],
             sizeof chosen);
  return chosen;
}

/* Adds a parameter to the list with probability 1/2. */
static void
add (GString *text, GRand *random, const char *name, const char *values)
{
  if (g_rand_boolean (random))
    g_string_append_printf (text, ", %s=%s", name, pick (random, values));
}

/* Returns a layer as an expression; `memory` names a channel, or is null. */
static char *
make_layer (GRand *random, const char *memory)
{
  GString *text = g_string_new ("transformer-layer(4");
  const char *const orders[] = {"residual-post-norm", "output-layer-norm",
                                "parallel-attention-mlp"};
  add (text, random, "kv-heads", "1|2|4");
  add (text, random, "head-features", "2|6");
  add (text, random, "mask", "none|causal|causal-bottom-right");
  add (text, random, "window", "1|3");
  add (text, random, "softcap", "1|3");
  add (text, random, "alibi", "true|false");
  add (text, random, "sinks", "true|false");
  add (text, random, "rotary", "true|false");
  add (text, random, "rotary-interleaved", "true|false");
  add (text, random, "rotary-scaling", "none|linear|llama3|yarn");
  add (text, random, "qk-norm", "rms|l2|layer");
  add (text, random, "qk-norm-before-rotary", "true|false");
  add (text, random, "ffn-features", "3|12");
  add (text, random, "activation", "gelu|relu|swiglu|geglu|clamped-swiglu");
  add (text, random, "normalization", "layer-norm|rms-norm");
  add (text, random, "zero-centered-gamma", "true|false");
  add (text, random, "bias", "true|false");
  if (g_rand_boolean (random))
    g_string_append_printf (text, ", %s=true",
                            orders[g_rand_int_range (random, 0, memory ? 2 : 3)]);
  if (memory)
    g_string_append_printf (text, ", layer-type=decoder, memory=%s", memory);
  g_string_append_c (text, ')');
  return g_string_free (text, FALSE);
}

static void
take_layers_apart (LigSequence *sequence)
{
  for (int i = 0; i < (int) lig_sequence_get_length (sequence);) {
    LigOp *op = lig_sequence_get (sequence, i, NULL);
    if (lig_op_get_body (op))
      take_layers_apart (lig_op_get_body (op));
    if (g_str_equal (lig_op_get_name (op), "transformer-layer")) {
      expand_macro (sequence, i, FEATURES);
    } else
      i++;
  }
}

static void
check_same (const char *expression)
{
  g_autoptr (LigSequence) whole = new_sequence (expression, "2x5x8");
  g_autoptr (LigSequence) apart = lig_sequence_copy (whole);
  g_test_message ("%s", expression);
  take_layers_apart (apart);
  compare_apart (whole, apart);
}

static void
test_random (void)
{
  const char *const around[] = {
    "linear(8, bias=false) ! %s ! gelu ! linear(8, bias=false, tied=0)",
    "layer-norm ! block(2) { %s } ! layer-norm",
    "%s ! linear(8) ! gelu ! linear(8, tied='1')",
    "linear(8) ! block(2) { %s ! linear(8, tied='../../0') }",
    "make-extra-output(r) ! %s ! add-extra-input(r)",
    "position-embedding(6) ! layer-norm-mlp(5) ! %s",
  };
  const char *const crossed[] = {
    "layer-norm ! make-extra-output(m) ! %s",
    "layer-norm ! make-extra-output(m) ! linear(8) ! %s ! add-extra-input(m)",
  };
  g_autoptr (GRand) random = g_rand_new_with_seed (1);
  for (int i = 0; i < 60; i++) {
    gboolean cross = g_rand_int_range (random, 0, 4) == 0;
    g_autofree char *layer = make_layer (random, cross ? "m" : NULL);
    const char *place = cross ? crossed[i % 2] : around[i % (int) G_N_ELEMENTS (around)];
    g_auto (GStrv) halves = g_strsplit (place, "%s", 2);
    g_autofree char *text = g_strconcat (halves[0], layer, halves[1], NULL);
    check_same (text);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/expand-macro-layers/random", test_random);
  return g_test_run ();
}
