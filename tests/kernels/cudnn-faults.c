/* SPDX-License-Identifier: MIT */
/* The plans of attention with a stub for cuDNN: each of its calls may fail, and no descriptor
 * leaks; the first suitable engine is used. */
#include "kernels/cuda/attention/cudnn-case.h"
#include <ligature/params-attention.h>

#include <glib.h>
#include <string.h>

enum { FAILURE = 3000, MAX_ENGINES = 20, BYTES_OF_ENGINE = 512 };

/* A descriptor of the stub. */
typedef struct {
  int kind;
  gboolean finished;
  int engine; /* of a configuration, an engine or a plan */
} Made;

typedef struct {
  gboolean rejects, any_order;
} Engine;

/* The engines of the stub, and its calls. */
static struct {
  Engine engines[MAX_ENGINES];
  int n_engines;
  GHashTable *alive;
  int calls, failing; /* the number of the call that fails, or -1 */
} fake;

static gboolean
fails (void)
{
  return fake.calls++ == fake.failing;
}

/* Returns a descriptor, which must be alive; null stays null. */
static Made *
check_alive (LigCudnnDescriptor descriptor)
{
  g_assert_true (!descriptor || g_hash_table_contains (fake.alive, descriptor));
  return descriptor;
}

static int
create (int kind, LigCudnnDescriptor *descriptor)
{
  if (fails ())
    return FAILURE;
  Made *made = g_new0 (Made, 1);
  made->kind = kind;
  g_hash_table_add (fake.alive, made);
  *descriptor = made;
  return LIG_CUDNN_SUCCESS;
}

static int
destroy (LigCudnnDescriptor descriptor)
{
  g_assert_nonnull (descriptor);
  g_assert_true (g_hash_table_remove (fake.alive, descriptor));
  return LIG_CUDNN_SUCCESS;
}

static int
finalize (LigCudnnDescriptor descriptor)
{
  Made *made = check_alive (descriptor);
  if (fails () || !made)
    return FAILURE;
  if (made->kind == LIG_CUDNN_PLAN_DESCRIPTOR && fake.engines[made->engine].rejects)
    return FAILURE;
  g_assert_false (made->finished);
  made->finished = TRUE;
  return LIG_CUDNN_SUCCESS;
}

/* Descriptors to which a descriptor refers are finalized, except configurations, which the
 * heuristic filled in. */
static int
set (LigCudnnDescriptor descriptor, int attribute, int type, int64_t count, const void *values)
{
  Made *made = check_alive (descriptor);
  if (fails () || !made || count < 1)
    return FAILURE;
  g_assert_false (made->finished);
  for (int64_t i = 0; type == LIG_CUDNN_TYPE_DESCRIPTOR && i < count; i++) {
    const Made *of = check_alive (((LigCudnnDescriptor const *) values)[i]);
    g_assert_nonnull (of);
    g_assert_true (of->finished || of->kind == LIG_CUDNN_CONFIG_DESCRIPTOR);
    if (attribute == LIG_CUDNN_PLAN_CONFIG)
      made->engine = of->engine;
  }
  return LIG_CUDNN_SUCCESS;
}

/* Like the library, it counts all values of an attribute, and writes those that were requested. */
static int
get (
  LigCudnnDescriptor descriptor, int attribute, int type, int64_t max, int64_t *count, void *values)
{
  const Made *made = check_alive (descriptor);
  if (fails () || !made)
    return FAILURE;
  *count = 1;
  switch (attribute) {
  case LIG_CUDNN_HEURISTIC_RESULTS:
    *count = fake.n_engines;
    for (int i = 0; i < MIN (fake.n_engines, max); i++) {
      Made *config = check_alive (((LigCudnnDescriptor *) values)[i]);
      if (!config)
        return FAILURE;
      config->engine = i;
    }
    break;
  case LIG_CUDNN_CONFIG_ENGINE:
    check_alive (*(LigCudnnDescriptor *) values)->engine = made->engine;
    break;
  case LIG_CUDNN_ENGINE_INDEX:
    *(int64_t *) values = made->engine;
    break;
  case LIG_CUDNN_ENGINE_NUMERICAL_NOTES:
    *count = 40;
    for (int64_t i = 0; i < max; i++)
      ((int32_t *) values)[i] = 0;
    if (fake.engines[made->engine].any_order)
      ((int32_t *) values)[1] = LIG_CUDNN_NOTE_NONDETERMINISTIC;
    break;
  case LIG_CUDNN_PLAN_WORKSPACE:
    *(int64_t *) values = BYTES_OF_ENGINE * made->engine;
    break;
  default:
    g_assert_not_reached ();
  }
  return LIG_CUDNN_SUCCESS;
}

static const char *
describe (int status)
{
  return status == FAILURE ? "CUDNN_STATUS_NOT_SUPPORTED" : "CUDNN_STATUS_SUCCESS";
}

static void
last_message (char *message, size_t size)
{
  g_strlcpy (message, "the stand-in rejects", size);
}

