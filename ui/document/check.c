/* SPDX-License-Identifier: MIT */
/* Checks a document's plan on a thread. */
#include "ui/document/check.h"

#include "ui/document/private.h"
#include "ui/session/task.h"
#include <ligature/compile.h>
#include <ligature/plan-options.h>

#include <glib/gi18n.h>

/* The findings of a plan that has these groups. */
typedef struct {
  LigVerification *found;
  char *groups;
} Outcome;

struct _LigChecks {
  GCancellable *cancellable; /* of the running check; or null */
  Outcome *outcome;          /* of the last check; or null */
  char *error;               /* likewise */
  LigPlan *compared;         /* with the groups of the outcome; or null */
  gboolean applies;          /* whether it has them */
};

typedef struct {
  LigSequence *sequence;
  char *device, *choices;
  LigPlanOptions options;
} Job;

static void
free_outcome (Outcome *outcome)
{
  lig_verification_free (outcome->found);
  g_free (outcome->groups);
  g_free (outcome);
}

static void
free_job (gpointer data)
{
  Job *job = data;
  g_object_unref (job->sequence);
  g_free (job->device);
  g_free (job->choices);
  g_free (job);
}

void
lig_document_clear_checks (LigDocument *self)
{
  if (!self->checks)
    return;
  if (self->checks->cancellable)
    g_cancellable_cancel (self->checks->cancellable);
  g_clear_object (&self->checks->cancellable);
  g_clear_pointer (&self->checks->outcome, free_outcome);
  g_clear_pointer (&self->checks->compared, lig_plan_unref);
  g_free (self->checks->error);
  g_clear_pointer (&self->checks, g_free);
}

/* Returns a text of all groups, including those of single ops. */
static char *
describe_groups (LigPlan *plan)
{
  GString *text = g_string_new (lig_device_get_name (lig_plan_get_device (plan)));
  g_string_append_printf (text, " %s:%s %s", lig_dtype_name (lig_plan_get_compute (plan)),
                          lig_plan_get_parameters_name (plan), lig_plan_get_recipe (plan));
  for (int pass = LIG_PASS_FORWARD; pass <= (int) LIG_PASS_BACKWARD; pass++) {
    guint count;
    const LigPlanGroup *groups = lig_plan_get_groups (plan, (LigPass) pass, &count);
    for (guint i = 0; i < count; i++)
      g_string_append_printf (text, " %d+%d%s", groups[i].first, groups[i].count,
                              groups[i].fusion ? groups[i].fusion->name : "");
  }
  g_autofree char *kernels = lig_plan_to_text (plan);
  g_autofree char *hash = g_compute_checksum_for_string (G_CHECKSUM_SHA256, kernels, -1);
  g_string_append_printf (text, " %s", hash);
  return g_string_free (text, FALSE);
}

/* --- On the thread ---------------------------------------------------------------------------- */

static gboolean
is_wanted (guint done, guint count, gpointer cancellable)
{
  return !g_cancellable_is_cancelled (cancellable);
}

/* The plan has the same groups as the document's and, like that, no update. */
static LigVerification *
verify (Job *job, GCancellable *cancellable, GError **error)
{
  LigVerificationOptions options = LIG_VERIFICATION_OPTIONS_INIT;
  g_autoptr (LigDevice) device = lig_device_open (job->device, error);
  g_autoptr (LigPlan) plan =
    device ? lig_plan_compile (job->sequence, device, &job->options, error) : NULL;
  options.monitor = is_wanted;
  options.monitor_data = cancellable;
  return plan ? lig_plan_verify (plan, &options, error) : NULL;
}

static void
work (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  GError *error = NULL;
  LigVerification *found = verify (data, cancellable, &error);
  if (found)
    g_task_return_pointer (task, found, (GDestroyNotify) lig_verification_free);
  else
    g_task_return_error (task, error);
}

/* --- On the main thread ----------------------------------------------------------------------- */

