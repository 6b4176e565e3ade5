/* SPDX-License-Identifier: MIT */
/* Plans: the first engine of cuDNN's heuristic that accepts a graph. */
#include "kernels/cuda/attention/cudnn-case.h"

#include <stdio.h>
#include <stdlib.h>

/* The number of engines that are tried: compiling each takes up to a second. */
enum { MAX_CONFIGS = 8 };

/* The number of numerical notes of an engine that are read. */
enum { MAX_NOTES = 16 };

/* The library reports the number of values that an attribute has, which may exceed the number
 * requested. */
static int
clamp_count (int64_t count, int max)
{
  return count < max ? (int) count : max;
}

/* Creates a descriptor that does not belong to a graph; null after a failure. */
static LigCudnnDescriptor
make (const LigCudnn *cudnn, LigCudnnKind kind)
{
  LigCudnnDescriptor descriptor = NULL;
  return cudnn->create ((int) kind, &descriptor) == LIG_CUDNN_SUCCESS ? descriptor : NULL;
}

static bool
set (const LigCudnn *cudnn,
     LigCudnnDescriptor descriptor,
     LigCudnnAttribute attribute,
     LigCudnnAttributeType type,
     const void *value)
{
  return cudnn->set (descriptor, (int) attribute, (int) type, 1, value) == LIG_CUDNN_SUCCESS;
}

/* Queries the heuristic for engine configurations, which the caller destroys; returns their
 * number. */
static int
propose (const LigCudnn *cudnn,
         const LigCudnnScheme *graph,
         LigCudnnDescriptor device,
         LigCudnnDescriptor configs[MAX_CONFIGS])
{
  const int32_t mode = LIG_CUDNN_HEURISTIC_A;
  int64_t count = 0;
  LigCudnnDescriptor heuristic = make (cudnn, LIG_CUDNN_HEURISTIC_DESCRIPTOR);
  for (int i = 0; i < MAX_CONFIGS; i++)
    configs[i] = make (cudnn, LIG_CUDNN_CONFIG_DESCRIPTOR);
  bool good =
    heuristic &&
    set (cudnn, heuristic, LIG_CUDNN_HEURISTIC_SCHEME, LIG_CUDNN_TYPE_DESCRIPTOR, &graph->whole) &&
    set (cudnn, heuristic, LIG_CUDNN_HEURISTIC_MODE, LIG_CUDNN_TYPE_HEURISTIC, &mode) &&
    (!device ||
     set (cudnn, heuristic, LIG_CUDNN_HEURISTIC_DEVICE, LIG_CUDNN_TYPE_DESCRIPTOR, &device)) &&
    cudnn->finalize (heuristic) == LIG_CUDNN_SUCCESS &&
    cudnn->get (heuristic, LIG_CUDNN_HEURISTIC_RESULTS, LIG_CUDNN_TYPE_DESCRIPTOR, MAX_CONFIGS,
                &count, configs) == LIG_CUDNN_SUCCESS;
  if (heuristic)
    cudnn->destroy (heuristic);
  return good ? clamp_count (count, MAX_CONFIGS) : 0;
}

/* Reads the id of a configuration's engine, and whether it is nondeterministic. */
static void
inspect (const LigCudnn *cudnn, LigCudnnDescriptor config, LigCudnnPlan *plan)
{
  int32_t notes[MAX_NOTES];
  int64_t count = 0;
  LigCudnnDescriptor engine = make (cudnn, LIG_CUDNN_ENGINE_DESCRIPTOR);
  plan->engine = -1;
  plan->nondeterministic = false;
  if (engine && cudnn->get (config, LIG_CUDNN_CONFIG_ENGINE, LIG_CUDNN_TYPE_DESCRIPTOR, 1, &count,
                            &engine) == LIG_CUDNN_SUCCESS) {
    cudnn->get (engine, LIG_CUDNN_ENGINE_INDEX, LIG_CUDNN_TYPE_INT64, 1, &count, &plan->engine);
    if (cudnn->get (engine, LIG_CUDNN_ENGINE_NUMERICAL_NOTES, LIG_CUDNN_TYPE_NUMERICAL_NOTE,
                    MAX_NOTES, &count, notes) != LIG_CUDNN_SUCCESS)
      count = 0;
    for (int i = 0; i < clamp_count (count, MAX_NOTES); i++)
      if (notes[i] == LIG_CUDNN_NOTE_NONDETERMINISTIC)
        plan->nondeterministic = true;
  }
  if (engine)
    cudnn->destroy (engine);
}

