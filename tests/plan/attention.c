/* SPDX-License-Identifier: MIT */
/* The attention kernel of a plan: the built-in one with the reason, cuDNN after a comparison, or
 * not yet known; in the plan, in its documents and next to verdicts. */
#include "engine/measure/choices.h"
#include "tests/plan/case.h"
#include <ligature/attention.h>
#include <ligature/compile.h>
#include <ligature/report.h>
#include <ligature/tuning.h>

#include <json-glib/json-glib.h>

static LigPlan *
compile_for (const char *expression, const char *input, const char *name, LigTuning *tuning)
{
  g_autoptr (GError) error = NULL;
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.input_gradient = TRUE;
  options.tuning = tuning;
  g_autoptr (LigDevice) device = lig_device_open (name, &error);
  g_assert_no_error (error);
  g_autoptr (LigSequence) sequence = new_sequence (expression, input);
  LigPlan *plan = lig_plan_compile (sequence, device, &options, &error);
  g_assert_no_error (error);
  return plan;
}

/* Returns the choice for the step of attention in a pass; other steps have none. */
static LigAttentionTimes *
find_times (LigPlan *plan, LigPass pass)
{
  guint count;
  LigAttentionTimes *found = NULL;
  const LigPlanStep *steps = lig_plan_get_steps (plan, &count);
  for (guint i = 0; i < count; i++) {
    LigAttentionTimes *times = lig_plan_get_attention (plan, i);
    gboolean attends = steps[i].kernel && g_str_has_prefix (steps[i].kernel->name, "attention");
    g_assert_true (attends == (times != NULL));
    if (steps[i].pass == pass && times && !found)
      found = times;
    else
      lig_attention_times_free (times);
  }
  g_assert_nonnull (found);
  return found;
}

/* Checks the sentences of both passes of attention(heads=4) with these parameters. */
static void
check (const char *expression, const char *input, const char *device, const char *sentence)
{
  g_autoptr (LigPlan) plan = compile_for (expression, input, device, NULL);
  for (LigPass pass = LIG_PASS_FORWARD; pass <= LIG_PASS_BACKWARD; pass++) {
    g_autoptr (LigAttentionTimes) times = find_times (plan, pass);
    g_autofree char *text = lig_attention_times_describe (times);
    g_assert_cmpstr (text, ==, sentence);
    g_assert_true (isnan (times->cudnn_seconds) && isnan (times->built_in_seconds));
    g_assert_false (times->cudnn);
    g_assert_true (times->known == (times->reason != NULL));
  }
}

static void
test_reasons (void)
{
#define OWN "the built-in kernel runs, without cuDNN: "
#define OPEN "cuDNN or the built-in kernel runs: the first launch on the GPU compares both"
  check ("attention(heads=4)", "2x16x192:bf16", "null:h200", OPEN);
  check ("attention(heads=4, window=8)", "2x16x192:fp16", "null:h200", OPEN);
  check ("attention(heads=4)", "2x16x192:fp32", "null:h200", OWN "it requires bf16 or fp16");
  check ("attention(heads=4, dropout=0.1)", "2x16x192:bf16", "null:h200",
         OWN "its dropout uses a different RNG stream");
  check ("attention(heads=4, documents=caller)", "2x16x192:bf16", "null:h200",
         OWN "its masks do not support documents");
  check ("attention(heads=4, alibi=true)", "2x16x192:bf16", "null:h200",
         OWN "ALiBi is left to the built-in kernel");
  check ("attention(heads=4, dropout=0.1)", "2x16x192:bf16", "cpu", OWN "it runs only on GPUs");
}

/* The stored choices of a comparison on an H200, for rows 3 x 24 with heads 6/2 x 8. */
#define CASE "rows 3 x 24 to 24 | heads 6/2 x 8 | causal window 0"
#define HERE " | ligature 1, cuDNN 91900 | NVIDIA H200"

static const char lines[] =
  "attention forward bf16 | " CASE HERE "\tcuDNN: cuDNN 305000 ns, own 536000 ns\n"
  "attention forward bf16 | " CASE
  " | ligature 1, cuDNN 91900 | NVIDIA B200\town: cuDNN 9000 ns, own 8000 ns\n"
  "attention backward deterministic bf16 | " CASE HERE "\town: cuDNN 2790000 ns, own 1790000 ns\n"
  "attention backward deterministic fp16 | " CASE HERE "\town: cuDNN computes another result\n";

static JsonObject *
find_step (JsonNode *root, const char *kernel)
{
  JsonArray *steps = json_object_get_array_member (json_node_get_object (root), "steps");
  for (guint i = 0; i < json_array_get_length (steps); i++) {
    JsonObject *step = json_array_get_object_element (steps, i);
    if (g_str_equal (json_object_get_string_member (step, "kernel"), kernel))
      return step;
    g_assert_false (
      json_object_has_member (step, "attention") &&
      !g_str_has_prefix (json_object_get_string_member (step, "kernel"), "attention"));
  }
  return NULL;
}

