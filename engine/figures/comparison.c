/* SPDX-License-Identifier: MIT */
/* Compares plans. The ops of both are aligned in one row; a change is a range of the row that no
 * group of either plan crosses. */
#include <ligature/comparison.h>
#include <ligature/plan-memory.h>
#include <ligature/units.h>

#include <glib/gi18n-lib.h>
#include <math.h>
#include <string.h>

/* The size limit of the alignment, which then takes milliseconds: the product of both lengths
 * without their common beginning and end. */
enum { MAX_CELLS = 1000000 };

struct _LigPlanComparison {
  gatomicrefcount references;
  LigPlan *plans[2];
  double *steps[2]; /* measured times, or null */
  double passes[2][3];
  LigSpread spreads[2][LIG_STEP_SPREAD + 1];
  gboolean whole[2], noisy[2]; /* whether the passes and the spreads were measured too */
  guint n_ops[2];
  int *positions[2]; /* of each position of the shared row */
  int *before;       /* for each op of the second plan: the same op in the first, or -1 */
  GArray *changes;   /* of LigPlanChange */
};

G_DEFINE_BOXED_TYPE (LigPlanComparison,
                     lig_plan_comparison,
                     lig_plan_comparison_ref,
                     lig_plan_comparison_unref)

/* --- Aligning ------------------------------------------------------------------------------ */

static gboolean
is_alike (const LigPlanOp *a, const LigPlanOp *b)
{
  return a->info == b->info && g_str_equal (a->title, b->title);
}

/* Pairs the middle of both plans by their longest common subsequence. */
static void
align_middle (
  LigPlanComparison *self, const LigPlanOp *a, int n_a, const LigPlanOp *b, int n_b, int start)
{
  const gsize width = (gsize) n_b + 1;
  g_autofree int *common = g_new0 (int, width *((gsize) n_a + 1));
  for (int i = n_a - 1; i >= 0; i--)
    for (int k = n_b - 1; k >= 0; k--) {
      gsize at = (gsize) i * width + (gsize) k;
      common[at] = is_alike (&a[i], &b[k]) ? 1 + common[at + width + 1]
                                           : MAX (common[at + width], common[at + 1]);
    }
  for (int i = 0, k = 0; i < n_a && k < n_b;) {
    gsize at = (gsize) i * width + (gsize) k;
    if (is_alike (&a[i], &b[k]) && common[at] == 1 + common[at + width + 1]) {
      self->before[start + k++] = start + i;
      i++;
    } else if (common[at + width] >= common[at + 1])
      i++;
    else
      k++;
  }
}

/* Sets the op of the first plan for each op of the second. */
static void
align (LigPlanComparison *self, const LigPlanOp *a, const LigPlanOp *b)
{
  int n_a = (int) self->n_ops[0], n_b = (int) self->n_ops[1], start = 0, end = 0;
  for (int i = 0; i < n_b; i++)
    self->before[i] = -1;
  while (start < MIN (n_a, n_b) && is_alike (&a[start], &b[start])) {
    self->before[start] = start;
    start++;
  }
  while (end < MIN (n_a, n_b) - start && is_alike (&a[n_a - 1 - end], &b[n_b - 1 - end])) {
    self->before[n_b - 1 - end] = n_a - 1 - end;
    end++;
  }
  gint64 cells = (gint64) (n_a - start - end) * (n_b - start - end);
  if (cells > 0 && cells <= MAX_CELLS)
    align_middle (self, a + start, n_a - start - end, b + start, n_b - start - end, start);
  else
    for (int i = start; i < MIN (n_a, n_b) - end; i++)
      self->before[i] = is_alike (&a[i], &b[i]) ? i : -1;
}

