/* SPDX-License-Identifier: MIT */
/* The Try page: a trained model continues texts or predicts rows. Its process starts when the page
 * is shown, and ends some time after another page is shown, so that it does not keep the memory of
 * a GPU. */
#include "ui/document/document.h"
#include "ui/page.h"
#include "ui/session/command.h"
#include "ui/session/session.h"
#include "ui/session/trying.h"
#include "ui/try/rows.h"
#include "ui/try/source-menu.h"
#include "ui/try/text-side.h"
#include "ui/widgets/figures.h"
#include "ui/widgets/tooltip.h"
#include <ligature/device.h>
#include <ligature/json.h>
#include <ligature/shell.h>
#include <ligature/store.h>

#include <glib/gi18n.h>

/* The seconds that the process of a page that is not shown is kept. */
enum { PATIENCE = 120 };

#define LIG_TYPE_TRY_PAGE (lig_try_page_get_type ())
G_DECLARE_FINAL_TYPE (LigTryPage, lig_try_page, LIG, TRY_PAGE, LigPage)

struct _LigTryPage {
  LigPage parent_instance;
  GtkStack *stack, *sides;
  GtkBox *menu_place, *empty_menu_place;
  GtkLabel *title, *subtitle, *device, *figures, *remark;
  AdwStatusPage *empty_page, *error_page;
  GtkSpinner *spinner;
  LigTrySourceMenu *menu, *empty_menu;
  LigTryText *text;
  LigTryRows *rows;

  GCancellable *cancellable;
  GPtrArray *sources;   /* LigTrySource */
  LigTrySource *source; /* the one in use, null: none */
  gboolean picked;      /* the user chose it */
  gboolean looked;      /* the store was read */
  gboolean shown;       /* the page was shown again since then */
  char *invitation;     /* of the empty page */
  LigTrying *trying;
  guint patience;
};

G_DEFINE_FINAL_TYPE (LigTryPage, lig_try_page, LIG_TYPE_PAGE)

LIG_PAGE_INFO (try) = {
  .name = "try",
  .title = N_ ("Try"),
  .icon = "document-edit-symbolic",
  .get_type = lig_try_page_get_type,
};

/* --- The process --------------------------------------------------------------------------- */

static void
set_side (LigTryPage *self, const char *name)
{
  gtk_stack_set_visible_child_name (self->sides, name);
  gtk_spinner_set_spinning (self->spinner, g_str_equal (name, "loading"));
}

static void
stop (LigTryPage *self)
{
  lig_try_text_set_trying (self->text, NULL);
  lig_try_rows_set_trying (self->rows, NULL);
  if (self->trying) {
    g_signal_handlers_disconnect_by_data (self->trying, self);
    lig_trying_stop (self->trying);
  }
  g_clear_object (&self->trying);
}

static void
show_error (LigTryPage *self, const char *message)
{
  g_autofree char *sentence = lig_figure_sentence (message);
  g_autofree char *escaped = g_markup_escape_text (sentence, -1);
  adw_status_page_set_description (self->error_page, escaped);
  set_side (self, "error");
}

static void
take_end (LigTrying *trying, LigTryPage *self)
{
  show_error (self, lig_trying_get_error (trying));
  stop (self);
}

static void
set_figures (LigTryPage *self, const char *text)
{
  gtk_label_set_label (self->figures, text);
  gtk_widget_set_visible (GTK_WIDGET (self->figures), *text);
}

/* Shows the device and the cache. */
static void
show_model (LigTryPage *self, JsonObject *model)
{
  const char *device = lig_json_get_string (model, "device", "cpu");
  JsonNode *node = json_object_get_member (model, "cache");
  JsonObject *cache = node && JSON_NODE_HOLDS_OBJECT (node) ? json_node_get_object (node) : NULL;
  gtk_label_set_label (
    self->device, lig_session_get_device_title (lig_page_get_session (LIG_PAGE (self)), device));
  if (!cache)
    return;
  gint64 length = lig_json_get_int (cache, "length", 0);
  g_autofree char *count = lig_figure_count (length);
  g_autofree char *text = g_strdup_printf (
    ngettext ("reads %s token at once", "reads %s tokens at once", (gulong) length), count);
  set_figures (self, text);
  lig_tooltip_set (GTK_WIDGET (self->figures), lig_json_get_string (cache, "refusal", NULL));
}

