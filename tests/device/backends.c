/* SPDX-License-Identifier: MIT */
/* Backends: names of devices, traits from the backends' tables, and described devices. */
#include "engine/device/backend.h"
#include <ligature/kernels.h>
#include <ligature/plan.h>

#include <string.h>

static void
test_names (void)
{
  static const struct {
    const char *name, *backend, *rest;
  } cases[] = {
    {"cpu", "cpu", NULL},    {"cpu:0", NULL, NULL},     {"cpus", NULL, NULL},
    {"cuda", "cuda", NULL},  {"cuda:", NULL, NULL},     {"cuda:17", "cuda", "17"},
    {"cuda:-1", NULL, NULL}, {"cuda:4096", NULL, NULL}, {"cuda:x", NULL, NULL},
    {"null", "null", NULL},  {"null:", "null", ""},     {"null:a/b.json", "null", "a/b.json"},
    {"nullify", NULL, NULL}, {"", NULL, NULL},          {"no-such-device", NULL, NULL},
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    const char *rest = NULL;
    const LigBackendTable *found = lig_backend_table_find (cases[i].name, &rest);
    g_test_message ("%s", cases[i].name);
    g_assert_cmpstr (found ? found->info.name : NULL, ==, cases[i].backend);
    if (found)
      g_assert_cmpstr (rest, ==, cases[i].rest);
    g_assert_true (lig_backend_find (cases[i].name) == (found ? &found->info : NULL));
  }
}

