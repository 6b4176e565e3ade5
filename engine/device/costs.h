/* SPDX-License-Identifier: MIT */
/* The costs of kernels beyond a device's peak rates: their kinds, and times between measured ones.
 */
#pragma once

#include <ligature/device.h>

#include <json-glib/json-glib.h>

G_BEGIN_DECLS

/* The smallest size in bytes at which each kind is measured, the smallest result in elements and
 * the smallest depth at which matmuls are, as powers of two, and the steps to the next. */
enum {
  LIG_COST_FIRST_SIZE = 18,
  LIG_COST_SIZE_STEP = 3,
  LIG_COST_FIRST_AREA = 14,
  LIG_COST_AREA_STEP = 3,
  LIG_COST_FIRST_DEPTH = 6,
  LIG_COST_DEPTH_STEP = 2
};

/* The bytes of a row of the probe of LIG_COST_GATHERED_SUMS. The cost is that of sorting and adding
 * up so many rows, however long they are. */
enum { LIG_COST_GATHERED_ROW = 256 };

/* The rows and heads of the probes of attention, the smallest length and the steps to the next as
 * powers of two, the smaller number of features, and the queries of which a kernel's blocks take
 * care. */
enum {
  LIG_ATTENTION_ROWS = 8192,
  LIG_ATTENTION_HEADS = 16,
  LIG_ATTENTION_FIRST_LENGTH = 8,
  LIG_ATTENTION_LENGTH_STEP = 2,
  LIG_ATTENTION_FEATURES = 64,
  LIG_ATTENTION_BLOCK = 128
};

/* The work of attention, on which its time depends. */
typedef struct {
  double flops;
  double features; /* of a head */
  double length;   /* of the rows with a causal mask of which a query sees as many keys */
  double blocks;   /* of queries, over all heads and rows */
} LigAttentionWork;

/* Returns the kernel whose times stand for a kind. */
const LigKernel *lig_cost_get_probe (LigCost cost);

/* Returns the kind of a kernel, LIG_N_COSTS for a bare matmul. `sums` says whether the kernel
 * computes a sum over rows that it may leave out. */
LigCost lig_cost_of_kernel (const LigKernel *kernel, gboolean sums);

/* Returns the seconds of a kind beyond those of copying `bytes`, or beyond the bare matmul. The
 * costs must be known. */
double lig_cost_of_bytes (const LigDeviceCosts *self, LigCost cost, double bytes);

/* Returns the seconds of a bare matmul of that many result elements, each a sum of `depth`
 * products. The costs and the rate of the type must be known. */
double lig_cost_of_matmul (const LigDeviceFacts *facts, LigDtype dtype, double area, double depth);

/* Returns the seconds of an addition to a matmul of 16 bits whose bias is fp32, beyond the bare
 * matmul; as of lig_cost_of_bytes() for other kinds, and where they are unknown. The costs must be
 * known. */
double lig_cost_of_mixed (const LigDeviceCosts *self, LigCost cost, double bytes);

/* Returns the seconds of attention of 16 bits; 0 if its costs are unknown. */
double lig_cost_of_attention (const LigDeviceFacts *facts,
                              LigAttentionCost cost,
                              const LigAttentionWork *work);

/* Returns the operations of measured matmul `index`. */
double lig_cost_matmul_flops (int index);

/* The rates of a device on which its costs depend. */
typedef struct {
  double copy;   /* bytes a second */
  double launch; /* seconds */
  double fp32;   /* operations a second */
  double bf16;
} LigCostRates;

/* Scales the costs of a device that were measured at other rates. */
void lig_costs_scale (LigDeviceFacts *facts, const LigCostRates *from);

/* Returns a sentence about the rates that differ from those of the costs, or null (transfer full).
 */
char *lig_costs_compare (const LigDeviceFacts *facts, const LigCostRates *from);

/* Returns a sentence about costs that contradict the rates of the device, or null (transfer full).
 */
char *lig_costs_check (const LigDeviceFacts *facts);

/* Returns a member of a description, also by the name that it had in earlier versions; null if
 * there is none, or no object. */
JsonNode *lig_costs_find_member (JsonObject *object, const char *name);

/* Reads the member `costs` of a device description whose rates are in `facts`; without it the costs
 * are unknown. Those that were measured at other rates are scaled, and those that contradict the
 * rates dropped. @remark: (out) (nullable): the sentence that says so */
gboolean
lig_costs_read (JsonObject *description, LigDeviceFacts *facts, char **remark, GError **error);

/* Adds the member `costs` to a device description. */
void lig_costs_write (JsonBuilder *builder, const LigDeviceFacts *facts);

/* Return the name of a kind in device descriptions, `built-in-forward` or `norm-gradient`. */
const char *lig_attention_cost_name (LigAttentionCost cost);
const char *lig_cost_name (LigCost cost);

G_END_DECLS
