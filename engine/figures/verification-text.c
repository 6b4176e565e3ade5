/* SPDX-License-Identifier: MIT */
/* The result of a verification in one sentence. */
#include <ligature/verification.h>

#include <glib/gi18n-lib.h>
#include <math.h>

/* Describes the factor if it is a power of two other than 1, which indicates a wrong scale;
 * otherwise returns null. */
static char *
explain_scale (double scale)
{
  int power = isfinite (scale) && scale != 0 ? (int) round (log2 (fabs (scale))) : 0;
  double ratio = power != 0 ? fabs (scale) / exp2 (power) : 0;
  if (ratio < 0.9 || ratio > 1.1)
    return NULL;
  return scale > 0 ? g_strdup_printf (_ (", being about 2^%d times the right value"), power)
                   : g_strdup_printf (_ (", being about -2^%d times the right value"), power);
}

static const char *
pass_name (const LigVerified *of)
{
  return of->again                       ? _ ("backward, recomputed")
         : of->pass == LIG_PASS_FORWARD  ? _ ("forward")
         : of->pass == LIG_PASS_BACKWARD ? _ ("backward")
                                         : _ ("update");
}

char *
lig_verification_explain (const LigVerification *self)
{
  const LigVerified *of = self->outside;
  if (!of)
    return g_strdup_printf (
      g_dngettext (GETTEXT_PACKAGE, "all %u groups agree up to rounding, on %u batch",
                   "all %u groups agree up to rounding, on %u batches", (gulong) self->batches),
      self->n_groups, self->batches);
  g_autofree char *scale = explain_scale (of->scale);
  g_autofree char *where = !of->title
                             ? g_strdup (pass_name (of))
                             : g_strdup_printf (_ ("%s: %s at %s (%s)"), pass_name (of), of->title,
                                                of->path, of->fusion ? of->fusion : _ ("unfused"));
  if (isnan (of->error))
    return g_strdup_printf (
      _ ("%s is outside: %s has numbers that are not finite where the reference is"), where,
      of->value);
  return g_strdup_printf (_ ("%s is outside: %s has a relative error of %.2g%s; rounding explains "
                             "%.2g, the limit is %.2g"),
                          where, of->value, of->error, scale ? scale : "", of->rounding, of->limit);
}
