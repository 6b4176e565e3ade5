/* SPDX-License-Identifier: MIT */
/* The text of reports, written as HTML or Markdown. */
#include "engine/report/paper-kinds.h"

#include <glib/gi18n-lib.h>

void
lig_paper_title (LigPaper *to, const char *kind, const char *text)
{
  (to->html ? lig_html_title : lig_markdown_title) (to->text, kind, text);
}

/* Ends an open table; called before every element other than a row. */
static void
end_table (LigPaper *to)
{
  if (to->html && to->columns)
    lig_html_end_table (to->text);
  g_clear_pointer (&to->columns, g_strfreev);
}

void
lig_paper_heading (LigPaper *to, const char *text)
{
  end_table (to);
  (to->html ? lig_html_heading : lig_markdown_heading) (to->text, text);
}

void
lig_paper_say (LigPaper *to, const char *text)
{
  end_table (to);
  (to->html ? lig_html_say : lig_markdown_say) (to->text, text);
}

void
lig_paper_block (LigPaper *to, const char *language, const char *text)
{
  end_table (to);
  (to->html ? lig_html_block : lig_markdown_block) (to->text, language, text);
}

void
lig_paper_head (LigPaper *to, const char *columns)
{
  end_table (to);
  to->columns = g_strsplit (columns, "|", -1);
  (to->html ? lig_html_head : lig_markdown_head) (to->text, to->columns);
}

void
lig_paper_cells (LigPaper *to, const char *const *cells)
{
  if (to->html)
    lig_html_row (to->text, to->columns, cells);
  else
    lig_markdown_row (to->text, cells);
}

void
lig_paper_row (LigPaper *to, ...)
{
  const char *cells[16] = {NULL};
  va_list list;
  va_start (list, to);
  for (guint i = 0; i + 1 < G_N_ELEMENTS (cells); i++)
    if (!(cells[i] = va_arg (list, const char *)))
      break;
  va_end (list);
  lig_paper_cells (to, cells);
}

void
lig_paper_fact (LigPaper *to, const char *name, const char *value)
{
  if (value && *value)
    lig_paper_row (to, name, value, NULL);
}

gboolean
lig_paper_figure (LigPaper *to, LigFigure figure)
{
  if (!to->picture)
    return FALSE;
  end_table (to);
  return lig_html_figure (to->text, to->picture, figure);
}

gboolean
lig_paper_is_long (LigPlan *plan)
{
  guint count;
  lig_plan_get_ops (plan, &count);
  return count > LIG_PAPER_MAX_ROWS;
}

guint
lig_paper_rows (guint count)
{
  return MIN (count, LIG_PAPER_MAX_ROWS);
}

void
lig_paper_say_rest (LigPaper *to, guint count)
{
  guint rest = count - lig_paper_rows (count);
  if (rest == 0)
    return;
  g_autofree char *text =
    g_strdup_printf (g_dngettext (GETTEXT_PACKAGE, "The json report has %u more row.",
                                  "The json report has %u more rows.", rest),
                     rest);
  lig_paper_say (to, text);
}

void
lig_paper_clear (LigPaper *self)
{
  end_table (self);
}
