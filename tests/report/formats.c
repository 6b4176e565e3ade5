/* SPDX-License-Identifier: MIT */
/* Reports as pages, pictures, graphs and traces, of plans and of runs: each is valid in its format
 * and contains the plan's numbers, even with unusual names. */
#include "engine/base/json-private.h"
#include "engine/draw/canvas.h"
#include "engine/report/picture.h"
#include "engine/store/writing.h"
#include "tests/base/contains.h"
#include "tests/draw/read-picture.h"
#include "tests/store/case.h"
#include <ligature/compile.h>
#include <ligature/kernels.h>
#include <ligature/plan-options.h>
#include <ligature/report.h>

#include <cairo.h>
#include <math.h>
#include <time.h>

#define EXPRESSION \
  "make-extra-output(to=r) ! layer-norm ! linear(24) ! gelu ! linear(8) ! add-extra-input(from=r)"
#define COMMAND "lig report 'some ! <thing>' -o report.html"
#define HOSTILE "</title></script><script>alert(\"1\")</script> & 'q' ]]> \\ --> \x01"

static LigPlan *
new_plan (const char *expression, const char *name)
{
  g_autoptr (GError) error = NULL;
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  LigShape shape;
  lig_shape_init (&shape, 2, G_GINT64_CONSTANT (16), G_GINT64_CONSTANT (8));
  g_autoptr (LigDevice) device = lig_device_open ("null:h200", &error);
  g_assert_no_error (error);
  g_autoptr (LigSequence) sequence = lig_sequence_from_expression (expression, &error);
  g_assert_no_error (error);
  lig_sequence_set_input (sequence, &shape, LIG_FP32);
  if (name)
    lig_sequence_set_name (sequence, name);
  LigPlan *plan = lig_plan_compile (sequence, device, &options, &error);
  g_assert_no_error (error);
  return plan;
}

/* Stores a training run of the plan above, or a profile with times for each group. */
static char *
fill_run (LigStore *store, const char *name, const char *kind)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigPlan) plan = new_plan (EXPRESSION, NULL);
  g_autoptr (LigSequence) sequence = lig_sequence_from_expression (EXPRESSION, NULL);
  LigShape shape;
  guint count;
  lig_shape_init (&shape, 2, G_GINT64_CONSTANT (16), G_GINT64_CONSTANT (8));
  lig_sequence_set_input (sequence, &shape, LIG_FP32);
  g_autofree char *json = lig_sequence_to_json (sequence);
  LigRunRecord record = example;
  record.name = name;
  record.sequence = json;
  record.kind = kind;
  record.device = "cuda:7";
  record.versions = "{\"device\": \"NVIDIA H200\"}";
  char *run = lig_store_begin_run (store, &record, &error);
  g_assert_no_error (error);
  for (LigPass pass = LIG_PASS_FORWARD; pass <= LIG_PASS_BACKWARD; pass++) {
    const LigPlanGroup *groups = lig_plan_get_groups (plan, pass, &count);
    for (guint i = 0; i < count; i++) {
      lig_store_add_fusion (store, run, lig_pass_name (pass), (int) i, groups[i].first,
                            groups[i].count, groups[i].fusion ? groups[i].fusion->name : NULL);
      if (g_str_equal (kind, "profile"))
        lig_store_add_timing (store, run, 0, (int) i, lig_pass_name (pass), 100.0 + i, 1, 1);
    }
  }
  for (gint64 step = 1; step <= 300; step++)
    lig_store_add_metric (store, run, step, "loss", 2.0 / (double) step);
  lig_store_add_metric (store, run, 100, "eval-loss", 0.5);
  lig_store_add_metric (store, run, 1, HOSTILE, NAN);
  g_assert_true (lig_store_finish_run (store, run, "done", HOSTILE, &error));
  g_assert_no_error (error);
  return run;
}

