/* SPDX-License-Identifier: MIT */
/* The summary above the rails: the times of the passes, and the fixes that would save most. */
#include "engine/report/rails.h"
#include "engine/savings/saving-edits.h"
#include <ligature/json-members.h>
#include <ligature/plan-memory.h>
#include <ligature/plan.h>

#include <glib/gi18n-lib.h>
#include <math.h>

/* The number of fixes that are shown, and of those that are tried to find them. */
enum { SHOWN = 3, TRIED = 6 };

/* --- The passes ---------------------------------------------------------------------------- */

static void
append_title (const LigRails *self, GString *text)
{
  gboolean measured = self->passes[0].measured && self->passes[1].measured;
  const char *name = lig_device_get_name (lig_plan_get_device (self->plan));
  const char *compute = lig_dtype_name (lig_plan_get_compute (self->plan));
  g_autofree char *types = lig_plan_get_tf32 (self->plan)
                             ? g_strdup_printf (_ ("%s with TF32 matmuls"), compute)
                             : g_strdup (compute);
  g_autofree char *title = g_strdup_printf (_ ("%s, %s, policy %s"), name, types,
                                            lig_policy_name (lig_plan_get_policy (self->plan)));
  g_autofree char *line = measured || isnan (self->passes[0].seconds)
                            ? g_strdup (title)
                            : g_strdup_printf (_ ("%s (≈: predicted)"), title);
  lig_columns_wrap (text, line, 0, 2, self->width);
}

/* Returns `21.2 µs (40 %), 75.5 MB`, or null. */
static char *
describe_saving (const LigFigures *figures)
{
  char *texts[LIG_RAILS_FIGURES] = {NULL};
  lig_rails_write_figures (figures, texts);
  g_autofree char *time = texts[LIG_RAILS_SAVING], *bytes = texts[LIG_RAILS_LESS];
  double percent = 100 * figures->saved_seconds / figures->alone_seconds;
  g_autofree char *share = time && fabs (percent) >= 0.5
                             ? g_strdup_printf ("%s (%.0f %%)", time, percent)
                             : g_strdup (time);
  g_free (texts[LIG_RAILS_TIME]);
  g_free (texts[LIG_RAILS_BYTES]);
  return share && bytes ? g_strdup_printf ("%s, %s", share, bytes)
                        : g_strdup (share ? share : bytes);
}

/* Returns the figures of a pass and its saving, in as many words as fit. */
static char *
describe_pass (const LigFigures *figures, int room)
{
  g_autofree char *time = lig_figures_time_text (figures);
  g_autofree char *bytes = lig_units_bytes (figures->bytes);
  g_autofree char *saving = describe_saving (figures);
  g_autofree char *all = time ? g_strdup_printf ("%s, %s", time, bytes) : g_strdup (bytes);
  if (figures->kernels == 0)
    return g_strdup (_ ("no kernel"));
  if (!saving)
    return g_steal_pointer (&all);
  if (g_str_has_prefix (saving, "−")) {
    g_autofree char *loss = lig_units_time (-figures->saved_seconds);
    return g_strdup_printf (_ ("%s; %s slower than unfused"), all, loss);
  }
  g_autofree char *wide = g_strdup_printf (_ ("%s; saves %s vs. unfused"), all, saving);
  return lig_columns_width (wide) <= room ? g_steal_pointer (&wide)
                                          : g_strdup_printf (_ ("%s; saves %s"), all, saving);
}

/* Appends a line with its title in the first column. */
static void
append_line (const LigRails *self, GString *text, const char *title, const char *line, int indent)
{
  lig_columns_append (text, title, indent, LIG_SIDE_LEFT);
  lig_columns_wrap (text, line, indent, indent, self->width);
}

static int
get_indent (void)
{
  return MAX (lig_columns_width (_ ("forward")), lig_columns_width (_ ("backward"))) + 2;
}

static void
append_pass (const LigRails *self, GString *text, LigPass pass)
{
  const char *const titles[] = {_ ("forward"), _ ("backward")};
  int indent = get_indent ();
  if (self->n_groups[pass] == 0)
    return;
  g_autofree char *line = describe_pass (&self->passes[pass], self->width - indent);
  append_line (self, text, titles[pass], line, indent);
}

