/* SPDX-License-Identifier: MIT */
/* The window: its tabs and its title. Only this file knows all parts, and connects them. */
#include "app/window.h"

#include "app/command-palette.h"
#include "app/help-overlay.h"
#include "app/recent-files.h"
#include "app/tab-drag.h"
#include "app/view-shared.h"
#include "app/window-actions.h"
#include "app/window-close.h"
#include "app/window-keys.h"
#include "app/window-recover.h"
#include "app/window-undo.h"
#include "ui/widgets/tooltip.h"

#include <glib/gi18n.h>
#include <string.h>

struct _LigWindow {
  AdwApplicationWindow parent_instance;
  LigSession *session;
  LigDocumentView *selected; /* null before the first tab and after the last */

  AdwTabView *tabs;
  AdwTabBar *tab_bar;
  AdwWindowTitle *title;
  AdwViewSwitcher *wide_switcher, *narrow_switcher;
  GtkBox *page_icons;
  GMenu *history_section, *undo_list, *recent_files;
  GtkRevealer *notice_revealer;
  GtkBox *notice_box;

  LigWindowActions *actions;
  LigNoticeBar *notices;
  LigWindowClose *close;
  LigWindowRecover *recover;
};

G_DEFINE_FINAL_TYPE (LigWindow, lig_window, ADW_TYPE_APPLICATION_WINDOW)

static LigDocumentView *
get_view (AdwTabPage *page)
{
  return LIG_DOCUMENT_VIEW (adw_tab_page_get_child (page));
}

AdwTabView *
lig_window_get_tabs (LigWindow *self)
{
  return self->tabs;
}

LigDocumentView *
lig_window_get_view (LigWindow *self)
{
  return self->selected;
}

LigDocument *
lig_window_get_document (LigWindow *self)
{
  return lig_document_view_get_document (self->selected);
}

void
lig_window_offer_help (LigWindow *self)
{
  lig_window_recover_offer (self->recover);
}

void
lig_window_set_quitting (LigWindow *self, gboolean quitting)
{
  lig_window_close_set_quitting (self->close, quitting);
}

void
lig_window_set_alone (LigWindow *self, gboolean alone)
{
  adw_tab_bar_set_autohide (self->tab_bar, alone);
}

/* --- Title --------------------------------------------------------------------------------- */

static char *
describe_folder (const char *path)
{
  g_autofree char *folder = g_path_get_dirname (path);
  const char *home = g_get_home_dir ();
  gsize length = strlen (home);
  gboolean inside = g_str_has_prefix (folder, home) && (folder[length] == '/' || !folder[length]);
  g_autofree char *shorter = inside ? g_strconcat ("~", folder + length, NULL) : NULL;
  return g_filename_display_name (shorter ? shorter : folder);
}

static void
update_title (LigWindow *self)
{
  const char *path = lig_document_get_path (lig_window_get_document (self));
  g_autofree char *title = lig_document_view_get_title (self->selected);
  g_autofree char *whole = g_strdup_printf (_ ("%s — Ligature"), title);
  g_autofree char *folder = path ? describe_folder (path) : g_strdup (_ ("Not saved yet"));
  g_autofree char *shown = path ? g_filename_display_name (path) : NULL;
  gboolean pristine = lig_document_view_is_pristine (self->selected);
  gtk_window_set_title (GTK_WINDOW (self), whole);
  adw_window_title_set_title (self->title, title);
  adw_window_title_set_subtitle (self->title, pristine ? "" : folder);
  lig_tooltip_set (GTK_WIDGET (self->title), shown);
}

static void
take_title (LigWindow *self, LigDocumentView *view)
{
  const char *path = lig_document_get_path (lig_document_view_get_document (view));
  AdwTabPage *page = adw_tab_view_get_page (self->tabs, GTK_WIDGET (view));
  g_autofree char *title = lig_document_view_get_title (view);
  g_autofree char *shown = path ? g_filename_display_name (path) : g_strdup (_ ("Not saved yet"));
  g_autofree char *tooltip = g_markup_escape_text (shown, -1);
  adw_tab_page_set_title (page, title);
  adw_tab_page_set_tooltip (page, tooltip);
  if (view == self->selected)
    update_title (self);
  g_signal_emit_by_name (self, "files");
}

/* --- The selected tab ---------------------------------------------------------------------- */

static void
take_edits (LigWindow *self, LigDocumentView *view)
{
  if (view != self->selected)
    return;
  g_auto (GStrv) undo = lig_document_view_list_edits (view, FALSE);
  g_auto (GStrv) redo = lig_document_view_list_edits (view, TRUE);
  lig_window_undo_fill (self->undo_list, self->history_section, (const char *const *) undo,
                        (const char *const *) redo);
}

