/* SPDX-License-Identifier: MIT */
/* Times covers as whole steps. In a whole step kernels do not take as long as by themselves: power
 * is shared, caches are warm or cold, launches cost time. So the cover chosen by single prices is
 * timed against no fusion and against all in order, then the best of these against itself with one
 * kind of fusion added or removed. Last, the winner is timed against no fusion and all in order
 * again, in more turns. */
#include "engine/choose/choice.h"
#include "engine/choose/cover.h"
#include "engine/choose/predict.h"
#include "engine/measure/lock.h"
#include "engine/measure/tuning-private.h"

enum { MAX_PROPOSALS = 14, ROUNDS = 2 };
#define MIN_GAIN 0.01 /* by which a cover must beat an earlier one, plus the noise */
#define TIE 0.005     /* times that differ by less are equally fast */

/* A set of candidates, one flag each. */
typedef struct {
  gboolean *taken;
  double seconds, noise;
  double bytes; /* read and written in a step; set when it is lowered to be timed */
} Cover;

typedef struct {
  LigGraph *graph;
  GArray *candidates;
  GPtrArray *covers; /* of Cover; the first is the one chosen by prices */
  Cover *none, *all; /* members of covers: only forced candidates, and all in order */
  double work;       /* of timing whole steps, for the progress */
} Contest;

#define candidate_at(contest, i) (&g_array_index ((contest)->candidates, LigCandidate, i))

static void
cover_free (gpointer data)
{
  Cover *cover = data;
  g_free (cover->taken);
  g_free (cover);
}

/* For each pass and part the number of the cover's candidate there, or -1. */
typedef struct {
  int *owners[2];
} Places;

static void
places_clear (Places *self)
{
  g_free (self->owners[LIG_PASS_FORWARD]);
  g_free (self->owners[LIG_PASS_BACKWARD]);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Places, places_clear)

/* Replaces the owner of the candidate's parts. */
static void
replace_owner (Contest *contest, Places *places, guint number, int from, int to)
{
  const LigCandidate *candidate = candidate_at (contest, number);
  for (LigPass pass = LIG_PASS_FORWARD; pass <= LIG_PASS_BACKWARD; pass++)
    for (int i = 0; i < candidate->group.count && lig_covers_pass (candidate, pass); i++) {
      int *owner = &places->owners[pass][candidate->group.first + i];
      *owner = *owner == from ? to : *owner;
    }
}

static Places
find_places (Contest *contest, const gboolean *taken)
{
  gsize bytes = MAX (contest->graph->parts->len, 1) * sizeof (int);
  Places places;
  for (LigPass pass = LIG_PASS_FORWARD; pass <= LIG_PASS_BACKWARD; pass++) {
    places.owners[pass] = g_malloc (bytes);
    memset (places.owners[pass], -1, bytes);
  }
  for (guint i = 0; i < contest->candidates->len; i++)
    if (taken[i])
      replace_owner (contest, &places, i, -1, (int) i);
  return places;
}

/* Returns a candidate of the cover that overlaps this one, preferably a forced one; -1 if there is
 * none. */
static int
find_overlapping (Contest *contest, const Places *places, guint number)
{
  int found = -1;
  const LigCandidate *candidate = candidate_at (contest, number);
  for (LigPass pass = LIG_PASS_FORWARD; pass <= LIG_PASS_BACKWARD; pass++)
    for (int i = 0; i < candidate->group.count && lig_covers_pass (candidate, pass); i++) {
      int owner = places->owners[pass][candidate->group.first + i];
      if (owner >= 0 && (found < 0 || candidate_at (contest, owner)->forced))
        found = owner;
    }
  return found;
}

/* Compares kinds: the same fusion of the same shapes has the same price at every position. */
static gboolean
same_kind (const LigCandidate *a, const LigCandidate *b)
{
  return a->group.fusion == b->group.fusion && a->shorter == b->shorter && a->fused == b->fused &&
         a->unfused == b->unfused;
}

static guint
hash_kind (gconstpointer data)
{
  const LigCandidate *candidate = data;
  const double times[] = {candidate->fused + 0.0, candidate->unfused + 0.0};
  guint64 bits[G_N_ELEMENTS (times)];
  memcpy (bits, times, sizeof bits);
  bits[0] = (bits[0] * 31 + bits[1]) * 31 + (guint64) candidate->shorter;
  return g_direct_hash (candidate->group.fusion) ^ (guint) (bits[0] ^ bits[0] >> 32);
}