static GBytes *
make (LigPlan *plan, LigStore *store, const char *run, const char *format)
{
  g_autoptr (GError) error = NULL;
  GBytes *report = plan ? lig_report_plan (plan, COMMAND, format, &error)
                        : lig_report_run (store, run, format, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (g_bytes_get_size (report), >, 100);
  return report;
}

static char *
to_text (GBytes *report)
{
  gsize size;
  const char *data = g_bytes_get_data (report, &size);
  g_assert_true (g_utf8_validate (data, (gssize) size, NULL));
  return g_strndup (data, size);
}

/* --- Checks of each format ----------------------------------------------------------------- */

/* Returns the page as XML: without elements that are never closed, style and script. */
static char *
read_html (const char *html)
{
  g_autoptr (GString) xml = g_string_new (html);
  g_assert_true (g_str_has_prefix (html, "<!DOCTYPE html>\n<html lang=\"en\">"));
  g_assert_true (g_str_has_suffix (html, "</html>\n"));
  g_string_erase (xml, 0, (gssize) strlen ("<!DOCTYPE html>\n"));
  static const char *const cut[][2] = {{"<style>", "</style>"},
                                       {"<script type=\"application/json\"", "</script>"}};
  for (guint i = 0; i < G_N_ELEMENTS (cut); i++) {
    const char *start = strstr (xml->str, cut[i][0]), *end = strstr (start, cut[i][1]);
    g_assert_nonnull (end);
    g_string_erase (xml, start - xml->str, end + strlen (cut[i][1]) - start);
  }
  for (const char *at = xml->str; (at = strstr (at, "<meta")); at++)
    g_string_insert_c (xml, strchr (at, '>') - xml->str, '/');
  g_assert_null (strstr (xml->str, "<script"));
  return read_xml (xml->str, "");
}

/* Checks that the page has no external references: no link, style, picture or script. */
static void
assert_alone (const char *html)
{
  static const char *const outside[] = {"src=", "href=", "@import", "url("};
  for (guint i = 0; i < G_N_ELEMENTS (outside); i++)
    g_assert_null (strstr (html, outside[i]));
}

static JsonNode *
read_embedded (const char *html)
{
  g_autoptr (GError) error = NULL;
  const char *start = strstr (html, "<script type=\"application/json\"");
  start = strchr (start, '>') + 1;
  const char *end = strstr (start, "</script>");
  JsonNode *root = lig_json_read (start, (gsize) (end - start), NULL, &error);
  g_assert_no_error (error);
  return root;
}

static void
check_pdf (GBytes *report)
{
  gsize size;
  const char *data = g_bytes_get_data (report, &size);
  g_assert_cmpint (memcmp (data, "%PDF-", 5), ==, 0);
  g_assert_nonnull (memmem (data + size - 16, 16, "%%EOF", 5));
  /* Pages are 1000 pixels wide: 750 points. */
  g_assert_nonnull (memmem (data, size, "/MediaBox [ 0 0 750 ", 20));
}

static void
check_png (GBytes *report)
{
  cairo_surface_t *surface = read_png (report);
  g_assert_cmpint (cairo_image_surface_get_width (surface), ==, 2000);
  g_assert_cmpint (cairo_image_surface_get_height (surface), >, 800);
  cairo_surface_destroy (surface);
}

/* Checks that braces and quotes are balanced and that each inner line ends like a statement. */
static void
check_dot (const char *text)
{
  int depth = 0;
  gboolean quoted = FALSE;
  g_assert_true (g_str_has_prefix (text, "digraph plan {\n"));
  for (const char *at = text; *at; at++) {
    if (quoted && *at == '\\')
      at++;
    else if (*at == '"')
      quoted = !quoted;
    else if (!quoted && (*at == '{' || *at == '}'))
      depth += *at == '{' ? 1 : -1;
    else if (quoted)
      g_assert_cmpint (*at, !=, '\n');
    g_assert_cmpint (depth, >=, 0);
  }
  g_assert_cmpint (depth, ==, 0);
  g_assert_false (quoted);
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  for (char **line = lines; *line; line++)
    g_assert_true (!**line || strchr (";{}", (*line)[strlen (*line) - 1]));
}

static JsonArray *
read_trace (const char *text, JsonNode **root)
{
  g_autoptr (GError) error = NULL;
  *root = lig_json_read (text, strlen (text), NULL, &error);
  g_assert_no_error (error);
  return json_object_get_array_member (json_node_get_object (*root), "traceEvents");
}

/* --- Plans --------------------------------------------------------------------------------- */

static void
test_plan_html (void)
{
  g_autoptr (LigPlan) plan = new_plan (EXPRESSION, NULL);
  g_autoptr (GBytes) report = make (plan, NULL, NULL, "html");
  g_autofree char *html = to_text (report), *text = read_html (html);
  guint count;
  assert_alone (html);
  assert_contains (text, COMMAND);
  assert_contains (text, "NVIDIA H200");
  assert_contains (html, "@media screen and (prefers-color-scheme: dark)");
  const LigVerdict *verdicts = lig_plan_get_verdicts (plan, &count);
  for (guint i = 0; i < count; i++)
    assert_contains (text, verdicts[i].text);
  const LigPlanStep *steps = lig_plan_get_steps (plan, &count);
  for (guint i = 0; i < count; i++)
    assert_contains (text, steps[i].kernel->name);
  /* The embedded document is the report json. */
  g_autoptr (JsonNode) embedded = read_embedded (html);
  g_autoptr (GBytes) other = make (plan, NULL, NULL, "json");
  g_autofree char *json = to_text (other);
  g_autoptr (JsonNode) expected = lig_json_read (json, strlen (json), NULL, NULL);
  g_assert_true (json_node_equal (embedded, expected));
}

static void
test_plan_pictures (void)
{
  g_autoptr (LigPlan) plan = new_plan (EXPRESSION, NULL);
  g_autoptr (GBytes) svg = make (plan, NULL, NULL, "svg");
  g_autoptr (GBytes) pdf = make (plan, NULL, NULL, "pdf");
  g_autoptr (GBytes) png = make (plan, NULL, NULL, "png");
  g_autofree char *xml = to_text (svg), *text = read_xml (xml, "");
  guint count;
  check_pdf (pdf);
  check_png (png);
  for (LigPass pass = LIG_PASS_FORWARD; pass <= LIG_PASS_BACKWARD; pass++) {
    const LigPlanGroup *groups = lig_plan_get_groups (plan, pass, &count);
    for (guint i = 0; i < count; i++) {
      g_autofree char *time = lig_draw_time (groups[i].predicted);
      if (groups[i].n_steps > 0)
        assert_contains (text, time);
      if (groups[i].fusion)
        assert_contains (text, groups[i].fusion->name);
    }
  }
}

static void
test_plan_dot (void)
{
  g_autoptr (LigPlan) plan = new_plan (EXPRESSION, NULL);
  g_autoptr (GBytes) report = make (plan, NULL, NULL, "dot");
  g_autofree char *text = to_text (report);
  guint count, n_ops;
  check_dot (text);
  lig_plan_get_ops (plan, &n_ops);
  for (guint i = 0; i < n_ops; i++) {
    g_autofree char *forward = g_strdup_printf (" f%u [label=", i);
    g_autofree char *backward = g_strdup_printf (" b%u [label=", i);
    assert_contains (text, forward);
    assert_contains (text, backward);
  }
  for (LigPass pass = LIG_PASS_FORWARD; pass <= LIG_PASS_BACKWARD; pass++) {
    const LigPlanGroup *groups = lig_plan_get_groups (plan, pass, &count);
    for (guint i = 0; i < count; i++) {
      g_autofree char *box =
        g_strdup_printf ("subgraph cluster_%c%d {", pass ? 'b' : 'f', groups[i].first);
      g_assert_cmpint (strstr (text, box) != NULL, ==, groups[i].fusion != NULL);
    }
  }
  assert_contains (text, "f0 -> f7");
  assert_contains (text, "label=\"r\"");
}

static void
test_plan_trace (void)
{
  g_autoptr (LigPlan) plan = new_plan (EXPRESSION, NULL);
  g_autoptr (GBytes) report = make (plan, NULL, NULL, "trace.json");
  g_autofree char *text = to_text (report);
  g_autoptr (JsonNode) root = NULL;
  JsonArray *events = read_trace (text, &root);
  guint count, seen = 0, overlapping = 0;
  double ends[LIG_N_LANES] = {0};
  const LigPlanStep *steps = lig_plan_get_steps (plan, &count);
  for (guint i = 0; i < json_array_get_length (events); i++) {
    JsonObject *event = json_array_get_object_element (events, i);
    JsonObject *args = json_object_get_object_member (event, "args");
    if (!g_str_equal (json_object_get_string_member (event, "ph"), "X"))
      continue;
    const LigPlanStep *step = &steps[seen++];
    g_assert_cmpstr (json_object_get_string_member (event, "name"), ==, step->kernel->name);
    g_assert_cmpstr (json_object_get_string_member (event, "cat"), ==, lig_pass_name (step->pass));
    g_assert_cmpint (json_object_get_int_member (event, "tid"), ==, (int) step->lane + 1);
    /* A step of another lane starts after the main lane's steps before it, and the main lane
     * continues concurrently. */
    double start = MAX (ends[LIG_LANE_MAIN], ends[step->lane]);
    g_assert_cmpfloat_with_epsilon (json_object_get_double_member (event, "ts"), start, 1e-6);
    g_assert_cmpfloat_with_epsilon (json_object_get_double_member (args, "predicted_us"),
                                    step->predicted * 1e6, 1e-6);
    g_assert_cmpfloat (json_object_get_double_member (args, "bytes"), ==,
                       step->read + step->written);
    g_assert_true (json_object_get_null_member (args, "measured_us"));
    ends[step->lane] = start + step->predicted * 1e6;
    overlapping += step->lane != LIG_LANE_MAIN;
  }
  g_assert_cmpuint (seen, ==, count);
  g_assert_cmpuint (overlapping, >, 0);
}

/* The copy of a run's next batch is in the copy lane, concurrent with the whole step. */
static void
test_plan_trace_copies (void)
{
  g_autoptr (LigPlan) plan = new_plan ("linear(16) ! mean-squared-error", NULL);
  g_autoptr (GBytes) report = make (plan, NULL, NULL, "trace.json");
  g_autofree char *text = to_text (report);
  g_autoptr (JsonNode) root = NULL;
  JsonArray *events = read_trace (text, &root);
  JsonObject *last = json_array_get_object_element (events, json_array_get_length (events) - 1);
  g_assert_cmpstr (json_object_get_string_member (last, "name"), ==, "batch");
  g_assert_cmpint (json_object_get_int_member (last, "tid"), ==, LIG_LANE_COPY + 1);
  g_assert_cmpfloat (json_object_get_double_member (last, "ts"), ==, 0);
  g_assert_cmpfloat (json_object_get_double_member (last, "dur"), >, 0);
  assert_contains (text, "\"copy\"");
}

/* --- Runs ---------------------------------------------------------------------------------- */

static void
test_run_html (Fixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigStore) store = lig_store_open (f->path, &error);
  g_autofree char *run = fill_run (store, "a run", "train");
  g_autoptr (GBytes) report = make (NULL, store, run, "html");
  g_autofree char *html = to_text (report), *text = read_html (html);
  assert_alone (html);
  assert_contains (text, run);
  assert_contains (text, "Recompiled with the groups that the run recorded, on null:h200, which "
                         "describes the NVIDIA H200 of the run");
  assert_contains (text, "0.001Learning rate");
  assert_contains (text, "from a profile, not measured here: copy ");
  assert_contains (text, "lig train - --device cuda:7 << 'END'");
  assert_contains (text, "validation loss: 0.5 to 0.5, last 0.5");
  g_autoptr (JsonNode) embedded = read_embedded (html);
  g_assert_cmpstr (json_object_get_string_member (json_node_get_object (embedded), "run"), ==, run);
}

