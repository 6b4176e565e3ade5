/* SPDX-License-Identifier: MIT */
/* Collectives among threads that stand for processes, against sums in double precision. */
#include <glib.h>
#include <ligature/kernels.h>

#include <ligature/params.h>
#include <math.h>
#include <string.h>

enum { MOST = 5 };

/* The exchange of the threads: each leaves the address of its data, and all meet. */
typedef struct {
  int count, arrived;
  guint turn;
  GMutex lock;
  GCond changed;
  const char *from[MOST];
} Place;

static void
meet (Place *place)
{
  g_mutex_lock (&place->lock);
  guint turn = place->turn;
  if (++place->arrived == place->count) {
    place->arrived = 0;
    place->turn++;
    g_cond_broadcast (&place->changed);
  }
  while (place->turn == turn)
    g_cond_wait (&place->changed, &place->lock);
  g_mutex_unlock (&place->lock);
}

static LigStatus
exchange (
  const LigPeers *peers, const void *from, const int64_t *bounds, void *to, const char **where)
{
  Place *place = peers->handle;
  gsize begin = (gsize) bounds[peers->rank], bytes = (gsize) bounds[peers->rank + 1] - begin;
  place->from[peers->rank] = from;
  meet (place);
  for (int i = 0; i < peers->count; i++)
    memcpy ((char *) to + (gsize) i * bytes, place->from[i] + begin, bytes);
  meet (place);
  return LIG_OK;
}

static LigStatus
gather (const LigPeers *peers, void *data, const int64_t *bounds, const char **where)
{
  Place *place = peers->handle;
  place->from[peers->rank] = data;
  meet (place);
  for (int i = 0; i < peers->count; i++)
    if (i != peers->rank)
      memcpy ((char *) data + bounds[i], place->from[i] + bounds[i],
              (gsize) (bounds[i + 1] - bounds[i]));
  meet (place);
  return LIG_OK;
}

/* One process. */
typedef struct {
  LigPeers peers;
  LigOperand operands[2];
  LigCollectiveParams params;
  char *scratch;
  LigStatus status;
} Process;

static gpointer
run (gpointer data)
{
  Process *self = data;
  LigLaunch launch = {.operands = self->operands,
                      .params = &self->params,
                      .peers = &self->peers,
                      .scratch = self->scratch};
  const LigKernel *kernel = lig_kernel_find ("all_reduce");
  g_free (self->scratch);
  launch.scratch = self->scratch =
    g_malloc0 ((gsize) lig_kernel_scratch (kernel, &launch, LIG_BACKEND_CPU) + 1);
  self->status = kernel->functions[LIG_BACKEND_CPU](&launch);
  return NULL;
}

typedef struct {
  int count;
  gint64 size;
  LigDtype dtype;
  LigReduction reduction;
} Problem;

static double
expect (const Problem *p, const float *values, gint64 at)
{
  double sum = (double) values[at];
  for (int i = 1; i < p->count; i++) {
    double value = (double) values[i * p->size + at];
    sum = p->reduction == LIG_REDUCE_MAX ? fmax (sum, value) : sum + value;
  }
  return p->reduction == LIG_REDUCE_MEAN ? sum / p->count : sum;
}

/* Compares the result with the exact one, and that of each process with that of the first. */
static void
check (const Problem *p, const Process *processes, const float *values)
{
  gsize bytes = (gsize) p->size * lig_dtype_size (p->dtype);
  double spacing = p->dtype == LIG_FP32 ? 0x1p-22 : p->dtype == LIG_FP16 ? 0x1p-10 : 0x1p-7;
  g_autofree float *result = g_new (float, p->size);
  lig_widen (p->dtype, processes[0].operands[1].data, result, (gsize) p->size);
  for (gint64 i = 0; i < p->size; i++) {
    double wanted = expect (p, values, i);
    g_assert_cmpfloat (fabs ((double) result[i] - wanted), <=,
                       p->count * spacing * (fabs (wanted) + 1));
  }
  for (int i = 1; i < p->count; i++)
    g_assert_cmpmem (processes[i].operands[1].data, bytes, processes[0].operands[1].data, bytes);
}

static void
reduce (const Problem *p)
{
  Place place = {.count = p->count};
  Process processes[MOST] = {0};
  GThread *threads[MOST];
  g_autofree float *values = g_new (float, p->size * p->count);
  g_autoptr (GRand) random = g_rand_new_with_seed (7);
  g_mutex_init (&place.lock);
  g_cond_init (&place.changed);
  for (int i = 0; i < p->count; i++) {
    void *data = g_malloc0 ((gsize) p->size * lig_dtype_size (p->dtype));
    float *own = values + i * p->size;
    for (gint64 j = 0; j < p->size; j++)
      own[j] = (float) g_rand_double_range (random, -2, 2);
    lig_narrow (p->dtype, own, data, (gsize) p->size);
    lig_widen (p->dtype, data, own, (gsize) p->size);
    processes[i] = (Process){
      .peers = {i, p->count, &place, exchange, gather},
      .operands = {{data, p->size, p->size, p->dtype}, {data, p->size, p->size, p->dtype}},
      .params = {p->count, p->reduction}};
    threads[i] = g_thread_new ("process", run, &processes[i]);
  }
  for (int i = 0; i < p->count; i++) {
    g_thread_join (threads[i]);
    g_assert_cmpint (processes[i].status, ==, LIG_OK);
  }
  check (p, processes, values);
  for (int i = 0; i < p->count; i++) {
    g_free (processes[i].operands[0].data);
    g_free (processes[i].scratch);
  }
  g_mutex_clear (&place.lock);
  g_cond_clear (&place.changed);
}

/* Sizes below the number of processes leave some without a piece. */
static void
test_reduce (gconstpointer data)
{
  static const gint64 sizes[] = {1, 3, 63, 64, 65, 1000, 4097, 70001};
  Problem p = {.dtype = (LigDtype) GPOINTER_TO_INT (data)};
  for (p.count = 1; p.count <= MOST; p.count++)
    for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
      for (int reduction = LIG_REDUCE_SUM; reduction <= LIG_REDUCE_MAX; reduction++) {
        p.size = sizes[i];
        p.reduction = (LigReduction) reduction;
        reduce (&p);
      }
}

/* A plan for other peers is refused before anything is exchanged, and so are integers. */
static void
test_refused (void)
{
  float values[4] = {1, 2, 3, 4};
  const LigKernel *kernel = lig_kernel_find ("all_reduce");
  LigOperand operands[] = {{values, 4, 4, LIG_FP32}, {values, 4, 4, LIG_FP32}};
  LigCollectiveParams params = {2, LIG_REDUCE_SUM};
  LigLaunch launch = {.operands = operands, .params = &params};
  g_assert_cmpint (kernel->functions[LIG_BACKEND_CPU](&launch), ==, LIG_FAILED);
  g_assert_nonnull (strstr (launch.where, "other peers"));
  operands[0].dtype = operands[1].dtype = LIG_INT32;
  g_assert_cmpint (kernel->functions[LIG_BACKEND_CPU](&launch), ==, LIG_UNSUPPORTED);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_data_func ("/kernels/collective/fp32", GINT_TO_POINTER (LIG_FP32), test_reduce);
  g_test_add_data_func ("/kernels/collective/fp16", GINT_TO_POINTER (LIG_FP16), test_reduce);
  g_test_add_data_func ("/kernels/collective/bf16", GINT_TO_POINTER (LIG_BF16), test_reduce);
  g_test_add_func ("/kernels/collective/refused", test_refused);
  return g_test_run ();
}
