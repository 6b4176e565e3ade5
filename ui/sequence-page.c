/* SPDX-License-Identifier: MIT */
/* The page Sequence. */
#include "ui/page.h"

#include <glib/gi18n.h>

#define LIG_TYPE_SEQUENCE_PAGE (lig_sequence_page_get_type ())
G_DECLARE_FINAL_TYPE (LigSequencePage, lig_sequence_page, LIG, SEQUENCE_PAGE, LigPage)

struct _LigSequencePage {
  LigPage parent_instance;
};

G_DEFINE_FINAL_TYPE (LigSequencePage, lig_sequence_page, LIG_TYPE_PAGE)

LIG_PAGE_INFO (sequence) = {
  .name = "sequence",
  .title = N_ ("Sequence"),
  .icon = "view-list-symbolic",
  .get_type = lig_sequence_page_get_type,
};

static void
lig_sequence_page_class_init (LigSequencePageClass *class)
{
}

static void
lig_sequence_page_init (LigSequencePage *self)
{
  adw_bin_set_child (ADW_BIN (self), gtk_label_new (_ ("Sequence")));
}
