/* SPDX-License-Identifier: MIT */
/* Verdicts: for each fusion and each place where it could begin, whether the compiler took it, and
 * if not, which condition failed, the edit that would remove the refusal, and its gain. Verdicts
 * belong to a plan and never change.
 *
 * Threads: any thread may read them. */
#pragma once

#include <ligature/mend.h>

G_BEGIN_DECLS

typedef struct _LigFusion LigFusion;

typedef enum { LIG_PASS_FORWARD, LIG_PASS_BACKWARD, LIG_PASS_UPDATE, LIG_PASS_JOINT } LigPass;

/**
 * lig_pass_name:
 * @pass: a pass
 *
 * Returns: (transfer none): `forward`, `backward`, `update` or `joint`
 */
LIG_API const char *lig_pass_name (LigPass pass);

/* The checks that can refuse a fusion, in the order in which they are made. */
typedef enum {
  LIG_REASON_NONE,      /* taken */
  LIG_REASON_FENCED,    /* a fence between its ops */
  LIG_REASON_FORBIDDEN, /* forbidden by the user, here or everywhere */
  LIG_REASON_PATTERN,   /* the next op does not fit */
  LIG_REASON_IN_USE,    /* an intermediate value is also used elsewhere */
  LIG_REASON_PARALLEL,  /* not with this distribution over ranks */
  LIG_REASON_RECIPE,    /* not with this quantization */
  LIG_REASON_DTYPE,     /* not for this type */
  LIG_REASON_SHAPE,     /* not for this shape */
  LIG_REASON_KERNEL,    /* the device has no kernel for it */
  LIG_REASON_CLAIMED,   /* another group covers one of the ops */
  LIG_REASON_SLOWER,    /* measured or predicted to lose */
} LigReason;

/**
 * lig_reason_name:
 * @reason: a reason
 *
 * Returns: (transfer none) (nullable): `in-use` for %LIG_REASON_IN_USE; %NULL for
 *   %LIG_REASON_NONE
 */
LIG_API const char *lig_reason_name (LigReason reason);

/**
 * LigEvidenceKind:
 * @LIG_EVIDENCE_NONE: nothing but the number, where there is a unit
 * @LIG_EVIDENCE_NAMES: the names of ops, kernels or element types
 * @LIG_EVIDENCE_END: the sequence ends
 * @LIG_EVIDENCE_FENCE: the fence before the op at the path
 * @LIG_EVIDENCE_FORBIDDEN: the fusion is forbidden at the path; everywhere where the path is null
 * @LIG_EVIDENCE_POLICY: the policy of that name
 * @LIG_EVIDENCE_CHANNEL: the channel of that name, which the op at the path feeds
 * @LIG_EVIDENCE_CALLER: the caller; the path, where it is not null, is of the op whose extra output
 *   the caller reads
 * @LIG_EVIDENCE_PASS: the pass of that name
 * @LIG_EVIDENCE_GROUP: the group of the fusion that covers the ops
 */
typedef enum {
  LIG_EVIDENCE_NONE,
  LIG_EVIDENCE_NAMES,
  LIG_EVIDENCE_END,
  LIG_EVIDENCE_FENCE,
  LIG_EVIDENCE_FORBIDDEN,
  LIG_EVIDENCE_POLICY,
  LIG_EVIDENCE_CHANNEL,
  LIG_EVIDENCE_CALLER,
  LIG_EVIDENCE_PASS,
  LIG_EVIDENCE_GROUP,
} LigEvidenceKind;

/**
 * LigEvidence:
 * @names: (nullable) (array zero-terminated=1): alternatives where there are several
 * @path: (nullable): the path of an op
 * @fusion: (nullable): the name of the group's fusion
 * @first: the expanded index of the group's first op
 * @count: the number of its ops
 * @value: a number where @unit is not null, whatever the kind
 * @unit: (nullable): `us` for microseconds
 * @measured: whether the number was measured; otherwise it is predicted
 *
 * One side of a verdict as data: the condition as it is, or as the fusion requires it. Strings and
 * names belong to the plan.
 */
typedef struct {
  LigEvidenceKind kind;
  const char *const *names;
  const char *path;
  const char *fusion;
  int first, count;
  double value;
  const char *unit;
  gboolean measured;
} LigEvidence;

/**
 * LigVerdict:
 * @first: the expanded index of the first op that was looked at
 * @count: the number of those ops
 * @fits: whether the ops fit the fusion's pattern; a refusal that fits is a near miss
 * @observed: (nullable): the condition as it is, as text
 * @required: (nullable): the condition as the fusion requires it, as text
 * @found: @observed as data
 * @needed: @required as data
 * @gain: microseconds that a step would save with the fusion instead of the present groups;
 *   negative where it would cost time, NaN where that is unknown and for fusions that are taken
 * @gain_measured: whether the gain comes from measured times; otherwise it is predicted
 * @mend: (nullable): the edit that removes the refusal
 * @text: one translated sentence
 *
 * The reason why a fusion was taken or refused at a place. The strings belong to the plan.
 */
typedef struct {
  const LigFusion *fusion;
  LigPass pass;
  int first, count;
  gboolean taken, fits;
  LigReason reason;
  const char *observed, *required;
  LigEvidence found, needed;
  double gain;
  gboolean gain_measured;
  const LigMend *mend;
  const char *text;
} LigVerdict;

/**
 * lig_verdict_get_range:
 * @self: a verdict
 * @first: (out): an expanded index
 * @last: (out): an expanded index
 *
 * Reads the ops between which a verdict answers: for a pattern that does not fit, the last op
 * that fits and the one after it, which may be one past the last op of the plan.
 */
LIG_API void lig_verdict_get_range (const LigVerdict *self, int *first, int *last);

/**
 * lig_verdict_compare:
 * @a: a verdict
 * @b: another one
 *
 * Orders verdicts for a reader: near misses before those that another group hinders, these
 * before fusions that were taken, patterns that do not fit last; within each, the largest gain
 * first.
 *
 * Returns: less than, equal to or greater than 0, as for qsort()
 */
LIG_API int lig_verdict_compare (const LigVerdict *a, const LigVerdict *b);

/**
 * lig_verdicts_at:
 * @verdicts: (array length=n_verdicts): all those of a plan
 * @n_verdicts: how many there are
 * @n_ops: the number of the plan's ops
 * @first: expanded index of the place's first op
 * @last: expanded index of its last op
 * @gaps: only the verdicts about the gaps between these ops; @last may be one past the plan's last
 *   op. Otherwise all those that reach one of the ops
 *
 * Returns: (transfer container) (element-type LigVerdict): the verdicts about the place, in the
 *   order of lig_verdict_compare(). That the sequence ends is said about the gap at its end alone.
 */
LIG_API GPtrArray *lig_verdicts_at (
  const LigVerdict *verdicts, guint n_verdicts, guint n_ops, int first, int last, gboolean gaps);

/**
 * lig_verdict_describe_gain:
 * @self: a verdict
 *
 * Returns: (transfer full) (nullable): `would save about 12.3 us`, `would cost 4 us, measured`;
 *   %NULL where the gain is unknown
 */
LIG_API char *lig_verdict_describe_gain (const LigVerdict *self);

G_END_DECLS
