/* SPDX-License-Identifier: MIT */
/* The groups of a step by name, in decreasing order of time. */
#include <ligature/hotspots.h>

#include <glib/gi18n-lib.h>
#include <string.h>

/* A macro of at most this many parts is named like an op. */
enum { FEW_PARTS = 3 };

/* The described place of a group, without the number of repetitions. */
typedef struct {
  const LigOpInfo *macro; /* null: the group begins outside a macro */
  char *path;             /* a pattern: `2.*.0`; for a macro, that of the enclosing block: `2` */
} Place;

/* Groups of one name, while they are collected. */
typedef struct {
  LigHotspot *hotspot;
  const char *title;
  char *part;
  Place place;
  GHashTable *paths; /* the path of the first op */
} Kind;

static void
free_kind (gpointer data)
{
  Kind *self = data;
  g_free (self->part);
  g_free (self->place.path);
  g_hash_table_unref (self->paths);
  g_free (self);
}

void
lig_hotspot_free (LigHotspot *self)
{
  if (!self)
    return;
  g_free (self->name);
  g_free (self->path);
  g_free (self);
}

/* --- Places -------------------------------------------------------------------------------- */

/* Returns a path with `*` for repetition numbers: `3.*.2` for `3.7.2`. */
static char *
make_pattern (const char *path)
{
  g_auto (GStrv) numbers = g_strsplit (path, ".", -1);
  for (guint i = 1; numbers[0] && numbers[i]; i += 2) {
    g_free (numbers[i]);
    numbers[i] = g_strdup ("*");
  }
  return g_strjoinv (".", numbers);
}

/* Returns the macro that an op is a part of, or null. */
static const LigOpInfo *
find_macro (const LigPlanOp *ops, int count, int at)
{
  int first = at, end = at + 1;
  while (first > 0 && g_str_equal (ops[first - 1].path, ops[at].path))
    first--;
  while (end < count && g_str_equal (ops[end].path, ops[at].path))
    end++;
  return end - first > FEW_PARTS ? lig_op_info_find (ops[at].title) : NULL;
}

/* A macro within blocks is named with them; one outside of blocks is named without a place, because
 * equal macros may follow one another there. */
static Place
find_place (const LigPlanOp *ops, int count, int at)
{
  Place place = {.macro = find_macro (ops, count, at), .path = make_pattern (ops[at].path)};
  if (!place.macro)
    return place;
  char *dot = strrchr (place.path, '.');
  if (dot)
    *dot = '\0';
  dot = strrchr (place.path, '.');
  *(dot ? dot : place.path) = '\0';
  return place;
}

/* Returns the part of a macro that names a group, its matmul if it has one; null if none does. */
static const char *
find_part (const LigPlanOp *ops, const LigPlanGroup *group)
{
  const char *found = NULL;
  for (int i = group->first; i < group->first + group->count; i++) {
    const char *part = lig_plan_op_get_part (&ops[i]);
    gboolean matmul = ops[i].info->flags & LIG_OP_MATMUL;
    if (part && !g_str_equal (part, ops[i].info->name) && (!found || matmul))
      found = part;
  }
  return found;
}

/* --- Names --------------------------------------------------------------------------------- */

static char *
name_kind (const Kind *self)
{
  guint count = g_hash_table_size (self->paths);
  g_autofree char *suffix = self->part ? g_strconcat (" · ", self->part, NULL) : NULL;
  /* The title of an unfused op contains the name of its part. */
  gboolean named = !suffix || g_str_has_suffix (self->title, suffix);
  g_autofree char *what = g_strconcat (self->title, named ? NULL : suffix, NULL);
  g_autofree char *times = count > 1 ? g_strdup_printf ("%u\u00a0× ", count) : g_strdup ("");
  if (!self->place.macro) {
    g_autofree char *place =
      g_strdup_printf (_ ("%s at %s"), what, count > 1 ? self->place.path : self->hotspot->path);
    return count > 1 ? g_strdup_printf ("%s\u00a0× %u", place, count) : g_steal_pointer (&place);
  }
  g_autofree char *macros = g_strconcat (times, _ (self->place.macro->title), NULL);
  if (count > 1 && !*self->place.path)
    /* Translators: a group, a number of macros: Linear · qkv in 48 × Transformer layer. */
    return g_strdup_printf (_ ("%s in %s"), what, macros);
  /* Translators: a group, one or several macros, the path of that one or of the block around them:
   * Linear · qkv in 12 × Transformer layer at 2. */
  return g_strdup_printf (_ ("%s in %s at %s"), what, macros,
                          count > 1 ? self->place.path : self->hotspot->path);
}

char *
lig_hotspot_describe (const LigHotspot *self)
{
  g_autoptr (GString) text = g_string_new (NULL);
  gboolean both = self->counts[0] > 0 && self->counts[1] > 0;
  if (!self->path)
    return NULL;
  for (int pass = 0; pass < 2; pass++) {
    g_autofree char *time = lig_figures_time_text (&self->passes[pass]);
    if (self->counts[pass] == 0)
      continue;
    g_string_append_printf (text, "%s%s", text->len > 0 ? ", " : "",
                            pass == LIG_PASS_FORWARD ? _ ("forward") : _ ("backward"));
    if (self->counts[pass] > 1)
      g_string_append_printf (text, " × %u", self->counts[pass]);
    if (both && time)
      g_string_append_printf (text, " %s", time);
  }
  g_autofree char *rate = lig_figures_rate_text (&self->figures);
  if (rate)
    g_string_append_printf (text, " · %s", rate);
  return g_strdup (text->str);
}

