/* SPDX-License-Identifier: MIT */
/* The groups that take most of a step's time. The repetitions of a block count as one. */
#include "ui/inspector/times.h"

#include "ui/document/times.h"

#include <glib/gi18n.h>
#include <math.h>

enum { MOST = 5 };

typedef struct {
  const LigPlanGroup *group; /* the first of its kind */
  guint repeats;
  LigFigures figures;
} Hot;

/* Appends a path without the numbers of repetitions: `3.0.2` and `3.7.2` are both `3.*.2`. */
static void
append_path (GString *key, const char *path)
{
  g_auto (GStrv) parts = g_strsplit (path, ".", -1);
  for (guint i = 0; parts[i]; i++)
    g_string_append_printf (key, ".%s", i % 2 == 1 ? "*" : parts[i]);
}

static char *
make_key (LigPlan *plan, const LigPlanGroup *group)
{
  guint count;
  const LigPlanOp *ops = lig_plan_get_ops (plan, &count);
  GString *key = g_string_new (group->fusion ? group->fusion->name : ops[group->first].info->name);
  g_string_append_printf (key, " %d %d", group->pass, group->count);
  append_path (key, ops[group->first].path);
  append_path (key, ops[group->first + group->count - 1].path);
  return g_string_free (key, FALSE);
}

static int
compare (gconstpointer a, gconstpointer b)
{
  const Hot *one = *(const Hot *const *) a, *two = *(const Hot *const *) b;
  double difference = two->figures.seconds - one->figures.seconds;
  return difference > 0 ? 1 : difference < 0 ? -1 : 0;
}

static GPtrArray *
collect (const LigTimedPlan *timed, const LigTimedPlan *unfused)
{
  GPtrArray *all = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GHashTable) known = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  for (LigPass pass = LIG_PASS_FORWARD; pass <= LIG_PASS_BACKWARD; pass++) {
    guint count;
    const LigPlanGroup *groups = lig_plan_get_groups (timed->plan, pass, &count);
    for (guint i = 0; i < count; i++) {
      LigFigures figures;
      g_autofree char *key = make_key (timed->plan, &groups[i]);
      Hot *hot = g_hash_table_lookup (known, key);
      if (groups[i].n_steps == 0)
        continue;
      lig_figures_of_group (timed, unfused, &groups[i], &figures);
      if (!hot) {
        hot = g_new0 (Hot, 1);
        hot->group = &groups[i];
        lig_figures_init (&hot->figures);
        g_ptr_array_add (all, hot);
        g_hash_table_insert (known, g_steal_pointer (&key), hot);
      }
      hot->repeats++;
      lig_figures_add (&hot->figures, &figures);
    }
  }
  g_ptr_array_sort (all, compare);
  return all;
}

static char *
describe (const LigTimedPlan *timed, const Hot *hot)
{
  g_autofree char *rate = lig_figures_rate_text (&hot->figures);
  const char *pass = hot->group->pass == LIG_PASS_BACKWARD ? _ ("backward") : _ ("forward");
  g_autofree char *times = hot->repeats > 1 ? g_strdup_printf ("× %u", hot->repeats) : NULL;
  g_autofree char *both = times ? g_strdup_printf ("%s %s", pass, times) : g_strdup (pass);
  return rate ? g_strdup_printf ("%s · %s", both, rate) : g_steal_pointer (&both);
}

static void
add_hot (LigFacts *facts, const LigTimedPlan *timed, const Hot *hot, double whole)
{
  guint count;
  const LigPlanOp *ops = lig_plan_get_ops (timed->plan, &count);
  g_autofree char *label =
    g_strdup_printf (_ ("%s at %s"), hot->group->title, ops[hot->group->first].path);
  g_autofree char *time = lig_figures_time_text (&hot->figures);
  g_autofree char *value =
    g_strdup_printf ("%s · %.0f %%", time ? time : "", 100 * hot->figures.seconds / whole);
  g_autofree char *detail = describe (timed, hot);
  lig_facts_add_figure (facts, label, value, hot->figures.measured, detail);
  lig_facts_lead_to (facts, ops[hot->group->first].path);
}

void
lig_facts_show_hottest (LigFacts *facts, LigDocument *doc)
{
  LigTimedPlan timed, unfused;
  LigFigures whole, rest;
  lig_document_get_timed (doc, &timed, &unfused);
  lig_facts_begin (facts);
  lig_figures_init (&rest);
  if (timed.plan) {
    lig_figures_of_step (&timed, &unfused, &whole);
    g_autoptr (GPtrArray) all = collect (&timed, &unfused);
    for (guint i = 0; i < all->len && whole.seconds > 0; i++)
      if (i < MOST)
        add_hot (facts, &timed, all->pdata[i], whole.seconds);
      else
        lig_figures_add (&rest, &((const Hot *) all->pdata[i])->figures);
    if (rest.seconds > 0) {
      g_autofree char *time = lig_figures_time_text (&rest);
      g_autofree char *value =
        g_strdup_printf ("%s · %.0f %%", time, 100 * rest.seconds / whole.seconds);
      lig_facts_add_figure (facts, _ ("The rest"), value, rest.measured, NULL);
    }
  }
  lig_facts_end (facts);
}
