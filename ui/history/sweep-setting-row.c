/* SPDX-License-Identifier: MIT */
/* The settings are those of the engine's table, and the numbers and truth values of the ops. */
#include "ui/history/sweep-setting-row.h"

#include "ui/session/setting-name.h"
#include "ui/widgets/tooltip.h"
#include <ligature/run.h>
#include <ligature/sequence.h>

#include <glib/gi18n.h>
#include <string.h>

struct _LigSweepSettingRow {
  GtkBox parent_instance;
  GtkDropDown *choice;
  GtkEditable *values;
  GtkLabel *error;
  GStrv keys; /* in the order of the choice */
};

G_DEFINE_FINAL_TYPE (LigSweepSettingRow, lig_sweep_setting_row, GTK_TYPE_BOX)

enum { CHANGED, REMOVED, N_SIGNALS };
static guint signals[N_SIGNALS];

/* Settings that cannot be swept, because each run has its own checkpoint and name. */
static const char *const hidden[] = {"checkpoint", "checkpoint-every", "name", NULL};

static void
lig_sweep_setting_row_finalize (GObject *object)
{
  g_strfreev (LIG_SWEEP_SETTING_ROW (object)->keys);
  G_OBJECT_CLASS (lig_sweep_setting_row_parent_class)->finalize (object);
}

static void
lig_sweep_setting_row_class_init (LigSweepSettingRowClass *class)
{
  static const char *const names[] = {"changed", "removed"};
  G_OBJECT_CLASS (class)->finalize = lig_sweep_setting_row_finalize;
  for (guint i = 0; i < N_SIGNALS; i++)
    signals[i] = g_signal_new (names[i], LIG_TYPE_SWEEP_SETTING_ROW, G_SIGNAL_RUN_LAST, 0, NULL,
                               NULL, NULL, G_TYPE_NONE, 0);
}

static void
emit_changed (LigSweepSettingRow *self)
{
  g_signal_emit (self, signals[CHANGED], 0);
}

static void
emit_removed (LigSweepSettingRow *self)
{
  g_signal_emit (self, signals[REMOVED], 0);
}

/* --- Settings ------------------------------------------------------------------------------ */

static void
add_settings (GStrvBuilder *keys, GtkStringList *titles)
{
  const LigSetting *setting;
  for (guint i = 0; (setting = lig_run_setting_nth (i)); i++) {
    if (g_strv_contains (hidden, setting->name))
      continue;
    g_autofree char *title = lig_setting_get_title (setting);
    g_strv_builder_add (keys, setting->name);
    gtk_string_list_append (titles, title);
  }
}

static void
add_recipe (GStrvBuilder *keys, GtkStringList *titles)
{
  g_strv_builder_add (keys, "recipe");
  gtk_string_list_append (titles, _ ("Recipe"));
}

/* Omits ops in blocks, because a path in a block refers to one repetition of it. */
static void
add_ops (GStrvBuilder *keys, GtkStringList *titles, LigSequence *sequence)
{
  for (guint i = 0; i < lig_sequence_get_length (sequence); i++) {
    LigOp *op = lig_sequence_get (sequence, (int) i, NULL);
    const LigParam *param = lig_op_get_info (op)->params;
    for (; param && param->name; param++) {
      if (param->kind > LIG_PARAM_BOOL && param->kind != LIG_PARAM_CHOICE)
        continue;
      g_autofree char *key = g_strdup_printf ("%u.%s", i, param->name);
      g_autofree char *title =
        g_strdup_printf (_ ("%s at %u: %s"), _ (lig_op_get_info (op)->title), i, _ (param->label));
      g_strv_builder_add (keys, key);
      gtk_string_list_append (titles, title);
    }
  }
}

static void
fill_choice (LigSweepSettingRow *self, LigDocument *doc, const char *key)
{
  g_autoptr (GStrvBuilder) keys = g_strv_builder_new ();
  g_autoptr (GtkStringList) titles = gtk_string_list_new (NULL);
  add_settings (keys, titles);
  add_recipe (keys, titles);
  add_ops (keys, titles, lig_document_get_sequence (doc));
  self->keys = g_strv_builder_end (keys);
  gtk_drop_down_set_model (self->choice, G_LIST_MODEL (titles));
  for (guint i = 0; self->keys[i]; i++)
    if (g_str_equal (self->keys[i], key))
      gtk_drop_down_set_selected (self->choice, i);
}

