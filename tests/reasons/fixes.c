/* SPDX-License-Identifier: MIT */
/* Tests that each fix works: the edit that a verdict offers removes its rejection. */
#include "engine/lower/lower.h"
#include "tests/plan/case.h"
#include <ligature/compile.h>
#include <ligature/lowering.h>

typedef struct {
  LigPlanOptions options;
  LigDevice *device;
  guint applied[LIG_FIX_SET + 1];
} Case;

static const LigVerdict *
find (LigPlan *plan, const LigFusion *fusion, int first)
{
  guint count;
  const LigVerdict *verdicts = lig_plan_get_verdicts (plan, &count);
  for (guint i = 0; i < count; i++)
    if (verdicts[i].fusion == fusion && verdicts[i].first == first)
      return &verdicts[i];
  return NULL;
}

/* Applies the fix: the fusion is then taken, or rejected by a later check. A fusion that was
 * forbidden may have any result. */
static void
check_fix (Case *self, LigSequence *sequence, const LigVerdict *verdict)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigSequence) edited = lig_sequence_copy (sequence);
  g_autofree char *edit = lig_fix_describe (verdict->fix);
  g_test_message ("%s | %s", verdict->text, edit);
  g_assert_cmpstr (verdict->fix->fusion, ==, verdict->fusion->name);
  g_assert_true (lig_fix_apply (verdict->fix, edited, &error));
  g_assert_no_error (error);
  g_autoptr (LigPlan) plan = lig_plan_compile (edited, self->device, &self->options, &error);
  g_assert_no_error (error);
  const LigVerdict *after = find (plan, verdict->fusion, verdict->first);
  g_assert_nonnull (after);
  g_test_message ("then %s", after->text);
  g_assert_true (after->taken || after->reason > verdict->reason);
  /* A force must succeed. */
  if (verdict->fix->kind == LIG_FIX_FORCE)
    g_assert_true (after->taken);
  self->applied[verdict->fix->kind]++;
}

static void
check_sequence (Case *self, LigSequence *sequence)
{
  guint count, numbers = 0;
  g_autoptr (GError) error = NULL;
  g_autoptr (LigPlan) plan = lig_plan_compile (sequence, self->device, &self->options, &error);
  g_assert_no_error (error);
  const LigVerdict *verdicts = lig_plan_get_verdicts (plan, &count);
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);
  for (guint i = 0; i < count; i++) {
    const LigFix *fix = verdicts[i].fix;
    g_assert_true (!fix || !verdicts[i].taken);
    if (!fix)
      continue;
    g_assert_cmpuint (fix->number, >, 0);
    numbers = MAX (numbers, fix->number);
    /* Removing or inserting an op moves the other repetitions of a block. */
    gboolean moves = fix->kind == LIG_FIX_REMOVE_OP || fix->kind == LIG_FIX_INSERT_OP;
    if (g_hash_table_add (seen, GUINT_TO_POINTER (fix->number)) || !moves)
      check_fix (self, sequence, &verdicts[i]);
    g_assert_nonnull (lig_plan_find_fix (plan, fix->number, &error));
  }
  /* The numbers run from 1 without gaps. */
  g_assert_cmpuint (g_hash_table_size (seen), ==, numbers);
  g_assert_null (lig_plan_find_fix (plan, numbers + 1, &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_INDEX);
}

static void
start (Case *self, LigPolicy policy)
{
  g_autoptr (GError) error = NULL;
  *self = (Case){.options = LIG_PLAN_OPTIONS_INIT};
  self->options.policy = policy;
  self->options.input_gradient = TRUE;
  self->device = lig_device_open ("null:h200", &error);
  g_assert_no_error (error);
}

static const char *const expressions[] = {
  "linear(64) ! | ! gelu ! linear(64)",
  "linear(64) ! | ! bias ! | ! gelu",
  "block(3) { linear(64) ! | ! gelu ! linear(64) }",
  "linear(64, bias=false) ! | ! block(2) { gelu ! linear(64, bias=false) }",
  "linear(64, bias=false) ! silu",
  "linear(64, bias=false) ! dropout(0) ! gelu",
  "linear(64, bias=false) ! identity ! dropout(0) ! gelu",
  "linear(64, bias=false) ! dropout(0) ! dropout(0) ! gelu",
  "block(2) { linear(64, bias=false) ! dropout(0) ! gelu }",
  "block(2) { linear(64, bias=false) ! silu }",
  "linear(64, bias=false) ! block(2) { gelu ! linear(64, bias=false) }",
  "linear(64, bias=false) ! make-extra-output(to=r) ! gelu ! add-extra-input(from=r)",
  "linear(64, bias=false) ! make-extra-output(to=r) ! gelu ! block(2) { add-extra-input(from=../r) "
  "}",
  "linear(64, bias=false) ! make-extra-output ! gelu",
  "linear(64, bias=false) ! make-extra-output(to=r, caller=true) ! gelu ! add-extra-input(from=r)",
  "linear(64, bias=false) ! make-extra-output ! make-extra-output ! gelu",
  "block(2) { linear(64) ! make-extra-output(to=r) ! gelu ! add-extra-input(from=r) }",
  "make-extra-output(to=r) ! layer-norm ! linear(64) ! gelu ! linear(64) ! add-extra-input(from=r)",
  "block(12) { make-extra-output(to=r) ! layer-norm ! linear(64) ! gelu ! linear(64) ! "
  "add-extra-input(from=r) }",
  "layer-norm ! linear(64) ! swiglu ! linear(64)",
  "bias ! gelu ! bias ! gelu ! linear(64) ! gelu ! linear(64) ! bias ! relu",
  "linear(64, bias=false) ! constant-scale(2) ! linear(64, bias=false) ! relu",
  "block(2) { grouped-linear(128) ! swiglu ! grouped-linear(64) }",
  "grouped-linear(128) ! scaled-swiglu(interleave=8) ! grouped-linear(60)",
  "mixture-of-experts(4, expert-features=32)",
  "mixture-of-experts(4, expert-features=20)",
};

