/* SPDX-License-Identifier: MIT */
/* Named tensors: those of an open safetensors file and added ones. Writes them to a file. */
#include "engine/base/file.h"
#include "engine/tensor/safetensors.h"

#include <glib/gstdio.h>
#include <json-glib/json-glib.h>

#include <errno.h>
#include <fcntl.h>
#include <glib/gi18n-lib.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#if G_BYTE_ORDER != G_LITTLE_ENDIAN
#error "tensors are copied unchanged from the file, which is little-endian"
#endif

void
lig_file_entry_free (LigFileEntry *entry)
{
  g_free (entry->name);
  g_clear_pointer (&entry->tensor, lig_tensor_unref);
  g_clear_pointer (&entry->part, lig_tensor_file_free);
  g_free (entry);
}

LigTensorFile *
lig_tensor_file_new (void)
{
  LigTensorFile *self = g_atomic_rc_box_new0 (LigTensorFile);
  self->name = g_strdup ("a new tensor file");
  self->fd = -1;
  self->entries =
    g_hash_table_new_full (g_str_hash, g_str_equal, NULL, (GDestroyNotify) lig_file_entry_free);
  self->metadata = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  return self;
}

static void
clear (gpointer data)
{
  LigTensorFile *self = data;
  g_clear_pointer (&self->names, g_ptr_array_unref);
  g_hash_table_unref (self->entries);
  g_hash_table_unref (self->metadata);
  if (self->fd >= 0)
    close (self->fd);
  g_free (self->header);
  g_free (self->path);
  g_free (self->name);
}

void
lig_tensor_file_free (LigTensorFile *self)
{
  if (self)
    g_atomic_rc_box_release_full (self, clear);
}

G_DEFINE_BOXED_TYPE (LigTensorFile, lig_tensor_file, g_atomic_rc_box_acquire, lig_tensor_file_free)

/* The maximum length of a message; a name in a damaged header may have millions of characters. */
#define LONGEST_MESSAGE 500

gboolean
lig_tensor_file_reject (LigTensorFile *self, GError **error, LigError code, const char *format, ...)
{
  va_list arguments;
  va_start (arguments, format);
  g_autofree char *whole = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_autofree char *what = lig_format_excerpt (whole, LONGEST_MESSAGE);
  g_set_error (error, LIG_ERROR, code, "%s: %s", self->name, what);
  return FALSE;
}

static int
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

gboolean
lig_tensor_file_join (LigTensorFile *self, LigTensorFile *part, GError **error)
{
  GHashTableIter iter;
  gpointer value;
  g_hash_table_iter_init (&iter, part->entries);
  while (g_hash_table_iter_next (&iter, NULL, &value)) {
    const LigFileEntry *from = value, *other = g_hash_table_lookup (self->entries, from->name);
    if (other)
      return lig_tensor_file_reject (part, error, LIG_ERROR_FORMAT,
                                     _ ("contains tensor '%s', which '%s' contains, too"),
                                     from->name, other->part ? other->part->name : self->name);
    LigFileEntry *entry = g_new0 (LigFileEntry, 1);
    *entry = *from;
    entry->name = g_strdup (from->name);
    entry->part = g_atomic_rc_box_acquire (part);
    g_hash_table_insert (self->entries, entry->name, entry);
  }
  g_clear_pointer (&self->names, g_ptr_array_unref);
  return TRUE;
}

void
lig_tensor_file_strip (LigTensorFile *self, gsize length)
{
  g_autoptr (GPtrArray) entries = lig_tensor_file_get_entries (self);
  g_hash_table_steal_all (self->entries);
  for (guint i = 0; i < entries->len; i++) {
    LigFileEntry *entry = entries->pdata[i];
    g_autofree char *name = entry->name;
    entry->name = g_strdup (name + MIN (length, strlen (name)));
    g_hash_table_insert (self->entries, entry->name, entry);
  }
  g_clear_pointer (&self->names, g_ptr_array_unref);
}

GPtrArray *
lig_tensor_file_get_paths (LigTensorFile *self)
{
  GPtrArray *paths = g_ptr_array_new_with_free_func (g_free);
  GHashTableIter iter;
  gpointer entry;
  if (self->path)
    g_ptr_array_add (paths, g_strdup (self->path));
  g_hash_table_iter_init (&iter, self->entries);
  while (g_hash_table_iter_next (&iter, NULL, &entry)) {
    const LigTensorFile *part = ((LigFileEntry *) entry)->part;
    if (part && !g_ptr_array_find_with_equal_func (paths, part->path, g_str_equal, NULL))
      g_ptr_array_add (paths, g_strdup (part->path));
  }
  g_ptr_array_sort (paths, compare_names);
  return paths;
}

