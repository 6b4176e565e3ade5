/* SPDX-License-Identifier: MIT */
/* Reports of sweeps, in the formats that can show them. */
#include "engine/draw/canvas.h"
#include "engine/report/paper-kinds.h"
#include "engine/report/texts.h"
#include "engine/train/swept.h"
#include <ligature/csv.h>
#include <ligature/draw-sweep.h>
#include <ligature/json-members.h>
#include <ligature/store.h>
#include <ligature/units.h>

#include <json-glib/json-glib.h>

#include <glib/gi18n-lib.h>
#include <math.h>

enum { WIDTH = 1000, HEIGHT = 420, SCATTER = 300 };

/* --- Pictures ------------------------------------------------------------------------------ */

static double
picture_height (LigSweep *sweep)
{
  guint count;
  lig_sweep_get_axes (sweep, &count);
  return HEIGHT + (double) count * SCATTER;
}

/* All settings, then the losses over each setting. */
static void
draw_all (LigCanvas *canvas, const LigColours *colours, LigSweep *sweep)
{
  guint count;
  const LigSweepAxis *axes = lig_sweep_get_axes (sweep, &count);
  LigSweepPicture picture = {sweep, -1, -1};
  lig_draw_sweep (canvas, colours, &picture, WIDTH, HEIGHT);
  for (guint i = 0; axes && i < count; i++) {
    picture.axis = (int) i;
    lig_canvas_begin_translate (canvas, 0, HEIGHT + (double) i * SCATTER);
    lig_draw_sweep (canvas, colours, &picture, WIDTH, SCATTER - 12);
    lig_canvas_end_translate (canvas);
  }
}

static void
draw (LigCanvas *canvas, gpointer data)
{
  draw_all (canvas, lig_colours (LIG_COLOURS_LIGHT), data);
}

static gboolean
write_picture (GString *to, LigSweep *sweep, const char *format, GError **error)
{
  g_autoptr (GBytes) bytes =
    lig_draw_to_file (format, WIDTH, picture_height (sweep),
                      lig_colours (LIG_COLOURS_LIGHT)->ground, draw, sweep, error);
  if (bytes)
    g_string_append_len (to, g_bytes_get_data (bytes, NULL), (gssize) g_bytes_get_size (bytes));
  return bytes != NULL;
}

static void
append_figure (GString *to, LigSweep *sweep)
{
  g_autoptr (LigCanvas) canvas = lig_canvas_new_svg (WIDTH, picture_height (sweep));
  lig_canvas_name_colours (canvas, lig_colours (LIG_COLOURS_LIGHT));
  draw_all (canvas, lig_colours (LIG_COLOURS_LIGHT), sweep);
  g_autofree char *svg = lig_canvas_to_svg (canvas);
  g_string_append_printf (to,
                          "<figure><div class=\"wide\" role=\"img\" aria-label=\"%s\">%s</div>"
                          "</figure>\n",
                          _ ("Settings and losses of the runs"), svg);
}

/* --- Tables -------------------------------------------------------------------------------- */

static gboolean
is_seed (const LigSweepAxis *axis)
{
  return g_str_equal (axis->key, "seed");
}

/* Begins a table with a column for each setting, followed by the columns `more`. */
static void
begin_table (LigPaper *to, LigSweep *sweep, gboolean seeds, const char *more)
{
  guint count;
  const LigSweepAxis *axes = lig_sweep_get_axes (sweep, &count);
  g_autoptr (GString) columns = g_string_new (NULL);
  for (guint i = 0; i < count; i++)
    if (seeds || !is_seed (&axes[i]))
      g_string_append_printf (columns, ">%s|", axes[i].key);
  g_string_append (columns, more);
  lig_paper_head (to, columns->str);
}

static GPtrArray *
begin_row (LigSweep *sweep, GStrv values, gboolean seeds)
{
  guint count;
  const LigSweepAxis *axes = lig_sweep_get_axes (sweep, &count);
  GPtrArray *cells = g_ptr_array_new_with_free_func (g_free);
  for (guint i = 0; i < count; i++)
    if (seeds || !is_seed (&axes[i]))
      g_ptr_array_add (cells, g_strdup (values[i]));
  return cells;
}