static LigSequence *
open_expression (const char *expression)
{
  LigShape shape;
  g_autoptr (GError) error = NULL;
  LigSequence *sequence = lig_sequence_from_expression (expression, &error);
  g_assert_no_error (error);
  lig_shape_init (&shape, 2, G_GINT64_CONSTANT (256), G_GINT64_CONSTANT (64));
  lig_sequence_set_input (sequence, &shape, LIG_FP32);
  return sequence;
}

/* Counts the applied fixes of each kind. */
static void
test_expressions (void)
{
  guint applied[LIG_FIX_SET + 1] = {0};
  for (LigPolicy policy = LIG_POLICY_NONE; policy <= LIG_POLICY_MEASURED; policy++)
    for (guint i = 0; i < G_N_ELEMENTS (expressions); i++)
      for (int variant = 0; variant < 4; variant++) {
        Case self;
        start (&self, policy);
        g_autoptr (LigSequence) sequence = open_expression (expressions[i]);
        const char *const names[] = {"forward-linear-bias-activation", "backward-activation-bias",
                                     NULL};
        const char *const activation[] = {"forward-bias-activation", NULL};
        if (variant % 2 == 1)
          lig_sequence_set_forbidden (sequence, names);
        if (variant == 2)
          lig_op_set_forbidden (lig_sequence_get (sequence, 0, NULL), names);
        if (variant == 3)
          lig_op_set_forbidden (lig_sequence_get (sequence, 0, NULL), activation);
        g_test_message ("--- %s", expressions[i]);
        check_sequence (&self, sequence);
        for (guint k = 0; k < G_N_ELEMENTS (applied); k++)
          applied[k] += self.applied[k];
        g_object_unref (self.device);
      }
  for (guint k = 0; k < G_N_ELEMENTS (applied); k++)
    g_test_message ("%s: %u times", lig_fix_kind_name (k), applied[k]);
  for (guint k = 0; k < G_N_ELEMENTS (applied); k++)
    if ((k != LIG_FIX_SET_DTYPE && k < LIG_FIX_UNFORCE) || k == LIG_FIX_SET)
      g_assert_cmpuint (applied[k], >, 0);
}

/* Checks the golden sequences and the examples. */
static void
check_folder (const char *folder)
{
  g_autoptr (GError) error = NULL;
  const char *file;
  guint count = 0;
  g_autoptr (GDir) directory = g_dir_open (folder, 0, &error);
  g_assert_no_error (error);
  while ((file = g_dir_read_name (directory))) {
    Case self;
    g_autofree char *path = g_build_filename (folder, file, NULL);
    if (!g_str_has_suffix (file, ".lig") || g_str_has_prefix (file, "bad-"))
      continue;
    start (&self, LIG_POLICY_ALL);
    self.options.training = !g_str_has_suffix (file, "-evaluation.lig");
    self.options.input_gradient = self.options.training;
    g_autoptr (LigSequence) sequence = lig_sequence_load (path, NULL, &error);
    g_assert_no_error (error);
    g_test_message ("--- %s", file);
    check_sequence (&self, sequence);
    g_object_unref (self.device);
    count++;
  }
  g_assert_cmpuint (count, >, 3);
}

static void
test_golden (void)
{
  g_autofree char *examples = g_build_filename (g_getenv ("LIGATURE_DATA"), "examples", NULL);
  check_folder (g_getenv ("LIGATURE_TEST_PLANS"));
  check_folder (examples);
}

static gboolean
allows_bf16 (LigLowering *match, LigRejection *rejection)
{
  if (match->graph->request->compute == LIG_BF16)
    return TRUE;
  rejection->reason = LIG_REASON_DTYPE;
  rejection->observed = g_strdup (lig_dtype_name (match->graph->request->compute));
  rejection->required = g_strdup ("bf16");
  rejection->types = LIG_TYPES (LIG_BF16);
  return FALSE;
}

