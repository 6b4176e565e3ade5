/* SPDX-License-Identifier: MIT */
/* The pinned plan of a document. */
#include "ui/document/pin.h"

#include "ui/document/preview.h"
#include "ui/document/private.h"
#include "ui/document/times.h"

#include <glib/gi18n.h>

struct _LigPin {
  LigPlan *plan; /* null: none is pinned */
  char *label;   /* of the edit that was previewed; null for a plan that was the document's own */
  char *wanted;  /* the device whose plan is pinned once its preview arrives */
  char *awaited; /* the label of that preview */
  LigPlanComparison *comparison;
};

static void
compare (LigDocument *self)
{
  LigPin *pin = self->pin;
  LigPlan *present = lig_document_get_plan (self);
  g_clear_pointer (&pin->comparison, lig_plan_comparison_unref);
  if (pin->plan && present)
    pin->comparison = lig_document_compare_timed (self, pin->plan);
  lig_document_emit (self, LIG_DOCUMENT_PINNED);
}

static void
follow_plan (LigDocument *self)
{
  if (self->pin && self->pin->plan && !self->stale)
    compare (self);
}

/* Pins the plan of the awaited device once it has arrived. */
static void
follow_preview (LigDocument *self)
{
  LigPin *pin = self->pin;
  const char *device = lig_document_get_preview_device (self);
  if (!pin)
    return;
  gboolean waited = pin->wanted && g_strcmp0 (device ? device : self->device, pin->wanted) == 0 &&
                    g_strcmp0 (lig_document_get_preview_label (self), pin->awaited) == 0;
  if (!waited || lig_document_get_preview_problem (self))
    g_clear_pointer (&pin->wanted, g_free);
  else if (lig_document_get_preview (self)) {
    g_clear_pointer (&pin->wanted, g_free);
    lig_document_pin (self);
  }
}

/* Runs after all other handlers, which see a preview before it is pinned and ended. */
static LigPin *
ensure (LigDocument *self)
{
  if (self->pin)
    return self->pin;
  g_signal_connect_after (self, "planned", G_CALLBACK (follow_plan), NULL);
  g_signal_connect_after (self, "timed", G_CALLBACK (follow_plan), NULL);
  g_signal_connect_after (self, "previewed", G_CALLBACK (follow_preview), NULL);
  self->pin = g_new0 (LigPin, 1);
  return self->pin;
}

static void
keep (LigDocument *self, LigPlan *plan, const char *label)
{
  LigPin *pin = ensure (self);
  lig_plan_ref (plan);
  g_clear_pointer (&pin->plan, lig_plan_unref);
  pin->plan = plan;
  g_free (pin->label);
  pin->label = g_strdup (label);
  compare (self);
}

gboolean
lig_document_pin (LigDocument *self)
{
  LigPlanComparison *preview = lig_document_get_preview (self);
  LigPlan *plan = preview ? lig_plan_comparison_get_after (preview) : lig_document_get_plan (self);
  if (!plan)
    return FALSE;
  keep (self, plan, preview ? lig_document_get_preview_label (self) : NULL);
  lig_document_end_preview (self);
  return TRUE;
}

static void
await_preview (LigPin *pin, const char *device, const char *label)
{
  g_free (pin->wanted);
  pin->wanted = g_strdup (device);
  g_free (pin->awaited);
  pin->awaited = g_strdup (label);
}

void
lig_document_pin_device (LigDocument *self, const char *device, const char *title)
{
  LigPin *pin = ensure (self);
  lig_document_preview (self, NULL, device, lig_document_get_policy (self), title);
  await_preview (pin, device, title);
}

void
lig_document_pin_sequence (LigDocument *self, LigSequence *sequence, const char *title)
{
  LigPin *pin = ensure (self);
  lig_document_preview (self, sequence, NULL, lig_document_get_policy (self), title);
  await_preview (pin, self->device, title);
}

void
lig_document_unpin (LigDocument *self)
{
  if (!lig_document_is_pinned (self))
    return;
  g_clear_pointer (&self->pin->plan, lig_plan_unref);
  g_clear_pointer (&self->pin->label, g_free);
  compare (self);
}

gboolean
lig_document_is_pinned (LigDocument *self)
{
  return self->pin && self->pin->plan;
}

LigPlanComparison *
lig_document_get_pinned (LigDocument *self)
{
  return self->pin ? self->pin->comparison : NULL;
}

void
lig_document_clear_pin (LigDocument *self)
{
  LigPin *pin = g_steal_pointer (&self->pin);
  if (!pin)
    return;
  g_clear_pointer (&pin->plan, lig_plan_unref);
  g_clear_pointer (&pin->comparison, lig_plan_comparison_unref);
  g_free (pin->label);
  g_free (pin->wanted);
  g_free (pin->awaited);
  g_free (pin);
}

/* --- Titles -------------------------------------------------------------------------------- */

const char *
lig_pin_device_title (LigPlan *plan)
{
  LigDevice *device = lig_plan_get_device (plan);
  const char *name = lig_device_get_facts (device)->name;
  return *name ? name : lig_device_get_name (device);
}

static const char *
title_policy (LigPlan *plan)
{
  switch (lig_plan_get_policy (plan)) {
  case LIG_POLICY_NONE:
    return _ ("No fusions");
  case LIG_POLICY_ALL:
    return _ ("All fusions");
  default:
    return _ ("Measured");
  }
}

/* Returns the title of one side, null without a comparison. */
static const char *
find_title (LigDocument *self, gboolean present)
{
  LigPlanComparison *comparison = lig_document_get_pinned (self);
  if (!comparison)
    return NULL;
  LigPlan *before = lig_plan_comparison_get_before (comparison);
  LigPlan *after = lig_plan_comparison_get_after (comparison);
  const char *devices[] = {lig_pin_device_title (before), lig_pin_device_title (after)};
  if (!g_str_equal (devices[0], devices[1]))
    return devices[present];
  if (lig_plan_get_policy (before) != lig_plan_get_policy (after))
    return title_policy (present ? after : before);
  if (self->pin->label)
    return present ? _ ("current") : self->pin->label;
  return present ? _ ("after") : _ ("before");
}

const char *
lig_document_get_pinned_title (LigDocument *self)
{
  return find_title (self, FALSE);
}

const char *
lig_document_get_present_title (LigDocument *self)
{
  return find_title (self, TRUE);
}
