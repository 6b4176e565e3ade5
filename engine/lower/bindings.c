/* SPDX-License-Identifier: MIT */
#include "engine/lower/bindings.h"

#include <stdlib.h>
#include <string.h>

/* Copies the first bytes of a text into a buffer. */
static void
copy (char *to, gsize size, const char *from, gsize length)
{
  g_strlcpy (to, from, MIN (size, length + 1));
}

/* Finds the parts of a port whose text is set: `1.x:row`. */
static void
divide (LigBinding *self)
{
  char *end;
  long element = strtol (self->text, &end, 10);
  gboolean written = end != self->text && *end == '.' && element >= 0;
  self->element = written ? (int) MIN (element, G_MAXINT) : -1;
  self->name = written ? (int) (end + 1 - self->text) : 0;
  const char *colon = strchr (self->text + self->name, ':');
  self->form = colon ? (int) (colon + 1 - self->text) : 0;
}

/* Parses a port of `length` bytes. A form may follow the place: `x@2/4:row`. */
static void
parse (LigBinding *self, const char *port, gsize length)
{
  char text[sizeof self->text], *slash;
  copy (text, sizeof text, port, length);
  char *at = strchr (text, '@');
  self->piece = self->pieces = 0;
  if (at) {
    char *form = strchr (at, ':');
    self->piece = (int) strtol (at + 1, &slash, 10);
    self->pieces = *slash == '/' ? atoi (slash + 1) : 1;
    memmove (at, form ? form : "", form ? strlen (form) + 1 : 1);
  }
  g_strlcpy (self->text, text, sizeof self->text);
  divide (self);
}

void
lig_binding_parse (LigBinding *self, const char *port)
{
  self->operand[0] = '\0';
  parse (self, port, strlen (port));
}

void
lig_bindings_add (LigBindings *self, const char *text)
{
  for (const char *at = text; at && *at;) {
    at += strspn (at, " ");
    gsize length = strcspn (at, " ");
    const char *sign = memchr (at, '=', length);
    if (sign && self->count < (int) G_N_ELEMENTS (self->list)) {
      LigBinding *added = &self->list[self->count++];
      copy (added->operand, sizeof added->operand, at, (gsize) (sign - at));
      parse (added, sign + 1, length - (gsize) (sign + 1 - at));
    }
    at += length;
  }
}

void
lig_bindings_bind (LigBindings *self,
                   const char *operand,
                   const LigBinding *to,
                   const char *form,
                   const char *suffix)
{
  if (self->count == (int) G_N_ELEMENTS (self->list))
    return;
  LigBinding *added = &self->list[self->count++];
  if (to)
    *added = *to;
  else
    lig_binding_parse (added, "-");
  g_strlcpy (added->operand, operand, sizeof added->operand);
  if (!form)
    return;
  g_strlcat (added->text, ":", sizeof added->text);
  g_strlcat (added->text, form, sizeof added->text);
  g_strlcat (added->text, suffix ? suffix : "", sizeof added->text);
  divide (added);
}

void
lig_bindings_find (const LigBindings *self, const char *operand, LigBinding *found)
{
  for (int i = 0; i < self->count; i++)
    if (strcmp (self->list[i].operand, operand) == 0) {
      *found = self->list[i];
      return;
    }
  lig_binding_parse (found, operand);
}
