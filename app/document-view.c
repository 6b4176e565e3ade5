/* SPDX-License-Identifier: MIT */
/* A document's pages, and the connections between the parts of its view. */
#include "app/document-view.h"

#include "app/view-close.h"
#include "app/view-edit.h"
#include "app/view-export.h"
#include "app/view-files.h"
#include "app/view-undo.h"
#include "ui/widgets/toast.h"
#include <ligature/sequence.h>

#include <glib/gi18n.h>
#include <time.h>

struct _LigDocumentView {
  AdwBin parent_instance;
  LigSession *session;
  LigDocument *document;
  GSimpleActionGroup *actions;

  AdwBin *toast_place; /* below the pages */
  AdwViewStack *stack;
  GtkWidget *toasts;
  AdwStatusPage *error_page;
  GtkLabel *error_place;

  LigViewShared shared;
  LigViewFiles *files;
  LigViewEdit *edit;
  guint pages_source;
  gboolean shown; /* its first frame was drawn */
};

G_DEFINE_FINAL_TYPE (LigDocumentView, lig_document_view, ADW_TYPE_BIN)

enum { TITLED, EDITED, PAGED, ANSWERED, N_SIGNALS };
static guint signals[N_SIGNALS];

LigDocument *
lig_document_view_get_document (LigDocumentView *self)
{
  return self->document;
}

AdwViewStack *
lig_document_view_get_stack (LigDocumentView *self)
{
  return self->stack;
}

GSimpleActionGroup *
lig_document_view_get_actions (LigDocumentView *self)
{
  return self->actions;
}

GtkWidget *
lig_document_view_get_toasts (LigDocumentView *self)
{
  return self->toasts;
}

char *
lig_document_view_get_title (LigDocumentView *self)
{
  g_autofree char *title = lig_document_get_title (self->document);
  return g_strdup_printf (lig_document_is_modified (self->document) ? "• %s" : "%s", title);
}

GStrv
lig_document_view_list_edits (LigDocumentView *self, gboolean redo)
{
  return lig_view_undo_list (&self->shared, redo);
}

gboolean
lig_document_view_is_pristine (LigDocumentView *self)
{
  return !lig_view_files_is_busy (self->files) && lig_document_is_pristine (self->document);
}

gboolean
lig_document_view_has_file (LigDocumentView *self, const char *path)
{
  return lig_view_files_has (self->files, path);
}

void
lig_document_view_open (LigDocumentView *self, GFile *file)
{
  lig_view_files_open (self->files, file);
}

static void
take_title (LigDocumentView *self)
{
  gboolean modified = lig_document_is_modified (self->document);
  gboolean saved = lig_document_get_path (self->document) != NULL;
  lig_view_shared_set_enabled (&self->shared, "save", modified || !saved);
  g_signal_emit (self, signals[TITLED], 0);
}

static void
take_change (LigDocumentView *self)
{
  gboolean any = lig_sequence_get_length (lig_document_get_sequence (self->document)) > 0;
  lig_view_shared_set_enabled (&self->shared, "export", any);
  lig_view_undo_update (&self->shared);
}

/* --- Closing ------------------------------------------------------------------------------- */

static void
agree (gpointer data)
{
  lig_view_shared_answer (&LIG_DOCUMENT_VIEW (data)->shared, TRUE);
}

static void
save_and_agree (gpointer data)
{
  lig_view_files_save (LIG_DOCUMENT_VIEW (data)->files, agree, data);
}

void
lig_document_view_ask (LigDocumentView *self)
{
  lig_view_close_ask (&self->shared, save_and_agree, self);
}

/* --- Pages --------------------------------------------------------------------------------- */

static void
take_edits (LigDocumentView *self)
{
  lig_view_undo_update (&self->shared);
}

/* A page is created when it is first shown, the others after the view's first frame, so that this
 * frame does not wait for them. */
static void
make_page (LigDocumentView *self, const LigPageInfo *info)
{
  GtkWidget *place = adw_view_stack_get_child_by_name (self->stack, info->name);
  if (!place || adw_bin_get_child (ADW_BIN (place)))
    return;
  GtkWidget *page =
    g_object_new (info->get_type (), "document", self->document, "session", self->session, NULL);
  adw_bin_set_child (ADW_BIN (place), page);
  lig_page_add_actions (LIG_PAGE (page), G_ACTION_MAP (self->actions));
  lig_name_buttons (page);
  g_signal_connect_object (page, "edited", G_CALLBACK (take_edits), self, G_CONNECT_SWAPPED);
}

