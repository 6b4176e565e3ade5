/* SPDX-License-Identifier: MIT */
/* Instances of ops: GObject properties over the plain params struct that an op's table describes.
 * Every op of the registry has its own final class, which one function makes from its table. */
#include <ligature/op.h>

#include "engine/sequence/literal.h"
#include "engine/sequence/op-private.h"
#include "engine/sequence/param-set.h"
#include "engine/sequence/ports.h"
#include <ligature/sequence.h>

#include <glib/gi18n-lib.h>
#include <string.h>

typedef struct {
  gpointer params;
  char *input_channels[LIG_MAX_EXTRA];
  char *output_channels[LIG_MAX_EXTRA];
  bool to_caller[LIG_MAX_EXTRA];
  LigParamSet given; /* the parameters that were set at least once */
  gboolean fence, frozen;
  gboolean moved;                     /* removed from a sequence at least once */
  char *ties[LIG_MAX_PARAMETERS];     /* as written */
  LigOp *targets[LIG_MAX_PARAMETERS]; /* weak: the ops that they name, once found */
  GStrv forbidden, forced;
  const char *param_names; /* interned; see lig_op_name_params() */
  char *unknown;
  LigSequence *body;
  LigSequence *owner; /* unowned */
} LigOpPrivate;

G_DEFINE_ABSTRACT_TYPE_WITH_PRIVATE (LigOp, lig_op, G_TYPE_OBJECT)

enum { PROP_FENCE = 1, PROP_TRAINED, FIRST_PARAM };
enum { CHANGED, N_SIGNALS };
static guint signals[N_SIGNALS];

static LigOpPrivate *
private_of (LigOp *self)
{
  return lig_op_get_instance_private (self);
}

static gpointer
field (LigOp *self, const LigParam *param)
{
  LigOpPrivate *private = private_of (self);
  switch (param->kind) {
  case LIG_PARAM_INPUT:
    return &private->input_channels[param->offset];
  case LIG_PARAM_OUTPUT:
    return &private->output_channels[param->offset];
  case LIG_PARAM_CALLER:
    return &private->to_caller[param->offset];
  case LIG_PARAM_PATH:
    return &private->ties[param->offset];
  default:
    return (char *) private->params + param->offset;
  }
}

void
lig_op_touch (LigOp *self)
{
  g_autoptr (LigOp) alive = g_object_ref (self);
  if (private_of (self)->owner)
    lig_sequence_touch (private_of (self)->owner);
  g_signal_emit (alive, signals[CHANGED], 0);
}

LigSequence *
lig_op_get_owner (LigOp *self)
{
  return private_of (self)->owner;
}

void
lig_op_set_owner (LigOp *self, LigSequence *owner)
{
  private_of (self)->moved |= owner == NULL;
  private_of (self)->owner = owner;
}

gboolean
lig_op_was_moved (LigOp *self)
{
  return private_of (self)->moved;
}

static void
reset (LigOp *self, const LigParam *param)
{
  gpointer at = field (self, param);
  switch (param->kind) {
  case LIG_PARAM_FLOAT:
    *(float *) at = (float) param->initial;
    break;
  case LIG_PARAM_INT:
    *(gint64 *) at = (gint64) param->initial;
    break;
  case LIG_PARAM_BOOL:
  case LIG_PARAM_CALLER:
    *(bool *) at = param->initial != 0;
    break;
  case LIG_PARAM_SHAPE:
    *(LigShape *) at = (LigShape){.n_axes = -1};
    break;
  case LIG_PARAM_CHOICE:
    *(gint32 *) at = (gint32) param->initial;
    break;
  case LIG_PARAM_INPUT:
  case LIG_PARAM_OUTPUT:
    g_clear_pointer ((char **) at, g_free);
    break;
  case LIG_PARAM_PATH:
    lig_op_set_tie (self, (int) param->offset, NULL, NULL);
    break;
  }
}

static void
set_text (char **at, const char *text)
{
  g_free (*at);
  *at = text && *text ? g_strdup (text) : NULL;
}

