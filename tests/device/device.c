/* SPDX-License-Identifier: MIT */
/* Devices: untrusted profiles, predictions for a device that was not measured, and the lock by
 * which one process at a time measures on a device. */
#include "engine/device/device-private.h"
#include "engine/measure/lock.h"
#include "engine/measure/stopwatch.h"
#include "kernels/cuda/common/lost.h"
#include "tests/plan/case.h"
#include <ligature/compile.h>
#include <ligature/store.h>
#include <ligature/tuning.h>

#include <fcntl.h>
#include <glib/gstdio.h>
#include <math.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct {
  char *folder, *path;
} Fixture;

static void
set_up (Fixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  f->folder = g_dir_make_tmp ("lig-device-XXXXXX", &error);
  g_assert_no_error (error);
  f->path = g_build_filename (f->folder, "a-file", NULL);
}

static void
tear_down (Fixture *f, gconstpointer data)
{
  const char *name;
  g_autoptr (GDir) dir = g_dir_open (f->folder, 0, NULL);
  while ((name = g_dir_read_name (dir))) {
    g_autofree char *path = g_build_filename (f->folder, name, NULL);
    g_remove (path);
  }
  g_rmdir (f->folder);
  g_free (f->path);
  g_free (f->folder);
}

static void
check_profile_rejected (const char *path, const char *text)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *name = g_strconcat ("null:", path, NULL);
  g_autoptr (LigDevice) device = lig_device_open (name, &error);
  g_assert_null (device);
  g_test_message ("%s", error->message);
  g_assert_nonnull (strstr (error->message, text));
}

/* An endless device, a pipe without a writer, a folder and a missing file are rejected at once. */
static void
test_no_files (Fixture *f, gconstpointer data)
{
  double began = lig_now ();
  check_profile_rejected ("/dev/zero", "not a regular file");
  check_profile_rejected (f->folder, "not a regular file");
  g_autofree char *fifo = g_build_filename (f->folder, "fifo", NULL);
  g_assert_cmpint (mkfifo (fifo, 0600), ==, 0);
  check_profile_rejected (fifo, "not a regular file");
  g_autofree char *large = g_malloc0 (2 << 20);
  memset (large, ' ', (2 << 20) - 1);
  g_assert_true (g_file_set_contents (f->path, large, -1, NULL));
  check_profile_rejected (f->path, "more than 1048576 bytes");
  check_profile_rejected ("/nowhere/at-all.json", "No such file");
  g_assert_cmpfloat (lig_now () - began, <, 5);
}

static void
test_ranges (Fixture *f, gconstpointer data)
{
  static const char *const cases[][2] = {
    {"\"copy\": 1e-308", "copy is 1e-308, expected 1e+06 to 1e+18 bytes a second"},
    {"\"copy\": 1e300", "copy is 1e+300, expected 1e+06 to 1e+18 bytes a second"},
    {"\"copy\": -5", "copy is -5, expected"},
    {"\"copy\": \"fast\"", "copy is not a number"},
    {"\"copy\": 1e12, \"launch\": 1e9", "launch is 1e+09, expected 1e-09 to 1 seconds"},
    {"\"copy\": 1e12, \"memory\": 1e300", "memory is 1e+300, expected"},
    {"\"copy\": 1e12, \"capability\": 1e12", "capability is 1e+12, expected 1 to 9999"},
    {"\"copy\": 1e12, \"matmul\": {\"bf16\": 1e-300}", "matmul: bf16 is 1e-300, expected"},
    {"\"capability\": 90", "a device description needs a name and a copy bandwidth"},
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *json = g_strdup_printf ("{\"name\": \"a card\", %s}", cases[i][0]);
    g_assert_true (g_file_set_contents (f->path, json, -1, NULL));
    check_profile_rejected (f->path, cases[i][1]);
  }
}

/* A card is recognized by its name without a data folder, but only if its other facts match. */
static void
test_known_cards (void)
{
  LigDeviceFacts found, card = {.multiprocessors = 132, .memory = 150754820096};
  g_strlcpy (card.name, "NVIDIA H200", sizeof card.name);
  g_assert_true (lig_description_find (&card, &found));
  g_assert_cmpfloat (found.copy, >, 4e12);
  g_strlcpy (card.name, "NVIDIA H100 PCIe", sizeof card.name);
  card.multiprocessors = 114;
  card.memory = 85017493504;
  g_assert_false (lig_description_find (&card, &found));
  g_strlcpy (card.name, "NVIDIA GeForce RTX 4090", sizeof card.name);
  g_assert_false (lig_description_find (&card, &found));
}

