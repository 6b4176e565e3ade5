/* SPDX-License-Identifier: MIT */
/* The inspector's list of all forced and forbidden fusions, each with a button that removes it. */
#include "ui/document/overrides.h"

#include "ui/inspector/parts.h"
#include "ui/score/marks.h"
#include "ui/score/text.h"
#include "ui/widgets/figures.h"
#include "ui/widgets/preview-hook.h"
#include "ui/widgets/tooltip.h"

#include <glib/gi18n.h>

struct _LigOverrideList {
  AdwBin parent_instance;
  LigDocument *doc;
  GtkBox *lines;
  char *shown; /* the overrides that the lines were made from */
};

G_DEFINE_FINAL_TYPE (LigOverrideList, lig_override_list, ADW_TYPE_BIN)

/* --- Lines --------------------------------------------------------------------------------- */

/* Returns the title of the group that a forced fusion created, null without one. */
static const char *
find_title (LigPlan *plan, const LigOverride *override)
{
  guint count, n_ops;
  const LigPlanOp *ops = plan ? lig_plan_get_ops (plan, &n_ops) : NULL;
  for (LigPass pass = LIG_PASS_FORWARD; ops && override->forced && pass <= LIG_PASS_BACKWARD;
       pass++) {
    const LigPlanGroup *groups = lig_plan_get_groups (plan, pass, &count);
    for (guint i = 0; i < count; i++)
      if (groups[i].fusion && g_str_equal (groups[i].fusion->name, override->fusion) &&
          g_str_equal (ops[groups[i].first].path, override->path))
        return groups[i].title;
  }
  return NULL;
}

/* Returns `Linear + bias + GELU at 4`, or the fusion's own words if it is not in the plan. */
static char *
describe_place (LigDocument *doc, const LigOverride *override)
{
  const LigFusion *fusion = lig_fusion_find (override->fusion);
  const char *known = find_title (lig_document_get_plan (doc), override);
  g_autofree char *words = fusion ? lig_score_fusion_name (fusion) : g_strdup (override->fusion);
  g_autofree char *title = known ? g_strdup (known) : lig_figure_sentence (words);
  if (!override->path)
    return g_strdup_printf (_ ("%s everywhere"), title);
  return g_strdup_printf (_ ("%s at %s"), title, override->path);
}

/* Returns the kind of the override, the pass, and the name used in files and commands. */
static char *
describe_kind (const LigOverride *override)
{
  return g_strdup_printf (override->forced ? _ ("forced: %s") : _ ("forbidden: %s"),
                          override->fusion);
}

static GtkWidget *
make_texts (const LigOverride *override, const char *place)
{
  GtkWidget *texts = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  g_autofree char *kind = describe_kind (override);
  GtkWidget *name = lig_inspector_label (kind, "caption");
  const LigFusion *fusion = lig_fusion_find (override->fusion);
  gtk_widget_add_css_class (name, "dim-label");
  gtk_box_append (GTK_BOX (texts), lig_inspector_label (place, NULL));
  gtk_box_append (GTK_BOX (texts), name);
  gtk_widget_set_hexpand (texts, TRUE);
  if (fusion && fusion->summary)
    lig_tooltip_set (texts, _ (fusion->summary));
  return texts;
}

/* Tries the sequence without the override of a button. */
static gboolean
try_without (GtkWidget *button, LigDocument *doc, LigPreviewTrial *trial, gpointer data)
{
  gboolean forced;
  const char *path, *fusion;
  g_autoptr (LigSequence) copy = lig_sequence_copy (lig_document_get_sequence (doc));
  g_variant_get (gtk_actionable_get_action_target_value (GTK_ACTIONABLE (button)), "(b&s&s)",
                 &forced, &path, &fusion);
  gboolean removed = lig_override_remove (copy, forced, *path ? path : NULL, fusion);
  trial->sequence = g_steal_pointer (&copy);
  trial->label =
    g_strdup_printf (forced ? _ ("Remove the override of %s") : _ ("Allow %s"), fusion);
  return removed;
}

