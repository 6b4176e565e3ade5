/* SPDX-License-Identifier: MIT */
/* lig devices: lists the devices to run on or to plan for, with their peak rates. */
#include "app/cli/blame.h"
#include "app/cli/devices-fabric.h"
#include "app/cli/devices-libraries.h"
#include "app/cli/document.h"
#include "app/cli/live.h"
#include "app/cli/output-file.h"
#include "app/cli/sequence-options.h"
#include "app/cli/shared-options.h"
#include "app/cli/table.h"
#include "app/cli/task.h"
#include <ligature/json.h>
#include <ligature/kernels.h>
#include <ligature/report.h>
#include <ligature/store-tuning.h>
#include <ligature/store.h>
#include <ligature/tuning.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

static gboolean measure;
static char *output, *store_path;

static int run (int argc, char **argv);

LIG_COMMAND (devices) = {
  .name = "devices",
  .usage = "[DEVICE] [--measure] [-o FILE]",
  .summary = "Lists the devices with their memory and peak rates",
  .example = "lig devices --json",
  .run = run,
};

static const GOptionEntry entries[] = {
  {"measure", 0, 0, G_OPTION_ARG_NONE, &measure,
   "Measure the peak rates, on a GPU also the kernel overheads, and keep them in the store", NULL},
  LIG_CLI_OUTPUT_ENTRY (&output),
  LIG_CLI_STORE_ENTRY (&store_path),
  {NULL},
};

static gboolean
is_real (LigDevice *device)
{
  return !lig_device_has (device, LIG_DEVICE_DESCRIBED);
}

static gboolean
measure_device (LigStore *store, LigDevice *device, GError **error)
{
  const char *name = lig_device_get_name (device);
  g_autofree char *task = g_strconcat ("measuring ", name, NULL);
  if (!lig_cli_live ())
    lig_cli_say ("%s …", task);
  lig_cli_task_begin (task);
  gboolean measured = lig_device_measure (device, error);
  lig_cli_task_end ();
  if (!measured)
    return FALSE;
  g_autofree char *json = lig_device_facts_to_json (lig_device_get_facts (device));
  return lig_store_put_device (store, name, json, error);
}

/* Opens the named devices and measures each or reads its stored peak rates. Returns NULL on error.
 */
static GPtrArray *
open_devices (char **names, GError **error)
{
  g_autoptr (GPtrArray) devices = g_ptr_array_new_with_free_func (g_object_unref);
  g_autoptr (LigStore) store = NULL;
  /* Only measuring creates a database. */
  if (measure) {
    store = lig_store_open (store_path, error);
    if (!store)
      return NULL;
    if (lig_store_get_warning (store))
      lig_cli_say ("%s", lig_store_get_warning (store));
  }
  for (char **name = names; *name; name++) {
    LigDevice *device = lig_cli_open_named (*name, error);
    if (!device)
      return NULL;
    g_ptr_array_add (devices, device);
    gboolean needed = measure && (is_real (device) || g_strv_length (names) == 1);
    if (needed && !measure_device (store, device, error))
      return NULL;
    if (!needed)
      lig_tuning_recall (device, store_path);
  }
  return g_steal_pointer (&devices);
}

/* A backend without a working device. */
typedef struct {
  const LigBackendInfo *info;
  GError *error;
} Missing;

/* The 4-bit matmuls, which have no type of their own. */
#define FP4 "fp4"

/* --- Output -------------------------------------------------------------------------------- */

static void
add_device (JsonBuilder *builder, LigDevice *device)
{
  const LigDeviceFacts *facts = lig_device_get_facts (device);
  json_builder_begin_object (builder);
  lig_json_add_text (builder, "device", lig_device_get_name (device));
  lig_json_add_truth (builder, "usable", is_real (device));
  lig_json_add_text (builder, "name", facts->name);
  lig_json_add_integer (builder, "capability", facts->capability);
  lig_json_add_integer (builder, "multiprocessors", facts->multiprocessors);
  lig_json_add_integer (builder, "memory", facts->memory);
  lig_json_add_integer (builder, "l2", facts->l2);
  lig_json_add_number (builder, "copy", facts->copy > 0 ? facts->copy : NAN);
  lig_json_add_number (builder, "launch", facts->copy > 0 ? facts->launch : NAN);
  lig_json_add_number (builder, "upload", facts->upload > 0 ? facts->upload : NAN);
  lig_json_add_text (builder, "libraries", facts->libraries);
  lig_json_begin_object (builder, "matmul");
  for (int i = 0; i < LIG_N_DTYPES; i++)
    if (facts->matmul[i] > 0)
      lig_json_add_number (builder, lig_dtype_name ((LigDtype) i), facts->matmul[i]);
  if (facts->matmul_fp4 > 0)
    lig_json_add_number (builder, FP4, facts->matmul_fp4);
  json_builder_end_object (builder);
  lig_cli_add_fabric (builder, &facts->fabric);
  lig_json_add_truth (builder, "measured", facts->measured);
  if (lig_device_get_built_for (device))
    lig_json_add_text (builder, "built_for", lig_device_get_built_for (device));
  lig_cli_add_libraries (builder, lig_device_get_name (device));
  lig_json_add_text (builder, "reason", is_real (device) ? NULL : "only described");
  json_builder_end_object (builder);
}