static void
show_speed (LigTryPage *self, JsonObject *figures)
{
  JsonNode *node = json_object_get_member (figures, "tokens_per_second");
  double speed = node && JSON_NODE_HOLDS_VALUE (node) ? json_node_get_double (node) : 0;
  g_autofree char *count = lig_figure_count ((gint64) speed);
  g_autofree char *text = g_strdup_printf (
    ngettext ("%s token a second", "%s tokens a second", (gulong) MAX (speed, 0)), count);
  if (speed >= 1)
    set_figures (self, text);
}

/* The first line describes the model. */
static void
take_line (LigTrying *trying, JsonObject *line, LigTryPage *self)
{
  JsonNode *figures = json_object_get_member (line, "figures");
  if (figures && JSON_NODE_HOLDS_OBJECT (figures))
    show_speed (self, json_node_get_object (figures));
  if (lig_json_get_string (line, "id", NULL) || !lig_json_get_string (line, "device", NULL))
    return;
  gboolean rows = lig_json_get_string (line, "task", NULL) != NULL;
  show_model (self, line);
  if (rows)
    lig_try_rows_set_trying (self->rows, trying);
  else
    lig_try_text_set_trying (self->text, trying);
  set_side (self, rows ? "rows" : "text");
}

static void
start (LigTryPage *self)
{
  g_autoptr (GError) error = NULL;
  LigStore *store = lig_session_get_store (lig_page_get_session (LIG_PAGE (self)));
  const char *device = lig_document_get_device (lig_page_get_document (LIG_PAGE (self)));
  const LigTryingOrder order = {
    .model = self->source->model,
    .rows = self->source->rows,
    .store = store ? lig_store_get_path (store) : NULL,
    .device = lig_device_name_has (device, LIG_DEVICE_DESCRIBED) ? NULL : device,
  };
  stop (self);
  gtk_label_set_label (self->device, "");
  set_figures (self, "");
  set_side (self, "loading");
  self->trying = lig_trying_new (&order, &error);
  if (!self->trying) {
    show_error (self, error->message);
    return;
  }
  g_signal_connect (self->trying, "line", G_CALLBACK (take_line), self);
  g_signal_connect (self->trying, "ended", G_CALLBACK (take_end), self);
}

/* --- The model ----------------------------------------------------------------------------- */

static void
use (LigTryPage *self, const LigTrySource *source)
{
  LigTrySource *copy = g_new0 (LigTrySource, 1);
  copy->model = g_strdup (source->model);
  copy->title = g_strdup (source->title);
  copy->subtitle = g_strdup (source->subtitle);
  copy->rows = source->rows;
  copy->own = source->own;
  g_clear_pointer (&self->source, lig_try_source_free);
  self->source = copy;
  gtk_label_set_label (self->title, copy->title);
  gtk_label_set_label (self->subtitle, copy->subtitle);
  gtk_stack_set_visible_child_name (self->stack, "model");
  start (self);
}

/* Says why the model is not the newest run of the document. */
static void
show_remark (LigTryPage *self)
{
  g_autofree char *title = lig_document_get_title (lig_page_get_document (LIG_PAGE (self)));
  g_autofree char *text = lig_try_source_explain (self->sources, self->source, title);
  g_autofree char *escaped = text ? g_markup_escape_text (text, -1) : NULL;
  gtk_label_set_label (self->remark, text ? text : "");
  gtk_widget_set_visible (GTK_WIDGET (self->remark), text != NULL);
  adw_status_page_set_description (self->empty_page, escaped ? escaped : self->invitation);
}

