/* SPDX-License-Identifier: MIT */
/* A card for one device: its facts, its health, and its actions.
 *
 * Actions: device.use, device.measure. */
#pragma once

#include "ui/document/document.h"

#include <adwaita.h>

G_BEGIN_DECLS

#define LIG_TYPE_DEVICE_CARD (lig_device_card_get_type ())
G_DECLARE_FINAL_TYPE (LigDeviceCard, lig_device_card, LIG, DEVICE_CARD, AdwBin)

GtkWidget *lig_device_card_new (LigDocument *document, const LigDeviceEntry *entry);

/* Returns whether its facts, or an error, have arrived. */
gboolean lig_device_card_is_ready (LigDeviceCard *self);
gboolean lig_device_card_is_measuring (LigDeviceCard *self);

G_END_DECLS
