/* SPDX-License-Identifier: MIT */
/* A trained model for commands that use it: a run, a checkpoint, or a sequence with weights. */
#pragma once

#include "app/cli/sequence-options.h"

#include <ligature/state.h>

G_BEGIN_DECLS

typedef struct {
  LigSequence *sequence;
  char *weights;           /* the file or folder; null: initialized from the seed */
  char *table;             /* (nullable): JSON for lig_transform_parse() */
  char *run;               /* (nullable): the uuid of the run that trained it */
  char *vocabulary;        /* (nullable): the tokenizer that it was trained with */
  LigRunSettings settings; /* of the run, or the defaults */
} LigCliModel;

void lig_cli_model_clear (LigCliModel *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (LigCliModel, lig_cli_model_clear)

/* Opens a run of the store, a checkpoint, or a sequence P with the weights of --weights (nullable).
 * A run brings its types, unless options set others. */
gboolean lig_cli_open_model (const char *text,
                             const char *weights,
                             const LigSequenceOptions *options,
                             LigCliModel *model,
                             GError **error);

/* Returns the path of the tokenizer that a run was trained with: that of the setting `vocabulary`,
 * or of the data (transfer full) (nullable). */
char *lig_cli_find_vocabulary (const LigRunSettings *settings);

/* Returns plan options with their defaults (transfer full). */
LigPlanOptions *lig_cli_new_plan_options (void);
void lig_cli_free_plan_options (LigPlanOptions *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LigPlanOptions, lig_cli_free_plan_options)

/* Sets plan options for a model that is only used: forward passes, no measuring unless the user
 * chose a policy. */
gboolean lig_cli_model_options (const LigCliModel *self,
                                const LigSequenceOptions *options,
                                LigPlanOptions *plan,
                                GError **error);

/* Makes a state of the sequence, whose input must be set, and loads the weights. */
LigState *lig_cli_load_model (const LigCliModel *self,
                              LigDevice *device,
                              const LigPlanOptions *options,
                              guint64 seed,
                              GError **error);

G_END_DECLS
