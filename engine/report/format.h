/* SPDX-License-Identifier: MIT */
/* A format of reports: one file of this folder, one word in its meson.build. */
#pragma once

#include <ligature/report.h>

#include <glib/gi18n-lib.h>

/* One metric of a run: as many steps as values, ascending. */
typedef struct {
  char *name;
  GArray *steps, *values; /* gint64, double */
} LigReportMetric;

/* All that the store has of a run. */
typedef struct {
  LigRunRow *row;
  char *store; /* the file, for commands; null where it is the default one */
  GPtrArray *metrics, *timings, *fusions, *verdicts, *artifacts;
} LigReportRun;

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
const LigReportMetric *lig_report_find_metric (const LigReportRun *run, const char *name);

/* An opaque op's callback is called `opaque`. */
const char *lig_report_kernel_name (const LigPlanStep *step);

/* The fusion that the step belongs to, null where its op is alone. */
const char *lig_report_fusion_name (LigPlan *plan, const LigPlanStep *step);
