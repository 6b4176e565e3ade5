/* SPDX-License-Identifier: MIT */
/* Results of training runs in words. */
#include "ui/run/result.h"

#include "ui/run/settings.h"
#include "ui/widgets/toast.h"

#include <glib/gi18n.h>
#include <math.h>

char *
lig_result_format (LigTraining *training)
{
  LigRunProgress progress;
  lig_training_get_progress (training, &progress);
  if (isnan (progress.loss))
    return g_strdup ("");
  g_autofree char *loss = lig_train_format_number (progress.loss);
  g_autofree char *validation = lig_train_format_number (progress.eval_loss);
  if (isnan (progress.eval_loss))
    return g_strdup_printf (_ ("loss %s"), loss);
  if (isnan (progress.eval_accuracy))
    return g_strdup_printf (_ ("loss %s · validation loss %s"), loss, validation);
  return g_strdup_printf (_ ("loss %s · validation loss %s · accuracy %.1f %%"), loss, validation,
                          progress.eval_accuracy * 100);
}

static gboolean
follow_link (GtkLabel *label, const char *page)
{
  gtk_widget_activate_action (GTK_WIDGET (label), "win.page", "s", page);
  return TRUE;
}

gboolean
lig_result_show (GtkLabel *label, LigTraining *training)
{
  LigRunProgress progress;
  lig_training_get_progress (training, &progress);
  g_autofree char *status = lig_train_format_status (training);
  g_autofree char *result = lig_result_format (training);
  if (progress.status != LIG_RUN_DONE) {
    gtk_label_set_text (label, status);
    return FALSE;
  }
  g_autofree char *rate = lig_run_describe_rate (&progress);
  g_autofree char *both = g_strjoin (" · ", status, *result ? result : rate, NULL);
  g_autofree char *whole = *result && rate ? g_strjoin (" · ", both, rate, NULL) : g_strdup (both);
  g_autofree char *markup =
    g_markup_printf_escaped ("%s · <a href=\"run\">%s</a>", whole, _ ("Show charts"));
  g_signal_handlers_disconnect_by_func (label, follow_link, NULL);
  g_signal_connect (label, "activate-link", G_CALLBACK (follow_link), NULL);
  gtk_label_set_markup (label, markup);
  return TRUE;
}

void
lig_result_announce (GtkWidget *widget, LigTraining *training)
{
  LigRunProgress progress;
  lig_training_get_progress (training, &progress);
  if (progress.status != LIG_RUN_DONE)
    return;
  g_autofree char *result = lig_result_format (training);
  g_autofree char *text =
    *result ? g_strdup_printf (_ ("%s is trained: %s"), lig_training_get_title (training), result)
            : g_strdup_printf (_ ("%s is trained"), lig_training_get_title (training));
  lig_toast (widget, text, _ ("Show charts"), "win.page::run");
}