static void
test_run_pictures (Fixture *f, gconstpointer data)
{
  static const char *const kinds[] = {"train", "profile"};
  g_autoptr (GError) error = NULL;
  g_autoptr (LigStore) store = lig_store_open (f->path, &error);
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++) {
    g_autofree char *run = fill_run (store, "a run", kinds[i]);
    g_autoptr (GBytes) svg = make (NULL, store, run, "svg");
    g_autoptr (GBytes) pdf = make (NULL, store, run, "pdf");
    g_autoptr (GBytes) png = make (NULL, store, run, "png");
    g_autoptr (GBytes) dot = make (NULL, store, run, "dot");
    g_autofree char *xml = to_text (svg), *text = read_xml (xml, ""), *graph = to_text (dot);
    check_pdf (pdf);
    check_png (png);
    check_dot (graph);
    assert_contains (text, "Loss");
    assert_contains (text, "Linear + bias + GELU");
    g_assert_cmpint (strstr (text, "µs measured") != NULL, ==, i == 1);
  }
}

/* The times of a profile are the recorded ones of each group. */
static void
test_run_trace (Fixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigStore) store = lig_store_open (f->path, &error);
  g_autoptr (LigPlan) plan = new_plan (EXPRESSION, NULL);
  g_autofree char *run = fill_run (store, "a run", "profile");
  g_autoptr (GBytes) report = make (NULL, store, run, "trace.json");
  g_autofree char *text = to_text (report);
  g_autoptr (JsonNode) root = NULL;
  JsonArray *events = read_trace (text, &root);
  guint count, n_groups;
  double sum = 0, expected = 0;
  for (guint i = 0; i < json_array_get_length (events); i++) {
    JsonObject *args =
      json_object_get_object_member (json_array_get_object_element (events, i), "args");
    sum += json_object_get_double_member_with_default (args, "measured_us", 0);
  }
  for (LigPass pass = LIG_PASS_FORWARD; pass <= LIG_PASS_BACKWARD; pass++) {
    const LigPlanGroup *groups = lig_plan_get_groups (plan, pass, &n_groups);
    for (guint i = 0; i < n_groups; i++)
      expected += groups[i].n_steps > 0 ? 100.0 + i : 0;
  }
  lig_plan_get_steps (plan, &count);
  g_assert_cmpuint (json_array_get_length (events), >=, count);
  g_assert_cmpfloat_with_epsilon (sum, expected, 1e-6);
}

