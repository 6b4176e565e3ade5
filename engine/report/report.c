/* SPDX-License-Identifier: MIT */
/* Reports: the list of formats, the data of a run, and saving to a file. */
#include "engine/base/file.h"
#include "engine/base/suggest.h"
#include "engine/report/format.h"
#include "engine/store/file.h"
#include <ligature/kernels.h>
#include <ligature/plan.h>
#include <ligature/profile.h>
#include <ligature/store-histograms.h>
#include <ligature/store-loads.h>
#include <ligature/store-spreads.h>
#include <ligature/store-sweeps.h>

#include <glib/gi18n-lib.h>
#include <string.h>

#define LIG_REPORT(name) extern LIG_REPORT_FORMAT (name);
#include "report-list.h"
#undef LIG_REPORT

static const LigReportFormat *const formats[] = {
#define LIG_REPORT(name) &lig_report_format_##name,
#include "report-list.h"
#undef LIG_REPORT
};

/* --- Choosing a format --------------------------------------------------------------------- */

const char *
lig_report_format_nth (guint n)
{
  return n < G_N_ELEMENTS (formats) ? formats[n]->name : NULL;
}

static const LigReportFormat *
find_name (const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    if (g_ascii_strcasecmp (formats[i]->name, name) == 0)
      return formats[i];
  return NULL;
}

const char *
lig_report_format_title (const char *name)
{
  const LigReportFormat *format = find_name (name);
  return format ? format->title : NULL;
}

const char *
lig_report_format_help (const char *name)
{
  const LigReportFormat *format = find_name (name);
  return format ? format->help : NULL;
}

static char *
list_formats (void)
{
  GString *text = g_string_new (NULL);
  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    g_string_append_printf (text, "%s%s", i > 0 ? ", " : "", formats[i]->name);
  return g_string_free (text, FALSE);
}

static gboolean
has_ending (const char *path, const char *name)
{
  gsize length = strlen (path), ending = strlen (name);
  return length > ending + 1 && path[length - ending - 1] == '.' &&
         g_ascii_strcasecmp (path + length - ending, name) == 0;
}

/* Chooses the longest matching extension: x.trace.json is a trace, not json. */
const char *
lig_report_choose_format (const char *path, GError **error)
{
  g_return_val_if_fail (path, NULL);
  const char *found = NULL;
  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    if (has_ending (path, formats[i]->name) &&
        (!found || strlen (found) < strlen (formats[i]->name)))
      found = formats[i]->name;
  if (found)
    return found;
  g_autofree char *names = list_formats ();
  g_autofree char *base = g_path_get_basename (path);
  const char *dot = strrchr (base, '.');
  g_autofree char *like = dot ? lig_suggest_nth (dot + 1, lig_report_format_nth) : NULL;
  if (dot)
    g_set_error (error, LIG_ERROR, LIG_ERROR_FORMAT,
                 _ ("%s: report format '%s' is unknown, expected %s%s"), path, dot + 1, names,
                 like);
  else
    g_set_error (error, LIG_ERROR, LIG_ERROR_FORMAT,
                 _ ("%s: the file name has no extension, expected %s"), path, names);
  return NULL;
}

typedef enum { PLAN, RUN, PAIR } Subject;

static const LigReportFormat *
find_format (const char *name, Subject subject, GError **error)
{
  static const char *const subjects[] = {"plan", "run", "comparison"};
  const LigReportFormat *format = find_name (name);
  if (format) {
    gboolean shows[] = {format->plan != NULL, format->run != NULL, format->pair != NULL};
    if (shows[subject])
      return format;
    g_set_error (error, LIG_ERROR, LIG_ERROR_FORMAT, _ ("%s: a %s has no report in this format"),
                 name, subjects[subject]);
    return NULL;
  }
  g_autofree char *names = list_formats ();
  g_autofree char *like = lig_suggest_nth (name, lig_report_format_nth);
  g_set_error (error, LIG_ERROR, LIG_ERROR_FORMAT,
               _ ("report format '%s' is unknown, expected %s%s"), name, names, like);
  return NULL;
}

/* --- Data ---------------------------------------------------------------------------------- */

const LigMetricRow *
lig_report_find_metric (const LigReportRun *run, const char *name)
{
  for (guint i = 0; i < run->metrics->len; i++) {
    const LigMetricRow *metric = run->metrics->pdata[i];
    if (g_str_equal (metric->name, name))
      return metric;
  }
  return NULL;
}

const char *
lig_report_kernel_name (const LigPlanStep *step)
{
  return step->kernel ? step->kernel->name : "opaque";
}

const char *
lig_report_fusion_name (LigPlan *plan, const LigPlanStep *step)
{
  guint count;
  if (step->group < 0 || step->pass > LIG_PASS_BACKWARD)
    return NULL;
  const LigPlanGroup *groups = lig_plan_get_groups (plan, step->pass, &count);
  const LigFusion *fusion = (guint) step->group < count ? groups[step->group].fusion : NULL;
  return fusion ? fusion->name : NULL;
}

