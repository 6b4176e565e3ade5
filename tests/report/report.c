/* SPDX-License-Identifier: MIT */
/* Reports: each format of a plan and of a run, unusual names and numbers, and files that are either
 * written completely or left unchanged. */
#include "engine/base/json-private.h"
#include "engine/store/writing.h"
#include "tests/report/report-case.h"
#include <ligature/compile.h>
#include <ligature/kernels.h>
#include <ligature/plan-options.h>

#include <math.h>
#include <signal.h>
#include <sys/resource.h>

#define EXPRESSION \
  "make-extra-output(to=r) ! layer-norm ! linear(24) ! gelu ! linear(8) ! add-extra-input(from=r)"
#define COMMAND "lig report 'some ! thing' -o report.md"

static LigPlan *
new_plan (const char *expression, const char *name, const char *device_name)
{
  g_autoptr (GError) error = NULL;
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  LigShape shape;
  lig_shape_init (&shape, 2, G_GINT64_CONSTANT (16), G_GINT64_CONSTANT (8));
  g_autoptr (LigDevice) device = lig_device_open (device_name, &error);
  g_assert_no_error (error);
  g_autoptr (LigSequence) sequence = lig_sequence_from_expression (expression, &error);
  g_assert_no_error (error);
  lig_sequence_set_input (sequence, &shape, LIG_FP32);
  if (name)
    lig_sequence_set_name (sequence, name);
  options.input_gradient = TRUE;
  LigPlan *plan = lig_plan_compile (sequence, device, &options, &error);
  g_assert_no_error (error);
  return plan;
}

static char *
plan_text (LigPlan *plan, const char *format)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) report = lig_report_plan (plan, COMMAND, format, &error);
  g_assert_no_error (error);
  return g_strndup (g_bytes_get_data (report, NULL), g_bytes_get_size (report));
}

static char *
run_text (LigStore *store, const char *run, const char *format)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) report = lig_report_run (store, run, format, &error);
  g_assert_no_error (error);
  return g_strndup (g_bytes_get_data (report, NULL), g_bytes_get_size (report));
}

static JsonNode *
parse (const char *text)
{
  g_autoptr (GError) error = NULL;
  JsonNode *root = lig_json_read (text, strlen (text), NULL, &error);
  g_assert_no_error (error);
  g_assert_true (JSON_NODE_HOLDS_OBJECT (root));
  return root;
}

/* Reads cells as defined by RFC 4180; rows end with a line feed. */
static GPtrArray *
read_csv (const char *text)
{
  GPtrArray *rows = g_ptr_array_new_with_free_func ((GDestroyNotify) g_strfreev);
  g_autoptr (GStrvBuilder) row = g_strv_builder_new ();
  g_autoptr (GString) cell = g_string_new (NULL);
  gboolean quoted = FALSE;
  for (const char *at = text; *at; at++) {
    if (quoted && at[0] == '"' && at[1] == '"')
      g_string_append_c (cell, *at++);
    else if (*at == '"')
      quoted = !quoted;
    else if (!quoted && (*at == ',' || *at == '\n')) {
      g_strv_builder_add (row, cell->str);
      g_string_truncate (cell, 0);
      if (*at == '\n') {
        g_ptr_array_add (rows, g_strv_builder_end (row));
        g_strv_builder_unref (row);
        row = g_strv_builder_new ();
      }
    } else
      g_string_append_c (cell, *at);
  }
  g_assert_false (quoted);
  g_assert_cmpuint (cell->len, ==, 0);
  return rows;
}

/* --- Plans --------------------------------------------------------------------------------- */

/* Returns the text as a Markdown cell, where a bar is escaped with a backslash. */
static char *
as_cell (const char *text)
{
  g_auto (GStrv) parts = g_strsplit (text, "|", -1);
  return g_strjoinv ("\\|", parts);
}

