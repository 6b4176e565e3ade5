/* SPDX-License-Identifier: MIT */
/* The costs of kernels beyond a device's ceilings: their kinds, and times between measured ones. */
#pragma once

#include <ligature/device.h>

#include <json-glib/json-glib.h>

G_BEGIN_DECLS

/* The smallest size in bytes at which each kind is measured, the smallest result in elements and
 * the smallest depth at which products are, as powers of two, and the steps to the next. */
enum {
  LIG_COST_FIRST_SIZE = 18,
  LIG_COST_SIZE_STEP = 3,
  LIG_COST_FIRST_AREA = 14,
  LIG_COST_AREA_STEP = 3,
  LIG_COST_FIRST_DEPTH = 6,
  LIG_COST_DEPTH_STEP = 2
};

/* Returns the kernel whose times stand for a kind. */
const LigKernel *lig_cost_get_probe (LigCost cost);

/* Returns the kind of a kernel, LIG_N_COSTS for a bare product. `sums` says whether the kernel
 * computes a sum over rows that it may leave out. */
LigCost lig_cost_of_kernel (const LigKernel *kernel, gboolean sums);

/* Returns the seconds of a kind beyond those of copying `bytes`, or beyond the bare product. The
 * costs must be known. */
double lig_cost_of_bytes (const LigDeviceCosts *self, LigCost cost, double bytes);

/* Returns the seconds of a bare product of that many result elements, each a sum of `depth`
 * products. The costs and the rate of the type must be known. */
double lig_cost_of_product (const LigDeviceFacts *facts, LigDtype dtype, double area, double depth);

/* Reads the member `costs` of a device description; without it the costs are unknown. */
gboolean lig_costs_read (JsonObject *description, LigDeviceCosts *costs, GError **error);

/* Adds the member `costs` to a device description. */
void lig_costs_write (JsonBuilder *builder, const LigDeviceCosts *costs);

G_END_DECLS