/* Ops that only the first plan has precede those that only the second has. */
static void
place_ops (LigPlanComparison *self)
{
  int at = 0, next = 0;
  for (int k = 0; k <= (int) self->n_ops[1]; k++) {
    int until = k == (int) self->n_ops[1] ? (int) self->n_ops[0] : self->before[k];
    while (next < until)
      self->positions[0][next++] = at++;
    if (k == (int) self->n_ops[1])
      break;
    if (self->before[k] >= 0)
      self->positions[0][next++] = at;
    self->positions[1][k] = at++;
  }
}

/* --- Changes ------------------------------------------------------------------------------- */

typedef struct {
  LigTimedPlan timed;
  const LigPlanGroup *groups;
  guint count, next;
  const int *positions;
} Walk;

static LigTimedPlan
get_timed (const LigPlanComparison *self, int which)
{
  return (LigTimedPlan){self->plans[which], self->steps[which],
                        self->whole[which] ? self->passes[which] : NULL,
                        self->noisy[which] ? self->spreads[which] : NULL};
}

static int
get_start (const Walk *walk)
{
  return walk->next < walk->count ? walk->positions[walk->groups[walk->next].first] : G_MAXINT;
}

/* Takes the next group if it begins at or before @end, and moves @end to the group's end. */
static gboolean
take (Walk *walk, int *end)
{
  if (walk->next == walk->count || get_start (walk) > *end)
    return FALSE;
  const LigPlanGroup *group = &walk->groups[walk->next++];
  *end = MAX (*end, walk->positions[group->first + group->count - 1]);
  return TRUE;
}

/* Sets the figures of the side's groups. */
static void
sum_side (const Walk *walk, LigPlanSide *side, LigFigures *figures)
{
  side->n_groups = walk->next - side->first_group;
  side->n_steps = 0;
  lig_figures_init (figures);
  for (guint i = side->first_group; i < walk->next; i++) {
    LigFigures part;
    const LigPlanGroup *group = &walk->groups[i];
    lig_figures_of_group (&walk->timed, NULL, group, &part);
    lig_figures_add (figures, &part);
    side->n_steps += (guint) group->n_steps;
    if (i == side->first_group)
      side->first = group->first;
    side->count = group->first + group->count - side->first;
  }
  side->bytes = figures->bytes;
}

/* Measured times are compared only with measured ones. */
static gboolean
choose_times (LigPlanSide *before, LigPlanSide *after, const LigFigures figures[2])
{
  gboolean measured[2];
  for (int i = 0; i < 2; i++)
    measured[i] = figures[i].kernels == 0 || figures[i].measured;
  gboolean both = measured[0] && measured[1];
  before->seconds = both ? figures[0].seconds : figures[0].predicted;
  after->seconds = both ? figures[1].seconds : figures[1].predicted;
  return both && figures[0].kernels + figures[1].kernels > 0;
}

static gboolean
is_same (const Walk walks[2], const LigPlanChange *change)
{
  if (change->before.n_groups != 1 || change->after.n_groups != 1)
    return FALSE;
  const LigPlanGroup *a = &walks[0].groups[change->before.first_group];
  const LigPlanGroup *b = &walks[1].groups[change->after.first_group];
  if (a->fusion != b->fusion || a->count != b->count || (a->n_steps > 0) != (b->n_steps > 0))
    return FALSE;
  for (int i = 0; i < a->count; i++)
    if (walks[0].positions[a->first + i] != walks[1].positions[b->first + i])
      return FALSE;
  return TRUE;
}

static void
compare_pass (LigPlanComparison *self, LigPass pass)
{
  Walk walks[2] = {0};
  for (int i = 0; i < 2; i++) {
    walks[i].timed = get_timed (self, i);
    walks[i].groups = lig_plan_get_groups (self->plans[i], pass, &walks[i].count);
    walks[i].positions = self->positions[i];
  }
  while (walks[0].next < walks[0].count || walks[1].next < walks[1].count) {
    LigPlanChange change = {
      .pass = pass, .before.first_group = walks[0].next, .after.first_group = walks[1].next};
    int end = MIN (get_start (&walks[0]), get_start (&walks[1]));
    while (take (&walks[0], &end) || take (&walks[1], &end))
      continue;
    LigFigures figures[2];
    sum_side (&walks[0], &change.before, &figures[0]);
    sum_side (&walks[1], &change.after, &figures[1]);
    change.measured = choose_times (&change.before, &change.after, figures);
    for (int i = 0; i < 2; i++)
      change.predicted[i] = figures[i].predicted;
    change.same = is_same (walks, &change);
    g_array_append_val (self->changes, change);
  }
}