GPtrArray *
lig_tensor_file_get_entries (LigTensorFile *self)
{
  GPtrArray *entries = g_ptr_array_new ();
  GHashTableIter iter;
  gpointer entry;
  g_hash_table_iter_init (&iter, self->entries);
  while (g_hash_table_iter_next (&iter, NULL, &entry))
    g_ptr_array_add (entries, entry);
  return entries;
}

const char *const *
lig_tensor_file_get_names (LigTensorFile *self)
{
  if (!self->names) {
    GHashTableIter iter;
    gpointer name;
    self->names = g_ptr_array_new ();
    g_hash_table_iter_init (&iter, self->entries);
    while (g_hash_table_iter_next (&iter, &name, NULL))
      g_ptr_array_add (self->names, name);
    g_ptr_array_sort (self->names, compare_names);
    g_ptr_array_add (self->names, NULL);
  }
  return (const char *const *) self->names->pdata;
}

gboolean
lig_tensor_file_has (LigTensorFile *self, const char *name)
{
  return g_hash_table_contains (self->entries, name);
}

static gboolean
copy_integers (const char *source, LigTensor *tensor, gint64 *bad, char **shown)
{
  gint32 *target = tensor->data;
  for (gint64 i = 0; i < tensor->size; i++) {
    gint64 value;
    memcpy (&value, source + i * (gint64) sizeof value, sizeof value);
    if (value < G_MININT32 || value > G_MAXINT32) {
      *bad = i;
      *shown = g_strdup_printf ("%" G_GINT64_FORMAT ", which does not fit into int32", value);
      return FALSE;
    }
    target[i] = (gint32) value;
  }
  return TRUE;
}

static gboolean
copy_doubles (const char *source, LigTensor *tensor, gint64 *bad, char **shown)
{
  float *target = tensor->data;
  for (gint64 i = 0; i < tensor->size; i++) {
    double value;
    memcpy (&value, source + i * (gint64) sizeof value, sizeof value);
    target[i] = (float) value;
    if (isfinite (value) && !isfinite (target[i])) {
      *bad = i;
      *shown = g_strdup_printf ("%g, which does not fit into fp32", value);
      return FALSE;
    }
  }
  return TRUE;
}

/* Converts the elements from the file's type and checks bools. On failure sets the index of the
 * first invalid element in `bad` and the reason in `why`. */
static gboolean
convert_elements (
  const LigFileType *type, const char *source, LigTensor *tensor, gint64 *bad, char **why)
{
  if (type->size != lig_dtype_size (type->dtype))
    return type->dtype == LIG_INT32 ? copy_integers (source, tensor, bad, why)
                                    : copy_doubles (source, tensor, bad, why);
  const guint8 *bytes = tensor->data;
  for (gint64 i = 0; type->dtype == LIG_BOOL && i < tensor->size; i++) {
    if (bytes[i] > 1) {
      *bad = i;
      *why = g_strdup_printf ("%d, a bool is 0 or 1", bytes[i]);
      return FALSE;
    }
  }
  return TRUE;
}

LigTensor *
lig_tensor_file_get (LigTensorFile *self, const char *name, GError **error)
{
  const LigFileEntry *entry = g_hash_table_lookup (self->entries, name);
  g_autofree char *why = NULL;
  gint64 bad = 0;
  if (!entry) {
    lig_tensor_file_reject (self, error, LIG_ERROR_INDEX, _ ("there is no tensor '%s'"), name);
    return NULL;
  }
  if (entry->tensor)
    return lig_tensor_ref (entry->tensor);
  /* The names may have changed since the part was joined; the offsets are those in it. */
  if (entry->part)
    self = entry->part;
  g_autoptr (LigTensor) tensor = lig_tensor_new (entry->type->dtype, &entry->shape, error);
  if (!tensor)
    return NULL;
  /* A tensor with a wider type in the file is read into a separate buffer. */
  gboolean wider = entry->type->size != lig_dtype_size (entry->type->dtype);
  gsize bytes = (gsize) (entry->end - entry->begin);
  g_autofree char *source = wider ? g_try_malloc (MAX (bytes, 1)) : NULL;
  if (wider && !source) {
    lig_tensor_file_reject (self, error, LIG_ERROR_MEMORY,
                            g_dngettext (GETTEXT_PACKAGE, "no memory for tensor '%s' of %zu byte",
                                         "no memory for tensor '%s' of %zu bytes",
                                         (gulong) (bytes)),
                            name, bytes);
    return NULL;
  }
  if (!lig_read_at (self->fd, self->path, (gsize) (self->body_at + entry->begin),
                    wider ? source : tensor->data, bytes, error))
    return NULL;
  if (!convert_elements (entry->type, source, tensor, &bad, &why)) {
    lig_tensor_file_reject (self, error, LIG_ERROR_VALUE,
                            _ ("element %" PRId64 " of tensor '%s' is %s"), bad, name, why);
    return NULL;
  }
  return g_steal_pointer (&tensor);
}

