/* SPDX-License-Identifier: MIT */
/* The times of a step, and of the groups of one row. */
#include "ui/inspector/times.h"
#include "ui/document/document.h"

#include "ui/document/times.h"
#include "ui/score/text.h"
#include <ligature/plan-memory.h>
#include <ligature/plan.h>
#include <ligature/report.h>
#include <ligature/units.h>

#include <glib/gi18n.h>
#include <string.h>

/* Limits the groups that are listed: a folded block has many. */
enum { MAX_GROUPS = 6 };

static char *
get_time (const LigFigures *figures)
{
  char *time = lig_figures_time_text (figures);
  return time ? time : g_strdup (_ ("time unknown"));
}

/* Appends the known texts, one per line; (transfer full) for all texts. */
static void
append (GString *lines, char *text)
{
  if (text && *text)
    g_string_append_printf (lines, "%s%s", lines->len > 0 ? "\n" : "", text);
  g_free (text);
}

/* Appends everything known except the time, which is the value of the fact. */
static void
append_figures (GString *lines, const LigFigures *figures)
{
  g_autofree char *all = lig_figures_describe (figures);
  const char *end = all ? strchr (all, '\n') : NULL;
  append (lines, end ? g_strdup (end + 1) : NULL);
}

/* --- The step ------------------------------------------------------------------------------ */

static void
show_pass (LigFacts *facts,
           const LigTimedPlan *timed,
           const LigTimedPlan *unfused,
           LigPass pass,
           const char *label)
{
  LigFigures figures;
  lig_figures_of_pass (timed, unfused, pass, &figures);
  if (figures.kernels == 0)
    return;
  g_autofree char *time = get_time (&figures);
  g_autoptr (GString) detail = g_string_new (NULL);
  append (detail, g_strdup_printf (ngettext ("%u group, %u of them fused",
                                             "%u groups, %u of them fused", figures.groups),
                                   figures.groups, figures.fused));
  append (detail, lig_figures_saving_text (&figures));
  append (detail, lig_figures_roofline_text (&figures));
  lig_facts_add_figure (facts, label, time, figures.measured, detail->str);
}

/* Shows the collectives that a rank takes part in; their times are predicted. */
static void
show_collectives (LigFacts *facts, LigPlan *plan)
{
  LigCommunication collective;
  lig_figures_of_communication (plan, &collective);
  if (collective.ranks < 2)
    return;
  g_autofree char *layout =
    lig_layout_to_string (lig_device_get_layout (lig_plan_get_device (plan)));
  g_autofree char *bytes = lig_units_bytes (collective.bytes);
  g_autofree char *seconds = lig_units_time (collective.seconds);
  g_autofree char *exposed = lig_units_time (collective.exposed);
  g_autofree char *memory = lig_units_bytes (lig_plan_get_needed_memory (plan));
  g_autofree char *predicted = g_strconcat ("≈ ", seconds, NULL);
  g_autoptr (GString) detail = g_string_new (NULL);
  append (detail, g_strdup_printf (ngettext ("%s among %d rank, %s", "%s among %d ranks, %s",
                                             (gulong) collective.ranks),
                                   bytes, collective.ranks, layout));
  if (collective.seconds > 0)
    append (detail, g_strdup_printf (_ ("≈ %s not overlapped"), exposed));
  append (detail, g_strdup_printf (_ ("each rank needs %s of memory"), memory));
  append (detail, g_strdup (collective.whole));
  lig_facts_add_figure (facts, _ ("Collectives"), collective.seconds > 0 ? predicted : "–", FALSE,
                        detail->str);
}

/* Returns that the comparison with the unfused plan is one of predictions although the step was
 * measured; null otherwise. */
static char *
describe_both (const LigFigures *step)
{
  if (!step->measured || step->saved_measured)
    return NULL;
  g_autofree char *predicted = lig_units_time (step->predicted);
  return g_strdup_printf (_ ("both predicted, fused ≈ %s"), predicted);
}

