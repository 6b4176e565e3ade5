/* SPDX-License-Identifier: MIT */
/* Checks the table of an op without calling any of its functions. */
#include "engine/base/rejection.h"
#include "engine/sequence/op-private.h"
#include "engine/sequence/param-set.h"
#include "engine/sequence/ports.h"
#include "engine/sequence/table.h"
#include "kernels/functions.h"
#include <ligature/kernels.h>
#include <ligature/params-loss.h>
#include <ligature/params-norm.h>

#include <math.h>
#include <string.h>

#define reject(error, table, ...) lig_reject (error, LIG_ERROR_OP, "op", (table)->name, __VA_ARGS__)

#define LARGEST_WHOLE 9007199254740992 /* 2^53 */

/* --- Words ---------------------------------------------------------------------------------- */

static gboolean
check_words (const LigOpInfo *info, GError **error)
{
  const struct {
    const char *field, *text;
  } words[] = {{"title", info->title},
               {"category", info->category},
               {"summary", info->summary},
               {"example", info->example}};
  if (!lig_name_check (info->name, "-", LIG_LONGEST_NAME) || g_str_has_suffix (info->name, "-") ||
      g_str_equal (info->name, "true") || g_str_equal (info->name, "false")) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_OP,
                 "an op is called '%.60s', expected a name in kebab-case of at most %d bytes, not "
                 "true or false",
                 info->name ? info->name : "", LIG_LONGEST_NAME);
    return FALSE;
  }
  for (guint i = 0; i < G_N_ELEMENTS (words); i++)
    if (!words[i].text || !*words[i].text)
      return reject (error, info, "it has no %s", words[i].field);
  /* Only the library defines blocks and the op that recipes insert. */
  const unsigned allowed = (LIG_OP_GROUPED * 2 - 1) & ~(unsigned) (LIG_OP_BLOCK | LIG_OP_QUANTIZES);
  if (info->flags & ~allowed)
    return reject (error, info, "its flags are 0x%x, expected some of 0x%x", info->flags, allowed);
  if (info->flags & LIG_OP_LOADS_BRANCH &&
      (!info->extra_inputs || info->flags & LIG_OP_TRANSPARENT))
    return reject (error, info,
                   "it does not read x, so it must have an extra input and not be transparent");
  return TRUE;
}

/* --- Parameters in files -------------------------------------------------------------------- */

static gsize
field_size (const LigParam *param)
{
  switch (param->kind) {
  case LIG_PARAM_FLOAT:
    return sizeof (float);
  case LIG_PARAM_INT:
    return sizeof (gint64);
  case LIG_PARAM_BOOL:
    return sizeof (bool);
  case LIG_PARAM_CHOICE:
    return sizeof (gint32);
  case LIG_PARAM_SHAPE:
    return sizeof (LigShape);
  default:
    return 0; /* a channel, not in the struct */
  }
}

/* A macro passes the path to its parts, whose tables are unknown here. */
static gboolean
check_tie (const LigOpInfo *info, const LigParam *param, GError **error)
{
  gsize count = 0;
  while (info->parameters && info->parameters[count].name)
    count++;
  return param->offset < (info->expand ? LIG_MAX_PARAMETERS : count) ||
         reject (error, info,
                 "parameter %s ties trained parameter %" G_GSIZE_FORMAT
                 ", there are %" G_GSIZE_FORMAT,
                 param->name, param->offset, count);
}

static gboolean
check_place (const LigOpInfo *info, const LigParam *param, GError **error)
{
  gsize size = field_size (param), align = param->kind == LIG_PARAM_SHAPE ? 8 : size;
  if (param->kind == LIG_PARAM_PATH)
    return check_tie (info, param, error);
  if (size == 0) {
    gboolean input = param->kind == LIG_PARAM_INPUT;
    int count = lig_ports_parse (input ? info->extra_inputs : info->extra_outputs)->count;
    return param->offset < (gsize) count ||
           reject (error, info, "parameter %s is of extra %s %" G_GSIZE_FORMAT ", there are %d",
                   param->name, input ? "input" : "output", param->offset, count);
  }
  if (param->offset > info->params_size || info->params_size - param->offset < size)
    return reject (error, info,
                   "parameter %s has its end at byte %" G_GSIZE_FORMAT
                   ", that of the params struct is at %" G_GSIZE_FORMAT,
                   param->name, param->offset + size, info->params_size);
  return param->offset % align == 0 || reject (error, info,
                                               "parameter %s is at byte %" G_GSIZE_FORMAT
                                               ", expected a multiple of %" G_GSIZE_FORMAT,
                                               param->name, param->offset, align);
}