/* --- Repetitions --------------------------------------------------------------------------- */

/* Appends a path without repetition numbers: `3..2` for `3.7.2`. */
static void
append_path (GString *key, const char *path)
{
  gboolean repetition = FALSE;
  for (; *path; path++) {
    if (!repetition || *path == '.')
      g_string_append_c (key, *path);
    if (*path == '.')
      repetition = !repetition;
  }
  g_string_append_c (key, ' ');
}

static gboolean
has_blocks (LigPlanComparison *self)
{
  for (int i = 0; i < 2; i++) {
    const LigPlanOp *ops = lig_plan_get_ops (self->plans[i], &self->n_ops[i]);
    for (guint k = 0; k < self->n_ops[i]; k++)
      if (strchr (ops[k].path, '.'))
        return TRUE;
  }
  return FALSE;
}

static void
append_side (
  GString *key, LigPlanComparison *self, int which, LigPass pass, const LigPlanSide *side)
{
  guint count;
  const LigPlanOp *ops = lig_plan_get_ops (self->plans[which], &count);
  const LigPlanGroup *groups = lig_plan_get_groups (self->plans[which], pass, &count);
  for (guint i = 0; i < side->n_groups; i++) {
    const LigPlanGroup *group = &groups[side->first_group + i];
    g_string_append_c (key, '|');
    g_string_append (key, group->fusion ? group->fusion->name : "");
    for (int k = 0; k < group->count; k++)
      append_path (key, ops[group->first + k].path);
  }
  g_string_append_printf (key, "|%.4g %.4g", side->seconds, side->bytes);
}

static void
find_repetitions (LigPlanComparison *self)
{
  gboolean blocks = has_blocks (self);
  for (guint i = 0; i < self->changes->len && !blocks; i++) {
    g_array_index (self->changes, LigPlanChange, i).like = i;
    g_array_index (self->changes, LigPlanChange, i).times = 1;
  }
  g_autoptr (GHashTable) known = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  for (guint i = 0; i < self->changes->len && blocks; i++) {
    LigPlanChange *change = &g_array_index (self->changes, LigPlanChange, i);
    GString *key = g_string_new (lig_pass_name (change->pass));
    append_side (key, self, 0, change->pass, &change->before);
    append_side (key, self, 1, change->pass, &change->after);
    guint first = GPOINTER_TO_UINT (g_hash_table_lookup (known, key->str));
    change->like = first > 0 ? first - 1 : i;
    g_array_index (self->changes, LigPlanChange, change->like).times++;
    if (first == 0)
      g_hash_table_insert (known, g_string_free (key, FALSE), GUINT_TO_POINTER (i + 1));
    else
      g_string_free (key, TRUE);
  }
}

/* --- Totals -------------------------------------------------------------------------------- */

static void
fill_side (LigPlanSide *side, LigPlan *plan, LigPass pass, const LigFigures *figures)
{
  guint count;
  lig_plan_get_ops (plan, &count);
  side->count = (int) count;
  side->n_steps = figures->kernels;
  side->bytes = figures->bytes;
  side->memory = pass == LIG_PASS_JOINT ? lig_plan_get_needed_memory (plan) : 0;
  for (LigPass part = LIG_PASS_FORWARD; part <= LIG_PASS_BACKWARD; part++)
    if (pass == LIG_PASS_JOINT || part == pass) {
      lig_plan_get_groups (plan, part, &count);
      side->n_groups += count;
    }
}

