/* SPDX-License-Identifier: MIT */
/* The page Run. */
#include "ui/page.h"

#include <glib/gi18n.h>

#define LIG_TYPE_RUN_PAGE (lig_run_page_get_type ())
G_DECLARE_FINAL_TYPE (LigRunPage, lig_run_page, LIG, RUN_PAGE, LigPage)

struct _LigRunPage {
  LigPage parent_instance;
};

G_DEFINE_FINAL_TYPE (LigRunPage, lig_run_page, LIG_TYPE_PAGE)

LIG_PAGE_INFO (run) = {
  .name = "run",
  .title = N_ ("Run"),
  .icon = "media-playback-start-symbolic",
  .get_type = lig_run_page_get_type,
};

static void
lig_run_page_class_init (LigRunPageClass *class)
{
}

static void
lig_run_page_init (LigRunPage *self)
{
  adw_bin_set_child (ADW_BIN (self), gtk_label_new (_ ("Run")));
}
