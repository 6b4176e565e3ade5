/* SPDX-License-Identifier: MIT */
/* Windows over a stream of tokens: sample s begins at token s * stride of its split, and its
 * targets are the tokens shifted by one. With a target for every token the stride is T, so that no
 * target occurs twice in an epoch; with only the token after the window as target the stride is 1,
 * so that every token is a target once. */
#include "engine/data/windows.h"

#include <inttypes.h>

static gint64
window_length (const LigDataset *self)
{
  return self->input.axes[1];
}

gint64
lig_windows_stride (const LigDataset *self, gint64 target_size)
{
  return target_size == 1 ? 1 : window_length (self);
}

gint64
lig_windows_count (const LigDataset *self, gint64 tokens, gint64 target_size)
{
  gint64 starts = tokens - window_length (self);
  return starts > 0 ? (starts - 1) / lig_windows_stride (self, target_size) + 1 : 0;
}

static void
count_windows (LigDataset *self, gint64 target_size)
{
  for (int part = 0; part < LIG_N_SPLITS; part++)
    self->samples[part] = lig_windows_count (self, (gint64) self->n_tokens[part], target_size);
}

gboolean
lig_windows_check_input (const LigDataset *self, GError **error)
{
  if (self->input.n_axes == 2)
    return TRUE;
  g_autofree char *shape = lig_shape_to_string (&self->input);
  return lig_dataset_reject (
    self, error, LIG_ERROR_SHAPE,
    _ ("the input is %s, %s gives windows and requires BATCHxLENGTH, like 32x64"), shape,
    self->kind->info.name);
}

gboolean
lig_windows_check_samples (const LigDataset *self, GError **error)
{
  gsize training = self->n_tokens[LIG_SPLIT_TRAINING];
  if (self->samples[LIG_SPLIT_TRAINING] > 0)
    return TRUE;
  return lig_dataset_reject (
    self, error, LIG_ERROR_SHAPE,
    g_dngettext (
      GETTEXT_PACKAGE,
      "%zu token for training are too few for a window of %" PRId64 " and the token after it",
      "%zu tokens for training are too few for a window of %" PRId64 " and the token after it",
      (gulong) (training)),
    training, window_length (self));
}

gboolean
lig_windows_open (
  LigDataset *self, const guint16 *tokens, gsize training, gsize count, GError **error)
{
  if (!lig_windows_check_input (self, error))
    return FALSE;
  guint16 largest = 0;
  for (gsize i = 0; i < count; i++)
    largest = MAX (largest, tokens[i]);
  self->largest_token = largest;
  self->dtype = LIG_INT32;
  self->tokens[LIG_SPLIT_TRAINING] = tokens;
  self->n_tokens[LIG_SPLIT_TRAINING] = training;
  self->tokens[LIG_SPLIT_VALIDATION] = tokens + training;
  self->n_tokens[LIG_SPLIT_VALIDATION] = count - training;
  count_windows (self, 0);
  return lig_windows_check_samples (self, error);
}

static gboolean
check_classes (const LigDataset *self, gint64 classes, GError **error)
{
  gsize count = self->n_tokens[LIG_SPLIT_TRAINING] + self->n_tokens[LIG_SPLIT_VALIDATION], at = 0;
  const guint16 *tokens = self->tokens[LIG_SPLIT_TRAINING];
  if (self->largest_token < classes)
    return TRUE;
  while (at + 1 < count && tokens[at] < classes)
    at++;
  return lig_dataset_reject (
    self, error, LIG_ERROR_VALUE,
    g_dngettext (GETTEXT_PACKAGE,
                 "token %d at offset %zu is beyond the prediction's %" PRId64
                 " class, the largest token is %" PRId64,
                 "token %d at offset %zu is beyond the prediction's %" PRId64
                 " classes, the largest token is %" PRId64,
                 (gulong) (classes)),
    tokens[at], at, classes, self->largest_token);
}

gboolean
lig_windows_check_target (const LigDataset *self,
                          const LigTarget *target,
                          gint64 size,
                          GError **error)
{
  if (target->classes == 0)
    return lig_dataset_reject (self, error, LIG_ERROR_DTYPE,
                               _ ("%s gives classes, the loss requires %s values"),
                               self->kind->info.name, lig_dtype_name (target->dtype));
  if (size != 1 && size != window_length (self))
    return lig_dataset_reject (
      self, error, LIG_ERROR_SHAPE,
      g_dngettext (
        GETTEXT_PACKAGE,
        "the loss requires %" PRId64 " target per window, expected 1 or the window's %" PRId64,
        "the loss requires %" PRId64 " targets per window, expected 1 or the window's %" PRId64,
        (gulong) (size)),
      size, window_length (self));
  return TRUE;
}

gboolean
lig_windows_bind (LigDataset *self, const LigTarget *target, gint64 size, GError **error)
{
  if (!lig_windows_check_target (self, target, size, error) ||
      !check_classes (self, target->classes, error))
    return FALSE;
  count_windows (self, size);
  return TRUE;
}

gboolean
lig_windows_read (const LigDataset *self,
                  LigSplit part,
                  gint64 sample,
                  void *input,
                  void *target,
                  GError **error G_GNUC_UNUSED)
{
  const guint16 *window =
    self->tokens[part] + sample * lig_windows_stride (self, self->target_size);
  gint64 length = window_length (self);
  gint32 *inputs = input, *targets = target;
  for (gint64 i = 0; i < length; i++)
    inputs[i] = window[i];
  if (target && self->target_size == 1)
    targets[0] = window[length];
  else if (target)
    for (gint64 i = 0; i < length; i++)
      targets[i] = window[i + 1];
  return TRUE;
}