/* The plan's document has the choice of each step. */
static void
check_document (LigPlan *plan)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) report = lig_report_plan (plan, "lig plan", "json", &error);
  g_assert_no_error (error);
  g_autoptr (JsonParser) parser = json_parser_new ();
  json_parser_load_from_data (parser, g_bytes_get_data (report, NULL),
                              (gssize) g_bytes_get_size (report), &error);
  g_assert_no_error (error);
  JsonObject *step = find_step (json_parser_get_root (parser), "attention_backward");
  JsonObject *choice = json_object_get_object_member (step, "attention");
  g_assert_cmpstr (json_object_get_string_member (choice, "ran"), ==, "built-in");
  g_assert_cmpfloat_with_epsilon (json_object_get_double_member (choice, "built_in_us"), 1790,
                                  1e-6);
  g_assert_cmpfloat_with_epsilon (json_object_get_double_member (choice, "cudnn_us"), 2790, 1e-6);
}

/* Verdicts about the op start with the choice, those about a gap do not. */
static void
check_verdicts (LigPlan *plan)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *text = lig_plan_explain_place (plan, "0", &error);
  g_assert_no_error (error);
  const char *forward = strstr (text, "forward\n"), *backward = strstr (text, "backward\n");
  g_assert_true (
    g_str_has_prefix (forward, "forward\n"
                               "  attention, forward: bf16, batch 3, length 24, heads 6 x 8, "
                               "key heads 2, causal mask\n"
                               "    cuDNN runs: it takes 305 µs, the built-in kernel 536 µs\n"));
  g_assert_nonnull (
    strstr (backward, "    the built-in kernel runs: it takes 1.79 ms, cuDNN 2.79 ms\n"));
  g_autofree char *gap = lig_plan_explain_place (plan, "|1", &error);
  g_assert_no_error (error);
  g_assert_null (strstr (gap, "cuDNN"));
  g_autoptr (JsonNode) root = lig_plan_explain_place_to_json (plan, "0", &error);
  g_assert_no_error (error);
  JsonArray *list = json_object_get_array_member (json_node_get_object (root), "attention");
  g_assert_cmpuint (json_array_get_length (list), ==, 2);
  JsonObject *first = json_array_get_object_element (list, 0);
  g_assert_cmpstr (json_object_get_string_member (first, "ran"), ==, "cuDNN");
  g_assert_true (json_object_get_null_member (first, "reason"));
}

static void
test_times (void)
{
  lig_algorithms_preset (lines);
  g_autoptr (LigPlan) plan =
    compile_for ("attention(6, kv-heads=2) ! linear(8)", "3x24x80:bf16", "null:h200", NULL);
  g_autoptr (LigAttentionTimes) forward = find_times (plan, LIG_PASS_FORWARD);
  g_assert_true (forward->known && forward->cudnn);
  g_assert_cmpfloat_with_epsilon (forward->built_in_seconds, 536e-6, 1e-12);
  check_document (plan);
  check_verdicts (plan);
  /* Other rows were not compared, and a failed comparison has a reason. */
  g_autoptr (LigPlan) other =
    compile_for ("attention(6, kv-heads=2)", "4x24x80:bf16", "null:h200", NULL);
  g_autoptr (LigAttentionTimes) unknown = find_times (other, LIG_PASS_FORWARD);
  g_assert_false (unknown->known);
  g_autoptr (LigPlan) half =
    compile_for ("attention(6, kv-heads=2)", "3x24x80:fp16", "null:h200", NULL);
  g_autoptr (LigAttentionTimes) failed = find_times (half, LIG_PASS_BACKWARD);
  g_autofree char *text = lig_attention_times_describe (failed);
  g_assert_cmpstr (text, ==, OWN "cuDNN computes another result");
}

static gboolean
know (gpointer data, const char *key, double *microseconds, double *noise, char **choice)
{
  g_ptr_array_add (data, g_strdup (key));
  *microseconds = 8;
  *noise = 0;
  if (choice)
    *choice = g_strdup ("own: cuDNN 9000 ns, own 8000 ns");
  return TRUE;
}

/* A plan reads the choice for its cuDNN version from the store. */
static void
test_store (void)
{
  g_autoptr (GPtrArray) keys = g_ptr_array_new_with_free_func (g_free);
  LigTuning tuning = {.get = know, .data = keys};
  g_autoptr (GError) error = NULL;
  g_autoptr (LigDevice) device = lig_device_open ("null:h200", &error);
  g_assert_no_error (error);
  LigDeviceFacts facts = *lig_device_get_facts (device);
  g_strlcpy (facts.libraries, "ligature 0.1.0, CUDA 13.0, cuDNN 9.19.2", sizeof facts.libraries);
  lig_device_set_facts (device, &facts);
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.tuning = &tuning;
  options.policy = LIG_POLICY_NONE;
  options.training = FALSE;
  g_autoptr (LigSequence) sequence = new_sequence ("attention(2)", "5x7x48:bf16");
  g_autoptr (LigPlan) plan = lig_plan_compile (sequence, device, &options, &error);
  g_assert_no_error (error);
  /* The times of the group are looked up first. */
  const char *key = keys->pdata[keys->len - 1];
  g_assert_true (g_str_has_prefix (key, "attention forward bf16 | rows 5 x 7 to 7 | "));
  g_assert_true (g_str_has_suffix (key, ", cuDNN 91902 | NVIDIA H200"));
  g_autoptr (LigAttentionTimes) times = find_times (plan, LIG_PASS_FORWARD);
  g_assert_true (times->known && !times->cudnn);
  g_assert_cmpfloat_with_epsilon (times->cudnn_seconds, 9e-6, 1e-12);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/attention/reasons", test_reasons);
  g_test_add_func ("/attention/times", test_times);
  g_test_add_func ("/attention/store", test_store);
  return g_test_run ();
}
