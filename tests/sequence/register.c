/* SPDX-License-Identifier: MIT */
/* Registering ops, fusions and kernels of an embedding program: every fault of a table is reported
 * when it is registered. */
#include "engine/compile/compilation.h"
#include "tests/sequence/register-case.h"
#include <ligature/lowering.h>

/* --- Words and parameters of an op ---------------------------------------------------------- */

static void
test_words (void)
{
  static const struct {
    const char *name, *message;
  } names[] = {
    {"linear", "an op called linear is already registered"},
    {"block", "an op called block is already registered"},
    {"Twice",
     "an op is called 'Twice', expected a name in kebab-case of at most 60 bytes, not true "
     "or false"},
    {"two words", "an op is called 'two words', expected a name in kebab-case of at most 60 bytes, "
                  "not true or false"},
    {"2x", "an op is called '2x', expected a name in kebab-case of at most 60 bytes, not true or "
           "false"},
    {"true", "an op is called 'true', expected a name in kebab-case of at most 60 bytes, not true "
             "or false"},
  };
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    LigOpInfo info = whole (names[i].name);
    check_rejection (&info, names[i].message);
  }
  LigOpInfo info = whole ("twice-words");
  info.name = NULL;
  check_rejection (&info,
                   "an op is called '', expected a name in kebab-case of at most 60 bytes, not "
                   "true or false");
  info = whole ("twice-words");
  info.title = NULL;
  check_rejection (&info, "op twice-words: it has no title");
  info = whole ("twice-words");
  info.example = NULL;
  check_rejection (&info, "op twice-words: it has no example");
  info = whole ("twice-words");
  info.flags = LIG_OP_BLOCK;
  check_rejection (&info, "op twice-words: its flags are 0x20, expected some of 0x1fedf");
  /* The name of an op that the program registered is also taken. */
  info = whole ("twice-words");
  check_accepted (&info);
  check_rejection (&info, "an op called twice-words is already registered");
  check_twice ("twice-words");
}

/* Each trait has requirements that its readers rely on. */
static void
test_traits (void)
{
  static const struct {
    unsigned flags;
    const char *message;
  } faults[] = {
    {LIG_OP_MATMUL, "op twice-traits: it is a matmul, so it needs the trained parameter weight"},
    {LIG_OP_CLASSES, "op twice-traits: it has classes, so it must be a loss with an extra "
                     "input, the targets, and params that begin like those of cross-entropy"},
    {LIG_OP_COLLECTIVE, "op twice-traits: it is a collective, so it needs the parameter group"},
    {LIG_OP_GATHERS_ROWS, "op twice-traits: it is a collective, so it needs the parameter group"},
    {LIG_OP_NORM, "op twice-traits: it is a norm, so it needs a forward kernel, a norm's "
                  "params, the parameter weight and the computed value rstd"},
  };
  for (guint i = 0; i < G_N_ELEMENTS (faults); i++) {
    LigOpInfo info = whole ("twice-traits");
    info.flags = faults[i].flags;
    check_rejection (&info, faults[i].message);
  }
  LigOpInfo info = whole ("twice-traits");
  info.function = 1;
  check_rejection (&info, "op twice-traits: its function is 1, expected 0 to 0");
  info = whole ("twice-traits");
  info.vocabulary = "words";
  info.vocabulary_choice = "words";
  check_rejection (&info, "op twice-traits: its vocabulary is 'words', expected one of its "
                          "parameters, next to the parameter parallel and a choice of it");
  info = whole ("twice-traits");
  info.flags = LIG_OP_PASSES_GRADIENT;
  check_accepted (&info);
}

#define ROW(kind_, name_, low, high, start, flags_, offset_) \
  { \
    kind_, name_, "Label", "Help", low, high, start, flags_, offset_, NULL \
  }
#define SIZED(name_, offset_) ROW (LIG_PARAM_INT, name_, 0, 9, 0, 0, offset_)

