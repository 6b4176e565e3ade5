/* SPDX-License-Identifier: MIT */
/* The page Plan. */
#include "ui/page.h"

#include <glib/gi18n.h>

#define LIG_TYPE_PLAN_PAGE (lig_plan_page_get_type ())
G_DECLARE_FINAL_TYPE (LigPlanPage, lig_plan_page, LIG, PLAN_PAGE, LigPage)

struct _LigPlanPage {
  LigPage parent_instance;
};

G_DEFINE_FINAL_TYPE (LigPlanPage, lig_plan_page, LIG_TYPE_PAGE)

LIG_PAGE_INFO (plan) = {
  .name = "plan",
  .title = N_ ("Plan"),
  .icon = "view-list-bullet-symbolic",
  .get_type = lig_plan_page_get_type,
};

static void
lig_plan_page_class_init (LigPlanPageClass *class)
{
}

static void
lig_plan_page_init (LigPlanPage *self)
{
  adw_bin_set_child (ADW_BIN (self), gtk_label_new (_ ("Plan")));
}
