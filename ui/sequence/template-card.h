/* SPDX-License-Identifier: MIT */
/* A template: its name, a sentence, and a picture of its score once compiled. */
#pragma once

#include <gtk/gtk.h>

typedef struct _LigPlan LigPlan;
typedef struct _LigSequence LigSequence;

G_BEGIN_DECLS

#define LIG_TYPE_TEMPLATE_CARD (lig_template_card_get_type ())
G_DECLARE_FINAL_TYPE (LigTemplateCard, lig_template_card, LIG, TEMPLATE_CARD, GtkFlowBoxChild)

/**
 * lig_template_card_new:
 * @file: of the examples, `xor.lig`
 * @title, @description: translated
 * @device: the device that the score is compiled for, on a thread
 */
GtkWidget *lig_template_card_new (const char *file,
                                  const char *title,
                                  const char *description,
                                  const char *device);

const char *lig_template_card_get_title (LigTemplateCard *self);

/* Returns: (transfer none) (nullable): the sequence, null until it is loaded, or if it could not
 *   be. */
LigSequence *lig_template_card_get_sequence (LigTemplateCard *self);
LigPlan *lig_template_card_get_plan (LigTemplateCard *self);

G_END_DECLS
