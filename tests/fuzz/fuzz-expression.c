/* SPDX-License-Identifier: MIT */
/* Parses arbitrary bytes as an expression. A parsed sequence is the same after being written as the
 * shortest expression or as a file and read again. */
#include "tests/fuzz/fuzz-names.h"
#include <ligature/sequence.h>

static const char seed[] =
  "make-extra-output(to=r, caller=true) ! linear(6, bias=false) ! | ! block(2) { layer-norm([6]) ! "
  "dropout(p=0.5) ! add-extra-input(from=\"../r\") } ! reshape([2, -1])";
static const char *const words[] = {
  " ! ",
  "(",
  ")",
  "{",
  "}",
  "[",
  "]",
  ",",
  "=",
  " | ",
  "block(3) { ",
  "-1",
  "1e308",
  "0x1",
  "07",
  "0.5",
  "99999999999999999999",
  "true",
  "false",
  "\"r\"",
  "\"",
  "'",
  "\\",
  "to=",
  "from=",
  "@",
};

size_t
LLVMFuzzerCustomMutator (uint8_t *data, size_t size, size_t limit, unsigned int random)
{
  if (random % 8 > 1 && size > 3)
    return fuzz_put_word (data, size, limit, random / 64,
                          random % 8 > 4 ? words[random / 8 % G_N_ELEMENTS (words)]
                                         : fuzz_pick_name (random / 8));
  return fuzz_mutate (data, size, limit, random, seed, sizeof seed - 1);
}

int
LLVMFuzzerTestOneInput (const guint8 *data, size_t size)
{
  g_autofree char *text = g_strndup ((const char *) data, size);
  g_autoptr (GError) error = NULL;
  g_autoptr (LigSequence) first = lig_sequence_from_expression (text, &error);
  if (!first) {
    g_assert_nonnull (error);
    g_assert_true (g_utf8_validate (error->message, -1, NULL));
    return 0;
  }
  g_autofree char *expression = lig_sequence_to_expression (first);
  g_autofree char *json = lig_sequence_to_json (first);
  g_autoptr (LigSequence) second = lig_sequence_from_expression (expression, &error);
  g_assert_no_error (error);
  g_autofree char *expression_again = lig_sequence_to_expression (second);
  g_assert_cmpstr (expression_again, ==, expression);
  g_autoptr (LigSequence) third = lig_sequence_from_json (json, -1, NULL, &error);
  g_assert_no_error (error);
  g_autofree char *json_again = lig_sequence_to_json (third);
  g_assert_cmpstr (json_again, ==, json);
  return 0;
}
