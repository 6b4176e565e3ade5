/* SPDX-License-Identifier: MIT */
/* lig_suggest(): the name that a mistyped one means, and no name where none is similar. */
#include <ligature/suggest.h>

#include <locale.h>

static const char *const ops[] = {"layer-norm", "rms-norm", "gelu",       "relu", "silu",  "linear",
                                  "lr",         "add",      "linear-add", "init", "input", NULL};

static void
test_words (void)
{
  static const struct {
    const char *word, *expected;
  } cases[] = {
    {"gleu", "gelu"}, /* two neighbours swapped */
    {"gelu", "gelu"}, /* the name itself */
    {"GELU", "gelu"}, /* upper case */
    {"layer_norm", "layer-norm"},
    {"layernorm", "layer-norm"},
    {"lin", "linear"}, /* the shortest name with this beginning */
    {"linear-", "linear-add"},
    {"lineer", "linear"},
    {"eelu", "gelu"}, /* as near as relu, which comes later */
    {"lsr", "lr"},
    {"rl", "lr"},
    {"rmsnr", "rms-norm"}, /* an abbreviation */
    {"inpt", "input"},     /* a missing letter, rather than another letter */
    {"lrnorm", "layer-norm"},
    {"addnorm", NULL},
    {"a", NULL}, /* everything begins with something */
    {"xx", NULL},
    {"frobnicate", NULL},
    {"", NULL},
    {"gelugelugelugelugelugelugelugelugelugelugelugelugelugelugelugelugelu", NULL},
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_test_message ("%s", cases[i].word);
    g_assert_cmpstr (lig_suggest (cases[i].word, ops), ==, cases[i].expected);
  }
  g_assert_null (lig_suggest ("gelu", (const char *const[]){NULL}));
}

static void
test_ending (void)
{
  g_autofree char *near = lig_suggest_ending ("gleu", ops), *none = lig_suggest_ending ("xx", ops);
  g_assert_cmpstr (near, ==, "; did you mean 'gelu'?");
  g_assert_cmpstr (none, ==, "");
}

int
main (int argc, char **argv)
{
  setlocale (LC_ALL, "C.UTF-8");
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/suggest/words", test_words);
  g_test_add_func ("/suggest/ending", test_ending);
  return g_test_run ();
}
