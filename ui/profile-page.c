/* SPDX-License-Identifier: MIT */
/* The page Profile. */
#include "ui/page.h"

#include <glib/gi18n.h>

#define LIG_TYPE_PROFILE_PAGE (lig_profile_page_get_type ())
G_DECLARE_FINAL_TYPE (LigProfilePage, lig_profile_page, LIG, PROFILE_PAGE, LigPage)

struct _LigProfilePage {
  LigPage parent_instance;
};

G_DEFINE_FINAL_TYPE (LigProfilePage, lig_profile_page, LIG_TYPE_PAGE)

LIG_PAGE_INFO (profile) = {
  .name = "profile",
  .title = N_ ("Profile"),
  .icon = "utilities-system-monitor-symbolic",
  .get_type = lig_profile_page_get_type,
};

static void
lig_profile_page_class_init (LigProfilePageClass *class)
{
}

static void
lig_profile_page_init (LigProfilePage *self)
{
  adw_bin_set_child (ADW_BIN (self), gtk_label_new (_ ("Profile")));
}