static const struct {
  LigParam row;
  const char *message;
} rows[] = {
  {SIZED ("factor", 8), "op twice-rows: two parameters are called factor"},
  {SIZED ("fence", 8),
   "op twice-rows: a parameter is called 'fence', expected a name in kebab-case other than fence, "
   "trained, op, ops, true and false"},
  {SIZED ("trained", 8), "op twice-rows: a parameter is called 'trained', expected a name in "
                         "kebab-case other than fence, "
                         "trained, op, ops, true and false"},
  {SIZED ("a_b", 8), "op twice-rows: a parameter is called 'a_b', expected a name in kebab-case "
                     "other than fence, trained, "
                     "op, ops, true and false"},
  {{LIG_PARAM_INT, "late", "Label", NULL, 0, 9, 0, 0, 8, NULL},
   "op twice-rows: parameter late has no label or no help"},
  {{(LigParamKind) 9, "late", "Label", "Help", 0, 9, 0, 0, 8, NULL},
   "op twice-rows: parameter late has the unknown kind 9"},
  {SIZED ("late", 12), "op twice-rows: parameter late is at byte 12, expected a multiple of 8"},
  {SIZED ("late", sizeof (Params)), NULL},
  {SIZED ("late", G_MAXSIZE), NULL},
  {ROW (LIG_PARAM_SHAPE, "late", 1, 9, 0, 0, 24), NULL},
  {ROW (LIG_PARAM_OUTPUT, "late", 0, 0, 0, 0, 0),
   "op twice-rows: parameter late is of extra output 0, there are 0"},
  {ROW (LIG_PARAM_INPUT, "late", 0, 0, 0, 0, 4),
   "op twice-rows: parameter late is of extra input 4, there are 0"},
  {ROW (LIG_PARAM_INT, "late", 1, 9, 0, 0, 8),
   "op twice-rows: parameter late is 0 of 1 to 9, expected a whole number in a range"},
  {ROW (LIG_PARAM_INT, "late", 1, 9, 2.5, 0, 8),
   "op twice-rows: parameter late is 2.5 of 1 to 9, expected a whole number in a range"},
  {ROW (LIG_PARAM_INT, "late", 1, 1e30, 2, 0, 8),
   "op twice-rows: parameter late is 2 of 1 to 1e+30, expected a whole number in a range"},
  {ROW (LIG_PARAM_FLOAT, "late", 3, 2, 2, 0, 0),
   "op twice-rows: parameter late is 2 of 3 to 2, expected a number in a range"},
};

static void
test_params (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    const LigParam table[] = {params[0], params[1], rows[i].row, {.name = NULL}};
    LigOpInfo info = whole ("twice-rows");
    g_autofree char *beyond = g_strdup_printf (
      "op twice-rows: parameter late has its end at byte %" G_GSIZE_FORMAT
      ", that of the params struct is at %" G_GSIZE_FORMAT,
      rows[i].row.offset + (rows[i].row.kind == LIG_PARAM_SHAPE ? sizeof (LigShape) : 8),
      sizeof (Params));
    info.params = table;
    check_rejection (&info, rows[i].message ? rows[i].message : beyond);
  }
  LigParam nan = params[0];
  nan.initial = NAN;
  const LigParam broken[] = {nan, {.name = NULL}};
  LigOpInfo info = whole ("twice-rows");
  info.params = broken;
  check_rejection (
    &info, "op twice-rows: parameter factor is nan of 0 to 8, expected a number in a range");
  info = whole ("twice-rows");
  info.kernel_params_size = 97;
  check_rejection (&info,
                   "op twice-rows: its kernels have params of 97 bytes, at most 96 are allowed");
  info.kernel_params_size = 64;
  info.params_size = 63;
  info.params = NULL;
  check_rejection (&info, "op twice-rows: its kernels have params of 64 bytes, the op of 63");
}

