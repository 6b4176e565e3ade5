/* SPDX-License-Identifier: MIT */
/* Opening files that are not trusted, and saying numbers in messages. */
#include "engine/data/file.h"

#include <glib/gstdio.h>

#include <errno.h>
#include <sys/stat.h>

GMappedFile *
lig_map_file (const char *path, GError **error)
{
  g_autofree char *name = g_filename_display_name (path);
  g_autoptr (GError) local = NULL;
  GStatBuf info;
  if (g_stat (path, &info) != 0) {
    int code = errno;
    g_set_error (error, LIG_ERROR, LIG_ERROR_FILE, "cannot open '%s': %s", name, g_strerror (code));
    return NULL;
  }
  if (!S_ISREG (info.st_mode)) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_FILE, "'%s' is %s, expected a regular file", name,
                 S_ISDIR (info.st_mode) ? "a folder" : "a pipe or a device");
    return NULL;
  }
  GMappedFile *file = g_mapped_file_new (path, FALSE, &local);
  if (!file)
    g_set_error (error, LIG_ERROR, LIG_ERROR_FILE, "cannot read '%s': %s", name, local->message);
  return file;
}

char *
lig_format_count (gint64 count)
{
  g_autofree char *digits = g_strdup_printf ("%" G_GINT64_FORMAT, count);
  gsize length = strlen (digits);
  GString *text = g_string_sized_new (length + length / 3);
  for (gsize i = 0; i < length; i++) {
    if (i > 0 && (length - i) % 3 == 0 && digits[i - 1] != '-')
      g_string_append_c (text, ',');
    g_string_append_c (text, digits[i]);
  }
  return g_string_free (text, FALSE);
}

char *
lig_format_excerpt (const char *text, glong characters)
{
  /* A character takes at most four bytes, and one that is cut in two shows as a replacement. */
  g_autofree char *valid = g_utf8_make_valid (text, (gssize) strnlen (text, 4 * characters + 4));
  if (g_utf8_strlen (valid, -1) <= characters)
    return g_steal_pointer (&valid);
  g_autofree char *start = g_utf8_substring (valid, 0, characters);
  return g_strconcat (start, "…", NULL);
}
