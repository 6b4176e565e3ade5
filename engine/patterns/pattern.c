/* SPDX-License-Identifier: MIT */
/* Parses patterns such as `basic-linear [bias] [gelu|relu]`. */
#include "engine/patterns/pattern.h"

#include <ligature/former-names.h>

#include <string.h>

static const struct {
  const char *name;
  unsigned flag;
} classes[] = {{"@activation", LIG_OP_ACTIVATION}, {"@gated", LIG_OP_GATED}};

static gboolean
parse_element (const char *word, LigElement *element, GError **error)
{
  gsize length = strlen (word);
  element->optional = word[0] == '[';
  if (element->optional != (word[length - 1] == ']') || length == 0) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_FUSION, "'%s' is not an element of a pattern", word);
    return FALSE;
  }
  g_autofree char *inner = element->optional ? g_strndup (word + 1, length - 2) : g_strdup (word);
  g_auto (GStrv) alternatives = g_strsplit (inner, "|", -1);
  g_autoptr (GStrvBuilder) names = g_strv_builder_new ();
  for (char **name = alternatives; *name; name++) {
    guint class = 0;
    while (class < G_N_ELEMENTS (classes) && !g_str_equal (classes[class].name, *name))
      class ++;
    if (class < G_N_ELEMENTS (classes))
      element->flags |= classes[class].flag;
    else
      g_strv_builder_add (names, lig_former_name_replace (LIG_FORMER_OP, *name));
  }
  element->names = g_strv_builder_end (names);
  return TRUE;
}

static gboolean
parse (const char *text, LigPattern *pattern, GError **error)
{
  g_auto (GStrv) words = g_strsplit (text ? text : "", " ", -1);
  for (char **word = words; *word; word++) {
    if (!**word)
      continue;
    if (pattern->n_elements == LIG_MAX_ELEMENTS) {
      g_set_error (error, LIG_ERROR, LIG_ERROR_FUSION, "pattern '%s' has more than %d elements",
                   text, LIG_MAX_ELEMENTS);
      return FALSE;
    }
    if (!parse_element (*word, &pattern->elements[pattern->n_elements++], error))
      return FALSE;
  }
  if (pattern->n_elements >= 2)
    return TRUE;
  g_set_error (error, LIG_ERROR, LIG_ERROR_FUSION,
               "pattern '%s' has %d element%s, expected at least 2", text ? text : "",
               pattern->n_elements, LIG_ENDING (pattern->n_elements));
  return FALSE;
}

gboolean
lig_pattern_parse (const char *text, LigPattern *pattern, GError **error)
{
  *pattern = (LigPattern){0};
  if (parse (text, pattern, error))
    return TRUE;
  for (int i = 0; i < pattern->n_elements; i++)
    g_clear_pointer (&pattern->elements[i].names, g_strfreev);
  return FALSE;
}

gboolean
lig_element_fits (const LigElement *element, const LigOpInfo *info)
{
  const char *const *names = (const char *const *) element->names;
  return info->flags & element->flags || g_strv_contains (names, info->name) ||
         (info->fuses_as &&
          g_strv_contains (names, lig_former_name_replace (LIG_FORMER_OP, info->fuses_as)));
}

static void
add_names (const LigElement *element, GPtrArray *names)
{
  for (char **name = element->names; *name; name++)
    g_ptr_array_add (names, *name);
  const LigOpInfo *info;
  for (guint i = 0; element->flags && (info = lig_op_info_nth (i)); i++)
    if (info->flags & element->flags)
      g_ptr_array_add (names, (gpointer) info->name);
}

/* Returns whether the element is an op that recipes insert and users need not write. */
static gboolean
is_placed (const LigElement *element)
{
  const LigOpInfo *info =
    element->optional && element->names[0] && !element->names[1] && element->flags == 0
      ? lig_op_info_find (element->names[0])
      : NULL;
  return info && info->flags & LIG_OP_QUANTIZES;
}

const char **
lig_pattern_accepted (const LigPattern *pattern, int from)
{
  GPtrArray *names = g_ptr_array_new ();
  for (int i = from; i < pattern->n_elements; i++) {
    if (!is_placed (&pattern->elements[i]))
      add_names (&pattern->elements[i], names);
    if (!pattern->elements[i].optional)
      break;
  }
  g_ptr_array_add (names, NULL);
  return (const char **) g_ptr_array_free (names, FALSE);
}
