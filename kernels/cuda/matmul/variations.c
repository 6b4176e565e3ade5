/* SPDX-License-Identifier: MIT */
/* Variations of proposed algorithms: other clusters and undocumented options; for matmuls so short
 * that an additional wave matters, other tiles and split-K factors, too. */
#include "kernels/cuda/matmul/candidates.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_TILES = 768, MAX_FAMILIES = 2, MAX_TRIED = 2048, MAX_CUSTOM = 7, MAX_STAGES = 64 };

/* The seconds for which the search may keep the device busy. */
#define BUDGET 0.35

/* The microseconds above which a matmul is too long for other tiles to be worth trying. */
#define LONGEST 400.0f

/* The multiples of the best time up to which other clusters, and other options, are tried. */
#define NEAR 1.25f
#define CLOSE 1.1f

/* The multiple of the best predicted time up to which a tile is tried. */
#define HOPELESS 2.0f

/* The attributes of an algorithm. Equal bytes mean equal algorithms. */
typedef struct {
  int32_t id;
  uint32_t tile, stages;
  int32_t parts; /* of the depth */
  uint32_t scheme, swizzle, custom;
  uint16_t inner, cluster;
} Variation;
_Static_assert(sizeof (Variation) == 32, "a variation has gaps");

typedef struct {
  Variation variation;
  float microseconds;
} Timed;

typedef struct {
  uint32_t id;
  bool known, fits;    /* whether some cluster and option are compatible with it */
  Variation variation; /* if it is compatible, without split-K */
} Tile;

/* The algorithms with one id, and the properties that the library reports for them. */
typedef struct {
  cublasLtMatmulAlgo_t blank;
  Variation like; /* its fastest proposal */
  Tile tiles[MAX_TILES];
  uint32_t stages[MAX_STAGES];
  int n_tiles, n_stages;
  bool parts, swizzles;
  uint32_t max_custom;
} Family;

/* A tile and a split-K factor, with the clocks predicted by a simple model. */
typedef struct {
  float clocks;
  int16_t family, tile, parts;
} Plan;

typedef struct {
  LigTrial *trial;
  double started, deadline, share; /* the share of time and budget that the current phase may use */
  Family families[MAX_FAMILIES];
  int n_families;
  Plan *plans;
  int n_plans;
  Timed tried[MAX_TRIED];
  int n_tried;
} Search;

/* The attributes of an algorithm and their offsets in a variation. */
static const struct {
  cublasLtMatmulAlgoConfigAttributes_t which;
  size_t at, size;
} attributes[] = {
  {CUBLASLT_ALGO_CONFIG_ID, offsetof (Variation, id), 4},
  {CUBLASLT_ALGO_CONFIG_TILE_ID, offsetof (Variation, tile), 4},
  {CUBLASLT_ALGO_CONFIG_STAGES_ID, offsetof (Variation, stages), 4},
  {CUBLASLT_ALGO_CONFIG_SPLITK_NUM, offsetof (Variation, parts), 4},
  {CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME, offsetof (Variation, scheme), 4},
  {CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING, offsetof (Variation, swizzle), 4},
  {CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION, offsetof (Variation, custom), 4},
  {CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID, offsetof (Variation, inner), 2},
  {CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID, offsetof (Variation, cluster), 2},
};
enum { N_ATTRIBUTES = sizeof attributes / sizeof *attributes };

/* Sets the split-K factor, and the reduction scheme. */
static void
set_parts (Variation *variation, int parts)
{
  variation->parts = parts;
  variation->scheme =
    parts > 1 ? CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE : CUBLASLT_REDUCTION_SCHEME_NONE;
}

/* Returns an algorithm as a variation. */
static Variation
read_variation (const cublasLtMatmulAlgo_t *algorithm)
{
  Variation variation;
  size_t written;
  memset (&variation, 0, sizeof variation);
  for (int i = 0; i < N_ATTRIBUTES; i++)
    cublasLtMatmulAlgoConfigGetAttribute (algorithm, attributes[i].which,
                                          (char *) &variation + attributes[i].at,
                                          attributes[i].size, &written);
  if (variation.parts == 0 || variation.parts == 1)
    set_parts (&variation, 1);
  return variation;
}

