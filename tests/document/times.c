/* SPDX-License-Identifier: MIT */
/* The measured times of a document: the plan that a profile belongs to, the unfused plan, and the
 * overrides for fusions with their removal. */
#include "ui/document/times.h"

#include "tests/document/case.h"
#include "ui/document/edit.h"
#include "ui/document/overrides.h"
#include <ligature/compile.h>
#include <ligature/optimizer.h>
#include <ligature/plan-options.h>
#include <ligature/profile.h>

#include <sqlite3.h>

static void
set_up (DocumentFixture *f, gconstpointer data)
{
  make_document (&f->folder, &f->session, &f->doc, "null:h200");
}

static void
tear_down (DocumentFixture *f, gconstpointer data)
{
  free_document (f->folder, f->session, f->doc);
}

/* Waits for the plan and for the unfused plan. */
static gboolean
has_times (DocumentFixture *f, LigTimedPlan *timed, LigTimedPlan *unfused)
{
  lig_document_get_timed (f->doc, timed, unfused);
  return !lig_document_is_stale (f->doc) && timed->plan && unfused->plan;
}

static void
wait_for_times (DocumentFixture *f, LigTimedPlan *timed, LigTimedPlan *unfused)
{
  WAIT_FOR (has_times (f, timed, unfused));
}

static double *
invent (LigPlan *plan, double each)
{
  guint count;
  lig_plan_get_steps (plan, &count);
  double *steps = g_new (double, count + 1);
  for (guint i = 0; i < count; i++)
    steps[i] = each;
  return steps;
}

/* A profile's plan also updates parameters, so its steps are numbered differently. */
static LigPlan *
compile_profiled (DocumentFixture *f, LigPlan *plan)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *choices = lig_plan_get_choices (plan);
  const LigOptimizer optimizer = LIG_OPTIMIZER_INIT;
  LigPlanOptions options;
  lig_document_get_options (f->doc, &options);
  options.optimizer = &optimizer;
  options.choices = choices;
  LigPlan *profiled = lig_plan_compile (lig_document_get_sequence (f->doc),
                                        lig_plan_get_device (plan), &options, &error);
  g_assert_no_error (error);
  return profiled;
}

static void
test_baseline (DocumentFixture *f, gconstpointer data)
{
  LigTimedPlan timed, unfused;
  fill (f->doc, "linear(3072) ! gelu");
  wait_for_times (f, &timed, &unfused);
  g_autofree char *none = lig_plan_get_choices (unfused.plan);
  g_assert_cmpstr (none, ==, "");
  LigOp *op = lig_sequence_get (lig_document_get_sequence (f->doc), 0, NULL);
  lig_edit_force (f->doc, op, "forward-linear-bias-activation", TRUE);
  wait_for_times (f, &timed, &unfused);
  g_autofree char *forced = lig_plan_get_choices (timed.plan);
  g_autofree char *still_none = lig_plan_get_choices (unfused.plan);
  g_assert_cmpstr (forced, !=, "");
  g_assert_cmpstr (still_none, ==, "");
}

