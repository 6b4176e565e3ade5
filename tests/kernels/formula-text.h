/* SPDX-License-Identifier: MIT */
/* Evaluates the documented formula of an op, `y = x sigmoid (1.702 x)`, in double, to compare the
 * op's kernels with its documentation. */
#pragma once

#include <glib.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <ligature/op.h>

/* Instructions of a stack machine: `n` pushes the value, `x` and `b` the arguments, the others are
 * operators and the first letters of functions. */
typedef struct {
  struct {
    char code;
    double value;
  } steps[64];
  int count;
} Formula;

typedef struct {
  const char *at;
  Formula *to;
} FormulaReader;

static inline void
formula_emit (FormulaReader *reader, char code, double value)
{
  g_assert_cmpint (reader->to->count, <, (int) G_N_ELEMENTS (reader->to->steps));
  reader->to->steps[reader->to->count].code = code;
  reader->to->steps[reader->to->count++].value = value;
}

static void formula_read_sum (FormulaReader *reader);
static void formula_read (Formula *formula, const char *name);

static inline void
formula_expect (FormulaReader *reader, char expected)
{
  reader->at += strspn (reader->at, " ");
  if (*reader->at++ != expected)
    g_error ("'%c' expected before '%s'", expected, reader->at - 1);
}

/* Reads a call of a function in the list or, by its op's name, of another activation. */
static inline void
formula_read_call (FormulaReader *reader, const char *name)
{
  static const char *const functions[] = {"sigmoid", "tanh", "exp", "erf", "max", "min"};
  static const char codes[] = "sterMm";
  guint i = 0;
  while (i < G_N_ELEMENTS (functions) && !g_str_equal (functions[i], name))
    i++;
  formula_expect (reader, '(');
  formula_read_sum (reader);
  if (i < G_N_ELEMENTS (functions) && strchr ("Mm", codes[i])) {
    formula_expect (reader, ',');
    formula_read_sum (reader);
  }
  formula_expect (reader, ')');
  if (i < G_N_ELEMENTS (functions)) {
    formula_emit (reader, codes[i], 0);
    return;
  }
  /* Inside the called formula, x is its argument, which is on top of the stack. */
  Formula inner = {0};
  formula_read (&inner, name);
  formula_emit (reader, '{', 0);
  for (int j = 0; j < inner.count; j++)
    formula_emit (reader, inner.steps[j].code, inner.steps[j].value);
  formula_emit (reader, '}', 0);
}

static inline void
formula_read_factor (FormulaReader *reader)
{
  char *end;
  if (g_ascii_isdigit (*reader->at)) {
    formula_emit (reader, 'n', g_ascii_strtod (reader->at, &end));
    reader->at = end;
  } else if (*reader->at == '(') {
    reader->at++;
    formula_read_sum (reader);
    formula_expect (reader, ')');
  } else {
    gsize length = strspn (reader->at, "abcdefghijklmnopqrstuvwxyz");
    g_autofree char *name = g_strndup (reader->at, length);
    reader->at += length;
    if (length == 1)
      formula_emit (reader, *name == 'b' ? 'b' : 'x', 0);
    else
      formula_read_call (reader, name);
  }
  if (*reader->at == '^') {
    reader->at++;
    formula_emit (reader, 'n', g_ascii_strtod (reader->at, &end));
    reader->at = end;
    formula_emit (reader, '^', 0);
  }
}

/* Reads factors; those without an operator between them are multiplied. */
static inline void
formula_read_matmul (FormulaReader *reader)
{
  for (int factors = 0;; factors++) {
    reader->at += strspn (reader->at, " ");
    if (!*reader->at || strchr ("+-,)", *reader->at))
      break;
    gboolean divides = *reader->at == '/';
    reader->at += divides ? 1 + strspn (reader->at + 1, " ") : 0;
    formula_read_factor (reader);
    if (factors > 0)
      formula_emit (reader, divides ? '/' : '*', 0);
  }
}

static void
formula_read_sum (FormulaReader *reader)
{
  formula_read_matmul (reader);
  while (*reader->at == '+' || *reader->at == '-') {
    char code = *reader->at++;
    formula_read_matmul (reader);
    formula_emit (reader, code, 0);
  }
}

/* Reads the formula of the op of that name, or of that kernel, in which x may be called `a`. The
 * text after a comma explains symbols and is ignored. */
static void
formula_read (Formula *formula, const char *name)
{
  g_autofree char *op = g_strdelimit (g_strdup (name), "_", '-');
  const LigOpInfo *info = lig_op_info_find (op);
  g_assert_nonnull (info);
  g_assert_true (g_str_has_prefix (info->formula, "y = "));
  FormulaReader reader = {info->formula + strlen ("y = "), formula};
  formula->count = 0;
  formula_read_sum (&reader);
  g_assert_true (*reader.at == '\0' || *reader.at == ',');
}

static inline double
formula_apply (char code, double a, double b)
{
  switch (code) {
  case '+':
    return a + b;
  case '-':
    return a - b;
  case '*':
    return a * b;
  case '/':
    return a / b;
  case '^':
    return pow (a, b);
  case 'M':
    return a > b ? a : b;
  default:
    return a < b ? a : b;
  }
}

/* Returns the value at x; `b` is the other half of a gated unit's row. */
static inline double
formula_value (const Formula *formula, double x, double b)
{
  double stack[32], kept[8];
  int top = 0, depth = 0;
  for (int i = 0; i < formula->count; i++) {
    char code = formula->steps[i].code;
    if (code == 'n' || code == 'x' || code == 'b')
      stack[top++] = code == 'n' ? formula->steps[i].value : code == 'x' ? x : b;
    else if (code == '{')
      kept[depth++] = x, x = stack[--top];
    else if (code == '}')
      x = kept[--depth];
    else if (code == 's')
      stack[top - 1] = 1 / (1 + exp (-stack[top - 1]));
    else if (strchr ("ter", code))
      stack[top - 1] = code == 't'   ? tanh (stack[top - 1])
                       : code == 'e' ? exp (stack[top - 1])
                                     : erf (stack[top - 1]);
    else
      top--, stack[top - 1] = formula_apply (code, stack[top - 1], stack[top]);
  }
  g_assert_cmpint (top, ==, 1);
  return stack[0];
}