/* Writes the algorithm of a variation; true if it is supported. Attributes that are zero have that
 * value in a blank algorithm already. */
static bool
write_variation (const Search *search,
                 const Family *family,
                 const Variation *variation,
                 cublasLtMatmulAlgo_t *algorithm)
{
  static const char zero[4];
  *algorithm = family->blank;
  for (int i = 1; i < N_ATTRIBUTES; i++) {
    const char *value = (const char *) variation + attributes[i].at;
    if (memcmp (value, zero, attributes[i].size) != 0 &&
        cublasLtMatmulAlgoConfigSetAttribute (algorithm, attributes[i].which, value,
                                              attributes[i].size) != CUBLAS_STATUS_SUCCESS)
      return false;
  }
  return lig_candidate_serves (search->trial->matmuls, search->trial->entry, algorithm);
}

/* Returns the used share of the total time, or of the device time if that is larger. */
static double
spent (const Search *search)
{
  double time = (lig_trial_clock () - search->started) / (search->deadline - search->started);
  return fmax (time, search->trial->busy / BUDGET);
}

/* Returns the microseconds of a variation; INFINITY if it does not run or the search has to end. No
 * variation runs twice. */
static float
attempt (Search *search, const Family *family, const Variation *variation)
{
  cublasLtMatmulAlgo_t algorithm;
  for (int i = 0; i < search->n_tried; i++)
    if (memcmp (&search->tried[i].variation, variation, sizeof *variation) == 0)
      return search->tried[i].microseconds;
  if (search->n_tried == MAX_TRIED || search->trial->lost || spent (search) >= search->share ||
      !write_variation (search, family, variation, &algorithm))
    return INFINITY;
  float microseconds = lig_trial_run (search->trial, &algorithm);
  search->tried[search->n_tried++] = (Timed){*variation, microseconds};
  return microseconds;
}

/* Tries a variation and keeps it if it is faster than the best. */
static void
improve (Search *search, const Family *family, Timed *best, const Variation *variation)
{
  float microseconds = attempt (search, family, variation);
  if (microseconds < best->microseconds)
    *best = (Timed){*variation, microseconds};
}

/* The clusters to try, the most promising first. GPUs before sm_90 have none. */
static const uint16_t clusters[] = {CUBLASLT_CLUSTER_SHAPE_2x1x1, CUBLASLT_CLUSTER_SHAPE_1x2x1,
                                    CUBLASLT_CLUSTER_SHAPE_1x1x1, CUBLASLT_CLUSTER_SHAPE_2x2x1,
                                    CUBLASLT_CLUSTER_SHAPE_4x1x1, CUBLASLT_CLUSTER_SHAPE_1x4x1};
enum { N_CLUSTERS = sizeof clusters / sizeof *clusters };

/* Returns the number of clusters that the device can try. */
static int
count_clusters (const Search *search)
{
  return search->trial->matmuls->device->capability < 90 ? 0 : N_CLUSTERS;
}

/* Tries the other clusters. */
static void
improve_clusters (Search *search, const Family *family, Timed *best)
{
  Variation variation = best->variation;
  for (int i = 0; i < count_clusters (search); i++) {
    variation.cluster = clusters[i];
    improve (search, family, best, &variation);
  }
}

/* Tries the options, which are undocumented; some are other partitions of a tile among warps. */
static void
improve_options (Search *search, const Family *family, Timed *best)
{
  Variation variation = best->variation;
  for (uint32_t swizzle = 0; swizzle <= (family->swizzles ? 1 : 0); swizzle++)
    for (uint32_t custom = 0; custom <= family->max_custom; custom++) {
      variation.custom = custom;
      if (family->swizzles)
        variation.swizzle = swizzle;
      improve (search, family, best, &variation);
    }
}