static GtkWidget *
make_button (LigDocument *doc, const LigOverride *override, const char *place)
{
  GtkWidget *button =
    gtk_button_new_with_label (override->forced ? _ ("Remove override") : _ ("Allow"));
  g_autofree char *label =
    g_strdup_printf (override->forced ? _ ("Remove the override of %s") : _ ("Allow %s"), place);
  gtk_widget_set_valign (button, GTK_ALIGN_CENTER);
  gtk_widget_add_css_class (button, "flat");
  gtk_actionable_set_action_name (GTK_ACTIONABLE (button), "overrides.drop");
  gtk_actionable_set_action_target (GTK_ACTIONABLE (button), "(bss)", override->forced,
                                    override->path ? override->path : "", override->fusion);
  gtk_accessible_update_property (GTK_ACCESSIBLE (button), GTK_ACCESSIBLE_PROPERTY_LABEL, label,
                                  -1);
  lig_preview_hook (button, doc, try_without, NULL, NULL);
  return button;
}

static GtkWidget *
make_line (LigDocument *doc, const LigOverride *override, const char *place)
{
  GtkWidget *line = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 9);
  GtkWidget *sign = lig_score_marks_new (override->forced ? LIG_SCORE_FORCED : LIG_SCORE_FORBIDDEN);
  gtk_box_append (GTK_BOX (line), sign);
  gtk_box_append (GTK_BOX (line), make_texts (override, place));
  gtk_box_append (GTK_BOX (line), make_button (doc, override, place));
  gtk_widget_add_css_class (line, "line");
  return line;
}

void
lig_override_list_show (LigOverrideList *self)
{
  g_autoptr (GPtrArray) overrides = lig_document_list_overrides (self->doc);
  g_autoptr (GString) text = g_string_new (NULL);
  GtkWidget *line;
  for (guint i = 0; i < overrides->len; i++) {
    const LigOverride *override = overrides->pdata[i];
    g_autofree char *place = describe_place (self->doc, override);
    g_string_append_printf (text, "%d %s %s\n", override->forced, place, override->fusion);
  }
  gtk_widget_set_visible (GTK_WIDGET (self), overrides->len > 0);
  if (g_strcmp0 (text->str, self->shown) == 0)
    return;
  g_free (self->shown);
  self->shown = g_strdup (text->str);
  while ((line = gtk_widget_get_first_child (GTK_WIDGET (self->lines))))
    gtk_box_remove (self->lines, line);
  for (guint i = 0; i < overrides->len; i++) {
    g_autofree char *place = describe_place (self->doc, overrides->pdata[i]);
    gtk_box_append (self->lines, make_line (self->doc, overrides->pdata[i], place));
  }
}

static void
drop (GtkWidget *widget, const char *action, GVariant *target)
{
  gboolean forced;
  const char *path, *fusion;
  g_variant_get (target, "(b&s&s)", &forced, &path, &fusion);
  lig_document_drop_override (LIG_OVERRIDE_LIST (widget)->doc, forced, *path ? path : NULL, fusion);
}

/* --- Construction -------------------------------------------------------------------------- */

static void
lig_override_list_finalize (GObject *object)
{
  LigOverrideList *self = LIG_OVERRIDE_LIST (object);
  g_clear_object (&self->doc);
  g_free (self->shown);
  G_OBJECT_CLASS (lig_override_list_parent_class)->finalize (object);
}

static void
lig_override_list_class_init (LigOverrideListClass *class)
{
  G_OBJECT_CLASS (class)->finalize = lig_override_list_finalize;
  gtk_widget_class_install_action (GTK_WIDGET_CLASS (class), "overrides.drop", "(bss)", drop);
  gtk_widget_class_set_accessible_role (GTK_WIDGET_CLASS (class), GTK_ACCESSIBLE_ROLE_GROUP);
}

static void
lig_override_list_init (LigOverrideList *self)
{
}

GtkWidget *
lig_override_list_new (LigDocument *doc)
{
  LigOverrideList *self = g_object_new (LIG_TYPE_OVERRIDE_LIST, NULL);
  GtkWidget *whole = gtk_box_new (GTK_ORIENTATION_VERTICAL, 6);
  GtkWidget *lines = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  self->doc = g_object_ref (doc);
  self->lines = GTK_BOX (lines);
  gtk_widget_add_css_class (lines, "card");
  gtk_widget_add_css_class (lines, "lines");
  gtk_box_append (GTK_BOX (whole), lig_inspector_label (_ ("Forced and forbidden"), "heading"));
  gtk_box_append (GTK_BOX (whole), lines);
  adw_bin_set_child (ADW_BIN (self), whole);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Forced and forbidden"), -1);
  return GTK_WIDGET (self);
}
