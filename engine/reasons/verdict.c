/* SPDX-License-Identifier: MIT */
/* The texts of verdicts: the same sentence in the window, on the command line and in reports. */
#include "engine/reasons/words.h"

#include <ligature/units.h>

#include <glib/gi18n-lib.h>
#include <math.h>
#include <string.h>

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

static const char *
keep (const LigReasonCase *self, char *text)
{
  const char *kept = g_string_chunk_insert_const (self->strings, text);
  g_free (text);
  return kept;
}

/* Returns the rows of a group: `2`, `2 to 4`. */
static char *
name_rows (const LigReasonCase *self, int first, int count)
{
  g_autofree char *from = lig_verdict_row_path (self->ops[first].path);
  g_autofree char *to = lig_verdict_row_path (self->ops[first + count - 1].path);
  return g_str_equal (from, to) ? g_steal_pointer (&from)
                                : g_strdup_printf (_ ("%s to %s"), from, to);
}

/* Verdicts on a fusion share the array of accepted names. */
static char *
name_needs (const LigReasonCase *self, const char *const *names)
{
  const char *known = self->needs ? g_hash_table_lookup (self->needs, names) : NULL;
  if (known)
    return g_strdup (known);
  char *words = lig_reasons_name_needs (names);
  if (self->needs)
    g_hash_table_insert (self->needs, (gpointer) names, g_strdup (words));
  return words;
}

static char *
say_pattern (const LigReasonCase *self, const LigVerdict *verdict)
{
  gboolean end = verdict->found.kind == LIG_EVIDENCE_END;
  int next = end ? (int) self->n_ops : verdict->found.first;
  g_autofree char *needs = name_needs (self, verdict->needed.names);
  g_autofree char *last = lig_reasons_name_op (self, MAX (next - 1, 0), -1);
  if (end)
    return g_strdup_printf (_ ("needs %s after %s; the sequence ends"), needs, last);
  g_autofree char *follows = lig_reasons_name_op (self, next, next - 1);
  return g_strdup_printf (_ ("needs %s after %s; %s follows"), needs, last, follows);
}

static char *
say_use (const LigReasonCase *self, const LigVerdict *verdict)
{
  const LigEvidence *found = &verdict->found, *needed = &verdict->needed;
  g_autofree char *op =
    found->path ? lig_reasons_name_op (self, found->first, verdict->first) : NULL;
  if (found->kind == LIG_EVIDENCE_CHANNEL && op)
    return g_strdup_printf (_ ("the channel %s reads the value of %s, between these rows"),
                            found->names[0], op);
  if (op)
    return g_strdup_printf (_ ("the caller reads the value of %s, between these rows"), op);
  if (!needed->names)
    return g_strdup_printf (_ ("%s reads a value between these rows"), verdict->observed);
  g_autofree char *of =
    needed->count > 0 ? lig_reasons_name_op (self, needed->first, verdict->first) : g_strdup ("");
  g_autofree char *value = needed->count == 0 ? g_strdup (needed->names[0])
                           : g_str_equal (needed->names[0], "y")
                             ? g_strdup_printf (_ ("the output of %s"), of)
                             : g_strdup_printf (_ ("%s of %s"), needed->names[0], of);
  if (found->kind != LIG_EVIDENCE_PASS)
    return g_strdup_printf (_ ("the caller reads %s, which the kernel does not write"), value);
  return g_strdup_printf (g_str_equal (found->names[0], "update")
                            ? _ ("the update reads %s, which the kernel does not write")
                            : _ ("the backward pass reads %s, which the kernel does not write"),
                          value);
}

/* Returns the title of the group that covers the ops. */
static const char *
find_claimant (const LigReasonCase *self, const LigEvidence *found)
{
  for (int side = 0; side < 2 && self->owners[side]; side++) {
    int owner = self->owners[side][found->first];
    const LigVerdict *other = owner < 0 ? NULL : &self->verdicts[owner];
    if (other && other->first == found->first && other->title &&
        g_str_equal (self->fusions[owner].name, found->fusion))
      return other->title;
  }
  return found->fusion;
}

