/* SPDX-License-Identifier: MIT */
/* The switch that freezes an op's parameters. */
#pragma once

#include "ui/document/document.h"

#include <adwaita.h>

G_BEGIN_DECLS

#define LIG_TYPE_TRAINED_SWITCH (lig_trained_switch_get_type ())
G_DECLARE_FINAL_TYPE (LigTrainedSwitch, lig_trained_switch, LIG, TRAINED_SWITCH, AdwBin)

GtkWidget *lig_trained_switch_new (LigDocument *doc);

/* Shows whether an op is trained; hidden if the op cannot have parameters. */
void lig_trained_switch_show (LigTrainedSwitch *self, LigOp *op);

/* Returns the switch itself. */
GtkSwitch *lig_trained_switch_get_switch (LigTrainedSwitch *self);

G_END_DECLS