/* Appends the time, the memory and the rate of the whole step. */
static void
append_step (const LigRails *self, GString *text)
{
  LigUse use;
  LigFigures step;
  const LigTimedPlan timed = {.plan = self->plan};
  lig_figures_of_step (&timed, NULL, &step);
  lig_figures_of_use (self->plan, &step, &use);
  g_autofree char *time = lig_figures_time_text (&step), *rate = lig_figures_use_text (&use);
  g_autofree char *memory = lig_units_bytes (lig_plan_get_needed_memory (self->plan));
  if (!time || step.kernels == 0)
    return;
  g_autofree char *brief = g_strdup_printf (_ ("%s, memory %s"), time, memory);
  g_autofree char *line = rate ? g_strdup_printf ("%s; %s", brief, rate) : g_strdup (brief);
  gboolean fits = lig_columns_width (line) <= self->width - get_indent ();
  append_line (self, text, _ ("step"), fits ? line : brief, get_indent ());
}

/* --- The fixes ----------------------------------------------------------------------------- */

/* Marks the ops of the groups that the verdict is about, with and without its fusion, in its
 * passes. Returns whether none was marked before. */
static gboolean
claim (const LigRails *self, const LigVerdict *verdict, gboolean *taken[2], gboolean mark)
{
  gboolean free = TRUE;
  int first, last;
  lig_verdict_get_range (verdict, &first, &last);
  for (int side = 0; side < 2; side++) {
    if (verdict->pass != LIG_PASS_JOINT && (int) verdict->pass != side)
      continue;
    for (int i = MAX (first, 0); i <= last && i < (int) self->n_ops; i++) {
      int owner = self->owners[side][i];
      const LigPlanGroup *group = owner < 0 ? NULL : &self->groups[side][owner];
      int from = group ? group->first : i, count = group ? group->count : 1;
      for (int k = from; k < from + count; k++) {
        free &= !taken[side][k];
        taken[side][k] |= mark;
      }
    }
  }
  return free;
}

/* Returns whether none of the edit's ops was claimed before, and claims them if so. */
static gboolean
claim_edit (const LigRails *self, const LigSavingEdit *edit, gboolean *taken[2])
{
  for (guint mark = 0; mark < 2; mark++)
    for (guint i = 0; i < edit->verdicts->len; i++)
      if (!claim (self, g_array_index (edit->verdicts, const LigVerdict *, i), taken, mark > 0) &&
          mark == 0)
        return FALSE;
  return TRUE;
}

/* Returns whether plans with edits can be compared with this one by predictions, because nothing is
 * measured. */
static gboolean
can_try (const LigRails *self)
{
  guint count;
  if (!lig_saving_can_try (self->plan))
    return FALSE;
  const LigVerdict *verdicts = lig_plan_get_verdicts (self->plan, &count);
  if (lig_device_has (lig_plan_get_device (self->plan), LIG_DEVICE_DESCRIBED))
    return TRUE;
  for (guint i = 0; i < count; i++)
    if (verdicts[i].gain_measured)
      return FALSE;
  return lig_plan_get_policy (self->plan) != LIG_POLICY_MEASURED;
}

/* Moves the edits that can be made together to the front and marks the others. */
static void
split_edits (const LigRails *self, GArray *edits)
{
  gboolean *taken[] = {g_new0 (gboolean, self->n_ops + 1), g_new0 (gboolean, self->n_ops + 1)};
  guint kept = 0;
  for (guint i = 0; i < edits->len; i++) {
    LigSavingEdit edit = g_array_index (edits, LigSavingEdit, i);
    edit.instead = kept == SHOWN || !claim_edit (self, &edit, taken);
    for (guint k = i; k > kept && !edit.instead; k--)
      g_array_index (edits, LigSavingEdit, k) = g_array_index (edits, LigSavingEdit, k - 1);
    g_array_index (edits, LigSavingEdit, edit.instead ? i : kept++) = edit;
  }
  g_free (taken[0]);
  g_free (taken[1]);
}

