/* SPDX-License-Identifier: MIT */
/* The sentence of a verdict: the same text in the window, on the command line and in reports. */
#include "engine/compile/match.h"

#include <glib/gi18n-lib.h>

static char *
sentence (const LigVerdict *verdict)
{
  const char *name = verdict->fusion->name, *observed = verdict->observed,
             *required = verdict->required;
  switch (verdict->reason) {
  case LIG_REASON_NONE:
    return observed ? g_strdup_printf (_ ("%s: taken, %s instead of %s"), name, observed, required)
                    : g_strdup_printf (_ ("%s: taken"), name);
  case LIG_REASON_FENCED:
    return g_strdup_printf (_ ("%s: there is a %s"), name, observed);
  case LIG_REASON_FORBIDDEN:
    return g_strdup_printf (_ ("%s: not allowed here (%s)"), name, observed);
  case LIG_REASON_PATTERN:
    if (g_str_equal (observed, "end"))
      return g_strdup_printf (_ ("%s: the sequence ends here, expected %s"), name, required);
    return g_strdup_printf (_ ("%s: the next op is %s, expected %s"), name, observed, required);
  case LIG_REASON_IN_USE:
    return g_strdup_printf (_ ("%s: a value inside is wanted by %s, expected %s"), name, observed,
                            required);
  case LIG_REASON_KERNEL:
    return g_strdup_printf (_ ("%s: there is %s"), name, observed);
  case LIG_REASON_CLAIMED:
    return g_strdup_printf (_ ("%s: %s covers an op already"), name, observed);
  case LIG_REASON_SLOWER:
    return g_strdup_printf (_ ("%s: does not win by enough, %s fused and %s apart"), name, observed,
                            required);
  default:
    return g_strdup_printf (_ ("%s: %s is %s, expected %s"), name,
                            lig_reason_name (verdict->reason), observed, required);
  }
}

const char *
lig_verdict_text (LigDraft *draft, const LigVerdict *verdict)
{
  g_autofree char *text = sentence (verdict);
  return g_string_chunk_insert (draft->strings, text);
}
