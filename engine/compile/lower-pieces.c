/* SPDX-License-Identifier: MIT */
/* Products and exchanges by pieces, so that one piece is exchanged while another one is computed. A
 * piece is a value that has a part of the rows of another one, in its memory. */
#include "engine/compile/lower.h"
#include "engine/compile/quantizers.h"
#include <ligature/params-collective.h>

#include <stdlib.h>
#include <string.h>

/* Adds the piece of a value, whose rows are divided into `count` equal ones. The scales of rows are
 * a vector, with one element for each. */
static int
add_piece (LigDraft *draft, int whole, int index, int count)
{
  const LigValue *of = lig_value (draft, whole);
  LigShape shape = of->shape;
  LigValueRole role = of->role;
  g_autofree char *name = g_strdup (of->name);
  gint64 columns = shape.n_axes > 1 ? MAX (lig_shape_columns (&shape), 1) : 1;
  gint64 rows = lig_shape_size (&shape) / columns;
  int part = of->part;
  lig_shape_init (&shape, MIN (shape.n_axes, 2), rows / count, columns);
  int piece =
    lig_draft_add_value (draft, role, &shape, of->dtype, part, "%s@%d/%d", name, index, count);
  LigValue *added = lig_value (draft, piece);
  added->alias = whole;
  added->alias_offset = index * added->bytes;
  return piece;
}

int
lig_lower_piece (LigLowering *self, const char *port)
{
  const char *at = strchr (port, '@'), *form = strchr (at, ':');
  g_autofree char *op_port = g_strndup (port, (gsize) (at - port));
  g_autofree char *name = g_strconcat (op_port, form, NULL);
  char *slash;
  int index = (int) strtol (at + 1, &slash, 10), count = *slash ? atoi (slash + 1) : 1, piece;
  int whole = lig_lower_port (self, name);
  /* All rows have the scale of a tensor. */
  if (whole < 0 || (form && lig_value (self->draft, whole)->shape.n_axes == 0))
    return whole;
  g_autofree char *key = g_strdup_printf ("%d@%d/%d", whole, index, count);
  if (lig_find_own (self->draft, key, &piece))
    return piece;
  piece = add_piece (self->draft, whole, index, count);
  lig_keep_own (self->draft, g_steal_pointer (&key), piece);
  return piece;
}

int
lig_lower_get_place (LigLowering *self, int index)
{
  const LigCollectiveParams *params = lig_lower_params (self, index);
  return params ? lig_device_get_rank (self->draft->device, (LigRankGroup) params->group) : 0;
}

/* Returns the number of rows of which a piece has a multiple: products of quantized copies have
 * sides that their recipe divides. */
static gint64
find_multiple (const LigDraft *draft, const LigGroup *group)
{
  gint64 multiple = 1;
  for (int i = 0; i < group->count; i++) {
    const LigPart *part = lig_part (draft, group->first + i);
    if (lig_part_is_quantized (part))
      multiple = MAX (multiple, part->recipe->info->multiple);
  }
  return multiple;
}

gboolean
lig_group_can_divide (const LigDraft *draft, const LigGroup *group, int pieces)
{
  const LigPart *first = lig_part (draft, group->first);
  const LigPart *last = lig_part (draft, group->first + group->count - 1);
  const LigShape *x = &lig_value (draft, first->x)->shape, *y = &lig_value (draft, last->y)->shape;
  gint64 before = lig_shape_size (x) / MAX (lig_shape_columns (x), 1);
  gint64 behind = lig_shape_size (y) / MAX (lig_shape_columns (y), 1);
  return pieces > 0 && MIN (before, behind) % (pieces * find_multiple (draft, group)) == 0;
}

int
lig_group_get_given_pieces (const LigDraft *draft, const LigGroup *group)
{
  const char *given = getenv ("LIGATURE_PIECES");
  guint64 pieces;
  if (!given || !g_ascii_string_to_unsigned (given, 10, 1, G_MAXINT, &pieces, NULL))
    return 0;
  int most = MAX ((int) pieces, group->fusion->least_pieces);
  return lig_group_can_divide (draft, group, most) ? most : 0;
}

int
lig_group_get_pieces (const LigDraft *draft, const LigGroup *group)
{
  int given = lig_group_get_given_pieces (draft, group);
  int pieces = given > 0 ? given : MAX (group->pieces, group->fusion->least_pieces);
  return lig_group_can_divide (draft, group, pieces) ? pieces : 1;
}

int
lig_lower_get_pieces (LigLowering *self)
{
  return lig_group_get_pieces (self->draft, self->group);
}

gboolean
lig_lower_can_divide (LigLowering *self, const char *port, int parts)
{
  int value = lig_lower_port (self, port);
  if (value < 0 || parts < 1)
    return FALSE;
  const LigShape *shape = &lig_value (self->draft, value)->shape;
  return lig_shape_size (shape) / MAX (lig_shape_columns (shape), 1) % parts == 0;
}

gboolean
lig_lower_has_choice (LigLowering *self, int element, const char *param, const char *value)
{
  g_autofree char *present = NULL;
  if (!lig_lower_op (self, element))
    return FALSE;
  LigOp *op = lig_part (self->draft, self->group->elements[element])->op;
  GParamSpec *spec = g_object_class_find_property (G_OBJECT_GET_CLASS (op), param);
  if (!spec || G_PARAM_SPEC_VALUE_TYPE (spec) != G_TYPE_STRING)
    return FALSE;
  g_object_get (op, param, &present, NULL);
  return g_strcmp0 (present, value) == 0;
}
