/* SPDX-License-Identifier: MIT */
/* Verdicts: the compiler's decision for each fusion at each place where it could begin. A verdict
 * on a rejected fusion has the condition that failed, the edit that would make the fusion possible,
 * and its gain. Verdicts belong to a plan and never change.
 *
 * Threads: any thread may read them. */
#pragma once

#include <ligature/fix.h>

G_BEGIN_DECLS

typedef struct _LigFusion LigFusion;

typedef enum { LIG_PASS_FORWARD, LIG_PASS_BACKWARD, LIG_PASS_UPDATE, LIG_PASS_JOINT } LigPass;

/* The maximum number of elements of a pattern. */
#define LIG_MAX_ELEMENTS 8

/**
 * lig_pass_name:
 * @pass: a pass
 *
 * Returns: (transfer none): `forward`, `backward`, `update` or `joint`
 */
LIG_API const char *lig_pass_name (LigPass pass);

/* The checks that can reject a fusion, in order. */
typedef enum {
  LIG_REASON_NONE,      /* applied */
  LIG_REASON_FENCED,    /* a fence between its ops */
  LIG_REASON_FORBIDDEN, /* forbidden by the user, here or everywhere */
  LIG_REASON_PATTERN,   /* the next op does not match the pattern */
  LIG_REASON_IN_USE,    /* an intermediate value is also used elsewhere */
  LIG_REASON_PARALLEL,  /* not supported with this parallelism */
  LIG_REASON_RECIPE,    /* not supported with this quantization */
  LIG_REASON_DTYPE,     /* not supported for this type */
  LIG_REASON_SHAPE,     /* not supported for this shape */
  LIG_REASON_KERNEL,    /* the device has no kernel for it */
  LIG_REASON_CLAIMED,   /* another group covers one of the ops */
  LIG_REASON_SLOWER,    /* measured or predicted to be slower */
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
 * @LIG_EVIDENCE_NONE: no data except the number, if there is a unit
 * @LIG_EVIDENCE_NAMES: the names of ops, kernels or element types
 * @LIG_EVIDENCE_END: the sequence ends
 * @LIG_EVIDENCE_FENCE: the fence before the op at the path
 * @LIG_EVIDENCE_FORBIDDEN: the fusion is forbidden at the path, or everywhere if the path is null
 * @LIG_EVIDENCE_POLICY: the policy of that name
 * @LIG_EVIDENCE_CHANNEL: the channel of that name, which the op at the path writes
 * @LIG_EVIDENCE_CALLER: the caller; if the path is not null, it is that of the op whose extra
 *   output the caller reads
 * @LIG_EVIDENCE_PASS: the pass of that name
 * @LIG_EVIDENCE_GROUP: the group of the fusion that covers the ops; if the path is not null, it is
 *   that at which the fusion is forced
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
 * @kind: the kind of the condition
 * @names: (nullable) (array zero-terminated=1): one name, or several alternatives
 * @path: (nullable): the path of an op
 * @fusion: (nullable): the name of the group's fusion
 * @first: the expanded index of the group's first op, or of the op at the path
 * @count: the number of the group's ops
 * @value: a number if @unit is not null, for any kind
 * @unit: (nullable): `us` for microseconds
 * @measured: whether the number was measured; otherwise it is predicted
 *
 * One side of a verdict as data: the observed condition, or the required one. Strings and names
 * belong to the plan.
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
 * @fusion: the fusion
 * @pass: its pass
 * @first: the expanded index of the first examined op
 * @count: the number of those ops
 * @taken: whether the fusion was applied
 * @fits: whether the ops match the fusion's pattern; a rejection that matches is a near miss
 * @reason: the check that rejected the fusion; %LIG_REASON_NONE if it was applied
 * @observed: (nullable): the observed condition, as text
 * @required: (nullable): the condition that the fusion requires, as text
 * @found: @observed as data
 * @needed: @required as data
 * @gain: the time in microseconds that a step would save with the fusion instead of the current
 *   groups; negative if it would cost time, NaN if unknown or if the fusion is applied
 * @gain_measured: whether the gain comes from measured times; otherwise it is predicted
 * @bytes: the reduction in bytes read and written per step with the fusion; negative for an
 *   increase, NaN if unknown; if the fusion is applied, compared with its ops unfused
 * @fused: the time of the ops as one group in microseconds, NaN if unknown
 * @fused_noise: half the interquartile range of its samples; 0 if it is predicted
 * @present: the time of the groups that currently cover the ops; if the fusion is applied, the time
 *   of its ops unfused
 * @present_noise: the noise of @present
 * @times_measured: whether both times were measured; otherwise one is predicted
 * @whole: whether whole steps with and without the fusion decided; unless it is applied, the times
 *   are theirs
 * @pieces: the number of chunks in which a fusion with LigFusion.min_pieces communicates and
 * multiplies each rank's rows; 0 if no policy chose it
 * @fix: (nullable): the edit that makes the fusion possible
 * @alternative: (nullable): an alternative edit
 * @title: the ops that would be fused, translated: `GELU's gradient + Linear's input gradient`; if
 *   the pattern does not match, the fusion's summary
 * @why: the reason, a translated phrase that names rows of the score instead of expanded indexes
 * @text: one sentence: the fusion's name and the reason
 *
 * Why a fusion was applied or rejected at a place. The strings belong to the plan.
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
  double bytes;
  double fused, fused_noise, present, present_noise;
  gboolean times_measured, whole;
  int pieces;
  const LigFix *fix, *alternative;
  const char *title, *why, *text;
} LigVerdict;

