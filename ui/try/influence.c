/* SPDX-License-Identifier: MIT */
#include "ui/try/influence.h"

#include "ui/try/bars.h"
#include "ui/try/model.h"

#include <math.h>

/* The columns that have a bar. */
enum { MAX_BARS = 8 };

static int
compare (gconstpointer a, gconstpointer b, gpointer data)
{
  double one = fabs (lig_try_number_at (data, *(const guint *) a));
  double other = fabs (lig_try_number_at (data, *(const guint *) b));
  return (one < other) - (one > other);
}

void
lig_influence_show (GtkGrid *bars, JsonObject *model, JsonArray *influence)
{
  guint count = lig_try_model_count (model, "features");
  g_autofree guint *order = g_new (guint, count);
  lig_bars_clear (bars);
  if (!influence || json_array_get_length (influence) != count || count == 0)
    return;
  for (guint i = 0; i < count; i++)
    order[i] = i;
  g_qsort_with_data (order, (int) count, sizeof *order, compare, influence);
  double largest = fabs (lig_try_number_at (influence, order[0]));
  for (guint i = 0; i < MIN (count, MAX_BARS); i++) {
    double value = lig_try_number_at (influence, order[i]);
    g_autofree char *figure = g_strdup_printf ("%s%.3g", value < 0 ? "−" : "+", fabs (value));
    const LigBarRow row = {.label = lig_try_model_get_feature (model, order[i]).name,
                           .share = largest > 0 && isfinite (value) ? value / largest : 0,
                           .is_signed = TRUE,
                           .figure = figure,
                           .class = value < 0 ? "lowers" : "raises"};
    lig_bars_add (bars, &row);
  }
}
