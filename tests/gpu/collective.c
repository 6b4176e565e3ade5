/* SPDX-License-Identifier: MIT */
/* Collectives between the GPUs of this machine, through NCCL: each kernel and type against the
 * exact result, launched and in a graph. A thread with its own device represents each process; with
 * one GPU, the process is connected with itself. Without NCCL the tests are skipped. */
#include "tests/gpu/case.h"
#include <ligature/kernels.h>
#include <ligature/params-collective.h>

#include <math.h>

enum { MAX_RANKS = 8 };

/* One collective of all processes. */
typedef struct {
  const char *kernel;
  LigReduction reduction;
  LigDtype dtype;
  int count;
  gint64 size; /* of the input */
  gboolean captured;
  char key[LIG_CONNECTION_KEY];
  float *values; /* the inputs of all processes */
  GMutex lock;
  char *problem; /* the first */
} Problem;

typedef struct {
  Problem *problem;
  LigDevice *device;
  LigPeers peers;
  float *result;
} Process;

static gint64
get_result_size (const Problem *p)
{
  gboolean alike = g_str_equal (p->kernel, "all_reduce") ||
                   g_str_equal (p->kernel, "ring_exchange") ||
                   g_str_equal (p->kernel, "all_to_all");
  return g_str_equal (p->kernel, "all_gather") ? p->size * p->count
         : alike                               ? p->size
                                               : p->size / p->count;
}

/* Records the first failure; the others end as well, because no process waits for one that fails
 * before a collective begins. */
static gboolean
check (Process *self, LigStatus status, const char *what)
{
  Problem *p = self->problem;
  if (status == LIG_OK)
    return TRUE;
  g_mutex_lock (&p->lock);
  if (!p->problem)
    p->problem =
      g_strdup_printf ("%s: status %d: %s", what, (int) status,
                       lig_device_calls (self->device)->message (lig_device_handle (self->device)));
  g_mutex_unlock (&p->lock);
  return FALSE;
}

static LigStatus
launch (Process *self, LigOperand *operands, void *workspace)
{
  const Problem *p = self->problem;
  const LigRingParams params = {{p->count, (int32_t) p->reduction, LIG_GROUP_DATA}, 0};
  LigLaunch launch = {.operands = operands,
                      .params = &params,
                      .workspace = workspace,
                      .stream = lig_device_stream (self->device),
                      .device = lig_device_handle (self->device),
                      .peers = &self->peers};
  LigStatus status = lig_kernel_find (p->kernel)->functions[LIG_BACKEND_CUDA](&launch);
  if (status != LIG_OK)
    g_printerr ("%s: %s\n", p->kernel, launch.where ? launch.where : "no reason");
  return status;
}

/* Launches the kernel, in a graph if the test requires it. */
static gboolean
collective (Process *self, LigOperand *operands, void *workspace)
{
  const LigBackend *calls = lig_device_calls (self->device);
  LigBackendDevice *handle = lig_device_handle (self->device);
  void *stream = lig_device_stream (self->device), *graph = NULL;
  if (!self->problem->captured)
    return check (self, launch (self, operands, workspace), "launching");
  if (!check (self, calls->capture (handle, stream), "capturing"))
    return FALSE;
  LigStatus status = launch (self, operands, workspace);
  if (!check (self, calls->capture_end (handle, stream, &graph), "a graph") ||
      !check (self, status, "launching"))
    return FALSE;
  gboolean fine = check (self, calls->replay (handle, graph, stream), "replaying") &&
                  check (self, calls->wait (handle, stream), "waiting for a graph");
  calls->graph_free (handle, graph);
  return fine;
}

