/* SPDX-License-Identifier: MIT */
/* Previews by pointer and keyboard. A document has one preview, held by the widget that started it,
 * so that leaving another widget does not end it. */
#include "ui/widgets/preview-hook.h"

/* A pointer that only passes over starts nothing. */
enum { REST_MILLISECONDS = 150 };

#define HOLDER "lig-preview-holder"
#define HOOK "lig-preview-hook"

typedef struct {
  GtkWidget *widget;
  LigDocument *document;
  LigPreviewTrialFunc make;
  gpointer data;
  GDestroyNotify free;
  guint rest;
  GtkEventController *controllers[3]; /* owned by the widget */
  gboolean by_key;                    /* started by a key, so that the pointer does not end it */
  GtkWidget *popover;                 /* around the widget, while it holds the preview */
  GtkEventController *pin;
} Hook;

static gboolean
holds (Hook *hook)
{
  return g_object_get_data (G_OBJECT (hook->document), HOLDER) == hook &&
         lig_document_get_preview_label (hook->document);
}

/* --- Popovers ------------------------------------------------------------------------------ */

static gboolean
key_in_popover (
  GtkEventControllerKey *controller, guint key, guint code, GdkModifierType modifiers, Hook *hook)
{
  const GdkModifierType all = gtk_accelerator_get_default_mod_mask ();
  return gdk_keyval_to_lower (key) == GDK_KEY_p && (modifiers & all) == GDK_CONTROL_MASK &&
         gtk_widget_activate_action (hook->widget, "win.pin", NULL);
}

static void
forget_popover (Hook *hook)
{
  if (hook->popover)
    gtk_widget_remove_controller (hook->popover, hook->pin);
  g_clear_weak_pointer (&hook->popover);
}

/* A popover does not forward the window's keys. */
static void
follow_popover (Hook *hook)
{
  GtkWidget *popover = gtk_widget_get_ancestor (hook->widget, GTK_TYPE_POPOVER);
  forget_popover (hook);
  if (!popover)
    return;
  hook->pin = gtk_event_controller_key_new ();
  gtk_event_controller_set_propagation_phase (hook->pin, GTK_PHASE_CAPTURE);
  g_signal_connect (hook->pin, "key-pressed", G_CALLBACK (key_in_popover), hook);
  gtk_widget_add_controller (popover, hook->pin);
  g_set_weak_pointer (&hook->popover, popover);
}

/* --- Beginning and ending ------------------------------------------------------------------ */

static gboolean
begin (Hook *hook)
{
  LigPreviewTrial trial = {.policy = lig_document_get_policy (hook->document)};
  if (!hook->make (hook->widget, hook->document, &trial, hook->data)) {
    g_clear_object (&trial.sequence);
    g_free (trial.device);
    g_free (trial.label);
    return FALSE;
  }
  g_object_set_data (G_OBJECT (hook->document), HOLDER, hook);
  follow_popover (hook);
  lig_document_preview (hook->document, trial.sequence, trial.device, trial.policy, trial.label);
  g_free (trial.device);
  g_free (trial.label);
  return TRUE;
}

static void
end (Hook *hook)
{
  forget_popover (hook);
  hook->by_key = FALSE;
  g_clear_handle_id (&hook->rest, g_source_remove);
  if (holds (hook))
    lig_document_end_preview (hook->document);
  if (g_object_get_data (G_OBJECT (hook->document), HOLDER) == hook)
    g_object_set_data (G_OBJECT (hook->document), HOLDER, NULL);
}

static gboolean
rested (gpointer data)
{
  Hook *hook = data;
  hook->rest = 0;
  hook->by_key = FALSE;
  begin (hook);
  return G_SOURCE_REMOVE;
}

static void
entered (GtkEventControllerMotion *controller, double x, double y, Hook *hook)
{
  g_clear_handle_id (&hook->rest, g_source_remove);
  hook->rest = g_timeout_add (REST_MILLISECONDS, rested, hook);
}

static void
left (GtkEventControllerMotion *controller, Hook *hook)
{
  g_clear_handle_id (&hook->rest, g_source_remove);
  if (!hook->by_key)
    end (hook);
}

static gboolean
key_pressed (
  GtkEventControllerKey *controller, guint key, guint code, GdkModifierType modifiers, Hook *hook)
{
  const GdkModifierType all = gtk_accelerator_get_default_mod_mask ();
  if (key == GDK_KEY_Escape && holds (hook)) {
    end (hook);
    return TRUE;
  }
  if (key != GDK_KEY_space || (modifiers & all) != 0)
    return FALSE;
  if (!holds (hook))
    return hook->by_key = begin (hook);
  end (hook);
  return TRUE;
}

static void
unfocused (GtkEventControllerFocus *controller, Hook *hook)
{
  if (hook->by_key)
    end (hook);
}

static void
unmapped (GtkWidget *widget, Hook *hook)
{
  end (hook);
}

static void
free_hook (gpointer data)
{
  Hook *hook = data;
  end (hook);
  if (hook->free)
    hook->free (hook->data);
  g_object_unref (hook->document);
  g_free (hook);
}

void
lig_preview_hook (GtkWidget *widget,
                  LigDocument *document,
                  LigPreviewTrialFunc make,
                  gpointer data,
                  GDestroyNotify free)
{
  Hook *hook = g_new0 (Hook, 1);
  *hook = (Hook){.widget = widget,
                 .document = g_object_ref (document),
                 .make = make,
                 .data = data,
                 .free = free};
  GtkEventController *motion = gtk_event_controller_motion_new ();
  GtkEventController *keys = gtk_event_controller_key_new ();
  GtkEventController *focus = gtk_event_controller_focus_new ();
  gtk_event_controller_set_name (motion, "preview");
  gtk_event_controller_set_name (keys, "preview");
  /* A button would treat Space as a click. */
  gtk_event_controller_set_propagation_phase (keys, GTK_PHASE_CAPTURE);
  g_signal_connect (motion, "enter", G_CALLBACK (entered), hook);
  g_signal_connect (motion, "leave", G_CALLBACK (left), hook);
  g_signal_connect (keys, "key-pressed", G_CALLBACK (key_pressed), hook);
  g_signal_connect (focus, "leave", G_CALLBACK (unfocused), hook);
  g_signal_connect (widget, "unmap", G_CALLBACK (unmapped), hook);
  hook->controllers[0] = motion;
  hook->controllers[1] = keys;
  hook->controllers[2] = focus;
  for (guint i = 0; i < G_N_ELEMENTS (hook->controllers); i++)
    gtk_widget_add_controller (widget, hook->controllers[i]);
  /* Controllers are freed before the data of their widget. */
  g_object_set_data_full (G_OBJECT (widget), HOOK, hook, free_hook);
}

void
lig_preview_unhook (GtkWidget *widget)
{
  Hook *hook = g_object_get_data (G_OBJECT (widget), HOOK);
  if (!hook)
    return;
  g_signal_handlers_disconnect_by_data (widget, hook);
  for (guint i = 0; i < G_N_ELEMENTS (hook->controllers); i++)
    gtk_widget_remove_controller (widget, hook->controllers[i]);
  g_object_set_data (G_OBJECT (widget), HOOK, NULL);
}

gboolean
lig_preview_is_hooked (GtkWidget *widget)
{
  return g_object_get_data (G_OBJECT (widget), HOOK) != NULL;
}
