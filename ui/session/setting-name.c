/* SPDX-License-Identifier: MIT */
#include "ui/session/setting-name.h"

#include <glib/gi18n.h>

/* The titles of the settings that no optimizer declares. */
static const struct {
  const char *name, *title;
} titles[] = {
  {"accumulate", N_ ("Gradient accumulation")},
  {"batch", N_ ("Batch")},
  {"bucket-size", N_ ("Size of gradient buckets")},
  {"calibrate", N_ ("Calibration steps")},
  {"checkpoint", N_ ("Checkpoint")},
  {"checkpoint-every", N_ ("Checkpoint every")},
  {"clip", N_ ("Gradient clipping")},
  {"data", N_ ("Data")},
  {"dtype", N_ ("Types")},
  {"eval-batches", N_ ("Validation batches")},
  {"eval-every", N_ ("Validation every")},
  {"freeze", N_ ("Frozen parameters")},
  {"histograms", N_ ("Histograms every")},
  {"loss-scale", N_ ("Loss scale")},
  {"lr", N_ ("Learning rate")},
  {"min-lr", N_ ("Final learning rate")},
  {"name", N_ ("Name")},
  {"nondeterministic", N_ ("Nondeterministic sums")},
  {"optimizer", N_ ("Optimizer")},
  {"policy", N_ ("Fusion policy")},
  {"recompute", N_ ("Recomputation")},
  {"sample-every", N_ ("Sample every")},
  {"sample-prompts", N_ ("Prompts")},
  {"sample-seed", N_ ("Seed of samples")},
  {"sample-temperature", N_ ("Temperature")},
  {"sample-tokens", N_ ("Tokens per sample")},
  {"sample-top-k", N_ ("Top k")},
  {"schedule", N_ ("Schedule")},
  {"schedule-steps", N_ ("Steps of the schedule")},
  {"seed", N_ ("Seed")},
  {"shard-optimizer", N_ ("Sharded optimizer")},
  {"steps", N_ ("Steps")},
  {"tf32", N_ ("TF32")},
  {"vocabulary", N_ ("Tokenizer")},
  {"warmup", N_ ("Warm-up")},
};

char *
lig_setting_get_title (const LigSetting *setting)
{
  if (setting->label)
    return g_strdup (_ (setting->label));
  for (guint i = 0; i < G_N_ELEMENTS (titles); i++)
    if (g_str_equal (titles[i].name, setting->name))
      return g_strdup (_ (titles[i].title));
  char *label = g_strdelimit (g_strdup (setting->name), "-", ' ');
  label[0] = g_ascii_toupper (label[0]);
  return label;
}