/* A run with unreadable data still has a page and a picture. Formats that show only the plan fail
 * with the reason. */
static void
test_run_broken (Fixture *f, gconstpointer data)
{
  static const char *const fine[] = {"html", "svg", "pdf"}, *const rejected[] = {"dot",
                                                                                 "trace.json"};
  g_autoptr (GError) error = NULL;
  g_autoptr (LigStore) store = lig_store_open (f->path, &error);
  LigRunRecord record = {
    .name = HOSTILE, .kind = "train", .settings = "{no json", .sequence = "nothing"};
  g_autofree char *run = lig_store_begin_run (store, &record, &error);
  for (guint i = 0; i < G_N_ELEMENTS (fine); i++)
    g_bytes_unref (make (NULL, store, run, fine[i]));
  g_autoptr (GBytes) report = make (NULL, store, run, "html");
  g_autofree char *html = to_text (report), *text = read_html (html);
  for (guint i = 0; i < G_N_ELEMENTS (rejected); i++) {
    g_assert_null (lig_report_run (store, run, rejected[i], &error));
    g_assert_error (error, LIG_ERROR, LIG_ERROR_FORMAT);
    assert_contains (error->message, "The rails cannot be drawn: ");
    g_clear_error (&error);
  }
}

/* --- Names --------------------------------------------------------------------------------- */