/* The set of given parameters has room for 128. */
static void
test_many_params (void)
{
  for (int count = 128; count <= 132; count += 4) {
    g_autofree LigParam *table = g_new0 (LigParam, count + 1);
    g_autofree char *name = g_strdup_printf ("twice-%d", count);
    LigOpInfo info = whole (name);
    for (int i = 0; i < count; i++) {
      g_autofree char *word = g_strdup_printf ("p%d", i);
      table[i] = (LigParam) LIG_INT (Params, count, "", "Label", "Help", 0, 9, 0, 0);
      table[i].name = g_intern_string (word);
      table[i].flags = i == 127 ? LIG_PARAM_REQUIRED : 0;
    }
    info.params = table;
    info.example = "twice-128(p127=3) @ 4x8";
    if (count == 132)
      check_rejection (&info, "op twice-132: it has 132 parameters, at most 128 are allowed");
    else
      check_accepted (&info);
  }
  g_autoptr (GError) error = NULL;
  g_assert_null (lig_sequence_from_expression ("twice-128", &error));
  g_assert_cmpstr (error->message, ==, "column 1: twice-128 needs p127");
}

/* --- Ports ---------------------------------------------------------------------------------- */

static gboolean
infer_scalars (LigInfer *self, GError **error)
{
  return TRUE;
}

static void
test_ports (void)
{
  LigOpInfo info = whole ("twice-ports");
  info.extra_inputs = "a b c d e";
  check_rejection (&info, "op twice-ports: it has 5 extra inputs, at most 4 are allowed");
  info = whole ("twice-ports");
  info.computes = "a b c d e";
  check_rejection (&info, "op twice-ports: it has 5 computed values, at most 4 are allowed");
  info = whole ("twice-ports");
  info.extra_outputs = "more Y";
  check_rejection (&info, "op twice-ports: a port is called 'Y', expected at most 31 lower-case "
                          "letters, digits or _ after a letter");
  info.extra_outputs = "more a234567890123456789012345678901x";
  check_rejection (&info, "op twice-ports: a port is called 'a234567890123456789012345678901x', "
                          "expected at most 31 lower-case letters, digits or _ after a letter");
  info.extra_outputs = "more dx";
  check_rejection (&info, "op twice-ports: two ports or gradients of ports are called dx or ddx");
  info.extra_outputs = NULL;
  info.extra_inputs = info.computes = "more";
  check_rejection (&info,
                   "op twice-ports: two ports or gradients of ports are called more or dmore");
  info = whole ("twice-ports");
  info.saves = "x mean";
  check_rejection (&info,
                   "op twice-ports: it saves 'mean', expected x, y, an extra input or output, a "
                   "trained parameter or a computed value");
}

/* Twelve parameters would overrun the arrays of a plan. */
static void
test_trained (void)
{
  static const char *const names[] = {"a", "b", "c", "e", "f", "g", "h", "i", "j", "k", "l", "m"};
  LigParameterInfo table[13] = {{.name = NULL}};
  LigOpInfo info = whole ("twice-trained");
  for (guint i = 0; i < 12; i++)
    table[i].name = names[i];
  info.parameters = table;
  check_rejection (&info, "op twice-trained: it has 12 trained parameters, at most 4 are "
                          "allowed");
  table[1] = (LigParameterInfo){.name = NULL};
  check_rejection (&info,
                   "op twice-trained: its trained parameters have no shapes; give it an infer "
                   "function");
  info.infer = infer_scalars;
  table[0].init = (LigInit) 9;
  check_rejection (&info, "op twice-trained: a has the unknown initialization 9");
  table[0].init = LIG_INIT_ONES;
  table[0].own_update = TRUE;
  check_rejection (&info, "op twice-trained: its parameter a has own_update, so it needs "
                          "lower_update, and neither matmul nor decays");
  table[0].own_update = FALSE;
  table[1].name = "a";
  check_rejection (&info, "op twice-trained: two ports or gradients of ports are called a or da");
  /* The parameter's gradient is required, but no kernel writes it. */
  table[1].name = NULL;
  check_rejection (&info,
                   "op twice-trained: its example 'twice-trained @ 4x8': twice-trained at 0: "
                   "by its table, no kernel writes d0.a, which is needed");
}

/* --- Kernels and ways ----------------------------------------------------------------------- */

static LigOpInfo
plain (const char *forward, const char *backward)
{
  LigOpInfo info = whole ("twice-kernels");
  info.lower_forward = info.lower_backward = NULL;
  info.forward = forward;
  info.backward = backward;
  return info;
}

