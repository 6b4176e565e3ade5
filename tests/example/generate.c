/* SPDX-License-Identifier: MIT */
/* Trains a small model on a text with only the installed library, then continues a prompt with a
 * cache of keys and values, and predicts the logits of rows. */
#include <ligature/generator.h>
#include <ligature/optimizer.h>
#include <ligature/plan-options.h>
#include <ligature/predictor.h>
#include <ligature/program.h>
#include <ligature/state.h>
#include <ligature/tokenizer.h>

#include <stdio.h>

enum { ROWS = 8, LENGTH = 15, STEPS = 100 };

static const char text[] = "one two three four one two three four one two three four ";

static gboolean
train (LigSequence *sequence, LigState *state, LigPlanOptions *options, GError **error)
{
  LigShape shape;
  lig_shape_init (&shape, 2, (gint64) ROWS, (gint64) LENGTH);
  g_autoptr (LigPlan) plan = lig_state_plan (state, sequence, options, error);
  g_autoptr (LigProgram) program = plan ? lig_program_new (plan, state, error) : NULL;
  g_autoptr (LigTensor) x = program ? lig_tensor_new (LIG_INT32, &shape, error) : NULL;
  g_autoptr (LigTensor) targets = x ? lig_tensor_new (LIG_INT32, &shape, error) : NULL;
  if (!targets)
    return FALSE;
  /* The target of each token is the one after it. Every row begins at another character. */
  for (int i = 0; i < ROWS * LENGTH; i++) {
    int at = i / LENGTH + i % LENGTH;
    ((gint32 *) x->data)[i] = text[at];
    ((gint32 *) targets->data)[i] = text[at + 1];
  }
  lig_program_set_rate (program, 0.01, 0);
  for (int step = 0; step < STEPS; step++)
    if (!lig_program_set_input (program, x, error) ||
        !lig_program_set_extra_input (program, 0, targets, error) ||
        !lig_program_run (program, LIG_RUN_FORWARD | LIG_RUN_BACKWARD | LIG_RUN_UPDATE, error))
      return FALSE;
  return TRUE;
}

/* Prints the 33 tokens after a prompt as they are generated. */
static gboolean
generate (LigSequence *sequence, LigState *state, const char *prompt, GError **error)
{
  gsize count;
  guint64 id;
  LigSampling sampling = LIG_SAMPLING_INIT;
  sampling.temperature = 0; /* the most probable token */
  sampling.max_tokens = 33;
  g_autoptr (LigTokenizer) tokenizer = lig_tokenizer_new_bytes ();
  g_autoptr (LigTokenDecoder) decoder = lig_token_decoder_new (tokenizer, FALSE);
  g_autofree gint32 *tokens = lig_tokenizer_encode (tokenizer, prompt, -1, FALSE, &count, error);
  g_autoptr (LigGenerator) generator =
    tokens ? lig_generator_new (sequence, state, NULL, error) : NULL;
  if (!generator || !lig_generator_add (generator, tokens, count, &sampling, &id, error))
    return FALSE;
  g_autoptr (GArray) generated = g_array_new (FALSE, FALSE, sizeof (LigGenerated));
  printf ("%s", prompt);
  do {
    if (!lig_generator_step (generator, generated, error))
      return FALSE;
    for (guint i = 0; i < generated->len; i++) {
      const LigGenerated *one = &g_array_index (generated, LigGenerated, i);
      g_autofree char *part = lig_token_decoder_next (decoder, one->sampled.chosen.token, NULL);
      printf ("%s", part);
    }
  } while (generated->len > 0);
  printf ("\n");
  return TRUE;
}

/* Predicts a row, and prints the most probable token after it: that of the last logits. */
static gboolean
predict (LigSequence *sequence, LigState *state, GError **error)
{
  LigShape shape;
  lig_shape_init (&shape, 2, (gint64) 1, (gint64) LENGTH);
  g_autoptr (LigTensor) rows = lig_tensor_new (LIG_INT32, &shape, error);
  g_autoptr (LigPredictor) predictor =
    rows ? lig_predictor_new (sequence, state, NULL, error) : NULL;
  if (!predictor)
    return FALSE;
  for (int i = 0; i < LENGTH; i++)
    ((gint32 *) rows->data)[i] = text[i];
  g_autoptr (LigTensor) logits = lig_predictor_run (predictor, rows, error);
  if (!logits)
    return FALSE;
  int best = 0;
  gint64 columns = lig_shape_columns (&logits->shape), last = (LENGTH - 1) * columns;
  for (int i = 0; i < columns; i++)
    if (lig_tensor_get (logits, last + i) > lig_tensor_get (logits, last + best))
      best = i;
  printf ("after \"%.*s\": '%c'\n", LENGTH, text, best);
  return TRUE;
}

static gboolean
run (GError **error)
{
  LigShape input;
  LigOptimizer adamw = LIG_OPTIMIZER_INIT;
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.optimizer = &adamw;
  lig_shape_init (&input, 2, (gint64) ROWS, (gint64) LENGTH);
  g_autoptr (LigDevice) device = lig_device_open ("cpu", error);
  g_autoptr (LigSequence) sequence =
    device ? lig_sequence_from_expression ("embedding(32, vocabulary=128) ! "
                                           "transformer-layer(4, rotary=true) ! layer-norm ! "
                                           "linear(128) ! cross-entropy",
                                           error)
           : NULL;
  if (!sequence)
    return FALSE;
  lig_sequence_set_input (sequence, &input, LIG_INT32);
  g_autoptr (LigState) state = lig_state_new (sequence, device, &options, 1, error);
  return state && train (sequence, state, &options, error) &&
         generate (sequence, state, "one ", error) && predict (sequence, state, error);
}

int
main (void)
{
  g_autoptr (GError) error = NULL;
  if (run (&error))
    return 0;
  fprintf (stderr, "generate: %s\n", error->message);
  return 1;
}
