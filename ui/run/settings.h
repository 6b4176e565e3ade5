/* SPDX-License-Identifier: MIT */
/* Training a document: reading and editing its `train` object, obstacles, and the run that a window
 * started with it. */
#pragma once

#include "ui/document/document.h"
#include "ui/session/training.h"

G_BEGIN_DECLS

/* Reads the file's settings and those of the window, with synthetic data if none are named. Omits
 * invalid settings and sets @error (nullable) to the engine's error. */
gboolean lig_train_read (LigDocument *doc, LigRunSettings *settings, GError **error);

/* Sets a setting as one undoable edit; a null @text removes it from the file. */
gboolean lig_train_set (LigDocument *doc, const char *name, const char *text, GError **error);

/* Sets the window's policy, which has precedence over that of the file, by its name. */
void lig_train_set_policy (LigDocument *doc, const char *name);

/* Get or set the batch size: the setting's, else the input's first axis. Setting it clears the
 * setting. */
gint64 lig_train_get_batch (LigDocument *doc);
void lig_train_set_batch (LigDocument *doc, gint64 batch);
gint64 lig_train_halve_batch (LigDocument *doc);

/* Returns whether the file names data; if not, random data are used. */
gboolean lig_train_has_data (LigDocument *doc);

typedef enum {
  LIG_TRAIN_POSSIBLE,
  LIG_TRAIN_EMPTY,
  LIG_TRAIN_NO_LOSS,
  LIG_TRAIN_NO_DEVICE, /* the device is plan-only */
  LIG_TRAIN_SETTINGS,  /* the file's settings cannot be read */
  LIG_TRAIN_PROBLEM,   /* of the sequence */
  LIG_TRAIN_BRANCH,    /* an op waits for a branch that data do not have */
} LigTrainObstacle;

/* Returns the obstacle to training. @sentence: (out) (transfer full) (nullable): its description */
LigTrainObstacle lig_train_find_obstacle (LigDocument *doc, char **sentence);

/* Returns: (transfer full): the command `lig train …` for a new run. */
char *lig_train_to_command (LigDocument *doc);

/* Train the document, or resume from a checkpoint; the result becomes the document's run. */
LigTraining *lig_train_start (LigDocument *doc);
/* Returns: (transfer none) (nullable): null if the file of the checkpoint is missing */
LigTraining *
lig_train_resume (LigDocument *doc, const char *checkpoint, LigLayout layout, GError **error);

/* Returns: (transfer none) (nullable): the last run started from the document's window. */
LigTraining *lig_train_get_current (LigDocument *doc);

/* Returns whether the document is unchanged since the run started; otherwise, an error of the run
 * may already be fixed. */
gboolean lig_train_is_current (LigDocument *doc, LigTraining *training);

/* Texts for lines and labels; (transfer full). */
char *lig_train_format_status (LigTraining *training); /* `8,400 of 10,000 · 39 s left` */
char *lig_train_format_number (double value);          /* `0.0413`; `–` for NaN */
char *lig_train_format_seconds (double seconds);       /* `24.6 ms`, `2 min 5 s` */

G_END_DECLS
