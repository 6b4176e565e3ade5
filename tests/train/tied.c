/* SPDX-License-Identifier: MIT */
/* Runs with shared and frozen parameters: a resumed run equals one without interruption, frozen
 * values do not change, and the checkpoint has neither copies nor moments of them. */
#include "tests/train/case.h"
#include <ligature/device.h>

static const char tied[] =
  "linear(12) ! gelu ! linear(12, tied=0) ! silu ! dropout(0.1) ! linear(5) ! cross-entropy";
static const char frozen[] =
  "linear(12, trained=false) ! gelu ! linear(12, tied=0) ! silu ! linear(5) ! cross-entropy";
static const char plain[] =
  "linear(12) ! gelu ! linear(12) ! silu ! dropout(0.1) ! linear(5) ! cross-entropy";

static const struct {
  const char *name, *expression, *settings;
} cases[] = {
  {"tied", tied, "lr=0.01"},
  {"tied-unfused", tied, "lr=0.01 policy=none optimizer=sgd momentum=0.9"},
  {"tied-accumulate", tied, "lr=0.01 accumulate=3 weight-decay=0.1"},
  {"tied-mixed", tied, "lr=0.01 dtype=bf16:fp32 accumulate=3"},
  {"tied-bf16", tied, "lr=0.01 dtype=bf16:bf16 accumulate=2"},
  {"tied-fp16", tied, "lr=0.01 dtype=fp16:fp16"},
  {"frozen", frozen, "lr=0.01"},
  {"frozen-bf16", frozen, "lr=0.01 dtype=bf16:bf16"},
  {"freeze", plain, "lr=0.01 freeze=0.*,5.bias dtype=bf16:fp32"},
};

#define DATA "synthetic?samples=200"

static void
test_resume (Fixture *f, gconstpointer data)
{
  guint n = GPOINTER_TO_UINT (data);
  g_autoptr (GError) error = NULL;
  g_autofree char *all = g_strconcat ("steps=20 ", cases[n].settings, NULL);
  g_autofree char *half = g_strconcat ("steps=9 ", cases[n].settings, NULL);
  g_autoptr (LigRun) whole = new_run (f, cases[n].expression, "8x12", DATA, all);
  g_autoptr (LigRun) part = new_run (f, cases[n].expression, "8x12", DATA, half);
  finish (whole);
  finish (part);
  g_autofree char *checkpoint = g_strdup (lig_run_get_checkpoint (part));
  g_clear_object (&part);
  const char *const overrides[] = {"steps=20", NULL};
  g_autoptr (LigRun) rest = lig_run_resume (checkpoint, f->device, overrides, f->store, &error);
  g_assert_no_error (error);
  finish (rest);
  assert_same_metric (f, lig_run_get_uuid (whole), lig_run_get_uuid (rest), LIG_METRIC_LOSS, 20);
  assert_same_tensors (lig_run_get_checkpoint (whole), checkpoint);
}

static gboolean
has (Fixture *f, LigRun *run, const char *name)
{
  g_autoptr (LigTensorFile) file = load_tensors (lig_run_get_checkpoint (run));
  return lig_tensor_file_has (file, name);
}

static void
assert_equal (LigTensorFile *a, LigTensorFile *b, const char *name, gboolean equal)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigTensor) x = lig_tensor_file_get (a, name, &error);
  g_assert_no_error (error);
  g_autoptr (LigTensor) y = lig_tensor_file_get (b, name, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (lig_tensor_bytes (x), ==, lig_tensor_bytes (y));
  g_assert_cmpint (memcmp (x->data, y->data, lig_tensor_bytes (x)) == 0, ==, equal);
}

static void
test_checkpoint (Fixture *f, gconstpointer data)
{
  g_autoptr (LigRun) short_run = new_run (f, plain, "8x12", DATA, "steps=1 freeze=0.*,5.bias");
  g_autoptr (LigRun) long_run = new_run (f, plain, "8x12", DATA, "steps=9 freeze=0.*,5.bias");
  finish (short_run);
  finish (long_run);
  g_autoptr (LigTensorFile) a = load_tensors (lig_run_get_checkpoint (short_run));
  g_autoptr (LigTensorFile) b = load_tensors (lig_run_get_checkpoint (long_run));
  assert_equal (a, b, "0.weight", TRUE);
  assert_equal (a, b, "0.bias", TRUE);
  assert_equal (a, b, "5.bias", TRUE);
  assert_equal (a, b, "5.weight", FALSE);
  assert_equal (a, b, "2.bias", FALSE);
  g_assert_true (has (f, long_run, "optimizer.moment.5.weight"));
  g_assert_false (has (f, long_run, "optimizer.moment.5.bias"));
  g_assert_false (has (f, long_run, "optimizer.moment.0.weight"));
  g_assert_false (has (f, long_run, "optimizer.variance.0.bias"));
  g_autoptr (LigRun) one = new_run (f, tied, "8x12", DATA, "steps=2");
  finish (one);
  g_assert_true (has (f, one, "optimizer.moment.0.weight"));
  g_assert_false (has (f, one, "2.weight"));
  g_assert_true (has (f, one, "2.bias"));
}

static void
test_rejected (Fixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_assert_null (try_run (f, plain, "8x12", DATA, "steps=2 freeze=*", NULL, &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_OP);
  g_assert_cmpstr (error->message, ==, "all parameters are frozen: there is nothing to train");
  g_clear_error (&error);
  /* Its update consists only of scales. */
  g_assert_null (try_run (f, "linear(16, trained=false, recipe=fp8-delayed) ! mean-squared-error",
                          "16x16", "synthetic?samples=64", "steps=2", NULL, &error));
  g_assert_cmpstr (error->message, ==, "all parameters are frozen: there is nothing to train");
  g_clear_error (&error);
  g_assert_null (try_run (f, plain, "8x12", DATA, "steps=2 freeze=7.*", NULL, &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_VALUE);
  g_assert_nonnull (strstr (error->message, "'7.*'"));
  g_assert_nonnull (strstr (error->message, "0.weight, 0.bias, 2.weight …"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint n = 0; n < G_N_ELEMENTS (cases); n++) {
    g_autofree char *path = g_strconcat ("/train-tied/resume/", cases[n].name, NULL);
    g_test_add (path, Fixture, GUINT_TO_POINTER (n), set_up, test_resume, tear_down);
  }
  g_test_add ("/train-tied/checkpoint", Fixture, NULL, set_up, test_checkpoint, tear_down);
  g_test_add ("/train-tied/rejected", Fixture, NULL, set_up, test_rejected, tear_down);
  return g_test_run ();
}
