/* SPDX-License-Identifier: MIT */
/* Reads the load of experts of the newest run of a document's sequence. */
#include "ui/document/loads.h"

#include "ui/document/private.h"
#include "ui/session/task.h"
#include <ligature/recorded-loads.h>

struct _LigLoads {
  LigPlan *plan;    /* (nullable): whose loads are read or were read */
  guint serial;     /* of the last question; answers to earlier ones are dropped */
  GPtrArray *found; /* (nullable): of LigLoadSeries */
};

typedef struct {
  GWeakRef document; /* reading does not keep it alive */
  LigPlan *plan;
  LigStore *store;
  guint serial;
} Question;

static void
free_question (gpointer data)
{
  Question *question = data;
  g_weak_ref_clear (&question->document);
  lig_plan_unref (question->plan);
  g_object_unref (question->store);
  g_free (question);
}

static void
work (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  const Question *question = data;
  GPtrArray *found = lig_recorded_loads_find (question->store, question->plan);
  g_task_return_pointer (task, found, (GDestroyNotify) g_ptr_array_unref);
}

static void
take (GObject *source, GAsyncResult *result, gpointer unused)
{
  const Question *question = g_task_get_task_data (G_TASK (result));
  g_autoptr (GPtrArray) found = g_task_propagate_pointer (G_TASK (result), NULL);
  g_autoptr (LigDocument) self = g_weak_ref_get (&((Question *) question)->document);
  LigLoads *loads = self ? self->loads : NULL;
  if (!loads || loads->serial != question->serial || (!found && !loads->found))
    return;
  g_clear_pointer (&loads->found, g_ptr_array_unref);
  loads->found = g_steal_pointer (&found);
  lig_document_emit (self, LIG_DOCUMENT_TIMED);
}

static void
ask (LigDocument *self)
{
  LigStore *store = lig_session_get_store (self->session);
  LigLoads *loads = self->loads;
  loads->serial++;
  if (loads->plan != self->plan) {
    g_clear_pointer (&loads->plan, lig_plan_unref);
    g_clear_pointer (&loads->found, g_ptr_array_unref);
    loads->plan = self->plan ? lig_plan_ref (self->plan) : NULL;
  }
  if (!store || !self->plan || !lig_plan_has_loads (self->plan))
    return;
  Question *question = g_new0 (Question, 1);
  g_weak_ref_init (&question->document, self);
  question->plan = lig_plan_ref (self->plan);
  question->store = g_object_ref (store);
  question->serial = loads->serial;
  g_autoptr (GTask) task = g_task_new (NULL, NULL, take, NULL);
  g_task_set_task_data (task, question, free_question);
  lig_task_run (task, work);
}

static void
follow_plan (LigDocument *self)
{
  if (self->loads && self->loads->plan != self->plan)
    ask (self);
}

void
lig_document_read_loads (LigDocument *self)
{
  if (!self->loads) {
    self->loads = g_new0 (LigLoads, 1);
    g_signal_connect (self, "planned", G_CALLBACK (follow_plan), NULL);
  }
  ask (self);
}

GPtrArray *
lig_document_get_loads (LigDocument *self)
{
  const LigLoads *loads = self->loads;
  return loads && loads->plan == self->plan ? loads->found : NULL;
}

void
lig_document_clear_loads (LigDocument *self)
{
  LigLoads *loads = g_steal_pointer (&self->loads);
  if (!loads)
    return;
  g_clear_pointer (&loads->plan, lig_plan_unref);
  g_clear_pointer (&loads->found, g_ptr_array_unref);
  g_free (loads);
}
