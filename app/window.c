/* SPDX-License-Identifier: MIT */
/* The window: its pages and its title. Only this file knows the parts, and connects them. */
#include "app/window.h"

#include "app/window-close.h"
#include "app/window-edit.h"
#include "app/window-export.h"
#include "app/window-files.h"
#include "app/window-recover.h"
#include "ui/page.h"

#include <glib/gi18n.h>
#include <string.h>
#include <time.h>

struct _LigWindow {
  AdwApplicationWindow parent_instance;
  LigSession *session;
  LigDocument *document;

  AdwViewStack *stack;
  AdwWindowTitle *title;
  GMenu *history_section;
  GtkWidget *toasts;
  GtkRevealer *notice_revealer;
  GtkInfoBar *notice;
  GtkLabel *notice_label;
  AdwStatusPage *error_page;
  GtkLabel *error_place;

  LigWindowShared shared;
  LigNoticeBar *notices;
  LigWindowFiles *files;
  LigWindowEdit *edit;
  LigWindowClose *close;
  LigWindowRecover *recover;
  guint pages_source;
};

G_DEFINE_FINAL_TYPE (LigWindow, lig_window, ADW_TYPE_APPLICATION_WINDOW)

LigDocument *
lig_window_get_document (LigWindow *self)
{
  return self->document;
}

gboolean
lig_window_is_pristine (LigWindow *self)
{
  return !lig_window_files_is_busy (self->files) && lig_document_is_pristine (self->document);
}

void
lig_window_open (LigWindow *self, GFile *file)
{
  lig_window_files_open (self->files, file);
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
  const char *path = lig_document_get_path (self->document);
  gboolean modified = lig_document_is_modified (self->document);
  g_autofree char *title = lig_document_get_title (self->document);
  g_autofree char *marked = g_strdup_printf (modified ? "• %s" : "%s", title);
  g_autofree char *whole = g_strdup_printf (_ ("%s — Ligature"), marked);
  g_autofree char *folder = path ? describe_folder (path) : g_strdup (_ ("Not saved yet"));
  g_autofree char *shown = path ? g_filename_display_name (path) : NULL;
  gtk_window_set_title (GTK_WINDOW (self), whole);
  adw_window_title_set_title (self->title, marked);
  adw_window_title_set_subtitle (self->title, lig_window_is_pristine (self) ? "" : folder);
  gtk_widget_set_tooltip_text (GTK_WIDGET (self->title), shown);
  lig_window_shared_set_enabled (&self->shared, "save", modified || !path);
}

static void
update_actions (LigWindow *self)
{
  gboolean any = lig_sequence_get_length (lig_document_get_sequence (self->document)) > 0;
  lig_window_shared_set_enabled (&self->shared, "export", any);
}

/* --- Pages --------------------------------------------------------------------------------- */

/* GTK names neither the inner button of a menu's or a choice's button nor an information bar's
 * cross. */
static void
name_buttons (GtkWidget *widget)
{
  const char *label = NULL;
  GtkWidget *parent = gtk_widget_get_parent (widget);
  if (GTK_IS_TOGGLE_BUTTON (widget) && (GTK_IS_MENU_BUTTON (parent) || GTK_IS_DROP_DOWN (parent)))
    label = gtk_widget_get_tooltip_text (parent);
  else if (GTK_IS_BUTTON (widget) && gtk_widget_has_css_class (widget, "close"))
    label = _ ("Close");
  if (label)
    gtk_accessible_update_property (GTK_ACCESSIBLE (widget), GTK_ACCESSIBLE_PROPERTY_LABEL, label,
                                    -1);
  for (GtkWidget *child = gtk_widget_get_first_child (widget); child;
       child = gtk_widget_get_next_sibling (child))
    name_buttons (child);
}

/* A page is made when it is first shown, the others after the window's first frame, so that this
 * one does not wait for them. */
static void
make_page (LigWindow *self, const LigPageInfo *info)
{
  GtkWidget *place = adw_view_stack_get_child_by_name (self->stack, info->name);
  if (!place || adw_bin_get_child (ADW_BIN (place)))
    return;
  GtkWidget *page =
    g_object_new (info->get_type (), "document", self->document, "session", self->session, NULL);
  adw_bin_set_child (ADW_BIN (place), page);
  lig_page_add_actions (LIG_PAGE (page), G_ACTION_MAP (self));
  name_buttons (page);
}

static void
add_places (LigWindow *self)
{
  const LigPageInfo *info;
  for (guint i = 0; (info = lig_page_info_nth (i)); i++) {
    AdwViewStackPage *page =
      adw_view_stack_add_titled (self->stack, adw_bin_new (), info->name, _ (info->title));
    adw_view_stack_page_set_icon_name (page, info->icon);
  }
}

