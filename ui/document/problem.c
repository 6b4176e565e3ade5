/* SPDX-License-Identifier: MIT */
/* The problems of a document's sequence, in the order of its rows, and their fixes. */
#include "ui/document/planner.h"

#include <ligature/compile.h>
#include <ligature/plan-memory.h>
#include <ligature/plan-options.h>
#include <ligature/plan.h>
#include <ligature/problem.h>
#include <ligature/report.h>

#include <string.h>

void
lig_problem_free (LigProblem *problem)
{
  g_free (problem->path);
  g_free (problem->text);
  g_clear_pointer (&problem->fixes, g_ptr_array_unref);
  g_free (problem);
}

LigProblem *
lig_problem_new (const char *path, const char *text, GPtrArray *fixes)
{
  LigProblem *problem = g_new0 (LigProblem, 1);
  problem->path = g_strdup (path);
  problem->text = g_strdup (text);
  problem->fixes = fixes ? g_ptr_array_ref (fixes)
                         : g_ptr_array_new_with_free_func ((GDestroyNotify) lig_problem_fix_free);
  return problem;
}

/* Compares paths number by number; problems of the whole sequence come first. */
static int
compare (gconstpointer a, gconstpointer b)
{
  const LigProblem *first = *(LigProblem *const *) a, *second = *(LigProblem *const *) b;
  const char *one = first->path ? first->path : "", *two = second->path ? second->path : "";
  while (*one && *two) {
    char *rest, *other;
    guint64 x = g_ascii_strtoull (one, &rest, 10), y = g_ascii_strtoull (two, &other, 10);
    if (x != y || rest == one || other == two)
      return (x > y) - (x < y);
    one = *rest ? rest + 1 : rest;
    two = *other ? other + 1 : other;
  }
  return (*one != '\0') - (*two != '\0');
}

static gboolean
has_text (const GPtrArray *problems, const char *text)
{
  for (guint i = 0; i < problems->len; i++)
    if (g_str_equal (((const LigProblem *) problems->pdata[i])->text, text))
      return TRUE;
  return FALSE;
}

GPtrArray *
lig_problem_list (LigSequence *sequence,
                  LigDevice *device,
                  const LigPlanOptions *options,
                  const GError *error)
{
  GPtrArray *problems = g_ptr_array_new_with_free_func ((GDestroyNotify) lig_problem_free);
  /* The ops can be checked even if the device cannot be opened. */
  g_autoptr (LigDevice) any = device ? g_object_ref (device) : lig_device_open ("null", NULL);
  g_autoptr (GPtrArray) found = any ? lig_plan_check (sequence, any, options) : NULL;
  for (guint i = 0; found && i < found->len; i++) {
    const LigPlanProblem *problem = found->pdata[i];
    g_ptr_array_add (problems, lig_problem_new (lig_error_get_path (problem->error),
                                                problem->error->message, problem->fixes));
  }
  g_ptr_array_sort (problems, compare);
  if (!has_text (problems, error->message))
    g_ptr_array_insert (problems, 0,
                        lig_problem_new (lig_error_get_path (error), error->message, NULL));
  return problems;
}

/* --- Plans that do not fit their device or their ranks -------------------------------------- */

/* Returns whether the plan with its groups fits with another batch. */
static gboolean
fits (LigPlan *of, LigSequence *sequence, const LigPlanOptions *from, gint64 batch)
{
  LigPlanMemory memory;
  LigPlanOptions options = *from;
  g_autofree char *choices = lig_plan_get_choices (of);
  options.batch = batch;
  options.choices = choices;
  options.recall = TRUE;
  g_autoptr (LigPlan) plan = lig_plan_compile (sequence, lig_plan_get_device (of), &options, NULL);
  if (!plan)
    return FALSE;
  lig_plan_get_memory (plan, NULL, &memory);
  return memory.fits;
}

static void
propose_input (LigProblem *problem, const LigShape *shape, LigDtype dtype)
{
  g_autofree char *text = lig_shape_to_string (shape);
  g_autofree char *value = g_strdup_printf ("%s:%s", text, lig_dtype_name (dtype));
  g_ptr_array_add (problem->fixes,
                   lig_problem_fix_new (LIG_PROBLEM_FIX_SET_INPUT, NULL, NULL, value));
}

/* Proposes the largest half, quarter and so on of the batch that fits. */
static void
propose_batch (LigProblem *problem,
               LigPlan *plan,
               LigSequence *sequence,
               const LigPlanOptions *options)
{
  LigShape shape;
  LigDtype dtype;
  LigDevice *device = lig_plan_get_device (plan);
  lig_plan_get_input (plan, &shape, &dtype);
  if (shape.n_axes == 0 || shape.axes[0] < 2 || !fits (plan, sequence, options, 1))
    return;
  do
    shape.axes[0] /= 2;
  while (shape.axes[0] > 1 && !fits (plan, sequence, options, shape.axes[0]));
  shape.axes[0] *= lig_device_get_n_ranks (device, LIG_GROUP_DATA);
  propose_input (problem, &shape, dtype);
}

LigProblem *
lig_problem_of_memory (LigPlan *plan, LigSequence *sequence, const LigPlanOptions *options)
{
  g_autofree char *text = lig_plan_explain_memory (plan, NULL);
  if (!text)
    return NULL;
  LigProblem *problem = lig_problem_new (NULL, text, NULL);
  problem->whole = TRUE;
  propose_batch (problem, plan, sequence, options);
  return problem;
}

LigProblem *
lig_problem_of_batch (LigSequence *sequence, const LigLayout *layout, const GError *error)
{
  LigShape shape;
  LigDtype dtype;
  int ranks = lig_layout_size (layout, LIG_GROUP_DATA);
  LigProblem *problem = lig_problem_new (NULL, error->message, NULL);
  problem->whole = TRUE;
  lig_sequence_get_input (sequence, &shape, &dtype);
  if (shape.n_axes > 0) {
    shape.axes[0] = MAX (shape.axes[0] / ranks, 1) * ranks;
    propose_input (problem, &shape, dtype);
  }
  return problem;
}
