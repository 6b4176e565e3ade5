/* SPDX-License-Identifier: MIT */
/* The costs of kernels beyond a device's peak rates: their kinds, and interpolation between
 * measured times. */
#pragma once

#include <ligature/device.h>

#include <json-glib/json-glib.h>

G_BEGIN_DECLS

/* The smallest size in bytes at which each kind is measured, the smallest result in elements and
 * the smallest depth for matmuls, as powers of two, and the steps to the next. */
enum {
  LIG_COST_FIRST_SIZE = 18,
  LIG_COST_SIZE_STEP = 3,
  LIG_COST_FIRST_AREA = 14,
  LIG_COST_AREA_STEP = 3,
  LIG_COST_FIRST_DEPTH = 6,
  LIG_COST_DEPTH_STEP = 2
};

/* The bytes per row in the probe of LIG_COST_GATHERED_SUMS. The cost is that of sorting and summing
 * a number of rows, independent of their length. */
enum { LIG_COST_GATHERED_ROW = 256 };

/* The tokens and heads of the attention probes, the smallest sequence length and the steps to the
 * next as powers of two, the smaller head dim, and the queries per thread block. */
enum {
  LIG_ATTENTION_ROWS = 8192,
  LIG_ATTENTION_HEADS = 16,
  LIG_ATTENTION_FIRST_LENGTH = 8,
  LIG_ATTENTION_LENGTH_STEP = 2,
  LIG_ATTENTION_FEATURES = 64,
  LIG_ATTENTION_BLOCK = 128
};

/* The work of attention, which determines its time. */
typedef struct {
  double flops;
  double features; /* the head dim */
  double length;   /* the sequence length at which, with a causal mask, a query sees as many keys */
  double blocks;   /* thread blocks of queries, over all heads and sequences */
} LigAttentionWork;

/* Returns the kernel that is measured for a kind. */
const LigKernel *lig_cost_get_probe (LigCost cost);

/* Returns the kind of a kernel, LIG_N_COSTS for a bare matmul. `sums`: whether the kernel computes
 * an optional sum over rows. */
LigCost lig_cost_of_kernel (const LigKernel *kernel, gboolean sums);

/* Returns the seconds of a kind on top of those of copying `bytes`, or of the bare matmul. The
 * costs must be known. */
double lig_cost_of_bytes (const LigDeviceCosts *self, LigCost cost, double bytes);

/* Returns the seconds of a bare matmul with this many result elements, each a sum of `depth`
 * products. The costs and the rate of the type must be known. */
double lig_cost_of_matmul (const LigDeviceFacts *facts, LigDtype dtype, double area, double depth);

/* Returns the seconds of a 16-bit matmul's epilogue with an fp32 bias, on top of the bare matmul;
 * those of lig_cost_of_bytes() for other kinds, and if they are unknown. The costs must be
 * known. */
double lig_cost_of_mixed (const LigDeviceCosts *self, LigCost cost, double bytes);

/* Returns the seconds of 16-bit attention; 0 if its costs are unknown. */
double lig_cost_of_attention (const LigDeviceFacts *facts,
                              LigAttentionCost cost,
                              const LigAttentionWork *work);

/* Returns the operations of measured matmul `index`. */
double lig_cost_matmul_flops (int index);

/* The rates of a device that determine its costs. */
typedef struct {
  double copy;   /* bytes per second */
  double launch; /* seconds */
  double fp32;   /* operations per second */
  double bf16;
} LigCostRates;

/* Scales the costs of a device from the rates at which they were measured. */
void lig_costs_scale (LigDeviceFacts *facts, const LigCostRates *from);

/* Returns a sentence about the rates that differ from those of the costs, or null (transfer full).
 */
char *lig_costs_compare (const LigDeviceFacts *facts, const LigCostRates *from);

/* Returns a sentence about costs that contradict the rates of the device, or null (transfer full).
 */
char *lig_costs_check (const LigDeviceFacts *facts);

/* Returns a member of a description, also by its former name; null if there is none, or no
 * object. */
JsonNode *lig_costs_find_member (JsonObject *object, const char *name);

/* Reads the member `costs` of a device description, after the rates in `facts`; without it the
 * costs are unknown. Scales costs that were measured at other rates, and drops those that
 * contradict the rates. @remark: (out) (nullable): the sentence that reports that */
gboolean
lig_costs_read (JsonObject *description, LigDeviceFacts *facts, char **remark, GError **error);

/* Adds the member `costs` to a device description. */
void lig_costs_write (JsonBuilder *builder, const LigDeviceFacts *facts);

/* Returns the name of a kind in device descriptions, such as `built-in-forward` or
 * `norm-gradient`. */
const char *lig_attention_cost_name (LigAttentionCost cost);
const char *lig_cost_name (LigCost cost);

G_END_DECLS
