/* SPDX-License-Identifier: MIT */
/* Chooses the validation rows of tables and images: those at the end, random ones, or the same
 * share of each class. The random choice depends only on the number of rows and not on the run's
 * seed, so that validation losses of runs with different seeds can be compared. Both splits keep
 * the order of the file. */
#include "engine/base/file.h"
#include "engine/data/kind.h"

#include <inttypes.h>
#include <string.h>

/* The key of the permutation that chooses random rows. */
#define KEY G_GUINT64_CONSTANT (0x6c69676174757265)

/* The number of classes that a warning names. */
#define MAX_SHOWN 8u

const LigDatasetChoice lig_split_choices[] = {
  {"end", N_ ("The end of the file")},
  {"random", N_ ("At random")},
  {"stratified", N_ ("At random, the same share of each class")},
  {NULL, NULL},
};

typedef struct {
  gint32 class;
  gint64 rows, validation;
  double rest; /* fractional part of its share */
} Stratum;

static const char *
get_split (const LigDataset *self)
{
  const char *given = lig_dataset_option (self, LIG_SPLIT);
  return self->validation_path ? "end" : given ? given : LIG_SPLIT_USUAL;
}

/* Counts the rows of each class. `numbers` maps each class to its stratum. */
static GArray *
count_classes (gint64 total, const gint32 *classes, GHashTable *numbers)
{
  GArray *strata = g_array_new (FALSE, TRUE, sizeof (Stratum));
  gpointer number;
  for (gint64 row = 0; row < total; row++) {
    gpointer class = GINT_TO_POINTER (classes ? classes[row] : 0);
    if (!g_hash_table_lookup_extended (numbers, class, NULL, &number)) {
      Stratum stratum = {.class = GPOINTER_TO_INT (class)};
      number = GUINT_TO_POINTER (strata->len);
      g_hash_table_insert (numbers, class, number);
      g_array_append_val (strata, stratum);
    }
    g_array_index (strata, Stratum, GPOINTER_TO_UINT (number)).rows++;
  }
  return strata;
}

static int
compare_rests (gconstpointer a, gconstpointer b)
{
  const Stratum *one = *(Stratum *const *) a, *other = *(Stratum *const *) b;
  return one->rest != other->rest ? (one->rest < other->rest) - (one->rest > other->rest)
                                  : (one > other) - (one < other);
}

/* Gives each stratum its share of the validation rows, by the largest remainders. Each keeps a row
 * for training. */
static void
share_rows (GArray *strata, gint64 validation, gint64 total)
{
  g_autoptr (GPtrArray) order = g_ptr_array_new ();
  gint64 left = validation;
  for (guint i = 0; i < strata->len; i++) {
    Stratum *stratum = &g_array_index (strata, Stratum, i);
    double share = (double) stratum->rows * (double) validation / (double) total;
    stratum->validation = MIN ((gint64) share, stratum->rows - 1);
    stratum->rest = share - (double) stratum->validation;
    left -= stratum->validation;
    g_ptr_array_add (order, stratum);
  }
  g_ptr_array_sort (order, compare_rests);
  for (guint i = 0; i < order->len && left > 0; i++) {
    Stratum *stratum = g_ptr_array_index (order, i);
    gboolean more = stratum->validation + 1 < stratum->rows;
    stratum->validation += more;
    left -= more;
  }
}

/* Writes the training rows, then the validation rows. */
static void
write_order (LigDataset *self, gint64 total, const gboolean *out)
{
  gint64 training = 0, at = 0;
  self->order = g_new (gint64, total);
  for (gint64 row = 0; row < total; row++)
    training += !out[row];
  self->samples[LIG_SPLIT_TRAINING] = training;
  self->samples[LIG_SPLIT_VALIDATION] = total - training;
  for (gint64 row = 0; row < total; row++)
    self->order[out[row] ? training++ : at++] = row;
}

gboolean
lig_dataset_divide (LigDataset *self, gint64 total, const gint32 *classes, GError **error)
{
  const char *split = get_split (self);
  gboolean stratified = strcmp (split, "stratified") == 0;
  gint64 training = lig_dataset_cut (self, total);
  lig_dataset_divide_files (self, training, total);
  if (stratified && !classes)
    return lig_dataset_reject (self, error, LIG_ERROR_VALUE,
                               _ ("split=stratified needs one target column of classes; "
                                  "split=random needs none"));
  if (strcmp (split, "end") == 0 || training == total)
    return TRUE;
  g_autofree gboolean *out = g_try_new0 (gboolean, (gsize) total);
  if (!out)
    return lig_dataset_reject (self, error, LIG_ERROR_MEMORY, _ ("no memory for %" PRId64 " row%s"),
                               total, LIG_ENDING (total));
  g_autoptr (GHashTable) numbers = g_hash_table_new (NULL, NULL);
  g_autoptr (GArray) strata = count_classes (total, stratified ? classes : NULL, numbers);
  share_rows (strata, total - training, total);
  for (gint64 place = total - 1; place >= 0; place--) {
    gint64 row = lig_dataset_permute (place, total, KEY);
    gpointer class = GINT_TO_POINTER (stratified ? classes[row] : 0);
    Stratum *stratum =
      &g_array_index (strata, Stratum, GPOINTER_TO_UINT (g_hash_table_lookup (numbers, class)));
    out[row] = stratum->validation > 0;
    stratum->validation -= out[row];
  }
  write_order (self, total, out);
  return TRUE;
}

