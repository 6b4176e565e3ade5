/* SPDX-License-Identifier: MIT */
/* Pictures as files: SVG, PDF and PNG, without a display. */
#include "engine/draw/canvas.h"

#include <cairo-pdf.h>
#include <glib/gi18n-lib.h>
#include <math.h>
#include <string.h>

/* A point is 4/3 of a pixel; PDF readers reject pages of more than 200 inches. */
#define POINT 0.75
#define LONGEST_PAGE 14400.0
/* The longest side of an image that cairo and image readers accept, and the smallest scale at which
 * a picture is still legible. */
#define LONGEST_IMAGE 30000.0
#define MIN_SCALE 0.25

static cairo_status_t
append_bytes (void *closure, const unsigned char *data, unsigned int length)
{
  g_byte_array_append (closure, data, length);
  return CAIRO_STATUS_SUCCESS;
}

static void
paint (cairo_t *cairo,
       double scale,
       double width,
       double height,
       LigColour ground,
       LigDrawFunc draw,
       gpointer data)
{
  cairo_scale (cairo, scale, scale);
  g_autoptr (LigCanvas) canvas = lig_canvas_new (cairo);
  lig_canvas_box (canvas, 0, 0, width, height, 0, ground, 0, 0);
  draw (canvas, data);
}

static GBytes *
finish (GByteArray *bytes, cairo_status_t status, const char *format, GError **error)
{
  if (status == CAIRO_STATUS_SUCCESS)
    return g_byte_array_free_to_bytes (bytes);
  g_byte_array_unref (bytes);
  g_set_error (error, LIG_ERROR, LIG_ERROR_FORMAT, _ ("cannot write the picture as %s: %s"), format,
               cairo_status_to_string (status));
  return NULL;
}

static GBytes *
to_pdf (
  double width, double height, LigColour ground, LigDrawFunc draw, gpointer data, GError **error)
{
  double scale = MIN (POINT, LONGEST_PAGE / MAX (width, height));
  GByteArray *bytes = g_byte_array_new ();
  cairo_surface_t *surface =
    cairo_pdf_surface_create_for_stream (append_bytes, bytes, width * scale, height * scale);
  cairo_pdf_surface_set_metadata (surface, CAIRO_PDF_METADATA_CREATOR, "Ligature " LIG_VERSION);
  cairo_t *cairo = cairo_create (surface);
  paint (cairo, scale, width, height, ground, draw, data);
  cairo_status_t status = cairo_status (cairo);
  cairo_destroy (cairo);
  cairo_surface_finish (surface);
  if (status == CAIRO_STATUS_SUCCESS)
    status = cairo_surface_status (surface);
  cairo_surface_destroy (surface);
  return finish (bytes, status, "pdf", error);
}

/* Draws at twice the size, or at the largest size of an image. */
static GBytes *
to_png (
  double width, double height, LigColour ground, LigDrawFunc draw, gpointer data, GError **error)
{
  double scale = MIN (2, LONGEST_IMAGE / MAX (width, height));
  if (scale < MIN_SCALE) {
    g_set_error (
      error, LIG_ERROR, LIG_ERROR_FORMAT,
      _ ("a png of %.0f by %.0f pixels is too large, expected sides up to %.0f; use svg or pdf"),
      width, height, LONGEST_IMAGE / MIN_SCALE);
    return NULL;
  }
  GByteArray *bytes = g_byte_array_new ();
  cairo_surface_t *surface = cairo_image_surface_create (
    CAIRO_FORMAT_ARGB32, (int) ceil (width * scale), (int) ceil (height * scale));
  cairo_t *cairo = cairo_create (surface);
  paint (cairo, scale, width, height, ground, draw, data);
  cairo_status_t status = cairo_status (cairo);
  cairo_destroy (cairo);
  if (status == CAIRO_STATUS_SUCCESS)
    status = cairo_surface_write_to_png_stream (surface, append_bytes, bytes);
  cairo_surface_destroy (surface);
  return finish (bytes, status, "png", error);
}

static GBytes *
to_svg (double width, double height, LigColour ground, LigDrawFunc draw, gpointer data)
{
  g_autoptr (LigCanvas) canvas = lig_canvas_new_svg (width, height);
  lig_canvas_box (canvas, 0, 0, width, height, 0, ground, 0, 0);
  draw (canvas, data);
  g_autofree char *svg = lig_canvas_to_svg (canvas);
  char *text = g_strconcat ("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n", svg, NULL);
  return g_bytes_new_take (text, strlen (text));
}

GBytes *
lig_draw_to_file (const char *format,
                  double width,
                  double height,
                  LigColour ground,
                  LigDrawFunc draw,
                  gpointer data,
                  GError **error)
{
  g_return_val_if_fail (format && draw, NULL);
  if (!(width >= 1 && height >= 1 && width < 1e7 && height < 1e7))
    g_set_error (error, LIG_ERROR, LIG_ERROR_FORMAT,
                 _ ("a picture of %g by %g pixels, expected 1 to 10000000"), width, height);
  else if (g_ascii_strcasecmp (format, "svg") == 0)
    return to_svg (width, height, ground, draw, data);
  else if (g_ascii_strcasecmp (format, "pdf") == 0)
    return to_pdf (width, height, ground, draw, data, error);
  else if (g_ascii_strcasecmp (format, "png") == 0)
    return to_png (width, height, ground, draw, data, error);
  else
    g_set_error (error, LIG_ERROR, LIG_ERROR_FORMAT,
                 _ ("unknown picture format '%s', expected svg, pdf or png"), format);
  return NULL;
}