static void
take_outcome (GObject *source, GAsyncResult *result, gpointer groups)
{
  LigDocument *self = g_task_get_source_object (G_TASK (result));
  g_autofree char *checked = groups;
  g_autoptr (GError) error = NULL;
  g_autoptr (LigVerification) found = g_task_propagate_pointer (G_TASK (result), &error);
  /* The document was closed, or another check has begun. */
  if (!self->checks || g_task_get_cancellable (G_TASK (result)) != self->checks->cancellable)
    return;
  g_clear_object (&self->checks->cancellable);
  g_clear_pointer (&self->checks->error, g_free);
  g_clear_pointer (&self->checks->compared, lig_plan_unref);
  if (found) {
    g_clear_pointer (&self->checks->outcome, free_outcome);
    self->checks->outcome = g_new0 (Outcome, 1);
    self->checks->outcome->found = g_steal_pointer (&found);
    self->checks->outcome->groups = g_steal_pointer (&checked);
  } else if (!g_error_matches (error, LIG_ERROR, LIG_ERROR_CANCELLED)) {
    self->checks->error = g_strdup (error->message);
  }
  lig_document_emit (self, LIG_DOCUMENT_TIMED);
}

/* Returns why the plan cannot be checked, or null. */
static const char *
find_rejection (LigDocument *self)
{
  if (lig_document_is_checking (self))
    return _ ("this plan is already being checked");
  if (!self->plan || self->stale)
    return _ ("there is no plan to check: the sequence has a problem, or is being compiled");
  if (lig_device_name_has (lig_document_get_device (self), LIG_DEVICE_DESCRIBED))
    return _ ("this device is plan-only: nothing can run on it");
  return NULL;
}

static Job *
new_job (LigDocument *self)
{
  Job *job = g_new0 (Job, 1);
  job->sequence = lig_sequence_copy (self->sequence);
  job->device = g_strdup (lig_document_get_device (self));
  job->choices = lig_plan_get_choices (self->plan);
  lig_document_get_options (self, &job->options);
  job->options.policy = lig_plan_get_policy (self->plan);
  job->options.choices = job->choices;
  job->options.tuning = NULL;
  return job;
}

gboolean
lig_document_check_plan (LigDocument *self, GError **error)
{
  const char *rejection = find_rejection (self);
  if (rejection) {
    g_set_error_literal (error, LIG_ERROR, LIG_ERROR_VALUE, rejection);
    return FALSE;
  }
  if (!self->checks)
    self->checks = g_new0 (LigChecks, 1);
  self->checks->cancellable = g_cancellable_new ();
  g_autoptr (GTask) task =
    g_task_new (self, self->checks->cancellable, take_outcome, describe_groups (self->plan));
  g_task_set_check_cancellable (task, FALSE);
  g_task_set_task_data (task, new_job (self), free_job);
  lig_task_run (task, work);
  lig_document_emit (self, LIG_DOCUMENT_TIMED);
  return TRUE;
}

void
lig_document_cancel_check (LigDocument *self)
{
  if (lig_document_is_checking (self))
    g_cancellable_cancel (self->checks->cancellable);
}

gboolean
lig_document_is_checking (LigDocument *self)
{
  return self->checks && self->checks->cancellable;
}

const LigVerification *
lig_document_get_check (LigDocument *self)
{
  LigChecks *checks = self->checks;
  if (!checks || !checks->outcome || !self->plan || self->stale)
    return NULL;
  if (checks->compared != self->plan) {
    g_autofree char *groups = describe_groups (self->plan);
    g_clear_pointer (&checks->compared, lig_plan_unref);
    checks->compared = lig_plan_ref (self->plan);
    checks->applies = g_str_equal (groups, checks->outcome->groups);
  }
  return checks->applies ? checks->outcome->found : NULL;
}

char *
lig_document_describe_check (LigDocument *self)
{
  const LigVerification *found = lig_document_get_check (self);
  if (self->checks && self->checks->error)
    return g_strdup (self->checks->error);
  return found ? lig_verification_explain (found) : NULL;
}

LigCheck
lig_document_get_group_check (LigDocument *self, LigPass pass, guint group)
{
  const LigVerification *found = lig_document_get_check (self);
  for (guint i = 0; found && i < found->n_groups; i++)
    if (found->groups[i].pass == pass && found->groups[i].group == (int) group)
      return found->groups[i].outside ? LIG_CHECK_OUTSIDE : LIG_CHECK_INSIDE;
  return LIG_CHECK_UNKNOWN;
}