static void
test_profile (DocumentFixture *f, gconstpointer data)
{
  LigTimedPlan timed, unfused;
  fill (f->doc, "linear(3072) ! gelu");
  wait_for_times (f, &timed, &unfused);
  g_autofree char *before = lig_document_describe_times (f->doc, 0);
  g_assert_cmpstr (before, ==, "predicted for NVIDIA H200");
  g_autoptr (LigPlan) plan = lig_plan_ref (timed.plan);
  g_autoptr (LigPlan) profiled = compile_profiled (f, plan);
  g_autoptr (LigPlan) apart = lig_plan_ref (unfused.plan);
  g_autofree double *steps = invent (profiled, 1e-5), *alone = invent (apart, 2e-5);
  const double passes[] = {3e-5, 6e-5, 1e-5};
  const LigTimedPlan profiles[] = {{profiled, steps, passes, NULL}, {apart, alone, NULL, NULL}};
  lig_document_set_profiles (f->doc, profiles, 2);
  lig_document_get_timed (f->doc, &timed, &unfused);
  g_assert_true (timed.plan == plan);
  g_assert_cmpfloat (timed.steps[0], ==, 1e-5);
  g_assert_cmpfloat (timed.passes[1], ==, 6e-5);
  g_assert_cmpfloat (unfused.steps[0], ==, 2e-5);
  gint64 when = lig_document_get_measured_at (f->doc);
  g_autofree char *soon = lig_document_describe_times (f->doc, when + 12 * G_USEC_PER_SEC);
  g_autofree char *later = lig_document_describe_times (f->doc, when + 180 * G_USEC_PER_SEC);
  g_assert_cmpstr (soon, ==, "measured on another NVIDIA H200, 12 s ago");
  g_assert_cmpstr (later, ==, "measured on another NVIDIA H200, 3 min ago");

  /* An edited sequence has no times of this profile; undo restores them. */
  LigOp *op = lig_sequence_get (lig_document_get_sequence (f->doc), 0, NULL);
  lig_edit_forbid (f->doc, op, "forward-linear-bias-activation", TRUE);
  wait_for_times (f, &timed, &unfused);
  g_assert_null (timed.steps);
  lig_document_undo (f->doc);
  wait_for_times (f, &timed, &unfused);
  g_assert_true (timed.plan != plan);
  g_assert_nonnull (timed.steps);
  lig_document_set_profiles (f->doc, NULL, 0);
  lig_document_get_timed (f->doc, &timed, &unfused);
  g_assert_null (timed.steps);
}

/* A change of the training data keeps the measured times. */
static void
test_train (DocumentFixture *f, gconstpointer data)
{
  LigTimedPlan timed, unfused;
  fill (f->doc, "linear(64) ! gelu");
  wait_for_times (f, &timed, &unfused);
  g_autofree double *steps = invent (timed.plan, 1e-5);
  const LigTimedPlan profile = {.plan = timed.plan, .steps = steps};
  lig_document_set_profiles (f->doc, &profile, 1);
  lig_edit_set_train (f->doc, "{\"data\":\"other.csv\"}");
  wait_for_times (f, &timed, &unfused);
  g_assert_nonnull (timed.steps);
}

/* --- Profiles in the store ---------------------------------------------------------------- */

#define STORED "layer-norm ! linear(64) ! gelu"

/* Measures both policies of the document's sequence and records them; returns the uuid of the
 * profile of policy `all`. */
static char *
measure (DocumentFixture *f)
{
  g_autoptr (GError) error = NULL;
  const LigOptimizer optimizer = LIG_OPTIMIZER_INIT;
  LigPlanOptions options[2];
  g_autoptr (LigDevice) device = lig_device_open ("cpu", &error);
  for (guint i = 0; i < 2; i++) {
    lig_document_get_options (f->doc, &options[i]);
    options[i].optimizer = &optimizer;
    options[i].policy = i ? LIG_POLICY_ALL : LIG_POLICY_NONE;
  }
  g_autoptr (GPtrArray) profiles =
    lig_profile_measure (lig_document_get_sequence (f->doc), device, options, 2, 5,
                         lig_session_get_store (f->session), &error);
  g_assert_no_error (error);
  return g_strdup (((const LigProfile *) profiles->pdata[1])->run);
}

static void
open_stored (DocumentFixture *f, const char *input, LigTimedPlan *timed, LigTimedPlan *unfused)
{
  lig_document_set_device (f->doc, "cpu");
  lig_document_set_policy (f->doc, LIG_POLICY_ALL);
  fill_with (f->doc, STORED, input, NULL);
  wait_for_times (f, timed, unfused);
}

/* Replaces the document by a new one like after a restart, and waits for its times. */
static void
reopen (DocumentFixture *f, const char *input, LigTimedPlan *timed, LigTimedPlan *unfused)
{
  g_object_unref (f->doc);
  f->doc = lig_document_new (f->session);
  open_stored (f, input, timed, unfused);
}

