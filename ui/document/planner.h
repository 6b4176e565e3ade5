/* SPDX-License-Identifier: MIT */
/* Compiles on a thread of its own, always what was asked for last. */
#pragma once

#include "ui/document/document.h"

G_BEGIN_DECLS

typedef struct _LigPlanner LigPlanner;

/**
 * LigPlannerAnswer: handed to the owner in the main loop; it takes what it wants.
 *
 * @plan: (nullable): whole, or of the ops before the first problem
 * @problems: (element-type LigProblem)
 * @measuring: (nullable): no plan yet, but what is measured now
 * @final: nothing more comes of this request
 */
typedef struct {
  guint64 request;
  LigPlan *plan;
  GPtrArray *problems;
  char *measuring;
  gboolean final;
} LigPlannerAnswer;

typedef void (*LigPlannerFunc) (gpointer owner, const LigPlannerAnswer *answer);

LigPlanner *lig_planner_new (LigPlannerFunc func, gpointer owner);

/* Nothing is answered from then on. Does not wait for a compilation under way. */
void lig_planner_free (LigPlanner *self);

/* @sequence: (transfer full): nobody else may touch it. Returns the request's number. */
guint64 lig_planner_ask (
  LigPlanner *self, LigSequence *sequence, const char *device, LigPolicy policy, LigStore *store);

void lig_problem_free (LigProblem *problem);

/* The device is opened again for the next request: what was measured of it is new. */
void lig_planner_forget_device (LigPlanner *self);

G_END_DECLS
