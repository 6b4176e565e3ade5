/* SPDX-License-Identifier: MIT */
/* Sequences as expressions, `layer-norm ! linear(28672, bias=false) ! swiglu ! linear(4096)`:
 *
 *   expr  = item {'!' item}
 *   item  = NAME ['(' [arg {',' arg}] ')'] | block '(' args ')' '{' expr '}' | '|'
 *   arg   = [NAME '='] value
 *   value = ['-'] NUMBER | true | false | NAME | STRING | '[' value {',' value} ']'
 *
 * GScanner cannot be used: it takes the start of `../r` for a number and `#` for a comment, and
 * does not report where a token begins. */
#include "engine/base/suggest.h"
#include "engine/sequence/literal.h"
#include "engine/sequence/param-set.h"

#include <glib/gi18n-lib.h>
#include <math.h>
#include <string.h>

/* The kind of a token: one of these, or the character of a punctuation mark. */
enum { END = 256, NAME, NUMBER, STRING };

typedef struct {
  int kind;
  const char *start;
  gsize length;
} Token;

typedef struct {
  const char *text; /* the whole expression */
  const char *at;   /* after the token */
  Token token;
  GError **error;
} Parser;

/* --- Messages ----------------------------------------------------------------------------- */

static char *
place_of (Parser *self, const char *at)
{
  guint line = 1, column = 1;
  gboolean lines = strchr (self->text, '\n') != NULL;
  for (const char *c = self->text; c < at; c = g_utf8_next_char (c)) {
    column = *c == '\n' ? 1 : column + 1;
    line += *c == '\n';
  }
  return lines ? g_strdup_printf (_ ("line %u, column %u"), line, column)
               : g_strdup_printf (_ ("column %u"), column);
}

static gboolean fail (Parser *self, const char *at, int code, const char *format, ...)
  G_GNUC_PRINTF (4, 5);

static gboolean
fail (Parser *self, const char *at, int code, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_autofree char *message = g_strdup_vprintf (format, args);
  va_end (args);
  g_autofree char *place = place_of (self, at);
  g_set_error (self->error, LIG_ERROR, code, "%s: %s", place, message);
  return FALSE;
}

/* Prefixes an error that another function has set with the column. */
static gboolean
place (Parser *self, const char *at)
{
  g_autofree char *where = place_of (self, at);
  g_prefix_error (self->error, "%s: ", where);
  return FALSE;
}

/* Returns a token for a message, cut after 40 characters. */
static char *
quote (const Token *token)
{
  if (token->kind == END)
    return g_strdup (_ ("the end"));
  g_autofree char *text = g_strndup (token->start, token->length);
  if (g_utf8_strlen (text, -1) <= 40)
    return g_strdup_printf ("'%s'", text);
  g_autofree char *start = g_utf8_substring (text, 0, 40);
  return g_strdup_printf ("'%s…'", start);
}

static gboolean
expected (Parser *self, const char *what)
{
  g_autofree char *got = quote (&self->token);
  return fail (self, self->token.start, LIG_ERROR_FORMAT, _ ("expected %s, got %s"), what, got);
}

/* Lists an op's parameters: `linear has out-features, bias`. */
static char *
list_params (LigOp *op)
{
  g_autoptr (GString) text = g_string_new (lig_op_get_name (op));
  const LigParam *param = lig_op_get_info (op)->params;
  g_string_append (text, param && param->name ? _ (" has ") : _ (" has no parameters"));
  for (guint i = 0; param && param[i].name; i++)
    g_string_append_printf (text, "%s%s", i > 0 ? ", " : "", param[i].name);
  return g_string_free (g_steal_pointer (&text), FALSE);
}

/* --- Tokens ------------------------------------------------------------------------------- */

static gboolean
is_first (char c)
{
  return g_ascii_isalpha (c) || c == '_' || c == '.' || c == '/';
}