static void
take_selected (LigWindow *self)
{
  AdwTabPage *page = adw_tab_view_get_selected_page (self->tabs);
  LigDocumentView *view = page ? get_view (page) : NULL;
  if (view == self->selected)
    return;
  self->selected = view;
  lig_window_actions_select (self->actions, view ? lig_document_view_get_actions (view) : NULL);
  adw_view_switcher_set_stack (self->wide_switcher,
                               view ? lig_document_view_get_stack (view) : NULL);
  adw_view_switcher_set_stack (self->narrow_switcher,
                               view ? lig_document_view_get_stack (view) : NULL);
  if (!view)
    return;
  update_title (self);
  take_edits (self, view);
  g_signal_emit_by_name (self, "files");
}

static void
take_answer (LigDocumentView *view, gboolean may_close, LigWindow *self)
{
  lig_window_close_take_answer (self->close, view, may_close);
}

static void
take_attached (LigWindow *self, AdwTabPage *page)
{
  LigDocumentView *view = get_view (page);
  lig_window_actions_adopt (self->actions, lig_document_view_get_actions (view));
  g_signal_connect_swapped (view, "titled", G_CALLBACK (take_title), self);
  g_signal_connect_swapped (view, "edited", G_CALLBACK (take_edits), self);
  g_signal_connect (view, "answered", G_CALLBACK (take_answer), self);
  take_title (self, view);
}

static void
close_empty (gpointer data)
{
  g_autoptr (GtkWindow) window = data;
  gtk_window_destroy (window);
}

/* A window whose last tab was dragged away has nothing left to show. */
static void
take_detached (LigWindow *self, AdwTabPage *page)
{
  g_signal_handlers_disconnect_by_data (get_view (page), self);
  g_signal_emit_by_name (self, "files");
  if (adw_tab_view_get_n_pages (self->tabs) == 0)
    g_idle_add_once (close_empty, g_object_ref (self));
}

LigDocumentView *
lig_window_add_tab (LigWindow *self)
{
  LigDocumentView *view = lig_document_view_new (self->session);
  AdwTabPage *page = adw_tab_view_add_page (self->tabs, GTK_WIDGET (view),
                                            adw_tab_view_get_selected_page (self->tabs));
  adw_tab_view_set_selected_page (self->tabs, page);
  return view;
}

gboolean
lig_window_select_file (LigWindow *self, const char *path)
{
  for (int i = 0; i < adw_tab_view_get_n_pages (self->tabs); i++) {
    AdwTabPage *page = adw_tab_view_get_nth_page (self->tabs, i);
    if (!lig_document_view_has_file (get_view (page), path))
      continue;
    adw_tab_view_set_selected_page (self->tabs, page);
    return TRUE;
  }
  return FALSE;
}

static LigDocumentView *
find_pristine (LigWindow *self)
{
  if (!lig_document_view_is_pristine (self->selected))
    return lig_window_add_tab (self);
  return self->selected;
}

void
lig_window_open (LigWindow *self, GFile *file)
{
  lig_document_view_open (find_pristine (self), file);
}

static LigWindow *make_window (GtkApplication *application, LigSession *session);

/* A tab was dragged out: its new window has the size of this one. */
static AdwTabView *
create_window (LigWindow *self)
{
  int width, height;
  LigWindow *window = make_window (gtk_window_get_application (GTK_WINDOW (self)), self->session);
  gtk_window_get_default_size (GTK_WINDOW (self), &width, &height);
  gtk_window_set_default_size (GTK_WINDOW (window), width, height);
  gtk_window_present (GTK_WINDOW (window));
  return window->tabs;
}

/* --- Actions ------------------------------------------------------------------------------- */

static void
new_tab (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  lig_window_add_tab (LIG_WINDOW (data));
}

static void
close_tab (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  LigWindow *self = data;
  adw_tab_view_close_page (self->tabs, adw_tab_view_get_selected_page (self->tabs));
}

static void
move_tab (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  LigWindow *self = data;
  if (adw_tab_view_get_n_pages (self->tabs) > 1)
    adw_tab_view_transfer_page (self->tabs, adw_tab_view_get_selected_page (self->tabs),
                                create_window (self), 0);
}

static void
choose_store (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  lig_window_recover_choose_store (LIG_WINDOW (data)->recover);
}

static void
show_help_overlay (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  lig_help_overlay_show (GTK_WINDOW (data));
}