static gboolean
equal_kind (gconstpointer a, gconstpointer b)
{
  return same_kind (a, b);
}

/* Adds the candidate to the cover and removes those that overlap it; changes nothing if one of them
 * is forced. */
static void
take (Contest *contest, gboolean *taken, Places *places, guint number)
{
  int other = find_overlapping (contest, places, number);
  if (other >= 0 && candidate_at (contest, other)->forced)
    return;
  for (; other >= 0; other = find_overlapping (contest, places, number)) {
    taken[other] = FALSE;
    replace_owner (contest, places, (guint) other, other, -1);
  }
  taken[number] = TRUE;
  replace_owner (contest, places, number, -1, (int) number);
}

/* Adds a cover unless it exists already, and returns the existing or new one. */
static Cover *
propose (Contest *contest, gboolean *taken)
{
  gsize bytes = contest->candidates->len * sizeof *taken;
  for (guint i = 0; i < contest->covers->len; i++)
    if (memcmp (((Cover *) contest->covers->pdata[i])->taken, taken, bytes) == 0) {
      g_free (taken);
      return contest->covers->pdata[i];
    }
  Cover *cover = g_new0 (Cover, 1);
  cover->taken = taken;
  g_ptr_array_add (contest->covers, cover);
  return cover;
}

static gboolean *
copy (Contest *contest, const gboolean *taken)
{
  gboolean *flags = g_new0 (gboolean, contest->candidates->len);
  for (guint i = 0; i < contest->candidates->len; i++)
    flags[i] =
      taken ? taken[i] : candidate_at (contest, i)->forced && candidate_at (contest, i)->legal;
  return flags;
}

/* Proposes the cover chosen by prices, only forced candidates, and all in order. */
static void
propose_first (Contest *contest)
{
  gboolean *priced = g_new0 (gboolean, contest->candidates->len);
  gboolean *in_order = copy (contest, NULL);
  g_auto (Places) places = find_places (contest, in_order);
  for (guint i = 0; i < contest->candidates->len; i++) {
    const LigCandidate *candidate = candidate_at (contest, i);
    priced[i] = candidate->taken;
    if (!candidate->legal || candidate->shorter || in_order[i] ||
        find_overlapping (contest, &places, i) >= 0)
      continue;
    in_order[i] = TRUE;
    replace_owner (contest, &places, i, -1, (int) i);
  }
  propose (contest, priced);
  contest->none = propose (contest, copy (contest, NULL));
  contest->all = propose (contest, in_order);
}

/* A kind of candidates, by the first of them. */
typedef struct {
  guint first;
  double seconds; /* of its groups: the maximum gain of a decision about the kind */
} Kind;

static int
compare_kinds (gconstpointer a, gconstpointer b)
{
  const Kind *x = a, *y = b;
  return x->seconds != y->seconds ? (x->seconds < y->seconds) - (x->seconds > y->seconds)
                                  : (x->first > y->first) - (x->first < y->first);
}

/* Adds the candidate to its kind, which is the first one's. */
static void
add_to_kind (Contest *contest, GArray *kinds, GHashTable *numbers, guint i)
{
  LigCandidate *candidate = candidate_at (contest, i);
  gpointer number;
  if (!g_hash_table_lookup_extended (numbers, candidate, NULL, &number)) {
    const Kind kind = {i, 0};
    number = GUINT_TO_POINTER (kinds->len);
    g_hash_table_insert (numbers, candidate, number);
    g_array_append_val (kinds, kind);
  }
  g_array_index (kinds, Kind, GPOINTER_TO_UINT (number)).seconds +=
    MAX (candidate->fused, candidate->unfused);
}

/* Returns the kinds of candidates, the most time-consuming first. A kind that takes too little of
 * the step to matter is omitted: it could only win by chance. */
static GArray *
find_kinds (Contest *contest, const Cover *best)
{
  g_autoptr (GArray) all = g_array_new (FALSE, FALSE, sizeof (Kind));
  g_autoptr (GHashTable) numbers = g_hash_table_new (hash_kind, equal_kind);
  GArray *kinds = g_array_new (FALSE, FALSE, sizeof (Kind));
  for (guint i = 0; i < contest->candidates->len; i++)
    if (candidate_at (contest, i)->legal)
      add_to_kind (contest, all, numbers, i);
  for (guint i = 0; i < all->len; i++) {
    const Kind *kind = &g_array_index (all, Kind, i);
    if (!candidate_at (contest, kind->first)->forced && kind->seconds >= MIN_GAIN * best->seconds)
      g_array_append_val (kinds, *kind);
  }
  g_array_sort (kinds, compare_kinds);
  return kinds;
}