static gboolean
is_further (char c)
{
  return is_first (c) || g_ascii_isdigit (c) || c == '-';
}

gboolean
lig_literal_is_name (const char *text)
{
  /* `.5` is a number. */
  if (!is_first (*text) || (*text == '.' && g_ascii_isdigit (text[1])))
    return FALSE;
  for (const char *at = text; *at; at++)
    if (!is_further (*at))
      return FALSE;
  return strcmp (text, "true") != 0 && strcmp (text, "false") != 0;
}

static const char *
skip_digits (const char *at)
{
  while (g_ascii_isdigit (*at))
    at++;
  return at;
}

/* Returns `[3,5]` for a shape as messages have it, `3x5`; NULL for any other text. */
static char *
make_list (const Token *token)
{
  g_autofree char *text = g_strndup (token->start, token->length);
  if (!g_regex_match_simple ("^[1-9][0-9]*(x[1-9][0-9]*)+$", text, 0, 0))
    return NULL;
  g_strdelimit (text, "x", ',');
  return g_strdup_printf ("[%s]", text);
}

/* Reads decimal digits with a fraction and an exponent, `.5` and `5.` included. A leading zero is
 * rejected, because some languages read 010 as 8. */
static gboolean
scan_number (Parser *self)
{
  const char *start = self->at, *at = skip_digits (start);
  gsize n_digits = (gsize) (at - start);
  gboolean good = n_digits < 2 || *start != '0';
  if (*at == '.') {
    const char *fraction = at + 1;
    at = skip_digits (fraction);
    n_digits += (gsize) (at - fraction);
  }
  if (n_digits > 0 && (*at == 'e' || *at == 'E')) {
    const char *exponent = at + 1 + (at[1] == '-' || at[1] == '+');
    at = skip_digits (exponent);
    good = good && at > exponent;
  }
  while (is_further (*at)) {
    good = FALSE;
    at++;
  }
  self->token = (Token){NUMBER, start, (gsize) (at - start)};
  self->at = at;
  if (good && n_digits > 0)
    return TRUE;
  g_autofree char *got = quote (&self->token);
  g_autofree char *list = make_list (&self->token);
  if (list)
    return fail (self, start, LIG_ERROR_FORMAT, _ ("expected a shape like %s, got %s"), list, got);
  return fail (self, start, LIG_ERROR_FORMAT, _ ("expected a decimal number, got %s"), got);
}

static gboolean
scan_string (Parser *self)
{
  const char *start = self->at, *at = start + 1;
  while (*at && *at != *start)
    at += *at == '\\' && at[1] ? 2 : 1;
  if (!*at)
    return fail (self, start, LIG_ERROR_FORMAT, _ ("expected a closing %c, got the end"), *start);
  self->token = (Token){STRING, start, (gsize) (at + 1 - start)};
  self->at = at + 1;
  return TRUE;
}

/* Reads the next token. */
static gboolean
next (Parser *self)
{
  self->at += strspn (self->at, " \t\r\n");
  const char *start = self->at;
  if (g_ascii_isdigit (*start) || (*start == '.' && g_ascii_isdigit (start[1])))
    return scan_number (self);
  if (*start == '"' || *start == '\'')
    return scan_string (self);
  if (is_first (*start)) {
    while (is_further (*self->at))
      self->at++;
    self->token = (Token){NAME, start, (gsize) (self->at - start)};
    return TRUE;
  }
  if (*start)
    self->at = g_utf8_next_char (start);
  self->token = (Token){*start ? (guchar) *start : END, start, (gsize) (self->at - start)};
  return TRUE;
}

static gboolean
token_is (const Token *token, const char *word)
{
  return token->length == strlen (word) && memcmp (token->start, word, token->length) == 0;
}

/* --- Values ------------------------------------------------------------------------------- */

