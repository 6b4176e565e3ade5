/* SPDX-License-Identifier: MIT */
/* The core of a document: the session, the sequence, the device and the options that its other
 * files read, and the signals by which they announce what they have changed. */
#include "ui/document/private.h"
#include <ligature/plan-options.h>

#include <string.h>

static guint signals[LIG_DOCUMENT_N_SIGNALS];

void
lig_document_install_signals (GObjectClass *class)
{
  static const char *const names[] = {"changed",   "planned", "selected", "titled", "settings",
                                      "previewed", "timed",   "pinned",   "wanted", "savings"};
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    signals[i] = g_signal_new (names[i], G_TYPE_FROM_CLASS (class), G_SIGNAL_RUN_LAST, 0, NULL,
                               NULL, NULL, G_TYPE_NONE, 0);
}

void
lig_document_emit (LigDocument *self, LigDocumentSignal signal)
{
  g_signal_emit (self, signals[signal], 0);
}

LigSession *
lig_document_get_session (LigDocument *self)
{
  return self->session;
}

LigSequence *
lig_document_get_sequence (LigDocument *self)
{
  return self->sequence;
}

const char *
lig_document_get_device (LigDocument *self)
{
  return self->device;
}

LigPolicy
lig_document_get_policy (LigDocument *self)
{
  return self->policy;
}

void
lig_document_get_options (LigDocument *self, LigPlanOptions *options)
{
  const LigPlanOptions initial = LIG_PLAN_OPTIONS_INIT;
  *options = initial;
  options->policy = self->policy;
  options->input_gradient = TRUE;
}

char *
lig_document_capitalize (const char *phrase)
{
  g_autofree char *first = g_utf8_substring (phrase, 0, 1);
  g_autofree char *capital = g_utf8_strup (first, -1);
  return g_strconcat (capital, phrase + strlen (first), NULL);
}