static void
take_visible (LigWindow *self)
{
  const char *name = adw_view_stack_get_visible_child_name (self->stack);
  GAction *action = g_action_map_lookup_action (G_ACTION_MAP (self), "page");
  const LigPageInfo *info;
  for (guint i = 0; name && (info = lig_page_info_nth (i)); i++)
    if (g_str_equal (info->name, name)) {
      make_page (self, info);
      g_simple_action_set_state (G_SIMPLE_ACTION (action), g_variant_new_string (name));
    }
}

void
lig_window_show_page (LigWindow *self, const char *name)
{
  if (adw_view_stack_get_child_by_name (self->stack, name))
    adw_view_stack_set_visible_child_name (self->stack, name);
}

static gboolean
make_next_page (gpointer data)
{
  LigWindow *self = data;
  const LigPageInfo *info;
  for (guint i = 0; (info = lig_page_info_nth (i)); i++) {
    GtkWidget *place = adw_view_stack_get_child_by_name (self->stack, info->name);
    if (!adw_bin_get_child (ADW_BIN (place))) {
      make_page (self, info);
      return G_SOURCE_CONTINUE;
    }
  }
  self->pages_source = 0;
  return G_SOURCE_REMOVE;
}

static void
take_first_frame (GdkFrameClock *frames, LigWindow *self)
{
  g_signal_handlers_disconnect_by_func (frames, take_first_frame, self);
  g_debug ("first frame at %" G_GINT64_FORMAT " microseconds, processor time %" G_GINT64_FORMAT,
           g_get_monotonic_time (), (gint64) clock () * G_USEC_PER_SEC / CLOCKS_PER_SEC);
  self->pages_source = g_idle_add_full (G_PRIORITY_LOW, make_next_page, self, NULL);
}

static void
lig_window_map (GtkWidget *widget)
{
  GTK_WIDGET_CLASS (lig_window_parent_class)->map (widget);
  if (LIG_WINDOW (widget)->pages_source == 0)
    g_signal_connect_object (gtk_widget_get_frame_clock (widget), "after-paint",
                             G_CALLBACK (take_first_frame), widget, 0);
}

static void
go_to_page (GSimpleAction *action, GVariant *state, gpointer data)
{
  lig_window_show_page (LIG_WINDOW (data), g_variant_get_string (state, NULL));
}

static gboolean
find_on_shown (LigWindow *self)
{
  GtkWidget *place = adw_view_stack_get_visible_child (self->stack);
  GtkWidget *page = place ? adw_bin_get_child (ADW_BIN (place)) : NULL;
  return LIG_IS_PAGE (page) && lig_page_find (LIG_PAGE (page));
}

/* Searches the page that is shown; where that one has no search, the rows of the score. */
static void
find (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  if (find_on_shown (LIG_WINDOW (data)))
    return;
  lig_window_show_page (LIG_WINDOW (data), "sequence");
  find_on_shown (LIG_WINDOW (data));
}

/* Returns the file of the overlay with the keys of all pages. */
static char *
describe_keys (void)
{
  const LigPageInfo *info;
  g_autoptr (GBytes) bytes =
    g_resources_lookup_data ("/org/ligature/Ligature/app/help-overlay.ui", 0, NULL);
  GString *text =
    g_string_new_len (g_bytes_get_data (bytes, NULL), (gssize) g_bytes_get_size (bytes));
  g_autoptr (GString) pages = g_string_new (NULL);
  for (guint i = 0; (info = lig_page_info_nth (i)); i++) {
    g_autofree char *page =
      g_markup_printf_escaped ("<child><object class=\"GtkShortcutsShortcut\">"
                               "<property name=\"title\">%s</property>"
                               "<property name=\"accelerator\">&lt;Alt&gt;%u</property>"
                               "</object></child>",
                               _ (info->title), i + 1);
    g_string_append (pages, page);
  }
  g_string_replace (text, "<!-- pages -->", pages->str, 1);
  return g_string_free (text, FALSE);
}

/* The overlay is made when it is asked for: a window opens faster without it. */
static void
show_help_overlay (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  g_autofree char *text = describe_keys ();
  g_autoptr (GtkBuilder) builder = gtk_builder_new_from_string (text, -1);
  GtkWindow *overlay = GTK_WINDOW (gtk_builder_get_object (builder, "help_overlay"));
  gtk_window_set_transient_for (overlay, GTK_WINDOW (data));
  gtk_window_present (overlay);
}

static const GActionEntry actions[] = {
  {.name = "page", .parameter_type = "s", .state = "''", .change_state = go_to_page},
  {.name = "find", .activate = find},
  {.name = "show-help-overlay", .activate = show_help_overlay},
};

/* --- Size ---------------------------------------------------------------------------------- */

