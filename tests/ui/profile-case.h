/* SPDX-License-Identifier: MIT */
/* The Profile page of a document, as tests open it. */
#pragma once

#include "tests/ui/case.h"
#include "ui/page.h"

/* Returns the page of a document with this sequence once it is compiled; sets `window` to a new
 * window with its actions. */
static inline GtkWidget *
open_profile (LigDocument *doc,
              LigSession *session,
              const char *expression,
              const char *input,
              GtkWidget **window)
{
  const LigPageInfo *info;
  GtkWidget *page = NULL;
  *window = g_object_new (GTK_TYPE_APPLICATION_WINDOW, NULL);
  for (guint i = 0; (info = lig_page_info_nth (i)); i++)
    if (g_str_equal (info->name, "profile"))
      page = g_object_new (info->get_type (), "document", doc, "session", session, NULL);
  lig_page_add_actions (LIG_PAGE (page), G_ACTION_MAP (*window));
  fill_with (doc, expression, input, NULL);
  wait_for_plan (doc);
  return page;
}