void
lig_report_clear_run (LigReportRun *run)
{
  g_clear_pointer (&run->row, lig_run_row_free);
  g_clear_pointer (&run->store, g_free);
  g_clear_pointer (&run->inputs, g_free);
  g_clear_pointer (&run->file, g_free);
  g_clear_pointer (&run->metrics, g_ptr_array_unref);
  g_clear_pointer (&run->spreads, g_ptr_array_unref);
  g_clear_pointer (&run->errors, g_ptr_array_unref);
  g_clear_pointer (&run->timings, g_ptr_array_unref);
  g_clear_pointer (&run->fusions, g_ptr_array_unref);
  g_clear_pointer (&run->verdicts, g_ptr_array_unref);
  g_clear_pointer (&run->samples, g_ptr_array_unref);
  g_clear_pointer (&run->histograms, g_ptr_array_unref);
  g_clear_pointer (&run->loads, g_ptr_array_unref);
  g_clear_pointer (&run->artifacts, g_ptr_array_unref);
}

gboolean
lig_report_read_run (LigReportRun *run, LigStore *store, const char *selector, GError **error)
{
  g_autofree char *usual = lig_store_file_name (NULL);
  run->row = lig_store_find_run (store, selector, error);
  if (!run->row)
    return FALSE;
  const char *uuid = run->row->uuid;
  run->file = g_strdup (lig_store_get_path (store));
  if (g_strcmp0 (usual, lig_store_get_path (store)) != 0)
    run->store = g_strdup (lig_store_get_path (store));
  run->inputs = lig_store_get_inputs (store, uuid, NULL);
  return (run->metrics = lig_store_get_metrics (store, uuid, error)) &&
         (run->spreads = lig_store_get_spreads (store, uuid, error)) &&
         (run->errors = lig_profile_get_errors (store, uuid, error)) &&
         (run->timings = lig_store_get_timings (store, uuid, error)) &&
         (run->fusions = lig_store_get_fusions (store, uuid, error)) &&
         (run->verdicts = lig_store_get_verdicts (store, uuid, error)) &&
         (run->samples = lig_store_get_samples (store, uuid, error)) &&
         (run->histograms =
            lig_store_get_histograms (store, uuid, NULL, LIG_REPORT_HISTOGRAMS, error)) &&
         (run->loads = lig_store_get_loads (store, uuid, error)) &&
         (run->artifacts = lig_store_get_artifacts (store, uuid, error));
}

GBytes *
lig_report_plan (LigPlan *plan, const char *command, const char *format, GError **error)
{
  g_return_val_if_fail (plan && format, NULL);
  const LigReportFormat *found = find_format (format, PLAN, error);
  if (!found)
    return NULL;
  GString *text = g_string_new (NULL);
  if (found->plan (text, plan, command, error))
    return g_string_free_to_bytes (text);
  g_string_free (text, TRUE);
  return NULL;
}

GBytes *
lig_report_run (LigStore *store, const char *run, const char *format, GError **error)
{
  g_return_val_if_fail (LIG_IS_STORE (store) && run && format, NULL);
  g_auto (LigReportRun) contents = {0};
  const LigReportFormat *found = find_format (format, RUN, error);
  if (!found || !lig_report_read_run (&contents, store, run, error))
    return NULL;
  GString *text = g_string_new (NULL);
  if (found->run (text, &contents, error))
    return g_string_free_to_bytes (text);
  g_string_free (text, TRUE);
  return NULL;
}

GBytes *
lig_report_comparison (LigPlanComparison *comparison,
                       const char *before,
                       const char *after,
                       const char *format,
                       GError **error)
{
  g_return_val_if_fail (comparison && before && after && format, NULL);
  const LigReportPair pair = {comparison, {before, after}};
  const LigReportFormat *found = find_format (format, PAIR, error);
  if (!found)
    return NULL;
  GString *text = g_string_new (NULL);
  if (found->pair (text, &pair, error))
    return g_string_free_to_bytes (text);
  g_string_free (text, TRUE);
  return NULL;
}

/* --- Files --------------------------------------------------------------------------------- */

gboolean
lig_report_save (GBytes *report, const char *path, GError **error)
{
  g_return_val_if_fail (report && path, FALSE);
  gsize size;
  const char *data = g_bytes_get_data (report, &size);
  return lig_write_file (path, data, size, error);
}

gboolean
lig_report_write_plan (LigPlan *plan, const char *command, const char *path, GError **error)
{
  const char *format = lig_report_choose_format (path, error);
  g_autoptr (GBytes) report = format ? lig_report_plan (plan, command, format, error) : NULL;
  return report && lig_report_save (report, path, error);
}

gboolean
lig_report_write_run (LigStore *store, const char *run, const char *path, GError **error)
{
  const char *format = lig_report_choose_format (path, error);
  g_autoptr (GBytes) report = format ? lig_report_run (store, run, format, error) : NULL;
  return report && lig_report_save (report, path, error);
}

gboolean
lig_report_write_comparison (LigPlanComparison *comparison,
                             const char *before,
                             const char *after,
                             const char *path,
                             GError **error)
{
  const char *format = lig_report_choose_format (path, error);
  g_autoptr (GBytes) report =
    format ? lig_report_comparison (comparison, before, after, format, error) : NULL;
  return report && lig_report_save (report, path, error);
}