static gboolean
work_with (Process *self, LigOperand *operands, void *workspace)
{
  const Problem *p = self->problem;
  const LigBackend *calls = lig_device_calls (self->device);
  LigBackendDevice *handle = lig_device_handle (self->device);
  void *stream = lig_device_stream (self->device);
  gsize element = lig_dtype_size (p->dtype), bytes = (gsize) p->size * element;
  gsize result = (gsize) operands[1].size * element;
  g_autofree void *host = g_malloc0 (MAX (bytes, result));
  lig_narrow (p->dtype, p->values + self->peers.rank * p->size, host, (gsize) p->size);
  if (!check (self, calls->copy (handle, operands[0].data, host, bytes, stream), "copying") ||
      !collective (self, operands, workspace) ||
      !check (self, calls->copy (handle, host, operands[1].data, result, stream), "copying") ||
      !check (self, calls->wait (handle, stream), "waiting") ||
      !check (self, calls->connection_state (handle, self->peers.handle), "the connection"))
    return FALSE;
  self->result = g_new (float, operands[1].size);
  lig_widen (p->dtype, host, self->result, (gsize) operands[1].size);
  return TRUE;
}

static gpointer
work (gpointer data)
{
  Process *self = data;
  const Problem *p = self->problem;
  const LigBackend *calls = lig_device_calls (self->device);
  LigBackendDevice *handle = lig_device_handle (self->device);
  LigOperand operands[2] = {{NULL, p->size, p->size, p->dtype},
                            {NULL, get_result_size (p), get_result_size (p), p->dtype}};
  void *workspace = NULL;
  calls->enter (handle);
  gboolean fine = check (
    self, calls->connect (handle, p->key, self->peers.rank, self->peers.count, &self->peers.handle),
    "connecting");
  for (int i = 0; i < 2 && fine; i++)
    fine = check (self,
                  calls->allocate (handle, (gsize) operands[i].size * lig_dtype_size (p->dtype),
                                   &operands[i].data),
                  "memory");
  fine = fine && check (self, calls->allocate (handle, LIG_WORKSPACE_SIZE, &workspace), "memory") &&
         work_with (self, operands, workspace);
  for (int i = 0; i < 2; i++)
    if (operands[i].data)
      calls->release (handle, operands[i].data);
  if (workspace)
    calls->release (handle, workspace);
  if (self->peers.handle)
    calls->disconnect (handle, self->peers.handle);
  return NULL;
}

static double
expect (const Problem *p, int rank, gint64 at)
{
  double sum = p->reduction == LIG_REDUCE_MAX ? -HUGE_VAL : 0;
  gint64 part = rank * get_result_size (p) + at;
  if (g_str_equal (p->kernel, "all_gather"))
    return (double) p->values[at];
  if (g_str_equal (p->kernel, "shard_rows"))
    return (double) p->values[rank * p->size + part];
  if (g_str_equal (p->kernel, "ring_exchange"))
    return (double) p->values[(rank + p->count - 1) % p->count * p->size + at];
  if (g_str_equal (p->kernel, "all_to_all")) {
    gint64 each = p->size / p->count;
    return (double) p->values[at / each * p->size + rank * each + at % each];
  }
  for (int i = 0; i < p->count; i++) {
    double value =
      (double) p->values[i * p->size + (g_str_equal (p->kernel, "all_reduce") ? at : part)];
    sum = p->reduction == LIG_REDUCE_MAX ? fmax (sum, value) : sum + value;
  }
  return p->reduction == LIG_REDUCE_MEAN ? sum / p->count : sum;
}

/* NCCL accumulates in the type of the values, so each addition except the first may round once. */
static void
compare (const Problem *p, const Process *processes)
{
  double spacing = p->dtype == LIG_FP32 ? 0x1p-22 : p->dtype == LIG_FP16 ? 0x1p-9 : 0x1p-6;
  double max = 0;
  for (int rank = 0; rank < p->count; rank++)
    for (gint64 i = 0; i < get_result_size (p); i++) {
      double wanted = expect (p, rank, i);
      double off = fabs ((double) processes[rank].result[i] - wanted);
      max = MAX (max, off / (spacing * p->count * (fabs (wanted) + 1)));
    }
  g_assert_cmpfloat (max, <=, p->count == 1 ? 0 : 1);
}