/* Returns whether a model replaces the current one, which the user did not choose: the document
 * has a run that is newer, or has other ops now. */
static gboolean
replaces (LigTryPage *self, const LigTrySource *initial)
{
  if (!initial || !self->source)
    return initial != NULL;
  const LigTrySource *current = lig_try_source_lookup (self->sources, self->source->model);
  if (current)
    self->source->own = current->own;
  if (self->picked || g_str_equal (initial->model, self->source->model))
    return FALSE;
  return initial->own && (self->shown || !self->source->own);
}

/* Chooses a model as long as the user has not. */
static void
take_sources (GObject *object, GAsyncResult *result, gpointer data)
{
  g_autoptr (GPtrArray) sources = lig_try_source_find_finish (result);
  if (g_cancellable_is_cancelled (g_task_get_cancellable (G_TASK (result))))
    return;
  LigTryPage *self = data;
  g_clear_pointer (&self->sources, g_ptr_array_unref);
  self->sources = g_steal_pointer (&sources);
  self->looked = TRUE;
  const LigTrySource *initial = lig_try_source_get_initial (self->sources);
  gboolean other = replaces (self, initial);
  self->shown = FALSE;
  if (other)
    use (self, initial);
  else if (!self->source)
    gtk_stack_set_visible_child_name (self->stack, "empty");
  else if (!self->trying && gtk_widget_get_mapped (GTK_WIDGET (self)))
    start (self);
  const char *model = self->source ? self->source->model : NULL;
  lig_try_source_menu_fill (self->menu, self->sources, model);
  lig_try_source_menu_fill (self->empty_menu, self->sources, model);
  show_remark (self);
}

static void
look (LigTryPage *self)
{
  g_cancellable_cancel (self->cancellable);
  g_clear_object (&self->cancellable);
  self->cancellable = g_cancellable_new ();
  lig_try_source_find (lig_page_get_document (LIG_PAGE (self)), self->cancellable, take_sources,
                       self);
}

/* Another store has other runs; one that responds late is empty until then. */
static void
take_store (LigTryPage *self)
{
  if (gtk_widget_get_mapped (GTK_WIDGET (self)))
    look (self);
}

static void
source_chosen (LigTrySourceMenu *menu, const LigTrySource *source, LigTryPage *self)
{
  self->picked = TRUE;
  use (self, source);
  show_remark (self);
}

static void
start_again (GtkWidget *widget, const char *action, GVariant *parameter)
{
  LigTryPage *self = LIG_TRY_PAGE (widget);
  if (self->source)
    start (self);
  look (self);
}

/* --- Actions ------------------------------------------------------------------------------- */

static char *
lig_try_page_to_command (LigPage *page)
{
  LigTryPage *self = LIG_TRY_PAGE (page);
  if (!self->source)
    return NULL;
  g_autofree char *request = self->source->rows ? lig_try_rows_to_request (self->rows) : NULL;
  GString *text = g_string_new (request ? "printf '%s\\n'" : "");
  if (request) {
    lig_shell_append (text, request);
    g_string_append (text, " | ");
  }
  g_string_append (text, self->source->rows ? "lig predict" : "lig generate");
  lig_shell_append (text, self->source->model);
  if (self->source->rows)
    g_string_append (text, " --lines");
  else
    lig_try_text_append_options (self->text, text);
  lig_command_append_store (text, lig_page_get_session (page));
  return g_string_free (text, FALSE);
}

static void
copy_command (GtkWidget *widget, const char *action, GVariant *parameter)
{
  gtk_widget_activate_action (widget, "win.copy-command", NULL);
}

/* --- Construction -------------------------------------------------------------------------- */

static gboolean
lose_patience (gpointer data)
{
  LigTryPage *self = data;
  self->patience = 0;
  stop (self);
  return G_SOURCE_REMOVE;
}