static void
test_hostile (Fixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigStore) store = lig_store_open (f->path, &error);
  g_autofree char *letters = g_strnfill (5000, 'W');
  const char *const names[] = {HOSTILE, letters, "層 \"Größe\"", "%s%n$(x)`y`"};
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    g_autoptr (LigPlan) plan =
      new_plan ("make-extra-output(to=\"<b>&\") ! gelu ! add-extra-input(from=\"<b>&\")", names[i]);
    g_autofree char *run = fill_run (store, names[i], "train");
    for (int j = 0; j < 2; j++) {
      LigPlan *of = j == 0 ? plan : NULL;
      g_autoptr (GBytes) page = make (of, store, run, "html");
      g_autoptr (GBytes) svg = make (of, store, run, "svg");
      g_autoptr (GBytes) dot = make (of, store, run, "dot");
      g_autoptr (GBytes) trace = make (of, store, run, "trace.json");
      g_autoptr (GBytes) pdf = make (of, store, run, "pdf");
      g_autofree char *html = to_text (page), *xml = to_text (svg), *graph = to_text (dot),
                      *events = to_text (trace);
      g_autofree char *words = read_html (html), *labels = read_xml (xml, "");
      g_autoptr (JsonNode) root = NULL;
      g_autoptr (JsonNode) embedded = read_embedded (html);
      check_dot (graph);
      check_pdf (pdf);
      g_assert_nonnull (read_trace (events, &root));
      g_assert_null (strstr (html, "<script>"));
      g_assert_null (strstr (xml, "<b>"));
    }
  }
}