/* --- Construction -------------------------------------------------------------------------- */

static void
lig_sweep_setting_row_init (LigSweepSettingRow *self)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 6);
  GtkExpression *text = gtk_property_expression_new (GTK_TYPE_STRING_OBJECT, NULL, "string");
  self->choice = GTK_DROP_DOWN (gtk_drop_down_new (NULL, text));
  self->values = GTK_EDITABLE (gtk_entry_new ());
  self->error = GTK_LABEL (gtk_label_new (NULL));
  GtkWidget *remove = gtk_button_new_from_icon_name ("list-remove-symbolic");
  gtk_orientable_set_orientation (GTK_ORIENTABLE (self), GTK_ORIENTATION_VERTICAL);
  gtk_drop_down_set_enable_search (self->choice, TRUE);
  gtk_widget_set_size_request (GTK_WIDGET (self->choice), 190, -1);
  gtk_widget_set_hexpand (GTK_WIDGET (self->values), TRUE);
  gtk_entry_set_placeholder_text (GTK_ENTRY (self->values),
                                  _ ("Values, such as 0.1, 0.01 or 1..5"));
  gtk_entry_set_activates_default (GTK_ENTRY (self->values), TRUE);
  lig_tooltip_set (remove, _ ("Remove this setting"));
  gtk_widget_add_css_class (remove, "flat");
  gtk_widget_add_css_class (GTK_WIDGET (self->error), "error");
  gtk_widget_add_css_class (GTK_WIDGET (self->error), "caption");
  gtk_label_set_xalign (self->error, 0);
  gtk_label_set_wrap (self->error, TRUE);
  gtk_widget_set_visible (GTK_WIDGET (self->error), FALSE);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->choice), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Setting"), -1);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->values), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Values"), -1);
  gtk_accessible_update_property (GTK_ACCESSIBLE (remove), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Remove this setting"), -1);
  gtk_box_append (GTK_BOX (box), GTK_WIDGET (self->choice));
  gtk_box_append (GTK_BOX (box), GTK_WIDGET (self->values));
  gtk_box_append (GTK_BOX (box), remove);
  gtk_box_append (GTK_BOX (self), box);
  gtk_box_append (GTK_BOX (self), GTK_WIDGET (self->error));
  g_signal_connect_object (self->choice, "notify::selected", G_CALLBACK (emit_changed), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (self->values, "changed", G_CALLBACK (emit_changed), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (remove, "clicked", G_CALLBACK (emit_removed), self, G_CONNECT_SWAPPED);
}

GtkWidget *
lig_sweep_setting_row_new (LigDocument *doc, const char *key, const char *values)
{
  LigSweepSettingRow *self = g_object_new (LIG_TYPE_SWEEP_SETTING_ROW, NULL);
  fill_choice (self, doc, key);
  gtk_editable_set_text (self->values, values);
  return GTK_WIDGET (self);
}

char *
lig_sweep_setting_row_get_setting (LigSweepSettingRow *self)
{
  guint chosen = gtk_drop_down_get_selected (self->choice);
  g_autofree char *values = g_strstrip (g_strdup (gtk_editable_get_text (self->values)));
  if (!*values || chosen >= g_strv_length (self->keys))
    return NULL;
  return g_strconcat (self->keys[chosen], "=", values, NULL);
}

void
lig_sweep_setting_row_set_error (LigSweepSettingRow *self, const char *message)
{
  GtkWidget *entry = GTK_WIDGET (self->values);
  gtk_label_set_text (self->error, message ? message : "");
  gtk_widget_set_visible (GTK_WIDGET (self->error), message != NULL);
  (message ? gtk_widget_add_css_class : gtk_widget_remove_css_class) (entry, "error");
  gtk_accessible_update_state (GTK_ACCESSIBLE (entry), GTK_ACCESSIBLE_STATE_INVALID,
                               message ? GTK_ACCESSIBLE_INVALID_TRUE : GTK_ACCESSIBLE_INVALID_FALSE,
                               -1);
}
