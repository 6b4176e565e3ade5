/* SPDX-License-Identifier: MIT */
/* The check of a document's plan: lig_plan_verify() on a thread, with a device of its own. Its
 * findings hold while the plan has the same groups, and return when an edit is undone. The
 * document's signal `timed` announces that a check began, ended or no longer applies. */
#pragma once

#include "ui/document/document.h"
#include <ligature/verification.h>

G_BEGIN_DECLS

/* The result of a check for a group. */
typedef enum { LIG_CHECK_UNKNOWN, LIG_CHECK_INSIDE, LIG_CHECK_OUTSIDE } LigCheck;

/**
 * lig_document_check_plan:
 *
 * Starts a check of the current plan, with its device, types and policy, on three random batches.
 *
 * Returns: %FALSE with an error set without a plan, on a plan-only device, or while a check runs
 */
gboolean lig_document_check_plan (LigDocument *self, GError **error);

/* Ends a running check after the current batch; nothing is kept. */
void lig_document_cancel_check (LigDocument *self);

gboolean lig_document_is_checking (LigDocument *self);

/* Returns: (nullable): the result of the last check, if it checked the current plan. */
const LigVerification *lig_document_get_check (LigDocument *self);

/* Returns: (transfer full) (nullable): the result in a sentence, or the error of the last check;
 *   null without a check of the current plan. */
char *lig_document_describe_check (LigDocument *self);

/* Returns the result for a group of the current plan. */
LigCheck lig_document_get_group_check (LigDocument *self, LigPass pass, guint group);

G_END_DECLS