static void
execute (DocumentFixture *f, const char *sql)
{
  sqlite3 *db = NULL;
  g_autofree char *path = g_build_filename (f->folder, "store.db", NULL);
  g_assert_cmpint (sqlite3_open (path, &db), ==, SQLITE_OK);
  g_assert_cmpint (sqlite3_exec (db, sql, NULL, NULL, NULL), ==, SQLITE_OK);
  sqlite3_close (db);
}

/* A document that is opened again has the times of the profile in the store, with their date, until
 * its sequence changes. */
static void
test_recorded (DocumentFixture *f, gconstpointer data)
{
  LigTimedPlan timed, unfused;
  open_stored (f, "32x16", &timed, &unfused);
  g_assert_null (timed.steps);
  gint64 began = g_get_real_time ();
  g_autofree char *run = measure (f);
  gint64 ended = g_get_real_time ();
  reopen (f, "32x16", &timed, &unfused);
  g_assert_nonnull (timed.steps);
  g_assert_nonnull (unfused.steps);
  g_assert_nonnull (timed.passes);
  g_assert_cmpfloat (timed.passes[LIG_PASS_BACKWARD], >, 0);
  gint64 when = lig_document_get_measured_at (f->doc);
  g_assert_true (when >= began && when <= ended);
  LigFigures step;
  lig_figures_of_step (&timed, &unfused, &step);
  g_assert_true (step.measured && step.saved_measured);
  g_autoptr (GDateTime) day = g_date_time_new_from_unix_local (when / G_USEC_PER_SEC);
  g_autofree char *date = g_date_time_format (day, "measured on this CPU on %-d %b");
  g_autofree char *origin = lig_document_describe_times (f->doc, g_get_real_time ());
  g_autofree char *still = lig_document_describe_times (f->doc, 0);
  g_autofree char *profile = lig_document_describe_recorded (f->doc);
  g_assert_true (g_str_has_prefix (origin, date));
  g_assert_cmpstr (origin, ==, still);
  g_assert_nonnull (profile);
  /* The times of this session replace those of the store. */
  g_autofree double *steps = invent (timed.plan, 1e-5);
  const LigTimedPlan own = {.plan = timed.plan, .steps = steps};
  lig_document_set_profiles (f->doc, &own, 1);
  lig_document_get_timed (f->doc, &timed, &unfused);
  g_assert_cmpfloat (timed.steps[0], ==, 1e-5);
  g_assert_null (lig_document_describe_recorded (f->doc));
  lig_document_set_profiles (f->doc, NULL, 0);
  lig_document_get_timed (f->doc, &timed, &unfused);
  g_assert_nonnull (timed.steps);
  /* An edit and its undo. */
  lig_edit_forbid (f->doc, op_at (f->doc, "1"), "forward-linear-bias-activation", TRUE);
  wait_for_times (f, &timed, &unfused);
  g_assert_null (timed.steps);
  g_assert_null (lig_document_describe_recorded (f->doc));
  lig_document_undo (f->doc);
  wait_for_times (f, &timed, &unfused);
  g_assert_nonnull (timed.steps);
}

