/* SPDX-License-Identifier: MIT */
/* The choice between cuDNN and the built-in kernels of attention, with stubs for both, for their
 * comparison and for the store: which of them runs, and when they are compared. */
#include "kernels/cuda/attention/choose.h"
#include "kernels/cuda/attention/race.h"
#include <ligature/params-attention.h>

#include <glib.h>
#include <string.h>

/* The answers of the stubs, and the number of their calls. */
static struct {
  gboolean rejected, cannot_build, capturing;
  LigAttentionRace race;
  LigStatus status; /* of cuDNN's launch */
  const char *stored, *stored_later;
  LigAttentionEntry entry;
  int own, cudnn, races, begun, ended, no_memory, puts;
  char put[512];
} fake;

cudaError_t
cudaStreamIsCapturing (cudaStream_t stream, enum cudaStreamCaptureStatus *status)
{
  *status = fake.capturing ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
  return cudaSuccess;
}

LigAttentionEntry *
lig_attention_entry (const LigLaunch *launch, bool backward, const char **why)
{
  *why = "softcaps are not part of it";
  return fake.rejected ? NULL : &fake.entry;
}

bool
lig_attention_build (const LigLaunch *launch, LigAttentionEntry *entry)
{
  g_strlcpy (entry->why, fake.cannot_build ? "no engine takes the case" : "", sizeof entry->why);
  return !fake.cannot_build;
}

void
lig_attention_race (LigAttentionRace *race,
                    const LigLaunch *launch,
                    LigAttentionEntry *entry,
                    LigKernelFunc own)
{
  fake.races++;
  g_assert_cmpint (fake.begun, ==, fake.ended + 1);
  *race = fake.race;
}

LigStatus
lig_cudnn_attention (LigLaunch *launch)
{
  fake.cudnn++;
  return fake.status;
}

LigStatus
lig_cudnn_attention_backward (LigLaunch *launch)
{
  return lig_cudnn_attention (launch);
}

size_t
lig_cudnn_version (const char **why)
{
  *why = "";
  return 91900;
}

static LigStatus
run_own (LigLaunch *launch)
{
  fake.own++;
  return LIG_OK;
}

/* The choice that another process stores is available after the wait for it. */
static bool
get_choice (void *data, const char *key, char *choice, size_t size)
{
  const char *stored = fake.begun > 0 && fake.stored_later ? fake.stored_later : fake.stored;
  g_assert_true (g_str_has_prefix (key, "attention forward bf16 "));
  return stored && g_strlcpy (choice, stored, size) < size;
}

static void
put_choice (void *data, const char *key, double microseconds, const char *choice)
{
  fake.puts++;
  g_strlcpy (fake.put, choice, sizeof fake.put);
}

static void
begin (void *guard)
{
  fake.begun++;
}

static void
end (void *guard)
{
  fake.ended++;
}

static void
no_memory (void *guard, const char *what)
{
  g_assert_true (g_str_has_prefix (what, "attention "));
  fake.no_memory++;
}

static LigBackendDevice device = {
  .choices = {
    .get = get_choice, .put = put_choice, .begin = begin, .end = end, .no_memory = no_memory}};

/* Launches once; a warm-up launch may compare. */
static LigStatus
launch_once (gboolean autotune)
{
  static const LigAttentionParams params = {.heads = 2,
                                            .kv_heads = 2,
                                            .features = 64,
                                            .length = 128,
                                            .memory_length = 128,
                                            .scale = 0.125f};
  static char anywhere[16];
  LigOperand operands[6] = {{anywhere, 2 * 128 * 384, 384, LIG_BF16}};
  operands[4] = (LigOperand){anywhere, 2 * 128 * 128, 128, LIG_BF16};
  operands[5] = (LigOperand){anywhere, 2 * 2 * 128, 128, LIG_FP32};
  LigLaunch launch = {
    .operands = operands, .params = &params, .device = &device, .autotune = autotune};
  return lig_attention_choose (&launch, false, run_own);
}

/* Resets the state, with cuDNN as the faster one. */
static void
reset (void)
{
  memset (&fake, 0, sizeof fake);
  fake.entry.one = (LigCudnnCase){.batch = 2,
                                  .batch_parts = 1,
                                  .head_parts = 1,
                                  .heads = 2,
                                  .kv_heads = 2,
                                  .features = 64,
                                  .length = 128,
                                  .keys = 128,
                                  .dtype = LIG_BF16};
  fake.race = (LigAttentionRace){.own = 20, .cudnn = 10, .agree = true, .repeats = true};
  g_unsetenv ("LIGATURE_SEARCH");
}

