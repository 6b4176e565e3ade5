/* SPDX-License-Identifier: MIT */
/* The internal structure of a tensor file. */
#pragma once

#include "engine/tensor/file-types.h"
#include <ligature/tensor-file.h>

G_BEGIN_DECLS

/* The header key whose value contains texts instead of a tensor. */
#define LIG_METADATA "__metadata__"
/* The length limit for a header in bytes, the same as in the reference reader. */
#define LIG_LONGEST_HEADER 100000000

typedef struct {
  char *name;
  const LigFileType *type;
  LigShape shape;
  gint64 begin, end;   /* offsets in the body of the loaded file */
  LigTensor *tensor;   /* the added tensor; null for a loaded one */
  LigTensorFile *part; /* (nullable): the joined file that contains it */
} LigFileEntry;

struct LigTensorFile {
  char *name;     /* name in messages */
  char *path;     /* path of the loaded file, null without one */
  int fd;         /* of the loaded file, open until this is freed; -1 without one */
  gint64 size;    /* bytes of the file when it was opened */
  char *header;   /* text of the header while it is parsed, else null */
  gint64 body_at; /* offset of the body in the file */
  gint64 body_size;
  GHashTable *entries;  /* name to LigFileEntry */
  GHashTable *metadata; /* key to text */
  GPtrArray *names;     /* sorted and null-terminated; null when out of date */
};

void lig_file_entry_free (LigFileEntry *entry);

/* Returns all entries in no particular order (transfer container). */
GPtrArray *lig_tensor_file_get_entries (LigTensorFile *self);

/* Adds the tensors of a loaded file, which stays open. A name that both have is an error. */
gboolean lig_tensor_file_join (LigTensorFile *self, LigTensorFile *part, GError **error);

/* Removes the first `length` characters of all tensor names, which stay unique. */
void lig_tensor_file_strip (LigTensorFile *self, gsize length);

/* Removes the prefixes of wrapped PyTorch modules if all names have them. Returns (transfer full)
 * (nullable) the removed prefix. */
char *lig_weights_unwrap (LigTensorFile *file);

/* Returns (transfer full) the paths of the loaded files that contain the tensors, sorted. */
GPtrArray *lig_tensor_file_get_paths (LigTensorFile *self);

/* Sets the error `NAME OF THE FILE: message`. Always returns FALSE. */
gboolean
lig_tensor_file_reject (LigTensorFile *self, GError **error, LigError code, const char *format, ...)
  G_GNUC_PRINTF (4, 5);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (LigFileEntry, lig_file_entry_free)

G_END_DECLS
