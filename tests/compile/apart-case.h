/* SPDX-License-Identifier: MIT */
/* Shared by the tests of macros that are expanded: whether they compute the same. */
#pragma once

#include "tests/plan/case.h"
#include <ligature/expand-macro.h>

static inline void
expand_macro (LigSequence *sequence, int index, gint64 features)
{
  g_autoptr (GError) error = NULL;
  gboolean fine = lig_sequence_expand_macro (sequence, index, features, &error);
  g_assert_no_error (error);
  g_assert_true (fine);
}

/* Checks that both give the same bits if the second gets the parameters of the first. */
static inline void
compare_apart (LigSequence *whole, LigSequence *apart)
{
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  g_autoptr (LigState) state = new_state (whole, &options);
  g_autoptr (Results) want = compute_like (whole, state, &options);
  g_autoptr (Results) got = compute_like (apart, state, &options);
  compare_in_order (got, want, 0, "expanded");
}