/* Launches a warm-up, then twice more; checks which of the two ran each time, and the number of
 * comparisons. */
static void
expect (const char *winner, int races, int puts)
{
  for (int i = 0; i < 3; i++)
    g_assert_cmpint (launch_once (i == 0), ==, LIG_OK);
  g_assert_cmpint (fake.cudnn, ==, g_str_equal (winner, "cuDNN") ? 3 : 0);
  g_assert_cmpint (fake.own, ==, g_str_equal (winner, "cuDNN") ? 0 : 3);
  g_assert_cmpint (fake.races, ==, races);
  g_assert_cmpint (fake.puts, ==, puts);
  g_assert_cmpint (fake.begun, ==, fake.ended);
  if (puts > 0)
    g_assert_true (g_str_has_prefix (fake.put, winner));
}

static void
test_race (void)
{
  reset ();
  expect ("cuDNN", 1, 1);
  reset ();
  fake.race.own = 5;
  expect ("own", 1, 1);
  reset ();
  fake.race.agree = fake.race.repeats = false;
  expect ("own", 1, 1);
  reset ();
  fake.race.repeats = false;
  expect ("own", 1, 1);
  reset ();
  fake.race.failed = "cuDNN";
  expect ("own", 1, 1);
  reset ();
  fake.race.no_memory = true;
  expect ("own", 1, 0);
  g_assert_cmpint (fake.no_memory, ==, 1);
  reset ();
  fake.cannot_build = TRUE;
  expect ("own", 0, 1);
  g_assert_nonnull (strstr (fake.put, "no engine takes the case"));
  reset ();
  fake.rejected = TRUE;
  expect ("own", 0, 1);
  g_assert_nonnull (strstr (fake.put, "softcaps"));
}

static void
test_stored (void)
{
  reset ();
  fake.stored = "cuDNN: 9 ns";
  expect ("cuDNN", 0, 0);
  reset ();
  fake.stored = "own: 9 ns";
  expect ("own", 0, 0);
  g_assert_cmpint (fake.begun, ==, 0);
  /* Text of another version is not a choice. */
  reset ();
  fake.stored = "neither";
  expect ("cuDNN", 1, 1);
  /* Its plan can no longer be built. */
  reset ();
  fake.stored = "cuDNN: 9 ns";
  fake.cannot_build = TRUE;
  expect ("own", 0, 1);
  /* Another process decided while this one waited for the device. */
  reset ();
  fake.stored_later = "own: 9 ns";
  expect ("own", 0, 0);
  g_assert_cmpint (fake.begun, ==, 1);
}

static void
test_no_search (void)
{
  reset ();
  g_setenv ("LIGATURE_SEARCH", "none", TRUE);
  expect ("own", 0, 0);
  fake.entry.decided = false;
  fake.own = 0;
  fake.stored = "cuDNN: 9 ns";
  expect ("cuDNN", 0, 0);
  /* Nothing is timed before a warm-up, or during a capture. */
  reset ();
  g_assert_cmpint (launch_once (FALSE), ==, LIG_OK);
  fake.capturing = TRUE;
  g_assert_cmpint (launch_once (TRUE), ==, LIG_OK);
  g_assert_cmpint (fake.own, ==, 2);
  g_assert_false (fake.entry.decided);
  fake.capturing = FALSE;
  fake.own = 0;
  expect ("cuDNN", 1, 1);
}

/* A launch that cuDNN does not support uses the built-in kernel; a failure is a failure. */
static void
test_launches (void)
{
  reset ();
  expect ("cuDNN", 1, 1);
  fake.status = LIG_UNSUPPORTED;
  g_assert_cmpint (launch_once (FALSE), ==, LIG_OK);
  g_assert_cmpint (fake.own, ==, 1);
  fake.status = LIG_FAILED;
  g_assert_cmpint (launch_once (FALSE), ==, LIG_FAILED);
  g_assert_cmpint (fake.own, ==, 1);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/cudnn-choice/race", test_race);
  g_test_add_func ("/cudnn-choice/stored", test_stored);
  g_test_add_func ("/cudnn-choice/no-search", test_no_search);
  g_test_add_func ("/cudnn-choice/launches", test_launches);
  return g_test_run ();
}
