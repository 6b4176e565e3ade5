/* SPDX-License-Identifier: MIT */
/* Parallelism: how the ranks of a training run divide the work. The ranks of a data group have
 * different rows of the batch (data parallel), those of a context group different tokens of the
 * same rows (context parallel, Liu and others, “Ring attention”, 2023), those of a tensor group
 * different shards of the parameters (tensor parallel, Shoeybi and others, “Megatron-LM”, 2019).
 * With sizes D, C and T there are D C T ranks; rank (d C + c) T + t has rank d, c and t in its
 * groups, so that the ranks of a tensor group, which communicate most, are neighbours.
 *
 * Expert parallelism (Lepikhin and others, “GShard”, 2020) divides the experts of mixtures over
 * ranks of a data group, which have other rows: of its ranks d, E neighbours have an equal part of
 * the experts each, and d mod E is the rank in this group. */
#pragma once

#include <ligature/error.h>
#include <ligature/groups.h>

G_BEGIN_DECLS

/**
 * LigLayout:
 * @sizes: the number of ranks in a group, by #LigRankGroup up to %LIG_GROUP_TENSOR
 * @expert: the number of ranks that share the experts, which divides that of the data group; 0: 1
 */
typedef struct {
  int sizes[LIG_SHARDING_GROUPS];
  int expert;
} LigLayout;

/**
 * lig_layout_init:
 * @self: (out caller-allocates): the layout
 * @count: the number of ranks
 *
 * Makes all ranks one data group.
 */
LIG_API void lig_layout_init (LigLayout *self, int count);

/**
 * lig_layout_parse:
 * @self: (out caller-allocates): the layout
 * @text: (nullable): sizes by the names of groups, `data=2,tensor=2`; if data is omitted, it takes
 *   all remaining ranks; other omitted groups have one rank; `expert` is a part of data
 * @count: the number of ranks
 *
 * Returns: %FALSE with %LIG_ERROR_VALUE set: a sentence with the invalid word, or with the product
 *   of the sizes and the number of ranks
 */
LIG_API gboolean lig_layout_parse (LigLayout *self, const char *text, int count, GError **error);

/**
 * lig_layout_to_string:
 * @self: a layout
 *
 * Returns: (transfer full): the groups with several ranks as lig_layout_parse() reads them;
 *   `data=1` if there are none
 */
LIG_API char *lig_layout_to_string (const LigLayout *self);

/**
 * lig_layout_size:
 * @self: a layout
 * @group: a group
 *
 * Returns: the number of ranks in the group
 */
LIG_API int lig_layout_size (const LigLayout *self, LigRankGroup group);

/**
 * lig_layout_is_default:
 * @self: a layout
 *
 * Returns: whether it is the one that lig_layout_parse() reads from no text: all ranks are one data
 *   group, and each has all experts
 */
LIG_API gboolean lig_layout_is_default (const LigLayout *self);

/**
 * lig_rank_group_name:
 * @group: a group
 *
 * Returns: (transfer none): `data`, `context`, `tensor`, `all`, `replicas`, `expert` or
 *   `expert-replicas`
 */
LIG_API const char *lig_rank_group_name (LigRankGroup group);

/* The shard of a value that a rank of a tensor group has. Shapes are those of the shard. */
typedef enum {
  LIG_SHARDING_NONE,    /* replicated: the whole value */
  LIG_SHARDING_ROWS,    /* an equal shard of the first axis */
  LIG_SHARDING_COLUMNS, /* an equal shard of each section of the last axis */
  LIG_SHARDING_PARTIAL, /* a partial sum: the value is the sum over all ranks */
  LIG_SHARDING_SHARED,  /* replicated, but the gradient is a partial sum */
  LIG_SHARDING_EXPERTS, /* rows of all ranks of an expert group, for the experts of this rank */
} LigShardingKind;

#define LIG_MAX_SECTIONS 3

/* The sections of an axis, each of which is sharded evenly: queries, keys and values. */
typedef struct {
  int count;
  gint64 lengths[LIG_MAX_SECTIONS]; /* total lengths over all ranks */
} LigSections;

typedef struct {
  LigShardingKind kind;
  LigSections
    sections; /* of the last axis of a value that is sharded by columns; with
                 LIG_SHARDING_EXPERTS the number of rows that arrive if the load is even */
} LigSharding;

/* The axis by which a trained parameter is sharded, or -1 if it is not, the sections of that axis,
 * and the ranks over which it is sharded: LIG_GROUP_EXPERT; any other group stands for
 * LIG_GROUP_TENSOR. */
typedef struct {
  int axis;
  LigSections sections;
  LigRankGroup group;
} LigParameterSharding;

G_END_DECLS