static double
sum_predicted (LigDevice *device)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigSequence) sequence = new_sequence ("layer-norm ! linear(64) ! gelu", "64x64");
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  g_autoptr (LigPlan) plan = lig_plan_compile (sequence, device, &options, &error);
  guint count;
  double seconds = 0;
  g_assert_no_error (error);
  for (LigPass pass = LIG_PASS_FORWARD; pass <= LIG_PASS_BACKWARD; pass++) {
    const LigPlanGroup *groups = lig_plan_get_groups (plan, pass, &count);
    for (guint i = 0; i < count; i++)
      seconds += groups[i].predicted;
  }
  const LigPlanStep *steps = lig_plan_get_steps (plan, &count);
  for (guint i = 0; i < count; i++)
    g_assert_true ((steps[i].predicted > 0) == (seconds > 0));
  return seconds;
}

/* A device that was neither measured nor described predicts nothing, not even the time of a launch.
 */
static void
test_unknown (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigDevice) cpu = lig_device_open ("cpu", &error);
  g_assert_no_error (error);
  g_assert_cmpfloat (sum_predicted (cpu), ==, 0);
  LigDeviceFacts facts = *lig_device_get_facts (cpu);
  facts.launch = 2e-6;
  lig_device_set_facts (cpu, &facts);
  g_assert_cmpfloat (sum_predicted (cpu), ==, 0);
  facts.copy = 1e10;
  lig_device_set_facts (cpu, &facts);
  g_autoptr (LigSequence) sequence = new_sequence ("linear(64) ! gelu", "64x64");
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.policy = LIG_POLICY_NONE;
  g_autoptr (LigPlan) plan = lig_plan_compile (sequence, cpu, &options, &error);
  guint count;
  const LigPlanGroup *groups = lig_plan_get_groups (plan, LIG_PASS_FORWARD, &count);
  /* Only the matmul's rate is missing; the bandwidth is known. */
  g_assert_cmpfloat (groups[0].predicted, ==, 0);
  g_assert_cmpfloat (groups[count - 1].predicted, >, 0);
}

/* Peak rates are measured at the first use, stored, and found again; without a store they are not
 * measured. */
static void
test_learn (Fixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigDevice) first = lig_device_open ("cpu", &error);
  lig_tuning_learn (first, NULL);
  g_assert_cmpfloat (lig_device_get_facts (first)->copy, ==, 0);
  g_assert_false (lig_tuning_recall (first, f->path));
  g_assert_false (g_file_test (f->path, G_FILE_TEST_EXISTS));
  g_autoptr (LigStore) store = lig_store_open (f->path, &error);
  g_assert_no_error (error);
  lig_tuning_learn (first, store);
  g_assert_true (lig_device_get_facts (first)->measured);
  g_assert_cmpfloat (sum_predicted (first), >, 0);
  g_autoptr (LigDevice) second = lig_device_open ("cpu", &error);
  g_assert_true (lig_tuning_recall (second, f->path));
  g_assert_cmpfloat (lig_device_get_facts (second)->copy, ==, lig_device_get_facts (first)->copy);
  g_autoptr (LigDevice) third = lig_device_open ("cpu", &error);
  lig_tuning_learn (third, store);
  g_assert_cmpfloat (lig_device_get_facts (third)->copy, ==, lig_device_get_facts (first)->copy);
}

static GPtrArray *heard;

static void
hear (const char *text)
{
  g_ptr_array_add (heard, g_strdup (text));
}

static void
test_lock (void)
{
  g_autofree char *id = g_strdup_printf ("test-%d", (int) getpid ());
  g_autofree char *name = g_strconcat (id, ".lock", NULL);
  g_autofree char *path = g_build_filename (g_get_user_runtime_dir (), "ligature", name, NULL);
  heard = g_ptr_array_new_with_free_func (g_free);
  lig_tuning_set_listener (hear);
  g_assert_true (lig_measuring_lock (id, 1));
  g_assert_true (lig_measuring_lock (id, 1));
  /* A second file descriptor, for which the lock works as for another process. */
  int other = open (path, O_RDWR | O_CLOEXEC);
  g_assert_cmpint (other, >=, 0);
  g_assert_cmpint (flock (other, LOCK_EX | LOCK_NB), !=, 0);
  lig_measuring_unlock (id);
  g_assert_cmpint (flock (other, LOCK_EX | LOCK_NB), !=, 0);
  lig_measuring_unlock (id);
  g_assert_cmpuint (heard->len, ==, 0);
  g_assert_cmpint (flock (other, LOCK_EX | LOCK_NB), ==, 0);
  double began = lig_now ();
  g_assert_false (lig_measuring_lock (id, 0.3));
  lig_measuring_unlock (id);
  g_assert_cmpfloat (lig_now () - began, >=, 0.3);
  g_assert_cmpfloat (lig_now () - began, <, 20);
  g_assert_cmpuint (heard->len, ==, 2);
  g_assert_nonnull (strstr (heard->pdata[0], "waiting for it"));
  /* After a timeout, the thread does not wait again at every measurement. */
  began = lig_now ();
  g_assert_false (lig_measuring_lock (id, 60));
  lig_measuring_unlock (id);
  g_assert_cmpfloat (lig_now () - began, <, 20);
  g_assert_cmpuint (heard->len, ==, 2);
  close (other);
  g_assert_true (lig_measuring_lock (id, 1));
  lig_measuring_unlock (id);
  g_unlink (path);
  lig_tuning_set_listener (NULL);
  g_clear_pointer (&heard, g_ptr_array_unref);
}

