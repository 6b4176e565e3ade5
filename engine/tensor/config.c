/* SPDX-License-Identifier: MIT */
#include "engine/tensor/config.h"

#include <math.h>
#include <string.h>

/* --- Traits --------------------------------------------------------------------------------- */

static void
clear_trait (gpointer data)
{
  LigTrait *trait = data;
  g_free (trait->name);
  g_free (trait->title);
  g_free (trait->path);
  g_free (trait->text);
}

GArray *
lig_traits_new (void)
{
  GArray *traits = g_array_new (FALSE, TRUE, sizeof (LigTrait));
  g_array_set_clear_func (traits, clear_trait);
  return traits;
}

void
lig_traits_add (GArray *traits,
                char *name,
                const char *title,
                const char *path,
                char *text,
                double number,
                gboolean floating)
{
  LigTrait trait = {name, g_strdup (title), g_strdup (path), text, number, floating};
  g_array_append_val (traits, trait);
}

const LigTrait *
lig_traits_find (const GArray *traits, const char *name, guint n)
{
  for (guint i = 0; i < traits->len; i++) {
    const LigTrait *trait = &g_array_index (traits, LigTrait, i);
    if (g_str_equal (trait->name, name) && n-- == 0)
      return trait;
  }
  return NULL;
}

/* --- Texts --------------------------------------------------------------------------------- */

const char *
lig_config_their_text (JsonObject *rule, const char *text)
{
  JsonObjectIter iter;
  const char *theirs;
  JsonNode *node;
  if (!json_object_has_member (rule, "texts"))
    return text;
  json_object_iter_init_ordered (&iter, json_object_get_object_member (rule, "texts"));
  while (json_object_iter_next_ordered (&iter, &theirs, &node))
    if (lig_config_is_string (node) && g_str_equal (json_node_get_string (node), text))
      return theirs;
  return NULL;
}

gboolean
lig_config_is_truth (const char *text)
{
  return g_str_equal (text, "true") || g_str_equal (text, "false");
}

char *
lig_config_format (double number)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];
  if (number == floor (number) && fabs (number) < 1e15)
    return g_strdup_printf ("%.0f", number);
  for (int digits = 1; digits <= 9; digits++) {
    g_autofree char *format = g_strdup_printf ("%%.%dg", digits);
    g_ascii_formatd (text, sizeof text, format, number);
    if ((float) g_ascii_strtod (text, NULL) == (float) number)
      break;
  }
  return g_strdup (text);
}

char *
lig_config_describe (JsonObject *rule, const LigTrait *trait)
{
  const char *theirs = trait->text ? lig_config_their_text (rule, trait->text) : NULL;
  /* Another program's true or false for one of our words would be no value of our op. */
  if (theirs && lig_config_is_truth (theirs))
    theirs = NULL;
  return trait->text ? g_strdup (theirs ? theirs : trait->text) : lig_config_format (trait->number);
}

/* --- Models -------------------------------------------------------------------------------- */

/* Returns whether the ops at a path, or the first ops with such a trait, have the value of a member
 * `TRAIT=VALUE` of the rule; FALSE if the rule or the ops lack it. */
static gboolean
has_value (const GArray *traits, JsonObject *rule, const char *member, const char *path)
{
  const char *text = json_object_get_string_member_with_default (rule, member, "");
  g_auto (GStrv) pair = g_strsplit (text, "=", 2);
  const LigTrait *trait = NULL;
  for (guint n = 0; pair[0] && pair[1] && (trait = lig_traits_find (traits, pair[0], n)); n++)
    if (!path || g_str_equal (trait->path, path)) {
      g_autofree char *number = trait->text ? NULL : lig_config_format (trait->number);
      return g_str_equal (trait->text ? trait->text : number, pair[1]);
    }
  return FALSE;
}

gboolean
lig_config_is_exception (const GArray *traits, JsonObject *rule, const char *path)
{
  return has_value (traits, rule, "unless", path) ||
         (json_object_has_member (rule, "if") && !has_value (traits, rule, "if", path));
}

gboolean
lig_config_has_roles (const LigModel *model, JsonObject *rule)
{
  const char *with = json_object_get_string_member_with_default (rule, "with", NULL);
  const char *without = json_object_get_string_member_with_default (rule, "without", NULL);
  return (!with || lig_roles_find_first (model->roles, with)) &&
         (!without || !lig_roles_find_first (model->roles, without));
}

gboolean
lig_config_applies (const LigModel *model, JsonObject *rule)
{
  return lig_config_has_roles (model, rule) && !lig_config_is_exception (model->traits, rule, NULL);
}

static gint64
count_depth (const GArray *roles)
{
  int max = -1;
  for (guint i = 0; i < roles->len; i++)
    max = MAX (max, g_array_index (roles, LigRole, i).depth);
  return max + 1;
}

/* Returns the number of rows of a parameter in the other program, which has at most as many as its
 * vocabulary. */
static gint64
count_rows (const LigModel *model, const LigRole *role)
{
  const LigNameRule *rule = lig_names_rule (model->names, role->role);
  gint64 rows = role->shape.axes[0];
  if (!rule || !rule->padded)
    return rows;
  if (model->import)
    return lig_import_rows (model->import, role);
  return model->vocabulary > 0 ? MIN (rows, model->vocabulary) : rows;
}

gint64
lig_config_size (const LigModel *model, JsonObject *rule)
{
  const char *size = json_object_get_string_member (rule, "size");
  gint64 axis = json_object_get_int_member_with_default (rule, "axis", 0);
  const char *per = json_object_get_string_member_with_default (rule, "per", NULL);
  const LigTrait *divisor = per ? lig_traits_find (model->traits, per, 0) : NULL;
  const LigRole *role = lig_roles_find_first (model->roles, size);
  if (g_str_equal (size, "layers"))
    return count_depth (model->roles);
  if (g_str_equal (size, "input"))
    return model->length;
  if (!role || axis < 0 || axis >= role->shape.n_axes)
    return 0;
  gint64 length = axis == 0 ? count_rows (model, role) : role->shape.axes[axis];
  return length / (divisor ? MAX ((gint64) divisor->number, 1) : 1);
}
