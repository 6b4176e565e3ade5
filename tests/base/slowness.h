/* SPDX-License-Identifier: MIT */
/* Time limits in tests. They hold on an undisturbed machine; neighbours that share its caches and
 * memory may slow a program down by half, also in CPU time. So a yardstick is timed next to the
 * program, and limits grow with it. */
#pragma once

#include <glib.h>
#include <time.h>

/* The factor of sanitizers and of builds without optimization. */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__ || !defined __OPTIMIZE__
#define SLOWNESS 20
#else
#define SLOWNESS 1
#endif

/* Returns the CPU seconds of a fixed amount of formatting, allocating and hashing. */
static inline double
lig_test_yardstick (void)
{
  clock_t start = clock ();
  GHashTable *table = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  for (int i = 0; i < 60000; i++)
    g_hash_table_add (table, g_strdup_printf ("%d of %s", i * 7919 % 60000, "the yardstick"));
  g_hash_table_unref (table);
  return (double) (clock () - start) / CLOCKS_PER_SEC;
}

/* Returns the current slowdown of this machine relative to an undisturbed one, at least 1. */
static inline double
lig_test_disturbance (void)
{
  const double undisturbed = 0.018; /* seconds, on an x86-64 CPU of 2023 */
  return MAX (lig_test_yardstick () / undisturbed, 1);
}

/* Returns the factor for a limit: at least 1; LIGATURE_TEST_SLOWNESS sets a larger one. */
static inline double
lig_test_slowness (void)
{
  const char *text = g_getenv ("LIGATURE_TEST_SLOWNESS");
  double given = text ? g_ascii_strtod (text, NULL) : 1;
  double measured = SLOWNESS > 1 ? SLOWNESS : lig_test_disturbance ();
  return MAX (given, measured);
}
