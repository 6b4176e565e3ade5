/* SPDX-License-Identifier: MIT */
/* Trainings that the window started. */
#include "ui/training.h"

struct _LigTraining {
  GObject parent_instance;
};

G_DEFINE_FINAL_TYPE (LigTraining, lig_training, G_TYPE_OBJECT)

static void
lig_training_class_init (LigTrainingClass *class)
{
}

static void
lig_training_init (LigTraining *self)
{
}
