/* SPDX-License-Identifier: MIT */
/* The neighbours of one step of a plan: the values that it reads and writes, the steps that write
 * its inputs and those that read its outputs. */
#pragma once

#include <glib.h>

typedef struct _LigPlan LigPlan;

G_BEGIN_DECLS

typedef enum {
  LIG_LINK_BEFORE =
    1 << 0, /* of a step: wrote what the step reads; of a value: the step reads it */
  LIG_LINK_AFTER =
    1 << 1, /* of a step: reads what the step wrote; of a value: the step writes it */
} LigPlanLink;

typedef struct _LigPlanLinks LigPlanLinks;

LigPlanLinks *lig_plan_links_new (LigPlan *plan);
void lig_plan_links_free (LigPlanLinks *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LigPlanLinks, lig_plan_links_free)

/* Switches to another step; -1: to none. */
void lig_plan_links_turn (LigPlanLinks *self, int step);

/* Returns the step, or -1. */
int lig_plan_links_get_step (LigPlanLinks *self);

/* Return a set of LigPlanLink. */
unsigned lig_plan_links_of_step (LigPlanLinks *self, int step);
unsigned lig_plan_links_of_value (LigPlanLinks *self, int value);

/* Returns whether the operand of another step connects that step with this one. */
gboolean lig_plan_links_has_operand (LigPlanLinks *self, int step, int operand);

/* Returns the value whose memory this value shares: aliases count as one value here. */
int lig_plan_links_get_root (LigPlanLinks *self, int value);

/* Returns the step that following the value leads to: from a reader to its writer, and from the
 * writer to the next reader after step `last`, wrapping around. A value that no step writes leads
 * from reader to reader. -1: nowhere. */
int lig_plan_links_follow (LigPlanLinks *self, int value, int last);

/* Returns a sentence that names the writers and readers of the value; (transfer full). */
char *lig_plan_links_describe_value (LigPlanLinks *self, int value);

/* Returns a sentence on the connection of another step with the step; (transfer full)
 * (nullable). */
char *lig_plan_links_describe_step (LigPlanLinks *self, int step);

G_END_DECLS