static gboolean
opaque (const LigOpaqueCall *call, GError **error)
{
  return TRUE;
}

static void
test_kernels (void)
{
  static const struct {
    const char *forward, *backward, *message;
  } cases[] = {
    {"gelu2", NULL, "op twice-kernels: no kernel is called 'gelu2'; register it before the op"},
    {"gelu relu", NULL, "op twice-kernels: it has 2 kernels for forward, expected 1"},
    {" ", NULL, "op twice-kernels: it has 0 kernels for forward, expected 1"},
    {"bias", NULL,
     "op twice-kernels: its kernel bias reads 'bias', which is not a port that its forward "
     "reads"},
    {"layer_norm", NULL,
     "op twice-kernels: its kernel layer_norm reads 'weight', which is not a port that its "
     "forward reads"},
    {"bias_backward", NULL,
     "op twice-kernels: its kernel bias_backward reads 'dy', which is not a port that its "
     "forward reads"},
    {"gelu", "gelu_backward",
     "op twice-kernels: its kernel gelu_backward reads 'x', which is not a port that its "
     "backward reads"},
    {"gelu", "gelu",
     "op twice-kernels: its kernel gelu reads 'x', which is not a port that its backward reads"},
    {NULL, NULL,
     "op twice-kernels: it has 0 ways of computing its output, expected 1 of forward, "
     "lower_forward, "
     "expand and opaque_forward"},
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    LigOpInfo info = plain (cases[i].forward, cases[i].backward);
    check_rejection (&info, cases[i].message);
  }
  LigOpInfo info = plain ("gelu", NULL);
  info.lower_forward = lower;
  check_rejection (&info, "op twice-kernels: it has 2 ways of computing its output, expected 1 of "
                          "forward, lower_forward, expand and opaque_forward");
  info = plain (NULL, NULL);
  info.opaque_forward = opaque;
  info.extra_inputs = "more";
  check_rejection (&info, "op twice-kernels: it is opaque, so it must not have extra ports, "
                          "trained parameters, computed values or kernels");
  info = plain ("gelu", "gelu_backward");
  info.saves = "x";
  check_accepted (&info);
}

static gboolean
infer_bad (LigInfer *self, GError **error)
{
  self->kept[0].n_axes = 1;
  self->kept[0].axes[0] = -5;
  return TRUE;
}

static gboolean
infer_type (LigInfer *self, GError **error)
{
  self->y_dtype = (LigDtype) 77;
  return TRUE;
}

static void
lower_port (LigLowering *lowering)
{
  lig_lower_kernel (lowering, "scale", "x=z", NULL, 0);
}

static void
lower_long (LigLowering *lowering)
{
  static const char bytes[97] = {0};
  lig_lower_kernel (lowering, "scale", NULL, bytes, sizeof bytes);
}

static void
lower_unwritten (LigLowering *lowering)
{
  lig_lower_kernel (lowering, "add", "a=x b=mean", NULL, 0);
}

