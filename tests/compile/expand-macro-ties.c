/* SPDX-License-Identifier: MIT */
/* Ties to a macro, to its parts and from it, and its `recompute`, when the macro is expanded. */
#include "tests/compile/apart-case.h"

#include <ligature/compile.h>
#include <ligature/lowering.h>

/* Expands the op at the path, and compares the text and the results. */
static void
check_apart (const char *expression, int block, int index, const char *text)
{
  g_autoptr (LigSequence) whole = new_sequence (expression, "2x3x8");
  g_autoptr (LigSequence) apart = lig_sequence_copy (whole);
  LigSequence *list = block < 0 ? apart : lig_op_get_body (lig_sequence_get (apart, block, NULL));
  expand_macro (list, index, 8);
  g_autofree char *got = lig_sequence_to_expression (apart);
  g_assert_cmpstr (got, ==, text);
  compare_apart (whole, apart);
}

static void
test_to_parts (void)
{
  check_apart ("layer-norm-mlp(16) ! linear(16, bias=false, tied=0.fc1) ! linear(8)", -1, 0,
               "layer-norm ! linear(16, parallel=column) ! gelu ! linear(8, parallel=row) ! "
               "linear(16, tied=\"1\", bias=false) ! linear(8)");
  check_apart (
    "linear(16, bias=false, tied=2.fc1) ! linear(8) ! layer-norm-mlp(16)", -1, 2,
    "linear(16, tied=\"3\", bias=false) ! linear(8) ! layer-norm ! linear(16, parallel=column) ! "
    "gelu ! linear(8, parallel=row)");
}

/* The collectives with other ranks remain those of the macro's matmuls. */
static void
test_parallel (void)
{
  check_apart ("layer-norm-mlp(16, parallel=none)", -1, 0,
               "layer-norm ! linear(16) ! gelu ! linear(8)");
  check_apart ("layer-norm-mlp(8, activation=swiglu, bias=false, parallel=sequence)", -1, 0,
               "layer-norm ! linear(16, parallel=column, sections=[1, 1], bias=false, "
               "sequence-parallel=true) ! swiglu ! linear(8, parallel=row, bias=false, "
               "sequence-parallel=true)");
}

static void
test_to_linear (void)
{
  check_apart ("gelu ! linear(8) ! linear(8, tied=1)", -1, 1,
               "gelu ! basic-linear(8) ! bias ! linear(8, tied=\"1\")");
}

static void
test_in_block (void)
{
  check_apart (
    "block(2) { layer-norm-mlp(16) ! linear(16, bias=false, tied=../0.fc1) ! linear(8) }", 0, 0,
    "block(2) { layer-norm ! linear(16, parallel=column) ! gelu ! linear(8, parallel=row) ! "
    "linear(16, tied=../1, "
    "bias=false) ! linear(8) }");
  check_apart ("block(2) { layer-norm-mlp(16) } ! linear(16, bias=false, tied=0.1.0.fc1)", 0, 0,
               "block(2) { layer-norm ! linear(16, parallel=column) ! gelu ! linear(8, "
               "parallel=row) } ! linear(16, "
               "tied=\"0.1.1\", bias=false)");
}

/* The tie of a part is relative to the macro's position, even if ops after it move. */
static void
test_from_macro (void)
{
  check_apart ("linear(8, tied=1) ! linear(8) ! linear(8)", -1, 0,
               "basic-linear(8, tied=\"2\") ! bias ! linear(8) ! linear(8)");
}

static void
test_recompute (void)
{
  check_apart ("gelu ! layer-norm-mlp(16, recompute=all) ! linear(16, bias=false, tied=1.fc1)", -1,
               1,
               "gelu ! block(recompute=all) { layer-norm ! linear(16, parallel=column) ! gelu ! "
               "linear(8, parallel=row) } ! "
               "linear(16, tied=\"1.0.1\", bias=false)");
  check_apart (
    "make-extra-output(s) ! multi-head-attention(2, memory=s, recompute=cheap) ! "
    "add-extra-input(s)",
    -1, 1,
    "make-extra-output(s) ! block(recompute=cheap) { linear(8, parallel=column) ! "
    "make-extra-output(query) ! load-branch(../s) ! linear(16, parallel=column, "
    "sections=[1, 1]) ! make-extra-output(key-value) ! load-branch(query) ! attention(2, "
    "memory=key-value) ! linear(8, parallel=row) } ! add-extra-input(s)");
}

static gint64
memory_of (LigSequence *sequence)
{
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  g_autoptr (GError) error = NULL;
  options.training = TRUE;
  g_autoptr (LigPlan) plan = lig_plan_compile (sequence, cpu_device (), &options, &error);
  g_assert_no_error (error);
  return lig_plan_get_arena_bytes (plan, NULL);
}

/* The block saves as much as the macro did. */
static void
test_saves (void)
{
  g_autoptr (LigSequence) sequence =
    new_sequence ("layer-norm-mlp(64, recompute=all) ! layer-norm-mlp(64)", "64x8");
  gint64 whole = memory_of (sequence);
  expand_macro (sequence, 0, 8);
  g_assert_cmpint (memory_of (sequence), ==, whole);
  g_object_set (lig_sequence_get (sequence, 0, NULL), "recompute", "none", NULL);
  g_assert_cmpint (memory_of (sequence), >, whole);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/expand-macro-ties/parallel", test_parallel);
  g_test_add_func ("/expand-macro-ties/to-parts", test_to_parts);
  g_test_add_func ("/expand-macro-ties/to-linear", test_to_linear);
  g_test_add_func ("/expand-macro-ties/in-block", test_in_block);
  g_test_add_func ("/expand-macro-ties/from-macro", test_from_macro);
  g_test_add_func ("/expand-macro-ties/recompute", test_recompute);
  g_test_add_func ("/expand-macro-ties/saves", test_saves);
  return g_test_run ();
}
