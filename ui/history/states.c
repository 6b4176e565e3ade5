/* SPDX-License-Identifier: MIT */
/* The states of the page: it shows the list, its groups, a message, a comparison or a sweep. */
#include "ui/history/history-page.h"

void
lig_history_update_state (LigHistoryPage *self)
{
  LigSession *session = lig_page_get_session (LIG_PAGE (self));
  LigStore *store = lig_session_get_store (session);
  const char *error =
    store ? lig_run_list_get_error (self->list) : lig_session_get_store_error (session);
  guint count = lig_run_list_get_count (self->list);
  gboolean loaded = lig_run_list_is_loaded (self->list);
  gtk_label_set_text (self->error_text, error ? error : "");
  gtk_revealer_set_reveal_child (self->error_revealer, error && count > 0);
  const char *shown = gtk_stack_get_visible_child_name (self->states);
  if ((g_strcmp0 (shown, "study") == 0 || g_strcmp0 (shown, "sweep") == 0) && !error)
    return;
  if (error && count == 0) {
    g_autofree char *markup = g_markup_escape_text (error, -1);
    adw_status_page_set_description (self->broken, markup);
  }
  gboolean grouped = lig_history_filters_get_group (self->filters) != NULL;
  gtk_stack_set_visible_child_name (self->matches, loaded && count == 0 ? "none"
                                                   : grouped            ? "groups"
                                                                        : "some");
  gtk_stack_set_visible_child_name (
    self->states, error && count == 0                                              ? "broken"
                  : loaded && count == 0 && !lig_run_list_is_filtered (self->list) ? "empty"
                                                                                   : "list");
}
