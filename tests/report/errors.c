/* SPDX-License-Identifier: MIT */
/* The errors of recipes are stored with the profiles of their comparison, and reports show them;
 * invalid errors written by other programs are harmless. */
#include "engine/store/errors.h"
#include "tests/report/report-case.h"
#include <ligature/json.h>
#include <ligature/plan-options.h>
#include <ligature/profile.h>

#include <json-glib/json-glib.h>
#include <math.h>

#define RECIPES 3

static const char *const recipes[] = {"none", "fp8-delayed:margin=1,history=4", "fp8-block", NULL};

typedef struct {
  GPtrArray *profiles, *errors;
} Compared;

static void
compared_clear (Compared *self)
{
  g_ptr_array_unref (self->profiles);
  g_ptr_array_unref (self->errors);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Compared, compared_clear)

static Compared
compare (LigStore *store)
{
  g_autoptr (GError) error = NULL;
  LigShape shape;
  Compared compared;
  LigPlanOptions options[RECIPES];
  lig_shape_init (&shape, 2, G_GINT64_CONSTANT (64), G_GINT64_CONSTANT (32));
  g_autoptr (LigSequence) sequence =
    lig_sequence_from_expression ("layer-norm ! linear(64) ! gelu ! linear(40)", &error);
  lig_sequence_set_input (sequence, &shape, LIG_BF16);
  g_autoptr (LigDevice) device = lig_device_open ("cpu", &error);
  g_assert_no_error (error);
  for (int i = 0; i < RECIPES; i++) {
    options[i] = (LigPlanOptions) LIG_PLAN_OPTIONS_INIT;
    options[i].recipe = recipes[i];
  }
  compared.profiles = lig_profile_measure (sequence, device, options, RECIPES, 2, store, &error);
  g_assert_no_error (error);
  compared.errors = lig_recipe_errors_measure (sequence, device, NULL, recipes + 1, &error);
  g_assert_no_error (error);
  g_assert_true (lig_profile_record_errors (compared.profiles, compared.errors, store, &error));
  g_assert_no_error (error);
  return compared;
}

static const char *
run_of (const Compared *compared, guint i)
{
  return ((const LigProfile *) compared->profiles->pdata[i])->run;
}

static void
assert_same (double a, double b)
{
  g_assert_true (a == b || (isnan (a) && isnan (b)));
}

static void
assert_same_errors (const LigRecipeErrors *got, const LigRecipeErrors *want)
{
  g_assert_cmpstr (got->recipe, ==, want->recipe);
  assert_same (got->output, want->output);
  assert_same (got->gradient, want->gradient);
  g_assert_cmpint (got->bytes, ==, want->bytes);
  g_assert_cmpuint (got->n_ops, ==, want->n_ops);
  for (guint i = 0; i < want->n_ops; i++) {
    const LigOpErrors *a = &got->ops[i], *b = &want->ops[i];
    g_assert_cmpstr (a->path, ==, b->path);
    g_assert_cmpstr (a->op, ==, b->op);
    g_assert_cmpstr (a->written, ==, b->written);
    g_assert_cmpstr (a->title, ==, b->title);
    g_assert_cmpstr (a->recipe, ==, b->recipe);
    g_assert_cmpstr (a->unquantized, ==, b->unquantized);
    assert_same (a->output, b->output);
    assert_same (a->gradient, b->gradient);
    assert_same (a->parameters, b->parameters);
  }
}

/* Each profile of the comparison, including that of `none`, has all errors; they are deleted with
 * their runs. */
static void
test_stored (Fixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigStore) store = open_store (f->path);
  g_auto (Compared) compared = compare (store);
  g_auto (Compared) other = compare (store);
  for (guint i = 0; i < RECIPES; i++) {
    g_autoptr (GPtrArray) errors = lig_profile_get_errors (store, run_of (&compared, i), &error);
    g_assert_no_error (error);
    g_assert_cmpuint (errors->len, ==, RECIPES - 1);
    for (guint n = 0; n < errors->len; n++)
      assert_same_errors (errors->pdata[n], compared.errors->pdata[n]);
    g_autoptr (LigRunRow) row = find (store, run_of (&compared, i));
    g_assert_cmpstr (row->recipe, ==, recipes[i]);
  }
  const char *second = run_of (&compared, 1);
  g_assert_true (lig_store_delete_runs (store, &second, 1, &error));
  g_autoptr (GPtrArray) rest = lig_profile_get_errors (store, run_of (&compared, 0), &error);
  g_assert_cmpuint (rest->len, ==, 1);
  assert_same_errors (rest->pdata[0], compared.errors->pdata[1]);
  assert_query (f->path, "SELECT count (*) FROM recipe_error", "5");
  assert_query (f->path,
                "SELECT count (*) FROM recipe_error, json_each (ops) WHERE recipe = 'fp8-block'"
                " AND json_extract (value, '$.recipe') = 'fp8-block'",
                "2");
  g_autofree char *alone = begin (store, "alone");
  g_autoptr (GPtrArray) none = lig_profile_get_errors (store, alone, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (none->len, ==, 0);
}

