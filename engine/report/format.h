/* SPDX-License-Identifier: MIT */
/* A report format: one file in this folder and one word in its meson.build. */
#pragma once

#include <ligature/plan.h>
#include <ligature/report.h>

#include <glib/gi18n-lib.h>

/* A run with all its data from the store. */
typedef struct {
  LigRunRow *row;
  char *inputs; /* (nullable): hashes of its data and further inputs, JSON */
  char *file;   /* the file of the store */
  char *store;  /* the store's file, for commands; NULL for the default one */
  GPtrArray *metrics, *spreads, *errors, *timings, *fusions, *verdicts, *samples, *artifacts;
  GPtrArray *loads;      /* of LigLoadSeries */
  GPtrArray *histograms; /* of LigHistogramSeries, each of at most LIG_REPORT_HISTOGRAMS steps */
} LigReportRun;

/* The maximum number of histograms of each tensor in a report, which a picture can show. */
#define LIG_REPORT_HISTOGRAMS 48

/* Reads a run; the selector is that of lig_store_find_run(). Returns FALSE with an error set. The
 * caller clears the struct in either case. */
gboolean
lig_report_read_run (LigReportRun *run, LigStore *store, const char *selector, GError **error);
void lig_report_clear_run (LigReportRun *run);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (LigReportRun, lig_report_clear_run)

/* Two compared plans with their titles. */
typedef struct {
  LigPlanComparison *plans;
  const char *titles[2];
} LigReportPair;

typedef struct {
  const char *name;         /* the file name extension */
  const char *title, *help; /* translatable; the help has no full stop */
  /* Append the report, text or bytes; NULL if the format cannot show a plan, a run or a
   * comparison. */
  gboolean (*plan) (GString *to, LigPlan *plan, const char *command, GError **error);
  gboolean (*run) (GString *to, const LigReportRun *run, GError **error);
  gboolean (*pair) (GString *to, const LigReportPair *pair, GError **error);
} LigReportFormat;

/* Each format's file defines `const LigReportFormat lig_report_format_NAME`. */
#define LIG_REPORT_FORMAT(name) const LigReportFormat lig_report_format_##name

/* Returns the run's metric of that name, or NULL. */
const LigMetricRow *lig_report_find_metric (const LigReportRun *run, const char *name);

/* Returns the name of the step's kernel; `opaque` for the callback of an opaque op. */
const char *lig_report_kernel_name (const LigPlanStep *step);

/* Returns the fusion that the step belongs to, or NULL. */
const char *lig_report_fusion_name (LigPlan *plan, const LigPlanStep *step);

/* Add members to the run's JSON object: those for lists of runs; the run's origin; its verdicts;
 * the spreads of its times; the errors of the recipes compared with it; its texts; its histograms;
 * the load of its experts; its files. */
void lig_report_add_row (JsonBuilder *to, const LigRunRow *row);
void lig_report_add_origin (JsonBuilder *to, const LigRunRow *row);
void lig_report_add_verdicts (JsonBuilder *to, GPtrArray *verdicts);
void lig_report_add_spreads (JsonBuilder *to, GPtrArray *spreads);
void lig_report_add_errors (JsonBuilder *to, GPtrArray *errors);
void lig_report_add_samples (JsonBuilder *to, GPtrArray *samples);
void lig_report_add_histograms (JsonBuilder *to, GPtrArray *histograms);
void lig_report_add_loads (JsonBuilder *to, GPtrArray *loads);
void lig_report_add_artifacts (JsonBuilder *to, GPtrArray *artifacts);