/* Finalizes the plan of a configuration, which compiles its kernels; false if cuDNN rejects it. */
static bool
finish (const LigCudnn *cudnn,
        LigCudnnHandle handle,
        LigCudnnDescriptor device,
        LigCudnnDescriptor config,
        LigCudnnPlan *plan)
{
  int64_t count = 0;
  LigCudnnDescriptor made = make (cudnn, LIG_CUDNN_PLAN_DESCRIPTOR);
  bool good =
    made && set (cudnn, made, LIG_CUDNN_PLAN_CONFIG, LIG_CUDNN_TYPE_DESCRIPTOR, &config) &&
    (!handle || set (cudnn, made, LIG_CUDNN_PLAN_HANDLE, LIG_CUDNN_TYPE_HANDLE, &handle)) &&
    (!device || set (cudnn, made, LIG_CUDNN_PLAN_DEVICE, LIG_CUDNN_TYPE_DESCRIPTOR, &device)) &&
    cudnn->finalize (made) == LIG_CUDNN_SUCCESS &&
    cudnn->get (made, LIG_CUDNN_PLAN_WORKSPACE, LIG_CUDNN_TYPE_INT64, 1, &count,
                &plan->space.workspace) == LIG_CUDNN_SUCCESS;
  if (good)
    plan->plan = made;
  else if (made)
    cudnn->destroy (made);
  return good;
}

/* Uses the first configuration that can be finalized, only deterministic ones if the case requires
 * that. */
static void
choose (const LigCudnn *cudnn,
        LigCudnnHandle handle,
        LigCudnnDescriptor device,
        const LigCudnnCase *one,
        LigCudnnPlan *plan)
{
  LigCudnnDescriptor configs[MAX_CONFIGS];
  int count = propose (cudnn, &plan->graph, device, configs);
  snprintf (plan->graph.why, sizeof plan->graph.why, "none of its %d engines supports the case",
            count);
  for (int i = 0; i < count && !plan->plan; i++) {
    inspect (cudnn, configs[i], plan);
    if (!(one->ordered && plan->nondeterministic) &&
        !finish (cudnn, handle, device, configs[i], plan)) {
      char message[256] = "";
      cudnn->last_message (message, sizeof message);
      if (message[0])
        snprintf (plan->graph.why, sizeof plan->graph.why, "%s", message);
    }
  }
  for (int i = 0; i < MAX_CONFIGS; i++)
    if (configs[i])
      cudnn->destroy (configs[i]);
}

LigCudnnPlan *
lig_cudnn_plan_new (const LigCudnn *cudnn,
                    LigCudnnHandle handle,
                    LigCudnnDescriptor device,
                    const LigCudnnCase *one,
                    char *why,
                    size_t size)
{
  LigCudnnPlan *plan = calloc (1, sizeof *plan);
  if (!plan) {
    snprintf (why, size, "no memory on the host");
    return NULL;
  }
  lig_cudnn_scheme_init (&plan->graph, cudnn);
  if (one->backward)
    lig_cudnn_backward (&plan->graph, one);
  else
    lig_cudnn_forward (&plan->graph, one);
  plan->space = lig_cudnn_case_space (one);
  if (lig_cudnn_scheme_finish (&plan->graph, handle))
    choose (cudnn, handle, device, one, plan);
  if (plan->plan)
    return plan;
  snprintf (why, size, "%s", plan->graph.why);
  lig_cudnn_plan_free (plan);
  return NULL;
}

void
lig_cudnn_plan_free (LigCudnnPlan *plan)
{
  if (!plan)
    return;
  if (plan->plan)
    plan->graph.cudnn->destroy (plan->plan);
  lig_cudnn_scheme_clear (&plan->graph);
  free (plan);
}
