/* SPDX-License-Identifier: MIT */
/* Layouts: how the ranks of a training divide its work. Ranks of a data group have other rows of
 * the batch, those of a context group other positions of the same rows (context parallel, Liu and
 * others, “Ring attention”, 2023), those of a tensor group other parts of the parameters (Shoeybi
 * and others, “Megatron-LM”, 2019). With sizes D, C and T there are D C T ranks; rank
 * (d C + c) T + t is number d, c and t of its groups, so that the ranks of a tensor group, which
 * exchange most, are neighbours. */
#pragma once

#include <ligature/error.h>
#include <ligature/groups.h>

G_BEGIN_DECLS

/**
 * LigLayout:
 * @sizes: the number of ranks in a group, by #LigRankGroup up to %LIG_GROUP_TENSOR
 */
typedef struct {
  int sizes[LIG_SHARDING_GROUPS];
} LigLayout;

/**
 * lig_layout_init:
 * @self: (out caller-allocates): the layout
 * @count: the number of ranks
 *
 * Makes all ranks one group of data.
 */
LIG_API void lig_layout_init (LigLayout *self, int count);

/**
 * lig_layout_parse:
 * @self: (out caller-allocates): the layout
 * @text: (nullable): sizes by the names of groups, `data=2,tensor=2`; data left out takes all ranks
 *   that the others leave, other groups left out have one rank
 * @count: the number of ranks
 *
 * Returns: %FALSE with %LIG_ERROR_VALUE set: a sentence with the faulty word, or with the matmul
 *   of the sizes and the number of ranks
 */
LIG_API gboolean lig_layout_parse (LigLayout *self, const char *text, int count, GError **error);

/**
 * lig_layout_to_string:
 * @self: a layout
 *
 * Returns: (transfer full): the groups of several ranks as lig_layout_parse() reads them; `data=1`
 *   if there are none
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
 * lig_rank_group_name:
 * @group: a group
 *
 * Returns: (transfer none): `data`, `context`, `tensor`, `all` or `replicas`
 */
LIG_API const char *lig_rank_group_name (LigRankGroup group);

/* The part of a value that a rank of a tensor group has. Shapes are those of the part. */
typedef enum {
  LIG_SHARDING_NONE,    /* the whole value, as all ranks of the group */
  LIG_SHARDING_ROWS,    /* an equal part of the first axis */
  LIG_SHARDING_COLUMNS, /* an equal part of each section of the last axis */
  LIG_SHARDING_PARTIAL, /* a term: the value is the sum of those of all ranks */
  LIG_SHARDING_SHARED,  /* the whole value, whose gradient is the sum of those of all ranks */
} LigShardingKind;

#define LIG_MAX_SECTIONS 3

/* The sections of an axis, each of which is divided evenly: queries, keys and values. */
typedef struct {
  int count;
  gint64 lengths[LIG_MAX_SECTIONS]; /* of all ranks together */
} LigSections;

typedef struct {
  LigShardingKind kind;
  LigSections sections; /* of the last axis, of a value divided by columns */
} LigSharding;

/* The axis by which a trained parameter is divided, -1: it is whole, and the axis' sections. */
typedef struct {
  int axis;
  LigSections sections;
} LigParameterSharding;

G_END_DECLS
