/* SPDX-License-Identifier: MIT */
/* Arbitrary bytes as a .lig file: they are read or refused, and what is read is written as a text
 * that reads as itself. */
#include "engine/sequence.h"

#include <string.h>

int LLVMFuzzerTestOneInput (const guint8 *data, size_t size);

int
LLVMFuzzerTestOneInput (const guint8 *data, size_t size)
{
  g_autoptr (GError) error = NULL;
  g_auto (GStrv) warnings = NULL;
  g_autoptr (LigSequence) first =
    lig_sequence_from_json ((const char *) data, (gssize) size, &warnings, &error);
  if (!first) {
    g_assert_nonnull (error);
    g_assert_true (g_utf8_validate (error->message, -1, NULL));
    return 0;
  }
  g_autofree char *text = lig_sequence_to_json (first);
  g_autoptr (LigSequence) second = lig_sequence_from_json (text, -1, NULL, &error);
  g_assert_no_error (error);
  g_autofree char *again = lig_sequence_to_json (second);
  g_assert_cmpstr (text, ==, again);
  g_autofree char *expression = lig_sequence_to_expression (first);
  g_assert_true (g_utf8_validate (expression, -1, NULL));
  return 0;
}
