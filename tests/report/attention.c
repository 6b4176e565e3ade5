/* SPDX-License-Identifier: MIT */
/* The attention kernel choices in the form that kernels store, read for reports. */
#include "engine/measure/choices.h"
#include "engine/train/profile-json.h"
#include <ligature/profile.h>

#include <json-glib/json-glib.h>
#include <math.h>

static const char lines[] =
  "matmul | cuBLASLt 130100 | NVIDIA H200 | 1 x 2 x 3\t00ff 1200\n"
  "attention forward bf16 | rows 64 x 1024 to 1024 | heads 12/12 x 64 | causal window 0 | "
  "ligature 1, cuDNN 91900 | NVIDIA H200\tcuDNN: cuDNN 400000 ns, own 512500 ns\n"
  "attention backward deterministic bf16 | rows 64 x 1024 to 1024 | heads 12/12 x 64 | causal "
  "window 0 | ligature 1, cuDNN 91900 | NVIDIA H200\town: cuDNN 900000 ns, own 800000 ns\n"
  "attention forward fp16 | rows 2 x 8 to 8 | heads 4/2 x 64 | none window 0 | a softcap is not "
  "part of its pattern | NVIDIA H200\town: a softcap is not part of its pattern\n"
  "attention broken\tneither\n";

static void
test_list (void)
{
  lig_algorithms_preset (lines);
  g_autoptr (GPtrArray) list = lig_profile_list_attention ();
  g_assert_cmpuint (list->len, ==, 3);
  const LigAttentionTimes *backward = list->pdata[0], *forward = list->pdata[1];
  const LigAttentionTimes *rejected = list->pdata[2];
  g_assert_cmpstr (forward->words, ==,
                   "forward bf16, rows 64 x 1024 to 1024, heads 12/12 x 64, causal window 0");
  g_autofree char *name = lig_attention_times_name (forward);
  g_assert_cmpstr (name, ==,
                   "attention, forward: bf16, batch 64, length 1024, heads 12 x 64, causal mask");
  g_assert_true (forward->cudnn);
  g_assert_cmpfloat_with_epsilon (forward->cudnn_seconds, 400e-6, 1e-12);
  g_assert_cmpfloat_with_epsilon (forward->built_in_seconds, 512.5e-6, 1e-12);
  g_assert_null (forward->reason);
  g_assert_false (backward->cudnn);
  g_assert_cmpfloat_with_epsilon (backward->built_in_seconds, 800e-6, 1e-12);
  g_assert_false (rejected->cudnn);
  g_assert_cmpstr (rejected->words, ==,
                   "forward fp16, rows 2 x 8 to 8, heads 4/2 x 64, none window 0");
  g_assert_cmpstr (rejected->reason, ==, "a softcap is not part of its pattern");
  g_assert_true (isnan (rejected->built_in_seconds));
}

static void
test_json (void)
{
  g_autoptr (JsonNode) root = lig_profile_attention_to_json ();
  JsonArray *array = json_node_get_array (root);
  g_assert_cmpuint (json_array_get_length (array), ==, 3);
  JsonObject *forward = json_array_get_object_element (array, 1);
  g_assert_cmpstr (json_object_get_string_member (forward, "ran"), ==, "cuDNN");
  g_assert_cmpfloat_with_epsilon (json_object_get_double_member (forward, "built_in_us"), 512.5,
                                  1e-6);
  g_assert_true (json_object_get_null_member (forward, "reason"));
  JsonObject *rejected = json_array_get_object_element (array, 2);
  g_assert_true (json_object_get_null_member (rejected, "cudnn_us"));
  g_assert_cmpstr (json_object_get_string_member (rejected, "reason"), ==,
                   "a softcap is not part of its pattern");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/attention/list", test_list);
  g_test_add_func ("/attention/json", test_json);
  return g_test_run ();
}
