/* SPDX-License-Identifier: MIT */
/* Timing steps on the device as they would run: kernels on buffers of random data, rotated through
 * more memory than the last cache holds, the lists in turns so that all meet the same clocks. */
#include "engine/compile/price.h"

#include <string.h>
#include <time.h>

enum { MOST_SETS = 8, LEAST_SAMPLES = 5, MOST_SAMPLES = 21 };
#define BUDGET 0.25 /* seconds for one session of measuring, warm-up apart */

/* One list with its buffers: `sets` copies of every distinct value. */
typedef struct {
  GArray *steps;
  GHashTable *slots; /* root value -> number of its buffer + 1 */
  gsize offsets[LIG_MAX_OPERANDS * 8];
  int n_slots;
  gsize bytes; /* of one set */
  int sets, next;
  char *memory;
  LigTick *tick;
  void *workspace;
  GArray *samples; /* of double */
} Bench;

static double
now (void)
{
  struct timespec time;
  clock_gettime (CLOCK_MONOTONIC, &time);
  return (double) time.tv_sec + 1e-9 * (double) time.tv_nsec;
}

static void
lay_out (LigDraft *draft, Bench *bench)
{
  bench->slots = g_hash_table_new (NULL, NULL);
  for (guint i = 0; i < bench->steps->len; i++) {
    const LigDraftStep *step = &g_array_index (bench->steps, LigDraftStep, i);
    for (int j = 0; j < step->n_operands; j++) {
      gpointer key = GINT_TO_POINTER (step->values[j] + 1);
      if (step->values[j] < 0 || g_hash_table_contains (bench->slots, key) ||
          bench->n_slots == (int) G_N_ELEMENTS (bench->offsets))
        continue;
      bench->offsets[bench->n_slots++] = bench->bytes;
      bench->bytes += ((gsize) lig_value (draft, step->values[j])->bytes + 255) / 256 * 256;
      g_hash_table_insert (bench->slots, key, GINT_TO_POINTER (bench->n_slots));
    }
  }
  gint64 cache = MAX (lig_device_get_facts (draft->device)->l2, 32 << 20);
  bench->sets = (int) CLAMP ((gsize) (2 * cache) / MAX (bench->bytes, 1) + 1, 2, MOST_SETS);
}

/* Random numbers in (-1, 1); integers are zero, which every vocabulary has. */
static void
fill_values (LigDraft *draft, Bench *bench)
{
  enum { PIECE = 4096 };
  g_autoptr (GRand) random = g_rand_new_with_seed (1);
  float piece[PIECE];
  guint8 narrow[PIECE * 4];
  GHashTableIter iter;
  gpointer key, slot;
  for (int i = 0; i < PIECE; i++)
    piece[i] = (float) g_rand_double_range (random, -1, 1);
  g_hash_table_iter_init (&iter, bench->slots);
  while (g_hash_table_iter_next (&iter, &key, &slot)) {
    const LigValue *value = lig_value (draft, GPOINTER_TO_INT (key) - 1);
    gsize size = lig_dtype_size (value->dtype);
    if (!lig_dtype_is_floating (value->dtype))
      continue;
    lig_narrow (value->dtype, piece, narrow, PIECE);
    for (int set = 0; set < bench->sets; set++)
      for (gsize at = 0; at < (gsize) value->bytes; at += PIECE * size)
        lig_device_upload (draft->device,
                           bench->memory + (gsize) set * bench->bytes +
                             bench->offsets[GPOINTER_TO_INT (slot) - 1] + at,
                           narrow, MIN (PIECE * size, (gsize) value->bytes - at));
  }
}