static void
print_json (GPtrArray *devices, GPtrArray *missing)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  json_builder_begin_array (builder);
  for (guint i = 0; i < devices->len; i++)
    add_device (builder, devices->pdata[i]);
  for (guint i = 0; i < missing->len; i++) {
    const Missing *one = missing->pdata[i];
    json_builder_begin_object (builder);
    lig_json_add_text (builder, "device", one->info->name);
    lig_json_add_truth (builder, "usable", FALSE);
    lig_json_add_text (builder, "reason", one->error->message);
    lig_cli_add_libraries (builder, one->info->name);
    json_builder_end_object (builder);
  }
  json_builder_end_array (builder);
  lig_cli_print_document ("devices", json_builder_get_root (builder));
}

static char *
format_rate (double rate, const char *unit)
{
  g_autofree char *number = rate > 0 ? lig_units_count (rate) : NULL;
  return number ? g_strconcat (number, unit, NULL) : g_strdup ("-");
}

/* The bit of 4-bit matmuls in a set of types. */
#define FP4_BIT (1u << LIG_N_DTYPES)

/* Returns the types for which at least one device has a matmul rate. */
static unsigned
find_types (GPtrArray *devices)
{
  unsigned types = 0;
  for (guint i = 0; i < devices->len; i++) {
    const LigDeviceFacts *facts = lig_device_get_facts (devices->pdata[i]);
    for (int j = 0; j < LIG_N_DTYPES; j++)
      if (facts->matmul[j] > 0)
        types |= 1u << j;
    if (facts->matmul_fp4 > 0)
      types |= FP4_BIT;
  }
  return types;
}

/* Returns the instruction set of the kernels: `sm_90`, `x86-64-v3`. */
static char *
describe_arch (LigDevice *device)
{
  int capability = lig_device_get_facts (device)->capability;
  const char *level = lig_cpu_level ();
  if (capability > 0)
    return g_strdup_printf ("sm_%d", capability);
  return !is_real (device)                 ? g_strdup ("-")
         : g_str_equal (level, "baseline") ? g_strdup ("x86-64")
                                           : g_strconcat ("x86-64-", level, NULL);
}

static char **
describe_device (LigDevice *device, unsigned types)
{
  const LigDeviceFacts *facts = lig_device_get_facts (device);
  GPtrArray *cells = g_ptr_array_new ();
  g_ptr_array_add (cells, g_strdup (lig_device_get_name (device)));
  g_ptr_array_add (cells, g_strdup (facts->name));
  g_ptr_array_add (cells, describe_arch (device));
  g_ptr_array_add (cells, lig_units_bytes ((double) facts->memory));
  g_ptr_array_add (cells, format_rate (facts->copy, "B/s"));
  for (int i = 0; i < LIG_N_DTYPES; i++)
    if (types & 1u << i)
      g_ptr_array_add (cells, format_rate (facts->matmul[i], ""));
  if (types & FP4_BIT)
    g_ptr_array_add (cells, format_rate (facts->matmul_fp4, ""));
  g_ptr_array_add (cells, g_strdup (facts->measured    ? "measured"
                                    : facts->copy <= 0 ? "unknown"
                                    : is_real (device) ? "assumed"
                                                       : "from description"));
  g_ptr_array_add (cells, NULL);
  return (char **) g_ptr_array_free (cells, FALSE);
}

