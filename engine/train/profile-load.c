/* SPDX-License-Identifier: MIT */
/* The load of experts with which a profile is measured: even, a Zipf distribution, or the last one
 * that a run recorded. */
#include "engine/train/profile-load.h"

#include <ligature/kernels.h>
#include <ligature/plan-loads.h>
#include <ligature/store-loads.h>
#include <ligature/store-rows.h>
#include <ligature/store-select.h>
#include <ligature/store.h>

#include <glib/gi18n-lib.h>
#include <inttypes.h>
#include <string.h>

/* A larger exponent gives all rows that it can to the first experts. */
#define MAX_EXPONENT 10.0

struct _LigProfileLoad {
  char *name;
  LigFillLoad fill;
};

void
lig_profile_load_free (LigProfileLoad *self)
{
  if (!self)
    return;
  g_free (self->name);
  g_clear_pointer (&self->fill.loads, g_ptr_array_unref);
  g_free (self);
}

/* --- Parsing ------------------------------------------------------------------------------- */

static gboolean
parse_exponent (const char *text, double *exponent, GError **error)
{
  char *end;
  *exponent = g_ascii_strtod (text, &end);
  if (end != text && *end == '\0' && *exponent >= 0 && *exponent <= MAX_EXPONENT)
    return TRUE;
  g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
               _ ("load is 'zipf:%s', expected an exponent from 0 to %g"), text, MAX_EXPONENT);
  return FALSE;
}

static gboolean
read_run (LigProfileLoad *self, const char *selector, LigStore *store, GError **error)
{
  g_autoptr (GError) unknown = NULL;
  g_autoptr (LigRunRow) row =
    store ? lig_store_select_run (store, selector, "train", NULL, &unknown) : NULL;
  if (unknown)
    g_set_error (error, unknown->domain, unknown->code,
                 _ ("load is '%s', expected even, zipf:EXPONENT or a run: %s"), selector,
                 unknown->message);
  if (!store)
    g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                 _ ("load is '%s', expected even or zipf:EXPONENT without a store of runs"),
                 selector);
  if (!row || !(self->fill.loads = lig_store_get_loads (store, row->uuid, error)))
    return FALSE;
  if (self->fill.loads->len == 0) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                 _ ("run '%s' recorded no load of experts; name another run, or set load-every of "
                    "such runs"),
                 row->uuid);
    return FALSE;
  }
  g_free (self->name);
  self->name = g_strdup (row->uuid);
  return TRUE;
}

LigProfileLoad *
lig_profile_load_parse (const char *text, LigStore *store, GError **error)
{
  g_return_val_if_fail (text, NULL);
  g_autoptr (LigProfileLoad) self = g_new0 (LigProfileLoad, 1);
  gboolean fine = TRUE;
  self->name = g_strdup (text);
  if (g_str_has_prefix (text, "zipf:"))
    fine = parse_exponent (text + strlen ("zipf:"), &self->fill.exponent, error);
  else if (!g_str_equal (text, "even"))
    fine = read_run (self, text, store, error);
  return fine ? g_steal_pointer (&self) : NULL;
}

/* --- Plans --------------------------------------------------------------------------------- */

/* Returns whether a kernel reads numbers of the caller on which its time depends. */
static gboolean
reads_numbers (const LigPlanStep *step, const LigPlanValue *values)
{
  const LigKernel *kernel = step->kernel;
  if (!kernel || kernel->size <= G_STRUCT_OFFSET (LigKernel, numbers) || !kernel->numbers)
    return FALSE;
  for (int i = 0; i < step->n_inputs; i++) {
    int value = step->operands[i].value;
    if (value >= 0 && values[value].role == LIG_VALUE_EXTRA && values[value].dtype == LIG_INT32)
      return TRUE;
  }
  return FALSE;
}

/* Returns whether the times of a plan depend on the load of experts. */
static gboolean
has_numbers (LigPlan *plan)
{
  guint count, n_values;
  const LigPlanStep *steps = lig_plan_get_steps (plan, &count);
  const LigPlanValue *values = lig_plan_get_values (plan, &n_values);
  gboolean found = lig_plan_has_loads (plan);
  for (guint i = 0; i < count && !found; i++)
    found = reads_numbers (&steps[i], values);
  return found;
}

/* Checks that the series of a run are those of a plan's routers. */
static gboolean
check_routers (const LigProfileLoad *self, LigPlan *plan, GError **error)
{
  GPtrArray *loads = self->fill.loads;
  guint count, n_values, n = 0;
  const LigPlanOp *ops = lig_plan_get_ops (plan, &count);
  const LigPlanValue *values = lig_plan_get_values (plan, &n_values);
  for (guint i = 0; i < count; i++) {
    const LigPlanPort *port = lig_plan_op_get_watched (&ops[i], "load");
    if (!port)
      continue;
    const LigLoadSeries *series = n < loads->len ? loads->pdata[n] : NULL;
    gint64 experts = lig_shape_size (&values[port->value].shape);
    n++;
    if (series && (series->experts != experts || series->steps->len == 0)) {
      g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                   _ ("the number of experts of the router at %s is %" PRId64
                      ", that of run '%s' is %u; "
                      "name a run of this sequence"),
                   ops[i].path, experts, self->name, series->experts);
      return FALSE;
    }
  }
  if (n == loads->len)
    return TRUE;
  g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
               _ ("the number of routers is %u, that of run '%s' is %u; name a run of this "
                  "sequence"),
               n, self->name, loads->len);
  return FALSE;
}

gboolean
lig_profile_load_fill (const LigProfileLoad *self, LigProgram *program, GError **error)
{
  static const LigFillLoad even = {0, NULL};
  LigPlan *plan = lig_program_get_plan (program);
  if (self && !g_str_equal (self->name, "even") && !has_numbers (plan)) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                 _ ("load is '%s', but the sequence distributes no rows to experts; omit it"),
                 self->name);
    return FALSE;
  }
  if (self && self->fill.loads && !check_routers (self, plan, error))
    return FALSE;
  return lig_program_fill_loaded (program, self ? &self->fill : &even, error);
}

char *
lig_profile_load_name (const LigProfileLoad *self, LigPlan *plan)
{
  return has_numbers (plan) ? g_strdup (self ? self->name : "even") : NULL;
}

char *
lig_profile_load_describe (const char *load)
{
  if (g_str_equal (load, "even"))
    return g_strdup (_ ("The load of experts is even, which predictions assume"));
  if (g_str_has_prefix (load, "zipf:"))
    return g_strdup_printf (
      _ ("The load of experts is a Zipf distribution with exponent %s; predictions assume an even "
         "load"),
      load + strlen ("zipf:"));
  return g_strdup_printf (
    _ ("The load of experts is the last one of run %s; predictions assume an even load"), load);
}
