/* SPDX-License-Identifier: MIT */
/* Named tensors in a safetensors file: weights, gradients, checkpoints. Files are interchangeable
 * with those of the Python package safetensors.
 *
 * The types F32, F16, BF16, F8_E4M3, F8_E5M2, I32, U8 and BOOL each have an element type; I64 is
 * read as int32 if every value fits, F64 as fp32. A loaded file stays mapped into memory and
 * tensors are copied when they are read, so the file must not be truncated while the #LigTensorFile
 * exists (replacing it by a rename, as lig_tensor_file_save() does, is harmless).
 *
 * Threads: one thread at a time may use a #LigTensorFile. */
#pragma once

#include <ligature/tensor.h>

G_BEGIN_DECLS

typedef struct LigTensorFile LigTensorFile;

#define LIG_TYPE_TENSOR_FILE (lig_tensor_file_get_type ())
LIG_API GType lig_tensor_file_get_type (void);

/**
 * lig_tensor_file_new:
 *
 * Returns: (transfer full): a file without tensors, to be filled and saved
 */
LIG_API LigTensorFile *lig_tensor_file_new (void) G_GNUC_WARN_UNUSED_RESULT;

/**
 * lig_tensor_file_load:
 * @path: (type filename): the path of a safetensors file
 *
 * Opens a file, reads its header and checks every number in it against the size of the file. The
 * tensors must fill the body without gaps or overlaps; none may have an axis of length 0 or more
 * than eight axes.
 *
 * Returns: (transfer full): the file, or %NULL with %LIG_ERROR_FILE (cannot be opened),
 *   %LIG_ERROR_FORMAT (damaged, or not safetensors), %LIG_ERROR_DTYPE or %LIG_ERROR_SHAPE (an
 *   unsupported type or shape) set
 */
LIG_API LigTensorFile *lig_tensor_file_load (const char *path,
                                             GError **error) G_GNUC_WARN_UNUSED_RESULT;

/**
 * lig_tensor_file_free:
 * @self: a file of tensors
 *
 * Releases the caller's reference; the last one frees the memory.
 */
LIG_API void lig_tensor_file_free (LigTensorFile *self);

/**
 * lig_tensor_file_get_names:
 * @self: a file of tensors
 *
 * Returns: (transfer none) (array zero-terminated=1): the tensors' names, sorted by their bytes;
 *   valid until the next tensor is added
 */
LIG_API const char *const *lig_tensor_file_get_names (LigTensorFile *self);

/**
 * lig_tensor_file_has:
 * @self: a file of tensors
 * @name: the name of a tensor
 *
 * Returns: whether the file has a tensor of that name
 */
LIG_API gboolean lig_tensor_file_has (LigTensorFile *self, const char *name);

/**
 * lig_tensor_file_get:
 * @self: a file of tensors
 * @name: the name of the tensor
 *
 * Returns: (transfer full): a copy of the tensor in the file, or a reference to the tensor that was
 *   added; %NULL with %LIG_ERROR_INDEX (no tensor has that name), %LIG_ERROR_VALUE (an I64, F64 or
 *   BOOL that does not fit) or %LIG_ERROR_MEMORY set
 */
LIG_API LigTensor *lig_tensor_file_get (LigTensorFile *self,
                                        const char *name,
                                        GError **error) G_GNUC_WARN_UNUSED_RESULT;

/**
 * lig_tensor_file_get_shape:
 * @self: a file of tensors
 * @name: the name of a tensor
 * @shape: (out) (optional): its shape
 * @dtype: (out) (optional): the type of the tensor that lig_tensor_file_get() returns
 *
 * Returns: %FALSE if no tensor has that name
 */
LIG_API gboolean lig_tensor_file_get_shape (LigTensorFile *self,
                                            const char *name,
                                            LigShape *shape,
                                            LigDtype *dtype);

/**
 * lig_tensor_file_add:
 * @self: a file of tensors
 * @name: the tensor's name, UTF-8; a tensor that already has it is replaced
 * @tensor: the tensor, which is referenced; its elements are read when the file is saved
 *
 * Adds a tensor.
 */
LIG_API void lig_tensor_file_add (LigTensorFile *self, const char *name, LigTensor *tensor);

/**
 * lig_tensor_file_get_metadata:
 * @self: a file of tensors
 * @key: the key of the text
 *
 * Returns: (transfer none) (nullable): the text under @key, or %NULL if there is none
 */
LIG_API const char *lig_tensor_file_get_metadata (LigTensorFile *self, const char *key);

/**
 * lig_tensor_file_set_metadata:
 * @self: a file of tensors
 * @key: the key of the text
 * @value: (nullable): the text, UTF-8; %NULL removes the key
 *
 * Sets a text of the file's metadata.
 */
LIG_API void lig_tensor_file_set_metadata (LigTensorFile *self, const char *key, const char *value);

/**
 * lig_tensor_file_save:
 * @self: a file of tensors
 * @path: (type filename): the path to write to; an existing file is replaced atomically
 *
 * Writes the file under a temporary name in the same folder, syncs it, renames it, and syncs the
 * folder. Unless that last step fails, a failure leaves an existing file unchanged and no temporary
 * file. @self does not change, and may have been loaded from @path.
 *
 * Returns: %FALSE with %LIG_ERROR_FILE set, or %LIG_ERROR_FORMAT if a name is not UTF-8 or is
 *   `__metadata__`
 */
LIG_API gboolean lig_tensor_file_save (LigTensorFile *self, const char *path, GError **error);

/**
 * lig_tensor_file_write:
 * @self: a file of tensors
 * @descriptor: an open file descriptor, such as that of a pipe
 *
 * Writes the file to the descriptor and neither syncs nor closes it.
 *
 * Returns: %FALSE with %LIG_ERROR_FILE set, or %LIG_ERROR_FORMAT if a name is not UTF-8 or is
 *   `__metadata__`
 */
LIG_API gboolean lig_tensor_file_write (LigTensorFile *self, int descriptor, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (LigTensorFile, lig_tensor_file_free)

G_END_DECLS
