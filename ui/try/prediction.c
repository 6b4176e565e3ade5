/* SPDX-License-Identifier: MIT */
#include "ui/try/prediction.h"

#include "ui/try/bars.h"
#include "ui/try/influence.h"
#include "ui/try/model.h"
#include "ui/try/token-card.h"
#include "ui/widgets/css-class.h"
#include "ui/widgets/figures.h"
#include <ligature/json.h>

#include <glib/gi18n.h>
#include <math.h>

/* The most probable classes that have a bar. */
enum { MAX_BARS = 8 };

struct _LigTryPrediction {
  AdwBin parent_instance;
  GtkLabel *title, *figure, *verdict, *error;
  GtkWidget *content, *moves;
  GtkGrid *bars, *influence;
};

G_DEFINE_FINAL_TYPE (LigTryPrediction, lig_try_prediction, ADW_TYPE_BIN)

/* --- Probabilities ------------------------------------------------------------------------- */

typedef struct {
  guint class;
  double probability;
} Chance;

static int
compare_chances (gconstpointer a, gconstpointer b)
{
  double one = ((const Chance *) a)->probability, other = ((const Chance *) b)->probability;
  return (one < other) - (one > other);
}

static void
show_bars (LigTryPrediction *self, JsonObject *model, JsonArray *probabilities, gint64 prediction)
{
  g_autoptr (GArray) chances = g_array_new (FALSE, FALSE, sizeof (Chance));
  for (guint i = 0; i < json_array_get_length (probabilities); i++) {
    Chance chance = {i, lig_try_number_at (probabilities, i)};
    g_array_append_val (chances, chance);
  }
  g_array_sort (chances, compare_chances);
  for (guint i = 0; i < MIN (chances->len, MAX_BARS); i++) {
    const Chance *chance = &g_array_index (chances, Chance, i);
    g_autofree char *percent = lig_token_percent (chance->probability);
    const char *name = lig_try_model_get_class (model, chance->class);
    const LigBarRow row = {.label = name ? name : "",
                           .share = chance->probability,
                           .figure = percent,
                           .strong = chance->class == prediction};
    lig_bars_add (self->bars, &row);
  }
}

/* --- The target ---------------------------------------------------------------------------- */

/* Compares with the target, if it is known. */
static void
show_verdict (LigTryPrediction *self, JsonObject *model, JsonObject *answer)
{
  double loss = lig_try_number (answer, "loss"), target = lig_try_number (answer, "target");
  gint64 prediction = lig_json_get_int (answer, "prediction", -1);
  const char *name = isnan (target) ? NULL : lig_try_model_get_class (model, (gint64) target);
  gboolean right = name && (gint64) target == prediction;
  g_autofree char *number = lig_try_format (loss);
  g_autofree char *text = !name   ? g_strdup_printf (_ ("Loss %s"), number)
                          : right ? g_strdup_printf (_ ("It is %s: right, loss %s"), name, number)
                                  : g_strdup_printf (_ ("It is %s: wrong, loss %s"), name, number);
  gtk_label_set_label (self->verdict, text);
  gtk_widget_set_visible (GTK_WIDGET (self->verdict), !isnan (loss));
  lig_css_class_set (GTK_WIDGET (self->verdict), "success", right);
  lig_css_class_set (GTK_WIDGET (self->verdict), "error", name && !right);
}

static void
show_class (LigTryPrediction *self, JsonObject *model, JsonObject *answer)
{
  JsonArray *probabilities = lig_json_get_array (answer, "probabilities");
  gint64 prediction = lig_json_get_int (answer, "prediction", -1);
  const char *name = lig_try_model_get_class (model, prediction);
  g_autofree char *percent =
    lig_token_percent (lig_try_number_at (probabilities, (guint) prediction));
  gtk_label_set_label (self->title, name ? name : "");
  gtk_label_set_label (self->figure, percent);
  if (probabilities)
    show_bars (self, model, probabilities, prediction);
}

/* One value is the title; several are listed. */
static void
show_values (LigTryPrediction *self, JsonObject *model, JsonObject *answer)
{
  JsonArray *values = lig_json_get_array (answer, "values");
  guint count = values ? json_array_get_length (values) : 0;
  const char *name = lig_try_model_get_target (model, 0);
  g_autofree char *number = lig_try_format (lig_try_number_at (values, 0));
  gtk_label_set_label (self->title, count == 1 && name ? name : _ ("Values"));
  gtk_label_set_label (self->figure, count == 1 ? number : "");
  for (guint i = 0; count > 1 && i < MIN (count, MAX_BARS); i++) {
    g_autofree char *text = lig_try_format (lig_try_number_at (values, i));
    name = lig_try_model_get_target (model, i);
    const LigBarRow row = {.label = name ? name : "", .share = 0, .figure = text};
    lig_bars_add (self->bars, &row);
  }
}

