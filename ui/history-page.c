/* SPDX-License-Identifier: MIT */
/* The page History. */
#include "ui/page.h"

#include <glib/gi18n.h>

#define LIG_TYPE_HISTORY_PAGE (lig_history_page_get_type ())
G_DECLARE_FINAL_TYPE (LigHistoryPage, lig_history_page, LIG, HISTORY_PAGE, LigPage)

struct _LigHistoryPage {
  LigPage parent_instance;
};

G_DEFINE_FINAL_TYPE (LigHistoryPage, lig_history_page, LIG_TYPE_PAGE)

LIG_PAGE_INFO (history) = {
  .name = "history",
  .title = N_ ("History"),
  .icon = "document-open-recent-symbolic",
  .get_type = lig_history_page_get_type,
};

static void
lig_history_page_class_init (LigHistoryPageClass *class)
{
}

static void
lig_history_page_init (LigHistoryPage *self)
{
  adw_bin_set_child (ADW_BIN (self), gtk_label_new (_ ("History")));
}
