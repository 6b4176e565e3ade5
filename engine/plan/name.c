/* SPDX-License-Identifier: MIT */
/* The names of groups, the same in score, lists, charts and reports. */
#include <ligature/plan.h>

#include <glib/gi18n-lib.h>
#include <string.h>

/* A macro's only part has the macro's name, as the row has that shows it. */
static const char *
get_title (const LigPlanOp *ops, guint count, int at)
{
  gboolean part = (at > 0 && g_str_equal (ops[at - 1].path, ops[at].path)) ||
                  (at + 1 < (int) count && g_str_equal (ops[at + 1].path, ops[at].path));
  /* The product is what people mean by the linear itself. */
  gboolean product = g_str_equal (ops[at].info->name, "basic-linear");
  const LigOpInfo *written = part && !product ? NULL : lig_op_info_find (ops[at].title);
  return _ (written ? written->title : ops[at].info->title);
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
  static const char *const names[][2] = {{"basic-linear", N_ ("Linear")},
                                         {"add-extra-input", N_ ("Residual")},
                                         {"make-extra-output", N_ ("Branch")},
                                         {"constant-scale", N_ ("Scale")}};
  const char *title = info->title;
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (g_str_equal (info->name, names[i][0]))
      title = names[i][1];
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
  if (count == 1 && first < (int) n_ops)
    g_string_append (name, get_title (ops, n_ops, first));
  for (int i = first; count > 1 && i < first + count && i < (int) n_ops; i++)
    append_part (name, ops[i].info);
  return g_string_free (name, FALSE);
}
