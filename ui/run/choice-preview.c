/* SPDX-License-Identifier: MIT */
/* Previews of the run bar's choices. A row of a list keeps its list item, whose position changes
 * when the row is recycled. */
#include "ui/run/choice-preview.h"

#include "ui/widgets/preview-hook.h"

#define ITEM "lig-choice-item"

static guint
get_position (GtkWidget *row)
{
  return gtk_list_item_get_position (g_object_get_data (G_OBJECT (row), ITEM));
}

static gboolean
try_device (GtkWidget *row, LigDocument *document, LigPreviewTrial *trial, gpointer data)
{
  guint count, position = get_position (row);
  const LigDeviceEntry *entries =
    lig_session_get_devices (lig_document_get_session (document), &count);
  if (position >= count || g_str_equal (entries[position].name, lig_document_get_device (document)))
    return FALSE;
  trial->device = g_strdup (entries[position].name);
  trial->label = g_strdup (entries[position].title);
  return TRUE;
}

static gboolean
try_policy (GtkWidget *row, LigDocument *document, LigPreviewTrial *trial, gpointer data)
{
  guint position = get_position (row);
  GListModel *model = gtk_drop_down_get_model (GTK_DROP_DOWN (data));
  if (position > LIG_POLICY_DEFAULT || position >= g_list_model_get_n_items (model) ||
      (LigPolicy) position == lig_document_get_policy (document))
    return FALSE;
  trial->policy = (LigPolicy) position;
  trial->label = g_strdup (gtk_string_list_get_string (GTK_STRING_LIST (model), position));
  return TRUE;
}

/* The button also shows an item, but is not a choice. */
static void
bind_item (GtkListItem *item, GtkDropDown *choice, LigPreviewTrialFunc make)
{
  GtkWidget *child = gtk_list_item_get_child (item);
  GtkWidget *row = child ? gtk_widget_get_parent (child) : NULL;
  LigDocument *document = g_object_get_data (G_OBJECT (choice), "lig-choice-document");
  if (!row || !gtk_widget_get_ancestor (row, GTK_TYPE_POPOVER))
    return;
  g_object_set_data (G_OBJECT (row), ITEM, item);
  if (!lig_preview_is_hooked (row))
    lig_preview_hook (row, document, make, choice, NULL);
}

static void
bind_device (GtkListItemFactory *factory, GtkListItem *item, GtkDropDown *choice)
{
  bind_item (item, choice, try_device);
}

static void
bind_policy (GtkListItemFactory *factory, GtkListItem *item, GtkDropDown *choice)
{
  bind_item (item, choice, try_policy);
}

static void
follow_items (GtkDropDown *choice, LigDocument *document, GCallback bind)
{
  GtkListItemFactory *factory = gtk_drop_down_get_list_factory (choice);
  g_object_set_data_full (G_OBJECT (choice), "lig-choice-document", g_object_ref (document),
                          g_object_unref);
  g_signal_connect_object (factory ? factory : gtk_drop_down_get_factory (choice), "bind", bind,
                           choice, G_CONNECT_AFTER);
}

void
lig_preview_devices (GtkDropDown *choice, LigDocument *document)
{
  follow_items (choice, document, G_CALLBACK (bind_device));
}

void
lig_preview_policies (GtkDropDown *choice, LigDocument *document)
{
  follow_items (choice, document, G_CALLBACK (bind_policy));
}