/* Profiles of another shape, device, type or library, and deleted ones, have no times. */
static void
test_foreign (DocumentFixture *f, gconstpointer data)
{
  static const struct {
    const char *change, *back;
  } others[] = {
    {"UPDATE run SET versions = replace (versions, '\"device\": \"', '\"device\": \"x')",
     "UPDATE run SET versions = replace (versions, '\"device\": \"x', '\"device\": \"')"},
    {"UPDATE run SET versions = replace (versions, 'ligature', 'former')",
     "UPDATE run SET versions = replace (versions, 'former', 'ligature')"},
    {"UPDATE run SET dtype = 'bf16:fp32'", "UPDATE run SET dtype = 'fp32'"},
    {"UPDATE run SET status = 'failed'", "UPDATE run SET status = 'done'"},
    {"UPDATE timing SET bytes = bytes + 4", "UPDATE timing SET bytes = bytes - 4"},
    {"UPDATE run SET settings = 'x'", NULL},
  };
  LigTimedPlan timed, unfused;
  open_stored (f, "32x16", &timed, &unfused);
  g_autofree char *run = measure (f);
  reopen (f, "64x16", &timed, &unfused);
  g_assert_null (timed.steps);
  for (guint i = 0; i < G_N_ELEMENTS (others); i++) {
    reopen (f, "32x16", &timed, &unfused);
    g_assert_nonnull (timed.steps);
    execute (f, others[i].change);
    reopen (f, "32x16", &timed, &unfused);
    g_assert_null (timed.steps);
    if (others[i].back)
      execute (f, others[i].back);
  }
}

static void
test_deleted (DocumentFixture *f, gconstpointer data)
{
  LigTimedPlan timed, unfused;
  open_stored (f, "32x16", &timed, &unfused);
  g_autofree char *run = measure (f);
  reopen (f, "32x16", &timed, &unfused);
  g_assert_nonnull (timed.steps);
  g_autofree char *trash = g_strdup_printf ("UPDATE run SET deleted = 1 WHERE uuid = '%s'", run);
  execute (f, trash);
  reopen (f, "32x16", &timed, &unfused);
  g_assert_null (timed.steps);
  g_assert_nonnull (unfused.steps);
}

/* --- Overrides --------------------------------------------------------------------------- */

static char *
describe_overrides (DocumentFixture *f)
{
  g_autoptr (GPtrArray) overrides = lig_document_list_overrides (f->doc);
  GString *text = g_string_new (NULL);
  for (guint i = 0; i < overrides->len; i++) {
    const LigOverride *override = overrides->pdata[i];
    g_string_append_printf (text, "%s%s %s@%s", text->len > 0 ? ", " : "",
                            override->forced ? "force" : "forbid", override->fusion,
                            override->path ? override->path : "*");
  }
  return g_string_free (text, FALSE);
}

static void
test_wishes (DocumentFixture *f, gconstpointer data)
{
  static const char forward[] = "forward-linear-bias-activation", add[] = "forward-add-norm";
  fill (f->doc, "gelu ! block(3) { linear(768) ! gelu }");
  LigSequence *sequence = lig_document_get_sequence (f->doc);
  LigSequence *body = lig_op_get_body (lig_sequence_get (sequence, 1, NULL));
  lig_edit_force (f->doc, lig_sequence_get (body, 0, NULL), forward, TRUE);
  lig_edit_forbid (f->doc, NULL, add, TRUE);
  g_autofree char *both = describe_overrides (f);
  g_assert_cmpstr (both, ==,
                   "forbid forward-add-norm@*, force forward-linear-bias-activation@1.0.0");
  lig_document_drop_override (f->doc, TRUE, "1.0.0", forward);
  lig_document_drop_override (f->doc, FALSE, NULL, add);
  g_autofree char *none = describe_overrides (f);
  g_assert_cmpstr (none, ==, "");
  lig_document_undo (f->doc);
  lig_document_undo (f->doc);
  g_autofree char *again = describe_overrides (f);
  g_assert_cmpstr (again, ==, both);
  /* Paths and fusions without an override change nothing. */
  const char *label = lig_document_get_undo_label (f->doc);
  lig_document_drop_override (f->doc, TRUE, "7.0.0", forward);
  lig_document_drop_override (f->doc, TRUE, "0", forward);
  g_assert_cmpstr (lig_document_get_undo_label (f->doc), ==, label);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(name) \
  g_test_add ("/times/" #name, DocumentFixture, NULL, set_up, test_##name, tear_down)
  ADD (baseline);
  ADD (profile);
  ADD (train);
  ADD (recorded);
  ADD (foreign);
  ADD (deleted);
  ADD (wishes);
  return g_test_run ();
}