static char *
say_claim (const LigReasonCase *self, const LigVerdict *verdict)
{
  const LigEvidence *found = &verdict->found;
  const char *policy = verdict->needed.names ? verdict->needed.names[0] : "";
  if (found->kind != LIG_EVIDENCE_GROUP)
    return g_strdup (_ ("it is not among the groups that were chosen before"));
  g_autofree char *rows = name_rows (self, found->first, found->count);
  int shared = MAX (found->first, verdict->first);
  g_autofree char *op = lig_reasons_name_op (self, shared, verdict->first);
  const char *title = find_claimant (self, found);
  if (found->path)
    return g_strdup_printf (_ ("%s is in “%s” at %s, which is forced"), op, title, rows);
  if (g_str_equal (policy, "all") && verdict->gain > 0.05)
    return g_strdup_printf (
      _ ("%s is in “%s” at %s: policy all takes the first match, not the fastest"), op, title,
      rows);
  return g_strdup_printf (_ ("%s is already in “%s” at %s"), op, title, rows);
}

/* Returns `61.4 ± 0.4 µs`. */
static char *
format_time (double microseconds, double noise)
{
  g_autofree char *time = lig_units_time (microseconds * 1e-6);
  const char *unit = strrchr (time, ' ');
  double scale = microseconds < 0.9995    ? 1e3
                 : microseconds < 999.5   ? 1
                 : microseconds < 999.5e3 ? 1e-3
                                          : 1e-6;
  if (noise <= 0 || !unit)
    return g_steal_pointer (&time);
  return g_strdup_printf ("%.*s ± %.2g%s", (int) (unit - time), time, noise * scale, unit);
}

static char *
describe_whole (gboolean measured, double with, double without)
{
  g_autofree char *one = format_time (with, 0);
  g_autofree char *other = format_time (without, 0);
  return g_strdup_printf (measured ? _ ("measured whole steps: %s with it, %s without")
                                   : _ ("predicted whole steps: %s with it, %s without"),
                          one, other);
}

char *
lig_verdict_describe_times (const LigVerdict *self)
{
  if (isnan (self->fused) || isnan (self->present))
    return NULL;
  if (self->whole && !self->taken)
    return describe_whole (self->times_measured, self->fused, self->present);
  g_autofree char *fused = format_time (self->fused, self->fused_noise);
  g_autofree char *present = format_time (self->present, self->present_noise);
  if (self->taken)
    return g_strdup_printf (self->times_measured ? _ ("measured: %s fused, %s unfused")
                                                 : _ ("predicted: %s fused, %s unfused"),
                            fused, present);
  return g_strdup_printf (self->times_measured ? _ ("measured: %s fused, %s currently")
                                               : _ ("predicted: %s fused, %s currently"),
                          fused, present);
}

static char *
say_slower (const LigVerdict *verdict)
{
  g_autofree char *times = lig_verdict_describe_times (verdict);
  if (times && verdict->present > verdict->fused && verdict->whole && !verdict->times_measured)
    return g_strdup_printf (_ ("%s; predictions may err by more than the difference"), times);
  if (times && verdict->present > verdict->fused)
    return g_strdup_printf (_ ("%s; the difference is within 2 %% or the noise"), times);
  return times ? g_steal_pointer (&times)
               : g_strdup_printf (_ ("not worth fusing: %s fused, %s unfused"), verdict->observed,
                                  verdict->required);
}

static char *
say_forbidden (const LigReasonCase *self, const LigVerdict *verdict)
{
  if (verdict->found.kind == LIG_EVIDENCE_POLICY)
    return g_strdup (_ ("policy none takes only forced fusions"));
  if (!verdict->found.path)
    return g_strdup (_ ("forbidden everywhere"));
  g_autofree char *op = lig_reasons_name_op (self, verdict->first, -1);
  return g_strdup_printf (_ ("forbidden at %s"), op);
}

static char *
say_fence (const LigReasonCase *self, const LigVerdict *verdict)
{
  if (!verdict->found.path)
    return g_strdup (_ ("there is a fence"));
  g_autofree char *op = lig_reasons_name_op (self, verdict->found.first, verdict->first);
  return g_strdup_printf (_ ("there is a fence before %s"), op);
}

/* A group that takes longer than its ops was taken with the other groups, by the time of whole
 * steps; of equally fast ones, the step that moves fewer bytes. */
