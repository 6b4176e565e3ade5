/* SPDX-License-Identifier: MIT */
/* The error domain of the engine, the names of its codes, and the path, setting and remedy stored
 * in an error. */
#include "engine/base/remedy.h"

typedef struct {
  char *path, *setting, *param;
  gint64 value; /* of param */
} LigErrorPrivate;

static void
lig_error_private_init (LigErrorPrivate *self)
{
  *self = (LigErrorPrivate){NULL, NULL, NULL, 0};
}

static void
lig_error_private_copy (const LigErrorPrivate *self, LigErrorPrivate *copy)
{
  copy->path = g_strdup (self->path);
  copy->setting = g_strdup (self->setting);
  copy->param = g_strdup (self->param);
  copy->value = self->value;
}

static void
lig_error_private_clear (LigErrorPrivate *self)
{
  g_free (self->path);
  g_free (self->setting);
  g_free (self->param);
}

G_DEFINE_EXTENDED_ERROR (LigError, lig_error)

static const char *const names[] = {
  [LIG_ERROR_SHAPE] = "shape",   [LIG_ERROR_DTYPE] = "dtype",   [LIG_ERROR_MEMORY] = "memory",
  [LIG_ERROR_DEVICE] = "device", [LIG_ERROR_FORMAT] = "format", [LIG_ERROR_FILE] = "file",
  [LIG_ERROR_STORE] = "store",   [LIG_ERROR_RANKS] = "ranks",   [LIG_ERROR_CANCELLED] = "cancelled",
  [LIG_ERROR_OP] = "op",         [LIG_ERROR_VALUE] = "value",   [LIG_ERROR_CHANNEL] = "channel",
  [LIG_ERROR_FUSION] = "fusion", [LIG_ERROR_INDEX] = "index",   [LIG_ERROR_ORDER] = "order",
};

const char *
lig_error_code_name (const GError *error)
{
  if (error->domain == LIG_ERROR && error->code >= 0 && error->code < (int) G_N_ELEMENTS (names))
    return names[error->code];
  return "failed";
}

static LigErrorPrivate *
get_private (const GError *error)
{
  return error && error->domain == LIG_ERROR ? lig_error_get_private (error) : NULL;
}

static gboolean
replace (char **text, const char *with)
{
  char *old = *text;
  *text = g_strdup (with);
  g_free (old);
  return FALSE;
}

const char *
lig_error_get_path (const GError *error)
{
  LigErrorPrivate *private = get_private (error);
  return private ? private->path : NULL;
}

gboolean
lig_error_set_path (GError **error, const char *path)
{
  LigErrorPrivate *private = error ? get_private (*error) : NULL;
  return private ? replace (&private->path, path) : FALSE;
}

const char *
lig_error_get_setting (const GError *error)
{
  LigErrorPrivate *private = get_private (error);
  return private ? private->setting : NULL;
}

gboolean
lig_error_set_setting (GError **error, const char *setting)
{
  LigErrorPrivate *private = error ? get_private (*error) : NULL;
  return private ? replace (&private->setting, setting) : FALSE;
}

const char *
lig_error_get_remedy (const GError *error, gint64 *value)
{
  LigErrorPrivate *private = get_private (error);
  if (private)
    *value = private->value;
  return private ? private->param : NULL;
}

void
lig_error_set_remedy (GError **error, const char *param, gint64 value)
{
  LigErrorPrivate *private = error ? get_private (*error) : NULL;
  if (!private)
    return;
  replace (&private->param, param);
  private->value = value;
}