static const int8_t parts[] = {1, 2, 3, 4, 5, 6, 8};
enum { N_PARTS = sizeof parts / sizeof *parts };

/* Returns whether the depth may be split into `count` parts. Parts that are hardly deeper than a
 * tile's loads are not worth their reduction. */
static bool
can_split (const Search *search, const Family *family, int count)
{
  return count == 1 || (family->parts && search->trial->entry->key.k / count >= 128);
}

/* Tries other split-K factors, then other numbers of pipeline stages. */
static void
improve_depth (Search *search, const Family *family, Timed *best)
{
  Variation variation = best->variation;
  for (int i = 0; i < N_PARTS; i++)
    if (can_split (search, family, parts[i])) {
      set_parts (&variation, parts[i]);
      improve (search, family, best, &variation);
    }
  variation = best->variation;
  for (int i = 0; i < family->n_stages; i++) {
    variation.stages = family->stages[i];
    improve (search, family, best, &variation);
  }
}

/* Returns the family of a variation; null if it was not added. */
static const Family *
family_of (const Search *search, const Variation *variation)
{
  for (int i = 0; i < search->n_families; i++)
    if (search->families[i].like.id == variation->id)
      return &search->families[i];
  return NULL;
}

/* Returns the fastest kept candidate that took longer than `limit`; negative if there is none. */
static int
fastest_beyond (const LigTrial *trial, float limit)
{
  int next = -1;
  for (int i = 0; i < trial->n_kept; i++)
    if (trial->kept[i].microseconds > limit &&
        (next < 0 || trial->kept[i].microseconds < trial->kept[next].microseconds))
      next = i;
  return next;
}

/* Varies the fastest candidates, one attribute after the other. */
static void
refine (Search *search, int max)
{
  Timed best[LIG_MAX_TRIALS];
  const LigTrial *trial = search->trial;
  float limit = 0;
  int count = 0, next;
  while (count < max && (next = fastest_beyond (trial, limit)) >= 0 &&
         trial->kept[next].microseconds <= NEAR * trial->best) {
    limit = trial->kept[next].microseconds;
    best[count++] = (Timed){read_variation (&trial->kept[next].algorithm), limit};
  }
  for (int i = 0; i < count; i++) {
    const Family *family = family_of (search, &best[i].variation);
    if (family) {
      improve_clusters (search, family, &best[i]);
      improve_options (search, family, &best[i]);
      if (trial->best < LONGEST)
        improve_depth (search, family, &best[i]);
      improve_clusters (search, family, &best[i]);
    }
  }
}

/* Finds a cluster and an option with which the library accepts the tile; these depend on the
 * tile. */
static void
find_fit (const Search *search, const Family *family, Tile *tile)
{
  cublasLtMatmulAlgo_t algorithm;
  tile->known = true;
  for (int i = -1; i < count_clusters (search) && i < 3 && !tile->fits; i++)
    for (int j = -1; j <= (int) family->max_custom && !tile->fits; j++) {
      tile->variation = family->like;
      tile->variation.tile = tile->id;
      set_parts (&tile->variation, 1);
      if (i >= 0)
        tile->variation.cluster = clusters[i];
      if (j >= 0)
        tile->variation.custom = (uint32_t) j;
      tile->fits = write_variation (search, family, &tile->variation, &algorithm);
    }
}

/* Tries all tiles and split-K factors, in the order of their predicted times. */
static void
explore (Search *search)
{
  for (int i = 0; i < search->n_plans && spent (search) < search->share; i++) {
    const Plan *plan = &search->plans[i];
    Family *family = &search->families[plan->family];
    Tile *tile = &family->tiles[plan->tile];
    if (!tile->known)
      find_fit (search, family, tile);
    if (!tile->fits)
      continue;
    Timed best = {tile->variation, 0};
    set_parts (&best.variation, plan->parts);
    best.microseconds = attempt (search, family, &best.variation);
    if (best.microseconds <= NEAR * search->trial->best)
      improve_clusters (search, family, &best);
    if (best.microseconds <= CLOSE * search->trial->best)
      improve_options (search, family, &best);
  }
}

