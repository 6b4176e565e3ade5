/* SPDX-License-Identifier: MIT */
/* Checks the table of a fusion without calling any of its functions. */
#include "engine/base/rejection.h"
#include "engine/patterns/pattern.h"
#include "engine/patterns/register.h"
#include "engine/sequence/op-private.h"
#include "engine/sequence/table.h"

#include <stdlib.h>
#include <string.h>

#define reject(error, table, ...) \
  lig_reject (error, LIG_ERROR_FUSION, "fusion", (table)->name, __VA_ARGS__)

static gboolean
check_words (const LigFusion *fusion, GError **error)
{
  if (!lig_name_check (fusion->name, "-", LIG_LONGEST_NAME)) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_FUSION,
                 "a fusion is called '%.60s', expected a name in kebab-case of at most %d bytes",
                 fusion->name ? fusion->name : "", LIG_LONGEST_NAME);
    return FALSE;
  }
  if (fusion->pass != LIG_PASS_FORWARD && fusion->pass != LIG_PASS_BACKWARD &&
      fusion->pass != LIG_PASS_JOINT)
    return reject (error, fusion, "its pass is %d, expected forward, backward or joint",
                   (int) fusion->pass);
  g_autofree char *prefix = g_strconcat (lig_pass_name (fusion->pass), "-", NULL);
  if (!g_str_has_prefix (fusion->name, prefix))
    return reject (error, fusion, "its name does not begin with its pass, %s", prefix);
  return (fusion->summary && *fusion->summary) || reject (error, fusion, "it has no summary");
}

static gboolean
check_functions (const LigFusion *fusion, GError **error)
{
  gboolean joint = fusion->pass == LIG_PASS_JOINT;
  if (!fusion->lower || joint != (fusion->lower_backward != NULL))
    return reject (error, fusion, "it needs a lower function%s",
                   joint ? " for either pass" : " for its pass only");
  return joint || !fusion->saves ||
         reject (error, fusion, "it has saves, which only a joint fusion may have");
}

/* Checks that every name of an element is an op that a pattern may contain. */
static gboolean
check_element (const LigFusion *fusion, const LigElement *element, GError **error)
{
  for (char **name = element->names; *name; name++) {
    const LigOpInfo *info = lig_op_info_find (*name);
    if (!info)
      return reject (error, fusion, "its pattern names '%.60s', which is not an op%s", *name,
                     **name == '@' ? " nor @activation or @gated" : "");
    if (info->expand || info->flags & LIG_OP_BLOCK)
      return reject (error, fusion,
                     "its pattern names %s, which is expanded to its parts; name those", *name);
    if (info->opaque_forward)
      return reject (error, fusion, "its pattern names %s, which is opaque", *name);
  }
  return TRUE;
}

/* Checks a port as in bindings, `0.x`, which every op that matches the element must have. */
static gboolean
check_save (const LigFusion *fusion, const LigPattern *pattern, const char *port, GError **error)
{
  char *end;
  long number = strtol (port, &end, 10);
  if (!g_ascii_isdigit (*port) || *end != '.' || number >= pattern->n_elements)
    return reject (error, fusion, "it saves '%.60s', expected 0.x to %d.y", port,
                   pattern->n_elements - 1);
  const LigElement *element = &pattern->elements[number];
  const LigOpInfo *info;
  for (guint i = 0; (info = lig_op_info_nth (i)); i++)
    if (lig_element_fits (element, info) &&
        (strlen (port) > LIG_LONGEST_PORT || !lig_op_info_has_port (info, end + 1)))
      return reject (error, fusion, "it saves '%.60s', but %s has no such port", port, info->name);
  return TRUE;
}

static gboolean
check_pattern (const LigFusion *fusion, const LigPattern *pattern, GError **error)
{
  g_auto (GStrv) saves = g_strsplit (fusion->saves ? fusion->saves : "", " ", -1);
  for (int i = 0; i < pattern->n_elements; i++)
    if (!check_element (fusion, &pattern->elements[i], error))
      return FALSE;
  for (char **port = saves; *port; port++)
    if (**port && !check_save (fusion, pattern, *port, error))
      return FALSE;
  return TRUE;
}

gboolean
lig_fusion_check (const LigFusion *fusion, GError **error)
{
  LigPattern pattern;
  if (!check_words (fusion, error) || !check_functions (fusion, error))
    return FALSE;
  if (!lig_pattern_parse (fusion->pattern, &pattern, error)) {
    g_prefix_error (error, "fusion %s: ", fusion->name);
    return FALSE;
  }
  gboolean fine = check_pattern (fusion, &pattern, error);
  for (int i = 0; i < pattern.n_elements; i++)
    g_strfreev (pattern.elements[i].names);
  return fine;
}

LigFusion *
lig_fusion_complete (const LigFusion *fusion, GError **error)
{
  if (!lig_table_check_size ("the table of a fusion", ".size = sizeof (LigFusion)", fusion->size,
                             G_STRUCT_OFFSET (LigFusion, lower_backward), LIG_ERROR_FUSION, error))
    return NULL;
  LigFusion *copy = g_new0 (LigFusion, 1);
  memcpy (copy, fusion, MIN (fusion->size, sizeof *copy));
  copy->size = sizeof *copy;
  return copy;
}
