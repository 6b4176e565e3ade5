/* SPDX-License-Identifier: MIT */
/* Verdicts ordered and folded. */
#include "engine/report/verdicts.h"

#include <glib/gi18n-lib.h>
#include <stdlib.h>

/* Which repetition of a block it is says nothing: `3.7.2` is `3.*.2`. */
static void
append_place (GString *key, const char *path)
{
  g_auto (GStrv) parts = g_strsplit (path, ".", -1);
  for (guint i = 0; parts[i]; i++)
    g_string_append_printf (key, "%s.", i % 2 == 1 ? "*" : parts[i]);
}

/* Whether a list of indexes such as `[5 6 7]` begins here; @end is its bracket. */
static gboolean
is_list (const char *at, const char **end)
{
  *end = *at == '[' ? at + 1 : at;
  while (**end == ' ' || g_ascii_isdigit (**end))
    (*end)++;
  return *at == '[' && **end == ']' && *end > at + 1;
}

/* The same sentence of another repetition names the ops of its own group: indexes count from the
 * first op. */
static void
append_sentence (GString *key, const char *text, int first)
{
  const char *end;
  for (const char *at = text; *at; at++) {
    if (!is_list (at, &end)) {
      g_string_append_c (key, *at);
      continue;
    }
    for (at++; at < end;) {
      char *next;
      long index = strtol (at, &next, 10);
      g_string_append_printf (key, "%+ld ", index - first);
      at = next > at && next <= end ? next : end;
    }
  }
}

/* Another group in the way is farther than a condition that an edit would meet; that the next op is
 * another one says least. */
static int
get_rank (const LigReportVerdict *entry)
{
  if (entry->taken)
    return 2;
  if (g_strcmp0 (entry->reason, "pattern") == 0)
    return 3;
  return g_strcmp0 (entry->reason, "claimed") == 0 ? 1 : 0;
}

GArray *
lig_report_fold_verdicts (const LigReportVerdict *entries, guint count)
{
  GArray *lines = g_array_new (FALSE, FALSE, sizeof (LigVerdictLine));
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  for (int rank = 0; rank < 4; rank++)
    for (guint i = 0; i < count; i++) {
      g_autoptr (GString) key = g_string_new (NULL);
      gpointer line;
      if (get_rank (&entries[i]) != rank)
        continue;
      if (entries[i].path)
        append_place (key, entries[i].path);
      g_string_append_c (key, ' ');
      append_sentence (key, entries[i].text ? entries[i].text : "", entries[i].first);
      if (g_hash_table_lookup_extended (seen, key->str, NULL, &line)) {
        g_array_index (lines, LigVerdictLine, GPOINTER_TO_UINT (line)).times++;
        continue;
      }
      g_hash_table_insert (seen, g_strdup (key->str), GUINT_TO_POINTER (lines->len));
      g_array_append_vals (lines, &(LigVerdictLine){entries[i].verdict, 1}, 1);
    }
  return lines;
}

GArray *
lig_report_list_verdicts (LigPlan *plan)
{
  guint count, n_ops;
  const LigVerdict *verdicts = lig_plan_get_verdicts (plan, &count);
  const LigPlanOp *ops = lig_plan_get_ops (plan, &n_ops);
  g_autofree LigReportVerdict *entries = g_new (LigReportVerdict, MAX (count, 1));
  for (guint i = 0; i < count; i++)
    entries[i] = (LigReportVerdict){.verdict = &verdicts[i],
                                    .path = ops[verdicts[i].first].path,
                                    .reason = lig_reason_name (verdicts[i].reason),
                                    .text = verdicts[i].text,
                                    .first = verdicts[i].first,
                                    .taken = verdicts[i].taken};
  return lig_report_fold_verdicts (entries, count);
}

char *
lig_report_verdict_text (const char *text, guint times)
{
  if (times == 1)
    return g_strdup (text);
  /* Translators: a sentence, and how often the repetitions of a block say it. */
  return g_strdup_printf (g_dngettext (GETTEXT_PACKAGE, "%s (%u time)", "%s (%u times)", times),
                          text, times);
}