static char *
say_taken (const LigVerdict *verdict)
{
  const LigEvidence *with = &verdict->found, *without = &verdict->needed;
  if (verdict->pieces > 1)
    return g_strdup_printf (ngettext ("taken, each rank's rows in %d part",
                                      "taken, each rank's rows in %d parts", verdict->pieces),
                            verdict->pieces);
  if (!verdict->whole || !(verdict->fused > verdict->present))
    return g_strdup (_ ("taken"));
  g_autofree char *times = describe_whole (with->measured, with->value, without->value);
  g_autofree char *bytes = lig_units_bytes (verdict->bytes);
  if (with->value <= without->value || !(verdict->bytes > 0))
    return g_strdup_printf (_ ("taken; %s"), times);
  return g_strdup_printf (
    with->measured
      ? _ ("taken; %s; the difference is within the noise, and it moves %s less")
      : _ ("taken; %s; predictions may err by more than the difference, and it moves %s less"),
    times, bytes);
}

static char *
say (const LigReasonCase *self, const LigVerdict *verdict)
{
  switch (verdict->reason) {
  case LIG_REASON_NONE:
    return say_taken (verdict);
  case LIG_REASON_FENCED:
    return say_fence (self, verdict);
  case LIG_REASON_FORBIDDEN:
    return say_forbidden (self, verdict);
  case LIG_REASON_PATTERN:
    return say_pattern (self, verdict);
  case LIG_REASON_IN_USE:
    return say_use (self, verdict);
  case LIG_REASON_KERNEL:
    return g_strdup_printf (_ ("the device has %s"), verdict->observed);
  case LIG_REASON_CLAIMED:
    return say_claim (self, verdict);
  case LIG_REASON_SLOWER:
    return say_slower (verdict);
  default:
    return g_strdup_printf (_ ("%s is %s, expected %s"), lig_reason_name (verdict->reason),
                            verdict->observed, verdict->required);
  }
}

void
lig_reasons_write (const LigReasonCase *self, LigVerdict *verdict, const LigReasonFusion *fusion)
{
  g_autofree char *why = say (self, verdict);
  g_autofree char *text = g_strconcat (fusion->name, ": ", why, NULL);
  /* Most texts name rows, so searching for an equal one would not pay. */
  verdict->text = g_string_chunk_insert (self->strings, text);
  verdict->why = verdict->text + strlen (fusion->name) + 2;
}

void
lig_reasons_entitle (const LigReasonCase *self, LigVerdict *verdict, const LigReasonFusion *fusion)
{
  verdict->title =
    verdict->fits
      ? keep (self, lig_reasons_title (self, fusion, verdict->pass, verdict->first, verdict->count))
      : _ (fusion->summary);
}

/* Appends the bytes to a sentence about the time, or returns only the bytes. */
static char *
add_bytes (const LigVerdict *self, const char *time)
{
  if (isnan (self->bytes) || fabs (self->bytes) < 1)
    return g_strdup (time); /* null without a time */
  gboolean less = self->bytes > 0;
  g_autofree char *bytes = lig_units_bytes (fabs (self->bytes));
  if (!time)
    return g_strdup_printf (less ? _ ("would move %s less") : _ ("would move %s more"), bytes);
  if (less == (self->gain > 0))
    return g_strdup_printf (less ? _ ("%s, and move %s less") : _ ("%s, and move %s more"), time,
                            bytes);
  return g_strdup_printf (less ? _ ("%s, but move %s less") : _ ("%s, but move %s more"), time,
                          bytes);
}

char *
lig_verdict_describe_gain (const LigVerdict *self)
{
  double size = fabs (self->gain);
  if (self->taken)
    return NULL;
  if (isnan (self->gain))
    return add_bytes (self, NULL);
  if (size < 0.05)
    return add_bytes (self, self->reason == LIG_REASON_SLOWER && self->present > self->fused
                              ? _ ("may save nothing")
                              : _ ("would save nothing"));
  g_autofree char *time = lig_units_time (size * 1e-6);
  const char *format =
    self->gain_measured
      ? (self->gain > 0 ? _ ("would save %s, measured") : _ ("would cost %s, measured"))
      : (self->gain > 0 ? _ ("would save about %s") : _ ("would cost about %s"));
  g_auto (GStrv) around = g_strsplit (format, "%s", 2);
  g_autofree char *sentence = g_strjoinv (time, around);
  return add_bytes (self, sentence);
}
