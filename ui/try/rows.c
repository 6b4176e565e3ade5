/* SPDX-License-Identifier: MIT */
/* One request for a prediction is in progress at a time; while the user types, only the newest row
 * is requested after it. */
#include "ui/try/rows.h"

#include "ui/try/columns.h"
#include "ui/try/confusion.h"
#include "ui/try/form.h"
#include "ui/try/model.h"
#include "ui/try/prediction.h"
#include "ui/try/worst.h"
#include "ui/widgets/css-class.h"
#include "ui/widgets/figures.h"
#include <ligature/json-members.h>
#include <ligature/json.h>

#include <glib/gi18n.h>
#include <math.h>

/* More validation rows are only evaluated if the user requests it. */
enum { MAX_AT_ONCE = 20000 };

typedef enum { WANT_NOTHING, WANT_TYPED, WANT_VALIDATION } Want;

struct _LigTryRows {
  AdwBin parent_instance;
  GtkBox *cards, *form_place, *prediction_place, *matrix_place, *worst_place, *picker;
  GtkWidget *matrix_card, *worst_card;
  GtkLabel *count, *remark, *summary, *worst_title;
  GtkSpinButton *number;
  GtkPicture *picture;
  GtkButton *evaluate_button, *all_button;
  LigTryForm *form;
  LigTryPrediction *prediction;
  LigConfusion *matrix;
  LigTryWorst *worst;

  LigTrying *trying;
  gulong handler;
  Want want, asked, shown; /* asked: the request in progress */
  gboolean filling;
  JsonObject *evaluation; /* (nullable) */
  int cell[2];            /* the target and the prediction of the listed rows; -1: all */
};

G_DEFINE_FINAL_TYPE (LigTryRows, lig_try_rows, ADW_TYPE_BIN)

static JsonObject *
get_model (LigTryRows *self)
{
  return lig_trying_get_model (self->trying);
}

/* --- Requests ------------------------------------------------------------------------------ */

static JsonBuilder *
begin (const char *id)
{
  JsonBuilder *builder = json_builder_new ();
  json_builder_begin_object (builder);
  lig_json_add_text (builder, "id", id);
  return builder;
}

/* Adds the members of a request for a typed row or a validation row. */
static void
add_request (LigTryRows *self, JsonBuilder *to, Want what)
{
  if (what == WANT_TYPED)
    lig_try_form_add_request (self->form, to);
  else
    lig_json_add_integer (to, "validation", gtk_spin_button_get_value_as_int (self->number) - 1);
}

/* Requests what is wanted, unless a prediction is in progress. */
static void
ask (LigTryRows *self)
{
  if (!self->trying || self->asked != WANT_NOTHING || self->want == WANT_NOTHING)
    return;
  g_autoptr (JsonBuilder) builder = begin ("row");
  add_request (self, builder, self->want);
  self->asked = self->want;
  self->want = WANT_NOTHING;
  lig_trying_send (self->trying, builder);
}

static void
want (LigTryRows *self, Want what)
{
  self->want = self->shown = what;
  ask (self);
}

static void
evaluate (LigTryRows *self)
{
  g_autoptr (JsonBuilder) builder = begin ("evaluation");
  lig_json_add_truth (builder, "evaluate", TRUE);
  gtk_widget_set_visible (GTK_WIDGET (self->evaluate_button), FALSE);
  gtk_label_set_label (self->summary, _ ("Predicting the validation rows…"));
  lig_trying_send (self->trying, builder);
}

static void
ask_for_cell (LigTryRows *self, guint target, guint prediction)
{
  g_autoptr (JsonBuilder) builder = begin ("cell");
  lig_json_begin_array (builder, "cell");
  json_builder_add_int_value (builder, target);
  json_builder_add_int_value (builder, prediction);
  json_builder_end_array (builder);
  self->cell[0] = (int) target;
  self->cell[1] = (int) prediction;
  lig_confusion_mark (self->matrix, self->cell[0], self->cell[1]);
  lig_trying_send (self->trying, builder);
}

/* --- Answers ------------------------------------------------------------------------------- */

