/* SPDX-License-Identifier: MIT */
/* Finds every problem of a sequence, and the edits that remove them: each proposed edit is tried on
 * a copy, so that only effective ones are suggested. */
#include "engine/graph/problems.h"
#include "engine/compile/compilation.h"
#include "engine/plan/plan-private.h"
#include "engine/repair/check.h"
#include <ligature/problem.h>

#include <string.h>

/* The maximum number of edits per problem. */
#define MAX_FIXES 3

/* The maximum number of ops that all trials together check: a tenth of a second, because an edit of
 * a long sequence waits for them; later problems then get no edits that need a trial. */
#define MAX_TRIED 40000

typedef struct {
  LigSequence *sequence;
  LigDevice *device;
  const LigPlanOptions *options;
  LigGraph *graph;
  guint n_shapes, n_all; /* problems of the graph: with shapes, and all of them */
  GHashTable
    *uncertain; /* paths of ops whose problems were omitted because their inputs are guessed */
  guint tried;
} Check;

void
lig_plan_problem_free (LigPlanProblem *self)
{
  g_error_free (self->error);
  g_ptr_array_unref (self->fixes);
  g_free (self);
}

static LigPlanProblem *
new_problem (GError *error)
{
  LigPlanProblem *self = g_new0 (LigPlanProblem, 1);
  self->error = error;
  self->fixes = g_ptr_array_new_with_free_func ((GDestroyNotify) lig_problem_fix_free);
  return self;
}

/* --- Trials -------------------------------------------------------------------------------- */

/* Returns whether the sentences differ in their numbers only. */
static gboolean
is_alike (const char *a, const char *b)
{
  for (;; a++, b++) {
    while (g_ascii_isdigit (*a))
      a++;
    while (g_ascii_isdigit (*b))
      b++;
    if (*a != *b || *a == '\0')
      return *a == *b;
  }
}

/* Returns (transfer full) the path before the edit of the op that has a path after it: an op that
 * is inserted moves the later ones of its list. */
static char *
path_before (const LigProblemFix *fix, const char *path)
{
  const char *last = fix->kind == LIG_PROBLEM_FIX_INSERT_OP ? strrchr (fix->path, '.') : NULL;
  gsize length = last ? (gsize) (last + 1 - fix->path) : 0;
  char *end;
  if (!path || fix->kind != LIG_PROBLEM_FIX_INSERT_OP || strncmp (path, fix->path, length) != 0)
    return g_strdup (path);
  gint64 own = g_ascii_strtoll (path + length, &end, 10);
  if (own <= g_ascii_strtoll (fix->path + length, NULL, 10))
    return g_strdup (path);
  return g_strdup_printf ("%.*s%" G_GINT64_FORMAT "%s", (int) length, path, own - 1, end);
}

/* Returns whether the error is the problem: after an edit of the same op, each of its kind; after
 * another edit, one with the same sentence, whose numbers may have changed. */
static gboolean
is_same (const LigGraphProblem *problem, const GError *error, const char *path, gboolean own)
{
  return g_strcmp0 (lig_error_get_path (problem->error), path) == 0 &&
         (own ? problem->error->code == error->code
              : is_alike (problem->error->message, error->message));
}

/* Returns whether the edit needs no trial: it removes the forced or forbidden fusion, or the op,
 * that is the problem. */
static gboolean
is_certain (const LigProblemFix *fix)
{
  return fix->kind == LIG_PROBLEM_FIX_UNFORCE || fix->kind == LIG_PROBLEM_FIX_UNFORBID ||
         fix->kind == LIG_PROBLEM_FIX_REMOVE_OP;
}

typedef enum {
  KEEPS,   /* the problem remains, or others appear */
  REVEALS, /* another problem of the same op appears */
  REMOVES,
} Effect;

/* Returns whether the sequence had the problem of the op before an edit. */
static gboolean
had_problem (Check *self, const GError *error)
{
  for (guint i = 0; i < lig_collection_count (self->graph->problems); i++)
    if (is_same (lig_collection_get (self->graph->problems, i), error, lig_error_get_path (error),
                 FALSE))
      return TRUE;
  return FALSE;
}

