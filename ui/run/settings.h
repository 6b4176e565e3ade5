/* SPDX-License-Identifier: MIT */
/* How a document is trained: its `train` object, read and edited, what stands in the way, and the
 * training that a window began with it. */
#pragma once

#include "ui/document/document.h"
#include "ui/session/training.h"

G_BEGIN_DECLS

/* The file's settings, those of the window, and synthetic data where none are named. What cannot be
 * read is left out, with the engine's sentence in @error (nullable). */
gboolean lig_train_read (LigDocument *doc, LigRunSettings *settings, GError **error);

/* One undoable edit; a null @text takes the setting out of the file. */
gboolean lig_train_set (LigDocument *doc, const char *name, const char *text, GError **error);

/* The samples of a step: the setting's, else the input's first axis. Edits clear the setting. */
gint64 lig_train_get_batch (LigDocument *doc);
void lig_train_set_batch (LigDocument *doc, gint64 batch);
gint64 lig_train_halve_batch (LigDocument *doc);

/* Whether the file names data; random ones are taken where it does not. */
gboolean lig_train_has_data (LigDocument *doc);

typedef enum {
  LIG_TRAIN_POSSIBLE,
  LIG_TRAIN_EMPTY,
  LIG_TRAIN_NO_LOSS,
  LIG_TRAIN_NO_DEVICE, /* it is only planned for */
  LIG_TRAIN_SETTINGS,  /* the file's cannot be read */
  LIG_TRAIN_PROBLEM,   /* of the sequence */
} LigTrainObstacle;

/* @sentence: (out) (transfer full) (nullable): why training is impossible. */
LigTrainObstacle lig_train_find_obstacle (LigDocument *doc, char **sentence);

/* (transfer full): `lig train …` for what the window would start. */
char *lig_train_to_command (LigDocument *doc);

/* Trains the document, or goes on with a checkpoint; it becomes the document's training. */
LigTraining *lig_train_start (LigDocument *doc);
LigTraining *lig_train_resume (LigDocument *doc, const char *checkpoint);

/* (transfer none) (nullable): the last one that was started from the document's window. */
LigTraining *lig_train_get_current (LigDocument *doc);

/* For lines and labels; (transfer full). */
char *lig_train_say_status (LigTraining *training); /* `8,400 of 10,000 · 39 s left` */
char *lig_train_say_number (double value);          /* `0.0413`; `–` for NaN */
char *lig_train_say_rate (double per_second);       /* `665 k samples/s` */
char *lig_train_say_seconds (double seconds);       /* `24.6 ms`, `2 min 5 s` */
char *lig_train_say_count (gint64 count);           /* `12,345` */

G_END_DECLS