/* Shows an image as grey pixels. */
static void
show_pixels (LigTryRows *self, JsonObject *answer)
{
  JsonArray *pixels = lig_json_get_array (answer, "pixels");
  JsonArray *image = lig_json_get_array (get_model (self), "image");
  int rows = (int) lig_try_number_at (image, 0), columns = (int) lig_try_number_at (image, 1);
  if (!pixels || !image || (int) json_array_get_length (pixels) != rows * columns)
    return;
  gsize size = (gsize) rows * (gsize) columns;
  guchar *data = g_malloc (size * 3);
  for (gsize i = 0; i < size; i++)
    data[3 * i] = data[3 * i + 1] = data[3 * i + 2] =
      (guchar) CLAMP (255 * lig_try_number_at (pixels, (guint) i), 0, 255);
  g_autoptr (GBytes) bytes = g_bytes_new_take (data, size * 3);
  g_autoptr (GdkTexture) texture =
    gdk_memory_texture_new (columns, rows, GDK_MEMORY_R8G8B8, bytes, (gsize) columns * 3);
  gtk_picture_set_paintable (self->picture, GDK_PAINTABLE (texture));
}

static void
take_prediction (LigTryRows *self, JsonObject *answer)
{
  gboolean error = json_object_has_member (answer, "error");
  /* An edit that was made in the meantime is newer than the answer. */
  if (self->asked == WANT_VALIDATION && self->want != WANT_TYPED && !error) {
    lig_try_form_set_row (self->form, answer);
    show_pixels (self, answer);
  }
  if (self->asked == WANT_TYPED && !error)
    lig_try_form_add_target (self->form, answer);
  self->asked = WANT_NOTHING;
  lig_try_prediction_show (self->prediction, get_model (self), answer);
  ask (self);
}

/* --- The evaluation ------------------------------------------------------------------------ */

static void
set_worst_title (LigTryRows *self, gint64 rows, gint64 wrong)
{
  JsonObject *model = get_model (self);
  g_autofree char *all = lig_figure_count (rows), *some = lig_figure_count (wrong);
  g_autofree char *text = NULL;
  if (self->cell[0] >= 0)
    text = g_strdup_printf (
      ngettext ("%s, predicted as %s: %s row", "%s, predicted as %s: %s rows", (gulong) rows),
      lig_try_model_get_class (model, self->cell[0]),
      lig_try_model_get_class (model, self->cell[1]), all);
  else if (wrong >= 0)
    text = g_strdup_printf (ngettext ("Worst first: %s of %s row is wrong",
                                      "Worst first: %s of %s rows are wrong", (gulong) rows),
                            some, all);
  else
    text = g_strdup (_ ("Worst first"));
  gtk_label_set_label (self->worst_title, text);
  gtk_widget_set_visible (GTK_WIDGET (self->all_button), self->cell[0] >= 0);
}

/* Lists the worst rows of all. */
static void
list_all (LigTryRows *self)
{
  JsonArray *worst = self->evaluation ? lig_json_get_array (self->evaluation, "worst") : NULL;
  double accuracy = self->evaluation ? lig_try_number (self->evaluation, "accuracy") : NAN;
  gint64 rows = self->evaluation ? lig_json_get_int (self->evaluation, "rows", 0) : 0;
  self->cell[0] = self->cell[1] = -1;
  lig_confusion_mark (self->matrix, -1, -1);
  lig_try_worst_clear (self->worst, get_model (self));
  for (guint i = 0; worst && i < json_array_get_length (worst); i++) {
    JsonObject *one = lig_json_get_element (worst, i);
    const LigTryWorstRow row = {lig_json_get_int (one, "row", 0), lig_try_number (one, "target"),
                                lig_try_number (one, "prediction"), lig_try_number (one, "loss")};
    lig_try_worst_add (self->worst, &row);
  }
  set_worst_title (self, rows, isnan (accuracy) ? -1 : llround ((1 - accuracy) * (double) rows));
  gtk_widget_set_visible (self->worst_card, worst && json_array_get_length (worst) > 0);
}

static void
take_cell (LigTryRows *self, JsonObject *answer)
{
  JsonArray *rows = lig_json_get_array (answer, "rows");
  JsonArray *losses = lig_json_get_array (answer, "losses");
  guint count = rows ? json_array_get_length (rows) : 0;
  if (!rows || self->cell[0] < 0)
    return;
  lig_try_worst_clear (self->worst, get_model (self));
  for (guint i = 0; i < count; i++) {
    const LigTryWorstRow row = {(gint64) lig_try_number_at (rows, i), self->cell[0], self->cell[1],
                                lig_try_number_at (losses, i)};
    lig_try_worst_add (self->worst, &row);
  }
  set_worst_title (self, count, -1);
}