static void
solve (Problem *p, LigDevice **devices)
{
  Process processes[MAX_RANKS] = {0};
  GThread *threads[MAX_RANKS];
  g_autoptr (GRand) random = g_rand_new_with_seed (11);
  const LigBackend *calls = lig_device_calls (devices[0]);
  p->values = g_new (float, p->size * p->count);
  for (gint64 i = 0; i < p->size * p->count; i++) {
    guint16 half;
    p->values[i] = (float) g_rand_double_range (random, -2, 2);
    if (p->dtype == LIG_FP32)
      continue;
    lig_narrow (p->dtype, &p->values[i], &half, 1);
    lig_widen (p->dtype, &half, &p->values[i], 1);
  }
  calls->enter (lig_device_handle (devices[0]));
  LigStatus status = calls->connection_key (lig_device_handle (devices[0]), p->key);
  g_assert_cmpint (status, ==, LIG_OK);
  for (int i = 0; i < p->count; i++) {
    processes[i] = (Process){.problem = p, .device = devices[i], .peers = {i, p->count}};
    threads[i] = g_thread_new ("process", work, &processes[i]);
  }
  for (int i = 0; i < p->count; i++)
    g_thread_join (threads[i]);
  g_assert_cmpstr (p->problem, ==, NULL);
  if (!p->problem)
    compare (p, processes);
  for (int i = 0; i < p->count; i++)
    g_free (processes[i].result);
  g_free (p->values);
  g_clear_pointer (&p->problem, g_free);
}

/* Opens all GPUs of this machine. Returns their number, 0 after the test was skipped. */
static int
open_all (LigDevice **devices)
{
  const Gpu *gpu = gpu_or_skip ();
  char key[LIG_CONNECTION_KEY];
  int count = 1;
  if (!gpu)
    return 0;
  devices[0] = gpu->device;
  if (gpu->calls->connection_key (gpu->handle, key) != LIG_OK) {
    g_test_skip (gpu->calls->message (gpu->handle));
    return 0;
  }
  for (; count < MAX_RANKS; count++) {
    g_autofree char *name = g_strdup_printf ("cuda:%d", count);
    devices[count] = lig_device_open (name, NULL);
    if (!devices[count])
      break;
  }
  return count;
}

static void
test_kernel (gconstpointer data)
{
  static LigDevice *devices[MAX_RANKS];
  static int opened;
  static const gint64 sizes[] = {1, 1000, 1 << 20};
  const LigReduction last = g_str_equal (data, "all_reduce") ? LIG_REDUCE_MAX : LIG_REDUCE_SUM;
  opened = opened > 0 ? opened : open_all (devices);
  if (opened > 0)
    g_test_message ("%d GPUs", opened);
  for (int run = 0; opened > 0 && run < 2 * 3 * (int) G_N_ELEMENTS (sizes); run++)
    for (LigReduction reduction = LIG_REDUCE_SUM; reduction <= last; reduction++) {
      Problem p = {.kernel = data,
                   .reduction = reduction,
                   .dtype = (LigDtype) (LIG_FP32 + run / 2 % 3),
                   .count = opened,
                   .size = sizes[run / 6] * (g_str_equal (data, "all_gather") ? 1 : opened),
                   .captured = run % 2};
      solve (&p, devices);
    }
}

int
main (int argc, char **argv)
{
  gpu_test_init (argc, argv);
  g_test_add_data_func ("/gpu/collective/all-reduce", "all_reduce", test_kernel);
  g_test_add_data_func ("/gpu/collective/reduce-scatter", "reduce_scatter", test_kernel);
  g_test_add_data_func ("/gpu/collective/all-gather", "all_gather", test_kernel);
  g_test_add_data_func ("/gpu/collective/shard-rows", "shard_rows", test_kernel);
  g_test_add_data_func ("/gpu/collective/ring-exchange", "ring_exchange", test_kernel);
  g_test_add_data_func ("/gpu/collective/all-to-all", "all_to_all", test_kernel);
  return g_test_run ();
}