static void
test_plan_md (void)
{
  g_autoptr (LigPlan) plan = new_plan (EXPRESSION, NULL, "null:h200");
  g_autofree char *text = plan_text (plan, "md");
  const LigRailsOptions form = {.size = sizeof form, .width = 100};
  g_autofree char *rails = lig_plan_to_rails (plan, &form);
  guint count;
  const LigVerdict *verdicts = lig_plan_get_verdicts (plan, &count);
  g_assert_cmpuint (count, >, 0);
  for (guint i = 0; i < count; i++) {
    g_autofree char *cell = as_cell (verdicts[i].text), *end = g_strdup_printf (" | %s |\n", cell);
    assert_contains (text, end);
  }
  assert_contains (text, rails);
  assert_contains (text, COMMAND);
  assert_contains (text, "NVIDIA H200 (only described)");
  assert_contains (text, "from a profile, not measured here");
  assert_contains (text, "compute fp32, parameters fp32");
  assert_contains (text, "| Policy | measured");
  assert_contains (text, "| 2 | forward-linear-bias-activation | 2 to 3 |"
                         " 2 basic-linear, 2 bias, 3 gelu | linear_bias_gelu |");
  assert_contains (text, "| 1 | 1 | layer-norm | 16x8 | 16x8 fp32 | 16 |");
  assert_contains (text, "## Memory");
  assert_contains (text, "| Peak of live values |");
  assert_contains (text, "{\"op\": \"linear\", \"out-features\": 24}");
  g_assert_true (g_str_has_prefix (text, "# Plan: make-extra-output(r) ! layer-norm"));
}

static void
test_plan_json (void)
{
  g_autoptr (LigPlan) plan = new_plan (EXPRESSION, NULL, "cpu");
  g_autofree char *text = plan_text (plan, "json");
  g_autoptr (JsonNode) root = parse (text), fuse = lig_plan_to_json (plan);
  JsonObject *object = json_node_get_object (root), *first;
  g_autoptr (GList) names = json_object_get_members (json_node_get_object (fuse));
  guint count;
  for (GList *name = names; name; name = name->next)
    g_assert_true (json_object_has_member (object, name->data));
  lig_plan_get_steps (plan, &count);
  g_assert_cmpuint (json_array_get_length (json_object_get_array_member (object, "steps")), ==,
                    count);
  first = json_array_get_object_element (json_object_get_array_member (object, "steps"), 0);
  g_assert_cmpstr (json_object_get_string_member (first, "kernel"), ==, "layer_norm");
  g_assert_cmpint (json_object_get_int_member (first, "group"), ==, 1);
  lig_plan_get_values (plan, &count);
  g_assert_cmpuint (json_array_get_length (json_object_get_array_member (object, "values")), ==,
                    count);
  g_assert_cmpint (
    json_object_get_int_member (json_object_get_object_member (object, "memory"), "arena_bytes"),
    ==, lig_plan_get_arena_bytes (plan, NULL));
  g_assert_cmpstr (json_object_get_string_member (object, "command"), ==, COMMAND);
  /* json-glib 1.6 would write 1e-05.0. */
  assert_contains (text, "\"eps\": 1e-5");
}