static void
print_table (GPtrArray *devices, GPtrArray *missing)
{
  unsigned types = find_types (devices);
  g_autoptr (GStrvBuilder) header = g_strv_builder_new ();
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func ((GDestroyNotify) g_strfreev);
  g_strv_builder_add_many (header, "device", "name", "arch", ">memory", ">bandwidth", NULL);
  for (int i = 0; i < LIG_N_DTYPES; i++)
    if (types & 1u << i) {
      g_autofree char *title = g_strconcat (">", lig_dtype_name ((LigDtype) i), NULL);
      g_strv_builder_add (header, title);
    }
  if (types & FP4_BIT)
    g_strv_builder_add (header, ">" FP4);
  g_strv_builder_add (header, "peak rates");
  g_auto (GStrv) titles = g_strv_builder_end (header);
  for (guint i = 0; i < devices->len; i++)
    g_ptr_array_add (rows, describe_device (devices->pdata[i], types));
  lig_cli_print_table ((const char *const *) titles, rows);
  printf ("\nmatmuls in FLOP/s; null: devices are descriptions: plans for them can be made, but "
          "not run\n");
  lig_cli_print_fabrics (devices);
  const LigBackendInfo *last = NULL;
  for (guint i = 0; i < devices->len; i++) {
    const LigBackendInfo *info = lig_backend_find (lig_device_get_name (devices->pdata[i]));
    if (info != last && lig_device_get_built_for (devices->pdata[i]))
      printf ("The %s module was built for %s\n", info->title,
              lig_device_get_built_for (devices->pdata[i]));
    if (info != last)
      lig_cli_print_libraries (info->name);
    last = info;
  }
  for (guint i = 0; i < missing->len; i++) {
    const Missing *one = missing->pdata[i];
    lig_cli_print ("%s", one->error->message);
    lig_cli_print_libraries (one->info->name);
  }
}

static gboolean
write_profile (GPtrArray *devices, GError **error)
{
  LigDevice *best = devices->pdata[0];
  for (guint i = 0; i < devices->len; i++)
    if (lig_device_has (devices->pdata[i], LIG_DEVICE_ACCELERATOR) &&
        !lig_device_has (best, LIG_DEVICE_ACCELERATOR))
      best = devices->pdata[i];
  g_autofree char *json = lig_device_facts_to_json (lig_device_get_facts (best));
  g_autoptr (JsonNode) document = lig_json_from_text (json, error);
  if (!document)
    return FALSE;
  lig_json_add_units (document);
  g_autofree char *lines = lig_json_to_text (document);
  char *text = g_strconcat (lines, "\n", NULL);
  g_autoptr (GBytes) file = g_bytes_new_take (text, strlen (text));
  if (!lig_cli_write_output (file, output, error))
    return FALSE;
  if (!lig_cli_is_standard (output))
    lig_cli_say ("the profile of %s is in %s", lig_device_get_name (best), output);
  return TRUE;
}

static void
free_missing (gpointer data)
{
  Missing *missing = data;
  g_error_free (missing->error);
  g_free (missing);
}

/* Returns the accelerator backends without a working device, each with the reason. */
static GPtrArray *
find_missing (char **names)
{
  const LigBackendInfo *info;
  GPtrArray *missing = g_ptr_array_new_with_free_func (free_missing);
  for (guint n = 0; g_strv_length (names) > 1 && (info = lig_backend_nth (n)); n++) {
    GError *error = NULL;
    if (!(info->traits & LIG_DEVICE_ACCELERATOR))
      continue;
    g_autofree char *name = g_strdup_printf ("%s:0", info->name);
    g_autoptr (LigDevice) device = lig_device_open (name, &error);
    if (!device)
      g_ptr_array_add (missing, g_memdup2 (&(Missing){info, error}, sizeof (Missing)));
  }
  return missing;
}

static int
run (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  if (!lig_cli_parse (&lig_command_devices, entries, &argc, &argv, 0, 1))
    return LIG_EXIT_USAGE;
  if (output &&
      (!lig_cli_check_output (output, NULL, &error) || !lig_cli_check_file (output, &error)))
    return lig_cli_fail (g_steal_pointer (&error));
  g_auto (GStrv) names = argc > 1 ? g_strdupv ((char *[]){argv[1], NULL}) : lig_device_list ();
  g_autoptr (GPtrArray) missing = find_missing (names);
  g_autoptr (GPtrArray) devices = open_devices (names, &error);
  if (!devices || (output && !write_profile (devices, &error)))
    return lig_cli_fail (g_steal_pointer (&error));
  if (lig_cli_json ())
    print_json (devices, missing);
  else if (!lig_cli_is_standard (output))
    print_table (devices, missing);
  return LIG_EXIT_OK;
}