/* Returns FALSE if the value is invalid; the parameter is then unchanged. */
static gboolean
set_param (LigOp *self, const LigParam *param, const GValue *value)
{
  gpointer at = field (self, param);
  switch (param->kind) {
  case LIG_PARAM_FLOAT:
    *(float *) at = g_value_get_float (value);
    break;
  case LIG_PARAM_INT:
    *(gint64 *) at = g_value_get_int64 (value);
    break;
  case LIG_PARAM_BOOL:
  case LIG_PARAM_CALLER:
    *(bool *) at = g_value_get_boolean (value);
    break;
  case LIG_PARAM_SHAPE:
    if (g_value_get_boxed (value))
      *(LigShape *) at = *(const LigShape *) g_value_get_boxed (value);
    else
      reset (self, param);
    break;
  case LIG_PARAM_INPUT:
  case LIG_PARAM_OUTPUT:
    set_text (at, g_value_get_string (value));
    break;
  case LIG_PARAM_PATH:
    lig_op_set_tie (self, (int) param->offset, g_value_get_string (value), NULL);
    break;
  case LIG_PARAM_CHOICE:
    return lig_choice_store (param, g_value_get_string (value), at);
  }
  return TRUE;
}

static void
set_property (GObject *object, guint id, const GValue *value, GParamSpec *spec)
{
  LigOp *self = LIG_OP (object);
  if (id == PROP_FENCE)
    lig_op_set_fence (self, g_value_get_boolean (value));
  else if (id == PROP_TRAINED)
    lig_op_set_trained (self, g_value_get_boolean (value));
  else if (set_param (self, &lig_op_get_info (self)->params[id - FIRST_PARAM], value)) {
    lig_param_set_add (&private_of (self)->given, id - FIRST_PARAM);
    lig_op_touch (self);
  }
}

static void
get_property (GObject *object, guint id, GValue *value, GParamSpec *spec)
{
  LigOp *self = LIG_OP (object);
  if (id == PROP_FENCE) {
    g_value_set_boolean (value, private_of (self)->fence);
    return;
  }
  if (id == PROP_TRAINED) {
    g_value_set_boolean (value, !private_of (self)->frozen);
    return;
  }
  const LigParam *param = &lig_op_get_info (self)->params[id - FIRST_PARAM];
  gpointer at = field (self, param);
  switch (param->kind) {
  case LIG_PARAM_FLOAT:
    g_value_set_float (value, *(float *) at);
    break;
  case LIG_PARAM_INT:
    g_value_set_int64 (value, *(gint64 *) at);
    break;
  case LIG_PARAM_BOOL:
  case LIG_PARAM_CALLER:
    g_value_set_boolean (value, *(bool *) at);
    break;
  case LIG_PARAM_SHAPE:
    g_value_set_boxed (value, ((LigShape *) at)->n_axes < 0 ? NULL : at);
    break;
  case LIG_PARAM_INPUT:
  case LIG_PARAM_OUTPUT:
  case LIG_PARAM_PATH:
    g_value_set_string (value, *(char **) at);
    break;
  case LIG_PARAM_CHOICE:
    g_value_set_string (value, lig_param_get_choice (param, *(gint32 *) at));
    break;
  }
}

static void
lig_op_finalize (GObject *object)
{
  LigOpPrivate *private = private_of (LIG_OP (object));
  g_free (private->params);
  for (int i = 0; i < LIG_MAX_EXTRA; i++) {
    g_free (private->input_channels[i]);
    g_free (private->output_channels[i]);
  }
  for (int i = 0; i < LIG_MAX_PARAMETERS; i++) {
    g_free (private->ties[i]);
    g_clear_weak_pointer (&private->targets[i]);
  }
  g_strfreev (private->forbidden);
  g_strfreev (private->forced);
  g_free (private->unknown);
  if (private->body)
    lig_sequence_set_block (private->body, NULL);
  g_clear_object (&private->body);
  G_OBJECT_CLASS (lig_op_parent_class)->finalize (object);
}

