/* SPDX-License-Identifier: MIT */
/* Shards: token files with random access. Small data sets are read when they are opened; for larger
 * ones only the headers, and tokens are read on demand. */
#pragma once

#include "engine/data/kind.h"

G_BEGIN_DECLS

/* Larger data sets, in bytes, are read on demand. */
#define LIG_SHARDS_AT_ONCE ((gsize) 256 << 20)

typedef struct {
  char *path, *name; /* name: the path for messages */
  gsize width;       /* bytes of a token: 2, 4 or 8 */
  gboolean plain;    /* has no header, only tokens */
  gboolean guessed;  /* the width was derived from the contents of a plain file */
  gsize begin, size; /* the offset of the first token, and the size of the file, in bytes */
  gint64 count;      /* tokens */
  GBytes *content;   /* (nullable): the whole file */
} LigShard;

typedef struct {
  GPtrArray *all; /* of LigShard */
  gsize at_once;  /* LIG_SHARDS_AT_ONCE */
  gsize bytes;    /* of all files */
  guint64 content;
  gint64 largest; /* the largest token of all data; -1 if the data were not read */
  guint largest_shard;
  gint64 largest_at;
  GHashTable *open; /* shard number -> descriptor */
} LigShards;

/* Returns the name of the type of that width. */
const char *lig_shards_type (gsize width);

LigShards *lig_shards_new (void);
void lig_shards_free (LigShards *self);

/* Adds the files of a path, folder or pattern, except those that `without` names (null: all).
 * `type` is uint16, uint32, int64 or null: the header's type or, for plain files, a guess from the
 * contents. Errors name the file and the offset. */
gboolean lig_shards_add (
  LigShards *self, const char *path, const char *without, const char *type, GError **error);

/* Reads tokens from `at`, which must be within the shard. A token of `limit` or more is an error
 * that names its file and offset. Allocates nothing once the file is open. */
gboolean lig_shards_read (
  LigShards *self, guint shard, gint64 at, gint64 count, gint64 limit, gint32 *to, GError **error);

/* Returns the location of a token for messages, `FILE, offset 12 (byte 1048)` (transfer full). */
char *lig_shards_place (LigShards *self, guint shard, gint64 at);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (LigShards, lig_shards_free)

G_END_DECLS