static void
set_string (GValue *value, const Token *token)
{
  g_autoptr (GString) text = g_string_new (NULL);
  const char *end = token->start + token->length - 1;
  for (const char *at = token->start + 1; at < end; at++) {
    at += *at == '\\';
    g_string_append_c (text, *at);
  }
  g_value_init (value, G_TYPE_STRING);
  g_value_set_string (value, text->str);
}

static gboolean
set_number (Parser *self, GValue *value, gboolean negative)
{
  g_autofree char *digits = g_strndup (self->token.start, self->token.length);
  g_autofree char *text = g_strconcat (negative ? "-" : "", digits, NULL);
  gint64 whole = 0;
  double number = g_ascii_strtod (text, NULL);
  gboolean is_whole = strpbrk (text, ".eE") == NULL;
  if (!isfinite (number) ||
      (is_whole && !g_ascii_string_to_signed (text, 10, G_MININT64, G_MAXINT64, &whole, NULL))) {
    g_autofree char *got = quote (&self->token);
    return fail (self, self->token.start, LIG_ERROR_VALUE, _ ("%s does not fit 64 bits"), got);
  }
  g_value_init (value, is_whole ? G_TYPE_INT64 : G_TYPE_DOUBLE);
  if (is_whole)
    g_value_set_int64 (value, whole);
  else
    g_value_set_double (value, number);
  return TRUE;
}

/* Reads ['-'] NUMBER. */
static gboolean
parse_number (Parser *self, GValue *value)
{
  gboolean negative = self->token.kind == '-';
  if (negative && !next (self))
    return FALSE;
  if (self->token.kind != NUMBER)
    return expected (self, _ ("a number"));
  return set_number (self, value, negative) && next (self);
}

/* Reads a list. The only parameters that take one are shapes, so its values are lengths. */
static gboolean
parse_list (Parser *self, GValue *value)
{
  LigShape shape = {.n_axes = 0};
  do {
    g_auto (GValue) length = G_VALUE_INIT;
    if (!next (self))
      return FALSE;
    const char *start = self->token.start;
    if (!parse_number (self, &length))
      return FALSE;
    if (!lig_literal_add_axis (&shape, &length, self->error))
      return place (self, start);
  } while (self->token.kind == ',');
  if (self->token.kind != ']')
    return expected (self, _ ("',' or ']'"));
  g_value_init (value, LIG_TYPE_SHAPE);
  g_value_set_boxed (value, &shape);
  return next (self);
}

/* Stores a word as a value; its token has been consumed already. */
static void
set_word (GValue *value, const Token *token)
{
  if (token_is (token, "true") || token_is (token, "false")) {
    g_value_init (value, G_TYPE_BOOLEAN);
    g_value_set_boolean (value, token_is (token, "true"));
    return;
  }
  g_value_init (value, G_TYPE_STRING);
  g_value_take_string (value, g_strndup (token->start, token->length));
}

static gboolean
parse_value (Parser *self, GValue *value)
{
  switch (self->token.kind) {
  case NAME:
    set_word (value, &self->token);
    return next (self);
  case STRING:
    set_string (value, &self->token);
    return next (self);
  case '[':
    return parse_list (self, value);
  case '-':
  case NUMBER:
    return parse_number (self, value);
  default:
    return expected (self, _ ("a value"));
  }
}

/* --- Items -------------------------------------------------------------------------------- */

/* Returns the parameter of that name. */
static const LigParam *
find_named (Parser *self, LigOp *op, const Token *token)
{
  g_autofree char *name = g_strndup (token->start, token->length);
  g_autofree char *list = list_params (op);
  const LigParam *param = lig_literal_param (op, name);
  if (!lig_literal_check_reserved (op, name, self->error)) {
    g_prefix_error (self->error, _ ("%s of %s: "), name, lig_op_get_name (op));
    place (self, token->start);
    return NULL;
  }
  if (!param) {
    g_autofree char *got = quote (token);
    g_autofree char *like = LIG_SUGGEST_FROM (name, lig_op_get_info (op)->params, LigParam);
    fail (self, token->start, LIG_ERROR_OP, _ ("parameter %s is unknown; %s%s"), got, list, like);
  }
  return param;
}