static void
take_evaluation (LigTryRows *self, JsonObject *answer)
{
  JsonArray *confusion = lig_json_get_array (answer, "confusion");
  const char *error = lig_json_get_string (answer, "error", NULL);
  double accuracy = lig_try_number (answer, "accuracy");
  gint64 count = lig_json_get_int (answer, "rows", 0);
  g_autofree char *loss = lig_try_format (lig_try_number (answer, "loss"));
  g_autofree char *number = lig_figure_count (count);
  g_autofree char *rows =
    g_strdup_printf (ngettext ("%s validation row", "%s validation rows", (gulong) count), number);
  g_autofree char *text = error              ? lig_figure_sentence (error)
                          : isnan (accuracy) ? g_strdup_printf (_ ("%s, loss %s"), rows, loss)
                                             : g_strdup_printf (_ ("%s, %.1f %% right, loss %s"),
                                                                rows, 100 * accuracy, loss);
  gtk_label_set_label (self->summary, text);
  g_clear_pointer (&self->evaluation, json_object_unref);
  if (error)
    return;
  self->evaluation = json_object_ref (answer);
  gtk_widget_set_visible (GTK_WIDGET (self->matrix), confusion != NULL);
  if (confusion)
    lig_confusion_show (self->matrix, get_model (self), confusion);
  list_all (self);
}

static void
take_line (LigTrying *trying, JsonObject *line, LigTryRows *self)
{
  const char *id = lig_json_get_string (line, "id", "");
  if (g_str_equal (id, "row"))
    take_prediction (self, line);
  else if (g_str_equal (id, "evaluation"))
    take_evaluation (self, line);
  else if (g_str_equal (id, "cell"))
    take_cell (self, line);
}

/* --- The user ------------------------------------------------------------------------------ */

static void
form_changed (LigTryRows *self)
{
  want (self, WANT_TYPED);
}

static void
number_changed (GtkSpinButton *number, LigTryRows *self)
{
  if (!self->filling)
    want (self, WANT_VALIDATION);
}

char *
lig_try_rows_to_request (LigTryRows *self)
{
  g_autoptr (JsonBuilder) builder = begin ("row");
  GString *text = g_string_new (NULL);
  add_request (self, builder, self->shown);
  json_builder_end_object (builder);
  g_autoptr (JsonNode) root = json_builder_get_root (builder);
  lig_json_append (text, root);
  return g_string_free (text, FALSE);
}

void
lig_try_rows_show_row (LigTryRows *self, gint64 row)
{
  self->filling = TRUE;
  gtk_spin_button_set_value (self->number, (double) row + 1);
  self->filling = FALSE;
  want (self, WANT_VALIDATION);
}

static void
row_chosen (LigTryWorst *worst, gint64 row, LigTryRows *self)
{
  lig_try_rows_show_row (self, row);
}

static void
cell_chosen (LigConfusion *matrix, guint target, guint prediction, LigTryRows *self)
{
  if (self->trying)
    ask_for_cell (self, target, prediction);
}

static void
show_any (GtkButton *button, LigTryRows *self)
{
  gint64 count = self->trying ? lig_try_model_get_validation (get_model (self)) : 0;
  if (count > 0)
    lig_try_rows_show_row (self, g_random_int_range (0, (gint32) MIN (count, G_MAXINT32)));
}

static void
show_all (GtkButton *button, LigTryRows *self)
{
  if (self->trying)
    list_all (self);
}

static void
request_evaluation (GtkButton *button, LigTryRows *self)
{
  if (self->trying)
    evaluate (self);
}

/* --- The model ----------------------------------------------------------------------------- */

static void
show_picker (LigTryRows *self, JsonObject *model)
{
  gint64 count = lig_try_model_get_validation (model);
  const char *remark = lig_json_get_string (model, "remark", NULL);
  g_autofree char *number = lig_figure_count (count);
  g_autofree char *text = g_strdup_printf (_ ("of %s"), number);
  g_autofree char *sentence = remark ? lig_figure_sentence (remark) : NULL;
  gtk_widget_set_visible (GTK_WIDGET (self->picker), count > 0);
  gtk_label_set_label (self->count, text);
  gtk_label_set_label (self->remark, sentence ? sentence : "");
  gtk_widget_set_visible (GTK_WIDGET (self->remark), sentence != NULL);
  self->filling = TRUE;
  gtk_spin_button_set_range (self->number, 1, (double) MAX (count, 1));
  gtk_spin_button_set_value (self->number, 1);
  self->filling = FALSE;
}

