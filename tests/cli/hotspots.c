/* SPDX-License-Identifier: MIT */
/* Profiles and reports name the hotspots in the same words as the window. */
#include "tests/cli/case.h"

#define LAYERS "'block(3) { transformer-layer(heads=2) } ! linear(8)'"
#define ATTENTION "Attention in 3\u00a0× Transformer layer at 0"

static void
test_profile (void)
{
  g_auto (Outcome) outcome =
    shell ("COLUMNS=160 lig profile " LAYERS " --input 2x8x16 --device cpu --steps 3");
  g_assert_cmpint (outcome.code, ==, 0);
  const char *list = strstr (outcome.out, "hotspots");
  g_assert_nonnull (list);
  g_assert_nonnull (strstr (list, "in 3\u00a0× Transformer layer at 0"));
  g_assert_nonnull (strstr (list, "forward × 3 "));
  g_assert_nonnull (strstr (list, "The rest"));
  /* Groups that are timed one by one take longer than a whole pass. */
  double shares = 0;
  g_autoptr (GRegex) share =
    g_regex_new ("^[^\\n]*? [0-9]\\S* [nµm]?s · ([0-9]+)", G_REGEX_MULTILINE, 0, NULL);
  g_autoptr (GMatchInfo) match = NULL;
  for (g_regex_match (share, list, 0, &match); g_match_info_matches (match);
       g_match_info_next (match, NULL)) {
    g_autofree char *number = g_match_info_fetch (match, 1);
    shares += g_ascii_strtod (number, NULL);
  }
  g_assert_cmpfloat_with_epsilon (shares, 100, 4);
  /* The parts of a macro have their own rows. */
  g_assert_nonnull (strstr (outcome.out, "0.*.0.qkv "));
  g_assert_nonnull (strstr (outcome.out, "0.*.0.fc2 "));
}

static void
test_report (void)
{
  g_auto (Outcome) outcome =
    shell ("lig report " LAYERS " --input 2x512x16 --device null:h200 --format md -o -");
  g_assert_cmpint (outcome.code, ==, 0);
  const char *list = strstr (outcome.out, "## Hotspots");
  g_assert_nonnull (list);
  const char *end = strstr (list, "\n## ");
  g_assert_nonnull (end);
  const char *attention = strstr (list, "| " ATTENTION " | ≈ ");
  g_assert_true (attention && attention < end);
  /* Without peak rates there is no time. */
  g_auto (Outcome) unpriced =
    shell ("lig report " LAYERS " --input 2x512x16 --device null --format md -o -");
  g_assert_null (strstr (unpriced.out, "Hotspots"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/cli/hotspots/profile", test_profile);
  g_test_add_func ("/cli/hotspots/report", test_report);
  return run_cli_tests ();
}
