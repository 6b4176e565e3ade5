/* SPDX-License-Identifier: MIT */
/* A format of reports: one file of this folder, one word in its meson.build. */
#pragma once

#include <ligature/report.h>

#include <glib/gi18n-lib.h>

/* All that the store has of a run. */
typedef struct {
  LigRunRow *row;
  char *store; /* the file, for commands; null where it is the default one */
  GPtrArray *metrics, *timings, *fusions, *verdicts, *artifacts;
} LigReportRun;

/* Reads a run that lig_store_find_run() finds. Returns FALSE with an error set; the caller clears
 * the struct in any case. */
gboolean
lig_report_read_run (LigReportRun *run, LigStore *store, const char *selector, GError **error);
void lig_report_clear_run (LigReportRun *run);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (LigReportRun, lig_report_clear_run)

typedef struct {
  const char *name;         /* the ending of its files */
  const char *title, *help; /* for people, translatable; the help is a sentence, no full stop */
  /* They append the report, text or bytes; null where the format has none of that kind. */
  gboolean (*plan) (GString *to, LigPlan *plan, const char *command, GError **error);
  gboolean (*run) (GString *to, const LigReportRun *run, GError **error);
} LigReportFormat;

/* Each format's file defines `const LigReportFormat lig_report_format_NAME`. */
#define LIG_REPORT_FORMAT(name) const LigReportFormat lig_report_format_##name

/* Null where the run has no metric of that name. */
const LigMetricRow *lig_report_find_metric (const LigReportRun *run, const char *name);

/* An opaque op's callback is called `opaque`. */
const char *lig_report_kernel_name (const LigPlanStep *step);

/* The fusion that the step belongs to, null where its op is alone. */
const char *lig_report_fusion_name (LigPlan *plan, const LigPlanStep *step);

/* Members of the run's JSON object: what a list of runs shows; what made the run; its verdicts; its
 * files. */
void lig_report_add_row (JsonBuilder *to, const LigRunRow *row);
void lig_report_add_origin (JsonBuilder *to, const LigRunRow *row);
void lig_report_add_verdicts (JsonBuilder *to, GPtrArray *verdicts);
void lig_report_add_artifacts (JsonBuilder *to, GPtrArray *artifacts);