static void
add_places (LigDocumentView *self)
{
  const LigPageInfo *info;
  for (guint i = 0; (info = lig_page_info_nth (i)); i++) {
    AdwViewStackPage *page =
      adw_view_stack_add_titled (self->stack, adw_bin_new (), info->name, _ (info->title));
    adw_view_stack_page_set_icon_name (page, info->icon);
  }
}

/* Toasts have a place of their own, so that they cover nothing: the page's, or below it. */
static void
place_toasts (LigDocumentView *self)
{
  GtkWidget *shown = adw_view_stack_get_visible_child (self->stack);
  GtkWidget *page = ADW_IS_BIN (shown) ? adw_bin_get_child (ADW_BIN (shown)) : NULL;
  AdwBin *place = LIG_IS_PAGE (page) ? lig_page_get_toast_place (LIG_PAGE (page)) : NULL;
  GtkWidget *old = gtk_widget_get_parent (self->toasts);
  place = place ? place : self->toast_place;
  if (old == GTK_WIDGET (place))
    return;
  g_autoptr (GtkWidget) kept = g_object_ref (self->toasts);
  adw_bin_set_child (ADW_BIN (old), NULL);
  adw_bin_set_child (place, kept);
}

static void
take_visible (LigDocumentView *self)
{
  const char *name = adw_view_stack_get_visible_child_name (self->stack);
  GAction *action = g_action_map_lookup_action (G_ACTION_MAP (self->actions), "page");
  const LigPageInfo *info;
  for (guint i = 0; name && (info = lig_page_info_nth (i)); i++)
    if (g_str_equal (info->name, name)) {
      make_page (self, info);
      g_simple_action_set_state (G_SIMPLE_ACTION (action), g_variant_new_string (name));
    }
  place_toasts (self);
  lig_view_undo_update (&self->shared);
  g_signal_emit (self, signals[PAGED], 0);
}

void
lig_document_view_show_page (LigDocumentView *self, const char *name)
{
  if (adw_view_stack_get_child_by_name (self->stack, name))
    adw_view_stack_set_visible_child_name (self->stack, name);
}