/* Kernels that the program registered are named like built-in ones. */
static void
test_kernels_by_name (void)
{
  static LigKernel own, other;
  g_autoptr (GError) error = NULL;
  own = other = kernel;
  own.name = "register-own";
  other.name = "gelu";
  LigOpInfo info = whole ("twice-by-name");
  info.lower_forward = NULL;
  info.forward = "register-own";
  check_rejection (&info,
                   "op twice-by-name: no kernel is called 'register-own'; register it before "
                   "the op");
  g_assert_true (lig_register_kernel (&own, &error));
  g_assert_no_error (error);
  check_accepted (&info);
  g_autoptr (LigSequence) sequence = new_sequence ("twice-by-name", "4x8");
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.training = FALSE;
  g_autoptr (LigPlan) plan = compile (sequence, &options);
  g_autofree char *kernels = kernels_text (plan, LIG_PASS_FORWARD);
  g_assert_cmpstr (kernels, ==, "register-own");
  g_assert_false (lig_register_kernel (&own, &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_OP);
  g_assert_cmpstr (error->message, ==, "a kernel called register-own is already registered");
  g_clear_error (&error);
  g_assert_false (lig_register_kernel (&other, &error));
  g_assert_cmpstr (error->message, ==,
                   "kernel gelu: it has the name of a built-in kernel; give it another");
}

/* Faults that only a call of the functions reveals. */
static void
test_example (void)
{
#define EXAMPLE "op twice-example: its example '"
  LigOpInfo info = whole ("twice-example");
  info.example = "twice-example";
  check_rejection (&info, EXAMPLE "twice-example': it has no input, as in 'twice-example @ 4x16'");
  info.example = "gelu @ 4x8";
  check_rejection (&info, EXAMPLE "gelu @ 4x8': it does not contain the op");
  info.example = "twice-example(7) @ 4x8";
  check_rejection (&info,
                   EXAMPLE "twice-example(7) @ 4x8': column 15: each value needs a name here; "
                           "twice-example has factor, count");
  info.example = "twice-example @ 4y8";
  check_rejection (&info, EXAMPLE "twice-example @ 4y8': shape '4y8': axis 0 is '4y8', expected a "
                                  "length; write it like 16384x4096:bf16");
#undef EXAMPLE
#define EXAMPLE "op twice-example: its example 'twice-example @ 4x8': twice-example at 0: "
  info = whole ("twice-example");
  info.infer = infer_type;
  check_rejection (&info, EXAMPLE "the type of y is 77, which is not a LigDtype");
  info.infer = infer_bad;
  info.computes = "mean";
  check_rejection (&info, EXAMPLE "axis 0 has length -5, expected at least 0");
  info.infer = NULL;
  info.lower_forward = lower_unwritten;
  check_rejection (&info, EXAMPLE "by its table, kernel add reads #0.mean, which no kernel wrote "
                                  "before");
  info = whole ("twice-example");
  info.lower_forward = lower_port;
  check_rejection (&info, EXAMPLE "its table names a port 'z' that does not exist");
  info.lower_forward = lower_long;
  check_rejection (&info, EXAMPLE "its kernel scale is given 97 bytes of parameters, at most "
                                  "96 are allowed");
#undef EXAMPLE
  info = whole ("twice-example");
  info.flags = LIG_OP_LOSS;
  check_rejection (&info, "op twice-example: its example 'twice-example @ 4x8': y is 4x8 of "
                          "fp32, expected an fp32 scalar, because it is a loss");
  /* After all the rejections the name is still free. */
  info = whole ("twice-example");
  check_accepted (&info);
  check_twice ("twice-example");
}

/* --- Built-in tables are also complete -------------------------------------------------------- */

static void
test_built_in (void)
{
  const LigOpInfo *info;
  const LigFusion *fusion;
  g_autoptr (GError) error = NULL;
  for (guint i = 0; (info = lig_op_info_nth (i)); i++) {
    g_assert_cmpuint (info->size, ==, sizeof *info);
    if (info->flags & (LIG_OP_BLOCK | LIG_OP_QUANTIZES))
      continue; /* only the library has these */
    lig_op_info_check (info, &error);
    g_assert_no_error (error);
    lig_op_info_try (info, &error);
    g_assert_no_error (error);
  }
  for (guint i = 0; (fusion = lig_fusion_nth (i)); i++) {
    g_assert_cmpuint (fusion->size, ==, sizeof *fusion);
    lig_fusion_check (fusion, &error);
    g_assert_no_error (error);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/register/built-in", test_built_in);
  g_test_add_func ("/register/words", test_words);
  g_test_add_func ("/register/traits", test_traits);
  g_test_add_func ("/register/params", test_params);
  g_test_add_func ("/register/many-params", test_many_params);
  g_test_add_func ("/register/ports", test_ports);
  g_test_add_func ("/register/trained", test_trained);
  g_test_add_func ("/register/kernels", test_kernels);
  g_test_add_func ("/register/kernels/by-name", test_kernels_by_name);
  g_test_add_func ("/register/example", test_example);
  return g_test_run ();
}