/**
 * lig_verdict_get_range:
 * @self: a verdict
 * @first: (out): the expanded index of the first op
 * @last: (out): the expanded index of the last op
 *
 * Reads the range of ops that a verdict is about. If the pattern does not match, these are the last
 * op that matches and the one after it, which may be one past the last op of the plan.
 */
LIG_API void lig_verdict_get_range (const LigVerdict *self, int *first, int *last);

/**
 * lig_verdicts_about:
 * @verdicts: (array length=n_verdicts): all verdicts of a plan
 * @n_verdicts: the number of verdicts
 * @n_ops: the number of the plan's ops
 * @first: the expanded index of the place's first op
 * @last: the expanded index of its last op
 * @gaps: whether to return only the verdicts about the gaps between these ops, in which case @last
 *   may be one past the plan's last op; otherwise all verdicts that concern one of the ops
 * @pass: a pass; the verdicts of joint fusions are about both
 *
 * Returns: (transfer container) (element-type LigVerdict): one verdict for each fusion of the pass
 *   about the place: that it was applied, or the most important one. First near misses, then
 *   rejections because of another group, then applied fusions, then patterns that do not match;
 *   within each class, the largest gain first. Verdicts whose reason is the end of the sequence are
 *   returned only for the gap at its end
 */
LIG_API GPtrArray *lig_verdicts_about (const LigVerdict *verdicts,
                                       guint n_verdicts,
                                       guint n_ops,
                                       int first,
                                       int last,
                                       gboolean gaps,
                                       LigPass pass);

/**
 * lig_verdict_row_path:
 * @path: the path of an op of a plan
 *
 * Returns: (transfer full): the path of the row that shows the op, in a block that of the first
 *   repetition: `3.0.2` for `3.7.2`
 */
LIG_API char *lig_verdict_row_path (const char *path) G_GNUC_WARN_UNUSED_RESULT;

/**
 * lig_verdict_describe_needs:
 * @self: a verdict
 *
 * Returns: (transfer full) (nullable): the ops that the pattern accepts next, translated and
 *   summarized by kind: `an activation or a gated unit`; %NULL if the pattern matches
 */
LIG_API char *lig_verdict_describe_needs (const LigVerdict *self) G_GNUC_WARN_UNUSED_RESULT;

/**
 * lig_verdict_describe_none:
 * @before: the op before a gap
 * @after: (nullable): the op after it; %NULL at the end of the sequence
 *
 * Returns: (transfer full): a translated sentence about a gap that no fusion extends across: `No
 *   fusion joins an activation with a matmul after it.`
 */
LIG_API char *lig_verdict_describe_none (const LigOpInfo *before,
                                         const LigOpInfo *after) G_GNUC_WARN_UNUSED_RESULT;

/**
 * lig_verdict_describe_times:
 * @self: a verdict
 *
 * Returns: (transfer full) (nullable): both times, translated: `measured: 61.4 ± 0.4 µs fused, 56.6
 *   ± 0.3 µs as now`; %NULL if one is unknown
 */
LIG_API char *lig_verdict_describe_times (const LigVerdict *self) G_GNUC_WARN_UNUSED_RESULT;

/**
 * lig_verdict_describe_gain:
 * @self: a verdict
 *
 * Returns: (transfer full) (nullable): the gain, translated: `would save about 12.3 µs, and move
 *   6.3 MB less`, `would cost 4 µs, measured`; %NULL if the gain is unknown
 */
LIG_API char *lig_verdict_describe_gain (const LigVerdict *self);

G_END_DECLS