static void
test_plan_csv (void)
{
  g_autoptr (LigPlan) plan = new_plan (EXPRESSION, NULL, "null:h200");
  g_autofree char *text = plan_text (plan, "csv");
  g_autoptr (GPtrArray) rows = read_csv (text);
  guint count, n_groups;
  const LigPlanStep *steps = lig_plan_get_steps (plan, &count);
  const LigPlanGroup *groups = lig_plan_get_groups (plan, LIG_PASS_FORWARD, &n_groups);
  g_autofree char *header = g_strjoinv (",", rows->pdata[0]);
  g_assert_cmpstr (header, ==,
                   "index,pass,group,fusion,kernel,operands,read,written,flops,predicted_us");
  g_assert_cmpuint (rows->len, ==, count + 1);
  for (guint i = 0; i < count; i++) {
    char **cells = rows->pdata[i + 1];
    g_assert_cmpuint (g_strv_length (cells), ==, 10);
    g_assert_cmpuint (g_ascii_strtoull (cells[0], NULL, 10), ==, i);
    g_assert_cmpstr (cells[4], ==, steps[i].kernel->name);
    g_autofree char *operands = lig_plan_name_operands (plan, &steps[i]);
    g_assert_cmpstr (cells[5], ==, operands);
    g_assert_cmpfloat (g_ascii_strtod (cells[8], NULL), ==, steps[i].flops);
    g_assert_cmpfloat_with_epsilon (g_ascii_strtod (cells[9], NULL), steps[i].predicted * 1e6,
                                    1e-9);
    if (steps[i].pass == LIG_PASS_FORWARD) {
      const LigFusion *fusion = groups[steps[i].group].fusion;
      g_assert_cmpstr (cells[3], ==, fusion ? fusion->name : "");
    }
  }
}

/* Names are not interpreted as Markdown; the title contains only a line of a longer one. */
static void
test_plan_names (void)
{
  g_autofree char *many = g_strnfill (500, 'n');
  const struct {
    const char *name, *title;
  } cases[] = {
    {"Schicht für Schicht, 層", "# Plan: Schicht für Schicht, 層\n"},
    {"*bold* _it_ a_b `c` <d> [e](f) \\ | $", "# Plan: \\*bold\\* \\_it\\_ a_b \\`c\\` \\<d>"
                                              " [e\\](f) \\\\ \\| \\$\n"},
    {"two\nlines", "# Plan: two lines\n"},
    {many, "nnn…\n"},
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (LigPlan) plan = new_plan ("gelu", cases[i].name, "cpu");
    g_autofree char *text = plan_text (plan, "md");
    assert_contains (text, cases[i].title);
    g_assert_true (g_utf8_validate (text, -1, NULL));
  }
}

/* Every format can show a plan without kernels and one for evaluation. */
static void
test_plan_small (void)
{
  static const char *const expressions[] = {"identity", "reshape([16, 2, 4])", "relu"};
  for (guint i = 0; i < G_N_ELEMENTS (expressions); i++) {
    g_autoptr (LigPlan) plan = new_plan (expressions[i], NULL, "cpu");
    const char *format;
    for (guint j = 0; (format = lig_report_format_nth (j)); j++) {
      g_autoptr (GError) error = NULL;
      g_autoptr (GBytes) report = lig_report_plan (plan, COMMAND, format, &error);
      g_assert_no_error (error);
      g_assert_cmpuint (g_bytes_get_size (report), >, 10);
    }
  }
}

/* --- Runs ---------------------------------------------------------------------------------- */

/* Stores a run with all kinds of data. */
static char *
fill_run (LigStore *store, const char *name)
{
  g_autoptr (GError) error = NULL;
  LigRunRecord record = example;
  record.name = name;
  record.sequence = "{\"ligature\":1,\"ops\":[{\"op\":\"linear\",\"out-features\":3}]}";
  record.settings = "{\"lr\":0.1,\"steps\":1000,\"eps\":1e-8,\"data\":\"csv:a|b.csv\",\"odd\":[1]}";
  char *run = lig_store_begin_run (store, &record, &error);
  g_assert_no_error (error);
  for (gint64 step = 1; step <= 100; step++)
    lig_store_add_metric (store, run, step, LIG_METRIC_LOSS, 2.0 / (double) step);
  lig_store_add_metric (store, run, 37, LIG_METRIC_EVAL_LOSS, 0.125);
  lig_store_add_metric (store, run, 100, LIG_METRIC_EVAL_LOSS, 0.0625);
  lig_store_add_metric (store, run, 100, LIG_METRIC_EVAL_ACCURACY, 0.875);
  lig_store_add_metric (store, run, 1, "=odd,\"name\"", INFINITY);
  lig_store_add_metric (store, run, 2, "=odd,\"name\"", -INFINITY);
  lig_store_add_metric (store, run, 3, "=odd,\"name\"", NAN);
  for (gint64 step = 0; step < 3; step++)
    lig_store_add_timing (store, run, step, 1, "forward", 10.0 * (double) (step + 1), 4e6, 8e9);
  lig_store_add_fusion (store, run, "forward", 0, 0, 2, "forward-linear-bias-activation");
  lig_store_add_fusion (store, run, "backward", 0, 1, 1, NULL);
  lig_store_add_verdict (store, run, "forward-linear-bias-add", "forward", 0, 2, FALSE, "pattern",
                         "end", "a|b", "it ends here, expected a|b");
  lig_store_add_verdict (store, run, "forward-linear-bias-activation", "forward", 0, 2, TRUE, NULL,
                         NULL, NULL, "taken");
  lig_store_add_artifact (store, run, "checkpoint", "/some/where/x.safetensors");
  lig_store_add_tag (store, run, "first", &error);
  lig_store_set_note (store, run, "a note", &error);
  lig_store_finish_run (store, run, "interrupted", "by hand", &error);
  g_assert_no_error (error);
  return run;
}

