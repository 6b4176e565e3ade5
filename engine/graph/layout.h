/* SPDX-License-Identifier: MIT */
/* The layout of a state. */
#pragma once

#include <ligature/op.h>
#include <ligature/recipe.h>

/* Elements of the state's arrays. */
typedef struct {
  gint64 first, end;
} LigElements;

/* A parameter, in op order. */
typedef struct {
  char *path;
  gboolean trained;      /* by the optimizer */
  gboolean own_update;   /* the op's lower_update changes it, unless it is frozen */
  LigDtype dtype;        /* that of the array of parameters; fp32 if the op can change it */
  gboolean shared;       /* other ops are tied to it */
  gboolean summed;       /* its gradient is summed over the tensor-parallel group */
  LigShape shape, whole; /* of this rank's part, and of all ranks' */
  LigParameterSharding sharding;
  LigInit init;
  float std;
  gboolean decays;
  gint64 offset; /* offset in elements into each array of the state except that of parameters */
  gint64 stored; /* offset into that of parameters, in elements of the array's type; -1: only its
                    fp32 master is kept */
} LigParameter;

/* Parameters by the communication that their gradients need in a tensor-parallel group, in the
 * order in which those with weight decay are placed. */
typedef enum {
  LIG_PARAMETER_EQUAL,   /* nothing: all ranks compute the same */
  LIG_PARAMETER_SUMMED,  /* an all-reduce */
  LIG_PARAMETER_SHARDED, /* nothing: each rank has a part of the parameter */
  LIG_PARAMETER_EXPERT,  /* none of a tensor group: each rank of an expert group has a part */
  LIG_N_PARAMETER_KINDS
} LigParameterKind;

#define lig_parameter_kind(parameter) \
  ((parameter)->sharding.axis >= 0 && (parameter)->sharding.group == LIG_GROUP_EXPERT \
     ? LIG_PARAMETER_EXPERT \
   : (parameter)->sharding.axis >= 0 ? LIG_PARAMETER_SHARDED \
   : (parameter)->summed             ? LIG_PARAMETER_SUMMED \
                                     : LIG_PARAMETER_EQUAL)

/* A range of parameters whose update is sharded over the ranks that have them, and this rank's
 * part. */
typedef struct {
  LigElements all, own;
  LigRankGroup group;
  gint64 kept; /* offset of the part in the optimizer state, which has only this rank's parts */
} LigShare;

/* The entry of a quantizer in the state: {scale, amax, history}, `length` numbers in all. */
typedef struct {
  char *path; /* of the matmul, `1.qkv` */
  LigMatmulRole role;
  LigRecipe recipe;
  gint64 length, offset;
} LigHistory;

/* The arrays of a state: the parameters, their offsets, and this rank's parts of them. It depends
 * on the sequence, the types, the recipe, frozen ops and the ranks, never on the fusions. */
typedef struct {
  LigDtype dtype;           /* of parameters */
  GArray *parameters;       /* of LigParameter, in the order of ops */
  gint64 decayed, elements; /* trained elements of each array; first those with weight decay */
  gint64 all_elements;      /* including the others, which come last */
  /* The trained parameters of each kind: without weight decay, with it. */
  LigElements ranges[LIG_N_PARAMETER_KINDS][2];
  gint64 stored_elements;  /* of the array of parameters */
  gint64 kept_elements;    /* of the optimizer state on this rank */
  GArray *shares;          /* of LigShare; empty: each rank updates all parameters */
  GArray *histories;       /* of LigHistory, all of one recipe in a row */
  gint64 history_elements; /* of all histories */
} LigStateLayout;

LigStateLayout *lig_state_layout_new (LigDtype dtype);
void lig_state_layout_free (LigStateLayout *self);

/* Returns the number of elements of an array of the state, a LigStateArray, on this rank. */
gint64 lig_state_layout_elements (const LigStateLayout *self, int array);