/* Proposes the best cover so far with each kind of candidate added or removed, as many as can be
 * timed. */
static void
propose_variations (Contest *contest, const Cover *best)
{
  g_autoptr (GArray) kinds = find_kinds (contest, best);
  for (guint k = 0; k < kinds->len && contest->covers->len < MAX_PROPOSALS; k++) {
    guint i = g_array_index (kinds, Kind, k).first;
    const LigCandidate *candidate = candidate_at (contest, i);
    gboolean *taken = copy (contest, best->taken);
    g_auto (Places) places = find_places (contest, taken);
    for (guint j = i; j < contest->candidates->len; j++)
      if (candidate_at (contest, j)->legal && same_kind (candidate, candidate_at (contest, j))) {
        if (best->taken[i])
          taken[j] = candidate_at (contest, j)->forced;
        else
          take (contest, taken, &places, j);
      }
    propose (contest, taken);
  }
}

/* Returns for each part the cover's candidate there in the pass, or null. */
static const LigCandidate **
find_taken (Contest *contest, const Cover *cover, LigPass pass)
{
  const LigCandidate **taken = g_new0 (const LigCandidate *, contest->graph->parts->len);
  for (guint j = 0; j < contest->candidates->len; j++)
    if (cover->taken[j] && lig_covers_pass (candidate_at (contest, j), pass))
      taken[candidate_at (contest, j)->group.first] = candidate_at (contest, j);
  return taken;
}

/* Lowers the steps of one pass, in the order in which they run. */
static gboolean
lower_pass (Contest *contest, const Cover *cover, LigPass pass, GArray *steps, GError **error)
{
  g_autoptr (GArray) groups = g_array_new (FALSE, FALSE, sizeof (LigPlanGroup));
  g_autofree const LigCandidate **taken = find_taken (contest, cover, pass);
  for (int i = 0; i < (int) contest->graph->parts->len;) {
    LigPlanGroup group = {.first = i, .count = 1, .n_elements = 1};
    if (taken[i])
      group = taken[i]->group;
    if (group.fusion || pass == LIG_PASS_FORWARD ||
        lig_part (contest->graph, i)->plan.needs_backward)
      g_array_append_val (groups, group);
    i += group.count;
  }
  for (guint i = 0; i < groups->len; i++) {
    guint number = pass == LIG_PASS_FORWARD ? i : groups->len - 1 - i;
    LigProbe probe;
    guint first = steps->len;
    if (!lig_lower_group (contest->graph, &g_array_index (groups, LigPlanGroup, number), pass,
                          steps, &probe, error))
      return FALSE;
    if (pass == LIG_PASS_BACKWARD)
      lig_start_beside (contest->graph, steps, first);
  }
  return TRUE;
}

static gboolean
lower_cover (Contest *contest, const Cover *cover, GArray *steps, GError **error)
{
  return lower_pass (contest, cover, LIG_PASS_FORWARD, steps, error) &&
         lower_pass (contest, cover, LIG_PASS_BACKWARD, steps, error);
}

/* Opaque ops cannot be timed: they would call the callbacks of the embedding program. */
static gboolean
can_be_timed (GArray *steps)
{
  for (guint i = 0; i < steps->len; i++)
    if (!g_array_index (steps, LigGraphStep, i).plan.kernel)
      return FALSE;
  return steps->len > 0;
}

static double
sum_bytes (GArray *steps)
{
  double bytes = 0;
  for (guint i = 0; i < steps->len; i++) {
    const LigGraphStep *step = &g_array_index (steps, LigGraphStep, i);
    bytes += step->plan.read + step->plan.written;
  }
  return bytes;
}

/* Times covers in turns. FALSE without an error if they cannot be timed. */
static gboolean
time_in_turns (
  Contest *contest, GPtrArray *covers, LigTiming timing, LigPrice *prices, GError **error)
{
  g_autoptr (GPtrArray) lists = g_ptr_array_new_with_free_func ((GDestroyNotify) g_array_unref);
  g_autoptr (GError) local = NULL;
  for (guint i = 0; i < covers->len; i++) {
    GArray *steps = g_array_new (FALSE, FALSE, sizeof (LigGraphStep));
    Cover *cover = covers->pdata[i];
    g_ptr_array_add (lists, steps);
    if (!lower_cover (contest, cover, steps, error) || !can_be_timed (steps))
      return FALSE;
    cover->bytes = sum_bytes (steps);
  }
  lig_tuning_report ("whole steps");
  if (lig_time_lists (contest->graph, (GArray *const *) lists->pdata, lists->len, timing, prices,
                      &local)) {
    for (guint i = 0; i < lists->len; i++)
      lig_price_collectives (contest->graph, lists->pdata[i], &prices[i]);
    return TRUE;
  }
  if (!g_error_matches (local, LIG_ERROR, LIG_ERROR_MEMORY))
    g_propagate_error (error, g_steal_pointer (&local));
  return FALSE;
}

