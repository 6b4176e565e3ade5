/* SPDX-License-Identifier: MIT */
/* The lines of `lig train --control` and `lig runs repeat --control`. */
#pragma once

#include <json-glib/json-glib.h>
#include <ligature/run.h>

G_BEGIN_DECLS

typedef enum {
  LIG_CHILD_LINE_UNKNOWN,
  LIG_CHILD_LINE_MEASURING, /* {"measuring": …}: a measurement while the run is prepared */
  LIG_CHILD_LINE_TRAINING,  /* {"training": …}: a description of the run */
  LIG_CHILD_LINE_METRICS,
  LIG_CHILD_LINE_PROGRESS,
  LIG_CHILD_LINE_RESULT,
  LIG_CHILD_LINE_ERROR,
} LigChildLine;

/* The maximum number of metrics of one line. */
#define LIG_CHILD_METRICS 3

/* Returns the kind of a line and sets its object. */
LigChildLine lig_child_line_read (JsonNode *root, JsonObject **object);

/* Reads the metrics of a line of that kind; returns their number. */
guint lig_child_line_get_metrics (JsonObject *object, LigRunMetric *to);

/* Reads the progress; sets the problem (transfer full) (nullable). */
void lig_child_line_get_progress (JsonObject *object, LigRunProgress *to, char **problem);

/* Returns: (transfer full): the text of a measurement, with its share if that is known. */
char *lig_child_line_get_measuring (JsonObject *object);

/* Returns: (transfer full): the error of the line. */
GError *lig_child_line_get_error (JsonObject *object);

G_END_DECLS