/* Replaces the predictions of the groups that were measured on both sides. */
static void
mix_times (const LigPlanComparison *self, LigPlanChange *total)
{
  for (guint i = 0; i < self->changes->len; i++) {
    const LigPlanChange *change = &g_array_index (self->changes, LigPlanChange, i);
    if (!change->measured || (total->pass != LIG_PASS_JOINT && change->pass != total->pass))
      continue;
    total->before.seconds += change->before.seconds - change->predicted[0];
    total->after.seconds += change->after.seconds - change->predicted[1];
  }
}

/* Returns the sum of the predictions of all steps: figures of a measured pass lack those of the
 * steps outside of groups. */
static double
predict (LigPlan *plan, LigPass pass)
{
  guint count;
  double seconds = 0;
  const LigPlanStep *steps = lig_plan_get_steps (plan, &count);
  for (guint i = 0; i < count; i++)
    if (pass == LIG_PASS_JOINT || steps[i].pass == pass)
      seconds += lig_plan_step_get_predicted (&steps[i]);
  return seconds;
}

/* Compares the repeated measurements of a pass or of the whole step. */
static void
compare_spreads (const LigPlanComparison *self, LigPlanChange *total)
{
  guint at = total->pass == LIG_PASS_JOINT ? LIG_STEP_SPREAD : total->pass;
  const LigSpread *before = &self->spreads[0][at], *after = &self->spreads[1][at];
  lig_spread_compare (after, before, &total->difference);
}

void
lig_plan_comparison_get_total (LigPlanComparison *self, LigPass pass, LigPlanChange *total)
{
  g_return_if_fail (self && total);
  LigFigures figures[2];
  *total = (LigPlanChange){.pass = pass, .same = TRUE, .times = 1};
  for (int i = 0; i < 2; i++) {
    const LigTimedPlan timed = get_timed (self, i);
    if (pass == LIG_PASS_JOINT)
      lig_figures_of_step (&timed, NULL, &figures[i]);
    else
      lig_figures_of_pass (&timed, NULL, pass, &figures[i]);
    figures[i].predicted = predict (self->plans[i], pass);
    fill_side (i ? &total->after : &total->before, self->plans[i], pass, &figures[i]);
  }
  for (guint i = 0; i < self->changes->len; i++) {
    const LigPlanChange *change = &g_array_index (self->changes, LigPlanChange, i);
    total->same &= change->same || (pass != LIG_PASS_JOINT && change->pass != pass);
  }
  total->measured = choose_times (&total->before, &total->after, figures);
  for (int i = 0; i < 2; i++)
    total->predicted[i] = figures[i].predicted;
  if (!total->measured)
    mix_times (self, total);
  else if (self->noisy[0] && self->noisy[1])
    compare_spreads (self, total);
}

/* --- The whole ----------------------------------------------------------------------------- */

static void
keep_side (LigPlanComparison *self, int which, const LigTimedPlan *timed)
{
  guint n_steps;
  lig_plan_get_steps (timed->plan, &n_steps);
  self->plans[which] = lig_plan_ref (timed->plan);
  self->steps[which] =
    timed->steps ? g_memdup2 (timed->steps, sizeof (double) * MAX (n_steps, 1)) : NULL;
  self->whole[which] = timed->steps && timed->passes;
  if (self->whole[which])
    memcpy (self->passes[which], timed->passes, sizeof self->passes[which]);
  self->noisy[which] = timed->steps && timed->spreads;
  if (self->noisy[which])
    memcpy (self->spreads[which], timed->spreads, sizeof self->spreads[which]);
}

