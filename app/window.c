/* SPDX-License-Identifier: MIT */
/* The window: its pages, its title, and which of its actions are possible. */
#include "app/window-private.h"

#include <glib/gi18n.h>
#include <string.h>
#include <time.h>

G_DEFINE_FINAL_TYPE (LigWindow, lig_window, ADW_TYPE_APPLICATION_WINDOW)

LigDocument *
lig_window_get_document (LigWindow *self)
{
  return self->document;
}

gboolean
lig_window_is_pristine (LigWindow *self)
{
  return !self->reading && !self->saving && lig_document_is_pristine (self->document);
}

void
lig_window_set_enabled (LigWindow *self, const char *action, gboolean enabled)
{
  GAction *found = g_action_map_lookup_action (G_ACTION_MAP (self), action);
  if (G_IS_SIMPLE_ACTION (found))
    g_simple_action_set_enabled (G_SIMPLE_ACTION (found), enabled);
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
  lig_window_set_enabled (self, "save", modified || !path);
}

static void
update_actions (LigWindow *self)
{
  gboolean any = lig_sequence_get_length (lig_document_get_sequence (self->document)) > 0;
  lig_window_set_enabled (self, "export", any);
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

/* A page is made when it is first shown, else once the window stands: the first frame does not wait
 * for what it does not show. */
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

/* On the page that is shown; where that has nothing to search, among the rows of the score. */
static void
find (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  if (find_on_shown (LIG_WINDOW (data)))
    return;
  lig_window_show_page (LIG_WINDOW (data), "sequence");
  find_on_shown (LIG_WINDOW (data));
}

/* Made when it is asked for: a window opens faster without it. */
static void
show_help_overlay (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  g_autoptr (GtkBuilder) builder =
    gtk_builder_new_from_resource ("/org/ligature/Ligature/app/help-overlay.ui");
  GtkWindow *overlay = GTK_WINDOW (gtk_builder_get_object (builder, "help_overlay"));
  gtk_window_set_transient_for (overlay, GTK_WINDOW (data));
  gtk_window_present (overlay);
}

static const GActionEntry actions[] = {
  {.name = "page", .parameter_type = "s", .state = "''", .change_state = go_to_page},
  {.name = "find", .activate = find},
  {.name = "show-help-overlay", .activate = show_help_overlay},
};

/* --- Construction -------------------------------------------------------------------------- */

static void
lig_window_dispose (GObject *object)
{
  LigWindow *self = LIG_WINDOW (object);
  if (self->cancellable)
    g_cancellable_cancel (self->cancellable);
  g_clear_object (&self->cancellable);
  g_clear_handle_id (&self->pages_source, g_source_remove);
  g_clear_weak_pointer (&self->undo_toast);
  lig_window_clear_notices (self);
  gtk_widget_dispose_template (GTK_WIDGET (self), LIG_TYPE_WINDOW);
  g_clear_object (&self->document);
  g_clear_object (&self->session);
  G_OBJECT_CLASS (lig_window_parent_class)->dispose (object);
}

static void
lig_window_finalize (GObject *object)
{
  LigWindow *self = LIG_WINDOW (object);
  g_free (self->error_path);
  g_free (self->error_text);
  G_OBJECT_CLASS (lig_window_parent_class)->finalize (object);
}

static void
lig_window_class_init (LigWindowClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);
  G_OBJECT_CLASS (class)->dispose = lig_window_dispose;
  G_OBJECT_CLASS (class)->finalize = lig_window_finalize;
  widget_class->map = lig_window_map;
  GTK_WINDOW_CLASS (class)->close_request = lig_window_ask_to_close;
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
  self->cancellable = g_cancellable_new ();
  gtk_widget_init_template (GTK_WIDGET (self));
  g_action_map_add_action_entries (G_ACTION_MAP (self), actions, G_N_ELEMENTS (actions), self);
  lig_window_init_notices (self);
  lig_window_init_files (self);
  lig_window_init_recover (self);
  lig_window_init_export (self);
  name_buttons (GTK_WIDGET (self));
}

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

LigWindow *
lig_window_new (LigApplication *application)
{
  LigWindow *self = g_object_new (LIG_TYPE_WINDOW, "application", application, NULL);
  self->session = g_object_ref (lig_application_get_session (application));
  self->document = lig_document_new (self->session);
  restore_size (self);
  lig_window_init_edit (self);
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
  lig_window_update_edit (self);
  return self;
}