static void
show_model (LigTryRows *self)
{
  JsonObject *model = get_model (self);
  gint64 count = lig_try_model_get_validation (model);
  gboolean image = lig_json_get_array (model, "image") != NULL;
  lig_try_form_set_model (self->form, model);
  show_picker (self, model);
  gtk_widget_set_visible (GTK_WIDGET (self->form), !image);
  gtk_widget_set_visible (GTK_WIDGET (self->picture), image);
  gtk_widget_set_visible (self->matrix_card, count > 0);
  gtk_widget_set_visible (GTK_WIDGET (self->matrix), FALSE);
  gtk_widget_set_visible (GTK_WIDGET (self->evaluate_button), count > MAX_AT_ONCE);
  gtk_label_set_label (self->summary, "");
  g_clear_pointer (&self->evaluation, json_object_unref);
  list_all (self);
  if (count > 0)
    want (self, WANT_VALIDATION);
  else if (!image)
    want (self, WANT_TYPED);
  if (count > 0 && count <= MAX_AT_ONCE)
    evaluate (self);
}

void
lig_try_rows_set_trying (LigTryRows *self, LigTrying *trying)
{
  if (self->trying)
    g_signal_handler_disconnect (self->trying, self->handler);
  g_clear_object (&self->trying);
  self->want = self->asked = WANT_NOTHING;
  if (!trying)
    return;
  self->trying = g_object_ref (trying);
  self->handler = g_signal_connect (trying, "line", G_CALLBACK (take_line), self);
  show_model (self);
}

/* --- Construction -------------------------------------------------------------------------- */

static void
lig_try_rows_dispose (GObject *object)
{
  LigTryRows *self = LIG_TRY_ROWS (object);
  lig_try_rows_set_trying (self, NULL);
  gtk_widget_dispose_template (GTK_WIDGET (self), LIG_TYPE_TRY_ROWS);
  g_clear_pointer (&self->evaluation, json_object_unref);
  G_OBJECT_CLASS (lig_try_rows_parent_class)->dispose (object);
}

static void
lig_try_rows_class_init (LigTryRowsClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);
  G_OBJECT_CLASS (class)->dispose = lig_try_rows_dispose;
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/org/ligature/Ligature/ui/try/rows.ui");
#define BIND(name) gtk_widget_class_bind_template_child (widget_class, LigTryRows, name)
  BIND (cards);
  BIND (form_place);
  BIND (prediction_place);
  BIND (matrix_place);
  BIND (worst_place);
  BIND (picker);
  BIND (matrix_card);
  BIND (worst_card);
  BIND (count);
  BIND (remark);
  BIND (summary);
  BIND (worst_title);
  BIND (number);
  BIND (picture);
  BIND (evaluate_button);
  BIND (all_button);
#undef BIND
  gtk_widget_class_bind_template_callback (widget_class, number_changed);
  gtk_widget_class_bind_template_callback (widget_class, show_any);
  gtk_widget_class_bind_template_callback (widget_class, show_all);
  gtk_widget_class_bind_template_callback (widget_class, request_evaluation);
}

static void
lig_try_rows_init (LigTryRows *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  self->cell[0] = self->cell[1] = -1;
  self->form = LIG_TRY_FORM (lig_try_form_new ());
  self->prediction = LIG_TRY_PREDICTION (lig_try_prediction_new ());
  self->matrix = LIG_CONFUSION (lig_confusion_new ());
  self->worst = LIG_TRY_WORST (lig_try_worst_new ());
  gtk_box_append (self->form_place, GTK_WIDGET (self->form));
  gtk_box_append (self->prediction_place, GTK_WIDGET (self->prediction));
  gtk_box_append (self->matrix_place, GTK_WIDGET (self->matrix));
  gtk_box_append (self->worst_place, GTK_WIDGET (self->worst));
  lig_columns_use (self->cards, 12);
  g_signal_connect_swapped (self->form, "changed", G_CALLBACK (form_changed), self);
  g_signal_connect (self->matrix, "chosen", G_CALLBACK (cell_chosen), self);
  g_signal_connect (self->worst, "chosen", G_CALLBACK (row_chosen), self);
}

GtkWidget *
lig_try_rows_new (void)
{
  return g_object_new (LIG_TYPE_TRY_ROWS, NULL);
}
