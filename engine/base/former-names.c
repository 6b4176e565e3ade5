/* SPDX-License-Identifier: MIT */
#include "engine/base/former-names.h"

#include <glib/gi18n-lib.h>
#include <string.h>

static const struct {
  LigFormerKind kind;
  const char *former, *current;
} names[] = {
  {LIG_FORMER_OP, "recall", "load-branch"},
  {LIG_FORMER_OP, "take-part", "shard-rows"},
  {LIG_FORMER_DATA, "held-out", "validation"},
  {LIG_FORMER_DATA, "held-out-files", "validation-files"},
  {LIG_FORMER_DATA, "missing=refuse", "missing=reject"},
  {LIG_FORMER_OPTION, "apply-mend", "apply-fix"},
  {LIG_FORMER_MEMBER, "processors", "cpus"},
  {LIG_FORMER_MEMBER, "own-forward", "built-in-forward"},
  {LIG_FORMER_MEMBER, "own-backward", "built-in-backward"},
  {LIG_FORMER_MEMBER, "product", "matmul"},
  {LIG_FORMER_MEMBER, "products", "matmuls"},
  {LIG_FORMER_MEMBER, "wide-products", "wide-matmuls"},
  {LIG_FORMER_MEMBER, "product-bias", "matmul-bias"},
  {LIG_FORMER_MEMBER, "product-gelu", "matmul-gelu"},
  {LIG_FORMER_MEMBER, "product-add", "matmul-add"},
  {LIG_FORMER_MEMBER, "product-gelu-gradient", "matmul-gelu-gradient"},
  {LIG_FORMER_MEMBER, "product-gelu-sums", "matmul-gelu-sums"},
  {LIG_FORMER_MEMBER, "product-sums", "matmul-sums"},
};

static GMutex lock;
/* Whether each name was used, and whether its remark was taken. */
static gboolean met[G_N_ELEMENTS (names)], taken[G_N_ELEMENTS (names)];

const char *
lig_former_name_replace (LigFormerKind kind, const char *name)
{
  for (guint i = 0; name && i < G_N_ELEMENTS (names); i++) {
    if (names[i].kind != kind || strcmp (names[i].former, name) != 0)
      continue;
    g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&lock);
    met[i] = kind != LIG_FORMER_MEMBER;
    return names[i].current;
  }
  return name;
}

const char *
lig_former_name_get (LigFormerKind kind, const char *name)
{
  for (guint i = 0; name && i < G_N_ELEMENTS (names); i++)
    if (names[i].kind == kind && strcmp (names[i].current, name) == 0)
      return names[i].former;
  return NULL;
}

char **
lig_former_names_take_remarks (void)
{
  g_autoptr (GStrvBuilder) remarks = g_strv_builder_new ();
  g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&lock);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    if (!met[i] || taken[i])
      continue;
    const char *dashes = names[i].kind == LIG_FORMER_OPTION ? "--" : "";
    g_autofree char *remark = g_strdup_printf (_ ("%s%s is now called %s%s"), dashes,
                                               names[i].former, dashes, names[i].current);
    g_strv_builder_add (remarks, remark);
    taken[i] = TRUE;
  }
  return g_strv_builder_end (remarks);
}