static void
test_run_md (Fixture *f, gconstpointer data)
{
  g_autoptr (LigStore) store = open_store (f->path);
  g_autofree char *run = fill_run (store, "Größe");
  g_autofree char *text = run_text (store, run, "md");
  g_autofree char *resume = g_strdup_printf ("lig train --resume %s --store %s\n", run, f->path);
  g_assert_true (g_str_has_prefix (text, "# Run: Größe\n"));
  assert_contains (text, run);
  assert_contains (text, "| Status | interrupted |\n| Message | by hand |");
  assert_contains (text, "| Seed | 18446744073709551614 |");
  assert_contains (text, "| Tags | first |");
  assert_contains (text, "| Last loss | 0.02 |");
  assert_contains (text, "| Validation accuracy | 87.5 % |");
  assert_contains (text, "| lr | 0.1 | 0.001 |");
  assert_contains (text, "| data | csv:a\\|b.csv |");
  assert_contains (text, "| odd | [1] |");
  assert_contains (text, "| steps | 1000 | 1000 |");
  g_assert_true (strstr (text, "| lr |") < strstr (text, "| steps |"));
  assert_contains (text, "| 1 | 2 | - | - |\n");
  assert_contains (text, "| 37 | 0.0540541 | 0.125 | - |\n");
  assert_contains (text, "| 100 | 0.02 | 0.0625 | 0.875 |\n");
  assert_contains (text, "█");
  assert_contains (text, "| forward | 1 | 3 | 20.0 µs | 4.00 MB | 8.00 G |");
  assert_contains (text, "| forward | 0 | forward-linear-bias-activation | ops 0 to 1 |");
  assert_contains (text, "| it ends here, expected a\\|b |");
  assert_contains (text, "linear(3)\n");
  assert_contains (text, resume);
}

static JsonNode *
get_null (JsonObject *object, const char *metric, guint n)
{
  return json_array_get_element (
    json_object_get_array_member (json_object_get_object_member (object, metric), "values"), n);
}