/* Times the covers from `from` on in turns with the best so far. Scales the results so that the
 * time of the best does not change, because the GPU may be warmer than in the previous round. FALSE
 * without an error if they cannot be timed. */
static gboolean
time_covers (Contest *contest, Cover *best, guint from, GError **error)
{
  guint count = contest->covers->len - from;
  g_autoptr (GPtrArray) covers = g_ptr_array_new ();
  g_autofree LigPrice *prices = g_new0 (LigPrice, count + 1);
  for (guint i = 0; i < count; i++)
    g_ptr_array_add (covers, contest->covers->pdata[from + i]);
  g_ptr_array_add (covers, best);
  if (!time_in_turns (contest, covers, LIG_TIMING_WHOLE, prices, error))
    return FALSE;
  lig_tuning_advance (contest->work / (ROUNDS + 2));
  double scale = best->seconds > 0 ? best->seconds / prices[count].seconds : 1;
  for (guint i = 0; i < count; i++) {
    Cover *cover = covers->pdata[i];
    cover->seconds = prices[i].seconds * scale;
    cover->noise = prices[i].noise * scale;
  }
  return TRUE;
}

/* Finds the best cover; a later one wins only by more than the noise. */
static Cover *
find_best (Contest *contest)
{
  Cover *best = contest->covers->pdata[0];
  for (guint i = 1; i < contest->covers->len; i++) {
    Cover *cover = contest->covers->pdata[i];
    if (cover->seconds > 0 && cover->seconds < best->seconds * (1 - MIN_GAIN) - cover->noise)
      best = cover;
  }
  return best;
}

static void
explain (Contest *contest, LigCandidate *candidate, double with, double without)
{
  if (candidate->shorter && !candidate->taken)
    return;
  LigVerdict *verdict =
    &g_array_index (contest->graph->choice->verdicts, LigVerdict, candidate->verdict);
  gboolean described = lig_device_has (contest->graph->request->device, LIG_DEVICE_DESCRIBED);
  const char *suffix = described ? " (whole step) (predicted)" : " (whole step)";
  verdict->observed = lig_format_price (contest->graph, with, suffix);
  verdict->required = lig_format_price (contest->graph, without, suffix);
  verdict->found.value = with * 1e6;
  verdict->needed.value = without * 1e6;
  verdict->found.unit = verdict->needed.unit = "us";
  verdict->found.measured = verdict->needed.measured = !described;
  verdict->whole = TRUE;
}

/* Returns whether the candidate's ops are in no group of the graph's cover. */
static gboolean
is_free (Contest *contest, const LigCandidate *candidate)
{
  for (LigPass pass = LIG_PASS_FORWARD; pass <= LIG_PASS_BACKWARD; pass++)
    for (int i = 0; i < candidate->group.count && lig_covers_pass (candidate, pass); i++)
      if (contest->graph->choice->owners[pass][candidate->group.first + i] >= 0)
        return FALSE;
  return TRUE;
}

/* Adopts the winner as the graph's cover. Candidates for which it differs from the choice by prices
 * get the times of whole steps in their verdicts. */
static void
adopt (Contest *contest, const Cover *first, const Cover *best)
{
  for (LigPass pass = LIG_PASS_FORWARD; pass <= LIG_PASS_BACKWARD; pass++)
    memset (contest->graph->choice->owners[pass], -1, contest->graph->parts->len * sizeof (int));
  for (guint i = 0; i < contest->candidates->len; i++)
    candidate_at (contest, i)->taken = FALSE;
  for (guint i = 0; i < contest->candidates->len; i++)
    if (best->taken[i])
      lig_cover_claim (contest->graph, contest->candidates, candidate_at (contest, i));
  for (guint i = 0; i < contest->candidates->len; i++) {
    LigCandidate *candidate = candidate_at (contest, i);
    gboolean lost = !best->taken[i] && first->taken[i];
    /* A candidate may become free because the one that claimed its ops lost. It is not accepted,
     * because that cover was not timed. */
    lost |= !best->taken[i] && !candidate->loses && is_free (contest, candidate);
    if (!candidate->legal || (best->taken[i] == first->taken[i] && !lost))
      continue;
    candidate->loses = lost;
    explain (contest, candidate, lost ? first->seconds : best->seconds,
             lost ? best->seconds : first->seconds);
  }
}