/* A report has the map as a picture or as a table, and the sequence with the run's recipe. */
static void
test_report (Fixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigStore) store = open_store (f->path);
  g_auto (Compared) compared = compare (store);
  g_autofree char *html = report (store, run_of (&compared, 1), "html");
  g_autofree char *md = report (store, run_of (&compared, 0), "md");
  g_autofree char *svg = report (store, run_of (&compared, 2), "svg");
  g_autofree char *json = report (store, run_of (&compared, 2), "json");
  assert_contains (html, "aria-label=\"Errors of recipes, op by op\"");
  assert_contains (html, "\"name\": \"fp8-delayed\"");
  assert_contains (md, "| Path | Op | fp8-delayed:margin=1,history=4 | fp8-block |");
  assert_contains (md, "| 1 | basic-linear | • ");
  assert_contains (md, "| 0 | layer-norm | 0 %");
  assert_contains (svg, "fp8-delayed:margin=1,history=4");
  g_autoptr (JsonNode) root = lig_json_from_text (json, &error);
  g_assert_no_error (error);
  JsonArray *errors = json_object_get_array_member (json_node_get_object (root), "errors");
  g_assert_cmpuint (json_array_get_length (errors), ==, 2);
  g_autofree char *alone = begin (store, "alone");
  g_autofree char *plain = report (store, alone, "md");
  g_assert_null (strstr (plain, "Errors of recipes"));
}

static void
put (LigStore *store, const char *run, const char *recipe, const char *ops)
{
  g_autoptr (GError) error = NULL;
  LigRecipeErrorRow row = {(char *) run, (char *) "c", (char *) recipe, (char *) ops, 1, 1, 1};
  lig_store_put_errors (store, &row, &error);
  g_assert_no_error (error);
}

/* Texts that are not a list of ops, and lists of other ops, are omitted; infinite numbers remain
 * infinite. */
static void
test_foreign (Fixture *f, gconstpointer data)
{
  static const char *const texts[] = {
    "", "{", "7", "{\"a\":1}", "[1, 2]", "[]", "[{\"path\":\"9\",\"op\":\"gelu\"}]"};
  g_autoptr (GError) error = NULL;
  g_autoptr (LigStore) store = open_store (f->path);
  g_autofree char *first = begin (store, "first");
  put (store, first, "fp8|rows",
       "[{\"path\": 4, \"op\": \"relu\", \"output\": \"infinite\", \"gradient\": true}]");
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++) {
    g_autofree char *run = begin (store, "other");
    put (store, run, "fp8-block", texts[i]);
    g_autoptr (GPtrArray) errors = lig_profile_get_errors (store, run, &error);
    g_assert_no_error (error);
    g_assert_cmpuint (errors->len, ==, 1);
    const LigRecipeErrors *read = errors->pdata[0];
    g_assert_cmpstr (read->recipe, ==, "fp8|rows");
    g_assert_cmpstr (read->ops[0].path, ==, "");
    g_assert_true (isinf (read->ops[0].output));
    g_assert_true (isnan (read->ops[0].gradient) && isnan (read->ops[0].parameters));
  }
  g_autofree char *md = report (store, first, "md");
  assert_contains (md, "| Path | Op | fp8 rows |");
  assert_contains (md, "∞ · - · -");
  g_autofree char *html = report (store, first, "html");
  assert_contains (html, "Errors of recipes, op by op");
  LigRecipeErrorRow lost = {(char *) "no run", (char *) "c", (char *) "r", (char *) "[]", 0, 0, 0};
  g_assert_false (lig_store_put_errors (store, &lost, &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_STORE);
}

int
main (int argc, char **argv)
{
  program = argv[0];
  g_test_init (&argc, &argv, NULL);
#define ADD(name, function) \
  g_test_add ("/report-errors/" name, Fixture, NULL, set_up, function, tear_down)
  ADD ("stored", test_stored);
  ADD ("report", test_report);
  ADD ("foreign", test_foreign);
  return g_test_run ();
}
