/* SPDX-License-Identifier: MIT */
/* A drop-down list of the names of a parameter that is one of several. */
#include "ui/inspector/choice.h"

#include <glib/gi18n.h>

/* Names that the window spells differently from files; any other name is shown unchanged. */
static const struct {
  const char *name, *text;
} texts[] = {
  {"none", N_ ("none")},
  {"causal", N_ ("causal")},
  {"causal-bottom-right", N_ ("causal, bottom right")},
  {"linear", N_ ("linear scaling")},
  {"llama3", "Llama 3"},
  {"yarn", "YaRN"},
  {"rms", N_ ("root mean square")},
  {"l2", N_ ("length (L2)")},
  {"layer", N_ ("layer norm")},
  {"layer-norm", N_ ("layer norm")},
  {"rms-norm", N_ ("RMS norm")},
  {"encoder", N_ ("encoder")},
  {"decoder", N_ ("decoder")},
};

const char *
lig_choice_describe (const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    if (g_str_equal (texts[i].name, name))
      return _ (texts[i].text);
  const LigOpInfo *op = lig_op_info_find (name);
  return op ? _ (op->title) : name;
}

GtkWidget *
lig_choice_new (const LigParam *param)
{
  const char *name;
  g_autoptr (GtkStringList) names = gtk_string_list_new (NULL);
  for (int i = 0; (name = lig_param_get_choice (param, i)); i++)
    gtk_string_list_append (names, lig_choice_describe (name));
  return gtk_drop_down_new (G_LIST_MODEL (g_steal_pointer (&names)), NULL);
}

void
lig_choice_set_name (GtkWidget *self, const LigParam *param, const char *name)
{
  int index = name ? lig_param_find_choice (param, name) : -1;
  gtk_drop_down_set_selected (GTK_DROP_DOWN (self),
                              index < 0 ? GTK_INVALID_LIST_POSITION : (guint) index);
}

const char *
lig_choice_get_name (GtkWidget *self, const LigParam *param)
{
  guint index = gtk_drop_down_get_selected (GTK_DROP_DOWN (self));
  return index == GTK_INVALID_LIST_POSITION ? NULL : lig_param_get_choice (param, (int) index);
}