/* Returns the parameter that takes a value without a name. */
static const LigParam *
find_positional (Parser *self, LigOp *op, const Token *token, gboolean *taken)
{
  g_autofree char *list = list_params (op);
  const LigParam *param = lig_op_get_info (op)->params;
  while (param && param->name && !(param->flags & LIG_PARAM_POSITIONAL))
    param++;
  if (!param || !param->name || *taken) {
    fail (self, token->start, LIG_ERROR_OP, "%s; %s",
          *taken ? _ ("only one value may have no name") : _ ("each value needs a name here"),
          list);
    return NULL;
  }
  *taken = TRUE;
  return param;
}

/* Reads the path of an op without quotes, which may look like a number: `0`, `3.qkv`, `../0`. */
static gboolean
next_path (Parser *self)
{
  self->at += strspn (self->at, " \t\r\n");
  const char *start = self->at;
  if (!g_ascii_isdigit (*start) && *start != '.')
    return next (self);
  while (is_further (*self->at))
    self->at++;
  self->token = (Token){NAME, start, (gsize) (self->at - start)};
  return TRUE;
}

/* Reads the value of `trained`, which every op has. */
static gboolean
parse_trained (Parser *self, LigOp *op)
{
  static const char name[] = "trained";
  g_auto (GValue) value = G_VALUE_INIT;
  if (!next (self))
    return FALSE;
  const char *start = self->token.start;
  if (!parse_value (self, &value))
    return FALSE;
  if (lig_literal_set_trained (op, &value, self->error))
    return TRUE;
  g_prefix_error (self->error, _ ("%s of %s: "), name, lig_op_get_name (op));
  return place (self, start);
}

/* Reads [NAME '='] value; `given` are the parameters before it. */
static gboolean
parse_arg (Parser *self, LigOp *op, LigParamSet *given, gboolean *positional)
{
  g_auto (GValue) value = G_VALUE_INIT;
  Token first = self->token;
  const LigParam *param = NULL;
  if (first.kind == NAME) {
    if (!next (self))
      return FALSE;
    if (self->token.kind == '=' && token_is (&first, "trained"))
      return parse_trained (self, op);
    if (self->token.kind == '=') {
      param = find_named (self, op, &first);
      if (!param || !(param->kind == LIG_PARAM_PATH ? next_path (self) : next (self)))
        return FALSE;
    } else
      set_word (&value, &first);
  }
  const char *start = param ? self->token.start : first.start;
  if (!G_IS_VALUE (&value) && !parse_value (self, &value))
    return FALSE;
  if (!param)
    param = find_positional (self, op, &first, positional);
  if (!param)
    return FALSE;
  guint index = (guint) (param - lig_op_get_info (op)->params);
  if (lig_param_set_has (given, index))
    return fail (self, first.start, LIG_ERROR_FORMAT, _ ("%s is given twice"), param->name);
  lig_param_set_add (given, index);
  if (lig_literal_set (op, param, &value, self->error))
    return TRUE;
  /* The op's own message about a value already contains both names. */
  g_autofree char *named = g_strconcat (lig_op_get_name (op), ": ", NULL);
  if (!g_str_has_prefix ((*self->error)->message, named))
    g_prefix_error (self->error, _ ("%s of %s: "), param->name, lig_op_get_name (op));
  return place (self, start);
}

/* Reads '(' [arg {',' arg}] ')'. */
static gboolean
parse_args (Parser *self, LigOp *op)
{
  LigParamSet given = {0};
  gboolean positional = FALSE;
  if (!next (self))
    return FALSE;
  if (self->token.kind == ')')
    return next (self);
  for (;;) {
    if (!parse_arg (self, op, &given, &positional))
      return FALSE;
    if (self->token.kind == ')')
      return next (self);
    if (self->token.kind != ',')
      return expected (self, _ ("',' or ')'"));
    if (!next (self))
      return FALSE;
  }
}

