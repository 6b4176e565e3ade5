/* SPDX-License-Identifier: MIT */
/* The recorded load of experts of a document: of the newest run of its sequence, for the router of
 * an op and the least even one of a block, until the sequence changes. */
#include "ui/document/loads.h"

#include "tests/document/case.h"
#include "ui/document/edit.h"
#include <ligature/plan-loads.h>
#include <ligature/store-loads.h>
#include <ligature/store.h>

#define MODEL \
  "embedding(16) ! mixture-of-experts(4, expert-features=8) ! block(2) { mixture-of-experts(2, " \
  "expert-features=8) } ! linear(32)"

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

/* Adds a training run of the document's sequence, with a load of the first router. */
static void
add_run (DocumentFixture *f, double busiest, const char *path)
{
  g_autoptr (GError) error = NULL;
  LigStore *store = lig_session_get_store (f->session);
  g_autofree char *text = lig_sequence_to_json (lig_document_get_sequence (f->doc));
  LigRunRecord record = {.name = "mixture",
                         .sequence = text,
                         .kind = "train",
                         .device = "cpu",
                         .dtype = "fp32",
                         .recipe = "none",
                         .policy = "all",
                         .settings = "{}",
                         .versions = "{}",
                         .inputs = "{}"};
  g_autofree char *run = lig_store_begin_run (store, &record, &error);
  g_assert_no_error (error);
  const double first[] = {busiest, 0, 10, 10}, even[] = {8, 8}, uneven[] = {2, 14};
  const LigLoadEntry entries[] = {
    {path, 4, first, 1, 1, 3}, {"2.0.0", 2, even, 1, 1, 0}, {"2.1.0", 2, uneven, 1, 1, 0}};
  lig_store_add_loads (store, run, 50, entries, G_N_ELEMENTS (entries), &error);
  g_assert_no_error (error);
}

static const LigLoadSeries *
find (DocumentFixture *f, int first, int count)
{
  return lig_plan_find_load (lig_document_get_plan (f->doc), lig_document_get_loads (f->doc), first,
                             count);
}

/* Returns the index of the first op at a path. */
static int
op_index (DocumentFixture *f, const char *path)
{
  guint count;
  const LigPlanOp *ops = lig_plan_get_ops (lig_document_get_plan (f->doc), &count);
  for (guint i = 0; i < count; i++)
    if (g_str_equal (ops[i].path, path))
      return (int) i;
  g_assert_not_reached ();
}

static gboolean
has_load (DocumentFixture *f, double busiest)
{
  GPtrArray *all = lig_document_get_loads (f->doc);
  return all && find (f, 0, 100) &&
         g_array_index (((LigLoadSeries *) all->pdata[0])->loads, double, 0) == busiest;
}

static void
test_found (DocumentFixture *f, gconstpointer data)
{
  fill_with (f->doc, MODEL, "4x8:int32", NULL);
  lig_document_read_loads (f->doc);
  WAIT_FOR (!lig_document_is_stale (f->doc));
  g_assert_null (lig_document_get_loads (f->doc));
  add_run (f, 20, "1");
  lig_document_read_loads (f->doc);
  WAIT_FOR (has_load (f, 20));
  int first = op_index (f, "1"), block = op_index (f, "2.0.0"), end = op_index (f, "3");
  g_assert_cmpstr (find (f, first, block - first)->path, ==, "1");
  /* The first repetition stands for all, of which the second is the least even. */
  g_assert_cmpstr (find (f, block, 5)->path, ==, "2.1.0");
  g_assert_null (find (f, 0, first));
  g_assert_null (find (f, end, 1));
  g_autofree char *text = lig_load_series_describe (find (f, first, block - first));
  g_assert_cmpstr (text, ==,
                   "Load of experts at 1 in step 50: expert 0 has 2 × the mean, 1 of 4 experts is "
                   "idle, 3 rows were dropped");
  /* A newer run, and one of a plan that it does not fit. */
  add_run (f, 30, "1");
  add_run (f, 40, "9");
  lig_document_read_loads (f->doc);
  WAIT_FOR (has_load (f, 30));
}

static void
test_edited (DocumentFixture *f, gconstpointer data)
{
  fill_with (f->doc, MODEL, "4x8:int32", NULL);
  add_run (f, 20, "1");
  lig_document_read_loads (f->doc);
  WAIT_FOR (has_load (f, 20));
  LigShape wider = {.n_axes = 2, .axes = {8, 8}};
  lig_edit_set_input (f->doc, &wider, LIG_INT32);
  WAIT_FOR (!lig_document_is_stale (f->doc));
  g_assert_null (lig_document_get_loads (f->doc));
  lig_document_undo (f->doc);
  WAIT_FOR (has_load (f, 20));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add ("/document-loads/found", DocumentFixture, NULL, set_up, test_found, tear_down);
  g_test_add ("/document-loads/edited", DocumentFixture, NULL, set_up, test_edited, tear_down);
  return g_test_run ();
}
