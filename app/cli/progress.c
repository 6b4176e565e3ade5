/* SPDX-License-Identifier: MIT */
/* Composes progress lines that fit a width. */
#include "app/cli/progress.h"

#include <ligature/columns.h>

#define SEPARATOR " · "

enum { SEPARATOR_COLUMNS = 3 };

/* --- Lines --------------------------------------------------------------------------------- */

typedef enum { ABSENT, BRIEF, FULL } Form;

typedef struct {
  char *text, *brief;
  int priority;
  Form form;
} Part;

static void
clear_part (gpointer data)
{
  Part *part = data;
  g_free (part->text);
  g_free (part->brief);
}

GArray *
lig_cli_line_new (void)
{
  GArray *line = g_array_new (FALSE, TRUE, sizeof (Part));
  g_array_set_clear_func (line, clear_part);
  return line;
}

void
lig_cli_line_add (GArray *line, int priority, char *text, char *brief)
{
  const Part part = {text, brief, priority, ABSENT};
  g_array_append_val (line, part);
}

static const char *
text_of (const Part *part)
{
  return part->form == BRIEF && part->brief ? part->brief : part->text;
}

static gboolean
fits (GArray *line, int columns)
{
  int taken = -SEPARATOR_COLUMNS;
  for (guint i = 0; i < line->len; i++) {
    const Part *part = &g_array_index (line, Part, i);
    if (part->form != ABSENT)
      taken += SEPARATOR_COLUMNS + lig_columns_width (text_of (part));
  }
  return columns <= 0 || taken <= columns;
}

/* Returns the next part in the order of priority; the first one for NULL. */
static Part *
next_by_priority (GArray *line, const Part *after)
{
  Part *next = NULL;
  for (guint i = 0; i < line->len; i++) {
    Part *part = &g_array_index (line, Part, i);
    gboolean later = !after || part->priority > after->priority ||
                     (part->priority == after->priority && part > after);
    if (later && (!next || part->priority < next->priority))
      next = part;
  }
  return next;
}

/* Gives the parts this form, the most important first, until one does not fit; the first one always
 * gets it. Returns the priority of the part that did not fit, G_MAXINT if all fit. */
static int
choose (GArray *line, Form form, int last_priority, int columns)
{
  for (Part *part = next_by_priority (line, NULL); part && part->priority <= last_priority;
       part = next_by_priority (line, part)) {
    Form before = part->form;
    gboolean first = before == ABSENT && part == next_by_priority (line, NULL);
    part->form = form;
    if (first || fits (line, columns))
      continue;
    part->form = before;
    return part->priority;
  }
  return G_MAXINT;
}

/* Lengthens abbreviated parts while there is room. */
static void
lengthen (GArray *line, int columns)
{
  for (Part *part = next_by_priority (line, NULL); part; part = next_by_priority (line, part)) {
    Form before = part->form;
    if (before != BRIEF)
      continue;
    part->form = FULL;
    if (!fits (line, columns))
      part->form = BRIEF;
  }
}

char *
lig_cli_line_lay_out (GArray *line, int columns)
{
  g_autoptr (GString) text = g_string_new (NULL);
  for (guint i = 0; i < line->len; i++)
    g_array_index (line, Part, i).form = ABSENT;
  if (choose (line, FULL, G_MAXINT, columns) <= LIG_CLI_LAST_ESSENTIAL_PRIORITY ||
      !fits (line, columns)) {
    for (guint i = 0; i < line->len; i++)
      g_array_index (line, Part, i).form = ABSENT;
    choose (line, BRIEF, LIG_CLI_LAST_ESSENTIAL_PRIORITY, columns);
    lengthen (line, columns);
  }
  for (guint i = 0; i < line->len; i++) {
    const Part *part = &g_array_index (line, Part, i);
    if (part->form != ABSENT)
      g_string_append_printf (text, "%s%s", text->len > 0 ? SEPARATOR : "", text_of (part));
  }
  return columns > 0 ? lig_columns_elide (text->str, columns)
                     : g_string_free (g_steal_pointer (&text), FALSE);
}

/* --- Log files ----------------------------------------------------------------------------- */

gboolean
lig_cli_cadence_due (LigCliCadence *self, double share, gint64 now)
{
  if (self->begun && (now - self->time < 10 * G_USEC_PER_SEC || share - self->share < 0.1))
    return FALSE;
  *self = (LigCliCadence){TRUE, now, share};
  return TRUE;
}
