/* SPDX-License-Identifier: MIT */
/* Words and numbers of the score, and text that is laid out once and drawn often. */
#pragma once

#include <ligature/plan.h>

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* All (transfer full). */

/* The parameters of an op in one line: what differs from the defaults, else what the op does.
 * @parts: (nullable): what the plan has of it. */
char *lig_score_params (LigOp *op, const LigPlanOp *parts);

/* `linear + bias + GELU`: the ops of a group, each by its short name. */
char *lig_score_group_name (LigPlan *plan, const LigPlanGroup *group);

/* `linear + bias + activation`: a fusion without its pass. */
char *lig_score_fusion_name (const LigFusion *fusion);

/* `2 × matmul · bias_gelu`. */
char *lig_score_kernels (LigPlan *plan, const LigPlanGroup *group);

/* --- Drawn text ---------------------------------------------------------------------------- */

typedef enum {
  LIG_SCORE_TEXT_PLAIN = 0,
  LIG_SCORE_TEXT_BOLD = 1 << 0,
  LIG_SCORE_TEXT_SMALL = 1 << 1,
  LIG_SCORE_TEXT_END = 1 << 2, /* aligned to the right */
} LigScoreTextFlags;

typedef struct {
  char *text;
  PangoLayout *layout;
} LigScoreText;

/* Returns whether it is another text. */
gboolean lig_score_text_set (LigScoreText *self, const char *text);
void lig_score_text_clear (LigScoreText *self);

int lig_score_text_measure (LigScoreText *self, GtkWidget *widget, LigScoreTextFlags flags);

/* Draws within @width, with an ellipsis where it is too narrow; @middle: the line's vertical
 * centre. Returns the width that was used. */
int lig_score_text_draw (LigScoreText *self,
                         GtkWidget *widget,
                         GtkSnapshot *snapshot,
                         int x,
                         int middle,
                         int width,
                         LigScoreTextFlags flags,
                         const GdkRGBA *colour);

G_END_DECLS
