/* SPDX-License-Identifier: MIT */
/* The options of commands that train: all training settings, the device, the initial weights. */
#pragma once

#include "app/cli/sequence-options.h"
#include <ligature/run.h>

typedef struct {
  LigSequenceOptions sequence; /* --input and the fusion constraints */
  char *device, *init, *resume, *store, *parallel;
  char **values; /* one for each setting, null if not given */
  char **helps;  /* the same */
  gboolean quiet;
  gboolean has_metrics; /* whether the command has --metrics */
  char *metrics;
  gboolean control;  /* another program controls the run */
  gboolean no_store; /* nothing is recorded */
  char **freeze;     /* each given pattern */
} LigTrainOptions;

void lig_cli_init_training (LigTrainOptions *options);
void lig_cli_clear_training (LigTrainOptions *options);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (LigTrainOptions, lig_cli_clear_training)

/* Returns `own` (null-terminated) followed by the entries of these options; (transfer container).
 */
GOptionEntry *lig_cli_train_entries (LigTrainOptions *options, const GOptionEntry *own);

/* Parses the command line as lig_cli_parse() does, with the entries of the last
 * lig_cli_train_entries(), and gives the switches to the settings. */
gboolean lig_cli_parse_training (const LigCommand *command,
                                 const GOptionEntry *entries,
                                 int *argc,
                                 char ***argv,
                                 int min,
                                 int max);

/* Appends the optimizers and the kinds of data to a help text. */
void lig_cli_train_notes (GString *to);

/* Checks that either a sequence or --resume is given; `what` is the value of --resume. Prints what
 * is wrong and returns FALSE. */
gboolean lig_cli_check_resume (const LigTrainOptions *options,
                               const LigCommand *command,
                               const char *text,
                               const char *what);

/* Reads the file's `train` object first, then the command line, which overrides it. */
gboolean lig_cli_train_settings (const char *text,
                                 LigSequence *sequence,
                                 const LigTrainOptions *options,
                                 LigRunSettings *settings,
                                 GError **error);

/* Checks that the optimizer and the schedule use the settings that are given as options. */
gboolean
lig_cli_check_uses (const LigTrainOptions *options, const LigRunSettings *settings, GError **error);

/* Opens a device that can train. Without a name it chooses one and prints its name. */
LigDevice *lig_cli_open_training_device (const char *name, GError **error);