gboolean
lig_tensor_file_get_shape (LigTensorFile *self, const char *name, LigShape *shape, LigDtype *dtype)
{
  const LigFileEntry *entry = g_hash_table_lookup (self->entries, name);
  if (!entry)
    return FALSE;
  if (shape)
    *shape = entry->shape;
  if (dtype)
    *dtype = entry->type->dtype;
  return TRUE;
}

void
lig_tensor_file_add (LigTensorFile *self, const char *name, LigTensor *tensor)
{
  g_return_if_fail (name && tensor);
  LigFileEntry *entry = g_new0 (LigFileEntry, 1);
  entry->name = g_strdup (name);
  entry->shape = tensor->shape;
  entry->tensor = lig_tensor_ref (tensor);
  entry->type = lig_file_type_of (tensor->dtype);
  /* The entry owns its key, so both are replaced together. */
  g_hash_table_replace (self->entries, entry->name, entry);
  g_clear_pointer (&self->names, g_ptr_array_unref);
}

const char *
lig_tensor_file_get_metadata (LigTensorFile *self, const char *key)
{
  return g_hash_table_lookup (self->metadata, key);
}

void
lig_tensor_file_set_metadata (LigTensorFile *self, const char *key, const char *value)
{
  if (value)
    g_hash_table_replace (self->metadata, g_strdup (key), g_strdup (value));
  else
    g_hash_table_remove (self->metadata, key);
}

/* Sorts large elements first, so that each is aligned to its size; then by name. */
static int
compare_places (gconstpointer a, gconstpointer b)
{
  const LigFileEntry *first = *(const LigFileEntry *const *) a;
  const LigFileEntry *second = *(const LigFileEntry *const *) b;
  if (first->type->size != second->type->size)
    return first->type->size > second->type->size ? -1 : 1;
  return strcmp (first->name, second->name);
}

static gint64
entry_bytes (const LigFileEntry *entry)
{
  return lig_shape_size (&entry->shape) * (gint64) entry->type->size;
}

static gboolean
build_metadata (LigTensorFile *self, JsonBuilder *header, GError **error)
{
  guint n_keys;
  g_autofree gpointer *keys = g_hash_table_get_keys_as_array (self->metadata, &n_keys);
  if (n_keys == 0)
    return TRUE;
  qsort (keys, n_keys, sizeof *keys, compare_names);
  json_builder_set_member_name (header, LIG_METADATA);
  json_builder_begin_object (header);
  for (guint i = 0; i < n_keys; i++) {
    const char *key = keys[i];
    const char *value = g_hash_table_lookup (self->metadata, key);
    if (!g_utf8_validate (key, -1, NULL) || !g_utf8_validate (value, -1, NULL)) {
      g_autofree char *shown = lig_format_excerpt (key, 60);
      return lig_tensor_file_reject (self, error, LIG_ERROR_FORMAT,
                                     _ ("metadata '%s' is not UTF-8"), shown);
    }
    json_builder_set_member_name (header, key);
    json_builder_add_string_value (header, value);
  }
  json_builder_end_object (header);
  return TRUE;
}

