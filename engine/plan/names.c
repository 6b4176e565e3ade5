/* SPDX-License-Identifier: MIT */
/* The names of groups, the same in score, lists, charts and reports. */
#include <ligature/plan.h>

#include <glib/gi18n-lib.h>
#include <string.h>

/* A macro's only part has the macro's name, like the row that shows it. */
static const char *
get_title (const LigPlanOp *ops, guint count, int at)
{
  gboolean part = (at > 0 && g_str_equal (ops[at - 1].path, ops[at].path)) ||
                  (at + 1 < (int) count && g_str_equal (ops[at + 1].path, ops[at].path));
  const LigOpInfo *written = lig_op_info_find (ops[at].title);
  /* The matmul is named as the linear itself. */
  gboolean matmul = ops[at].info->flags & LIG_OP_MATMUL && written && written->collect;
  return _ (written && (!part || matmul) ? written->title : ops[at].info->title);
}

/* Appends a title with a small letter where it begins with a word: `bias`, but `GELU`. Translations
 * choose their own capital letters. */
static void
append_small (GString *text, const char *title, const char *translated)
{
  gboolean word = title == translated && title[0] && g_ascii_islower (title[1]) &&
                  !strpbrk (title + 1, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
  g_string_append_c (text, word ? g_ascii_tolower (translated[0]) : translated[0]);
  g_string_append (text, translated + 1);
}

/* Appends the name of a part of a fusion, shorter than its title. */
static void
append_part (GString *text, const LigOpInfo *info)
{
  const char *title = info->short_title ? info->short_title : info->title;
  if (text->len > 0) {
    g_string_append (text, " + ");
    append_small (text, title, _ (title));
  } else
    g_string_append (text, _ (title));
}

char *
lig_plan_name_ops (LigPlan *plan, int first, int count)
{
  guint n_ops;
  const LigPlanOp *ops = lig_plan_get_ops (plan, &n_ops);
  GString *name = g_string_new (NULL);
  if (count == 1 && first < (int) n_ops) {
    const char *part = lig_plan_op_get_part (&ops[first]);
    g_string_append (name, get_title (ops, n_ops, first));
    if (part && !g_str_equal (part, ops[first].info->name))
      g_string_append_printf (name, " · %s", part);
  }
  for (int i = first; count > 1 && i < first + count && i < (int) n_ops; i++)
    if (!ops[i].implicit)
      append_part (name, ops[i].info);
  return g_string_free (name, FALSE);
}

char *
lig_plan_list_parts (LigPlan *plan, int first, int count)
{
  guint n_ops;
  const char *last = NULL;
  const LigPlanOp *ops = lig_plan_get_ops (plan, &n_ops);
  GString *text = g_string_new (NULL);
  int end = count < (int) n_ops - first ? first + count : (int) n_ops;
  for (int i = MAX (first, 0); first <= (int) n_ops && i < end; i++) {
    const char *part = lig_plan_op_get_part (&ops[i]), *name = part ? part : _ (ops[i].info->title);
    /* A branch is shown by its channel. */
    gboolean branch = !part && (ops[i].info->extra_outputs || ops[i].info->extra_inputs);
    if (branch || g_strcmp0 (name, last) == 0)
      continue;
    g_string_append_printf (text, "%s%s", text->len > 0 ? " · " : "", name);
    last = name;
  }
  return g_string_free (text, FALSE);
}

char *
lig_plan_name_operands (LigPlan *self, const LigPlanStep *step)
{
  guint count;
  const LigPlanValue *values = lig_plan_get_values (self, &count);
  GString *text = g_string_new (NULL);
  for (int i = 0; i < step->n_operands; i++) {
    int value = step->operands[i].value;
    g_string_append_printf (text, "%s%s%s", i > 0 ? " " : "", i == step->n_inputs ? "-> " : "",
                            value < 0 ? "-" : values[value].name);
  }
  return g_string_free (text, FALSE);
}

/* --- Values ---------------------------------------------------------------------------------- */

/* The names of values for users: paths instead of expanded indexes. */

/* Appends the path of an op. The parts of a macro share a path; all but the last have their name
 * after it, because the last one computes the value of the macro. The same holds for the ops of one
 * part, such as a matmul and its bias. */
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
