/* SPDX-License-Identifier: MIT */
/* Finds the largest length of an axis with which a plan fits. Memory grows with the length, so the
 * end is found by doubling and then by narrowing an interval, first at the point where a straight
 * line through its ends reaches the available memory. */
#include <ligature/capacity.h>
#include <ligature/compile.h>
#include <ligature/device.h>
#include <ligature/figures.h>
#include <ligature/optimizer.h>
#include <ligature/plan-memory.h>

#include <glib/gi18n-lib.h>
#include <math.h>

/* The limit of lengths, and of guesses by a straight line before halving. */
#define MAX_LENGTH (G_GINT64_CONSTANT (1) << 24)
enum { MAX_GUESSES = 4 };

typedef struct {
  LigPlan *plan;
  LigDevice *device;
  const LigOptimizer *optimizer; /* (nullable): replaces that of the plan */
  const LigTuning *tuning;
  GCancellable *cancellable;
  LigCapacity *to;
  double available;
} Search;

/* --- Points -------------------------------------------------------------------------------- */

static int
get_axis (const LigCapacity *self)
{
  return self->axis == LIG_CAPACITY_POSITIONS;
}

/* Returns the number of which lengths are multiples: the ranks share the batch, and each has two
 * blocks of the positions. */
static gint64
get_unit (LigPlan *plan, LigCapacityAxis axis)
{
  LigDevice *device = lig_plan_get_device (plan);
  int data = lig_device_get_n_ranks (device, LIG_GROUP_DATA);
  int context = lig_device_get_n_ranks (device, LIG_GROUP_CONTEXT);
  if (axis == LIG_CAPACITY_BATCH)
    return MAX (data, 1);
  return context > 1 ? 2 * context : 1;
}

static LigPlan *
compile (const Search *self, gint64 length, GError **error)
{
  LigShape shape;
  LigDtype dtype;
  LigPlanOptions options = *lig_plan_get_options (self->plan);
  g_autoptr (LigSequence) sequence = lig_sequence_copy (lig_plan_get_sequence (self->plan));
  lig_sequence_get_input (sequence, &shape, &dtype);
  shape.axes[get_axis (self->to)] = length;
  if (!lig_sequence_check_input (&shape, dtype, error))
    return NULL;
  lig_sequence_set_input (sequence, &shape, dtype);
  if (self->to->axis == LIG_CAPACITY_BATCH && options.batch > 0)
    options.batch = length / get_unit (self->plan, LIG_CAPACITY_BATCH);
  if (self->optimizer)
    options.optimizer = self->optimizer;
  options.tuning = self->tuning;
  options.recall = TRUE;
  options.choices = NULL;
  return lig_plan_compile (sequence, self->device, &options, error);
}

static const LigCapacityPoint *
find_point (const Search *self, gint64 length)
{
  for (guint i = 0; i < self->to->points->len; i++) {
    const LigCapacityPoint *point = &g_array_index (self->to->points, LigCapacityPoint, i);
    if (point->length == length)
      return point;
  }
  return NULL;
}

/* Returns the point of a length, null without such a plan, or after the search was ended. */
static const LigCapacityPoint *
measure (Search *self, gint64 length, GError **error)
{
  LigUse use;
  LigPlanMemory memory;
  LigFigures step;
  const LigCapacityPoint *known = find_point (self, length);
  if (known || g_cancellable_set_error_if_cancelled (self->cancellable, error))
    return known;
  g_autoptr (LigPlan) plan = compile (self, length, error);
  if (!plan)
    return NULL;
  const LigTimedPlan timed = {.plan = plan};
  lig_plan_get_memory (plan, NULL, &memory);
  lig_figures_of_step (&timed, NULL, &step);
  lig_figures_of_use (plan, &step, &use);
  LigCapacityPoint point = {.length = length,
                            .seconds = step.kernels > 0 ? step.seconds : NAN,
                            .per_row = 1 / use.per_second,
                            .mfu = use.mfu,
                            .memory = memory.needed,
                            .fits = memory.fits};
  self->to->tokens = use.tokens;
  self->available = memory.total > 0 ? memory.available : INFINITY;
  g_array_append_val (self->to->points, point);
  return find_point (self, length);
}

/* --- Searching ----------------------------------------------------------------------------- */

