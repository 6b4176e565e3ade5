/* SPDX-License-Identifier: MIT */
/* What is wrong with the sequence, in one place that leads to the ops. Hidden where nothing is. */
#pragma once

#include "ui/document/document.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define LIG_TYPE_PROBLEMS (lig_problems_get_type ())
G_DECLARE_FINAL_TYPE (LigProblems, lig_problems, LIG, PROBLEMS, GtkWidget)

GtkWidget *lig_problems_new (LigDocument *doc);

/* For win.next-problem: selects the op of the next one, the first after the last. */
void lig_problems_next (LigProblems *self);

G_END_DECLS