/* A window is never larger than the screen, nor too small to be found. */
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
  gtk_window_set_default_size (GTK_WINDOW (self), CLAMP (width, 720, MAX (screen.width, 720)),
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

/* --- Joining the parts ----------------------------------------------------------------------- */

static void
continue_closing (gpointer data)
{
  lig_window_close_continue (LIG_WINDOW (data)->close);
}

static void
save_and_close (gpointer data)
{
  lig_window_files_save (LIG_WINDOW (data)->files, continue_closing, data);
}

static LigDocument *
find_pristine_document (gpointer data)
{
  LigWindow *window = data;
  if (!lig_window_is_pristine (window)) {
    window = lig_window_new (gtk_window_get_application (data), window->session);
    gtk_window_present (GTK_WINDOW (window));
  }
  lig_window_show_page (window, "sequence");
  return window->document;
}

static void
make_parts (LigWindow *self)
{
  const LigWindowShared *shared = &self->shared;
  self->shared = (LigWindowShared){.window = GTK_WINDOW (self),
                                   .session = self->session,
                                   .document = self->document,
                                   .stack = self->stack,
                                   .toasts = self->toasts,
                                   .cancellable = g_cancellable_new ()};
  self->notices = lig_notice_bar_new (self->notice_revealer, self->notice, self->notice_label);
  self->files = lig_window_files_new (shared, self->error_page, self->error_place);
  self->edit = lig_window_edit_new (shared, self->history_section);
  self->close = lig_window_close_new (shared, save_and_close, self);
  self->recover = lig_window_recover_new (shared, self->notices, find_pristine_document, self);
  lig_window_export_add_actions (shared);
}

/* --- Construction -------------------------------------------------------------------------- */

static void
lig_window_dispose (GObject *object)
{
  LigWindow *self = LIG_WINDOW (object);
  g_cancellable_cancel (self->shared.cancellable);
  g_clear_handle_id (&self->pages_source, g_source_remove);
  g_clear_pointer (&self->notices, lig_notice_bar_free);
  gtk_widget_dispose_template (GTK_WIDGET (self), LIG_TYPE_WINDOW);
  self->shared.document = NULL;
  g_clear_object (&self->document);
  g_clear_object (&self->session);
  G_OBJECT_CLASS (lig_window_parent_class)->dispose (object);
}

static void
lig_window_finalize (GObject *object)
{
  LigWindow *self = LIG_WINDOW (object);
  lig_window_files_free (self->files);
  lig_window_edit_free (self->edit);
  lig_window_close_free (self->close);
  lig_window_recover_free (self->recover);
  g_clear_object (&self->shared.cancellable);
  G_OBJECT_CLASS (lig_window_parent_class)->finalize (object);
}

static void
lig_window_class_init (LigWindowClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);
  G_OBJECT_CLASS (class)->dispose = lig_window_dispose;
  G_OBJECT_CLASS (class)->finalize = lig_window_finalize;
  widget_class->map = lig_window_map;
  GTK_WINDOW_CLASS (class)->close_request = lig_window_close_request;
  g_signal_new ("stayed", LIG_TYPE_WINDOW, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/org/ligature/Ligature/app/window.ui");
  gtk_widget_class_bind_template_child (widget_class, LigWindow, stack);
  gtk_widget_class_bind_template_child (widget_class, LigWindow, title);
  gtk_widget_class_bind_template_child (widget_class, LigWindow, history_section);
  gtk_widget_class_bind_template_child (widget_class, LigWindow, toasts);
  gtk_widget_class_bind_template_child (widget_class, LigWindow, notice_revealer);
  gtk_widget_class_bind_template_child (widget_class, LigWindow, notice);
  gtk_widget_class_bind_template_child (widget_class, LigWindow, notice_label);
  gtk_widget_class_bind_template_child (widget_class, LigWindow, error_page);
  gtk_widget_class_bind_template_child (widget_class, LigWindow, error_place);
}

static void
lig_window_init (LigWindow *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  g_action_map_add_action_entries (G_ACTION_MAP (self), actions, G_N_ELEMENTS (actions), self);
  name_buttons (GTK_WIDGET (self));
}

LigWindow *
lig_window_new (GtkApplication *application, LigSession *session)
{
  LigWindow *self = g_object_new (LIG_TYPE_WINDOW, "application", application, NULL);
  self->session = g_object_ref (session);
  self->document = lig_document_new (session);
  make_parts (self);
  restore_size (self);
  add_places (self);
  g_signal_connect_object (self->stack, "notify::visible-child", G_CALLBACK (take_visible), self,
                           G_CONNECT_SWAPPED);
  lig_window_show_page (self, lig_page_info_nth (0)->name);
  take_visible (self);
  g_signal_connect_object (self->document, "titled", G_CALLBACK (update_title), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (self->document, "changed", G_CALLBACK (update_actions), self,
                           G_CONNECT_SWAPPED);
  update_title (self);
  update_actions (self);
  return self;
}