static void
lower_pair (LigLowering *lowering)
{
  lig_lower_kernel (lowering, "relu", "x=0.x y=0.y", NULL, 0);
  lig_lower_kernel (lowering, "relu", "x=1.x y=1.y", NULL, 0);
}

static const LigFusion pair = {
  .size = sizeof (LigFusion),
  .name = "forward-relu-relu",
  .pass = LIG_PASS_FORWARD,
  .summary = "Two in one",
  .pattern = "relu relu",
  .allows = allows_bf16,
  .lower = lower_pair,
};

static void
test_types (void)
{
  Case self;
  g_autoptr (GError) error = NULL;
  lig_register_fusion (&pair, FALSE, &error);
  g_assert_no_error (error);
  start (&self, LIG_POLICY_ALL);
  g_autoptr (LigSequence) sequence = open_expression ("relu ! relu");
  check_sequence (&self, sequence);
  g_assert_cmpuint (self.applied[LIG_FIX_SET_DTYPE], ==, 1);
  g_autoptr (LigPlan) plan = lig_plan_compile (sequence, self.device, &self.options, &error);
  const LigVerdict *verdict = find (plan, lig_fusion_find (pair.name), 0);
  g_assert_cmpint (verdict->needed.kind, ==, LIG_EVIDENCE_NAMES);
  g_assert_cmpstr (verdict->needed.names[0], ==, "bf16");
  g_assert_null (verdict->needed.names[1]);
  g_assert_cmpstr (verdict->found.names[0], ==, "fp32");
  /* An option would override the edit. */
  self.options.compute = LIG_FP32;
  g_autoptr (LigPlan) fixed = lig_plan_compile (sequence, self.device, &self.options, &error);
  g_assert_null (find (fixed, verdict->fusion, 0)->fix);
  g_object_unref (self.device);
}

/* An edit that fails changes nothing. */
static void
test_rejected (void)
{
  const LigFix fixes[] = {
    {.kind = LIG_FIX_REMOVE_FENCE, .path = "9"},
    {.kind = LIG_FIX_REMOVE_OP, .path = "1.0.7"},
    {.kind = LIG_FIX_REPLACE_OP, .path = "0", .value = "gleu"},
    {.kind = LIG_FIX_SET_DTYPE, .value = "fp7"},
    {.kind = LIG_FIX_SET, .path = "0", .value = "interleave"},
    {.kind = LIG_FIX_SET, .path = "0", .value = "interleave=32"},
  };
  for (guint i = 0; i < G_N_ELEMENTS (fixes); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (LigSequence) sequence = open_expression ("gelu ! block(2) { relu }");
    g_autofree char *before = lig_sequence_to_json (sequence);
    g_assert_false (lig_fix_apply (&fixes[i], sequence, &error));
    g_assert_nonnull (error);
    g_autofree char *after = lig_sequence_to_json (sequence);
    g_assert_cmpstr (before, ==, after);
  }
}

/* A required parameter is set where the sequence has it: in a macro, by its name there. */
static void
test_param (void)
{
  static const char *const cases[][2] = {
    {"grouped-linear(128) ! swiglu", "set interleave=32 at 1"},
    {"gelu ! mixture-of-experts(4, expert-features=32)", "set interleave=32 at 1"},

    {"grouped-linear(120) ! swiglu", NULL},
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    Case self;
    guint count, fixed = 0;
    g_autoptr (GError) error = NULL;
    start (&self, LIG_POLICY_ALL);
    g_autoptr (LigSequence) sequence = open_expression (cases[i][0]);
    g_autoptr (LigPlan) plan = lig_plan_compile (sequence, self.device, &self.options, &error);
    g_assert_no_error (error);
    const LigVerdict *verdicts = lig_plan_get_verdicts (plan, &count);
    for (guint k = 0; k < count; k++) {
      if (!g_str_equal (verdicts[k].fusion->name, "forward-grouped-linear-gated") ||
          verdicts[k].reason != LIG_REASON_SHAPE)
        continue;
      g_autofree char *text = verdicts[k].fix ? lig_fix_describe (verdicts[k].fix) : NULL;
      g_test_message ("%s: %s", verdicts[k].text, text);
      g_assert_cmpstr (text, ==, cases[i][1]);
      fixed++;
    }
    g_assert_cmpuint (fixed, >, 0);
    g_object_unref (self.device);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/fixes/expressions", test_expressions);
  g_test_add_func ("/fixes/golden", test_golden);
  g_test_add_func ("/fixes/types", test_types);
  g_test_add_func ("/fixes/param", test_param);
  g_test_add_func ("/fixes/rejected", test_rejected);
  return g_test_run ();
}
