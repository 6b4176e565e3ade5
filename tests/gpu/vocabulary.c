/* SPDX-License-Identifier: MIT */
/* Kernels with a vocabulary sharded over ranks, on the GPU against the CPU: the statistics of the
 * cross-entropy and of the accuracy, the combined results, the gradients of a shard, and embeddings
 * with a sharded table. */
#include "tests/gpu/shaped.h"
#include <ligature/params-loss.h>

enum { IGNORED = -100 };

typedef struct {
  LigDtype dtype, parameters; /* of the table's gradient */
  int64_t rows, columns;      /* the logits of a rank; of an embedding: tokens, features */
  int ranks;
  int64_t vocabulary; /* of an embedding, on a rank */
  float smoothing;
  gboolean accumulate, misaligned;
} Shape;

static const Shape shapes[] = {
  {LIG_FP32, LIG_FP32, 1, 1, 1, 1, 0, FALSE, FALSE},
  {LIG_FP32, LIG_FP32, 70, 57, 2, 12, 0.1f, FALSE, FALSE},
  {LIG_FP16, LIG_FP16, 300, 1000, 3, 50, 0, TRUE, FALSE},
  {LIG_BF16, LIG_FP32, 257, 96, 8, 6, 0.1f, TRUE, TRUE},
  {LIG_BF16, LIG_BF16, 33, 8191, 2, 4096, 0, FALSE, TRUE},
  /* A row takes a whole threadblock, and there are more rows than one threadblock sums. */
  {LIG_BF16, LIG_BF16, 3000, 6288, 8, 6288, 0.1f, FALSE, FALSE},
  {LIG_FP16, LIG_FP32, 6000, 100, 4, 25, 0, FALSE, FALSE},
  {LIG_FP32, LIG_FP32, 20000, 64, 2, 128, 0, TRUE, FALSE},
};

/* In some shapes a third of the logits is padding, including all logits of some ranks; 0: no
 * padding. */
static int64_t
some_classes (const Shape *s)
{
  return s->rows % 2 ? 0 : MAX (s->columns * s->ranks * 2 / 3, 1);
}

static int32_t *
some_targets (const Shape *s)
{
  int32_t *targets = g_new (int32_t, s->rows);
  int64_t classes = some_classes (s) > 0 ? some_classes (s) : s->columns * s->ranks;
  for (int64_t i = 0; i < s->rows; i++)
    targets[i] = i % 5 == 3 ? IGNORED : (int32_t) ((i * 7919 + i / 3) % classes);
  return targets;
}

/* Returns whether the test continues. */
static const Gpu *
begin (const Shape *s)
{
  const Gpu *gpu = gpu_or_skip ();
  gboolean large = s->rows * s->columns > 1 << 20;
  if (gpu && large && g_getenv ("LIGATURE_QUICK")) {
    g_test_skip ("it is large");
    return NULL;
  }
  return gpu;
}

/* Runs a kernel on the shard of each rank with random logits, then the combining kernel on the
 * CPU's statistics. */
static void
run_parts (const Gpu *gpu, const Shape *s, gboolean accuracy)
{
  int64_t width = accuracy ? 3 : 4;
  Part number = {LIG_FP32, 1, 1, NULL}, lse = {LIG_FP32, s->rows, accuracy ? 0 : 2, NULL};
  g_autofree int32_t *targets = some_targets (s);
  g_autofree float *all = g_new (float, s->ranks * s->rows * width);
  Part rows = {LIG_INT32, 1, s->rows, targets};
  LigCrossEntropyParams params = {.ignored = IGNORED,
                                  .label_smoothing = s->smoothing,
                                  .part = {0, s->columns * s->ranks},
                                  .classes = some_classes (s)};
  for (int rank = 0; rank < s->ranks; rank++) {
    Part logits = {s->dtype, s->rows, s->columns, NULL};
    g_autofree float *values = NULL, *narrowed = NULL;
    if (accuracy) { /* whole numbers, so that several logits are the largest */
      values = g_new (float, s->rows * s->columns);
      narrowed = g_new (float, s->rows * s->columns);
      for (int64_t i = 0; i < s->rows * s->columns; i++)
        values[i] = roundf (3 * next_number ());
      lig_narrow (s->dtype, values, narrowed, (size_t) (s->rows * s->columns));
      logits.values = narrowed;
    }
    params.part.first = rank * s->columns;
    Problem part = {accuracy ? "accuracy_part" : "cross_entropy_part",
                    &params,
                    {logits, rows, {LIG_FP32, s->rows, width, NULL}},
                    FALSE,
                    s->misaligned,
                    "the part of a rank"};
    run_problem (gpu, &part);
    memcpy (all + rank * s->rows * width, part.parts[2].values,
            (size_t) (s->rows * width) * sizeof *all);
  }
  Part parts = {LIG_FP32, s->rows * s->ranks, width, all};
  Problem loss = {"cross_entropy_join", &params,   {parts, rows, number, lse, number}, FALSE,
                  s->misaligned,        "the loss"};
  Problem hits = {"accuracy_join", &params,       {parts, rows, number, number},
                  FALSE,           s->misaligned, "the accuracy"};
  run_problem (gpu, accuracy ? &hits : &loss);
}

