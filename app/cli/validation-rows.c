/* SPDX-License-Identifier: MIT */
#include "app/cli/validation-rows.h"

#include <ligature/dataset.h>
#include <ligature/weights.h>

#include <math.h>
#include <string.h>

void
lig_cli_validation_clear (LigCliValidation *self)
{
  g_clear_pointer (&self->input, lig_tensor_unref);
  g_clear_pointer (&self->targets, lig_tensor_unref);
  g_clear_pointer (&self->remark, g_free);
}

LigTensor *
lig_cli_validation_get (const LigTensor *all, gint64 row, GError **error)
{
  LigShape shape = all->shape;
  shape.axes[0] = 1;
  LigTensor *one = lig_tensor_new (all->dtype, &shape, error);
  gsize bytes = one ? lig_tensor_bytes (one) : 0;
  if (one)
    memcpy (one->data, (const char *) all->data + (gsize) row * bytes, bytes);
  return one;
}

/* Returns whether the data are those that the weights record; without a record they count as
 * changed. */
static gboolean
is_unchanged (const LigCliModel *model, LigDataset *data)
{
  g_autoptr (LigTensorFile) file = lig_weights_open (model->weights, NULL);
  const char *recorded = file ? lig_tensor_file_get_metadata (file, "ligature.content") : NULL;
  g_autofree char *content =
    g_strdup_printf ("%016" G_GINT64_MODIFIER "x", lig_dataset_get_content (data));
  return g_strcmp0 (recorded, content) == 0;
}

/* Binds the targets of one sample at a time. */
static gboolean
bind (LigDataset *data, LigPredictor *predictor, LigTarget *target, GError **error)
{
  LigShape input, output;
  LigDtype dtype;
  LigPlan *plan = lig_predictor_get_plan (predictor);
  gint64 classes = lig_predictor_get_classes (predictor);
  lig_plan_get_input (plan, &input, &dtype);
  lig_plan_get_output (plan, &output, &dtype);
  *target = (LigTarget){.dtype = classes > 0 ? LIG_INT32 : LIG_FP32, .classes = classes};
  if (classes > 0)
    lig_shape_init (&target->shape, 1, (gint64) 1);
  else
    lig_shape_init (&target->shape, 2, (gint64) 1, lig_shape_size (&output) / input.axes[0]);
  return lig_dataset_bind (data, target, error);
}

/* Copies the target of a sample; an ignored class is missing. */
static void
copy_target (const LigTensor *from, float *to)
{
  for (gint64 i = 0; i < from->size; i++) {
    float value = lig_tensor_get (from, i);
    to[i] = from->dtype == LIG_INT32 && value < 0 ? NAN : value;
  }
}

static gboolean
read_rows (LigCliValidation *self, LigDataset *data, const LigTarget *target, GError **error)
{
  LigShape shape, all, all_targets;
  LigDtype dtype;
  gint64 count = lig_dataset_get_validation_batches (data);
  lig_dataset_get_input (data, &shape, &dtype);
  all = shape;
  all.axes[0] = count;
  lig_shape_init (&all_targets, 2, count, lig_shape_size (&target->shape));
  g_autoptr (LigTensor) input = lig_tensor_new (dtype, &shape, error);
  g_autoptr (LigTensor) one = input ? lig_tensor_new (target->dtype, &target->shape, error) : NULL;
  self->input = one ? lig_tensor_new (dtype, &all, error) : NULL;
  self->targets = self->input ? lig_tensor_new (LIG_FP32, &all_targets, error) : NULL;
  if (!self->targets)
    return FALSE;
  gsize bytes = lig_tensor_bytes (input);
  for (gint64 row = 0; row < count; row++) {
    if (!lig_dataset_validation (data, row, input, one, NULL, error))
      return FALSE;
    memcpy ((char *) self->input->data + (gsize) row * bytes, input->data, bytes);
    copy_target (one, (float *) self->targets->data + row * one->size);
  }
  self->count = count;
  return TRUE;
}

void
lig_cli_validation_read (LigCliValidation *self,
                         const LigCliModel *model,
                         const char *data,
                         LigPredictor *predictor)
{
  LigTarget target;
  g_autoptr (GError) error = NULL;
  const char *spec = data ? data : model->settings.data;
  /* Batches of one sample, so that none is padded. */
  g_autoptr (LigDataset) dataset =
    spec ? lig_dataset_open (spec, NULL, LIG_FP32, 1, model->settings.seed, &error) : NULL;
  if (!spec)
    self->remark = g_strdup ("the weights do not record their training data; give it with --data");
  else if (!dataset)
    self->remark = g_strdup (error->message);
  else if (!data && !is_unchanged (model, dataset))
    self->remark = g_strdup_printf ("%s has changed since the training; give the old file with "
                                    "--data",
                                    spec);
  else if (lig_dataset_get_validation_batches (dataset) == 0)
    self->remark = g_strdup_printf ("%s was trained on without validation rows", spec);
  else if (!bind (dataset, predictor, &target, &error) ||
           !read_rows (self, dataset, &target, &error))
    self->remark = g_strdup (error->message);
  if (self->count == 0) {
    g_clear_pointer (&self->input, lig_tensor_unref);
    g_clear_pointer (&self->targets, lig_tensor_unref);
  }
}