/* --- Size ---------------------------------------------------------------------------------- */

static void
test_large (void)
{
  static const char *const formats[] = {"html", "svg", "pdf", "dot", "trace.json"};
  g_autoptr (GString) expression = g_string_new ("gelu");
  for (guint i = 1; i < 1000; i++)
    g_string_append (expression, i % 3 == 0 ? " ! layer-norm" : " ! gelu");
  g_autoptr (LigPlan) plan = new_plan (expression->str, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (formats); i++) {
    clock_t start = clock ();
    g_autoptr (GBytes) report = make (plan, NULL, NULL, formats[i]);
    double seconds = (double) (clock () - start) / CLOCKS_PER_SEC;
    g_test_message ("%s of 1000 ops: %.0f ms", formats[i], seconds * 1e3);
    /* It takes at most half a second on an idle machine, longer with shared caches. */
    g_assert_cmpfloat (seconds, <, 2 * lig_test_slowness ());
  }
}

/* Returns the size in bytes of a page about that many ops. */
static gsize
measure_page (guint count)
{
  g_autoptr (GString) expression = g_string_new ("gelu");
  for (guint i = 1; i < count; i++)
    g_string_append (expression, i % 3 == 0 ? " ! layer-norm" : " ! gelu");
  g_autoptr (LigPlan) plan = new_plan (expression->str, NULL);
  g_autoptr (GBytes) report = make (plan, NULL, NULL, "html");
  g_autofree char *html = to_text (report);
  gboolean is_long = count > 2000;
  g_assert_true ((strstr (html, "<svg") == NULL) == is_long);
  g_assert_true ((strstr (html, "id=\"document\"") == NULL) == is_long);
  g_assert_true ((strstr (html, "With more than 2000 ops") != NULL) == is_long);
  g_autofree char *rest = g_strdup_printf ("The json report has %u more rows", count - 2000);
  g_assert_true ((strstr (html, rest) != NULL) == is_long);
  return g_bytes_get_size (report);
}

/* For further ops, a page has only the text of the sequence, once as an expression and once as
 * JSON.
 */
static void
test_long (void)
{
  measure_page (2000);
  gsize some = measure_page (4000), more = measure_page (8000);
  g_assert_cmpuint (more - some, <, (8000 - 4000) * 60);
}

#define ADD(path, function) \
  g_test_add ("/report-formats/" path, Fixture, NULL, set_up, function, tear_down)

int
main (int argc, char **argv)
{
  g_unsetenv ("DISPLAY");
  g_unsetenv ("WAYLAND_DISPLAY");
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/report-formats/plan/html", test_plan_html);
  g_test_add_func ("/report-formats/plan/pictures", test_plan_pictures);
  g_test_add_func ("/report-formats/plan/dot", test_plan_dot);
  g_test_add_func ("/report-formats/plan/trace", test_plan_trace);
  g_test_add_func ("/report-formats/plan/trace-copies", test_plan_trace_copies);
  ADD ("run/html", test_run_html);
  ADD ("run/pictures", test_run_pictures);
  ADD ("run/trace", test_run_trace);
  ADD ("run/broken", test_run_broken);
  ADD ("hostile", test_hostile);
  g_test_add_func ("/report-formats/large", test_large);
  g_test_add_func ("/report-formats/long", test_long);
  return g_test_run ();
}