static void
end_row (LigPaper *to, GPtrArray *cells)
{
  g_ptr_array_add (cells, NULL);
  lig_paper_cells (to, (const char *const *) cells->pdata);
  g_ptr_array_unref (cells);
}

static char *
format_time (double milliseconds)
{
  return isfinite (milliseconds) ? lig_units_time (milliseconds / 1e3) : g_strdup ("-");
}

static void
append_best (LigPaper *to, LigSweep *sweep)
{
  int best = lig_sweep_find_best (sweep);
  g_autofree char *settings = best >= 0 ? lig_sweep_describe_settings (sweep, (guint) best) : NULL;
  if (!settings || !*settings)
    return;
  g_autofree char *text = g_strdup_printf (_ ("Lowest mean loss: %s"), settings);
  lig_paper_say (to, text);
}

static void
append_summaries (LigPaper *to, LigSweep *sweep)
{
  g_autoptr (GPtrArray) summaries = lig_sweep_summarize (sweep);
  begin_table (to, sweep, FALSE, _ (">Mean loss|>Std|>Min|>Max|>Runs|>Step time"));
  for (guint i = 0; i < summaries->len; i++) {
    const LigSweepSummary *summary = summaries->pdata[i];
    GPtrArray *cells = begin_row (sweep, summary->values, FALSE);
    const double figures[] = {summary->mean, summary->std, summary->min, summary->greatest};
    for (guint j = 0; j < G_N_ELEMENTS (figures); j++)
      g_ptr_array_add (cells, lig_report_number (figures[j]));
    g_ptr_array_add (cells, g_strdup_printf ("%u / %u", summary->count, summary->points));
    g_ptr_array_add (cells, format_time (summary->step_ms));
    end_row (to, cells);
  }
}

static void
append_runs (LigPaper *to, LigSweep *sweep)
{
  guint count;
  const LigSweepPoint *points = lig_sweep_get_points (sweep, &count);
  begin_table (to, sweep, TRUE, _ (">Loss|>Validation loss|>Accuracy|>Step|Status|Run"));
  for (guint i = 0; i < count; i++) {
    GPtrArray *cells = begin_row (sweep, points[i].values, TRUE);
    const double figures[] = {points[i].loss, points[i].eval_loss, points[i].eval_accuracy};
    for (guint j = 0; j < G_N_ELEMENTS (figures); j++)
      g_ptr_array_add (cells, lig_report_number (figures[j]));
    g_ptr_array_add (cells, format_time (points[i].step_ms));
    g_ptr_array_add (cells, g_strdup (points[i].status ? points[i].status : _ ("missing")));
    g_ptr_array_add (cells, g_strdup (points[i].run ? points[i].run : ""));
    end_row (to, cells);
  }
}

static void
write_paper (LigPaper *to, LigSweep *sweep)
{
  g_autofree char *settings = lig_run_settings_to_json (lig_sweep_get_settings (sweep));
  g_autofree char *expression = lig_sequence_to_expression (lig_sweep_get_sequence (sweep));
  lig_paper_title (to, _ ("Sweep"), lig_sweep_get_name (sweep));
  lig_paper_say (to, lig_sweep_get_uuid (sweep));
  if (to->html)
    append_figure (to->text, sweep);
  lig_paper_heading (to, _ ("Means over the seeds"));
  append_best (to, sweep);
  append_summaries (to, sweep);
  lig_paper_heading (to, _ ("Runs"));
  append_runs (to, sweep);
  lig_paper_heading (to, _ ("Settings of all runs"));
  lig_paper_block (to, "json", settings);
  lig_paper_block (to, "", expression);
  lig_paper_clear (to);
}

/* --- Formats ------------------------------------------------------------------------------- */

