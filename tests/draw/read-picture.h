/* SPDX-License-Identifier: MIT */
/* Reads pictures and pages back: the texts of XML, the pixels of PNG. */
#pragma once

#include <cairo.h>
#include <glib.h>
#include <string.h>

typedef struct {
  GString *text;
  const char *end; /* of each piece of character data */
} XmlText;

static inline void
append_data (
  GMarkupParseContext *parser, const char *text, gsize length, gpointer data, GError **error)
{
  XmlText *to = data;
  g_string_append_len (to->text, text, (gssize) length);
  g_string_append (to->text, to->end);
}

/* Returns the character data, with `end` after each piece; fails if the text is not well-formed. */
static inline char *
read_xml (const char *xml, const char *end)
{
  g_autoptr (GError) error = NULL;
  const GMarkupParser parser = {.text = append_data};
  XmlText to = {g_string_new (NULL), end};
  g_autoptr (GMarkupParseContext) reader = g_markup_parse_context_new (&parser, 0, &to, NULL);
  g_markup_parse_context_parse (reader, xml, -1, &error);
  g_assert_no_error (error);
  g_markup_parse_context_end_parse (reader, &error);
  g_assert_no_error (error);
  return g_string_free (to.text, FALSE);
}

static inline cairo_status_t
read_bytes (void *closure, unsigned char *data, unsigned int length)
{
  GByteArray *from = closure;
  if (from->len < length)
    return CAIRO_STATUS_READ_ERROR;
  memcpy (data, from->data, length);
  g_byte_array_remove_range (from, 0, length);
  return CAIRO_STATUS_SUCCESS;
}

/* Returns the picture of a PNG file; (transfer full). */
static inline cairo_surface_t *
read_png (GBytes *png)
{
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  g_byte_array_append (bytes, g_bytes_get_data (png, NULL), (guint) g_bytes_get_size (png));
  cairo_surface_t *surface = cairo_image_surface_create_from_png_stream (read_bytes, bytes);
  g_assert_cmpint (cairo_surface_status (surface), ==, CAIRO_STATUS_SUCCESS);
  return surface;
}