static void
test_run_json (Fixture *f, gconstpointer data)
{
  g_autoptr (LigStore) store = open_store (f->path);
  g_autofree char *run = fill_run (store, "\"quoted\"\t層");
  g_autofree char *text = run_text (store, run, "json");
  g_autoptr (JsonNode) root = parse (text);
  JsonObject *object = json_node_get_object (root), *metrics, *loss;
  g_assert_cmpstr (json_object_get_string_member (object, "run"), ==, run);
  g_assert_cmpstr (json_object_get_string_member (object, "name"), ==, "\"quoted\"\t層");
  g_assert_cmpstr (json_object_get_string_member (object, "seed"), ==, "18446744073709551614");
  g_assert_cmpfloat (
    json_object_get_double_member (json_object_get_object_member (object, "settings"), "eps"), ==,
    1e-8);
  metrics = json_object_get_object_member (object, "metrics");
  g_assert_cmpuint (json_object_get_size (metrics), ==, 4);
  loss = json_object_get_object_member (metrics, "loss");
  g_assert_cmpuint (json_array_get_length (json_object_get_array_member (loss, "steps")), ==, 100);
  g_assert_cmpfloat (
    json_array_get_double_element (json_object_get_array_member (loss, "values"), 2), ==, 2.0 / 3);
  for (guint i = 0; i < 3; i++)
    g_assert_true (JSON_NODE_HOLDS_NULL (get_null (metrics, "=odd,\"name\"", i)));
  static const struct {
    const char *name;
    guint length;
  } arrays[] = {{"timings", 3}, {"fusions", 2}, {"verdicts", 2}, {"artifacts", 1}, {"tags", 1}};
  for (guint i = 0; i < G_N_ELEMENTS (arrays); i++)
    g_assert_cmpuint (json_array_get_length (json_object_get_array_member (object, arrays[i].name)),
                      ==, arrays[i].length);
}

static void
test_run_csv (Fixture *f, gconstpointer data)
{
  g_autoptr (LigStore) store = open_store (f->path);
  g_autofree char *run = fill_run (store, "csv");
  g_autofree char *text = run_text (store, run, "csv");
  g_autoptr (GPtrArray) rows = read_csv (text);
  g_autofree char *header = g_strjoinv (",", rows->pdata[0]);
  static const char *const odd[] = {"inf", "-inf", "nan"};
  g_assert_cmpstr (header, ==, "metric,step,value");
  g_assert_cmpuint (rows->len, ==, 1 + 100 + 3 + 3);
  assert_contains (text, "\"'=odd,\"\"name\"\"\",1,inf\n");
  for (guint i = 0; i < 3; i++) {
    char **cells = rows->pdata[1 + i];
    g_assert_cmpstr (cells[0], ==, "'=odd,\"name\"");
    g_assert_cmpstr (cells[2], ==, odd[i]);
  }
  for (guint i = 7; i < rows->len; i++) {
    char **cells = rows->pdata[i];
    g_assert_cmpuint (g_strv_length (cells), ==, 3);
    g_assert_cmpstr (cells[0], ==, "loss");
    g_assert_cmpfloat (g_ascii_strtod (cells[2], NULL), ==,
                       2.0 / (double) g_ascii_strtoull (cells[1], NULL, 10));
  }
}

/* A run with settings that are not JSON, an unreadable sequence, and no metrics. */
static void
test_run_empty (Fixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigStore) store = open_store (f->path);
  g_autofree char *name = g_strnfill (3000, 'x');
  LigRunRecord record = {
    .name = name, .kind = "train", .settings = "{no json", .sequence = "nothing"};
  g_autofree char *run = lig_store_begin_run (store, &record, &error);
  g_assert_no_error (error);
  g_autofree char *md = run_text (store, "last", "md");
  assert_contains (md, "The run reported no metrics.");
  assert_contains (md, "None was recorded.");
  assert_contains (md, "The run is in progress");
  g_assert_null (strstr (md, "## Settings"));
  g_assert_null (strstr (md, "## Loss"));
  g_autofree char *csv = run_text (store, "last", "csv");
  g_assert_cmpstr (csv, ==, "metric,step,value\n");
  g_autofree char *json = run_text (store, "last", "json");
  g_autoptr (JsonNode) root = parse (json);
  JsonObject *object = json_node_get_object (root);
  g_assert_cmpstr (json_object_get_string_member (object, "settings"), ==, "{no json");
  g_assert_cmpuint (json_object_get_size (json_object_get_object_member (object, "metrics")), ==,
                    0);
}

static void
test_run_missing (Fixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigStore) store = open_store (f->path);
  g_autofree char *path = g_build_filename (f->folder, "x.md", NULL);
  g_assert_false (lig_report_write_run (store, "last", path, &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_STORE);
  g_assert_false (g_file_test (path, G_FILE_TEST_EXISTS));
}