/* Returns the clocks predicted by a simple model: in each wave, an SM computes one tile, whose MMAs
 * take time and whose operands have to be loaded; then the split-K parts are written, read and
 * summed. */
static float
expected_clocks (const LigTrial *trial, int rows, int columns, int count)
{
  const LigMatmulKey *key = &trial->entry->key;
  float area = (float) rows * (float) columns, edge = (float) (rows + columns);
  float tiles = ceilf ((float) key->m / (float) rows) * ceilf ((float) key->n / (float) columns);
  float waves = ceilf (tiles * (float) count / (float) trial->matmuls->device->multiprocessors);
  float clocks =
    waves * ((float) key->k / (float) count * (area / 2048 + edge / 128) + area / 16 + 1000);
  if (count > 1)
    clocks += 3000 + 8 * (float) count * (float) key->m * (float) key->n / 2900;
  return clocks;
}

/* Orders tiles by predicted clocks. */
static int
by_clocks (const void *a, const void *b)
{
  const Plan *x = a, *y = b;
  return (x->clocks > y->clocks) - (x->clocks < y->clocks);
}

/* Fills in all tiles and split-K factors in that order, without those that are hardly worth
 * trying. */
static bool
make_plans (Search *search)
{
  search->plans = calloc ((size_t) MAX_FAMILIES * MAX_TILES * N_PARTS, sizeof *search->plans);
  if (!search->plans)
    return false;
  int count = 0, rows, columns;
  for (int f = 0; f < search->n_families; f++)
    for (int t = 0; t < search->families[f].n_tiles; t++)
      for (int p = 0; p < N_PARTS; p++)
        if (can_split (search, &search->families[f], parts[p]) &&
            lig_tile_size (search->families[f].tiles[t].id, &rows, &columns))
          search->plans[count++] = (Plan){expected_clocks (search->trial, rows, columns, parts[p]),
                                          (int16_t) f, (int16_t) t, parts[p]};
  qsort (search->plans, (size_t) count, sizeof *search->plans, by_clocks);
  while (search->n_plans < count &&
         search->plans[search->n_plans].clocks <= HOPELESS * search->plans[0].clocks)
    search->n_plans++;
  return true;
}

/* Reads a list of 4-byte numbers into `values`; returns their number. */
static int
read_list (const cublasLtMatmulAlgo_t *algorithm,
           cublasLtMatmulAlgoCapAttributes_t which,
           uint32_t *values,
           int max)
{
  size_t size = 0, written = 0;
  if (cublasLtMatmulAlgoCapGetAttribute (algorithm, which, NULL, 0, &size) !=
        CUBLAS_STATUS_SUCCESS ||
      size == 0 || size > (size_t) max * sizeof *values ||
      cublasLtMatmulAlgoCapGetAttribute (algorithm, which, values, size, &written) !=
        CUBLAS_STATUS_SUCCESS)
    return 0;
  return (int) (written / sizeof *values);
}

/* Returns a 4-byte property that the library reports. */
static uint32_t
capability (const cublasLtMatmulAlgo_t *algorithm, cublasLtMatmulAlgoCapAttributes_t which)
{
  uint32_t value = 0;
  size_t written;
  return cublasLtMatmulAlgoCapGetAttribute (algorithm, which, &value, sizeof value, &written) ==
             CUBLAS_STATUS_SUCCESS
           ? value
           : 0;
}