static void
lig_op_class_init (LigOpClass *class)
{
  G_OBJECT_CLASS (class)->finalize = lig_op_finalize;
  /* Emitted after any change of a parameter, a channel, a fence or a block's ops. */
  signals[CHANGED] =
    g_signal_new ("changed", LIG_TYPE_OP, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
}

static void
lig_op_init (LigOp *self)
{
}

/* GObject does not inherit the accessors' property ids, so each op's class installs its own. */
static void
op_class_init (gpointer class, gpointer data)
{
  GObjectClass *object_class = G_OBJECT_CLASS (class);
  LigOpClass *op_class = LIG_OP_CLASS (class);
  op_class->info = data;
  object_class->set_property = set_property;
  object_class->get_property = get_property;
  g_object_class_install_property (
    object_class, PROP_FENCE,
    g_param_spec_boolean ("fence", "Fence",
                          "Whether fusions must not cross the gap before "
                          "this op",
                          FALSE, G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS));
  g_object_class_install_property (
    object_class, PROP_TRAINED,
    g_param_spec_boolean ("trained", "Trained", "Whether its parameters are trained, not frozen",
                          TRUE, G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS));
  for (guint i = 0; op_class->info->params && op_class->info->params[i].name; i++)
    g_object_class_install_property (object_class, FIRST_PARAM + i,
                                     lig_param_spec (&op_class->info->params[i]));
}

static void
op_instance_init (GTypeInstance *instance, gpointer class)
{
  LigOp *self = LIG_OP (instance);
  LigOpPrivate *private = private_of (self);
  const LigOpInfo *info = LIG_OP_CLASS (class)->info;
  private->params = g_malloc0 (MAX (info->params_size, 1));
  for (const LigParam *param = info->params; param && param->name; param++)
    reset (self, param);
  if (info->flags & LIG_OP_BLOCK) {
    private->body = lig_sequence_new ();
    lig_sequence_set_block (private->body, self);
  }
}

GType
lig_op_register_type (const LigOpInfo *info)
{
  g_autofree char *name = g_strconcat ("LigOp-", info->name, NULL);
  /* A type of this name already exists if a table of the same name was rejected before. */
  for (guint i = 2; g_type_from_name (name); i++) {
    g_free (name);
    name = g_strdup_printf ("LigOp-%s-%u", info->name, i);
  }
  GTypeInfo type = {
    .class_size = sizeof (LigOpClass),
    .class_init = op_class_init,
    .class_data = info,
    .instance_size = sizeof (LigOp),
    .instance_init = op_instance_init,
  };
  return g_type_register_static (LIG_TYPE_OP, name, &type, G_TYPE_FLAG_FINAL);
}

LigOp *
lig_op_copy (LigOp *self)
{
  LigOpPrivate *from = private_of (self);
  LigOp *copy = g_object_new (G_OBJECT_TYPE (self), NULL);
  LigOpPrivate *to = private_of (copy);
  memcpy (to->params, from->params, lig_op_get_info (self)->params_size);
  for (int i = 0; i < LIG_MAX_EXTRA; i++) {
    to->input_channels[i] = g_strdup (from->input_channels[i]);
    to->output_channels[i] = g_strdup (from->output_channels[i]);
    to->to_caller[i] = from->to_caller[i];
  }
  for (int i = 0; i < LIG_MAX_PARAMETERS; i++)
    to->ties[i] = g_strdup (from->ties[i]);
  to->given = from->given;
  to->fence = from->fence;
  to->frozen = from->frozen;
  to->forbidden = g_strdupv (from->forbidden);
  to->forced = g_strdupv (from->forced);
  to->unknown = g_strdup (from->unknown);
  if (from->body)
    lig_sequence_extend (to->body, from->body);
  return copy;
}

const LigOpInfo *
lig_op_get_info (LigOp *self)
{
  return LIG_OP_GET_CLASS (self)->info;
}

const char *
lig_op_get_name (LigOp *self)
{
  return lig_op_get_info (self)->name;
}

const void *
lig_op_get_params (LigOp *self)
{
  return private_of (self)->params;
}

gboolean
lig_op_check (LigOp *self, GError **error)
{
  const LigOpInfo *info = lig_op_get_info (self);
  for (guint i = 0; info->params && info->params[i].name; i++)
    if (info->params[i].flags & LIG_PARAM_REQUIRED &&
        !lig_param_set_has (&private_of (self)->given, i)) {
      g_set_error (error, LIG_ERROR, LIG_ERROR_OP, _ ("%s needs %s"), info->name,
                   info->params[i].name);
      return FALSE;
    }
  return TRUE;
}

gboolean
lig_op_get_value (LigOp *self, const LigParam *param, GValue *value)
{
  gpointer at = field (self, param);
  switch (param->kind) {
  case LIG_PARAM_FLOAT:
    g_value_init (value, G_TYPE_DOUBLE);
    g_value_set_double (value, (double) *(float *) at);
    return *(float *) at != (float) param->initial;
  case LIG_PARAM_INT:
    g_value_init (value, G_TYPE_INT64);
    g_value_set_int64 (value, *(gint64 *) at);
    return *(gint64 *) at != (gint64) param->initial;
  case LIG_PARAM_SHAPE:
    g_value_init (value, LIG_TYPE_SHAPE);
    g_value_set_boxed (value, at);
    return ((LigShape *) at)->n_axes >= 0;
  case LIG_PARAM_INPUT:
  case LIG_PARAM_OUTPUT:
  case LIG_PARAM_PATH:
    g_value_init (value, G_TYPE_STRING);
    g_value_set_string (value, *(char **) at);
    return *(char **) at != NULL;
  case LIG_PARAM_CHOICE:
    g_value_init (value, G_TYPE_STRING);
    g_value_set_string (value, lig_param_get_choice (param, *(gint32 *) at));
    return *(gint32 *) at != (gint32) param->initial;
  default:
    g_value_init (value, G_TYPE_BOOLEAN);
    g_value_set_boolean (value, *(bool *) at);
    return *(bool *) at != (param->initial != 0);
  }
}

/* Checks the index of an extra port against the op's table. */
static gboolean
check_extra (LigOp *self, int index, gboolean input, const char *channel, GError **error)
{
  const LigOpInfo *info = lig_op_get_info (self);
  const LigOpPorts *ports = lig_op_info_ports (info);
  int count = input ? ports->extra_inputs->count : ports->extra_outputs->count;
  if (index < 0 || index >= count) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_INDEX,
                 _ ("extra %s index %d is out of range for %s with %d extra %s"),
                 input ? _ ("input") : _ ("output"), index, info->name, count,
                 input ? _ ("inputs") : _ ("outputs"));
    return FALSE;
  }
  if (channel && !*channel) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_CHANNEL,
                 _ ("extra %s channel of %s must be a non-empty string or none"),
                 input ? _ ("input") : _ ("output"), info->name);
    return FALSE;
  }
  return TRUE;
}

