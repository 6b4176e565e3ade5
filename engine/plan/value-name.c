/* SPDX-License-Identifier: MIT */
/* The names of values for people: paths in place of expanded indexes. */
#include <ligature/plan.h>

#include <string.h>

/* Appends the path of an op. Of the parts of a macro, which share a path, all but the last have
 * their name behind it: what the last one computes is the value of the macro. Of the ops of one
 * part, such as a product and its bias, likewise. */
static void
append_op (GString *to, const LigPlanOp *ops, guint count, guint64 index)
{
  const LigPlanOp *op = &ops[index];
  const LigPlanOp *next = index + 1 < count ? &ops[index + 1] : NULL;
  const char *part = lig_plan_op_get_part (op);
  g_string_append (to, op->path);
  if (!next || !g_str_equal (op->path, next->path))
    return;
  if (part)
    g_string_append_printf (to, ".%s", part);
  if (!part || g_strcmp0 (part, lig_plan_op_get_part (next)) == 0)
    g_string_append_printf (to, ".%s", op->info->name);
}

char *
lig_plan_name_values (LigPlan *self, const char *names)
{
  guint count;
  const LigPlanOp *ops = lig_plan_get_ops (self, &count);
  GString *text = g_string_new (NULL);
  for (const char *at = names; *at;) {
    char *end = NULL;
    /* `#5.y` is a value of an op, `#0.extra>7` its use by another. */
    gboolean index = (*at == '#' || *at == '>') && g_ascii_isdigit (at[1]);
    guint64 op = index ? g_ascii_strtoull (at + 1, &end, 10) : 0;
    if (!index || op >= count) {
      g_string_append_c (text, *at++);
      continue;
    }
    if (*at == '>')
      g_string_append_c (text, '>');
    append_op (text, ops, count, op);
    at = end;
  }
  return g_string_free (text, FALSE);
}