/* Keeps the best edits that can be made together because they concern different groups, followed,
 * if there is room, by the best alternative. */
static void
choose_edits (const LigRails *self, GArray *edits)
{
  guint together = 0;
  split_edits (self, edits);
  while (together < edits->len && !g_array_index (edits, LigSavingEdit, together).instead)
    together++;
  if (edits->len > MIN (SHOWN, together + 1))
    g_array_set_size (edits, MIN (SHOWN, together + 1));
}

static char *
describe_gain (double gain, double bytes, gboolean measured)
{
  g_autofree char *time = isnan (gain) ? lig_units_bytes (bytes) : lig_units_time (gain);
  return g_strconcat (measured || isnan (gain) ? "" : "≈ ", time, NULL);
}

/* Returns the edit as the value of a command-line option: FUSION@PATH. */
static char *
describe_fix (const LigFix *fix)
{
  if (fix->kind == LIG_FIX_FORCE && !fix->value)
    return g_strdup_printf (_ ("force %s@%s"), fix->fusion, fix->path);
  if (fix->kind == LIG_FIX_UNFORBID && fix->path)
    return g_strdup_printf (_ ("allow %s@%s"), fix->fusion, fix->path);
  return lig_fix_describe (fix);
}

/* Returns the edit with the number of groups that it makes, because its gain counts them all, that
 * of a verdict only one. The number is omitted if it does not fit in `room` columns (0: any). */
static char *
describe_edit (const LigSavingEdit *edit, int room)
{
  g_autofree char *what = describe_fix (edit->fix);
  g_autofree char *whole = lig_saving_count_groups (edit, what);
  return room > 0 && lig_columns_width (whole) > room ? g_steal_pointer (&what)
                                                      : g_steal_pointer (&whole);
}

/* Returns the gain of all edits that can be made together; sets `count` to their number. */
static char *
sum_edits (const LigRails *self, GArray *edits, guint *count)
{
  guint numbers[SHOWN];
  double gain = 0, bytes = 0;
  gboolean measured = TRUE, tried = FALSE;
  *count = 0;
  for (guint i = 0; i < edits->len; i++) {
    const LigSavingEdit *edit = &g_array_index (edits, LigSavingEdit, i);
    if (edit->instead)
      continue;
    gain += edit->gain;
    bytes += edit->bytes;
    measured &= edit->measured;
    tried |= edit->groups != NULL;
    numbers[(*count)++] = edit->fix->number;
  }
  if (*count > 1 && tried)
    lig_saving_try_edits (self->plan, numbers, *count, &gain, &bytes, NULL);
  return describe_gain (gain, bytes, measured);
}

static void
append_edits (const LigRails *self, GString *text, GArray *edits)
{
  guint count;
  g_autofree char *sum = sum_edits (self, edits, &count);
  g_autofree char *head =
    g_strdup_printf (count > 1 ? _ ("would save %s together:") : _ ("would save %s:"), sum);
  lig_columns_wrap (text, head, 0, 2, self->width);
  for (guint i = 0; i < edits->len; i++) {
    const LigSavingEdit *edit = &g_array_index (edits, LigSavingEdit, i);
    g_autofree char *one = describe_gain (edit->gain, edit->bytes, edit->measured);
    g_autofree char *number = g_strdup_printf (_ ("  fix %u  "), edit->fix->number);
    gsize start = text->len;
    g_string_append (text, number);
    lig_columns_append (text, one, MAX (lig_columns_width (one), 9), LIG_SIDE_RIGHT);
    g_string_append (text, "  ");
    int at = lig_columns_width (text->str + start);
    g_autofree char *name = describe_edit (edit, self->width > 0 ? MAX (self->width - at, 1) : 0);
    g_autofree char *what = edit->instead ? g_strdup_printf (_ ("or %s"), name) : g_strdup (name);
    lig_columns_wrap (text, what, at, 4, self->width);
  }
}