gboolean
lig_op_set_extra_input_channel (LigOp *self, int index, const char *channel, GError **error)
{
  if (!check_extra (self, index, TRUE, channel, error))
    return FALSE;
  char *copy = g_strdup (channel);
  g_free (private_of (self)->input_channels[index]);
  private_of (self)->input_channels[index] = copy;
  lig_op_touch (self);
  return TRUE;
}

const char *
lig_op_get_extra_input_channel (LigOp *self, int index)
{
  g_return_val_if_fail (index >= 0 && index < LIG_MAX_EXTRA, NULL);
  return private_of (self)->input_channels[index];
}

gboolean
lig_op_set_extra_output_channel (
  LigOp *self, int index, const char *channel, gboolean to_caller, GError **error)
{
  if (!check_extra (self, index, FALSE, channel, error))
    return FALSE;
  char *copy = g_strdup (channel);
  g_free (private_of (self)->output_channels[index]);
  private_of (self)->output_channels[index] = copy;
  private_of (self)->to_caller[index] = to_caller;
  lig_op_touch (self);
  return TRUE;
}

/* Returns whether an output that may be absent goes to the caller. */
static gboolean
names_caller (LigOp *self, int index)
{
  return lig_op_info_is_optional_output (lig_op_get_info (self), index) &&
         g_strcmp0 (private_of (self)->output_channels[index], "caller") == 0;
}