void
lig_facts_show_step (LigFacts *facts, LigDocument *doc)
{
  LigTimedPlan timed, unfused;
  LigFigures step;
  lig_document_get_timed (doc, &timed, &unfused);
  lig_facts_begin (facts);
  if (timed.plan) {
    lig_figures_of_step (&timed, &unfused, &step);
    g_autofree char *time = get_time (&step);
    g_autofree char *against = lig_figures_against_text (&step);
    g_autofree char *origin = lig_document_describe_times (doc, 0);
    LigUse use;
    lig_figures_of_use (timed.plan, &step, &use);
    g_autofree char *rate = lig_figures_use_text (&use);
    g_autofree char *detail = rate ? g_strdup_printf ("%s\n%s", rate, origin) : g_strdup (origin);
    lig_facts_add_figure (facts, lig_document_name_step (timed.plan), time, step.measured, detail);
    if (against) {
      g_autofree char *both = describe_both (&step);
      lig_facts_add_figure (facts, _ ("Vs. unfused"), against, step.saved_measured, both);
    }
    show_pass (facts, &timed, &unfused, LIG_PASS_FORWARD, _ ("Forward"));
    show_pass (facts, &timed, &unfused, LIG_PASS_BACKWARD, _ ("Backward"));
    show_collectives (facts, timed.plan);
  }
  lig_facts_end (facts);
}

/* --- The groups of a row ------------------------------------------------------------------- */

static const char *
get_pass (const LigPlanGroup *group)
{
  return group->pass == LIG_PASS_BACKWARD ? _ ("Backward") : _ ("Forward");
}

static void
show_group (LigFacts *facts,
            const LigTimedPlan *timed,
            const LigTimedPlan *unfused,
            const LigPlanGroup *group)
{
  LigFigures figures;
  if (group->n_steps == 0) {
    lig_facts_add (facts, get_pass (group), _ ("no kernel"), _ ("no data moves: the same tensor"));
    return;
  }
  lig_figures_of_group (timed, unfused, group, &figures);
  g_autofree char *time = get_time (&figures);
  g_autoptr (GString) detail = g_string_new (NULL);
  append (detail, group->fusion ? g_strdup (group->title) : g_strdup (_ ("not fused")));
  append (detail, g_strdup (group->fusion ? group->fusion->name : NULL));
  append (detail, lig_score_kernels (timed->plan, group));
  append_figures (detail, &figures);
  lig_facts_add_figure (facts, get_pass (group), time, figures.measured, detail->str);
}

static void
show_sum (LigFacts *facts,
          const LigTimedPlan *timed,
          const LigTimedPlan *unfused,
          const LigPlanGroup *const *groups,
          guint count)
{
  LigFigures sum, part;
  lig_figures_init (&sum);
  for (guint i = 0; i < count; i++) {
    lig_figures_of_group (timed, unfused, groups[i], &part);
    lig_figures_add (&sum, &part);
  }
  g_autofree char *time = get_time (&sum);
  g_autoptr (GString) detail = g_string_new (NULL);
  append (detail, g_strdup_printf (ngettext ("%u kernel", "%u kernels", sum.kernels), sum.kernels));
  append_figures (detail, &sum);
  lig_facts_add_figure (facts, get_pass (groups[0]), time, sum.measured, detail->str);
}

void
lig_facts_show_groups (LigFacts *facts, LigDocument *doc, int first, int end)
{
  LigTimedPlan timed, unfused;
  lig_document_get_timed (doc, &timed, &unfused);
  for (LigPass pass = LIG_PASS_FORWARD; pass <= LIG_PASS_BACKWARD && timed.plan; pass++) {
    guint total;
    const LigPlanGroup *groups = lig_plan_get_groups (timed.plan, pass, &total);
    g_autoptr (GPtrArray) covering = g_ptr_array_new ();
    for (guint i = 0; i < total; i++)
      if (groups[i].first < end && groups[i].first + groups[i].count > first)
        g_ptr_array_add (covering, (gpointer) &groups[i]);
    if (covering->len > MAX_GROUPS)
      show_sum (facts, &timed, &unfused, (const LigPlanGroup *const *) covering->pdata,
                covering->len);
    else
      for (guint i = 0; i < covering->len; i++)
        show_group (facts, &timed, &unfused, covering->pdata[i]);
  }
}