/* Returns whether the problem is gone after the edit, and no other one appeared. The edit may
 * reveal a problem that was omitted, and, if it edits the same op, another one of this op. A new
 * problem of this op may also hide several others, of the parts of a macro. */
static Effect
try_fix (Check *self, guint number, const LigProblemFix *fix)
{
  const LigGraphProblem *problem = lig_collection_get (self->graph->problems, number);
  gboolean shapes = number < self->n_shapes;
  g_autoptr (LigSequence) copy = lig_sequence_copy (self->sequence);
  if (!lig_problem_fix_apply (fix, copy, NULL))
    return KEEPS;
  g_autoptr (LigGraph) graph = lig_graph_new (copy, self->device, self->options, 0, NULL);
  if (!graph)
    return KEEPS;
  lig_graph_check (graph, shapes);
  gboolean hides = FALSE;
  guint count = 0, before = shapes ? self->n_shapes : self->n_all;
  gboolean own = fix->kind == LIG_PROBLEM_FIX_SET &&
                 g_strcmp0 (fix->path, lig_error_get_path (problem->error)) == 0;
  for (guint i = 0; i < lig_collection_count (graph->problems); i++) {
    const GError *error = lig_collection_get (graph->problems, i)->error;
    g_autofree char *path = path_before (fix, lig_error_get_path (error));
    if (is_same (problem, error, path, own))
      return KEEPS;
    hides |= own && g_strcmp0 (path, fix->path) == 0 && !had_problem (self, error);
    count += !path || !g_hash_table_contains (self->uncertain, path);
  }
  return count < before && !hides ? REMOVES : own && count == before ? REVEALS : KEEPS;
}

static gboolean
is_listed (const GPtrArray *fixes, const LigProblemFix *fix)
{
  for (guint i = 0; i < fixes->len; i++) {
    const LigProblemFix *other = fixes->pdata[i];
    if (other->kind == fix->kind && g_strcmp0 (other->path, fix->path) == 0 &&
        g_strcmp0 (other->name, fix->name) == 0 && g_strcmp0 (other->value, fix->value) == 0)
      return TRUE;
  }
  return FALSE;
}

/* Returns whether another value of the same missing parameter is already suggested. */
static gboolean
is_chosen (const LigPlanProblem *problem, const LigProblemFix *fix)
{
  const LigProblemFix *last =
    problem->fixes->len > 0 ? problem->fixes->pdata[problem->fixes->len - 1] : NULL;
  return last && problem->error->code == LIG_ERROR_OP && fix->kind == LIG_PROBLEM_FIX_SET &&
         last->kind == fix->kind && g_strcmp0 (last->name, fix->name) == 0;
}

/* Adds the fixes that have this effect. */
static void
add_effective (Check *self, guint number, LigPlanProblem *problem, Effect wanted)
{
  const LigGraphProblem *found = lig_collection_get (self->graph->problems, number);
  for (guint i = 0; i < found->fixes->len && problem->fixes->len < MAX_FIXES; i++) {
    const LigProblemFix *fix = found->fixes->pdata[i];
    if (is_listed (problem->fixes, fix) || is_chosen (problem, fix))
      continue;
    if (!is_certain (fix)) {
      self->tried += self->graph->parts->len;
      if (self->tried > MAX_TRIED || try_fix (self, number, fix) != wanted)
        continue;
    }
    g_ptr_array_add (problem->fixes, lig_problem_fix_copy (fix));
  }
}

/* Adds the fixes that remove the problem, else those that get the op past this problem. */
static void
add_fixes (Check *self, guint number, LigPlanProblem *problem)
{
  lig_propose_fixes (self->graph, lig_collection_get (self->graph->problems, number));
  add_effective (self, number, problem, REMOVES);
  if (problem->fixes->len == 0)
    add_effective (self, number, problem, REVEALS);
}

/* --- The check ----------------------------------------------------------------------------- */

/* Returns features that the first op accepts. */
static gint64
guess_features (LigSequence *sequence)
{
  LigOp *first = lig_sequence_get (sequence, 0, NULL);
  const char *const names[] = {"in-features", "size"};
  for (guint i = 0; first && i < G_N_ELEMENTS (names); i++) {
    gint64 value = 0;
    if (g_object_class_find_property (G_OBJECT_GET_CLASS (first), names[i]))
      g_object_get (first, names[i], &value, NULL);
    if (value > 0)
      return value;
  }
  return 768;
}

