/* SPDX-License-Identifier: MIT */
/* A list of the sequence's problems that leads to the ops. Hidden if there are none. */
#pragma once

#include "ui/document/document.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define LIG_TYPE_PROBLEMS (lig_problems_get_type ())
G_DECLARE_FINAL_TYPE (LigProblems, lig_problems, LIG, PROBLEMS, GtkWidget)

GtkWidget *lig_problems_new (LigDocument *doc);

/* Selects the op of the next problem, wrapping around, for win.next-problem. */
void lig_problems_next (LigProblems *self);

G_END_DECLS