static void
show_command_palette (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  lig_command_palette_show (GTK_WINDOW (data));
}

/* The menu of a tab acts on it. */
static void
select_for_menu (LigWindow *self, AdwTabPage *page)
{
  if (page)
    adw_tab_view_set_selected_page (self->tabs, page);
}

static const GActionEntry own_actions[] = {
  {.name = "new-tab", .activate = new_tab},
  {.name = "close-tab", .activate = close_tab},
  {.name = "move-tab", .activate = move_tab},
  {.name = "choose-store", .activate = choose_store},
  {.name = "show-help-overlay", .activate = show_help_overlay},
  {.name = "command-palette", .activate = show_command_palette},
};

static gboolean
take_drop (GtkDropTarget *target, const GValue *value, double x, double y, LigWindow *self)
{
  GApplication *application = G_APPLICATION (gtk_window_get_application (GTK_WINDOW (self)));
  GSList *files = g_value_get_boxed (value);
  for (GSList *item = files; item; item = item->next)
    g_application_open (application, (GFile **) &item->data, 1, "");
  return files != NULL;
}

/* --- Size ---------------------------------------------------------------------------------- */

/* A window is never larger than the screen, nor too small to be noticed. */
static void
restore_size (LigWindow *self)
{
  GSettings *settings = lig_session_get_settings (self->session);
  GListModel *monitors = gdk_display_get_monitors (gtk_widget_get_display (GTK_WIDGET (self)));
  g_autoptr (GdkMonitor) monitor = g_list_model_get_item (monitors, 0);
  GdkRectangle screen = {.width = 8192, .height = 8192};
  int width, height;
  if (monitor)
    gdk_monitor_get_geometry (monitor, &screen);
  g_settings_get (settings, "window-size", "(ii)", &width, &height);
  gtk_window_set_default_size (GTK_WINDOW (self), CLAMP (width, 640, MAX (screen.width, 640)),
                               CLAMP (height, 480, MAX (screen.height, 480)));
  if (g_settings_get_boolean (settings, "window-maximized"))
    gtk_window_maximize (GTK_WINDOW (self));
}

static void
keep_size (LigWindow *self)
{
  GSettings *settings = lig_session_get_settings (self->session);
  gboolean maximized = gtk_window_is_maximized (GTK_WINDOW (self));
  int width, height;
  gtk_window_get_default_size (GTK_WINDOW (self), &width, &height);
  g_settings_set_boolean (settings, "window-maximized", maximized);
  if (!maximized && width > 0 && height > 0)
    g_settings_set (settings, "window-size", "(ii)", width, height);
}

static gboolean
lig_window_close_request (GtkWindow *window)
{
  LigWindow *self = LIG_WINDOW (window);
  keep_size (self);
  return !lig_window_close_ask (self->close);
}

/* --- Construction -------------------------------------------------------------------------- */

static GtkWidget *
find_toasts (gpointer data)
{
  return lig_document_view_get_toasts (LIG_WINDOW (data)->selected);
}

static LigDocument *
find_pristine_document (gpointer data)
{
  LigDocumentView *view = find_pristine (LIG_WINDOW (data));
  lig_document_view_show_page (view, "sequence");
  return lig_document_view_get_document (view);
}

static void
lig_window_dispose (GObject *object)
{
  LigWindow *self = LIG_WINDOW (object);
  if (self->recover)
    lig_window_recover_cancel (self->recover);
  if (self->tabs)
    g_signal_handlers_disconnect_by_data (self->tabs, self);
  self->selected = NULL;
  g_clear_pointer (&self->actions, lig_window_actions_free);
  g_clear_pointer (&self->notices, lig_notice_bar_free);
  gtk_widget_dispose_template (GTK_WIDGET (self), LIG_TYPE_WINDOW);
  g_clear_object (&self->session);
  G_OBJECT_CLASS (lig_window_parent_class)->dispose (object);
}

static void
lig_window_finalize (GObject *object)
{
  LigWindow *self = LIG_WINDOW (object);
  lig_window_close_free (self->close);
  lig_window_recover_free (self->recover);
  G_OBJECT_CLASS (lig_window_parent_class)->finalize (object);
}