LigPlanComparison *
lig_plan_compare_timed (const LigTimedPlan *before, const LigTimedPlan *after)
{
  g_return_val_if_fail (before && before->plan && after && after->plan, NULL);
  LigPlanComparison *self = g_new0 (LigPlanComparison, 1);
  const LigPlanOp *ops[2];
  g_atomic_ref_count_init (&self->references);
  keep_side (self, 0, before);
  keep_side (self, 1, after);
  for (int i = 0; i < 2; i++) {
    ops[i] = lig_plan_get_ops (self->plans[i], &self->n_ops[i]);
    self->positions[i] = g_new0 (int, self->n_ops[i] + 1);
  }
  self->before = g_new0 (int, self->n_ops[1] + 1);
  self->changes = g_array_new (FALSE, FALSE, sizeof (LigPlanChange));
  align (self, ops[0], ops[1]);
  place_ops (self);
  compare_pass (self, LIG_PASS_FORWARD);
  compare_pass (self, LIG_PASS_BACKWARD);
  find_repetitions (self);
  return self;
}

LigPlanComparison *
lig_plan_compare (LigPlan *before, LigPlan *after)
{
  g_return_val_if_fail (before && after, NULL);
  return lig_plan_compare_timed (&(LigTimedPlan){.plan = before}, &(LigTimedPlan){.plan = after});
}

LigPlanComparison *
lig_plan_comparison_ref (LigPlanComparison *self)
{
  g_return_val_if_fail (self, NULL);
  g_atomic_ref_count_inc (&self->references);
  return self;
}

void
lig_plan_comparison_unref (LigPlanComparison *self)
{
  g_return_if_fail (self);
  if (!g_atomic_ref_count_dec (&self->references))
    return;
  for (int i = 0; i < 2; i++) {
    lig_plan_unref (self->plans[i]);
    g_free (self->positions[i]);
    g_free (self->steps[i]);
  }
  g_free (self->before);
  g_array_unref (self->changes);
  g_free (self);
}

LigPlan *
lig_plan_comparison_get_before (LigPlanComparison *self)
{
  g_return_val_if_fail (self, NULL);
  return self->plans[0];
}

LigPlan *
lig_plan_comparison_get_after (LigPlanComparison *self)
{
  g_return_val_if_fail (self, NULL);
  return self->plans[1];
}

void
lig_plan_comparison_get_timed (LigPlanComparison *self, gboolean after, LigTimedPlan *timed)
{
  g_return_if_fail (self && timed);
  *timed = get_timed (self, after ? 1 : 0);
}

const LigPlanChange *
lig_plan_comparison_get_changes (LigPlanComparison *self, guint *count)
{
  g_return_val_if_fail (self && count, NULL);
  *count = self->changes->len;
  return (const LigPlanChange *) (gconstpointer) self->changes->data;
}

int
lig_plan_comparison_find_op (LigPlanComparison *self, int op)
{
  g_return_val_if_fail (self, -1);
  return op >= 0 && op < (int) self->n_ops[1] ? self->before[op] : -1;
}

/* --- Texts ----------------------------------------------------------------------------------- */

/* Differences of two plans as text. */

/* The smallest fraction of a figure that three digits show. */
#define MIN_DIFFERENCE 0.0005

static int
get_sign (double before, double after)
{
  double difference = after - before;
  if (isnan (difference) || fabs (difference) <= MIN_DIFFERENCE * MAX (fabs (before), fabs (after)))
    return 0;
  return difference > 0 ? 1 : -1;
}

static char *
describe (double before, double after, char *(*format) (double) )
{
  int sign = get_sign (before, after);
  if (sign == 0)
    return g_strdup (_ ("no difference"));
  g_autofree char *amount = format (fabs (after - before));
  return g_strconcat (sign > 0 ? "+" : "−", amount, NULL);
}

int
lig_plan_change_get_sign (const LigPlanChange *self)
{
  g_return_val_if_fail (self, 0);
  if (self->difference.kind == LIG_DIFFERENCE_NONE)
    return 0;
  return get_sign (self->before.seconds, self->after.seconds);
}

