/* SPDX-License-Identifier: MIT */
/* Trains the shipped encoder-decoder to copy and to reverse strings: the source is the main input,
 * the target is the caller's input of load-branch. The target's first token is the task; the others
 * are the answer, shifted by one. */
#include "tests/plan/case.h"
#include <ligature/optimizer.h>

enum { BATCH = 64, LENGTH = 8, LETTERS = 26, VOCABULARY = 32, COPY = 26, REVERSE = 27 };

/* With sanitizers, which make everything ten times slower, there is only time to begin to learn. */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
enum { STEPS = 30, LEARNS = 0 };
#else
enum { STEPS = 400, LEARNS = 1 };
#endif

typedef struct {
  LigTensor *source, *target, *answer; /* int32 [BATCH, LENGTH] */
} Strings;

static LigTensor *
new_tensor (void)
{
  g_autoptr (GError) error = NULL;
  LigShape shape;
  lig_shape_init (&shape, 2, (gint64) BATCH, (gint64) LENGTH);
  LigTensor *tensor = lig_tensor_new (LIG_INT32, &shape, &error);
  g_assert_no_error (error);
  return tensor;
}

static void
strings_clear (Strings *self)
{
  lig_tensor_unref (self->source);
  lig_tensor_unref (self->target);
  lig_tensor_unref (self->answer);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Strings, strings_clear)

static void
draw (GRand *random, Strings *self)
{
  for (int row = 0; row < BATCH; row++) {
    gboolean reversed = g_rand_boolean (random);
    gint32 *source = (gint32 *) self->source->data + row * LENGTH;
    gint32 *target = (gint32 *) self->target->data + row * LENGTH;
    gint32 *answer = (gint32 *) self->answer->data + row * LENGTH;
    for (int i = 0; i < LENGTH; i++)
      source[i] = g_rand_int_range (random, 0, LETTERS);
    for (int i = 0; i < LENGTH; i++)
      answer[i] = source[reversed ? LENGTH - 1 - i : i];
    target[0] = reversed ? REVERSE : COPY;
    memcpy (target + 1, answer, (LENGTH - 1) * sizeof *target);
  }
}

static LigSequence *
open_example (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *path =
    g_build_filename (g_getenv ("LIGATURE_DATA"), "examples", "encoder-decoder-tiny.lig", NULL);
  LigSequence *sequence = lig_sequence_open (path, NULL, &error);
  g_assert_no_error (error);
  return sequence;
}

static void
feed (LigProgram *program, const Strings *strings, gboolean answers)
{
  g_autoptr (GError) error = NULL;
  lig_program_set_input (program, strings->source, &error);
  g_assert_no_error (error);
  lig_program_set_extra_input (program, 0, strings->target, &error);
  g_assert_no_error (error);
  if (answers)
    lig_program_set_extra_input (program, 1, strings->answer, &error);
  g_assert_no_error (error);
}

/* Returns the mean loss of the last steps. */
static double
train (LigProgram *program, GRand *random, Strings *strings)
{
  double sum = 0;
  int counted = 0;
  for (int step = 0; step < STEPS; step++) {
    double rate = 2e-3 * MIN (1, (step + 1) / 50.0) * 0.5 * (1 + cos (G_PI * step / STEPS));
    lig_program_set_rate (program, rate, 1);
    draw (random, strings);
    feed (program, strings, TRUE);
    run_program (program, LIG_RUN_FORWARD | LIG_RUN_BACKWARD | LIG_RUN_UPDATE);
    if (step % 100 == 0)
      g_test_message ("step %d: loss %.4f", step, (double) read_loss (program));
    if (step < STEPS - 20)
      continue;
    sum += (double) read_loss (program);
    counted++;
  }
  return sum / counted;
}

/* Writes the likeliest letter of a position into the target's next one. Returns how many of the
 * rows got the right letter. */
static int
decode (LigProgram *program, const Strings *strings, int position)
{
  g_autoptr (GError) error = NULL;
  int right = 0;
  feed (program, strings, FALSE);
  run_program (program, LIG_RUN_FORWARD);
  g_autoptr (LigTensor) scores = lig_program_read_output (program, &error);
  g_assert_no_error (error);
  for (int row = 0; row < BATCH; row++) {
    int at = row * LENGTH + position, best = 0;
    for (int i = 1; i < VOCABULARY; i++)
      if (lig_tensor_get (scores, at * VOCABULARY + i) >
          lig_tensor_get (scores, at * VOCABULARY + best))
        best = i;
    right += best == ((gint32 *) strings->answer->data)[at];
    if (position + 1 < LENGTH)
      ((gint32 *) strings->target->data)[at + 1] = best;
  }
  return right;
}

static void
test_strings (void)
{
  g_autoptr (GError) error = NULL;
  LigOptimizer adamw = LIG_OPTIMIZER_INIT;
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.optimizer = &adamw;
  g_autoptr (LigSequence) sequence = open_example ();
  g_autoptr (LigSequence) scores = open_example ();
  g_assert_true (lig_sequence_remove (scores, -1, &error));
  g_autoptr (LigState) state = lig_state_new (sequence, cpu_device (), &options, 1, &error);
  g_assert_no_error (error);
  g_autoptr (LigProgram) program = new_program (state, sequence, &options);
  g_autoptr (GRand) random = g_rand_new_with_seed (1);
  g_auto (Strings) strings = {new_tensor (), new_tensor (), new_tensor ()};
  double loss = train (program, random, &strings);
  g_test_message ("loss %.5f", loss);
  g_assert_cmpfloat (loss, <, LEARNS ? 0.02 : 3.4);
  /* Strings that it has never seen, of which only the task is given. */
  LigPlanOptions evaluation = LIG_PLAN_OPTIONS_INIT;
  evaluation.training = FALSE;
  g_autoptr (LigProgram) decoder = new_program (state, scores, &evaluation);
  draw (random, &strings);
  for (int row = 0; row < BATCH; row++)
    memset ((gint32 *) strings.target->data + row * LENGTH + 1, 0, (LENGTH - 1) * sizeof (gint32));
  for (int position = 0; position < LENGTH; position++)
    g_assert_cmpint (decode (decoder, &strings, position), >=, LEARNS ? BATCH : 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  if (g_getenv ("LIGATURE_DATA"))
    g_test_add_func ("/encoder-decoder/strings", test_strings);
  return g_test_run ();
}
