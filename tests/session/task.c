/* SPDX-License-Identifier: MIT */
/* The source of a task in a thread is freed by the main loop, not by the thread. */
#include "ui/session/task.h"

#define TASKS 2000

G_DECLARE_FINAL_TYPE (Source, source, TEST, SOURCE, GObject)

struct _Source {
  GObject parent_instance;
};

G_DEFINE_FINAL_TYPE (Source, source, G_TYPE_OBJECT)

static GThread *main_thread;
static int answers, freed, freed_elsewhere;

static void
source_finalize (GObject *object)
{
  g_atomic_int_inc (&freed);
  if (g_thread_self () != main_thread)
    g_atomic_int_inc (&freed_elsewhere);
  G_OBJECT_CLASS (source_parent_class)->finalize (object);
}

static void
source_class_init (SourceClass *class)
{
  G_OBJECT_CLASS (class)->finalize = source_finalize;
}

static void
source_init (Source *self)
{
}

static void
work (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  g_task_return_boolean (task, TRUE);
}

static void
take_answer (GObject *source, GAsyncResult *result, gpointer unused)
{
  g_assert_true (g_task_propagate_boolean (G_TASK (result), NULL));
  answers++;
}

static void
test_freed_by_main_loop (void)
{
  for (int i = 0; i < TASKS; i++) {
    g_autoptr (Source) source = g_object_new (source_get_type (), NULL);
    g_autoptr (GTask) task = g_task_new (source, NULL, take_answer, NULL);
    lig_task_run (task, work);
    g_clear_object (&task);
    g_clear_object (&source);
    while (answers <= i)
      g_main_context_iteration (NULL, TRUE);
  }
  while (g_atomic_int_get (&freed) < TASKS) {
    g_main_context_iteration (NULL, FALSE);
    g_thread_yield ();
  }
  g_assert_cmpint (freed_elsewhere, ==, 0);
}

static void
test_no_source (void)
{
  answers = 0;
  g_autoptr (GTask) task = g_task_new (NULL, NULL, take_answer, NULL);
  lig_task_run (task, work);
  while (answers == 0)
    g_main_context_iteration (NULL, TRUE);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  main_thread = g_thread_self ();
  g_test_add_func ("/task/freed-by-main-loop", test_freed_by_main_loop);
  g_test_add_func ("/task/no-source", test_no_source);
  return g_test_run ();
}