static void
lig_window_class_init (LigWindowClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);
  G_OBJECT_CLASS (class)->dispose = lig_window_dispose;
  G_OBJECT_CLASS (class)->finalize = lig_window_finalize;
  GTK_WINDOW_CLASS (class)->close_request = lig_window_close_request;
  g_signal_new ("files", LIG_TYPE_WINDOW, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
  g_signal_new ("stayed", LIG_TYPE_WINDOW, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/org/ligature/Ligature/app/window.ui");
  gtk_widget_class_bind_template_child (widget_class, LigWindow, tabs);
  gtk_widget_class_bind_template_child (widget_class, LigWindow, tab_bar);
  gtk_widget_class_bind_template_child (widget_class, LigWindow, title);
  gtk_widget_class_bind_template_child (widget_class, LigWindow, wide_switcher);
  gtk_widget_class_bind_template_child (widget_class, LigWindow, narrow_switcher);
  gtk_widget_class_bind_template_child (widget_class, LigWindow, page_icons);
  gtk_widget_class_bind_template_child (widget_class, LigWindow, history_section);
  gtk_widget_class_bind_template_child (widget_class, LigWindow, undo_list);
  gtk_widget_class_bind_template_child (widget_class, LigWindow, recent_files);
  gtk_widget_class_bind_template_child (widget_class, LigWindow, notice_revealer);
  gtk_widget_class_bind_template_child (widget_class, LigWindow, notice_box);
}

/* The most compact form of the page switcher. */
static void
add_page_icons (LigWindow *self)
{
  const LigPageInfo *info;
  for (guint i = 0; (info = lig_page_info_nth (i)); i++) {
    GtkWidget *button = gtk_toggle_button_new ();
    gtk_button_set_icon_name (GTK_BUTTON (button), info->icon);
    lig_tooltip_set (button, _ (info->title));
    gtk_actionable_set_action_name (GTK_ACTIONABLE (button), "win.page");
    gtk_actionable_set_action_target (GTK_ACTIONABLE (button), "s", info->name);
    gtk_accessible_update_property (GTK_ACCESSIBLE (button), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                    _ (info->title), -1);
    gtk_box_append (self->page_icons, button);
  }
}

static void
connect_tabs (LigWindow *self)
{
  adw_tab_view_remove_shortcuts (
    self->tabs, ADW_TAB_VIEW_SHORTCUT_ALT_DIGITS | ADW_TAB_VIEW_SHORTCUT_ALT_ZERO |
                  ADW_TAB_VIEW_SHORTCUT_CONTROL_HOME | ADW_TAB_VIEW_SHORTCUT_CONTROL_END |
                  ADW_TAB_VIEW_SHORTCUT_CONTROL_SHIFT_HOME |
                  ADW_TAB_VIEW_SHORTCUT_CONTROL_SHIFT_END);
  g_signal_connect_swapped (self->tabs, "page-attached", G_CALLBACK (take_attached), self);
  g_signal_connect_swapped (self->tabs, "page-detached", G_CALLBACK (take_detached), self);
  g_signal_connect_swapped (self->tabs, "notify::selected-page", G_CALLBACK (take_selected), self);
  g_signal_connect_swapped (self->tabs, "create-window", G_CALLBACK (create_window), self);
  lig_tab_drag_watch (GTK_WIDGET (self));
  g_signal_connect_swapped (self->tabs, "setup-menu", G_CALLBACK (select_for_menu), self);
}

static void
lig_window_init (LigWindow *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  self->actions = lig_window_actions_new (G_ACTION_MAP (self));
  lig_window_actions_add (self->actions, own_actions, G_N_ELEMENTS (own_actions), self);
  lig_window_keys_add (GTK_WINDOW (self));
  GtkDropTarget *target = gtk_drop_target_new (GDK_TYPE_FILE_LIST, GDK_ACTION_COPY);
  g_signal_connect (target, "drop", G_CALLBACK (take_drop), self);
  gtk_widget_add_controller (GTK_WIDGET (self), GTK_EVENT_CONTROLLER (target));
  connect_tabs (self);
  add_page_icons (self);
  lig_recent_files_fill (self->recent_files);
  lig_name_buttons (GTK_WIDGET (self));
}

/* Returns a window without tabs. */
static LigWindow *
make_window (GtkApplication *application, LigSession *session)
{
  static const LigWindowPlaces places = {find_toasts, find_pristine_document};
  LigWindow *self = g_object_new (LIG_TYPE_WINDOW, "application", application, NULL);
  self->session = g_object_ref (session);
  self->notices = lig_notice_bar_new (self->notice_revealer, self->notice_box);
  self->close = lig_window_close_new (GTK_WINDOW (self), self->tabs, session);
  self->recover = lig_window_recover_new (GTK_WINDOW (self), session, self->notices, &places, self);
  restore_size (self);
  return self;
}

LigWindow *
lig_window_new (GtkApplication *application, LigSession *session)
{
  LigWindow *self = make_window (application, session);
  lig_window_add_tab (self);
  return self;
}
