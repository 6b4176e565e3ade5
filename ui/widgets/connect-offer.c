/* SPDX-License-Identifier: MIT */
#include "ui/widgets/connect-offer.h"

#include "ui/document/edit.h"
#include "ui/widgets/toast.h"

#include <glib/gi18n.h>

void
lig_connect_offer (GtkWidget *widget, LigDocument *document)
{
  g_autoptr (GPtrArray) chosen = lig_document_get_selection (document);
  LigOp *op = chosen->len == 1 ? ((const LigRow *) chosen->pdata[0])->op : NULL;
  LigOp *partner = op ? lig_edit_find_partner (document, op) : NULL;
  if (!partner)
    return;
  /* Translators: title and path of an operation with an open end of a branch. */
  g_autofree char *text =
    g_strdup_printf (_ ("%s at %s has an open branch"), _ (lig_op_get_info (partner)->title),
                     lig_document_find_row (document, partner)->path);
  lig_toast (widget, text, _ ("Connect"), "win.connect");
}