void
lig_try_prediction_show (LigTryPrediction *self, JsonObject *model, JsonObject *answer)
{
  const char *error = lig_json_get_string (answer, "error", NULL);
  g_autofree char *sentence = error ? lig_figure_sentence (error) : g_strdup ("");
  JsonArray *influence = lig_json_get_array (answer, "influence");
  gtk_label_set_label (self->error, sentence);
  gtk_widget_set_visible (GTK_WIDGET (self->error), error != NULL);
  lig_css_class_set (self->content, "outdated", error != NULL);
  if (error)
    return;
  lig_bars_clear (self->bars);
  if (lig_try_model_count (model, "classes") > 0)
    show_class (self, model, answer);
  else
    show_values (self, model, answer);
  show_verdict (self, model, answer);
  gtk_widget_set_visible (self->moves, influence != NULL);
  lig_influence_show (self->influence, model, influence);
}

/* --- Construction -------------------------------------------------------------------------- */

static GtkLabel *
make_label (const char *class, double xalign)
{
  GtkWidget *label = gtk_label_new (NULL);
  gtk_label_set_xalign (GTK_LABEL (label), (float) xalign);
  gtk_widget_add_css_class (label, class);
  return GTK_LABEL (label);
}

static void
lig_try_prediction_class_init (LigTryPredictionClass *class)
{
}

static GtkWidget *
make_moves (LigTryPrediction *self)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 9);
  GtkLabel *title = make_label ("heading", 0);
  gtk_label_set_label (title, _ ("Columns that move it most"));
  gtk_widget_set_tooltip_text (
    GTK_WIDGET (title), _ ("Gradient times input: columns to the right raise the prediction, "
                           "columns to the left lower it"));
  self->influence = lig_bars_new ();
  gtk_box_append (GTK_BOX (box), gtk_separator_new (GTK_ORIENTATION_HORIZONTAL));
  gtk_box_append (GTK_BOX (box), GTK_WIDGET (title));
  gtk_box_append (GTK_BOX (box), GTK_WIDGET (self->influence));
  return box;
}

static void
lig_try_prediction_init (LigTryPrediction *self)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 9);
  GtkWidget *head = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 12);
  self->content = gtk_box_new (GTK_ORIENTATION_VERTICAL, 12);
  self->title = make_label ("title-2", 0);
  self->figure = make_label ("title-2", 1);
  self->verdict = make_label ("body", 0);
  self->error = make_label ("error", 0);
  self->bars = lig_bars_new ();
  self->moves = make_moves (self);
  gtk_label_set_ellipsize (self->title, PANGO_ELLIPSIZE_END);
  gtk_label_set_max_width_chars (self->title, 16);
  gtk_label_set_wrap (self->verdict, TRUE);
  gtk_label_set_max_width_chars (self->verdict, 28);
  gtk_label_set_wrap (self->error, TRUE);
  gtk_label_set_max_width_chars (self->error, 28);
  gtk_widget_set_visible (GTK_WIDGET (self->error), FALSE);
  gtk_widget_set_visible (self->moves, FALSE);
  gtk_widget_set_hexpand (GTK_WIDGET (self->title), TRUE);
  gtk_widget_add_css_class (GTK_WIDGET (self->figure), "numeric");
  gtk_box_append (GTK_BOX (head), GTK_WIDGET (self->title));
  gtk_box_append (GTK_BOX (head), GTK_WIDGET (self->figure));
  gtk_box_append (GTK_BOX (self->content), head);
  gtk_box_append (GTK_BOX (self->content), GTK_WIDGET (self->bars));
  gtk_box_append (GTK_BOX (self->content), GTK_WIDGET (self->verdict));
  gtk_box_append (GTK_BOX (self->content), self->moves);
  gtk_box_append (GTK_BOX (box), GTK_WIDGET (self->error));
  gtk_box_append (GTK_BOX (box), self->content);
  adw_bin_set_child (ADW_BIN (self), box);
}

GtkWidget *
lig_try_prediction_new (void)
{
  return g_object_new (LIG_TYPE_TRY_PREDICTION, NULL);
}
