/* SPDX-License-Identifier: MIT */
/* Profiles as text. */
#pragma once

#include <ligature/profile.h>

G_BEGIN_DECLS

/* Prints the medians and the quartiles of each plan, and how it differs from the first one. Plans
 * are called by their recipes, or by their policies. */
void lig_cli_print_profiles (GPtrArray *profiles, gboolean by_recipe, int width);

/* Prints the groups of a plan by path, equal ones of a block's repetitions as one row, with the sum
 * of their times. `alone` is the profile of the same ops without fusions; if it is null, savings
 * are predicted. */
void lig_cli_print_groups (const LigProfile *profile, const LigProfile *alone, int width);

/* Prints which groups take most of a step, in the words of the window. */
void lig_cli_print_hotspots (const LigProfile *profile, int width);

/* Explains a roofline above 100 %, if there is one. */
void lig_cli_explain_roofline (GPtrArray *profiles, int width);

/* Prints which kernel was chosen for each case of attention that ran on a GPU, and both times;
 * prints nothing if there is none. */
void lig_cli_print_attention (int width);

G_END_DECLS