static gboolean
is_cancelled (const GError *error)
{
  return g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

/* Finds the largest length between one that fits and one that does not, or without a plan, whose
 * memory is NaN. @reason: of the upper end if it has no plan; null if it lacks memory */
static void
narrow (Search *self, LigCapacityPoint low, LigCapacityPoint high, gint64 step, GError **reason)
{
  for (int guess = 0; high.length - low.length > step; guess++) {
    g_autoptr (GError) error = NULL;
    double slope = (high.memory - low.memory) / (double) (high.length - low.length);
    gint64 length = low.length + (high.length - low.length) / 2;
    if (guess < MAX_GUESSES && slope > 0)
      length = low.length + (gint64) ((self->available - low.memory) / slope);
    length = CLAMP (length / step * step, low.length + step, high.length - step);
    const LigCapacityPoint *point = measure (self, length, &error);
    if (is_cancelled (error))
      return;
    if (point && point->fits) {
      low = *point;
      self->to->largest = length;
      continue;
    }
    high = point ? *point : (LigCapacityPoint){.length = length, .memory = NAN};
    g_clear_error (reason);
    if (error)
      g_propagate_error (reason, g_steal_pointer (&error));
  }
}

static int
order (gconstpointer a, gconstpointer b)
{
  const LigCapacityPoint *one = a, *two = b;
  return one->length < two->length ? -1 : one->length > two->length;
}

/* Keeps powers of two, the current and the largest length, and the first length that does not fit
 * among these. */
static void
thin_out (LigCapacity *self, gint64 unit)
{
  gboolean beyond = FALSE;
  g_array_sort (self->points, order);
  for (guint i = 0; i < self->points->len;) {
    const LigCapacityPoint *point = &g_array_index (self->points, LigCapacityPoint, i);
    gint64 units = point->length / unit;
    gboolean named = point->length == self->present || point->length == self->largest;
    gboolean kept = named || ((units & (units - 1)) == 0 && (point->fits || !beyond));
    beyond |= kept && !point->fits;
    if (kept)
      i++;
    else
      g_array_remove_index (self->points, i);
  }
}

/* Doubles the length as long as a plan fits. Returns whether one of the maximum length does.
 * @reason: (out): why a longer one has no plan; null: it lacks memory */
static gboolean
double_length (Search *self, gint64 unit, GError **reason)
{
  LigCapacityPoint last = {0};
  for (gint64 length = unit; length <= MAX_LENGTH; length *= 2) {
    g_autoptr (GError) error = NULL;
    const LigCapacityPoint *point = measure (self, length, &error);
    if (is_cancelled (error))
      return FALSE;
    /* Some models need a minimum length. */
    if (error && last.length == 0 && length < self->to->present)
      continue;
    if (point && point->fits) {
      last = *point;
      self->to->largest = length;
      continue;
    }
    LigCapacityPoint end = point ? *point : (LigCapacityPoint){.length = length, .memory = NAN};
    if (error)
      g_propagate_error (reason, g_steal_pointer (&error));
    if (last.length > 0)
      narrow (self, last, end, unit, reason);
    return FALSE;
  }
  return TRUE;
}

static void
search (Search *self, gint64 unit)
{
  g_autoptr (GError) reason = NULL;
  measure (self, self->to->present, NULL);
  gboolean all = double_length (self, unit, &reason);
  const LigCapacityPoint *present = find_point (self, self->to->present);
  if (present && present->fits)
    self->to->largest = MAX (self->to->largest, self->to->present);
  self->to->limit = reason ? g_strdup (reason->message)
                    : all  ? g_strdup (_ ("longer ones were not tried"))
                           : NULL;
  thin_out (self->to, unit);
}

LigCapacity *
lig_capacity_find (LigPlan *plan,
                   LigCapacityAxis axis,
                   LigDevice *device,
                   const char *optimizer,
                   const LigTuning *tuning,
                   GCancellable *cancellable)
{
  g_return_val_if_fail (plan, NULL);
  LigShape shape;
  LigDtype dtype;
  lig_sequence_get_input (lig_plan_get_sequence (plan), &shape, &dtype);
  if (shape.n_axes < 2 || (axis == LIG_CAPACITY_POSITIONS && lig_dtype_is_floating (dtype)))
    return NULL;
  LigOptimizer update;
  gboolean known = optimizer && lig_optimizer_init (&update, *optimizer ? optimizer : NULL, NULL);
  LigCapacity *self = g_new0 (LigCapacity, 1);
  self->axis = axis;
  self->present = shape.axes[get_axis (self)];
  self->points = g_array_new (FALSE, FALSE, sizeof (LigCapacityPoint));
  Search the = {.plan = plan,
                .device = device ? device : lig_plan_get_device (plan),
                .optimizer = known ? &update : NULL,
                .tuning = tuning,
                .cancellable = cancellable,
                .to = self,
                .available = INFINITY};
  search (&the, get_unit (plan, axis));
  return self;
}

void
lig_capacity_free (LigCapacity *self)
{
  if (!self)
    return;
  g_array_unref (self->points);
  g_free (self->limit);
  g_free (self);
}
