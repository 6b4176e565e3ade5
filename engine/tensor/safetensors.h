/* SPDX-License-Identifier: MIT */
/* What a tensor file is inside, and reading its header. */
#pragma once

#include <ligature/tensor-file.h>

G_BEGIN_DECLS

/* The key of the header that holds texts instead of a tensor. */
#define LIG_METADATA "__metadata__"
/* The reference reader refuses longer headers as well. */
#define LIG_LONGEST_HEADER 100000000

typedef struct {
  const char *name; /* as the header spells it */
  gsize size;       /* bytes of an element in the file */
  LigDtype dtype;   /* as what it is read */
} LigFileType;

typedef struct {
  char *name;
  const LigFileType *type;
  LigShape shape;
  gint64 begin, end; /* in the body of the loaded file */
  LigTensor *tensor; /* what was added; null for what was loaded */
} LigFileEntry;

struct LigTensorFile {
  char *name;     /* for messages */
  char *path;     /* of the loaded file, open as long as this is there; else null */
  int fd;         /* -1 without one */
  gint64 size;    /* of the file when it was opened */
  char *header;   /* its text, while it is read */
  gint64 body_at; /* where the bytes after the header begin */
  gint64 body_size;
  GHashTable *entries;  /* name to LigFileEntry */
  GHashTable *metadata; /* key to text */
  GPtrArray *names;     /* sorted and null-terminated; null when out of date */
};

void lig_file_entry_free (LigFileEntry *entry);

/* All entries in no order (transfer container). */
GPtrArray *lig_tensor_file_get_entries (LigTensorFile *self);

/* The type in which a dtype is written, or that a header names; null where there is none. */
const LigFileType *lig_file_type_of (LigDtype dtype);
const LigFileType *lig_file_type_find (const char *name);

/* Fills entries and metadata from the open file. */
gboolean lig_safetensors_read (LigTensorFile *self, GError **error);

/* Sets `NAME OF THE FILE: message`; always false. */
gboolean
lig_tensor_file_refuse (LigTensorFile *self, GError **error, LigError code, const char *format, ...)
  G_GNUC_PRINTF (4, 5);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (LigFileEntry, lig_file_entry_free)

G_END_DECLS
