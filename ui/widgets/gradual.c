/* SPDX-License-Identifier: MIT */
/* An idle source grows the slice; it is removed with the slice, or once everything is shown. */
#include "ui/widgets/gradual.h"

/* The initial number of rows, the increment, and the maximum number of rows that a GTK view
 * creates. */
#define FIRST 6
#define MORE 2
#define MAX_SIZE 224

static const char source_key[] = "lig-gradual-source";

static void
remove_source (gpointer data)
{
  g_source_remove (GPOINTER_TO_UINT (data));
}

static gboolean
grow (gpointer data)
{
  GtkSliceListModel *self = data;
  guint size = gtk_slice_list_model_get_size (self);
  guint count = g_list_model_get_n_items (gtk_slice_list_model_get_model (self));
  if (size < count && size < MAX_SIZE) {
    gtk_slice_list_model_set_size (self, size + MORE);
    return G_SOURCE_CONTINUE;
  }
  g_object_steal_data (G_OBJECT (self), source_key);
  if (size >= MAX_SIZE)
    gtk_slice_list_model_set_size (self, G_MAXUINT);
  return G_SOURCE_REMOVE;
}

static void
grow_soon (GtkSliceListModel *self)
{
  if (gtk_slice_list_model_get_size (self) == G_MAXUINT ||
      g_object_get_data (G_OBJECT (self), source_key))
    return;
  guint source = g_idle_add_full (G_PRIORITY_LOW, grow, self, NULL);
  g_object_set_data_full (G_OBJECT (self), source_key, GUINT_TO_POINTER (source), remove_source);
}

GtkSliceListModel *
lig_gradual_new (GListModel *model)
{
  GtkSliceListModel *self = gtk_slice_list_model_new (model, 0, FIRST);
  g_signal_connect_object (model, "items-changed", G_CALLBACK (grow_soon), self, G_CONNECT_SWAPPED);
  grow_soon (self);
  return self;
}

void
lig_gradual_finish (GtkSliceListModel *self)
{
  g_object_set_data (G_OBJECT (self), source_key, NULL);
  gtk_slice_list_model_set_size (self, G_MAXUINT);
}

void
lig_gradual_restart (GtkSliceListModel *self)
{
  gtk_slice_list_model_set_size (self, FIRST);
  grow_soon (self);
}