/* Initializes an algorithm of that id with default attributes. */
static bool
set_up_blank (const Search *search, int32_t id, cublasLtMatmulAlgo_t *blank)
{
  LigMatmuls *matmuls = search->trial->matmuls;
  LigMatmulEntry *entry = search->trial->entry;
  uint32_t input = 0, side = 0, output = 0;
  cublasComputeType_t compute = entry->key.tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
  size_t written;
  return cublasLtMatrixLayoutGetAttribute (&entry->a, CUBLASLT_MATRIX_LAYOUT_TYPE, &input,
                                           sizeof input, &written) == CUBLAS_STATUS_SUCCESS &&
         cublasLtMatrixLayoutGetAttribute (&entry->c, CUBLASLT_MATRIX_LAYOUT_TYPE, &side,
                                           sizeof side, &written) == CUBLAS_STATUS_SUCCESS &&
         cublasLtMatrixLayoutGetAttribute (&entry->d, CUBLASLT_MATRIX_LAYOUT_TYPE, &output,
                                           sizeof output, &written) == CUBLAS_STATUS_SUCCESS &&
         cublasLtMatmulAlgoInit (matmuls->handle, compute, CUDA_R_32F, (cudaDataType_t) input,
                                 (cudaDataType_t) input, (cudaDataType_t) side,
                                 (cudaDataType_t) output, id, blank) == CUBLAS_STATUS_SUCCESS;
}

/* Adds the family of a variation, unless the library requires larger alignments for it. */
static void
add_family (Search *search, const Variation *like)
{
  Family *family = &search->families[search->n_families];
  uint32_t tiles[MAX_TILES];
  family->like = *like;
  if (!set_up_blank (search, like->id, &family->blank) ||
      capability (&family->blank, CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_A_BYTES) > 16 ||
      capability (&family->blank, CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_B_BYTES) > 16 ||
      capability (&family->blank, CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_C_BYTES) > 16 ||
      capability (&family->blank, CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_D_BYTES) > 16)
    return;
  family->n_tiles = read_list (&family->blank, CUBLASLT_ALGO_CAP_TILE_IDS, tiles, MAX_TILES);
  for (int i = 0; i < family->n_tiles; i++)
    family->tiles[i].id = tiles[i];
  family->n_stages =
    read_list (&family->blank, CUBLASLT_ALGO_CAP_STAGES_IDS, family->stages, MAX_STAGES);
  family->parts = capability (&family->blank, CUBLASLT_ALGO_CAP_SPLITK_SUPPORT) != 0 &&
                  (capability (&family->blank, CUBLASLT_ALGO_CAP_REDUCTION_SCHEME_MASK) &
                   CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE) != 0;
  family->swizzles = capability (&family->blank, CUBLASLT_ALGO_CAP_CTA_SWIZZLING_SUPPORT) != 0;
  family->max_custom = capability (&family->blank, CUBLASLT_ALGO_CAP_CUSTOM_OPTION_MAX);
  if (family->max_custom > MAX_CUSTOM)
    family->max_custom = MAX_CUSTOM;
  search->n_families++;
}

/* Adds the families of the kept candidates, the fastest first. */
static void
meet_families (Search *search)
{
  const LigTrial *trial = search->trial;
  float limit = 0;
  for (int i; (i = fastest_beyond (trial, limit)) >= 0;) {
    limit = trial->kept[i].microseconds;
    Variation variation = read_variation (&trial->kept[i].algorithm);
    search->tried[search->n_tried++] = (Timed){variation, limit};
    if (!family_of (search, &variation) && search->n_families < MAX_FAMILIES &&
        limit <= NEAR * trial->best)
      add_family (search, &variation);
  }
}

void
lig_candidates_widen (LigTrial *trial, double deadline)
{
  Search *search = calloc (1, sizeof *search);
  if (!search)
    return;
  search->trial = trial;
  search->started = lig_trial_clock ();
  search->deadline = deadline;
  trial->busy = 0;
  meet_families (search);
  if (deadline > search->started && search->n_families > 0 && trial->best >= LONGEST) {
    search->share = 1;
    refine (search, 3);
  } else if (deadline > search->started && search->n_families > 0 && make_plans (search)) {
    search->share = 0.3;
    refine (search, 3);
    search->share = 0.8;
    explore (search);
    search->share = 1;
    refine (search, 4);
  }
  free (search->plans);
  free (search);
}
