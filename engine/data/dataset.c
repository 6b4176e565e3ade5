/* SPDX-License-Identifier: MIT */
/* Draws batches from a dataset of any kind: shuffles epochs, keeps the position, reads the
 * validation split. */
#include <ligature/dataset.h>

#include "engine/data/kind.h"
#include "engine/data/training.h"
#include <ligature/json-members.h>
#include <ligature/json.h>

#include <inttypes.h>

/* The batch size if neither a shape nor the caller sets it. */
#define USUAL_BATCH 32

/* Sets the batch size from the argument or the shape. */
static gboolean
take_input (LigDataset *self, const LigShape *input, gint64 batch, GError **error)
{
  if (input)
    self->input = *input;
  gboolean open = batch == 0 && self->input.n_axes < 1 && !self->kind->info.needs_shape;
  if (batch > 0 || open) {
    self->input.n_axes = MAX (self->input.n_axes, 1);
    self->input.axes[0] = open ? USUAL_BATCH : batch;
  }
  if (batch < 0 || self->input.n_axes < 1)
    return lig_dataset_reject (self, error, LIG_ERROR_SHAPE,
                               _ ("batch size missing; it is axis 0 of the input's shape"));
  self->batch = self->input.axes[0];
  for (int i = 0; i < self->input.n_axes; i++)
    if (self->input.axes[i] == 0)
      return lig_dataset_reject (self, error, LIG_ERROR_SHAPE,
                                 _ ("axis %d of the input has length 0, a sample needs at least 1"),
                                 i);
  return lig_shape_check (&self->input, self->dtype, error);
}

static LigDataset *
make_dataset (void)
{
  LigDataset *self = g_atomic_rc_box_new0 (LigDataset);
  self->ignored = LIG_IGNORED_TARGET;
  self->options = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  return self;
}

gboolean
lig_dataset_check (const char *spec, GError **error)
{
  g_return_val_if_fail (spec, FALSE);
  g_autoptr (LigDataset) self = make_dataset ();
  return lig_dataset_parse (self, spec, error);
}

LigDataset *
lig_dataset_open (const char *spec,
                  const LigShape *input,
                  LigDtype dtype,
                  gint64 batch,
                  guint64 seed,
                  GError **error)
{
  g_return_val_if_fail (spec, NULL);
  g_autoptr (LigDataset) self = make_dataset ();
  self->dtype = dtype;
  self->seed = seed;
  self->largest_token = -1;
  if (!lig_dataset_parse (self, spec, error) || !take_input (self, input, batch, error) ||
      !self->kind->open (self, error))
    return NULL;
  if (batch == 0 && (!input || input->n_axes < 1))
    self->batch = self->input.axes[0] = MIN (self->batch, self->samples[LIG_SPLIT_TRAINING]);
  if (!lig_shape_check (&self->input, self->dtype, error))
    return NULL;
  return g_steal_pointer (&self);
}

static void
clear (gpointer data)
{
  LigDataset *self = data;
  if (self->data)
    self->kind->close (self);
  g_hash_table_unref (self->options);
  g_free (self->blocks.input);
  g_free (self->blocks.target);
  g_free (self->path);
  g_free (self->name);
  g_free (self->description);
  g_free (self->largest_place);
  g_free (self->validation_path);
  g_free (self->warning);
  g_free (self->order);
}

void
lig_dataset_free (LigDataset *self)
{
  if (self)
    g_atomic_rc_box_release_full (self, clear);
}

G_DEFINE_BOXED_TYPE (LigDataset, lig_dataset, g_atomic_rc_box_acquire, lig_dataset_free)

void
lig_dataset_get_input (LigDataset *self, LigShape *shape, LigDtype *dtype)
{
  if (shape)
    *shape = lig_blocks_shape (self, &self->input);
  if (dtype)
    *dtype = self->dtype;
}

gboolean
lig_dataset_share (LigDataset *self, int rank, int count, GError **error)
{
  if (count < 1 || rank < 0 || rank >= count) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                 _ ("the rank is %d of %d, expected at least 0 and below the number of ranks"),
                 rank, count);
    return FALSE;
  }
  if (self->batch % count != 0) {
    g_set_error (
      error, LIG_ERROR, LIG_ERROR_SHAPE,
      _ ("the batch size is %" PRId64 ", expected a multiple of %d, the number of ranks"),
      self->batch, count);
    return lig_error_set_setting (error, "batch");
  }
  self->rank = rank;
  self->ranks = count;
  self->batch /= count;
  self->input.axes[0] = self->batch;
  return TRUE;
}

/* Returns the global batch size, over all ranks. */
static gint64
whole_batch (const LigDataset *self)
{
  return self->batch * MAX (self->ranks, 1);
}