void
lig_hotspot_sum (GPtrArray *list, LigFigures *sum)
{
  lig_figures_init (sum);
  for (guint i = 0; i < list->len; i++)
    lig_figures_add (sum, &((const LigHotspot *) list->pdata[i])->figures);
}

char *
lig_hotspot_share_text (const LigFigures *figures, const LigFigures *whole)
{
  g_autofree char *time = lig_figures_time_text (figures);
  if (!(whole->seconds > 0) || !time)
    return g_strdup (time ? time : "");
  return g_strdup_printf ("%s · %.0f %%", time, 100 * figures->seconds / whole->seconds);
}

/* --- All ----------------------------------------------------------------------------------- */

static Kind *
find_kind (GPtrArray *all, GHashTable *known, LigPlan *plan, const LigPlanGroup *group)
{
  guint count;
  const LigPlanOp *ops = lig_plan_get_ops (plan, &count);
  Place place = find_place (ops, (int) count, group->first);
  const char *part = find_part (ops, group);
  char *key = g_strdup_printf ("%s|%s|%s|%s", group->title, part ? part : "",
                               place.macro ? place.macro->name : "", place.path);
  Kind *kind = g_hash_table_lookup (known, key);
  if (kind) {
    g_free (place.path);
    g_free (key);
    return kind;
  }
  kind = g_new0 (Kind, 1);
  kind->hotspot = g_new0 (LigHotspot, 1);
  kind->hotspot->path = g_strdup (ops[group->first].path);
  for (int pass = 0; pass < 2; pass++)
    lig_figures_init (&kind->hotspot->passes[pass]);
  lig_figures_init (&kind->hotspot->figures);
  kind->title = group->title;
  kind->part = g_strdup (part);
  kind->place = place;
  kind->paths = g_hash_table_new (g_str_hash, g_str_equal);
  g_ptr_array_add (all, kind->hotspot);
  g_hash_table_insert (known, key, kind);
  return kind;
}

static void
add_group (GPtrArray *all,
           GHashTable *known,
           const LigTimedPlan *timed,
           const LigTimedPlan *unfused,
           const LigPlanGroup *group)
{
  guint count;
  LigFigures figures;
  Kind *kind = find_kind (all, known, timed->plan, group);
  const LigPlanOp *ops = lig_plan_get_ops (timed->plan, &count);
  lig_figures_of_group (timed, unfused, group, &figures);
  g_hash_table_add (kind->paths, (gpointer) ops[group->first].path);
  kind->hotspot->counts[group->pass]++;
  lig_figures_add (&kind->hotspot->passes[group->pass], &figures);
  lig_figures_add (&kind->hotspot->figures, &figures);
}

static int
compare (gconstpointer a, gconstpointer b)
{
  const LigHotspot *one = *(const LigHotspot *const *) a, *two = *(const LigHotspot *const *) b;
  double difference = two->figures.seconds - one->figures.seconds;
  return difference > 0 ? 1 : difference < 0 ? -1 : strcmp (one->path, two->path);
}

/* Replaces all but the first by their sum. */
static void
sum_rest (GPtrArray *all, guint max)
{
  if (all->len <= max)
    return;
  LigHotspot *rest = g_new0 (LigHotspot, 1);
  rest->name = g_strdup (_ ("The rest"));
  lig_figures_init (&rest->figures);
  for (guint i = max; i < all->len; i++)
    lig_figures_add (&rest->figures, &((const LigHotspot *) all->pdata[i])->figures);
  g_ptr_array_set_size (all, (int) max);
  g_ptr_array_add (all, rest);
}

GPtrArray *
lig_hotspot_list (const LigTimedPlan *timed, const LigTimedPlan *unfused, guint max)
{
  GPtrArray *all = g_ptr_array_new_with_free_func ((GDestroyNotify) lig_hotspot_free);
  LigShape shape;
  LigDtype dtype;
  lig_plan_get_input (timed->plan, &shape, &dtype);
  /* Kernels without rows return immediately. */
  for (int i = 0; i < shape.n_axes; i++)
    if (shape.axes[i] == 0)
      return all;
  g_autoptr (GHashTable) known = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, free_kind);
  for (LigPass pass = LIG_PASS_FORWARD; pass <= LIG_PASS_BACKWARD; pass++) {
    guint count;
    const LigPlanGroup *groups = lig_plan_get_groups (timed->plan, pass, &count);
    for (guint i = 0; i < count; i++)
      if (groups[i].n_steps > 0)
        add_group (all, known, timed, unfused, &groups[i]);
  }
  GHashTableIter iter;
  gpointer value;
  g_hash_table_iter_init (&iter, known);
  while (g_hash_table_iter_next (&iter, NULL, &value)) {
    Kind *kind = value;
    kind->hotspot->name = name_kind (kind);
  }
  g_ptr_array_sort (all, compare);
  sum_rest (all, max);
  return all;
}