/* The comparisons are written so that NaN fails. */
static gboolean
check_range (const LigOpInfo *info, const LigParam *param, GError **error)
{
  gboolean whole = param->kind == LIG_PARAM_INT;
  gboolean open = whole && param->flags & (LIG_PARAM_REQUIRED | LIG_PARAM_INFERRED);
  double largest = whole ? (double) LARGEST_WHOLE : (double) G_MAXFLOAT;
  if (!whole && param->kind != LIG_PARAM_FLOAT)
    return TRUE;
  gboolean fits = param->minimum >= -largest && param->maximum <= largest &&
                  param->minimum <= param->maximum && param->initial <= param->maximum &&
                  (open ? param->initial >= -largest : param->initial >= param->minimum);
  if (whole)
    fits = fits && param->minimum == floor (param->minimum) &&
           param->maximum == floor (param->maximum) && param->initial == floor (param->initial);
  return fits || reject (error, info, "parameter %s is %g of %g to %g, expected %s in a range",
                         param->name, param->initial, param->minimum, param->maximum,
                         whole ? "a whole number" : "a number");
}

static gboolean
check_param (const LigOpInfo *info, const LigParam *param, GHashTable *seen, GError **error)
{
  static const char *const taken[] = {"fence", "trained", "op", "ops", "true", "false", NULL};
  if (!lig_name_check (param->name, "-", LIG_LONGEST_NAME) || g_strv_contains (taken, param->name))
    return reject (error, info,
                   "a parameter is called '%.60s', expected a name in kebab-case other than fence, "
                   "trained, op, ops, true and false",
                   param->name);
  if (!g_hash_table_add (seen, (gpointer) param->name))
    return reject (error, info, "two parameters are called %s", param->name);
  if ((unsigned) param->kind > LIG_PARAM_PATH)
    return reject (error, info, "parameter %s has the unknown kind %d", param->name,
                   (int) param->kind);
  if (!param->label || !param->help)
    return reject (error, info, "parameter %s has no label or no help", param->name);
  if (param->kind == LIG_PARAM_CHOICE && !lig_choices_check (info, param, error))
    return FALSE;
  return check_place (info, param, error) && check_range (info, param, error);
}

static gboolean
check_params (const LigOpInfo *info, GError **error)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);
  guint count = 0, positional = 0;
  while (info->params && info->params[count].name)
    count++;
  if (count > LIG_MAX_OP_PARAMS)
    return reject (error, info, "it has %u parameters, at most %d are allowed", count,
                   LIG_MAX_OP_PARAMS);
  for (guint i = 0; i < count; i++) {
    if (!check_param (info, &info->params[i], seen, error))
      return FALSE;
    positional += (info->params[i].flags & LIG_PARAM_POSITIONAL) != 0;
  }
  if (positional > 1)
    return reject (error, info, "%u parameters are positional, at most 1 is allowed", positional);
  if (info->kernel_params_size > LIG_MAX_PARAMS)
    return reject (error, info,
                   "its kernels have params of %" G_GSIZE_FORMAT " bytes, at most %d are "
                   "allowed",
                   info->kernel_params_size, LIG_MAX_PARAMS);
  return info->kernel_params_size <= info->params_size ||
         reject (
           error, info,
           "its kernels have params of %" G_GSIZE_FORMAT " byte%s, the op of %" G_GSIZE_FORMAT,
           info->kernel_params_size, LIG_ENDING (info->kernel_params_size), info->params_size);
}

/* --- Ports ---------------------------------------------------------------------------------- */

static gboolean
has_parameter (const LigOpInfo *info, const char *name)
{
  for (const LigParameterInfo *at = info->parameters; at && at->name; at++)
    if (g_str_equal (at->name, name))
      return TRUE;
  return FALSE;
}