static void
lig_try_page_map (GtkWidget *widget)
{
  LigTryPage *self = LIG_TRY_PAGE (widget);
  GTK_WIDGET_CLASS (lig_try_page_parent_class)->map (widget);
  g_clear_handle_id (&self->patience, g_source_remove);
  self->shown = TRUE;
  look (self);
}

static void
lig_try_page_unmap (GtkWidget *widget)
{
  LigTryPage *self = LIG_TRY_PAGE (widget);
  GTK_WIDGET_CLASS (lig_try_page_parent_class)->unmap (widget);
  if (self->trying && self->patience == 0)
    self->patience = g_timeout_add_seconds (PATIENCE, lose_patience, self);
}

static LigTrySourceMenu *
add_menu (LigTryPage *self, GtkBox *place)
{
  GtkWidget *menu = lig_try_source_menu_new ();
  gtk_box_append (place, menu);
  g_signal_connect (menu, "chosen", G_CALLBACK (source_chosen), self);
  g_signal_connect_swapped (menu, "opened", G_CALLBACK (look), self);
  return LIG_TRY_SOURCE_MENU (menu);
}

static void
lig_try_page_constructed (GObject *object)
{
  LigTryPage *self = LIG_TRY_PAGE (object);
  G_OBJECT_CLASS (lig_try_page_parent_class)->constructed (object);
  self->menu = add_menu (self, self->menu_place);
  self->empty_menu = add_menu (self, self->empty_menu_place);
  self->text = LIG_TRY_TEXT (lig_try_text_new ());
  self->rows = LIG_TRY_ROWS (lig_try_rows_new ());
  gtk_stack_add_named (self->sides, GTK_WIDGET (self->text), "text");
  g_signal_connect_object (lig_page_get_session (LIG_PAGE (self)), "store-changed",
                           G_CALLBACK (take_store), self, G_CONNECT_SWAPPED);
  gtk_stack_add_named (self->sides, GTK_WIDGET (self->rows), "rows");
}

static void
lig_try_page_dispose (GObject *object)
{
  LigTryPage *self = LIG_TRY_PAGE (object);
  g_cancellable_cancel (self->cancellable);
  g_clear_object (&self->cancellable);
  g_clear_handle_id (&self->patience, g_source_remove);
  if (self->text)
    stop (self);
  self->text = NULL;
  adw_bin_set_child (ADW_BIN (self), NULL);
  gtk_widget_dispose_template (GTK_WIDGET (self), LIG_TYPE_TRY_PAGE);
  g_clear_pointer (&self->sources, g_ptr_array_unref);
  g_clear_pointer (&self->source, lig_try_source_free);
  g_clear_pointer (&self->invitation, g_free);
  G_OBJECT_CLASS (lig_try_page_parent_class)->dispose (object);
}

static void
lig_try_page_class_init (LigTryPageClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);
  G_OBJECT_CLASS (class)->constructed = lig_try_page_constructed;
  G_OBJECT_CLASS (class)->dispose = lig_try_page_dispose;
  LIG_PAGE_CLASS (class)->to_command = lig_try_page_to_command;
  widget_class->map = lig_try_page_map;
  widget_class->unmap = lig_try_page_unmap;
  gtk_widget_class_install_action (widget_class, "try.again", NULL, start_again);
  gtk_widget_class_install_action (widget_class, "try.copy-command", NULL, copy_command);
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/org/ligature/Ligature/ui/try/try-page.ui");
#define BIND(name) gtk_widget_class_bind_template_child (widget_class, LigTryPage, name)
  BIND (stack);
  BIND (sides);
  BIND (menu_place);
  BIND (empty_menu_place);
  BIND (title);
  BIND (subtitle);
  BIND (device);
  BIND (figures);
  BIND (remark);
  BIND (empty_page);
  BIND (error_page);
  BIND (spinner);
#undef BIND
}

static void
lig_try_page_init (LigTryPage *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  self->invitation = g_strdup (adw_status_page_get_description (self->empty_page));
}