gboolean
lig_dataset_bind (LigDataset *self, const LigTarget *target, GError **error)
{
  gboolean integer = target->dtype == LIG_INT32;
  if (!integer && !lig_dtype_is_floating (target->dtype))
    return lig_dataset_reject (self, error, LIG_ERROR_DTYPE,
                               _ ("targets are %s, expected int32 or a floating type"),
                               lig_dtype_name (target->dtype));
  if (integer ? target->classes < 1 : target->classes != 0)
    return lig_dataset_reject (
      self, error, LIG_ERROR_VALUE,
      g_dngettext (GETTEXT_PACKAGE, "%s targets have %" PRId64 " class, expected %s",
                   "%s targets have %" PRId64 " classes, expected %s", (gulong) (target->classes)),
      lig_dtype_name (target->dtype), target->classes, integer ? _ ("at least 1") : "0");
  if (!lig_shape_check (&target->shape, target->dtype, error))
    return FALSE;
  gint64 size = lig_shape_size (&target->shape) * MAX (self->blocks.ranks, 1);
  if (size % self->batch != 0)
    return lig_dataset_reject (self, error, LIG_ERROR_SHAPE,
                               g_dngettext (GETTEXT_PACKAGE,
                                            "the loss requires %" PRId64
                                            " target, not a multiple of the batch size %" PRId64,
                                            "the loss requires %" PRId64
                                            " targets, not a multiple of the batch size %" PRId64,
                                            (gulong) (size)),
                               size, self->batch);
  if (!lig_blocks_check_target (self, size / self->batch, error) ||
      !self->kind->bind (self, target, size / self->batch, error))
    return FALSE;
  self->target = *target;
  self->target_size = size / self->batch;
  lig_blocks_bind (self);
  return TRUE;
}

gint64
lig_dataset_get_largest_token (LigDataset *self)
{
  return self->largest_token;
}

gint64
lig_dataset_get_samples (LigDataset *self)
{
  return self->samples[LIG_SPLIT_TRAINING];
}

gint64
lig_dataset_get_validation_batches (LigDataset *self)
{
  gint64 samples = self->samples[LIG_SPLIT_VALIDATION];
  return samples / whole_batch (self) + (samples % whole_batch (self) != 0);
}

/* Applies the finalizer of splitmix64 (Steele et al., 2014): every bit of the result depends on
 * every bit of `bits`. */
static guint64
mix (guint64 bits)
{
  bits += 0x9e3779b97f4a7c15u;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
  return bits ^ (bits >> 31);
}

/* Permutes without an array: applies a Feistel cipher over the smallest even number of bits that
 * can hold count, and repeats it until the result is below count. The cipher permutes fewer than 4
 * * count numbers, so it is applied fewer than 4 times on average. */
gint64
lig_dataset_permute (gint64 place, gint64 count, guint64 key)
{
  int half = 1;
  while (half < 31 && (G_GINT64_CONSTANT (1) << (2 * half)) < count)
    half++;
  guint64 mask = (G_GUINT64_CONSTANT (1) << half) - 1, number = (guint64) place;
  do {
    guint64 left = number >> half, right = number & mask;
    for (guint64 i = 0; i < 8; i++) {
      guint64 next = left ^ (mix (right ^ mix (key + i)) & mask);
      left = right;
      right = next;
    }
    number = left << half | right;
  } while (number >= (guint64) count);
  return (gint64) number;
}

static gboolean
check_tensor (const LigDataset *self,
              const char *what,
              const LigTensor *tensor,
              const LigShape *shape,
              LigDtype dtype,
              GError **error)
{
  if (tensor->dtype != dtype)
    return lig_dataset_reject (self, error, LIG_ERROR_DTYPE,
                               _ ("the tensor for %s is %s, expected %s"), what,
                               lig_dtype_name (tensor->dtype), lig_dtype_name (dtype));
  if (tensor->size == lig_shape_size (shape))
    return TRUE;
  g_autofree char *given = lig_shape_to_string (&tensor->shape);
  g_autofree char *wanted = lig_shape_to_string (shape);
  return lig_dataset_reject (self, error, LIG_ERROR_SHAPE,
                             _ ("the tensor for %s is %s, expected %s"), what, given, wanted);
}

static gboolean
check_tensors (const LigDataset *self, LigTensor *input, LigTensor *targets, GError **error)
{
  if (targets && self->target_size == 0)
    return lig_dataset_reject (self, error, LIG_ERROR_SHAPE,
                               _ ("targets requested before the dataset was bound to a loss"));
  LigShape own = lig_blocks_shape (self, &self->input);
  return check_tensor (self, _ ("the input"), input, &own, self->dtype, error) &&
         (!targets || check_tensor (self, _ ("the targets"), targets, &self->target.shape,
                                    self->target.dtype, error));
}

