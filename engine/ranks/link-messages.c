/* SPDX-License-Identifier: MIT */
/* Messages on the connections between rank 0 and the others. */
#include "engine/ranks/link.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* The longest text, in bytes; it fits into the buffer of any socket. */
#define LONGEST_TEXT 4000

static gboolean
has_text (int message)
{
  return message == LIG_LINK_FAILURE || message == LIG_LINK_ABANDON;
}

void
lig_link_close (LigLink *self)
{
  if (self->socket >= 0)
    close (self->socket);
  self->socket = -1;
}

void
lig_link_send (LigLink *self, LigLinkMessage message, const char *text)
{
  g_autoptr (GString) bytes = g_string_new (NULL);
  if (self->socket < 0)
    return;
  g_string_append_c (bytes, (char) message);
  if (has_text (message)) {
    guint32 length = (guint32) MIN (strlen (text), LONGEST_TEXT);
    g_string_append_len (bytes, (const char *) &length, sizeof length);
    g_string_append_len (bytes, text, (gssize) length);
  }
  send (self->socket, bytes->str, bytes->len, MSG_NOSIGNAL | MSG_DONTWAIT);
}

void
lig_link_receive (LigLink *self)
{
  char bytes[4096];
  gssize count;
  while (self->socket >= 0) {
    count = recv (self->socket, bytes, sizeof bytes, MSG_DONTWAIT);
    if (count > 0) {
      g_string_append_len (self->received, bytes, count);
      self->quiet = 0;
    } else if (count == 0 || (errno != EAGAIN && errno != EINTR)) {
      lig_link_close (self);
    } else if (errno == EAGAIN) {
      return;
    }
  }
}

int
lig_link_take (LigLink *self, char **text)
{
  GString *received = self->received;
  guint32 length = 0;
  gsize whole = 1;
  if (received->len == 0)
    return 0;
  int message = received->str[0];
  if (has_text (message)) {
    if (received->len < whole + sizeof length)
      return 0;
    memcpy (&length, received->str + whole, sizeof length);
    length = MIN (length, LONGEST_TEXT);
    whole += sizeof length;
    if (received->len < whole + length)
      return 0;
    g_free (*text);
    g_autofree char *raw = g_strndup (received->str + whole, length);
    *text = g_utf8_make_valid (raw, -1);
  }
  g_string_erase (received, 0, (gssize) (whole + length));
  return message;
}