static gboolean
run_steps (LigDraft *draft, Bench *bench, GError **error)
{
  char *set = bench->memory + (gsize) bench->next * bench->bytes;
  bench->next = (bench->next + 1) % bench->sets;
  for (guint i = 0; i < bench->steps->len; i++) {
    const LigDraftStep *step = &g_array_index (bench->steps, LigDraftStep, i);
    LigOperand operands[LIG_MAX_OPERANDS];
    for (int j = 0; j < step->n_operands; j++) {
      operands[j] = lig_draft_operand (draft, step->values[j]);
      int slot =
        GPOINTER_TO_INT (g_hash_table_lookup (bench->slots, GINT_TO_POINTER (step->values[j] + 1)));
      if (step->values[j] >= 0)
        operands[j].data = set + bench->offsets[slot - 1];
    }
    LigLaunch launch = {.operands = operands,
                        .tick = bench->tick,
                        .workspace = bench->workspace,
                        .params = step->params_size ? step->params : NULL};
    LigKernelFunc function =
      step->kernel ? step->kernel->functions[lig_device_get_backend (draft->device)] : NULL;
    if (!function || function (&launch) != LIG_OK) {
      g_set_error (error, LIG_ERROR, LIG_ERROR_DEVICE, "measuring %s failed: %s",
                   step->kernel ? step->kernel->name : "an opaque op",
                   launch.where ? launch.where : "it cannot run here");
      return FALSE;
    }
  }
  return TRUE;
}

static int
compare (gconstpointer a, gconstpointer b)
{
  double x = *(const double *) a, y = *(const double *) b;
  return (x > y) - (x < y);
}

static void
summarize (Bench *bench, LigPrice *price)
{
  guint n = bench->samples->len;
  g_array_sort (bench->samples, compare);
  price->seconds = g_array_index (bench->samples, double, n / 2);
  price->noise = (g_array_index (bench->samples, double, 3 * n / 4) -
                  g_array_index (bench->samples, double, n / 4)) /
                 2;
  price->measured = TRUE;
}

static gboolean
sample (LigDraft *draft, Bench *benches, guint count, GError **error)
{
  double deadline = 0;
  for (int round = -1; round < MOST_SAMPLES; round++) {
    if (round >= LEAST_SAMPLES && now () > deadline)
      break;
    for (guint i = 0; i < count; i++) {
      double begin = now ();
      if (!run_steps (draft, &benches[i], error))
        return FALSE;
      double seconds = now () - begin;
      if (round >= 0)
        g_array_append_val (benches[i].samples, seconds);
    }
    if (round < 0)
      deadline = now () + BUDGET;
  }
  return TRUE;
}

static gboolean
prepare (LigDraft *draft, Bench *bench, GArray *steps, GError **error)
{
  bench->steps = steps;
  bench->samples = g_array_new (FALSE, FALSE, sizeof (double));
  lay_out (draft, bench);
  bench->memory = lig_device_allocate (draft->device, bench->bytes * (gsize) bench->sets, error);
  bench->tick = bench->memory ? lig_device_allocate (draft->device, sizeof (LigTick), error) : NULL;
  bench->workspace =
    bench->tick ? lig_device_allocate (draft->device, LIG_WORKSPACE_SIZE, error) : NULL;
  if (!bench->workspace)
    return FALSE;
  LigTick tick = {.seed = 1, .step = 1, .learning_rate = 1e-3f};
  lig_device_upload (draft->device, bench->tick, &tick, sizeof tick);
  fill_values (draft, bench);
  return TRUE;
}

static void
clear (LigDraft *draft, Bench *bench)
{
  lig_device_release (draft->device, bench->memory);
  lig_device_release (draft->device, bench->tick);
  lig_device_release (draft->device, bench->workspace);
  g_clear_pointer (&bench->slots, g_hash_table_unref);
  g_clear_pointer (&bench->samples, g_array_unref);
}

gboolean
lig_time_lists (
  LigDraft *draft, GArray *const *lists, guint count, LigPrice *prices, GError **error)
{
  g_autofree Bench *benches = g_new0 (Bench, count);
  gboolean fine = TRUE;
  for (guint i = 0; i < count && fine; i++)
    fine = prepare (draft, &benches[i], lists[i], error);
  fine = fine && sample (draft, benches, count, error);
  for (guint i = 0; i < count; i++) {
    if (fine)
      summarize (&benches[i], &prices[i]);
    clear (draft, &benches[i]);
  }
  return fine;
}