/* --- Files --------------------------------------------------------------------------------- */

static void
test_formats (void)
{
  static const struct {
    const char *path, *format;
  } cases[] = {{"a.md", "md"},
               {"/x/b.json", "json"},
               {"d.e.md", "md"},
               {"a.html", "html"},
               {"a.PNG", "png"},
               {"a.trace.json", "trace.json"},
               {"trace.json", "json"},
               {"a.gif", NULL},
               {"folder.md/a", NULL},
               {"md", NULL},
               {".trace.json", "json"},
               {".md", NULL},
               {"a.", NULL},
               {"", NULL}};
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) error = NULL;
    g_assert_cmpstr (lig_report_choose_format (cases[i].path, &error), ==, cases[i].format);
    if (cases[i].format) {
      g_assert_no_error (error);
      continue;
    }
    g_assert_error (error, LIG_ERROR, LIG_ERROR_FORMAT);
    assert_contains (error->message,
                     "expected md, html, json, csv, svg, pdf, png, dot, trace.json");
  }
}

static guint
count_entries (const char *folder)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  guint n = 0;
  while (g_dir_read_name (dir))
    n++;
  return n;
}

static void
assert_file (const char *path, const char *text)
{
  g_autofree char *found = NULL;
  g_assert_true (g_file_get_contents (path, &found, NULL, NULL));
  g_assert_cmpstr (found, ==, text);
}

static void
test_write (Fixture *f, gconstpointer data)
{
  static const char *const names[] = {"a.md", "ünï-層.json", "b.csv"};
  g_autoptr (LigPlan) plan = new_plan (EXPRESSION, NULL, "cpu");
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    g_autoptr (GError) error = NULL;
    g_autofree char *path = g_build_filename (f->folder, names[i], NULL);
    g_autofree char *text = plan_text (plan, strrchr (names[i], '.') + 1);
    g_assert_true (lig_report_write_plan (plan, COMMAND, path, &error));
    g_assert_no_error (error);
    assert_file (path, text);
    /* The second time overwrites an existing file. */
    g_assert_true (g_file_set_contents (path, "old", -1, NULL));
    g_assert_true (lig_report_write_plan (plan, COMMAND, path, &error));
    assert_file (path, text);
  }
  g_assert_cmpuint (count_entries (f->folder), ==, G_N_ELEMENTS (names));
}

/* The link is kept and the file that it points to is replaced. */
static void
test_write_link (Fixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) report = g_bytes_new_static ("new", 3);
  g_autofree char *file = g_build_filename (f->folder, "file", NULL);
  g_autofree char *link = g_build_filename (f->folder, "link.md", NULL);
  g_assert_true (g_file_set_contents (file, "old", -1, NULL));
  g_assert_cmpint (symlink ("file", link), ==, 0);
  g_assert_true (lig_report_save (report, link, &error));
  g_assert_no_error (error);
  g_assert_true (g_file_test (link, G_FILE_TEST_IS_SYMLINK));
  assert_file (file, "new");
}

/* A report written to a device does not replace it with a file. */
static void
test_write_device (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) report = g_bytes_new_static ("new", 3);
  g_assert_true (lig_report_save (report, "/dev/null", &error));
  g_assert_no_error (error);
  g_assert_false (g_file_test ("/dev/null", G_FILE_TEST_IS_REGULAR));
  if (!g_file_test ("/dev/full", G_FILE_TEST_EXISTS))
    return;
  g_assert_false (lig_report_save (report, "/dev/full", &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_FILE);
  assert_contains (error->message, "/dev/full: cannot be written: ");
}

static void
assert_unsaved (LigPlan *plan, const char *path)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *start = g_strdup_printf ("%s: cannot be saved: ", path);
  g_assert_false (lig_report_write_plan (plan, COMMAND, path, &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_FILE);
  g_assert_true (g_str_has_prefix (error->message, start));
}

