/* SPDX-License-Identifier: MIT */
/* A trained model that is tried: a `lig generate --lines` or `lig predict --lines` that this
 * program starts and sends requests to. The model is in a process of its own, because a device
 * belongs to one thread, and because a full GPU must not end the window. */
#pragma once

#include <gio/gio.h>
#include <json-glib/json-glib.h>

G_BEGIN_DECLS

#define LIG_TYPE_TRYING (lig_trying_get_type ())
G_DECLARE_FINAL_TYPE (LigTrying, lig_trying, LIG, TRYING, GObject)

/* A request for a model.
 *
 * @model: the uuid of a run, or a file that a run wrote
 * @rows: whether it reads rows of numbers, see lig_trying_reads_rows()
 * @store: (nullable): the path; null: the default one
 * @device: (nullable): null: the first GPU, else the CPU */
typedef struct {
  const char *model;
  gboolean rows;
  const char *store, *device;
} LigTryingOrder;

/**
 * lig_trying_new:
 *
 * Starts the process. Signals, from the main loop: `line` with a JsonObject for each line that it
 * writes, of which the first one describes the model; `ended` once, unless it was stopped, after
 * which lig_trying_get_error() has the reason.
 *
 * Returns: (transfer full) (nullable): null with an error set if it cannot start
 */
LigTrying *lig_trying_new (const LigTryingOrder *order, GError **error);

/* Sends a request. @request: (transfer none): within its outer object, which is ended here */
void lig_trying_send (LigTrying *self, JsonBuilder *request);

/* Ends the process at once, without further signals. Callers do this before they release it. */
void lig_trying_stop (LigTrying *self);

/* Returns: (nullable): the first line, once it was read. */
JsonObject *lig_trying_get_model (LigTrying *self);

/* Returns: (nullable): a sentence, once it has ended. */
const char *lig_trying_get_error (LigTrying *self);

/* Returns whether a file contains a model of rows, that is, a checkpoint that records the columns
 * of its training data. Reads the header of the file. */
gboolean lig_trying_reads_rows (const char *path);

/* Returns: (transfer full): the arguments of the process, for tests. */
GStrv lig_trying_make_words (const char *program, const LigTryingOrder *order);

G_END_DECLS
