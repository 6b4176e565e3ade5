/* SPDX-License-Identifier: MIT */
/* Parameters and parts that the layer macros share. A macro passes its parameters to its parts by
 * name, so that no value is written twice. */
#pragma once

#include "engine/ops/define.h"

typedef struct {
  int32_t normalization;
  float eps;
  bool zero_centered;
} LigMacroNorm;

#define LIG_MACRO_NORM_PARAMS(type, field) \
  LIG_CHOICE (type, field.normalization, "normalization", N_ ("Normalization"), \
              N_ ("Op that normalizes the rows"), "layer-norm|rms-norm", 0), \
    LIG_FLOAT (type, field.eps, "eps", N_ ("Epsilon"), \
               N_ ("Added to the variance before the square root"), 0, 1, 1e-5), \
    LIG_BOOLEAN (type, field.zero_centered, "zero-centered-gamma", N_ ("Zero-centered gamma"), \
                 N_ ("The gain is 1 + weight, and weight is initialized to 0"), FALSE)

/* The norm's value as extra output 0, whose port is LIG_MACRO_NORM_PORT. */
#define LIG_MACRO_NORM_PORT "norm_output?"
#define LIG_MACRO_NORM_OUTPUT \
  { \
    LIG_PARAM_OUTPUT, "norm-output", N_ ("Output of the norm"), \
      N_ ("Name of a branch with the normalized value; caller: it is returned to the caller"), 0, \
      0, 0, 0, 0, NULL \
  }

typedef struct {
  gint64 features;
  int32_t activation;
  float limit, alpha, offset;
} LigMacroMlp;

/* The index of swiglu below. */
#define LIG_MACRO_SWIGLU 11
#define LIG_MACRO_ACTIVATIONS \
  "gelu|gelu-erf|qgelu|relu|srelu|silu|glu|geglu|qgeglu|reglu|sreglu|swiglu|clamped-swiglu|" \
  "situ-glu"

/* `flags` of ffn-features. */
#define LIG_MACRO_MLP_PARAMS(type, field, flags) \
  LIG_INT ( \
    type, field.features, "ffn-features", N_ ("FFN size"), \
    N_ ("FFN size: features of the activation's output; omitted or 0: four times the input's"), 1, \
    LIG_MAX_FEATURES / 2, 0, LIG_PARAM_INFERRED | (flags)), \
    LIG_CHOICE (type, field.activation, "activation", N_ ("Activation"), \
                N_ ("Activation or gated unit; a gated unit doubles the first matmul's output"), \
                LIG_MACRO_ACTIVATIONS, 0), \
    LIG_FLOAT (type, field.limit, "activation-limit", N_ ("Activation's limit"), \
               N_ ("Bound of clamped-swiglu"), 1e-6, 1e6, 7), \
    LIG_FLOAT (type, field.alpha, "activation-alpha", N_ ("Activation's alpha"), \
               N_ ("Slope inside the sigmoid of clamped-swiglu"), -1e3, 1e3, 1.702), \
    LIG_FLOAT (type, field.offset, "glu-linear-offset", N_ ("Activation's offset"), \
               N_ ("Added by clamped-swiglu to the linear half after its clamp"), -1e6, 1e6, 1)

typedef struct {
  float first, last;
} LigMacroStds;

#define LIG_MACRO_STDS(type, field) \
  LIG_FLOAT (type, field.first, "init-std", N_ ("Initial std"), \
             N_ ("Standard deviation of the initial weights"), 0, 1000, 0.023), \
    LIG_FLOAT (type, field.last, "output-init-std", N_ ("Initial std of outputs"), \
               N_ ("Standard deviation of the initial weights of each branch's last matmul"), 0, \
               1000, 0.023)

#define LIG_MACRO_BIAS(type, field) \
  LIG_BOOLEAN (type, field, "bias", N_ ("Bias"), N_ ("Adds a bias to the matmuls"), TRUE)

/* How tensor parallelism shards a macro's matmuls. */
typedef enum { LIG_MACRO_WHOLE, LIG_MACRO_TENSOR, LIG_MACRO_SEQUENCE } LigMacroParallel;

#define LIG_MACRO_PARALLEL(type, field) \
  LIG_CHOICE ( \
    type, field, "parallel", N_ ("Parallel"), \
    N_ ("How tensor parallelism shards the layer: none, by heads and FFN size (tensor), or " \
        "also by the rows in between (sequence)"), \
    "none|tensor|sequence", LIG_MACRO_TENSOR)

/* Groups of the parameters above; `more` are the macro's own names, each after a space. */
#define LIG_MACRO_PERCEPTRON(more) \
  { \
    N_ ("MLP"), more "activation activation-limit activation-alpha glu-linear-offset" \
  }
#define LIG_MACRO_NORMS(more) \
  { \
    N_ ("Norms"), "normalization eps zero-centered-gamma" more \
  }
#define LIG_MACRO_MATMULS \
  { \
    N_ ("Matmuls"), "bias init-std output-init-std parallel" \
  }
#define LIG_MACRO_BACKWARD \
  { \
    N_ ("Backward pass"), "recompute" \
  }

/* The number of output features of a matmul: a number, or if that is 0, multiple / divisor times
 * the features of the macro's input. */
typedef struct {
  gint64 length, multiple, divisor;
} LigMacroLength;

/* Returns a new op with parameters of a macro: `names` lists the names that both have, and pairs
 * `rotary-base=base` of the macro's and the part's name. */
LigOp *lig_macro_op (LigOp *macro, const char *op, const char *names);

/* Returns a boolean parameter. */
gboolean lig_macro_is (LigOp *macro, const char *param);

/* Returns the text of a parameter that is a choice or a channel; null for no channel. */
char *lig_macro_text (LigOp *macro, const char *param);

/* Adds the macro's choice of norm. */
void lig_macro_add_norm (LigParts *parts, LigOp *macro, const char *name);

/* Adds a branch with the value so far, if the macro's parameter `norm-output` names its reader. */
void lig_macro_add_norm_output (LigParts *parts, LigOp *macro);

/* Adds a matmul, with a bias if `bias`. If the macro's parameter `parallel` says so, the first
 * matmul of a branch is column-parallel, in `sections`, and the last one row-parallel. */
void lig_macro_add_first (LigParts *parts,
                          LigOp *macro,
                          const char *name,
                          gboolean bias,
                          LigMacroLength length,
                          const LigShape *sections);
void lig_macro_add_last (LigParts *parts, LigOp *macro, const char *name, gboolean bias);

/* Adds both matmuls of the macro's MLP and the ops between them. */
void lig_macro_add_mlp (LigParts *parts, LigOp *macro, gint64 features);

/* Adds the start of a branch, its end, and the return to an earlier value. */
void lig_macro_add_branch (LigParts *parts, const char *channel);
void lig_macro_add_join (LigParts *parts, const char *channel);
void lig_macro_add_load_branch (LigParts *parts, const char *channel);
