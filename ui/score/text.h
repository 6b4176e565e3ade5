/* SPDX-License-Identifier: MIT */
/* Texts of the score, and layouts that are created once and drawn often. */
#pragma once

#include <ligature/plan.h>

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* The size of secondary text: 10 pt for the platform's 11. */
#define LIG_SCORE_SMALL 0.91

/* All texts are (transfer full). */

/* Returns the parameters of an op on one line: those that differ from the defaults, else its shape,
 * its numbers, or the formula of an op without parameters; never prose. @parts: (nullable): the
 * op's parts in the plan */
char *lig_score_params (LigOp *op, const LigPlanOp *parts);

/* Returns the ops of a group by their short names: `linear + bias + GELU`. */
char *lig_score_group_name (LigPlan *plan, const LigPlanGroup *group);

/* Returns a fusion's name without its pass: `linear + bias + activation`. */
char *lig_score_fusion_name (const LigFusion *fusion);

/* Returns a group's kernels: `2 × matmul · bias_gelu`. */
char *lig_score_kernels (LigPlan *plan, const LigPlanGroup *group);

/* --- Drawn text ---------------------------------------------------------------------------- */

typedef enum {
  LIG_SCORE_TEXT_PLAIN = 0,
  LIG_SCORE_TEXT_BOLD = 1 << 0,
  LIG_SCORE_TEXT_SMALL = 1 << 1,
  LIG_SCORE_TEXT_END = 1 << 2,  /* aligned to the right */
  LIG_SCORE_TEXT_WRAP = 1 << 3, /* on two lines if one is too short */
} LigScoreTextFlags;

typedef struct {
  char *text;
  PangoLayout *layout;
} LigScoreText;

/* Sets the text and returns whether it changed. */
gboolean lig_score_text_set (LigScoreText *self, const char *text);
void lig_score_text_clear (LigScoreText *self);

int lig_score_text_measure (LigScoreText *self, GtkWidget *widget, LigScoreTextFlags flags);

/* Returns whether the text was truncated when last drawn. */
gboolean lig_score_text_is_cut (const LigScoreText *self);

/* Returns the colour of secondary text for text of this colour, stronger in high contrast. */
GdkRGBA lig_score_dim (const GdkRGBA *ink);

/* Draws within @width, with an ellipsis if that is too narrow; @middle: the line's vertical centre.
 * Returns the width of the text. */
int lig_score_text_draw (LigScoreText *self,
                         GtkWidget *widget,
                         GtkSnapshot *snapshot,
                         int x,
                         int middle,
                         int width,
                         LigScoreTextFlags flags,
                         const GdkRGBA *colour);

G_END_DECLS