static const LigCudnn library = {.version = 91900,
                                 .create = create,
                                 .destroy = destroy,
                                 .finalize = finalize,
                                 .set = set,
                                 .get = get,
                                 .describe = describe,
                                 .last_message = last_message};

/* Makes a plan with that many engines, where call `failing` fails. Descriptors remain only in the
 * plan. */
static LigCudnnPlan *
make_plan (const LigCudnnCase *one, int failing, char *why, size_t size)
{
  fake.calls = 0;
  fake.failing = failing;
  fake.alive = g_hash_table_new_full (NULL, NULL, g_free, NULL);
  why[0] = '\0';
  LigCudnnPlan *plan = lig_cudnn_plan_new (&library, &fake, NULL, one, why, size);
  if (!plan)
    g_assert_cmpuint (g_hash_table_size (fake.alive), ==, 0);
  return plan;
}

/* Frees a plan, which may be null, and with it all descriptors. */
static void
free_plan (LigCudnnPlan *plan)
{
  lig_cudnn_plan_free (plan);
  g_assert_cmpuint (g_hash_table_size (fake.alive), ==, 0);
  g_clear_pointer (&fake.alive, g_hash_table_unref);
}

static LigCudnnCase
a_case (gboolean backward)
{
  return (LigCudnnCase){.batch = 2,
                        .batch_parts = 1,
                        .head_parts = 1,
                        .heads = 4,
                        .kv_heads = 2,
                        .features = 64,
                        .length = 100,
                        .keys = 100,
                        .mask = LIG_MASK_CAUSAL,
                        .window = 30,
                        .scale = 0.125f,
                        .dtype = LIG_BF16,
                        .backward = backward,
                        .padded = 1};
}

/* Each call fails once. Only an engine's id and notes are optional. */
static void
test_failures (void)
{
  char why[320];
  fake.n_engines = 2;
  memset (fake.engines, 0, sizeof fake.engines);
  for (int backward = 0; backward < 2; backward++) {
    LigCudnnCase one = a_case (backward);
    LigCudnnPlan *plan = make_plan (&one, -1, why, sizeof why);
    int calls = fake.calls, made = 0;
    g_assert_nonnull (plan);
    g_assert_cmpstr (why, ==, "");
    free_plan (plan);
    g_assert_cmpint (calls, >, 200);
    for (int i = 0; i < calls; i++) {
      plan = make_plan (&one, i, why, sizeof why);
      g_assert_true (!plan == (why[0] != '\0'));
      made += plan != NULL;
      free_plan (plan);
    }
    /* The engine's descriptor and its three attributes, six configurations that two engines leave
     * empty; and the second engine is used if one of the five calls for the first fails. */
    g_assert_cmpint (made, ==, 15);
  }
}

/* Checks which engine is used; -1: none, for a reason with that word. */
static void
check_engine (const LigCudnnCase *one, int engine, const char *word)
{
  char why[320];
  LigCudnnPlan *plan = make_plan (one, -1, why, sizeof why);
  if (engine >= 0) {
    g_assert_nonnull (plan);
    g_assert_cmpint (plan->engine, ==, engine);
    g_assert_cmpint (plan->space.workspace, ==, BYTES_OF_ENGINE * engine);
    g_assert_true (plan->nondeterministic == fake.engines[engine].any_order);
  } else {
    g_assert_null (plan);
    g_assert_nonnull (strstr (why, word));
  }
  free_plan (plan);
}

static void
test_engines (void)
{
  LigCudnnCase forward = a_case (FALSE), any_order = a_case (TRUE), ordered = any_order;
  ordered.ordered = 1;
  fake.n_engines = 4;
  memset (fake.engines, 0, sizeof fake.engines);
  check_engine (&forward, 0, NULL);
  fake.engines[0].any_order = fake.engines[1].rejects = TRUE;
  check_engine (&any_order, 0, NULL);
  check_engine (&ordered, 2, NULL);
  fake.engines[0].rejects = TRUE;
  check_engine (&forward, 2, NULL);
  for (int i = 0; i < 4; i++)
    fake.engines[i] = (Engine){.any_order = TRUE};
  check_engine (&ordered, -1, "none of its 4 engines supports the case");
  for (int i = 0; i < 4; i++)
    fake.engines[i].rejects = TRUE;
  check_engine (&any_order, -1, "the stand-in rejects");
  fake.n_engines = 0;
  check_engine (&forward, -1, "none of its 0 engines");
}

/* The library has more engines than are tried. */
static void
test_many_engines (void)
{
  LigCudnnCase one = a_case (FALSE);
  fake.n_engines = MAX_ENGINES;
  for (int i = 0; i < MAX_ENGINES; i++)
    fake.engines[i] = (Engine){.rejects = i != 7};
  check_engine (&one, 7, NULL);
  fake.engines[7].rejects = TRUE;
  check_engine (&one, -1, "the stand-in rejects");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/cudnn-faults/failures", test_failures);
  g_test_add_func ("/cudnn-faults/engines", test_engines);
  g_test_add_func ("/cudnn-faults/many-engines", test_many_engines);
  return g_test_run ();
}
