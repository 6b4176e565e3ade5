/* SPDX-License-Identifier: MIT */
/* Finds the files of a dataset: one file, the files of a folder, or those that match a pattern. */
#include "engine/data/files.h"

#include "engine/base/file.h"

#include <gio/gio.h>
#include <glib/gi18n-lib.h>
#include <glib/gstdio.h>

#include <errno.h>
#include <glob.h>
#include <string.h>
#include <sys/stat.h>

static gboolean
reject_path (const char *what, const char *path, const char *why, GError **error)
{
  g_autofree char *shown = g_filename_display_name (path);
  g_set_error (error, LIG_ERROR, LIG_ERROR_FILE, _ ("cannot %s '%s': %s"), what, shown, why);
  return FALSE;
}

/* Adds the contents of one folder. A link to a file counts as a file. Links to folders are ignored,
 * since they could form cycles, and so are broken links. */
static gboolean
list_folder (
  const char *folder, const char *suffix, GPtrArray *folders, GPtrArray *files, GError **error)
{
  g_autoptr (GError) local = NULL;
  g_autoptr (GDir) dir = g_dir_open (folder, 0, &local);
  const char *name;
  if (!dir)
    return reject_path (_ ("read the folder"), folder, local->message, error);
  while ((name = g_dir_read_name (dir))) {
    g_autofree char *path = g_build_filename (folder, name, NULL);
    GStatBuf info;
    gboolean link = g_lstat (path, &info) == 0 && S_ISLNK (info.st_mode);
    if (g_stat (path, &info) != 0) {
      if (errno != ENOENT && errno != ELOOP)
        return reject_path (_ ("open"), path, g_strerror (errno), error);
      continue;
    }
    if (S_ISREG (info.st_mode) && (!suffix || g_str_has_suffix (name, suffix)))
      g_ptr_array_add (files, g_steal_pointer (&path));
    else if (S_ISDIR (info.st_mode) && !link)
      g_ptr_array_add (folders, g_steal_pointer (&path));
  }
  return TRUE;
}

static int
compare_paths (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

GPtrArray *
lig_data_list_folder (const char *path, const char *suffix, GError **error)
{
  g_autoptr (GPtrArray) files = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GPtrArray) folders = g_ptr_array_new_with_free_func (g_free);
  if (!g_file_test (path, G_FILE_TEST_IS_DIR)) {
    g_ptr_array_add (files, g_strdup (path));
    return g_steal_pointer (&files);
  }
  g_ptr_array_add (folders, g_strdup (path));
  while (folders->len > 0) {
    g_autofree char *folder = g_ptr_array_steal_index_fast (folders, folders->len - 1);
    if (!list_folder (folder, suffix, folders, files, error))
      return NULL;
  }
  g_ptr_array_sort (files, compare_paths);
  return g_steal_pointer (&files);
}

static gboolean
is_file (const char *path)
{
  GStatBuf info;
  return g_stat (path, &info) == 0 && S_ISREG (info.st_mode);
}

GPtrArray *
lig_data_list_files (const char *path, const char *suffix, GError **error)
{
  if (g_file_test (path, G_FILE_TEST_EXISTS) || !strpbrk (path, "*?["))
    return lig_data_list_folder (path, suffix, error);
  g_autoptr (GPtrArray) files = g_ptr_array_new_with_free_func (g_free);
  glob_t found = {0};
  if (glob (path, GLOB_NOSORT, NULL, &found) == 0)
    for (gsize i = 0; i < found.gl_pathc; i++)
      if (is_file (found.gl_pathv[i]))
        g_ptr_array_add (files, g_strdup (found.gl_pathv[i]));
  globfree (&found);
  g_ptr_array_sort (files, compare_paths);
  if (files->len > 0)
    return g_steal_pointer (&files);
  g_autofree char *shown = g_filename_display_name (path);
  g_set_error (error, LIG_ERROR, LIG_ERROR_FILE, _ ("no file matches '%s'"), shown);
  return NULL;
}

/* Returns (transfer full) the identity of a file, which does not depend on its path. */
static char *
identify (const char *path)
{
  GStatBuf info;
  if (g_stat (path, &info) != 0)
    return g_strdup (path);
  return g_strdup_printf ("%" G_GUINT64_FORMAT ":%" G_GUINT64_FORMAT, (guint64) info.st_dev,
                          (guint64) info.st_ino);
}