static gboolean
build_entry (
  LigTensorFile *self, JsonBuilder *header, const LigFileEntry *entry, gint64 begin, GError **error)
{
  if (!g_utf8_validate (entry->name, -1, NULL) || strcmp (entry->name, LIG_METADATA) == 0) {
    g_autofree char *shown = lig_format_excerpt (entry->name, 60);
    return lig_tensor_file_reject (self, error, LIG_ERROR_FORMAT,
                                   _ ("a tensor cannot be named '%s' in a safetensors file"),
                                   shown);
  }
  json_builder_set_member_name (header, entry->name);
  json_builder_begin_object (header);
  json_builder_set_member_name (header, "dtype");
  json_builder_add_string_value (header, entry->type->name);
  json_builder_set_member_name (header, "shape");
  json_builder_begin_array (header);
  for (int i = 0; i < entry->shape.n_axes; i++)
    json_builder_add_int_value (header, entry->shape.axes[i]);
  json_builder_end_array (header);
  json_builder_set_member_name (header, "data_offsets");
  json_builder_begin_array (header);
  json_builder_add_int_value (header, begin);
  json_builder_add_int_value (header, begin + entry_bytes (entry));
  json_builder_end_array (header);
  json_builder_end_object (header);
  return TRUE;
}

/* Builds the length and the JSON, padded with spaces so that the body starts at a multiple of 8. */
static GString *
build_header (LigTensorFile *self, GPtrArray *entries, GError **error)
{
  g_autoptr (JsonBuilder) builder = json_builder_new_immutable ();
  gint64 begin = 0;
  json_builder_begin_object (builder);
  if (!build_metadata (self, builder, error))
    return NULL;
  for (guint i = 0; i < entries->len; i++) {
    const LigFileEntry *entry = g_ptr_array_index (entries, i);
    if (!build_entry (self, builder, entry, begin, error))
      return NULL;
    begin += entry_bytes (entry);
  }
  json_builder_end_object (builder);
  g_autoptr (JsonNode) root = json_builder_get_root (builder);
  g_autofree char *text = json_to_string (root, FALSE);
  guint64 length = (strlen (text) + 7) / 8 * 8;
  if (length > LIG_LONGEST_HEADER) {
    lig_tensor_file_reject (self, error, LIG_ERROR_FORMAT,
                            _ ("the header would have %" PRIu64 " bytes, at most %d are supported"),
                            length, LIG_LONGEST_HEADER);
    return NULL;
  }
  GString *header = g_string_new_len ((const char *) &length, sizeof length);
  g_string_append (header, text);
  while (header->len < sizeof length + length)
    g_string_append_c (header, ' ');
  return header;
}

static gboolean
write_bytes (int fd, const char *bytes, gsize count)
{
  while (count > 0) {
    gssize written = write (fd, bytes, MIN (count, (gsize) 1 << 30));
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      return FALSE;
    bytes += written;
    count -= (gsize) written;
  }
  return TRUE;
}

#define PIECE (1 << 20)

/* Copies an entry's bytes unchanged from the loaded file into another. */
static gboolean
copy_bytes (LigTensorFile *self, const LigFileEntry *entry, int fd)
{
  if (entry->part)
    self = entry->part;
  g_autofree char *piece = g_malloc (PIECE);
  for (gint64 at = entry->begin; at < entry->end;) {
    gsize wanted = (gsize) MIN (entry->end - at, PIECE);
    gssize count = pread (self->fd, piece, wanted, self->body_at + at);
    if (count < 0 && errno == EINTR)
      continue;
    if (count == 0)
      errno = ENODATA;
    if (count <= 0 || !write_bytes (fd, piece, (gsize) count))
      return FALSE;
    at += count;
  }
  return TRUE;
}

/* Writes everything; sets errno on failure. */
static gboolean
write_content (LigTensorFile *self, int fd, const GString *header, GPtrArray *entries)
{
  gboolean done = write_bytes (fd, header->str, header->len);
  for (guint i = 0; done && i < entries->len; i++) {
    const LigFileEntry *entry = g_ptr_array_index (entries, i);
    done = entry->tensor ? write_bytes (fd, entry->tensor->data, (gsize) entry_bytes (entry))
                         : copy_bytes (self, entry, fd);
  }
  return done;
}

/* Syncs a folder, without which a rename may be lost in a power cut. Ignores EINVAL, the error of
 * file systems that cannot sync folders, since the user cannot do anything about it. */
static gboolean
sync_folder (const char *folder)
{
  int fd = open (folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0)
    return errno == EACCES;
  gboolean synced = fsync (fd) == 0 || errno == EINVAL;
  int code = errno;
  close (fd);
  errno = code;
  return synced;
}