/* The share of a rank in the mean over the rows of all. */
static void
weigh (const Gpu *gpu, const Shape *s)
{
  float mean = 1.75f, own = (float) s->rows, counts[] = {0.75f * own, 0};
  for (guint i = 0; i < G_N_ELEMENTS (counts); i++) {
    Problem problem = {"cross_entropy_weigh",
                       NULL,
                       {{LIG_FP32, 1, 1, &mean},
                        {LIG_FP32, 1, 1, &own},
                        {LIG_FP32, 1, 1, &counts[i]},
                        {LIG_FP32, 1, 1, NULL}},
                       FALSE,
                       s->misaligned,
                       "the share of a rank"};
    run_problem (gpu, &problem);
  }
}

static void
test_loss (gconstpointer data)
{
  const Gpu *gpu = begin (data);
  if (!gpu)
    return;
  run_parts (gpu, data, FALSE);
  weigh (gpu, data);
  keep (NULL);
}

static void
test_accuracy (gconstpointer data)
{
  const Gpu *gpu = begin (data);
  if (!gpu)
    return;
  run_parts (gpu, data, TRUE);
  keep (NULL);
}

/* The gradients of the first and of the last shard. */
static void
test_gradients (gconstpointer data)
{
  const Shape *s = data;
  const Gpu *gpu = begin (s);
  if (!gpu)
    return;
  float dy = 0.75f * (float) s->rows,
        count = (float) s->rows; /* so that they are of the order of 1 */
  g_autofree int32_t *targets = some_targets (s);
  g_autofree float *lse = g_new (float, 2 * s->rows);
  Part logits = {s->dtype, s->rows, s->columns, NULL};
  for (int64_t i = 0; i < s->rows; i++)
    lse[2 * i] = 1, lse[2 * i + 1] = logf ((float) (s->columns * s->ranks));
  for (int rank = 0; rank < s->ranks; rank += MAX (s->ranks - 1, 1)) {
    LigCrossEntropyParams params = {.ignored = IGNORED,
                                    .label_smoothing = s->smoothing,
                                    .part = {rank * s->columns, s->columns * s->ranks},
                                    .classes = some_classes (s)};
    Problem problem = {"cross_entropy_backward",
                       &params,
                       {{LIG_FP32, 1, 1, &dy},
                        logits,
                        {LIG_INT32, 1, s->rows, targets},
                        {LIG_FP32, s->rows, 2, lse},
                        {LIG_FP32, 1, 1, &count},
                        logits},
                       FALSE,
                       s->misaligned,
                       "the gradients of a part"};
    run_problem (gpu, &problem);
  }
  keep (NULL);
}

/* Rows of the table, and their gradients, of the first and of the last rank. */
static void
test_embedding (gconstpointer data)
{
  const Shape *s = data;
  const Gpu *gpu = begin (s);
  if (!gpu)
    return;
  int64_t vocabulary = s->vocabulary * s->ranks, features = MIN (s->columns, 1000);
  g_autofree int32_t *tokens = g_new (int32_t, s->rows);
  for (int64_t i = 0; i < s->rows; i++)
    tokens[i] = (int32_t) (i * i * 31 % vocabulary);
  for (int rank = 0; rank < s->ranks; rank += MAX (s->ranks - 1, 1)) {
    LigVocabularyPart part = {rank * s->vocabulary, vocabulary};
    Part x = {LIG_INT32, 1, s->rows, tokens}, y = {s->dtype, s->rows, features, NULL};
    Problem forward = {
      "embedding", &part,         {x, {s->parameters, s->vocabulary, features, NULL}, y},
      FALSE,       s->misaligned, "the rows of a rank"};
    run_problem (gpu, &forward);
    Problem backward = {
      "embedding_backward", &part,         {y, x, {s->parameters, s->vocabulary, features, NULL}},
      s->accumulate,        s->misaligned, "the gradients of a rank's rows"};
    run_problem (gpu, &backward);
  }
  keep (NULL);
}

int
main (int argc, char **argv)
{
  static const struct {
    const char *name;
    GTestDataFunc test;
  } tests[] = {{"loss", test_loss},
               {"accuracy", test_accuracy},
               {"gradients", test_gradients},
               {"embedding", test_embedding}};
  gpu_test_init (argc, argv);
  for (guint i = 0; i < G_N_ELEMENTS (tests); i++)
    for (guint j = 0; j < G_N_ELEMENTS (shapes); j++) {
      const Shape *s = &shapes[j];
      g_autofree char *path =
        g_strdup_printf ("/gpu/vocabulary/%s/%u-%s-%ldx%ld-on-%d", tests[i].name, j,
                         lig_dtype_name (s->dtype), (long) s->rows, (long) s->columns, s->ranks);
      g_test_add_data_func (path, s, tests[i].test);
    }
  return g_test_run ();
}
