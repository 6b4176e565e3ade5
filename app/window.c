/* SPDX-License-Identifier: MIT */
/* The window: pages in a stack, and what it does with files. */
#include "app/window.h"

#include "ui/page.h"
#include "ui/toast.h"

#include <glib/gi18n.h>

struct _LigWindow {
  AdwApplicationWindow parent_instance;
  LigDocument *document;
  AdwViewStack *stack;
  GtkWidget *toasts;
  GtkRevealer *notice_revealer;
  GtkInfoBar *notice;
  GtkLabel *notice_label;
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
  return lig_document_is_pristine (self->document);
}

void
lig_window_show_page (LigWindow *self, const char *name)
{
  adw_view_stack_set_visible_child_name (self->stack, name);
}

static void
show_notice (LigWindow *self, const char *text)
{
  gtk_label_set_text (self->notice_label, text);
  gtk_revealer_set_reveal_child (self->notice_revealer, TRUE);
}

static void
hide_notice (LigWindow *self)
{
  gtk_revealer_set_reveal_child (self->notice_revealer, FALSE);
}

static void
update_title (LigWindow *self)
{
  g_autofree char *title = lig_document_get_title (self->document);
  g_autofree char *whole = g_strdup_printf (
    lig_document_is_modified (self->document) ? _ ("• %s — Ligature") : _ ("%s — Ligature"), title);
  gtk_window_set_title (GTK_WINDOW (self), whole);
}

void
lig_window_open (LigWindow *self, GFile *file)
{
  g_autoptr (GError) error = NULL;
  g_auto (GStrv) warnings = NULL;
  g_autofree char *path = g_file_get_path (file);
  if (path && lig_document_load (self->document, path, &warnings, &error)) {
    lig_window_show_page (self, "sequence");
    return;
  }
  show_notice (self, error ? error->message : _ ("Only files on this computer can be opened"));
}

/* --- Actions ------------------------------------------------------------------------------- */

static void
undo (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  lig_document_undo (LIG_WINDOW (data)->document);
}

static void
redo (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  lig_document_redo (LIG_WINDOW (data)->document);
}

static void
go_to_page (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  lig_window_show_page (LIG_WINDOW (data), g_variant_get_string (parameter, NULL));
}

static const GActionEntry actions[] = {
  {.name = "undo", .activate = undo},
  {.name = "redo", .activate = redo},
  {.name = "page", .activate = go_to_page, .parameter_type = "s"},
};

static void
update_actions (LigWindow *self)
{
  GAction *action = g_action_map_lookup_action (G_ACTION_MAP (self), "undo");
  g_simple_action_set_enabled (G_SIMPLE_ACTION (action),
                               lig_document_get_undo_label (self->document) != NULL);
  action = g_action_map_lookup_action (G_ACTION_MAP (self), "redo");
  g_simple_action_set_enabled (G_SIMPLE_ACTION (action),
                               lig_document_get_redo_label (self->document) != NULL);
}

/* --- Construction -------------------------------------------------------------------------- */

static void
lig_window_dispose (GObject *object)
{
  LigWindow *self = LIG_WINDOW (object);
  gtk_widget_dispose_template (GTK_WIDGET (self), LIG_TYPE_WINDOW);
  g_clear_object (&self->document);
  G_OBJECT_CLASS (lig_window_parent_class)->dispose (object);
}

static void
lig_window_class_init (LigWindowClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);
  G_OBJECT_CLASS (class)->dispose = lig_window_dispose;
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/org/ligature/Ligature/app/window.ui");
  gtk_widget_class_bind_template_child (widget_class, LigWindow, stack);
  gtk_widget_class_bind_template_child (widget_class, LigWindow, toasts);
  gtk_widget_class_bind_template_child (widget_class, LigWindow, notice_revealer);
  gtk_widget_class_bind_template_child (widget_class, LigWindow, notice);
  gtk_widget_class_bind_template_child (widget_class, LigWindow, notice_label);
}

static void
lig_window_init (LigWindow *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  g_signal_connect_object (self->notice, "response", G_CALLBACK (hide_notice), self,
                           G_CONNECT_SWAPPED);
  g_action_map_add_action_entries (G_ACTION_MAP (self), actions, G_N_ELEMENTS (actions), self);
}

static void
add_pages (LigWindow *self, LigSession *session)
{
  const LigPageInfo *info;
  for (guint i = 0; (info = lig_page_info_nth (i)); i++) {
    GtkWidget *page =
      g_object_new (info->get_type (), "document", self->document, "session", session, NULL);
    adw_view_stack_add_titled (self->stack, page, info->name, _ (info->title));
    adw_view_stack_page_set_icon_name (adw_view_stack_get_page (self->stack, page), info->icon);
    lig_page_add_actions (LIG_PAGE (page), G_ACTION_MAP (self));
  }
}

LigWindow *
lig_window_new (LigApplication *application)
{
  LigWindow *self = g_object_new (LIG_TYPE_WINDOW, "application", application, NULL);
  LigSession *session = lig_application_get_session (application);
  GSettings *settings = lig_session_get_settings (session);
  int width, height;
  g_settings_get (settings, "window-size", "(ii)", &width, &height);
  gtk_window_set_default_size (GTK_WINDOW (self), CLAMP (width, 720, 8192),
                               CLAMP (height, 480, 8192));
  self->document = lig_document_new (session);
  add_pages (self, session);
  g_signal_connect_object (self->document, "titled", G_CALLBACK (update_title), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (self->document, "changed", G_CALLBACK (update_actions), self,
                           G_CONNECT_SWAPPED);
  update_title (self);
  update_actions (self);
  if (lig_session_get_store_error (session))
    show_notice (self, lig_session_get_store_error (session));
  return self;
}