/* Returns the key of the decision, which depends on all steps of the unfused cover and on the
 * candidates. Its version number increases when covers are timed in another way. */
static char *
decision_key (Contest *contest, GError **error)
{
  g_autoptr (GArray) steps = g_array_new (FALSE, FALSE, sizeof (LigGraphStep));
  if (!lower_cover (contest, contest->none, steps, error))
    return NULL;
  g_autofree char *key = lig_price_key (contest->graph, steps);
  g_autoptr (GString) text = g_string_new (key);
  for (guint i = 0; i < contest->candidates->len; i++) {
    const LigCandidate *candidate = candidate_at (contest, i);
    if (candidate->legal)
      g_string_append_printf (text, "|%s@%d+%d%s", candidate->group.fusion->name,
                              candidate->group.first, candidate->group.count,
                              candidate->forced ? "!" : "");
  }
  g_autofree char *hash = g_compute_checksum_for_string (G_CHECKSUM_SHA256, text->str, -1);
  return g_strconcat ("cover|3|", hash, NULL);
}

/* Reads a decision: a digit for each candidate, then the nanoseconds of the cover chosen by
 * prices. */
static gboolean
recall (Contest *contest, const char *key)
{
  const LigTuning *tuning = contest->graph->request->options.tuning;
  g_autofree char *choice = NULL;
  double microseconds, noise;
  guint count = contest->candidates->len;
  if (!tuning || !tuning->get (tuning->data, key, &microseconds, &noise, &choice) || !choice ||
      strlen (choice) < count + 2 || choice[count] != ' ')
    return FALSE;
  Cover *best = g_new0 (Cover, 1), *first = contest->covers->pdata[0];
  best->taken = g_new0 (gboolean, count);
  g_ptr_array_add (contest->covers, best);
  for (guint i = 0; i < count; i++)
    best->taken[i] = choice[i] == '1' && candidate_at (contest, i)->legal;
  best->seconds = microseconds * 1e-6;
  first->seconds = g_ascii_strtod (choice + count + 1, NULL) * 1e-9;
  adopt (contest, first, best);
  return TRUE;
}

static void
remember (Contest *contest, const char *key, const Cover *best)
{
  const LigTuning *tuning = contest->graph->request->options.tuning;
  const Cover *first = contest->covers->pdata[0];
  g_autoptr (GString) choice = g_string_new (NULL);
  for (guint i = 0; i < contest->candidates->len; i++)
    g_string_append_c (choice, best->taken[i] ? '1' : '0');
  g_string_append_printf (choice, " %.0f", first->seconds * 1e9);
  if (tuning)
    tuning->put (tuning->data, key, best->seconds * 1e6, best->noise * 1e6, choice->str);
}

/* Runs the rounds of proposals; FALSE without an error if whole steps cannot be timed. */
static gboolean
compete (Contest *contest, GError **error)
{
  guint timed = 0;
  Cover *best = contest->covers->pdata[0];
  for (int round = 0; round <= ROUNDS && contest->covers->len > timed; round++) {
    if (!time_covers (contest, best, timed, error))
      return FALSE;
    timed = contest->covers->len;
    best = find_best (contest);
    if (round < ROUNDS)
      propose_variations (contest, best);
  }
  return TRUE;
}

guint
lig_cover_judge (const LigPrice *prices, const double *bytes, guint count, gboolean varied)
{
  guint first = varied && count > 1 ? 1 : 0, fastest = first, best;
  for (guint i = first; i < count; i++)
    if (prices[i].seconds < prices[fastest].seconds)
      fastest = i;
  best = fastest;
  for (guint i = first; i < count; i++)
    if (prices[i].seconds <= prices[fastest].seconds * (1 + TIE) && bytes[i] < bytes[best])
      best = i;
  /* Among many variations one is always the fastest by chance, but not in a long run. */
  double gain = prices[fastest].seconds * MIN_GAIN + prices[0].noise;
  return first == 1 && prices[0].seconds < prices[fastest].seconds - gain ? 0 : best;
}

/* Times the best of the rounds against none and all, so that a cover that won by chance loses here.
 * The one chosen by prices did not win by chance and needs no margin. */