/* Returns whether a port exists before backward: x, y, extra ones, parameters, computed values. */
static gboolean
is_forward (const LigOpInfo *info, const char *port, gboolean written)
{
  gboolean output = g_str_equal (port, "y") ||
                    lig_ports_find (lig_ports_parse (info->extra_outputs), port) >= 0 ||
                    lig_ports_find (lig_ports_parse (info->computes), port) >= 0;
  gboolean input = g_str_equal (port, "x") ||
                   lig_ports_find (lig_ports_parse (info->extra_inputs), port) >= 0 ||
                   has_parameter (info, port);
  return written ? output : input;
}

/* Returns whether a port is the gradient of another; computed values have no gradients. */
static gboolean
is_gradient (const LigOpInfo *info, const char *port)
{
  return port[0] == 'd' && lig_ports_find (lig_ports_parse (info->computes), port + 1) < 0 &&
         (is_forward (info, port + 1, FALSE) || is_forward (info, port + 1, TRUE));
}

gboolean
lig_op_info_has_port (const LigOpInfo *info, const char *port)
{
  return is_forward (info, port, FALSE) || is_forward (info, port, TRUE) ||
         is_gradient (info, port);
}

/* Adds a port and its gradient to the names that are taken. */
static gboolean
add_port (const LigOpInfo *info, const char *name, GHashTable *seen, GError **error)
{
  if (!lig_name_check (name, "_", LIG_LONGEST_PORT))
    return reject (error, info,
                   "a port is called '%.60s', expected at most %d lower-case letters, digits or _ "
                   "after a letter",
                   name, LIG_LONGEST_PORT);
  if (!g_hash_table_add (seen, g_strdup (name)) ||
      !g_hash_table_add (seen, g_strconcat ("d", name, NULL)))
    return reject (error, info, "two ports or gradients of ports are called %s or d%s", name, name);
  return TRUE;
}

static gboolean
add_ports (const LigOpInfo *info,
           const char *what,
           gboolean optional,
           const char *names,
           int max,
           GHashTable *seen,
           GError **error)
{
  g_auto (GStrv) words = g_strsplit (names ? names : "", " ", -1);
  int count = 0;
  for (char **word = words; *word; word++) {
    if (!**word)
      continue;
    if (optional && g_str_has_suffix (*word, "?"))
      (*word)[strlen (*word) - 1] = '\0';
    if (!add_port (info, *word, seen, error))
      return FALSE;
    count++;
  }
  return count <= max ||
         reject (error, info, "it has %d %s, at most %d are allowed", count, what, max);
}

static gboolean
check_trained (const LigOpInfo *info, GHashTable *seen, GError **error)
{
  int count = 0;
  for (const LigParameterInfo *at = info->parameters; at && at->name; at++, count++) {
    if (!add_port (info, at->name, seen, error))
      return FALSE;
    if ((unsigned) at->init > LIG_INIT_NORMAL)
      return reject (error, info, "%s has the unknown initialization %d", at->name, (int) at->init);
    if (at->own_update && (!info->lower_update || at->matmul || at->decays))
      return reject (error, info,
                     "its parameter %s has own_update, so it needs lower_update, and neither "
                     "matmul nor decays",
                     at->name);
  }
  if (count > LIG_MAX_PARAMETERS)
    return reject (error, info, "it has %d trained parameters, at most %d are allowed", count,
                   LIG_MAX_PARAMETERS);
  return count == 0 || info->infer ||
         reject (error, info, "its trained parameters have no shapes; give it an infer function");
}

static gboolean
check_saves (const LigOpInfo *info, GError **error)
{
  g_auto (GStrv) words = g_strsplit (info->saves ? info->saves : "", " ", -1);
  for (char **word = words; *word; word++)
    if (**word && !is_forward (info, *word, FALSE) && !is_forward (info, *word, TRUE))
      return reject (error, info,
                     "it saves '%.60s', expected x, y, an extra input or output, a trained "
                     "parameter or a computed value",
                     *word);
  return TRUE;
}

static gboolean
check_watches (const LigOpInfo *info, GError **error)
{
  g_auto (GStrv) words = g_strsplit (info->watches ? info->watches : "", " ", -1);
  for (char **word = words; *word; word++)
    if (**word && lig_ports_find (lig_ports_parse (info->computes), *word) < 0)
      return reject (error, info, "it watches '%.60s', expected a computed value", *word);
  return TRUE;
}

