/* SPDX-License-Identifier: MIT */
/* The internals of a recording, for the files that read, repeat and compare it. */
#pragma once

#include <ligature/repeat.h>
#include <ligature/store-rows.h>

#include <json-glib/json-glib.h>

/* All documents are objects; `inputs` and `versions` may be empty. */
struct _LigRecording {
  char *run, *name, *kind, *status, *message, *device, *dtype, *policy, *choices;
  JsonNode *settings, *versions, *inputs, *sequence;
  GPtrArray *metrics; /* LigMetricRow */
  LigSpread step;     /* of a profile, in seconds */
  gboolean update;    /* whether the profile measured the update */
};

/* Returns the recorded values of a metric, or NULL. */
const LigMetricRow *lig_recording_find_metric (const LigRecording *self, const char *name);

/* Returns a document as text; (transfer full). */
char *lig_recording_to_text (JsonNode *document);
