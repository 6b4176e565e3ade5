/* SPDX-License-Identifier: MIT */
/* The picture of an attention mask shows the mask of the kernels, and the score folds a macro. */
#include "engine/draw/canvas.h"
#include "engine/draw/score.h"
#include <ligature/compile.h>
#include <ligature/draw-mask.h>

#include <string.h>

static LigOp *
new_op (const char *expression)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigSequence) sequence = lig_sequence_from_expression (expression, &error);
  g_assert_no_error (error);
  return g_object_ref (lig_sequence_get (sequence, 0, NULL));
}

typedef struct {
  LigOp *op;
  gint64 tokens;
  gboolean drawn;
} Picture;

static void
draw (LigCanvas *canvas, gpointer data)
{
  Picture *picture = data;
  picture->drawn =
    lig_draw_mask (canvas, lig_colours (LIG_COLOURS_LIGHT), picture->op, picture->tokens, 162, 162);
}

/* Returns the number of squares in the forward pass's full colour, and of all others. */
static void
count_squares (const char *expression, gint64 tokens, guint *full, guint *all)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigOp) op = new_op (expression);
  Picture picture = {op, tokens, FALSE};
  const LigColours *colours = lig_colours (LIG_COLOURS_LIGHT);
  g_autoptr (GBytes) bytes =
    lig_draw_to_file ("svg", 162, 162, colours->ground, draw, &picture, &error);
  g_assert_no_error (error);
  g_assert_true (picture.drawn);
  const char *text = g_bytes_get_data (bytes, NULL);
  g_autofree char *fill = g_strdup_printf ("fill=\"#%06x\"", colours->forward >> 8);
  *full = *all = 0;
  for (const char *at = text; (at = strstr (at, "<rect")); at++) {
    g_autofree char *element = g_strndup (at, strcspn (at, ">"));
    gboolean opaque = !strstr (element, "opacity");
    *full += strstr (element, fill) && opaque;
    ++*all;
  }
}

static void
test_squares (void)
{
  static const struct {
    const char *expression;
    gint64 tokens;
    guint seen;
  } cases[] = {
    {"transformer-layer(2)", 0, 78},
    {"transformer-layer(2, mask=none)", 0, 144},
    {"transformer-layer(2, window=1)", 0, 12},
    {"transformer-layer(2, window=512)", 1024, 57},
    {"transformer-layer(2, mask=none, window=2)", 0, 34},
    {"transformer-layer(2, documents=caller)", 0, 42},
    {"transformer-layer(2, lengths=caller)", 0, 45},
    {"transformer-layer(2, mask=causal-bottom-right, lengths=caller)", 0, 45},
    {"multi-head-attention(2, mask=none, memory=caller)", 0, 96},
    {"multi-head-attention(2, mask=causal-bottom-right, memory=caller)", 0, 68},
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    guint seen, all;
    count_squares (cases[i].expression, cases[i].tokens, &seen, &all);
    if (seen != cases[i].seen)
      g_error ("%s shows %u squares, expected %u", cases[i].expression, seen, cases[i].seen);
    g_assert_cmpuint (all, >=, seen);
  }
}

static void
check_words (const char *expression, const char *expected)
{
  g_autoptr (LigOp) op = new_op (expression);
  g_autofree char *text = lig_mask_describe (op);
  g_assert_cmpstr (text, ==, expected);
}

static void
test_words (void)
{
  check_words ("gelu", NULL);
  check_words ("layer-norm-mlp", NULL);
  check_words ("transformer-layer(2, window=128)",
               "A query attends to the keys up to its own position; only the last 128 of them");
  check_words ("multi-head-attention(2, mask=causal-bottom-right, memory=m, lengths=l)",
               "The last query attends to all keys, each earlier one to one key fewer; the keys "
               "come from the memory; keys past the lengths are masked");
  check_words ("transformer-layer(2, mask=none, alibi=true, documents=caller)",
               "A query attends to all keys; keys of other documents are masked; nearer keys get a "
               "larger bias");
}

/* --- Folded macros ------------------------------------------------------------------------- */

static void
test_folded (void)
{
  g_autoptr (GError) error = NULL;
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  LigShape shape;
  options.training = TRUE;
  lig_shape_init (&shape, 2, G_GINT64_CONSTANT (64), G_GINT64_CONSTANT (32));
  g_autoptr (LigDevice) device = lig_device_open ("null:h200", &error);
  g_assert_no_error (error);
  g_autoptr (LigSequence) sequence =
    lig_sequence_from_expression ("linear(32) ! layer-norm-mlp ! gelu", &error);
  g_assert_no_error (error);
  lig_sequence_set_input (sequence, &shape, LIG_FP32);
  g_autoptr (LigPlan) plan = lig_plan_compile (sequence, device, &options, &error);
  g_assert_no_error (error);
  g_autoptr (LigScoreLayout) layout = lig_score_layout_new (plan, NULL);
  g_assert_cmpuint (layout->rows->len, ==, 3);
  const LigLayoutRow *rows = (const LigLayoutRow *) (gpointer) layout->rows->data;
  g_assert_true (!rows[0].folded && rows[1].folded && !rows[2].folded);
  g_assert_cmpint (rows[1].count, ==, 6);
  g_assert_cmpfloat (rows[1].height, ==, LIG_LAYOUT_CARD);
  g_autofree char *params = lig_layout_params (layout, &rows[1]);
  g_assert_cmpstr (params, ==, "norm · fc1 · GELU · fc2");
  for (int i = 0; i < rows[1].count; i++)
    g_assert_cmpfloat (layout->places[rows[1].first + i].height, ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/mask/squares", test_squares);
  g_test_add_func ("/mask/words", test_words);
  g_test_add_func ("/mask/folded", test_folded);
  return g_test_run ();
}