void
lig_dataset_divide_files (LigDataset *self, gint64 training, gint64 total)
{
  self->samples[LIG_SPLIT_TRAINING] = training;
  self->samples[LIG_SPLIT_VALIDATION] = total - training;
}

gint64
lig_dataset_row (const LigDataset *self, LigSplit part, gint64 sample)
{
  gint64 place = sample + (part == LIG_SPLIT_VALIDATION ? self->samples[LIG_SPLIT_TRAINING] : 0);
  return self->order ? self->order[place] : place;
}

char *
lig_dataset_describe_split (const LigDataset *self)
{
  const char *split = get_split (self);
  if (self->validation_path) {
    g_autofree char *name = g_filename_display_basename (self->validation_path);
    return g_strdup_printf (_ (", %s for validation"), name);
  }
  if (strcmp (split, "end") == 0 || self->samples[LIG_SPLIT_VALIDATION] == 0)
    return g_strdup ("");
  g_autofree char *count = lig_format_count (self->samples[LIG_SPLIT_VALIDATION]);
  return g_strdup_printf (strcmp (split, "random") == 0 ? _ (", %s for validation, split at random")
                                                        : _ (", %s for validation, stratified"),
                          count);
}

/* --- Classes ------------------------------------------------------------------------------- */

static int
compare_numbers (gconstpointer a, gconstpointer b)
{
  gint32 one = GPOINTER_TO_INT (*(const gpointer *) a);
  gint32 other = GPOINTER_TO_INT (*(const gpointer *) b);
  return (one > other) - (one < other);
}

/* Returns the classes of a split; negative ones mean no class. */
static GHashTable *
collect_classes (const LigDataset *self, LigSplit part, const gint32 *classes)
{
  GHashTable *found = g_hash_table_new (NULL, NULL);
  for (gint64 sample = 0; sample < self->samples[part]; sample++) {
    gint32 class = classes[lig_dataset_row (self, part, sample)];
    if (class >= 0)
      g_hash_table_add (found, GINT_TO_POINTER (class));
  }
  return found;
}

static char *
list_classes (GPtrArray *lacking, const char *const *names)
{
  g_autoptr (GString) list = g_string_new (NULL);
  g_ptr_array_sort (lacking, compare_numbers);
  for (guint i = 0; i < MIN (lacking->len, MAX_SHOWN); i++) {
    gint32 class = GPOINTER_TO_INT (lacking->pdata[i]);
    g_autofree char *name = names ? lig_format_excerpt (names[class], 24) : NULL;
    g_string_append (list, i > 0 ? ", " : "");
    if (name)
      g_string_append (list, name);
    else
      g_string_append_printf (list, "%d", class);
  }
  g_string_append (list, lacking->len > MAX_SHOWN ? ", …" : "");
  return g_string_free (g_steal_pointer (&list), FALSE);
}

void
lig_dataset_compare_classes (LigDataset *self, const gint32 *classes, const char *const *names)
{
  g_autoptr (GHashTable) known = collect_classes (self, LIG_SPLIT_TRAINING, classes);
  g_autoptr (GHashTable) wanted = collect_classes (self, LIG_SPLIT_VALIDATION, classes);
  g_autoptr (GPtrArray) lacking = g_ptr_array_new ();
  GHashTableIter iter;
  gpointer class;
  g_hash_table_iter_init (&iter, wanted);
  while (g_hash_table_iter_next (&iter, &class, NULL))
    if (!g_hash_table_contains (known, class))
      g_ptr_array_add (lacking, class);
  g_clear_pointer (&self->warning, g_free);
  if (lacking->len == 0)
    return;
  g_autofree char *list = list_classes (lacking, names);
  const char *remedy = self->validation_path ? _ ("check that both files have the same classes")
                                             : _ ("split=stratified splits each class alike");
  self->warning = g_strdup_printf (
    g_dngettext (
      GETTEXT_PACKAGE, "%s: class %s occurs in validation rows but in no training row; %s",
      "%s: the classes %s occur in validation rows but in no training row; %s", lacking->len),
    self->name, list, remedy);
}