/* Makes a graph of a sequence with an invalid input or invalid types, so that its ops are still
 * checked. */
static LigGraph *
assume_input (Check *self, LigPlanProblem *problem)
{
  LigPlanOptions options = *self->options;
  LigShape shape = {.n_axes = 2, .axes = {2, 2}};
  g_autoptr (LigSequence) copy = lig_sequence_copy (self->sequence);
  LigOp *first = lig_sequence_get (copy, 0, NULL);
  gboolean integers = first && lig_op_get_info (first)->flags & LIG_OP_INTEGER_INPUT;
  gboolean lacks = !lig_sequence_has_input (copy);
  LigDtype dtype = integers ? LIG_INT32 : LIG_FP32;
  if (lacks) {
    g_autofree char *value =
      integers ? g_strdup ("2048:int32")
               : g_strdup_printf ("2048x%" G_GINT64_FORMAT ":fp32", guess_features (copy));
    g_ptr_array_add (problem->fixes,
                     lig_problem_fix_new (LIG_PROBLEM_FIX_SET_INPUT, NULL, NULL, value));
  }
  if (lacks || problem->error->code != LIG_ERROR_DTYPE)
    lig_sequence_set_input (copy, &shape, dtype);
  options.batch = 0;
  options.compute = options.parameters = LIG_FP32;
  gboolean uncertain = lacks || problem->error->code != LIG_ERROR_DTYPE;
  return lig_graph_new (copy, self->device, &options, uncertain ? LIG_REQUEST_UNCERTAIN : 0, NULL);
}

static void
list_uncertain (Check *self)
{
  for (int i = 0; i < (int) self->graph->parts->len; i++) {
    const LigPart *part = lig_part (self->graph, i);
    gboolean uncertain = part->x >= 0 && !lig_part_loads_branch (part) &&
                         lig_value_work (self->graph, part->x)->uncertain;
    for (int k = 0; k < part->n_inputs && part->x >= 0; k++)
      uncertain |=
        part->present[k] && lig_value_work (self->graph, part->extra_inputs[k])->uncertain != 0;
    if (uncertain)
      g_hash_table_add (self->uncertain, (gpointer) part->plan.path);
  }
}

static void
check (Check *self, GPtrArray *problems)
{
  g_autoptr (GHashTable) uncertain = g_hash_table_new (g_str_hash, g_str_equal);
  self->uncertain = uncertain;
  lig_graph_check (self->graph, FALSE);
  list_uncertain (self);
  self->n_shapes = self->graph->n_shape_problems;
  self->n_all = lig_collection_count (self->graph->problems);
  for (guint i = 0; i < self->n_all; i++) {
    LigGraphProblem *found = lig_collection_get (self->graph->problems, i);
    LigPlanProblem *problem = new_problem (g_error_copy (found->error));
    add_fixes (self, i, problem);
    g_ptr_array_add (problems, problem);
  }
}

GPtrArray *
lig_plan_check (LigSequence *sequence, LigDevice *device, const LigPlanOptions *options)
{
  GPtrArray *problems = g_ptr_array_new_with_free_func ((GDestroyNotify) lig_plan_problem_free);
  GError *error = NULL;
  LigPlanOptions whole;
  if (!lig_plan_options_read (options, &whole, &error)) {
    g_ptr_array_add (problems, new_problem (error));
    return problems;
  }
  Check self = {.sequence = sequence, .device = device, .options = &whole};
  self.graph = lig_graph_new (sequence, device, &whole, 0, &error);
  if (!self.graph) {
    LigPlanProblem *problem = new_problem (error);
    g_ptr_array_add (problems, problem);
    self.graph = lig_error_get_setting (error) || error->code == LIG_ERROR_SHAPE ||
                     error->code == LIG_ERROR_DTYPE || error->code == LIG_ERROR_MEMORY
                   ? assume_input (&self, problem)
                   : NULL;
  }
  if (self.graph)
    check (&self, problems);
  g_clear_pointer (&self.graph, lig_compilation_free);
  return problems;
}
