/* SPDX-License-Identifier: MIT */
/* Shared by the tests of macros that are taken apart: whether they compute the same. */
#pragma once

#include "tests/plan/case.h"
#include <ligature/take-apart.h>

static inline void
take_apart (LigSequence *sequence, int index, gint64 features)
{
  g_autoptr (GError) error = NULL;
  gboolean fine = lig_sequence_take_apart (sequence, index, features, &error);
  g_assert_no_error (error);
  g_assert_true (fine);
}

/* Checks that both have the same bits, if the second has the parameters of the first. */
static inline void
compare_apart (LigSequence *whole, LigSequence *apart)
{
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  g_autoptr (LigState) state = new_state (whole, &options);
  g_autoptr (Results) want = compute_like (whole, state, &options);
  g_autoptr (Results) got = compute_like (apart, state, &options);
  compare_in_order (got, want, 0, "taken apart");
}