static gboolean
make_next_page (gpointer data)
{
  LigDocumentView *self = data;
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
take_first_frame (GdkFrameClock *frames, LigDocumentView *self)
{
  g_signal_handlers_disconnect_by_func (frames, take_first_frame, self);
  g_debug ("first frame at %" G_GINT64_FORMAT " microseconds, CPU time %" G_GINT64_FORMAT,
           g_get_monotonic_time (), (gint64) clock () * G_USEC_PER_SEC / CLOCKS_PER_SEC);
  if (self->shown)
    return;
  self->shown = TRUE;
  self->pages_source = g_idle_add_full (G_PRIORITY_LOW, make_next_page, self, NULL);
}

static void
lig_document_view_map (GtkWidget *widget)
{
  GTK_WIDGET_CLASS (lig_document_view_parent_class)->map (widget);
  if (!LIG_DOCUMENT_VIEW (widget)->shown)
    g_signal_connect_object (gtk_widget_get_frame_clock (widget), "after-paint",
                             G_CALLBACK (take_first_frame), widget, 0);
}

/* --- Actions ------------------------------------------------------------------------------- */

static void
go_to_page (GSimpleAction *action, GVariant *state, gpointer data)
{
  lig_document_view_show_page (LIG_DOCUMENT_VIEW (data), g_variant_get_string (state, NULL));
}

static gboolean
find_on_shown (LigDocumentView *self)
{
  LigPage *page = lig_view_shared_get_page (&self->shared);
  return page && lig_page_find (page);
}

/* Searches the current page, or the rows of the score if that page has no search. */
static void
find (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  if (find_on_shown (LIG_DOCUMENT_VIEW (data)))
    return;
  lig_document_view_show_page (LIG_DOCUMENT_VIEW (data), "sequence");
  find_on_shown (LIG_DOCUMENT_VIEW (data));
}

static const GActionEntry actions[] = {
  {.name = "page", .parameter_type = "s", .state = "''", .change_state = go_to_page},
  {.name = "find", .activate = find},
};

/* --- Construction -------------------------------------------------------------------------- */

static void
lig_document_view_dispose (GObject *object)
{
  LigDocumentView *self = LIG_DOCUMENT_VIEW (object);
  g_cancellable_cancel (self->shared.cancellable);
  g_clear_handle_id (&self->pages_source, g_source_remove);
  adw_bin_set_child (ADW_BIN (self), NULL);
  self->shared.document = NULL;
  g_clear_object (&self->document);
  g_clear_object (&self->session);
  G_OBJECT_CLASS (lig_document_view_parent_class)->dispose (object);
}

static void
lig_document_view_finalize (GObject *object)
{
  LigDocumentView *self = LIG_DOCUMENT_VIEW (object);
  lig_view_files_free (self->files);
  lig_view_edit_free (self->edit);
  g_clear_object (&self->shared.cancellable);
  g_clear_object (&self->actions);
  G_OBJECT_CLASS (lig_document_view_parent_class)->finalize (object);
}

static void
lig_document_view_class_init (LigDocumentViewClass *class)
{
  static const char *const names[] = {"titled", "edited", "paged"};
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);
  G_OBJECT_CLASS (class)->dispose = lig_document_view_dispose;
  G_OBJECT_CLASS (class)->finalize = lig_document_view_finalize;
  widget_class->map = lig_document_view_map;
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    signals[i] = g_signal_new (names[i], LIG_TYPE_DOCUMENT_VIEW, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                               NULL, G_TYPE_NONE, 0);
  signals[ANSWERED] = g_signal_new ("answered", LIG_TYPE_DOCUMENT_VIEW, G_SIGNAL_RUN_LAST, 0, NULL,
                                    NULL, NULL, G_TYPE_NONE, 1, G_TYPE_BOOLEAN);
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/org/ligature/Ligature/app/document-view.ui");
  gtk_widget_class_bind_template_child (widget_class, LigDocumentView, stack);
  gtk_widget_class_bind_template_child (widget_class, LigDocumentView, toasts);
  gtk_widget_class_bind_template_child (widget_class, LigDocumentView, toast_place);
  gtk_widget_class_bind_template_child (widget_class, LigDocumentView, error_page);
  gtk_widget_class_bind_template_child (widget_class, LigDocumentView, error_place);
}

static void
lig_document_view_init (LigDocumentView *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  lig_toast_set_overlay (GTK_WIDGET (self), self->toasts);
  self->actions = g_simple_action_group_new ();
  g_action_map_add_action_entries (G_ACTION_MAP (self->actions), actions, G_N_ELEMENTS (actions),
                                   self);
  gtk_widget_insert_action_group (GTK_WIDGET (self), "win", G_ACTION_GROUP (self->actions));
  lig_name_buttons (GTK_WIDGET (self));
}

static void
make_parts (LigDocumentView *self)
{
  const LigViewShared *shared = &self->shared;
  self->shared = (LigViewShared){.view = GTK_WIDGET (self),
                                 .actions = G_ACTION_MAP (self->actions),
                                 .session = self->session,
                                 .document = self->document,
                                 .stack = self->stack,
                                 .toasts = self->toasts,
                                 .cancellable = g_cancellable_new ()};
  self->files = lig_view_files_new (shared, self->error_page, self->error_place);
  lig_view_undo_add_actions (shared);
  self->edit = lig_view_edit_new (shared);
  lig_view_export_add_actions (shared);
}

LigDocumentView *
lig_document_view_new (LigSession *session)
{
  LigDocumentView *self = g_object_new (LIG_TYPE_DOCUMENT_VIEW, NULL);
  self->session = g_object_ref (session);
  self->document = lig_document_new (session);
  make_parts (self);
  add_places (self);
  g_signal_connect_object (self->stack, "notify::visible-child", G_CALLBACK (take_visible), self,
                           G_CONNECT_SWAPPED);
  lig_document_view_show_page (self, lig_page_info_nth (0)->name);
  take_visible (self);
  g_signal_connect_object (self->document, "titled", G_CALLBACK (take_title), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (self->document, "changed", G_CALLBACK (take_change), self,
                           G_CONNECT_SWAPPED);
  take_title (self);
  take_change (self);
  return self;
}
