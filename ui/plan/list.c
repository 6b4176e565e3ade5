/* SPDX-License-Identifier: MIT */
/* A plan's tables as list models. */
#include "ui/plan/list.h"
#include <ligature/kernels.h>

G_DEFINE_FINAL_TYPE (LigPlanItem, lig_plan_item, G_TYPE_OBJECT)

static void
lig_plan_item_finalize (GObject *object)
{
  lig_plan_unref (LIG_PLAN_ITEM (object)->plan);
  g_free (LIG_PLAN_ITEM (object)->operands);
  G_OBJECT_CLASS (lig_plan_item_parent_class)->finalize (object);
}

static void
lig_plan_item_class_init (LigPlanItemClass *class)
{
  G_OBJECT_CLASS (class)->finalize = lig_plan_item_finalize;
}

static void
lig_plan_item_init (LigPlanItem *self)
{
}

const LigPlanStep *
lig_plan_item_get_step (LigPlanItem *self)
{
  guint count;
  return &lig_plan_get_steps (self->plan, &count)[self->index];
}

const LigPlanValue *
lig_plan_item_get_value (LigPlanItem *self)
{
  guint count;
  return &lig_plan_get_values (self->plan, &count)[self->index];
}

const char *
lig_plan_step_name_kernel (const LigPlanStep *step)
{
  return step->kernel ? step->kernel->name : "opaque";
}

const char *
lig_plan_item_get_operands (LigPlanItem *self)
{
  if (!self->operands)
    self->operands = lig_plan_name_operands (self->plan, lig_plan_item_get_step (self));
  return self->operands;
}

const LigPlanGroup *
lig_plan_item_get_group (LigPlanItem *self)
{
  const LigPlanStep *step = lig_plan_item_get_step (self);
  guint count;
  if (step->group < 0 || step->pass == LIG_PASS_UPDATE)
    return NULL;
  const LigPlanGroup *groups = lig_plan_get_groups (self->plan, step->pass, &count);
  return step->group < (int) count ? &groups[step->group] : NULL;
}

/* --- The list -------------------------------------------------------------------------------- */

struct _LigPlanList {
  GObject parent_instance;
  LigPlanListKind kind;
  LigPlan *plan;
};

static guint
get_n_items (GListModel *model)
{
  LigPlanList *self = LIG_PLAN_LIST (model);
  guint count = 0;
  if (self->plan && self->kind == LIG_PLAN_STEPS)
    lig_plan_get_steps (self->plan, &count);
  else if (self->plan)
    lig_plan_get_values (self->plan, &count);
  return count;
}

static gpointer
get_item (GListModel *model, guint position)
{
  LigPlanList *self = LIG_PLAN_LIST (model);
  if (position >= get_n_items (model))
    return NULL;
  LigPlanItem *item = g_object_new (LIG_TYPE_PLAN_ITEM, NULL);
  item->plan = lig_plan_ref (self->plan);
  item->index = position;
  return item;
}

static GType
get_item_type (GListModel *model)
{
  return LIG_TYPE_PLAN_ITEM;
}

static void
init_model (GListModelInterface *interface)
{
  interface->get_n_items = get_n_items;
  interface->get_item = get_item;
  interface->get_item_type = get_item_type;
}

G_DEFINE_FINAL_TYPE_WITH_CODE (LigPlanList,
                               lig_plan_list,
                               G_TYPE_OBJECT,
                               G_IMPLEMENT_INTERFACE (G_TYPE_LIST_MODEL, init_model))

static void
lig_plan_list_finalize (GObject *object)
{
  g_clear_pointer (&LIG_PLAN_LIST (object)->plan, lig_plan_unref);
  G_OBJECT_CLASS (lig_plan_list_parent_class)->finalize (object);
}

static void
lig_plan_list_class_init (LigPlanListClass *class)
{
  G_OBJECT_CLASS (class)->finalize = lig_plan_list_finalize;
}

static void
lig_plan_list_init (LigPlanList *self)
{
}

LigPlanList *
lig_plan_list_new (LigPlanListKind kind)
{
  LigPlanList *self = g_object_new (LIG_TYPE_PLAN_LIST, NULL);
  self->kind = kind;
  return self;
}

void
lig_plan_list_set_plan (LigPlanList *self, LigPlan *plan)
{
  if (self->plan == plan)
    return;
  guint before = get_n_items (G_LIST_MODEL (self));
  g_clear_pointer (&self->plan, lig_plan_unref);
  self->plan = plan ? lig_plan_ref (plan) : NULL;
  g_list_model_items_changed (G_LIST_MODEL (self), 0, before, get_n_items (G_LIST_MODEL (self)));
}
