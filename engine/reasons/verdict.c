/* SPDX-License-Identifier: MIT */
/* The texts of verdicts: the same sentence in the window, on the command line and in reports. */
#include "engine/reasons/explain.h"

#include <glib/gi18n-lib.h>
#include <math.h>

const char *
lig_pass_name (LigPass pass)
{
  static const char *const names[] = {"forward", "backward", "update", "joint"};
  return names[pass];
}

const char *
lig_reason_name (LigReason reason)
{
  static const char *const names[] = {
    NULL,     "fenced", "forbidden", "pattern", "in-use",  "parallel",
    "recipe", "dtype",  "shape",     "kernel",  "claimed", "slower",
  };
  return names[reason];
}

char *
lig_verdict_sentence (const LigVerdict *verdict, const char *name)
{
  const char *observed = verdict->observed, *required = verdict->required;
  switch (verdict->reason) {
  case LIG_REASON_NONE:
    return observed ? g_strdup_printf (_ ("%s: taken, %s instead of %s"), name, observed, required)
                    : g_strdup_printf (_ ("%s: taken"), name);
  case LIG_REASON_FENCED:
    return g_strdup_printf (_ ("%s: there is a %s"), name, observed);
  case LIG_REASON_FORBIDDEN:
    return g_strdup_printf (_ ("%s: not allowed here (%s)"), name, observed);
  case LIG_REASON_PATTERN:
    if (verdict->found.kind == LIG_EVIDENCE_END)
      return g_strdup_printf (_ ("%s: the sequence ends here, expected %s"), name, required);
    return g_strdup_printf (_ ("%s: the next op is %s, expected %s"), name, observed, required);
  case LIG_REASON_IN_USE:
    return g_strdup_printf (_ ("%s: an intermediate value is also used by %s, expected %s"), name,
                            observed, required);
  case LIG_REASON_KERNEL:
    return g_strdup_printf (_ ("%s: the device has %s"), name, observed);
  case LIG_REASON_CLAIMED:
    return g_strdup_printf (_ ("%s: %s covers an op already"), name, observed);
  case LIG_REASON_SLOWER:
    return g_strdup_printf (_ ("%s: not fast enough to be worth fusing, %s fused and %s unfused"),
                            name, observed, required);
  default:
    return g_strdup_printf (_ ("%s: %s is %s, expected %s"), name,
                            lig_reason_name (verdict->reason), observed, required);
  }
}

char *
lig_verdict_describe_gain (const LigVerdict *self)
{
  double size = fabs (self->gain);
  if (isnan (self->gain))
    return NULL;
  if (size < 0.05)
    return g_strdup (_ ("would save nothing"));
  g_autofree char *time =
    size < 999.5 ? g_strdup_printf ("%.3g us", size) : g_strdup_printf ("%.3g ms", size * 1e-3);
  if (self->gain_measured)
    return g_strdup_printf (
      self->gain > 0 ? _ ("would save %s, measured") : _ ("would cost %s, measured"), time);
  return g_strdup_printf (self->gain > 0 ? _ ("would save about %s") : _ ("would cost about %s"),
                          time);
}
