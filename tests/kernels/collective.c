/* SPDX-License-Identifier: MIT */
/* Collectives among threads that represent processes, against sums in double precision. */
#include <ligature/dtype.h>
#include <ligature/groups.h>
#include <ligature/kernels.h>
#include <ligature/launch.h>
#include <ligature/params-collective.h>

#include <glib.h>

#include <math.h>
#include <string.h>

enum { MAX_RANKS = 5 };

/* The collective of the threads: each publishes the address of its data, and all synchronize. */
typedef struct {
  int count, arrived;
  guint turn;
  GMutex lock;
  GCond changed;
  const char *from[MAX_RANKS];
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
collective (
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

static LigStatus
shift (const LigPeers *peers,
       int distance,
       const void *from,
       void *to,
       int64_t bytes,
       const char **where)
{
  Place *place = peers->handle;
  place->from[peers->rank] = from;
  meet (place);
  memcpy (to, place->from[(peers->rank + peers->count - distance) % peers->count], (gsize) bytes);
  meet (place);
  return LIG_OK;
}

/* One process. */
typedef struct {
  const char *kernel;
  LigPeers peers;
  LigOperand operands[2];
  LigRingParams params; /* those of other collectives are its first member */
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
  const LigKernel *kernel = lig_kernel_find (self->kernel);
  g_free (self->scratch);
  launch.scratch = self->scratch =
    g_malloc0 ((gsize) lig_kernel_scratch (kernel, &launch, LIG_BACKEND_CPU) + 1);
  self->status = kernel->functions[LIG_BACKEND_CPU](&launch);
  return NULL;
}

typedef struct {
  const char *kernel;
  int count;
  gint64 size; /* of the input */
  LigDtype dtype;
  LigReduction reduction;
  gboolean within; /* each part is stored in its rows of the whole */
  int skipped;     /* between a process and the destination of its ring_exchange */
} Problem;

static gboolean
is (const Problem *p, const char *kernel)
{
  return g_str_equal (p->kernel, kernel);
}

/* Returns the size of the output. */
static gint64
get_result_size (const Problem *p)
{
  gboolean same = is (p, "all_reduce") || is (p, "ring_exchange") || is (p, "all_to_all");
  return same ? p->size : is (p, "all_gather") ? p->size * p->count : p->size / p->count;
}

/* Returns an element of the exact reduction of all inputs. */
static double
reduce_exactly (const Problem *p, const float *values, gint64 at)
{
  double sum = p->reduction == LIG_REDUCE_MAX ? -HUGE_VAL : 0;
  for (int i = 0; i < p->count; i++) {
    double value = (double) values[i * p->size + at];
    sum = p->reduction == LIG_REDUCE_MAX ? fmax (sum, value) : sum + value;
  }
  return p->reduction == LIG_REDUCE_MEAN ? sum / p->count : sum;
}

/* Returns an element of the exact result of a process. */
static double
expect (const Problem *p, const float *values, int rank, gint64 at)
{
  gint64 part = rank * get_result_size (p) + at;
  if (is (p, "all_to_all")) {
    gint64 each = p->size / p->count;
    return (double) values[at / each * p->size + rank * each + at % each];
  }
  if (is (p, "ring_exchange"))
    return (double) values[(rank + (1 + p->skipped) * (p->count - 1)) % p->count * p->size + at];
  return is (p, "all_gather")   ? (double) values[at]
         : is (p, "shard_rows") ? (double) values[rank * p->size + part]
                                : reduce_exactly (p, values, is (p, "all_reduce") ? at : part);
}

/* Compares the results with the exact ones; results that all processes share must have equal
 * bits. */
static void
check (const Problem *p, const Process *processes, const float *values)
{
  gint64 size = get_result_size (p);
  gsize bytes = (gsize) size * lig_dtype_size (p->dtype);
  double spacing = p->dtype == LIG_FP32 ? 0x1p-22 : p->dtype == LIG_FP16 ? 0x1p-10 : 0x1p-7;
  gboolean copies =
    is (p, "all_gather") || is (p, "shard_rows") || is (p, "ring_exchange") || is (p, "all_to_all");
  g_autofree float *result = g_new (float, size);
  for (int rank = 0; rank < p->count; rank++) {
    lig_widen (p->dtype, processes[rank].operands[1].data, result, (gsize) size);
    for (gint64 i = 0; i < size; i++) {
      double wanted = expect (p, values, rank, i);
      g_assert_cmpfloat (fabs ((double) result[i] - wanted), <=,
                         copies ? 0 : p->count * spacing * (fabs (wanted) + 1));
    }
    if (is (p, "all_reduce") || is (p, "all_gather"))
      g_assert_cmpmem (processes[rank].operands[1].data, bytes, processes[0].operands[1].data,
                       bytes);
  }
}

/* Allocates the input and the output of a process, and returns them with the memory. */
static char *
allocate (const Problem *p, int rank, LigOperand operands[2])
{
  gint64 size = get_result_size (p), max = MAX (p->size, size), min = MIN (p->size, size);
  gboolean sums = is (p, "all_reduce");
  gsize each = lig_dtype_size (p->dtype);
  gboolean shared = sums || p->within;
  char *memory = g_malloc0 ((gsize) (max + min) * each);
  char *part = memory + (gsize) (sums ? 0 : shared ? rank * min : max) * each;
  operands[0] = (LigOperand){size > p->size ? part : memory, p->size, p->size, p->dtype};
  operands[1] = (LigOperand){size > p->size ? memory : part, size, size, p->dtype};
  return memory;
}

static void
solve (const Problem *p)
{
  Place place = {.count = p->count};
  Process processes[MAX_RANKS] = {0};
  GThread *threads[MAX_RANKS];
  char *memory[MAX_RANKS];
  g_autofree float *values = g_new (float, p->size * p->count);
  g_autoptr (GRand) random = g_rand_new_with_seed (7);
  g_mutex_init (&place.lock);
  g_cond_init (&place.changed);
  for (int i = 0; i < p->count; i++) {
    float *own = values + i * p->size;
    for (gint64 j = 0; j < p->size; j++)
      own[j] = (float) g_rand_double_range (random, -2, 2);
    processes[i] = (Process){.kernel = p->kernel,
                             .peers = {i, p->count, &place, collective, gather, shift},
                             .params = {{p->count, p->reduction, LIG_GROUP_TENSOR}, p->skipped}};
    memory[i] = allocate (p, i, processes[i].operands);
    lig_narrow (p->dtype, own, processes[i].operands[0].data, (gsize) p->size);
    lig_widen (p->dtype, processes[i].operands[0].data, own, (gsize) p->size);
    threads[i] = g_thread_new ("process", run, &processes[i]);
  }
  for (int i = 0; i < p->count; i++) {
    g_thread_join (threads[i]);
    g_assert_cmpint (processes[i].status, ==, LIG_OK);
  }
  check (p, processes, values);
  for (int i = 0; i < p->count; i++) {
    g_free (memory[i]);
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
  Problem p = {.kernel = "all_reduce", .dtype = (LigDtype) GPOINTER_TO_INT (data)};
  for (p.count = 1; p.count <= MAX_RANKS; p.count++)
    for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
      for (int reduction = LIG_REDUCE_SUM; reduction <= LIG_REDUCE_MAX; reduction++) {
        p.size = sizes[i];
        p.reduction = (LigReduction) reduction;
        solve (&p);
      }
}

static void
solve_rows (const char *kernel, LigReduction reduction, gboolean within)
{
  static const gint64 sizes[] = {1, 3, 63, 64, 65, 1000, 4097};
  Problem p = {.kernel = kernel, .reduction = reduction, .within = within};
  for (p.dtype = LIG_FP32; p.dtype <= LIG_BF16; p.dtype++)
    for (p.count = 1; p.count <= MAX_RANKS; p.count++)
      for (guint i = 0; i < G_N_ELEMENTS (sizes); i++) {
        p.size = sizes[i] * (is (&p, "all_gather") ? 1 : p.count);
        solve (&p);
      }
}

/* The gathered rows are those of each process, in order. */
static void
test_rows (gconstpointer data)
{
  solve_rows (data, LIG_REDUCE_SUM, FALSE);
}

/* In place, as shards of gradients and parameters are reduced and gathered. */
static void
test_shares (void)
{
  solve_rows ("reduce_scatter", LIG_REDUCE_MEAN, FALSE);
  solve_rows ("reduce_scatter", LIG_REDUCE_MEAN, TRUE);
  solve_rows ("reduce_scatter", LIG_REDUCE_MAX, TRUE);
  solve_rows ("all_gather", LIG_REDUCE_SUM, TRUE);
}

/* Each process gets the values of another one, at every distance. */
static void
test_ring (void)
{
  for (int skipped = 0; skipped <= MAX_RANKS; skipped++)
    for (int count = 1; count <= MAX_RANKS; count++)
      for (LigDtype dtype = LIG_FP32; dtype <= LIG_BF16; dtype++) {
        Problem p = {.kernel = "ring_exchange", .count = count, .size = 4097, .dtype = dtype};
        p.skipped = skipped;
        solve (&p);
      }
}

/* Integers are exchanged, too, without being converted. */
static void
test_integers (void)
{
  gint32 x[6] = {1, -2, 3, -4, 0x7fffffff, -0x7fffffff}, y[6] = {0};
  const LigKernel *kernel = lig_kernel_find ("all_to_all");
  LigOperand operands[] = {{x, 6, 6, LIG_INT32}, {y, 6, 6, LIG_INT32}};
  LigCollectiveParams params = {1, LIG_REDUCE_SUM, LIG_GROUP_EXPERT};
  LigLaunch launch = {.operands = operands, .params = &params};
  g_assert_cmpint (kernel->functions[LIG_BACKEND_CPU](&launch), ==, LIG_OK);
  g_assert_cmpmem (y, sizeof y, x, sizeof x);
  params.peers = 4;
  g_assert_cmpint (kernel->functions[LIG_BACKEND_CPU](&launch), ==, LIG_FAILED);
}

static void
test_add_parts (void)
{
  const LigKernel *kernel = lig_kernel_find ("add_parts");
  g_autoptr (GRand) random = g_rand_new_with_seed (3);
  for (LigDtype dtype = LIG_FP32; dtype <= LIG_BF16; dtype++)
    for (gint64 parts = 1; parts <= MAX_RANKS; parts++) {
      const gint64 size = 4099;
      double spacing = dtype == LIG_FP32 ? 0x1p-22 : dtype == LIG_FP16 ? 0x1p-10 : 0x1p-7;
      g_autofree float *values = g_new (float, parts *size), *result = g_new (float, size);
      g_autofree float *x = g_new (float, parts *size), *y = g_new (float, size);
      LigOperand operands[] = {{x, parts * size, size, dtype}, {y, size, size, dtype}};
      LigLaunch launch = {.operands = operands};
      for (gint64 i = 0; i < parts * size; i++)
        values[i] = (float) g_rand_double_range (random, -2, 2);
      lig_narrow (dtype, values, x, (gsize) (parts * size));
      lig_widen (dtype, x, values, (gsize) (parts * size));
      g_assert_cmpint (kernel->functions[LIG_BACKEND_CPU](&launch), ==, LIG_OK);
      lig_widen (dtype, y, result, (gsize) size);
      for (gint64 i = 0; i < size; i++) {
        double sum = 0;
        for (gint64 part = 0; part < parts; part++)
          sum += (double) values[part * size + i];
        g_assert_cmpfloat (fabs ((double) result[i] - sum), <=,
                           (double) parts * spacing * (fabs (sum) + 1));
      }
      operands[1].size = size - 1;
      g_assert_cmpint (kernel->functions[LIG_BACKEND_CPU](&launch), ==, LIG_FAILED);
    }
}

/* A launch whose peers differ from the plan's is rejected before any communication, and so are
 * integers. */
static void
test_rejected (void)
{
  float values[4] = {1, 2, 3, 4};
  const LigKernel *kernel = lig_kernel_find ("all_reduce");
  LigOperand operands[] = {{values, 4, 4, LIG_FP32}, {values, 4, 4, LIG_FP32}};
  LigCollectiveParams params = {2, LIG_REDUCE_SUM, LIG_GROUP_DATA};
  LigLaunch launch = {.operands = operands, .params = &params};
  const LigPeers peers = {0, 3, NULL, collective, gather, shift};
  launch.peers = &peers;
  g_assert_cmpint (kernel->functions[LIG_BACKEND_CPU](&launch), ==, LIG_FAILED);
  g_assert_nonnull (strstr (launch.where, "different peers"));
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
  g_test_add_data_func ("/kernels/collective/all-gather", "all_gather", test_rows);
  g_test_add_data_func ("/kernels/collective/reduce-scatter", "reduce_scatter", test_rows);
  g_test_add_data_func ("/kernels/collective/shard-rows", "shard_rows", test_rows);
  g_test_add_data_func ("/kernels/collective/ring-exchange", "ring_exchange", test_rows);
  g_test_add_data_func ("/kernels/collective/all-to-all", "all_to_all", test_rows);
  g_test_add_func ("/kernels/collective/integers", test_integers);
  g_test_add_func ("/kernels/collective/ring-distances", test_ring);
  g_test_add_func ("/kernels/collective/add-parts", test_add_parts);
  g_test_add_func ("/kernels/collective/shares", test_shares);
  g_test_add_func ("/kernels/collective/rejected", test_rejected);
  return g_test_run ();
}