static gboolean
check_ports (const LigOpInfo *info, GError **error)
{
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  return add_ports (info, "main ports", FALSE, "x y", 2, seen, error) &&
         add_ports (info, "extra inputs", TRUE, info->extra_inputs, LIG_MAX_EXTRA, seen, error) &&
         add_ports (info, "extra outputs", info->expand != NULL, info->extra_outputs, LIG_MAX_EXTRA,
                    seen, error) &&
         add_ports (info, "computed values", FALSE, info->computes, LIG_MAX_KEPT, seen, error) &&
         check_trained (info, seen, error) && check_saves (info, error) &&
         check_watches (info, error);
}

/* --- Traits --------------------------------------------------------------------------------- */

static gboolean
has_param (const LigOpInfo *info, const char *name, LigParamKind kind)
{
  const LigParam *param = info->params;
  while (param && param->name && !g_str_equal (param->name, name))
    param++;
  return param && param->name && param->kind == kind;
}

/* Checks that the op has the ports and parameters that its flags promise. */
static gboolean
check_flags (const LigOpInfo *info, GError **error)
{
  const unsigned collective = LIG_OP_COLLECTIVE | LIG_OP_MOVES_ROWS;
  if (info->flags & LIG_OP_MATMUL && !has_parameter (info, "weight"))
    return reject (error, info, "it is a matmul, so it needs the trained parameter weight");
  if (info->flags & LIG_OP_CLASSES &&
      (!(info->flags & LIG_OP_LOSS) || lig_ports_parse (info->extra_inputs)->count == 0 ||
       info->kernel_params_size < sizeof (LigCrossEntropyParams)))
    return reject (error, info,
                   "it has classes, so it must be a loss with an extra input, the targets, and "
                   "params that begin like those of cross-entropy");
  if (info->flags & collective && !has_param (info, "group", LIG_PARAM_CHOICE))
    return reject (error, info, "it is a collective, so it needs the parameter group");
  return !(info->flags & LIG_OP_NORM) ||
         (lig_ports_find (lig_ports_parse (info->computes), "rstd") >= 0 && info->forward &&
          has_parameter (info, "weight") && info->kernel_params_size == sizeof (LigNormParams)) ||
         reject (error, info,
                 "it is a norm, so it needs a forward kernel, a norm's params, the parameter "
                 "weight and the computed value rstd");
}

static gboolean
check_traits (const LigOpInfo *info, GError **error)
{
  const unsigned kind = info->flags & (LIG_OP_ACTIVATION | LIG_OP_GATED);
  const int max = kind == LIG_OP_ACTIVATION ? LIG_N_ACTIVATIONS
                  : kind == LIG_OP_GATED    ? LIG_N_GATED
                                            : 0;
  if (info->function < 0 || info->function > max)
    return reject (error, info, "its function is %d, expected 0 to %d", info->function, max);
  if (!info->vocabulary != !info->vocabulary_choice ||
      (info->vocabulary && (!has_param (info, info->vocabulary, LIG_PARAM_INT) ||
                            !has_param (info, "parallel", LIG_PARAM_CHOICE))))
    return reject (error, info,
                   "its vocabulary is '%.60s', expected one of its parameters, next to the "
                   "parameter parallel and a choice of it",
                   info->vocabulary ? info->vocabulary : "");
  if (info->collect && !info->expand)
    return reject (error, info, "it collapses parts, so it must be a macro");
  return check_flags (info, error);
}

/* --- Kernels -------------------------------------------------------------------------------- */

static gboolean
saves (const LigOpInfo *info, const char *port)
{
  return lig_ports_find (lig_ports_parse (info->saves), port) >= 0 || has_parameter (info, port);
}

/* Checks that each operand of a kernel is a port that its pass reads or writes. */
static gboolean
check_kernel (const LigOpInfo *info, const char *name, gboolean backward, GError **error)
{
  const LigKernel *kernel = lig_kernel_named (name);
  if (!kernel)
    return reject (error, info, "no kernel is called '%.60s'; register it before the op", name);
  const LigPorts *operands = lig_ports_parse (kernel->signature);
  for (int i = 0; i < operands->count; i++) {
    const char *operand = operands->ports[i].name;
    gboolean written = i >= operands->n_inputs;
    gboolean fits = !backward ? is_forward (info, operand, written)
                              : is_gradient (info, operand) || (!written && saves (info, operand));
    if (!fits)
      return reject (error, info, "its kernel %s %s '%s', which is not a port that its %s %s", name,
                     written ? "writes" : "reads", operand, backward ? "backward" : "forward",
                     written ? "writes" : "reads");
  }
  return TRUE;
}