static gboolean
read_row (const LigDataset *self,
          LigSplit part,
          gint64 sample,
          gint64 row,
          LigTensor *input,
          LigTensor *targets,
          GError **error)
{
  gsize stride = lig_tensor_bytes (input) / (gsize) self->batch;
  gsize target_stride = targets ? lig_tensor_bytes (targets) / (gsize) self->batch : 0;
  return lig_blocks_read (self, part, sample, (char *) input->data + (gsize) row * stride,
                          targets ? (char *) targets->data + (gsize) row * target_stride : NULL,
                          error);
}

gboolean
lig_dataset_next (LigDataset *self, LigTensor *input, LigTensor *targets, GError **error)
{
  if (!check_tensors (self, input, targets, error))
    return FALSE;
  gint64 count = self->samples[LIG_SPLIT_TRAINING];
  guint64 first = self->position + (guint64) (self->rank * self->batch);
  guint64 epoch = first / (guint64) count;
  gint64 place = (gint64) (first % (guint64) count);
  for (gint64 row = 0; row < self->batch; row++) {
    gint64 sample = lig_dataset_permute (place, count, mix (self->seed ^ mix (epoch)));
    if (!read_row (self, LIG_SPLIT_TRAINING, sample, row, input, targets, error))
      return FALSE;
    if (++place == count) {
      place = 0;
      epoch++;
    }
  }
  self->position += (guint64) whole_batch (self);
  return TRUE;
}

guint64
lig_dataset_get_position (LigDataset *self)
{
  return self->position;
}

void
lig_dataset_seek (LigDataset *self, guint64 position)
{
  self->position = position;
}

void
lig_dataset_set_ignored (LigDataset *self, gint32 ignored)
{
  self->ignored = ignored;
}

gint64
lig_dataset_count_targets (LigDataset *self, LigTensor *targets)
{
  gint64 count = targets->size;
  if (targets->dtype == LIG_INT32)
    for (gint64 i = 0; i < targets->size; i++)
      count -= ((const gint32 *) targets->data)[i] == self->ignored;
  return count;
}

/* Most kinds give only classes within the target's range, one of which may be ignored. */
gboolean
lig_dataset_may_ignore (LigDataset *self)
{
  return self->ignores || (self->ignored >= 0 && self->ignored < self->target.classes);
}

gboolean
lig_dataset_validation (LigDataset *self,
                        gint64 batch_index,
                        LigTensor *input,
                        LigTensor *targets,
                        gint64 *valid,
                        GError **error)
{
  gint64 count = self->samples[LIG_SPLIT_VALIDATION],
         batches = lig_dataset_get_validation_batches (self);
  if (batch_index < 0 || batch_index >= batches)
    return lig_dataset_reject (self, error, LIG_ERROR_INDEX,
                               _ ("no validation batch %" PRId64 "; there are %" PRId64),
                               batch_index, batches);
  if (!check_tensors (self, input, targets, error))
    return FALSE;
  gint64 first = batch_index * whole_batch (self) + self->rank * self->batch;
  gint64 real = CLAMP (count - first, 0, self->batch);
  for (gint64 row = 0; row < self->batch; row++)
    if (!read_row (self, LIG_SPLIT_VALIDATION, (first + row) % count, row, input, targets, error))
      return FALSE;
  if (targets && targets->dtype == LIG_INT32)
    for (gint64 i = real * self->target_size / MAX (self->blocks.ranks, 1); i < targets->size; i++)
      ((gint32 *) targets->data)[i] = self->ignored;
  if (valid)
    *valid = real;
  return TRUE;
}

const guint16 *
lig_dataset_get_tokens (LigDataset *self, gboolean validation, gsize *count)
{
  LigSplit part = validation ? LIG_SPLIT_VALIDATION : LIG_SPLIT_TRAINING;
  *count = self->n_tokens[part];
  return self->tokens[part];
}

guint64
lig_dataset_get_content (LigDataset *self)
{
  return self->content;
}

const char *
lig_dataset_get_warning (LigDataset *self)
{
  return self->warning;
}

char *
lig_dataset_describe_table (LigDataset *self)
{
  if (!self->kind->table)
    return NULL;
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  json_builder_begin_object (builder);
  lig_json_add_text (builder, "kind", self->kind->info.name);
  self->kind->table (self, builder);
  json_builder_end_object (builder);
  g_autoptr (JsonNode) root = json_builder_get_root (builder);
  GString *text = g_string_new (NULL);
  lig_json_append (text, root);
  return g_string_free (text, FALSE);
}

const char *
lig_dataset_describe (LigDataset *self)
{
  return self->description;
}
