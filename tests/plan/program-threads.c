/* SPDX-License-Identifier: MIT */
/* Tests threads: one edits and compiles a sequence while two train its plans.
 *
 * Clean under the thread sanitizer (-Db_sanitize=thread) with OMP_NUM_THREADS=1, because it does
 * not support OpenMP's locks, and G_SLICE=always-malloc, because it does not support GLib's. */
#include "tests/plan/case.h"
#include <ligature/compile.h>
#include <ligature/optimizer.h>

#include <pthread.h>

#define NET "linear(8) ! gelu ! dropout(0.1) ! linear(3) ! mean-squared-error"

enum { WORKERS = 2, EDITS = 40 };

/* A queue of plans from the editing thread. It uses POSIX locks, which the thread sanitizer
 * supports, unlike GLib's. */
static struct {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  LigPlan *plans[WORKERS][EDITS];
  int count;
} queue = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static LigPlan *
take_plan (int worker, int number)
{
  pthread_mutex_lock (&queue.lock);
  while (queue.count <= number)
    pthread_cond_wait (&queue.changed, &queue.lock);
  LigPlan *plan = g_steal_pointer (&queue.plans[worker][number]);
  pthread_mutex_unlock (&queue.lock);
  return plan;
}

static void
give_plan (LigPlan *plan)
{
  pthread_mutex_lock (&queue.lock);
  for (int i = 0; i < WORKERS; i++)
    queue.plans[i][queue.count] = lig_plan_ref (plan);
  queue.count++;
  pthread_cond_broadcast (&queue.changed);
  pthread_mutex_unlock (&queue.lock);
}

typedef struct {
  int number;
  LigState *state;
} Worker;

/* Trains with each plan in turn, with its own state and device. */
static void *
train (void *data)
{
  Worker *worker = data;
  for (int n = 0; n < EDITS; n++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (LigPlan) plan = take_plan (worker->number, n);
    g_autoptr (LigProgram) program = lig_program_new (plan, worker->state, &error);
    g_assert_no_error (error);
    g_autofree char *text = lig_plan_to_text (plan);
    g_assert_nonnull (strstr (text, "dropout"));
    feed_inputs (program);
    lig_program_set_rate (program, 0.01, 1);
    for (int i = 0; i < 3; i++)
      run_program (program, LIG_RUN_FORWARD | LIG_RUN_BACKWARD | LIG_RUN_UPDATE);
    g_assert_true (isfinite (read_loss (program)));
  }
  return NULL;
}

/* All threads read each plan at the same time; the last to finish frees it. */
static void
test_threads (void)
{
  g_autoptr (GError) error = NULL;
  LigOptimizer adamw = LIG_OPTIMIZER_INIT;
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.optimizer = &adamw;
  options.policy = LIG_POLICY_ALL;
  g_autoptr (LigSequence) sequence = new_sequence (NET, "4x8");
  g_autoptr (LigDevice) here = lig_device_open ("cpu", &error);
  Worker workers[WORKERS];
  pthread_t threads[WORKERS];
  for (int i = 0; i < WORKERS; i++) {
    g_autoptr (LigDevice) device = lig_device_open ("cpu", &error);
    LigState *state = lig_state_new (sequence, device, &options, 1, &error);
    g_assert_no_error (error);
    workers[i] = (Worker){i, state};
    g_assert_cmpint (pthread_create (&threads[i], NULL, train, &workers[i]), ==, 0);
  }
  for (int edit = 0; edit < EDITS; edit++) {
    LigOp *dropout = lig_sequence_get (sequence, 2, NULL);
    g_object_set (dropout, "p", 0.5 / (edit + 1), NULL);
    lig_op_set_fence (dropout, edit % 2);
    g_autoptr (LigPlan) plan = lig_plan_compile (sequence, here, &options, &error);
    g_assert_no_error (error);
    give_plan (plan);
    g_assert_true (lig_sequence_move (sequence, 2, 1, &error));
    g_autofree char *text = lig_plan_to_text (plan);
    g_assert_true (lig_sequence_move (sequence, 1, 2, &error));
  }
  for (int i = 0; i < WORKERS; i++) {
    g_assert_cmpint (pthread_join (threads[i], NULL), ==, 0);
    g_assert_cmpuint (lig_state_get_step (workers[i].state), ==, 3 * EDITS);
    g_object_unref (workers[i].state);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/program-threads/edit-and-train", test_threads);
  return g_test_run ();
}