static gboolean parse_items (Parser *self, LigSequence *sequence, guint depth, gint64 *total);

/* Reads '{' expr '}'. */
static gboolean
parse_body (Parser *self, LigOp *op, guint depth, gint64 *inside)
{
  if (self->token.kind != '{')
    return expected (self, _ ("'{' and the ops of the block"));
  if (depth >= LIG_MAX_BLOCKS)
    return fail (self, self->token.start, LIG_ERROR_FORMAT,
                 _ ("blocks nest %u deep, at most %d levels are allowed"), depth + 1,
                 LIG_MAX_BLOCKS);
  if (!next (self) || !parse_items (self, lig_op_get_body (op), depth + 1, inside))
    return FALSE;
  if (self->token.kind != '}')
    return expected (self, _ ("'!' or '}'"));
  return next (self);
}

/* Reads an op and adds it to `sequence` and to the count of ops. */
static gboolean
parse_op (Parser *self, LigSequence *sequence, gboolean fence, guint depth, gint64 *total)
{
  const char *start = self->token.start;
  gint64 inside = 0;
  if (self->token.kind != NAME)
    return expected (self, _ ("an op"));
  g_autofree char *name = g_strndup (start, self->token.length);
  g_autoptr (LigOp) op = lig_op_new (name, self->error);
  if (!op)
    return place (self, start);
  if (!next (self))
    return FALSE;
  if (lig_op_get_body (op) && self->token.kind != '(')
    return expected (self, _ ("'(' and how often the block repeats"));
  if (self->token.kind == '(' && !parse_args (self, op))
    return FALSE;
  if (lig_op_get_body (op) && !parse_body (self, op, depth, &inside))
    return FALSE;
  if (!lig_op_check (op, self->error) || !lig_literal_count (op, inside, total, self->error))
    return place (self, start);
  lig_op_set_fence (op, fence);
  return lig_sequence_append (sequence, op, self->error);
}

/* Reads item {'!' item}. */
static gboolean
parse_items (Parser *self, LigSequence *sequence, guint depth, gint64 *total)
{
  const char *fence = NULL;
  for (;;) {
    if (self->token.kind == '|') {
      if (lig_sequence_get_length (sequence) == 0 || fence)
        return fail (self, self->token.start, LIG_ERROR_FORMAT, "%s",
                     fence ? _ ("a second fence in one gap")
                           : _ ("a fence separates two ops, but none is before it"));
      fence = self->token.start;
      if (!next (self))
        return FALSE;
    } else {
      if (!parse_op (self, sequence, fence != NULL, depth, total))
        return FALSE;
      fence = NULL;
    }
    if (self->token.kind != '!')
      break;
    if (!next (self))
      return FALSE;
  }
  return !fence || fail (self, fence, LIG_ERROR_FORMAT,
                         _ ("a fence separates two ops, but none is after it"));
}

LigSequence *
lig_sequence_from_expression (const char *text, GError **error)
{
  g_return_val_if_fail (text != NULL, NULL);
  g_autoptr (GError) local = NULL;
  g_autoptr (LigSequence) sequence = lig_sequence_new ();
  Parser parser = {.text = text, .at = text, .error = &local};
  gint64 total = 0;
  if (!lig_literal_check_text (text, strlen (text), error))
    return NULL;
  if (text[strspn (text, " \t\r\n")] == '\0') {
    g_set_error (error, LIG_ERROR, LIG_ERROR_FORMAT, _ ("the expression is empty, expected an op"));
    return NULL;
  }
  if (next (&parser) && parse_items (&parser, sequence, 0, &total) &&
      (parser.token.kind == END || expected (&parser, _ ("'!' or the end"))))
    return g_steal_pointer (&sequence);
  g_propagate_error (error, g_steal_pointer (&local));
  return NULL;
}
