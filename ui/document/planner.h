/* SPDX-License-Identifier: MIT */
/* Compiles the latest request on its own thread. */
#pragma once

#include "ui/document/document.h"
#include <ligature/recorded-times.h>

G_BEGIN_DECLS

typedef struct _LigPlanner LigPlanner;

/**
 * LigPlannerAnswer: passed to the owner in the main loop, which may take the members.
 *
 * @plan: (nullable): complete, or of the ops before the first problem
 * @problems: (element-type LigProblem)
 * @measuring: (nullable): the measurement in progress; there is no plan yet
 * @final: whether no other plan follows
 * @unfused: (nullable): with the last plan: the same sequence with every op unfused
 * @recorded, @recorded_unfused: (nullable): the times of the newest profiles of both plans in the
 *   store
 */
typedef struct {
  guint64 request;
  LigPlan *plan;
  GPtrArray *problems;
  char *measuring;
  gboolean final;
  LigPlan *unfused;
  LigRecordedTimes *recorded, *recorded_unfused;
} LigPlannerAnswer;

typedef void (*LigPlannerFunc) (gpointer owner, const LigPlannerAnswer *answer);

LigPlanner *lig_planner_new (LigPlannerFunc func, gpointer owner);

/* Frees the planner, which sends no more answers. Does not wait for a running compilation. */
void lig_planner_free (LigPlanner *self);

/* Requests the plan of rank 0 and returns the request's number. @sequence: (transfer full): used
 * only by the planner */
guint64 lig_planner_ask (LigPlanner *self,
                         LigSequence *sequence,
                         const char *device,
                         const LigLayout *layout,
                         LigPolicy policy,
                         LigStore *store);

/* @fixes: (nullable) */
LigProblem *lig_problem_new (const char *path, const char *text, GPtrArray *fixes);
void lig_problem_free (LigProblem *problem);

/* Returns: (transfer full) (nullable): the problem of a plan that is too large to run, with a batch
 *   that fits as its fix */
LigProblem *
lig_problem_of_memory (LigPlan *plan, LigSequence *sequence, const LigPlanOptions *options);

/* Returns: (transfer full): the problem that the ranks cannot share the batch, described by @error,
 * with the next smaller batch that they can share as its fix */
LigProblem *
lig_problem_of_batch (LigSequence *sequence, const LigLayout *layout, const GError *error);

/* Returns: (transfer full) (element-type LigProblem): all problems of a sequence that has no plan,
 *   in the order of the rows. @device: (nullable): null if it cannot be opened. @error: the reason
 *   why there is no plan
 */
GPtrArray *lig_problem_list (LigSequence *sequence,
                             LigDevice *device,
                             const LigPlanOptions *options,
                             const GError *error);

/* Opens the device again for the next request, because its peak rates were measured. */
void lig_planner_forget_device (LigPlanner *self);

G_END_DECLS