gboolean
lig_data_leave_out (GPtrArray *files, GPtrArray *others, const char *path, GError **error)
{
  g_autoptr (GHashTable) known = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  guint before = files->len;
  for (guint i = 0; i < others->len; i++)
    g_hash_table_add (known, identify (g_ptr_array_index (others, i)));
  for (guint i = files->len; i-- > 0;) {
    g_autofree char *file = identify (g_ptr_array_index (files, i));
    if (g_hash_table_contains (known, file))
      g_ptr_array_remove_index (files, i);
  }
  if (before == 0 || files->len > 0)
    return TRUE;
  g_autofree char *shown = g_filename_display_name (path);
  g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
               _ ("%s: all files are validation files, none is left for training"), shown);
  return FALSE;
}

gboolean
lig_data_check_apart (const char *path, const char *validation, GError **error)
{
  g_autoptr (GPtrArray) files = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GPtrArray) others = g_ptr_array_new_with_free_func (g_free);
  g_ptr_array_add (files, g_strdup (path));
  g_ptr_array_add (others, g_strdup (validation));
  return lig_data_leave_out (files, others, path, error);
}

/* --- Contents ------------------------------------------------------------------------------- */

#define GZIP "\x1f\x8b\x08"

static const struct {
  const char *begin;
  gsize length;
  const char *name;
} foreign[] = {
  {GZIP, 3, N_ ("compressed with gzip")},
  {"PK\3\4", 4, N_ ("a zip archive")},
  {"BZh", 3, N_ ("compressed with bzip2")},
  {"\xfd"
   "7zXZ",
   5, N_ ("compressed with xz")},
  {"\x28\xb5\x2f\xfd", 4, N_ ("compressed with zstd")},
  {"\x93NUMPY", 6, N_ ("a NumPy array")},
  {"PAR1", 4, N_ ("a Parquet file")},
  {"\x89HDF", 4, N_ ("an HDF5 file")},
  {"SQLite format 3", 15, N_ ("a database")},
  {"\xff\xfe", 2, N_ ("UTF-16 text")},
  {"\xfe\xff", 2, N_ ("UTF-16 text")},
};

const char *
lig_data_name_foreign (gconstpointer bytes, gsize size)
{
  for (guint i = 0; i < G_N_ELEMENTS (foreign); i++)
    if (size >= foreign[i].length && memcmp (bytes, foreign[i].begin, foreign[i].length) == 0)
      return foreign[i].name;
  return NULL;
}

static GBytes *
unpack (GBytes *packed, const char *path, GError **error)
{
  g_autoptr (GConverter) gzip =
    G_CONVERTER (g_zlib_decompressor_new (G_ZLIB_COMPRESSOR_FORMAT_GZIP));
  g_autoptr (GInputStream) from = g_memory_input_stream_new_from_bytes (packed);
  g_autoptr (GInputStream) stream = g_converter_input_stream_new (from, gzip);
  g_autoptr (GByteArray) all = g_byte_array_new ();
  g_autoptr (GError) local = NULL;
  guint8 piece[1 << 14];
  gssize count;
  while ((count = g_input_stream_read (stream, piece, sizeof piece, NULL, &local)) > 0) {
    if (all->len > G_MAXINT)
      break;
    g_byte_array_append (all, piece, (guint) count);
  }
  if (count == 0)
    return g_byte_array_free_to_bytes (g_steal_pointer (&all));
  g_autofree char *shown = g_filename_display_name (path);
  g_set_error (error, LIG_ERROR, LIG_ERROR_FORMAT, _ ("cannot decompress '%s': %s"), shown,
               local ? local->message : _ ("it is longer than 2 GiB; decompress it with gunzip"));
  return NULL;
}

GBytes *
lig_data_read (const char *path, GError **error)
{
  g_autoptr (GBytes) file = lig_read_file (path, error);
  gsize size = 0;
  const char *bytes = file ? g_bytes_get_data (file, &size) : NULL;
  if (size >= 3 && memcmp (bytes, GZIP, 3) == 0) {
    g_autoptr (GBytes) packed = g_steal_pointer (&file);
    file = unpack (packed, path, error);
    bytes = file ? g_bytes_get_data (file, &size) : NULL;
  }
  const char *name = file && size > 0 ? lig_data_name_foreign (bytes, size) : NULL;
  if (!name)
    return g_steal_pointer (&file);
  g_autofree char *shown = g_filename_display_name (path);
  g_set_error (error, LIG_ERROR, LIG_ERROR_FORMAT,
               _ ("%s: is %s, which is not supported; decompress or convert it first"), shown,
               _ (name));
  return NULL;
}