/* A rejection and the help texts name every backend. */
static void
test_forms (void)
{
  g_autoptr (GError) error = NULL;
  const LigBackendInfo *info;
  g_assert_null (lig_device_open ("tpu:0", &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_DEVICE);
  for (guint n = 0; (info = lig_backend_nth (n)); n++) {
    g_assert_nonnull (strstr (error->message, info->form));
    g_assert_nonnull (strstr (lig_device_forms (0), info->form));
    g_assert_true (!strstr (lig_device_forms (info->traits), info->form) == (info->traits != 0));
    g_assert_true (lig_backend_find (info->name) == info);
  }
  g_assert_cmpstr (lig_device_forms (LIG_DEVICE_DESCRIBED), ==, "cpu or cuda:N");
  g_assert_cmpstr (lig_device_forms (0), ==, "cpu, cuda:N or null[:DESCRIPTION]");
}

/* Every listed name opens, as a device of the backend in the name. */
static void
test_list (void)
{
  g_auto (GStrv) names = lig_device_list ();
  g_assert_cmpstr (names[0], ==, "cpu");
  g_assert_true (g_strv_contains ((const char *const *) names, "null:h200"));
  for (char **name = names; *name; name++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (LigDevice) device = lig_device_open (*name, &error);
    const LigBackendInfo *info = lig_backend_find (*name);
    g_assert_no_error (error);
    g_assert_cmpstr (lig_device_get_name (device), ==, *name);
    for (unsigned trait = 1; trait <= LIG_DEVICE_MEASURES; trait <<= 1) {
      g_assert_cmpint (lig_device_has (device, trait), ==, (info->traits & trait) != 0);
      g_assert_cmpint (lig_device_name_has (*name, trait), ==, (info->traits & trait) != 0);
    }
  }
}

static void
test_tables (void)
{
  const LigBackendTable *backend;
  unsigned kinds = 0;
  for (guint n = 0; (backend = lig_backend_table_nth (n)); n++) {
    unsigned traits = backend->info.traits;
    g_test_message ("%s", backend->info.name);
    g_assert_false (kinds & 1u << backend->kind);
    kinds |= 1u << backend->kind;
    g_assert_true (g_str_has_prefix (backend->info.form, backend->info.name));
    /* A module's devices are counted and opened by number; others have their own functions. */
    g_assert_true (backend->driver ? !backend->open && backend->takes == LIG_TAKES_NUMBER
                                   : backend->open && backend->list);
    g_assert_false (traits & LIG_DEVICE_DESCRIBED && traits != LIG_DEVICE_DESCRIBED);
  }
  g_assert_cmpuint (kinds, ==, (1u << LIG_N_BACKENDS) - 1);
}

static void
test_policy (void)
{
  g_auto (GStrv) names = lig_device_list ();
  for (char **name = names; *name; name++) {
    g_autoptr (LigDevice) device = lig_device_open (*name, NULL);
    gboolean measures =
      lig_device_has (device, LIG_DEVICE_MEASURES) || lig_device_get_facts (device)->costs.known;
    g_assert_cmpint (lig_policy_for (LIG_POLICY_DEFAULT, device), ==,
                     measures ? LIG_POLICY_MEASURED : LIG_POLICY_ALL);
    g_assert_cmpint (lig_policy_for (LIG_POLICY_NONE, device), ==, LIG_POLICY_NONE);
    g_assert_cmpint (lig_policy_for (LIG_POLICY_MEASURED, device), ==, LIG_POLICY_MEASURED);
  }
  g_assert_false (lig_device_name_has ("cpu", LIG_DEVICE_MEASURES));
  g_assert_true (lig_device_name_has ("cuda:0", LIG_DEVICE_MEASURES));
}

static LigStatus
run_nothing (LigLaunch *launch)
{
  return LIG_OK;
}

/* A described device runs the kernels of the backend in its profile, else of the one that its
 * capability implies. */
static void
test_described (void)
{
  static const LigKernel own[] = {
    {.size = sizeof (LigKernel),
     .name = "own_cpu",
     .signature = "x -> y",
     .work = 1,
     .types = LIG_FLOATING_TYPES,
     .functions = {[LIG_BACKEND_CPU] = run_nothing}},
    {.size = sizeof (LigKernel),
     .name = "own_cuda",
     .signature = "x -> y",
     .work = 1,
     .types = LIG_FLOATING_TYPES,
     .functions = {[LIG_BACKEND_CUDA] = run_nothing}},
  };
  static const struct {
    const char *members;
    gboolean cpu, cuda;
  } cases[] = {
    {"", TRUE, FALSE},
    {", \"capability\": 90", FALSE, TRUE},
    {", \"capability\": 90, \"backend\": \"cpu\"", TRUE, FALSE},
    {", \"backend\": \"cuda\"", FALSE, TRUE},
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (LigDevice) device = lig_device_open ("null", &error);
    LigDeviceFacts facts, again;
    g_autofree char *json =
      g_strdup_printf ("{\"name\": \"a card\", \"copy\": 1e12%s}", cases[i].members);
    g_assert_true (lig_device_facts_from_json (json, &facts, &error));
    lig_device_set_facts (device, &facts);
    g_assert_cmpint (lig_device_has_kernel (device, &own[0], LIG_FP32), ==, cases[i].cpu);
    g_assert_cmpint (lig_device_has_kernel (device, &own[1], LIG_FP32), ==, cases[i].cuda);
    g_assert_true (lig_device_has_kernel (device, lig_kernel_find ("gelu"), LIG_FP32));
    g_autofree char *written = lig_device_facts_to_json (&facts);
    g_assert_true (lig_device_facts_from_json (written, &again, &error));
    g_assert_cmpstr (again.backend, ==, facts.backend);
  }
}

static void
test_unknown_backend (void)
{
  static const char *const names[] = {"null", "abacus"};
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    g_autoptr (GError) error = NULL;
    LigDeviceFacts facts;
    g_autofree char *json =
      g_strdup_printf ("{\"name\": \"a card\", \"copy\": 1e12, \"backend\": \"%s\"}", names[i]);
    g_assert_false (lig_device_facts_from_json (json, &facts, &error));
    g_assert_error (error, LIG_ERROR, LIG_ERROR_FORMAT);
    g_assert_nonnull (strstr (error->message, names[i]));
    g_assert_nonnull (strstr (error->message, "expected cpu or cuda"));
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/backends/names", test_names);
  g_test_add_func ("/backends/forms", test_forms);
  g_test_add_func ("/backends/list", test_list);
  g_test_add_func ("/backends/tables", test_tables);
  g_test_add_func ("/backends/policy", test_policy);
  g_test_add_func ("/backends/described", test_described);
  g_test_add_func ("/backends/unknown-backend", test_unknown_backend);
  return g_test_run ();
}