static gboolean
write_json (GString *to, LigSweep *sweep, const char *format, GError **error)
{
  g_autoptr (JsonNode) document = lig_sweep_to_json (sweep);
  lig_json_add_units (document);
  g_autofree char *text = lig_json_to_text (document);
  g_string_append_printf (to, "%s\n", text);
  return TRUE;
}

static gboolean
write_md (GString *to, LigSweep *sweep, const char *format, GError **error)
{
  LigPaper paper = {.text = to};
  write_paper (&paper, sweep);
  return TRUE;
}

static gboolean
write_html (GString *to, LigSweep *sweep, const char *format, GError **error)
{
  LigPaper paper = {.text = to, .html = TRUE};
  g_autoptr (GString) json = g_string_new (NULL);
  write_json (json, sweep, format, error);
  lig_html_begin_page (to, lig_sweep_get_name (sweep));
  write_paper (&paper, sweep);
  lig_html_end_page (to, json);
  return TRUE;
}

static gboolean
write_csv (GString *to, LigSweep *sweep, const char *format, GError **error)
{
  guint n_axes, count;
  const LigSweepAxis *axes = lig_sweep_get_axes (sweep, &n_axes);
  const LigSweepPoint *points = lig_sweep_get_points (sweep, &count);
  for (guint i = 0; i < n_axes; i++) {
    lig_csv_append_text (to, axes[i].key);
    g_string_append_c (to, ',');
  }
  g_string_append (to,
                   "run,status,steps,first_loss,loss,eval_loss,eval_accuracy,step_ms,seconds\n");
  for (guint i = 0; i < count; i++) {
    const LigSweepPoint *point = &points[i];
    const double figures[] = {point->first_loss,    point->loss,    point->eval_loss,
                              point->eval_accuracy, point->step_ms, point->seconds};
    for (guint j = 0; j < n_axes; j++) {
      lig_csv_append_text (to, point->values[j]);
      g_string_append_c (to, ',');
    }
    g_string_append_printf (to, "%s,%s,%" G_GINT64_FORMAT, point->run ? point->run : "",
                            point->status ? point->status : "missing", point->done);
    for (guint j = 0; j < G_N_ELEMENTS (figures); j++) {
      g_string_append_c (to, ',');
      if (isfinite (figures[j]))
        lig_csv_append_number (to, figures[j]);
    }
    g_string_append_c (to, '\n');
  }
  return TRUE;
}

static const struct {
  const char *name;
  gboolean (*write) (GString *to, LigSweep *sweep, const char *format, GError **error);
} formats[] = {{"html", write_html},  {"md", write_md},       {"csv", write_csv},
               {"json", write_json},  {"svg", write_picture}, {"png", write_picture},
               {"pdf", write_picture}};

gboolean
lig_report_shows_sweep (const char *format)
{
  g_return_val_if_fail (format, FALSE);
  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    if (g_ascii_strcasecmp (formats[i].name, format) == 0)
      return TRUE;
  return FALSE;
}

GBytes *
lig_report_sweep (LigSweep *sweep, const char *format, GError **error)
{
  g_return_val_if_fail (LIG_IS_SWEEP (sweep) && format, NULL);
  g_autoptr (GString) text = g_string_new (NULL);
  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    if (g_ascii_strcasecmp (formats[i].name, format) == 0)
      return formats[i].write (text, sweep, format, error)
               ? g_string_free_to_bytes (g_steal_pointer (&text))
               : NULL;
  g_set_error (error, LIG_ERROR, LIG_ERROR_FORMAT, _ ("%s: a sweep has no report in this format"),
               format);
  return NULL;
}

gboolean
lig_report_write_sweep (LigStore *store, const char *sweep, const char *path, GError **error)
{
  g_return_val_if_fail (LIG_IS_STORE (store) && sweep && path, FALSE);
  const char *format = lig_report_choose_format (path, error);
  g_autoptr (LigSweep) found = format ? lig_sweep_open (store, sweep, error) : NULL;
  g_autoptr (GBytes) report = found ? lig_report_sweep (found, format, error) : NULL;
  return report && lig_report_save (report, path, error);
}