static void
append_edit (const LigRails *self, GString *text, const LigSavingEdit *edit)
{
  g_autofree char *gain = describe_gain (edit->gain, edit->bytes, edit->measured);
  g_autofree char *what = describe_edit (edit, 0);
  g_autofree char *line =
    g_strdup_printf (_ ("would save %s: %s (fix %u)"), gain, what, edit->fix->number);
  lig_columns_wrap (text, line, 0, 2, self->width);
}

/* Returns the best edits, first those that can be made together. */
static GArray *
find_edits (const LigRails *self)
{
  gboolean tries = can_try (self);
  GArray *edits =
    lig_saving_list_edits (self->plan, tries && lig_plan_get_policy (self->plan) == LIG_POLICY_ALL);
  if (tries)
    lig_saving_try_each (self->plan, edits, SHOWN, TRIED);
  choose_edits (self, edits);
  return edits;
}

void
lig_rails_add_fixes (const LigRails *self, JsonBuilder *to)
{
  g_autoptr (GArray) edits = find_edits (self);
  for (guint i = 0; i < edits->len; i++) {
    const LigSavingEdit *edit = &g_array_index (edits, LigSavingEdit, i);
    g_autofree char *text = lig_fix_describe (edit->fix);
    json_builder_begin_object (to);
    lig_json_add_integer (to, "number", edit->fix->number);
    lig_json_add_text (to, "kind", lig_fix_kind_name (edit->fix->kind));
    lig_json_add_text (to, "text", text);
    lig_json_add_number (to, "gain_us", isnan (edit->gain) ? NAN : edit->gain * 1e6);
    lig_json_add_number (to, "gain_bytes", edit->bytes);
    lig_json_add_truth (to, "measured", edit->measured);
    lig_json_add_truth (to, "together", !edit->instead);
    json_builder_end_object (to);
  }
}

static void
append_fixes (const LigRails *self, GString *text)
{
  g_autoptr (GArray) edits = find_edits (self);
  if (edits->len == 0)
    lig_columns_wrap (text,
                      lig_plan_get_policy (self->plan) == LIG_POLICY_NONE
                        ? _ ("Policy none applies only forced fusions.")
                        : _ ("No fix is known that would save time."),
                      0, 2, self->width);
  else if (edits->len == 1)
    append_edit (self, text, &g_array_index (edits, LigSavingEdit, 0));
  else
    append_edits (self, text, edits);
  const char *how =
    edits->len > 0
      ? self->all
          ? _ ("to apply one: lig fuse P --apply-fix N -o FILE; to see more: --why PATH")
          : _ ("to apply one: lig fuse P --apply-fix N -o FILE; to see more: --why PATH, --all")
    : self->all ? _ ("to see more: lig fuse P --why PATH")
                : _ ("to see more: lig fuse P --why PATH, or --all");
  lig_columns_wrap (text, how, 0, 2, self->width);
}

void
lig_rails_append_summary (const LigRails *self, GString *text)
{
  g_autofree char *problem = lig_plan_explain_memory (self->plan, NULL);
  append_title (self, text);
  append_pass (self, text, LIG_PASS_FORWARD);
  append_pass (self, text, LIG_PASS_BACKWARD);
  append_step (self, text);
  g_autofree char *recipe = lig_plan_explain_recipe (self->plan);
  if (recipe)
    lig_columns_wrap (text, recipe, 0, 2, self->width);
  g_autofree char *again = lig_plan_explain_recompute (self->plan);
  if (again)
    lig_columns_wrap (text, again, 0, 2, self->width);
  g_autofree char *ranks = lig_plan_explain_ranks (self->plan);
  if (ranks)
    lig_columns_wrap (text, ranks, 0, 2, self->width);
  g_autofree char *upload = lig_plan_explain_upload (self->plan);
  if (upload)
    lig_columns_wrap (text, upload, 0, 2, self->width);
  append_fixes (self, text);
  if (!problem)
    return;
  g_string_append (text, self->colour ? "\n\033[1m" : "\n");
  lig_columns_wrap (text, problem, 0, 2, self->width);
  g_string_append (text, self->colour ? "\033[0m" : "");
}