#define TEMPORARY ".ligature-"
#define TEMPORARY_LETTERS 6

/* Creates the temporary file and locks it while this process writes it: a process that gets the
 * lock of such a file may remove it as the leftover of a killed process. Because that may happen
 * between creating and locking, a removed file is created again. */
static int
make_temporary (char *temporary, int mode)
{
  gsize letters = strlen (temporary) - TEMPORARY_LETTERS;
  for (int i = 0; i < 100; i++) {
    struct stat info;
    memset (temporary + letters, 'X', TEMPORARY_LETTERS);
    int fd = g_mkstemp_full (temporary, O_RDWR | O_CLOEXEC, mode);
    if (fd < 0)
      return -1;
    flock (fd, LOCK_EX);
    if (fstat (fd, &info) != 0 || info.st_nlink > 0)
      return fd;
    close (fd);
  }
  errno = EBUSY;
  return -1;
}

static void
remove_leftovers (const char *folder)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;
  while (dir && (name = g_dir_read_name (dir))) {
    struct stat info;
    if (!g_str_has_prefix (name, TEMPORARY) ||
        strlen (name) != strlen (TEMPORARY) + TEMPORARY_LETTERS)
      continue;
    g_autofree char *path = g_build_filename (folder, name, NULL);
    int fd = open (path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
      continue;
    if (fstat (fd, &info) == 0 && S_ISREG (info.st_mode) && flock (fd, LOCK_EX | LOCK_NB) == 0)
      g_unlink (path);
    close (fd);
  }
}

/* Writes a temporary file in the folder of `path` and renames it; sets errno on failure. */
static gboolean
replace_file (LigTensorFile *self, const char *path, const GString *header, GPtrArray *entries)
{
  g_autofree char *folder = g_path_get_dirname (path);
  g_autofree char *temporary = g_build_filename (folder, TEMPORARY "XXXXXX", NULL);
  GStatBuf info;
  gboolean exists = g_stat (path, &info) == 0;
  if (exists && !S_ISREG (info.st_mode)) {
    errno = S_ISDIR (info.st_mode) ? EISDIR : EEXIST;
    return FALSE;
  }
  remove_leftovers (folder);
  /* Only its owner can read a checkpoint, like the store. */
  mode_t mode = lig_tensor_file_get_metadata (self, "ligature.checkpoint") ? 0600 : 0666;
  int fd = make_temporary (temporary, exists ? info.st_mode & 0777 : mode);
  if (fd < 0)
    return FALSE;
  /* The file is closed only after the rename: until then its lock keeps other processes from
   * removing it. */
  gboolean done =
    write_content (self, fd, header, entries) && fsync (fd) == 0 && g_rename (temporary, path) == 0;
  int code = errno;
  if (!done)
    g_unlink (temporary);
  gboolean closed = close (fd) == 0;
  if (!done)
    errno = code;
  return done && closed && sync_folder (folder);
}

gboolean
lig_tensor_file_write (LigTensorFile *self, int descriptor, GError **error)
{
  g_return_val_if_fail (self && descriptor >= 0, FALSE);
  g_autoptr (GPtrArray) entries = lig_tensor_file_get_entries (self);
  g_ptr_array_sort (entries, compare_places);
  g_autoptr (GString) header = build_header (self, entries, error);
  if (!header)
    return FALSE;
  if (write_content (self, descriptor, header, entries))
    return TRUE;
  g_set_error (error, LIG_ERROR, LIG_ERROR_FILE, _ ("cannot write the tensors: %s"),
               g_strerror (errno));
  return FALSE;
}

gboolean
lig_tensor_file_save (LigTensorFile *self, const char *path, GError **error)
{
  g_return_val_if_fail (path, FALSE);
  g_autoptr (GPtrArray) entries = lig_tensor_file_get_entries (self);
  g_ptr_array_sort (entries, compare_places);
  g_autoptr (GString) header = build_header (self, entries, error);
  if (!header)
    return FALSE;
  /* A link is followed: its target is replaced, not the link. */
  g_autofree char *real = realpath (path, NULL);
  if (replace_file (self, real ? real : path, header, entries))
    return TRUE;
  int code = errno;
  g_autofree char *name = g_filename_display_name (path);
  g_set_error (error, LIG_ERROR, LIG_ERROR_FILE, _ ("cannot write '%s': %s"), name,
               g_strerror (code));
  return FALSE;
}