static gpointer
measure_elsewhere (gpointer data)
{
  gboolean got = lig_measuring_lock (data, 0.2);
  lig_measuring_unlock (data);
  return GINT_TO_POINTER (got);
}

/* Another thread of this process waits like another process. */
static void
test_threads (void)
{
  g_autofree char *id = g_strdup_printf ("threads-%d", (int) getpid ());
  g_autofree char *name = g_strconcat (id, ".lock", NULL);
  g_autofree char *path = g_build_filename (g_get_user_runtime_dir (), "ligature", name, NULL);
  g_assert_true (lig_measuring_lock (id, 1));
  g_assert_false (g_thread_join (g_thread_new ("other", measure_elsewhere, id)));
  lig_measuring_unlock (id);
  g_assert_true (g_thread_join (g_thread_new ("other", measure_elsewhere, id)));
  g_unlink (path);
}

/* CUDA errors after which, according to its header, a process cannot use the device, and some that
 * have no such effect. */
static void
test_lost (void)
{
  static const int sticky[] = {226, 700, 702, 710, 714, 715, 716, 717, 718, 719, 721, 810, 911};
  static const int harmless[] = {0, 1, 2, 9, 98, 209, 400, 600, 701, 720, 801, 900, 901};
  for (guint i = 0; i < G_N_ELEMENTS (sticky); i++)
    g_assert_true (lig_cuda_is_lost (sticky[i]));
  for (guint i = 0; i < G_N_ELEMENTS (harmless); i++)
    g_assert_false (lig_cuda_is_lost (harmless[i]));
}

static LigLayout
data_parallel (int ranks)
{
  LigLayout layout;
  lig_layout_init (&layout, ranks);
  return layout;
}

/* Ranks on the CPU share its cores; described cards are one a rank. */
static void
test_shared_cores (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigDevice) cpu = lig_device_open ("cpu", &error);
  g_autoptr (LigDevice) card = lig_device_open ("null:h200", &error);
  g_assert_no_error (error);
  LigDeviceFacts facts = *lig_device_get_facts (cpu);
  facts.copy = 8e9;
  facts.matmul[LIG_FP32] = 4e11;
  facts.launch = 1e-6;
  facts.costs.kernels[0] = 1e-3;
  lig_device_set_facts (cpu, &facts);
  double copy = lig_device_get_facts (card)->copy;
  for (int ranks = 2; ranks <= 8; ranks *= 2) {
    const LigLayout layout = data_parallel (ranks);
    lig_device_assume_ranks (cpu, 0, &layout);
    lig_device_assume_ranks (card, 0, &layout);
    const LigDeviceFacts *shared = lig_device_get_facts (cpu);
    g_assert_cmpfloat_with_epsilon (shared->copy, 8e9 / ranks, 1);
    g_assert_cmpfloat_with_epsilon (shared->matmul[LIG_FP32], 4e11 / ranks, 1);
    g_assert_cmpfloat_with_epsilon (shared->costs.kernels[0], 1e-3 * ranks, 1e-12);
    g_assert_cmpfloat (shared->launch, ==, 1e-6);
    g_assert_cmpfloat (lig_device_get_facts (card)->copy, ==, copy);
  }
}

int
main (int argc, char **argv)
{
  static const struct {
    const char *path;
    void (*function) (Fixture *f, gconstpointer data);
  } cases[] = {
    {"/device/no-files", test_no_files},
    {"/device/ranges", test_ranges},
    {"/device/learn", test_learn},
  };
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    g_test_add (cases[i].path, Fixture, NULL, set_up, cases[i].function, tear_down);
  g_test_add_func ("/device/known-cards", test_known_cards);
  g_test_add_func ("/device/unknown", test_unknown);
  g_test_add_func ("/device/lock", test_lock);
  g_test_add_func ("/device/shared-cores", test_shared_cores);
  g_test_add_func ("/device/threads", test_threads);
  g_test_add_func ("/device/lost", test_lost);
  return g_test_run ();
}