const char *
lig_op_get_extra_output_channel (LigOp *self, int index)
{
  g_return_val_if_fail (index >= 0 && index < LIG_MAX_EXTRA, NULL);
  return names_caller (self, index) ? NULL : private_of (self)->output_channels[index];
}

gboolean
lig_op_get_extra_output_to_caller (LigOp *self, int index)
{
  g_return_val_if_fail (index >= 0 && index < LIG_MAX_EXTRA, FALSE);
  const LigOpPrivate *private = private_of (self);
  gboolean alone = !private->output_channels[index] &&
                   !lig_op_info_is_optional_output (lig_op_get_info (self), index);
  return private->to_caller[index] || alone || names_caller (self, index);
}

gboolean
lig_op_get_fence (LigOp *self)
{
  return private_of (self)->fence;
}

void
lig_op_set_fence (LigOp *self, gboolean fence)
{
  if (private_of (self)->fence == fence)
    return;
  private_of (self)->fence = fence;
  lig_op_touch (self);
}

gboolean
lig_op_get_trained (LigOp *self)
{
  return !private_of (self)->frozen;
}

void
lig_op_set_trained (LigOp *self, gboolean trained)
{
  if (private_of (self)->frozen == !trained)
    return;
  private_of (self)->frozen = !trained;
  lig_op_touch (self);
}

const char *
lig_op_get_tie (LigOp *self, int slot, LigOp **target)
{
  if (target)
    *target = private_of (self)->targets[slot];
  return private_of (self)->ties[slot];
}

void
lig_op_set_tie (LigOp *self, int slot, const char *path, LigOp *target)
{
  LigOpPrivate *private = private_of (self);
  char *copy = path && *path ? g_strdup (path) : NULL;
  int change = (copy != NULL) - (private->ties[slot] != NULL);
  g_free (private->ties[slot]);
  private->ties[slot] = copy;
  g_set_weak_pointer (&private->targets[slot], copy ? target : NULL);
  if (change != 0 && private->owner)
    lig_sequence_count_ties (private->owner, change);
}

static const char *const none[] = {NULL};

const char *const *
lig_op_get_forbidden (LigOp *self)
{
  GStrv list = private_of (self)->forbidden;
  return list ? (const char *const *) list : none;
}

const char *const *
lig_op_get_forced (LigOp *self)
{
  GStrv list = private_of (self)->forced;
  return list ? (const char *const *) list : none;
}

void
lig_op_set_forbidden (LigOp *self, const char *const *fusions)
{
  GStrv copy = g_strdupv ((GStrv) fusions);
  g_strfreev (private_of (self)->forbidden);
  private_of (self)->forbidden = copy;
  lig_op_touch (self);
}

void
lig_op_set_forced (LigOp *self, const char *const *fusions)
{
  GStrv copy = g_strdupv ((GStrv) fusions);
  g_strfreev (private_of (self)->forced);
  private_of (self)->forced = copy;
  lig_op_touch (self);
}

LigSequence *
lig_op_get_body (LigOp *self)
{
  return private_of (self)->body;
}

const char *
lig_op_get_unknown (LigOp *self)
{
  return private_of (self)->unknown;
}

void
lig_op_set_unknown (LigOp *self, const char *json)
{
  char *copy = g_strdup (json);
  g_free (private_of (self)->unknown);
  private_of (self)->unknown = copy;
}

const char *
lig_op_get_param_names (LigOp *self)
{
  return private_of (self)->param_names;
}

void
lig_op_set_param_names (LigOp *self, const char *names)
{
  private_of (self)->param_names = g_intern_string (names);
}