/* The folder is missing, is a file, or the file is a folder; and, except for root, the folder is
 * not writable. */
static void
test_write_rejected (Fixture *f, gconstpointer data)
{
  g_autoptr (LigPlan) plan = new_plan ("gelu", NULL, "cpu");
  g_autofree char *missing = g_build_filename (f->folder, "none", "a.md", NULL);
  g_autofree char *file = g_build_filename (f->folder, "file", NULL);
  g_autofree char *below = g_build_filename (file, "a.md", NULL);
  g_autofree char *folder = g_build_filename (f->folder, "folder.md", NULL);
  g_autofree char *inside = g_build_filename (folder, "a.md", NULL);
  g_assert_true (g_file_set_contents (file, "x", -1, NULL));
  g_assert_cmpint (g_mkdir (folder, 0500), ==, 0);
  assert_unsaved (plan, missing);
  assert_unsaved (plan, below);
  assert_unsaved (plan, folder);
  if (geteuid () != 0)
    assert_unsaved (plan, inside);
  g_assert_cmpuint (count_entries (f->folder), ==, 2);
}

/* Limits the file size, which has the same effect as a full disk. */
static void
test_write_full (Fixture *f, gconstpointer data)
{
  struct rlimit before, little;
  g_autoptr (LigPlan) plan = new_plan (EXPRESSION, NULL, "cpu");
  g_autofree char *path = g_build_filename (f->folder, "a.md", NULL);
  g_assert_true (g_file_set_contents (path, "old", -1, NULL));
  g_assert_cmpint (getrlimit (RLIMIT_FSIZE, &before), ==, 0);
  little = (struct rlimit){100, before.rlim_max};
  signal (SIGXFSZ, SIG_IGN);
  g_assert_cmpint (setrlimit (RLIMIT_FSIZE, &little), ==, 0);
  g_autoptr (GError) error = NULL;
  gboolean saved = lig_report_write_plan (plan, COMMAND, path, &error);
  g_assert_cmpint (setrlimit (RLIMIT_FSIZE, &before), ==, 0);
  g_assert_false (saved);
  g_assert_error (error, LIG_ERROR, LIG_ERROR_FILE);
  assert_file (path, "old");
  g_assert_cmpuint (count_entries (f->folder), ==, 1);
}

static void
test_unknown (Fixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigPlan) plan = new_plan ("gelu", NULL, "cpu");
  g_autofree char *path = g_build_filename (f->folder, "a.htm", NULL);
  g_assert_true (g_file_set_contents (path, "old", -1, NULL));
  g_assert_false (lig_report_write_plan (plan, COMMAND, path, &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_FORMAT);
  assert_contains (error->message, "report format 'htm' is unknown, expected md, html, json, ");
  assert_file (path, "old");
  g_clear_error (&error);
  g_assert_null (lig_report_plan (plan, NULL, "gif", &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_FORMAT);
}

#define ADD(path, function) g_test_add ("/report/" path, Fixture, NULL, set_up, function, tear_down)

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/report/plan/md", test_plan_md);
  g_test_add_func ("/report/plan/json", test_plan_json);
  g_test_add_func ("/report/plan/csv", test_plan_csv);
  g_test_add_func ("/report/plan/names", test_plan_names);
  g_test_add_func ("/report/plan/small", test_plan_small);
  ADD ("run/md", test_run_md);
  ADD ("run/json", test_run_json);
  ADD ("run/csv", test_run_csv);
  ADD ("run/empty", test_run_empty);
  ADD ("run/missing", test_run_missing);
  g_test_add_func ("/report/formats", test_formats);
  ADD ("write/plain", test_write);
  ADD ("write/link", test_write_link);
  g_test_add_func ("/report/write/device", test_write_device);
  ADD ("write/rejected", test_write_rejected);
  ADD ("write/full", test_write_full);
  ADD ("write/unknown", test_unknown);
  return g_test_run ();
}
