/* SPDX-License-Identifier: MIT */
/* Reads arbitrary bytes as a .lig file. A sequence that was read is written as a text that reads as
 * the same sequence. */
#include "tests/fuzz/fuzz-names.h"
#include <ligature/sequence.h>

static const char seed[] =
  "{\"ligature\":1,\"name\":\"s\",\"input\":{\"shape\":[4,6],\"dtype\":\"fp32\"},"
  "\"types\":{\"compute\":\"bf16\",\"parameters\":\"fp32\"},\"ops\":["
  "{\"op\":\"make-extra-output\",\"to\":\"r\",\"caller\":true},{\"op\":\"linear\","
  "\"out-features\":6,\"bias\":false},{\"op\":\"block\",\"repeat\":2,\"ops\":["
  "{\"op\":\"layer-norm\",\"normalized-shape\":[6]},{\"op\":\"dropout\",\"p\":0.5}]},{\"op\":\"add-"
  "extra-input\","
  "\"from\":\"r\"},{\"op\":\"reshape\",\"shape\":[2,-1]}],\"fences\":[\"1\",\"2.0.1\"],"
  "\"forbid\":[{\"fusion\":\"forward-add-norm\",\"at\":\"3\"},"
  "{\"fusion\":\"backward-linear-add\"}],"
  "\"force\":[{\"fusion\":\"forward-linear-bias-add\",\"at\":\"1\"}],"
  "\"train\":{\"steps\":9,\"lr\":1e-3},\"x-note\":[null,{}]}";
static const char *const words[] = {
  "{}",      "[]",          "null",     "true",        "false",         "-1",        "0",
  "1e308",   "1e-320",      "1.5",      "16",          "1000000000",    "\"\"",      "\"2.0.1\"",
  "\"9.9\"", "\"\\u0000\"", "\"bf16\"", "\"fp8e4m3\"", "\"../r\"",      "\"r\"",     "{\"op\":",
  "\"at\":", "\"ops\":",    "[1,-1]",   "\"block\"",   "\"recompute\"", "\"fence\"", ",",
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