static gboolean
run_last_round (Contest *contest, Cover **best, GError **error)
{
  g_autoptr (GPtrArray) covers = g_ptr_array_new ();
  LigPrice prices[3] = {0};
  double bytes[3];
  gboolean varied =
    *best != contest->none && *best != contest->all && *best != contest->covers->pdata[0];
  g_ptr_array_add (covers, *best);
  if (contest->none != *best)
    g_ptr_array_add (covers, contest->none);
  if (contest->all != *best && contest->all != contest->none)
    g_ptr_array_add (covers, contest->all);
  if (!time_in_turns (contest, covers, LIG_TIMING_LAST, prices, error))
    return FALSE;
  /* Verdicts compare the cover chosen by prices with the winner, so both are timed in this
   * round. */
  Cover *first = contest->covers->pdata[0];
  first->seconds *= prices[0].seconds / (*best)->seconds;
  for (guint i = 0; i < covers->len; i++) {
    Cover *cover = covers->pdata[i];
    cover->seconds = prices[i].seconds;
    cover->noise = prices[i].noise;
    bytes[i] = cover->bytes;
  }
  *best = covers->pdata[lig_cover_judge (prices, bytes, covers->len, varied)];
  return TRUE;
}

/* Times the covers, or reads a decision that another process has stored in the meantime. If they
 * cannot be timed, the prices decide; this is stored too, so that the next compilation agrees. */
static gboolean
decide (Contest *contest, const char *key, GError **error)
{
  g_autoptr (GError) local = NULL;
  if (recall (contest, key))
    return TRUE;
  Cover *best = contest->covers->pdata[0];
  if (compete (contest, &local)) {
    best = find_best (contest);
    run_last_round (contest, &best, &local);
  }
  if (local) {
    g_propagate_error (error, g_steal_pointer (&local));
    return FALSE;
  }
  remember (contest, key, best);
  adopt (contest, contest->covers->pdata[0], best);
  return TRUE;
}

/* The relative error of predicted whole steps. */
#define PREDICTION_NOISE 0.03

/* Decides by predictions, like the last round by times. */
static gboolean
decide_predicted (Contest *contest, GError **error)
{
  LigPrice prices[3] = {0};
  double bytes[3];
  for (guint i = 0; i < contest->covers->len; i++) {
    g_autoptr (GArray) steps = g_array_new (FALSE, FALSE, sizeof (LigGraphStep));
    Cover *cover = contest->covers->pdata[i];
    if (!lower_cover (contest, cover, steps, error))
      return FALSE;
    cover->seconds = prices[i].seconds =
      lig_predict_steps (contest->graph, (LigGraphStep *) (gpointer) steps->data, steps->len);
    prices[i].noise = PREDICTION_NOISE * cover->seconds;
    bytes[i] = sum_bytes (steps);
    if (cover->seconds <= 0)
      return TRUE;
  }
  Cover *first = contest->covers->pdata[0];
  gboolean varied = first != contest->none && first != contest->all;
  adopt (contest, first,
         contest->covers->pdata[lig_cover_judge (prices, bytes, contest->covers->len, varied)]);
  return TRUE;
}

/* Returns whether a store has times of a candidate, which are better than predictions. */
static gboolean
any_measured (GArray *candidates)
{
  for (guint i = 0; i < candidates->len; i++)
    if (g_array_index (candidates, LigCandidate, i).legal &&
        g_array_index (candidates, LigCandidate, i).measured)
      return TRUE;
  return FALSE;
}

gboolean
lig_cover_whole (LigGraph *graph, GArray *candidates, double work, GError **error)
{
  g_autoptr (GPtrArray) covers = g_ptr_array_new_with_free_func (cover_free);
  Contest contest = {.graph = graph, .candidates = candidates, .covers = covers, .work = work};
  if (candidates->len == 0)
    return TRUE;
  propose_first (&contest);
  if (covers->len < 2)
    return TRUE;
  g_autofree char *key = decision_key (&contest, error);
  if (!key)
    return FALSE;
  if (recall (&contest, key))
    return TRUE;
  if (lig_device_has (graph->request->device, LIG_DEVICE_DESCRIBED))
    return any_measured (candidates) || decide_predicted (&contest, error);
  if (graph->request->options.recall)
    return TRUE;
  lig_measuring_begin (graph->request->device);
  gboolean fine = decide (&contest, key, error);
  lig_measuring_end (graph->request->device);
  return fine;
}
