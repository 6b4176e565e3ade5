/* SPDX-License-Identifier: MIT */
/* Figures as short texts, the same in the window and in reports. */
#include "engine/base/units.h"
#include <ligature/figures.h>
#include <ligature/units.h>

#include <glib/gi18n-lib.h>
#include <math.h>

/* Smaller relative differences are rounding. */
#define MIN_SHARE 0.002

/* A larger fraction of the roofline gets an explanation. */
#define MAX_ROOFLINE 1.05

const char *
lig_bound_name (LigBound bound)
{
  static const char *const names[] = {NULL, N_ ("memory"), N_ ("compute"), N_ ("launch")};
  return bound < G_N_ELEMENTS (names) && names[bound] ? _ (names[bound]) : NULL;
}

/* Marks a figure that was not measured. */
static char *
mark (char *text, gboolean measured)
{
  g_autofree char *plain = text;
  return measured ? g_steal_pointer (&plain) : g_strdup_printf ("≈ %s", plain);
}

char *
lig_figures_time_text (const LigFigures *self)
{
  if (isnan (self->seconds))
    return NULL;
  if (self->kernels == 0 || self->seconds <= 0)
    return g_strdup ("0");
  return mark (lig_units_time (self->seconds), self->measured);
}

static gboolean
differs (double change, double whole)
{
  return !isnan (change) && fabs (change) > MIN_SHARE * fabs (whole) && change != 0;
}

char *
lig_figures_saving_text (const LigFigures *self)
{
  gboolean faster = differs (self->saved_seconds, self->alone_seconds);
  gboolean smaller = differs (self->saved_bytes, self->alone_bytes);
  if (self->fused == 0 || (!faster && !smaller))
    return NULL;
  g_autofree char *bytes = lig_units_bytes (fabs (self->saved_bytes));
  if (!faster)
    return g_strdup_printf (self->saved_bytes > 0 ? _ ("%s less") : _ ("%s more"), bytes);
  g_autofree char *time = mark (lig_units_time (fabs (self->saved_seconds)), self->saved_measured);
  if (!smaller)
    return g_strdup_printf (self->saved_seconds > 0 ? _ ("%s less") : _ ("%s more"), time);
  if (self->saved_seconds > 0 && self->saved_bytes > 0)
    return g_strdup_printf (_ ("%s, %s less"), time, bytes);
  if (self->saved_seconds < 0 && self->saved_bytes < 0)
    return g_strdup_printf (_ ("%s, %s more"), time, bytes);
  return g_strdup_printf (self->saved_seconds > 0 ? _ ("%s less, %s more") : _ ("%s more, %s less"),
                          time, bytes);
}

char *
lig_figures_rate_text (const LigFigures *self)
{
  static const char *const units[] = {"FLOP/s",  "kFLOP/s", "MFLOP/s",
                                      "GFLOP/s", "TFLOP/s", "PFLOP/s"};
  const char *bound = lig_bound_name (self->bound);
  g_autofree char *rate = NULL;
  if (self->bound == LIG_BOUND_COMPUTE || (!bound && self->matmuls > 0)) {
    if (!isnan (self->rate) && self->rate > 0)
      rate = lig_units_scale (self->rate, units, G_N_ELEMENTS (units));
  } else if (!isnan (self->copy_share))
    rate = g_strdup_printf (self->copy_share > MAX_ROOFLINE ? _ ("%.0f %% of copy, in cache")
                                                            : _ ("%.0f %% of copy"),
                            100 * self->copy_share);
  if (!rate)
    return g_strdup (bound);
  return bound ? g_strdup_printf ("%s · %s", rate, bound) : g_steal_pointer (&rate);
}

char *
lig_figures_roofline_text (const LigFigures *self)
{
  return isnan (self->roofline) || self->roofline <= 0
           ? NULL
           : g_strdup_printf (self->roofline > MAX_ROOFLINE ? _ ("%.0f %% of roofline, in cache")
                                                            : _ ("%.0f %% of roofline"),
                              100 * self->roofline);
}

char *
lig_figures_against_text (const LigFigures *self)
{
  if (isnan (self->saved_seconds) || self->kernels == 0)
    return NULL;
  g_autofree char *time = mark (lig_units_time (self->alone_seconds), self->saved_measured);
  double share = self->alone_seconds > 0 ? self->saved_seconds / self->alone_seconds : 0;
  if (fabs (share) < 0.005)
    return g_strdup_printf (_ ("%s, the same"), time);
  return g_strdup_printf (share > 0 ? _ ("%s, %.0f %% less") : _ ("%s, %.0f %% more"), time,
                          100 * fabs (share));
}

/* Appends a line if there is a text, and frees it. */
static void
append_line (GString *lines, const char *format, char *text)
{
  g_autofree char *owned = text;
  if (!owned)
    return;
  g_string_append (lines, lines->len > 0 ? "\n" : "");
  /* The formats are those below. */
  g_auto (GStrv) parts = g_strsplit (format, "%s", 2);
  g_string_append_printf (lines, "%s%s%s", parts[0], owned, parts[1] ? parts[1] : "");
}

char *
lig_figures_describe (const LigFigures *self)
{
  g_autoptr (GString) lines = g_string_new (NULL);
  if (self->kernels == 0)
    return NULL;
  gboolean both = self->measured && !isnan (self->predicted);
  append_line (lines, self->measured ? _ ("%s measured") : "%s", lig_figures_time_text (self));
  append_line (lines, _ ("%s is the lower bound by the device’s peak rates"),
               both ? lig_units_time (self->predicted) : NULL);
  append_line (lines, _ ("%s than its operations unfused"), lig_figures_saving_text (self));
  append_line (lines, _ ("unfused: %s"), self->fused > 0 ? lig_figures_against_text (self) : NULL);
  append_line (lines, _ ("%s read and written"), lig_units_bytes (self->bytes));
  append_line (lines, self->measured ? "%s" : _ ("bound by %s"), lig_figures_rate_text (self));
  append_line (lines, "%s", lig_figures_roofline_text (self));
  if (self->roofline > MAX_ROOFLINE)
    append_line (
      lines, "%s",
      g_strdup (_ ("faster than the device’s peak rates: its data was in a cache, or the "
                   "peak rates were measured on a busy machine")));
  return lines->len > 0 ? g_strdup (lines->str) : NULL;
}
