/* SPDX-License-Identifier: MIT */
/* Opens untrusted files, replaces files, and formats numbers and excerpts for messages. */
#include "engine/base/file.h"

#include <glib/gstdio.h>

#include <errno.h>
#include <fcntl.h>
#include <glib/gi18n-lib.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static gboolean G_GNUC_PRINTF (4, 5)
  reject (const char *action, const char *path, GError **error, const char *format, ...)
{
  va_list arguments;
  va_start (arguments, format);
  g_autofree char *why = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_autofree char *name = g_filename_display_name (path);
  g_set_error (error, LIG_ERROR, LIG_ERROR_FILE, _ ("cannot %s '%s': %s"), action, name, why);
  return FALSE;
}

/* Checks the type before opening, since opening a pipe would block, and again afterwards, since the
 * path may name another file by then. */
int
lig_open_file (const char *path, gsize *size, GError **error)
{
  GStatBuf info;
  if (g_stat (path, &info) != 0) {
    reject (_ ("open"), path, error, "%s", g_strerror (errno));
    return -1;
  }
  int fd = S_ISREG (info.st_mode) ? open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
  if (fd < 0 && S_ISREG (info.st_mode)) {
    reject (_ ("read"), path, error, "%s", g_strerror (errno));
    return -1;
  }
  if (fd >= 0 && fstat (fd, &info) == 0 && S_ISREG (info.st_mode)) {
    *size = (gsize) info.st_size;
    return fd;
  }
  if (fd >= 0)
    close (fd);
  g_autofree char *name = g_filename_display_name (path);
  g_set_error (error, LIG_ERROR, LIG_ERROR_FILE, _ ("'%s' is %s, expected a regular file"), name,
               S_ISDIR (info.st_mode) ? _ ("a folder") : _ ("a pipe or a device"));
  return -1;
}

gboolean
lig_read_at (int fd, const char *path, gsize offset, gpointer buffer, gsize size, GError **error)
{
  char *to = buffer;
  while (size > 0) {
    gssize count = pread (fd, to, MIN (size, (gsize) 1 << 30), (off_t) offset);
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return reject (_ ("read"), path, error, "%s", g_strerror (errno));
    if (count == 0)
      return reject (_ ("read"), path, error, _ ("it was cut off while it was read, at byte %zu"),
                     offset);
    to += count;
    offset += (gsize) count;
    size -= (gsize) count;
  }
  return TRUE;
}

/* A file that another program writes while it is read may be half old and half new. */
static gboolean
check_same (int fd, const char *path, const struct stat *before, GError **error)
{
  struct stat now;
  if (fstat (fd, &now) == 0 && now.st_size == before->st_size &&
      now.st_mtim.tv_sec == before->st_mtim.tv_sec &&
      now.st_mtim.tv_nsec == before->st_mtim.tv_nsec)
    return TRUE;
  return reject (_ ("read"), path, error,
                 g_dngettext (GETTEXT_PACKAGE,
                              "it changed while it was read: %" PRId64 " byte before, %" PRId64
                              " after; try again when no other program writes to it",
                              "it changed while it was read: %" PRId64 " bytes before, %" PRId64
                              " after; try again when no other program writes to it",
                              (gulong) (before->st_size)),
                 (gint64) before->st_size, (gint64) now.st_size);
}

GBytes *
lig_read_file (const char *path, GError **error)
{
  gsize size = 0;
  struct stat before = {0};
  int fd = lig_open_file (path, &size, error);
  if (fd < 0)
    return NULL;
  gboolean known = fstat (fd, &before) == 0;
  g_autofree char *content = known ? g_try_malloc (MAX (size, 1)) : NULL;
  gboolean done = content != NULL;
  if (!done)
    g_set_error (error, LIG_ERROR, LIG_ERROR_MEMORY,
                 g_dngettext (GETTEXT_PACKAGE, "'%s': no memory for its %zu byte",
                              "'%s': no memory for its %zu bytes", (gulong) (size)),
                 path, size);
  done = done && lig_read_at (fd, path, 0, content, size, error) &&
         check_same (fd, path, &before, error);
  close (fd);
  return done ? g_bytes_new_take (g_steal_pointer (&content), size) : NULL;
}

/* Writes to a device or a pipe. It is not replaced by a renamed file, which would destroy
 * /dev/null. */
static gboolean
write_stream (const char *path, gconstpointer data, gsize size, GError **error)
{
  /* O_NONBLOCK, because opening a pipe without a reader would block indefinitely. */
  int number = open (path, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  FILE *file = number >= 0 && fcntl (number, F_SETFL, 0) == 0 ? fdopen (number, "wb") : NULL;
  gboolean fine = file && fwrite (data, 1, size, file) == size;
  int code = errno;
  if (number >= 0 && !file)
    close (number);
  if (file && fclose (file) != 0 && fine) {
    code = errno;
    fine = FALSE;
  }
  if (!fine)
    g_set_error (error, LIG_ERROR, LIG_ERROR_FILE, _ ("%s: cannot be written: %s"), path,
                 code == ENXIO ? _ ("the pipe has no reader") : g_strerror (code));
  return fine;
}

gboolean
lig_write_file (const char *path, gconstpointer data, gsize size, GError **error)
{
  g_autoptr (GError) local = NULL;
  /* A symbolic link is kept and the file that it points to is replaced. */
  g_autofree char *target =
    g_file_test (path, G_FILE_TEST_IS_SYMLINK) ? realpath (path, NULL) : NULL;
  GFileSetContentsFlags flags = G_FILE_SET_CONTENTS_CONSISTENT | G_FILE_SET_CONTENTS_DURABLE;
  if (g_file_test (path, G_FILE_TEST_IS_DIR)) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_FILE, _ ("%s: cannot be saved: %s"), path,
                 g_strerror (EISDIR));
    return FALSE;
  }
  if (g_file_test (path, G_FILE_TEST_EXISTS) && !g_file_test (path, G_FILE_TEST_IS_REGULAR))
    return write_stream (path, data, size, error);
  if (g_file_set_contents_full (target ? target : path, data, (gssize) size, flags, 0666, &local))
    return TRUE;
  /* GLib's message names the temporary file; the reason is after its last colon. */
  const char *reason = g_strrstr (local->message, ": ");
  g_set_error (error, LIG_ERROR, LIG_ERROR_FILE, _ ("%s: cannot be saved: %s"), path,
               reason ? reason + 2 : local->message);
  return FALSE;
}

/* Applies the finalizer of splitmix64 to words of eight bytes. It hashes several gigabytes per
 * second, so it does not slow down opening a dataset. */
guint64
lig_hash_content (guint64 hash, gconstpointer bytes, gsize size)
{
  const guint8 *from = bytes;
  for (gsize at = 0; at < size; at += sizeof (guint64)) {
    guint64 word = 0;
    memcpy (&word, from + at, MIN (size - at, sizeof word));
    hash = (hash ^ word) + 0x9e3779b97f4a7c15u;
    hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9u;
    hash = (hash ^ (hash >> 27)) * 0x94d049bb133111ebu;
    hash ^= hash >> 31;
  }
  return hash ^ size;
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
  /* A character has at most four bytes; a truncated one becomes a replacement character. */
  g_autofree char *valid = g_utf8_make_valid (text, (gssize) strnlen (text, 4 * characters + 4));
  if (g_utf8_strlen (valid, -1) <= characters)
    return g_steal_pointer (&valid);
  g_autofree char *start = g_utf8_substring (valid, 0, characters);
  return g_strconcat (start, "…", NULL);
}
