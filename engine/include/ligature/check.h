/* SPDX-License-Identifier: MIT */
/* Gradient checks for authors of ops, kernels and fusions: backward passes compared with central
 * differences of forward passes. */
#pragma once

#include <ligature/program.h>

G_BEGIN_DECLS

/**
 * LigGradientCheck:
 * @name: the tensor's name: `input`, `extra input 0`, or the path of a parameter, `1.weight`
 * @distance: the relative distance of its gradient g from the differences d, ||g - d|| / ||d||
 * @element: the row-major index of the element that differs most
 * @gradient: the gradient that the backward pass computes for that element
 * @difference: the central difference for that element
 *
 * The tensor whose gradient differs most from the central differences.
 */
typedef struct {
  char *name;
  double distance;
  gint64 element;
  double gradient, difference;
} LigGradientCheck;

#define LIG_TYPE_GRADIENT_CHECK (lig_gradient_check_get_type ())
LIG_API GType lig_gradient_check_get_type (void);

/**
 * lig_gradient_check_free:
 * @self: (nullable) (transfer full): a result of lig_check_gradients()
 *
 * Releases the caller's reference.
 */
LIG_API void lig_gradient_check_free (LigGradientCheck *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LigGradientCheck, lig_gradient_check_free)

/**
 * lig_check_gradients:
 * @sequence: a sequence with an input; it is read, not changed
 * @device: a device that can run kernels, `cpu` or `cuda:N`
 * @options: (nullable): policy and forbidden fusions as for lig_plan_compile(); the plan is fp32,
 *   with a backward pass and the gradients of all inputs
 * @tolerance: the largest accepted relative distance of any tensor; 0 means 0.003
 * @worst: (out) (optional) (transfer full): the tensor with the largest distance; set if the check
 *   could be made
 *
 * Compares the gradient of each input and of each parameter with (f(x + h) - f(x - h)) / 2h, where
 * h is 1/64 and f is the loss, or a weighted sum of all output elements. Values and weights are odd
 * multiples of 1/32 derived from the tensor's name: inputs between -2 and 2, parameters and weights
 * between -1 and 1. They are exact in every floating type and at least 1/32 away from kinks at
 * multiples of 1/16. Integer inputs are 0 to 3.
 *
 * Each element costs two forward passes, so the sequence should be small. May be called from any
 * thread that may use the sequence and the device.
 *
 * Returns: %FALSE with %LIG_ERROR_VALUE set, naming tensor, element and both numbers, if a gradient
 *   exceeds @tolerance or there is nothing to check; or with the error of a step that failed
 */
LIG_API gboolean lig_check_gradients (LigSequence *sequence,
                                      LigDevice *device,
                                      const LigPlanOptions *options,
                                      double tolerance,
                                      LigGradientCheck **worst,
                                      GError **error);

G_END_DECLS
