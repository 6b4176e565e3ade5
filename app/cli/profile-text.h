/* SPDX-License-Identifier: MIT */
/* Profiles as text. */
#pragma once

#include <ligature/profile.h>

G_BEGIN_DECLS

/* Prints the medians and the quartiles of each plan, and the difference to the first one. Plans are
 * named by their recipes, or by their policies. */
void lig_cli_print_profiles (GPtrArray *profiles, gboolean by_recipe, int width);

/* Prints the groups of a plan by path; equal groups of a block's repetitions share a row with the
 * sum of their times. `alone` is the profile of the unfused plan; if it is null, savings are
 * predicted. */
void lig_cli_print_groups (const LigProfile *profile, const LigProfile *alone, int width);

/* Prints the hotspots of a step, in the same words as the window. */
void lig_cli_print_hotspots (const LigProfile *profile, int width);

/* Explains a roofline share above 100 %, if there is one. */
void lig_cli_explain_roofline (GPtrArray *profiles, int width);

/* Prints which kernel was chosen for each attention shape that ran on a GPU, and both times;
 * nothing if there is none. */
void lig_cli_print_attention (int width);

G_END_DECLS