static gboolean
check_kernels (const LigOpInfo *info, GError **error)
{
  for (int backward = 0; backward < 2; backward++) {
    const char *kernels = backward ? info->backward : info->forward;
    g_auto (GStrv) names = g_strsplit (kernels ? kernels : "", " ", -1);
    int count = 0;
    for (char **name = names; *name; name++) {
      if (!**name)
        continue;
      if (!check_kernel (info, *name, backward, error))
        return FALSE;
      count++;
    }
    if (kernels && (count == 0 || (count > 1 && !backward)))
      return reject (error, info, "it has %d kernel%s for %s, expected %s", count,
                     LIG_ENDING (count), backward ? "backward" : "forward",
                     backward ? "at least 1" : "1");
  }
  return TRUE;
}

/* Checks that an op has exactly one way of computing its output. */
static gboolean
check_ways (const LigOpInfo *info, GError **error)
{
  int ways = (info->forward != NULL) + (info->lower_forward != NULL) + (info->expand != NULL) +
             (info->opaque_forward != NULL);
  if (ways != 1)
    return reject (error, info,
                   "it has %d way%s of computing its output, expected 1 of forward, lower_forward, "
                   "expand and opaque_forward",
                   ways, LIG_ENDING (ways));
  if (info->backward && info->lower_backward)
    return reject (error, info, "it has both backward and lower_backward, expected one");
  if (info->expand && (info->backward || info->lower_backward || info->opaque_backward ||
                       info->parameters || info->computes || info->saves))
    return reject (error, info, "it is a macro, so its parts define backward, not the macro");
  gboolean bare = !info->backward && !info->lower_backward && !info->parameters &&
                  !info->extra_inputs && !info->extra_outputs && !info->computes;
  if (info->opaque_forward && !bare)
    return reject (error, info,
                   "it is opaque, so it must not have extra ports, trained parameters, "
                   "computed values or kernels");
  return !info->opaque_backward || info->opaque_forward ||
         reject (error, info, "it has opaque_backward without opaque_forward");
}

/* Returns whether two tables have the same parameters in the same order, in which kernels read
 * them. */
static gboolean
has_same_parameters (const LigOpInfo *a, const LigOpInfo *b)
{
  int i = 0;
  while (a->parameters && a->parameters[i].name && b->parameters && b->parameters[i].name &&
         g_str_equal (a->parameters[i].name, b->parameters[i].name))
    i++;
  return !(a->parameters && a->parameters[i].name) && !(b->parameters && b->parameters[i].name);
}

/* Checks that the steps of a fusion for another op can read and write the ports of this one. */
static gboolean
check_fuses_as (const LigOpInfo *info, GError **error)
{
  const LigOpInfo *as = info->fuses_as ? lig_op_info_find (info->fuses_as) : NULL;
  if (!info->fuses_as)
    return TRUE;
  if (!as)
    return reject (error, info, "it fuses as '%.60s', which is not an op", info->fuses_as);
  gboolean same = g_strcmp0 (info->extra_inputs, as->extra_inputs) == 0 &&
                  g_strcmp0 (info->extra_outputs, as->extra_outputs) == 0 &&
                  g_strcmp0 (info->computes, as->computes) == 0 && has_same_parameters (info, as);
  if (!same)
    return reject (error, info, "it fuses as %s, whose ports or parameters have other names",
                   as->name);
  return info->kernel_params_size == as->kernel_params_size ||
         reject (error, info, "it fuses as %s, whose kernels read other params", as->name);
}

gboolean
lig_op_info_check (const LigOpInfo *info, GError **error)
{
  return check_words (info, error) && check_ports (info, error) && check_params (info, error) &&
         lig_op_groups_check (info, error) && check_ways (info, error) &&
         check_kernels (info, error) && check_traits (info, error) && check_fuses_as (info, error);
}
