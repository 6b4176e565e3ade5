/* SPDX-License-Identifier: MIT */
/* Named tensors in a safetensors file: weights, gradients, checkpoints. Files written by PyTorch's
 * safetensors are read here, and files written here are read there.
 *
 * The types F32, F16, BF16, F8_E4M3, F8_E5M2, I32, U8 and BOOL are ours; I64 is read as int32
 * where every value fits, F64 as fp32. A loaded file stays mapped: nothing is copied before a
 * tensor is asked for, so the file must not be shortened meanwhile (replacing it by a rename, as
 * lig_tensor_file_save() does, is harmless). */
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
 * @path: (type filename): a safetensors file
 *
 * Reads the header and checks every number in it against the size of the file. The tensors must
 * fill the body without gap or overlap; none may have an axis of length 0 or more than eight axes.
 *
 * Returns: (transfer full): the file, or %NULL with %LIG_ERROR_FILE (cannot be opened),
 *   %LIG_ERROR_FORMAT (damaged, or not safetensors), _DTYPE or _SHAPE (what we do not have) set
 */
LIG_API LigTensorFile *lig_tensor_file_load (const char *path,
                                             GError **error) G_GNUC_WARN_UNUSED_RESULT;

LIG_API void lig_tensor_file_free (LigTensorFile *self);

/**
 * lig_tensor_file_get_names:
 *
 * Returns: (transfer none) (array zero-terminated=1): the tensors' names, sorted by their bytes;
 *   valid until the next tensor is added
 */
LIG_API const char *const *lig_tensor_file_get_names (LigTensorFile *self);

LIG_API gboolean lig_tensor_file_has (LigTensorFile *self, const char *name);

/**
 * lig_tensor_file_get:
 * @name: of the tensor
 *
 * Returns: (transfer full): a copy of the tensor in the file, or the very tensor that was added;
 *   %NULL with %LIG_ERROR_INDEX (there is none of that name), _VALUE (an I64, F64 or BOOL that does
 *   not fit) or _MEMORY set
 */
LIG_API LigTensor *lig_tensor_file_get (LigTensorFile *self,
                                        const char *name,
                                        GError **error) G_GNUC_WARN_UNUSED_RESULT;

/**
 * lig_tensor_file_get_shape:
 * @shape: (out) (optional): its shape
 * @dtype: (out) (optional): the type in which lig_tensor_file_get() gives it
 *
 * Returns: %FALSE if there is no tensor of that name
 */
LIG_API gboolean lig_tensor_file_get_shape (LigTensorFile *self,
                                            const char *name,
                                            LigShape *shape,
                                            LigDtype *dtype);

/**
 * lig_tensor_file_add:
 * @name: its name, UTF-8; a tensor that already has it is replaced
 * @tensor: takes a reference; what it holds when the file is saved is what is written
 */
LIG_API void lig_tensor_file_add (LigTensorFile *self, const char *name, LigTensor *tensor);

/**
 * lig_tensor_file_get_metadata:
 *
 * Returns: (transfer none) (nullable): the text under @key, %NULL if there is none
 */
LIG_API const char *lig_tensor_file_get_metadata (LigTensorFile *self, const char *key);

/**
 * lig_tensor_file_set_metadata:
 * @value: (nullable): UTF-8; %NULL removes the key
 */
LIG_API void lig_tensor_file_set_metadata (LigTensorFile *self, const char *key, const char *value);

/**
 * lig_tensor_file_save:
 * @path: (type filename): where to; an existing file is replaced in one instant
 *
 * Writes everything under a temporary name in the same folder, syncs it, renames it, and syncs the
 * folder. Unless that last step fails, a failure leaves an existing file as it was and nothing new
 * behind. @self stays as it is, and may have been loaded from @path.
 *
 * Returns: %FALSE with %LIG_ERROR_FILE set, or _FORMAT where a name is not UTF-8 or `__metadata__`
 */
LIG_API gboolean lig_tensor_file_save (LigTensorFile *self, const char *path, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (LigTensorFile, lig_tensor_file_free)

G_END_DECLS