char *
lig_plan_change_side_text (const LigPlanChange *self, gboolean after)
{
  g_return_val_if_fail (self, NULL);
  const LigPlanSide *side = after ? &self->after : &self->before;
  if (isnan (side->seconds))
    return NULL;
  g_autofree char *time = side->n_steps > 0 ? lig_units_time (side->seconds) : g_strdup ("0");
  return self->measured || side->n_steps == 0 ? g_steal_pointer (&time)
                                              : g_strconcat ("≈ ", time, NULL);
}

char *
lig_plan_change_time_text (const LigPlanChange *self)
{
  g_return_val_if_fail (self, NULL);
  double before = self->before.seconds, after = self->after.seconds;
  if (self->difference.kind == LIG_DIFFERENCE_NONE)
    return lig_difference_to_text (&self->difference);
  return isnan (before) || isnan (after) ? NULL : describe (before, after, lig_units_time);
}

char *
lig_plan_change_bytes_text (const LigPlanChange *self)
{
  g_return_val_if_fail (self, NULL);
  return describe (self->before.bytes, self->after.bytes, lig_units_bytes);
}

char *
lig_plan_change_memory_text (const LigPlanChange *self)
{
  g_return_val_if_fail (self, NULL);
  return describe (self->before.memory, self->after.memory, lig_units_bytes);
}

char *
lig_plan_change_factor_text (const LigPlanChange *self)
{
  g_return_val_if_fail (self, NULL);
  double before = self->before.seconds, after = self->after.seconds;
  if (lig_plan_change_get_sign (self) == 0 || !(before > 0) || !(after > 0))
    return NULL;
  double factor = after / before;
  if (factor < 0.00995)
    return g_strdup ("× <0.01");
  if (factor > 99999)
    return g_strdup_printf ("× %.0e", factor);
  /* Three digits, and at most five characters. */
  int decimals = factor < 0.9995 ? 3 : factor < 9.995 ? 2 : factor < 99.95 ? 1 : 0;
  return g_strdup_printf ("× %.*f", decimals, factor);
}

char *
lig_plan_change_ratio_text (const LigPlanChange *self)
{
  g_autofree char *factor = lig_plan_change_factor_text (self);
  if (!factor)
    return NULL;
  /* Translators: a factor such as × 1.15, by which a time differs from another. */
  return g_strdup_printf (lig_plan_change_get_sign (self) > 0 ? _ ("%s, slower") : _ ("%s, faster"),
                          factor);
}

static guint
count_different (LigPlanComparison *self)
{
  guint count, different = 0;
  const LigPlanChange *changes = lig_plan_comparison_get_changes (self, &count);
  for (guint i = 0; i < count; i++)
    different += !changes[i].same;
  return different;
}

char *
lig_plan_comparison_describe (LigPlanComparison *self)
{
  g_return_val_if_fail (self, NULL);
  LigPlanChange total;
  guint different = count_different (self);
  lig_plan_comparison_get_total (self, LIG_PASS_JOINT, &total);
  g_autofree char *whole = lig_plan_change_side_text (&total, TRUE);
  g_autofree char *time = lig_plan_change_time_text (&total);
  g_autofree char *bytes = lig_plan_change_bytes_text (&total);
  g_autofree char *memory = lig_units_bytes (total.after.memory);
  g_autofree char *change = lig_plan_change_memory_text (&total);
  if (whole && time)
    return g_strdup_printf (_ ("step %s (%s), memory %s (%s)"), whole, time, memory, change);
  if (whole)
    return g_strdup_printf (_ ("step %s"), whole);
  if (get_sign (total.before.bytes, total.after.bytes) != 0)
    return g_strdup_printf (_ ("bytes moved: %s"), bytes);
  if (different == 0)
    return g_strdup (_ ("no difference"));
  return g_strdup_printf (
    g_dngettext (GETTEXT_PACKAGE, "%u group differs", "%u groups differ", different), different);
}
