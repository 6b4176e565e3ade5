/* SPDX-License-Identifier: MIT */
/* The steps and the values of a plan as list models. Items are created when they are shown. */
#pragma once

#include <ligature/plan.h>

#include <gio/gio.h>

G_BEGIN_DECLS

typedef enum { LIG_PLAN_STEPS, LIG_PLAN_VALUES } LigPlanListKind;

#define LIG_TYPE_PLAN_ITEM (lig_plan_item_get_type ())
G_DECLARE_FINAL_TYPE (LigPlanItem, lig_plan_item, LIG, PLAN_ITEM, GObject)

/* An item: a step or a value, by its index in the plan. */
struct _LigPlanItem {
  GObject parent_instance;
  LigPlan *plan;
  guint index;
  char *operands; /* of a step, once requested */
};

/* Return the step or the value, depending on the list. */
const LigPlanStep *lig_plan_item_get_step (LigPlanItem *self);
const LigPlanValue *lig_plan_item_get_value (LigPlanItem *self);

/* Returns the name of the step's kernel; `opaque` for the callback of an opaque op. */
const char *lig_plan_step_name_kernel (const LigPlanStep *step);

/* Returns the names of the values that the step reads and writes. */
const char *lig_plan_item_get_operands (LigPlanItem *self);

/* Returns: (nullable): the step's group; null for the update. */
const LigPlanGroup *lig_plan_item_get_group (LigPlanItem *self);

#define LIG_TYPE_PLAN_LIST (lig_plan_list_get_type ())
G_DECLARE_FINAL_TYPE (LigPlanList, lig_plan_list, LIG, PLAN_LIST, GObject)

LigPlanList *lig_plan_list_new (LigPlanListKind kind);

/* @plan: (nullable) */
void lig_plan_list_set_plan (LigPlanList *self, LigPlan *plan);

G_END_DECLS
