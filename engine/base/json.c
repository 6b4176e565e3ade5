/* SPDX-License-Identifier: MIT */
/* Checks JSON text strictly before json-glib parses it, and writes values as text. */
#include "engine/base/json-private.h"

#include "engine/base/number.h"
#include "engine/base/printable.h"
#include <ligature/printable.h>

#include <glib/gi18n-lib.h>
#include <math.h>
#include <string.h>

/* The documents of this program are far smaller. */
#define LONGEST_TEXT (64 << 20)

typedef struct {
  const char *start, *at, *end;
  const char *file;
  GString *path; /* JSON path of the value being read */
  guint depth;
  guint64 n_values;
  GError **error;
} Checker;

static gboolean check_value (Checker *self);

/* Returns the current character, or `the end`, as a message names it. */
static char *
got (Checker *self)
{
  if (self->at >= self->end)
    return g_strdup (_ ("the end"));
  gunichar character = g_utf8_get_char (self->at);
  if (!g_unichar_isprint (character))
    return g_strdup_printf (_ ("the character U+%04X"), character);
  return g_strdup_printf ("'%.*s'", (int) (g_utf8_next_char (self->at) - self->at), self->at);
}

static gboolean
expected (Checker *self, const char *what)
{
  guint line = 1, column = 1;
  for (const char *at = self->start; at < self->at; at = g_utf8_next_char (at)) {
    column = *at == '\n' ? 1 : column + 1;
    line += *at == '\n';
  }
  g_autofree char *here = got (self);
  if (self->file)
    g_set_error (self->error, LIG_ERROR, LIG_ERROR_FORMAT, _ ("%s:%u:%u: expected %s, got %s"),
                 self->file, line, column, what, here);
  else
    g_set_error (self->error, LIG_ERROR, LIG_ERROR_FORMAT,
                 _ ("line %u, column %u: expected %s, got %s"), line, column, what, here);
  return FALSE;
}

static gboolean reject (Checker *self, const char *format, ...) G_GNUC_PRINTF (2, 3);

static gboolean
reject (Checker *self, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_autofree char *message = g_strdup_vprintf (format, args);
  va_end (args);
  g_set_error (self->error, LIG_ERROR, LIG_ERROR_FORMAT, "%s%s%s: %s", self->file ? self->file : "",
               self->file ? ": " : "", self->path->str, message);
  return lig_error_set_path (self->error, self->path->str);
}

static char
peek (Checker *self)
{
  return self->at < self->end ? *self->at : '\0';
}

static void
skip_space (Checker *self)
{
  while (self->at < self->end && strchr (" \t\r\n", *self->at))
    self->at++;
}

static gboolean
take (Checker *self, char character)
{
  if (self->at >= self->end || *self->at != character)
    return FALSE;
  self->at++;
  return TRUE;
}

static gboolean
check_hex (Checker *self, gunichar *unit)
{
  *unit = 0;
  for (int i = 0; i < 4; i++, self->at++) {
    if (!g_ascii_isxdigit (peek (self)))
      return expected (self, _ ("four hexadecimal digits"));
    *unit = *unit * 16 + (gunichar) g_ascii_xdigit_value (*self->at);
  }
  return TRUE;
}

/* Reads the digits after `\u`; after the first half of a surrogate pair also the second `\u`. */
static gboolean
check_unicode (Checker *self, GString *string)
{
  gunichar first, second;
  if (!check_hex (self, &first))
    return FALSE;
  if (first >= 0xd800 && first < 0xdc00) {
    if (!take (self, '\\') || !take (self, 'u'))
      return expected (self, _ ("the second half of a surrogate pair"));
    if (!check_hex (self, &second))
      return FALSE;
    if (second < 0xdc00 || second > 0xdfff)
      return reject (self, _ ("a string holds half a surrogate pair"));
    first = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
  } else if (first >= 0xdc00 && first < 0xe000)
    return reject (self, _ ("a string holds half a surrogate pair"));
  if (first == 0)
    return reject (self, _ ("a string holds the character U+0000"));
  g_string_append_unichar (string, first);
  return TRUE;
}

static gboolean
check_escape (Checker *self, GString *string)
{
  static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
  if (take (self, 'u'))
    return check_unicode (self, string);
  const char *letter = peek (self) ? strchr (letters, peek (self)) : NULL;
  if (!letter)
    return expected (self, _ ("an escape, one of \"\\/bfnrtu"));
  g_string_append_c (string, meanings[letter - letters]);
  self->at++;
  return TRUE;
}

/* Reads a string into `string`, replacing its content. */
static gboolean
check_string (Checker *self, GString *string)
{
  g_string_truncate (string, 0);
  if (!take (self, '"'))
    return expected (self, _ ("a string"));
  while (!take (self, '"')) {
    if (take (self, '\\')) {
      if (!check_escape (self, string))
        return FALSE;
    } else if ((guchar) peek (self) < 0x20)
      return expected (self, _ ("'\"'"));
    else
      g_string_append_c (string, *self->at++);
  }
  return TRUE;
}

static gboolean
check_digits (Checker *self)
{
  if (!g_ascii_isdigit (peek (self)))
    return expected (self, _ ("a digit"));
  while (g_ascii_isdigit (peek (self)))
    self->at++;
  return TRUE;
}

static gboolean
check_number (Checker *self)
{
  const char *start = self->at;
  gboolean whole = TRUE, fits;
  take (self, '-');
  if (!take (self, '0') && !check_digits (self))
    return FALSE;
  if (take (self, '.')) {
    whole = FALSE;
    if (!check_digits (self))
      return FALSE;
  }
  if (take (self, 'e') || take (self, 'E')) {
    whole = FALSE;
    if (!take (self, '+'))
      take (self, '-');
    if (!check_digits (self))
      return FALSE;
  }
  g_autofree char *text = g_strndup (start, (gsize) (self->at - start));
  if (whole)
    fits = g_ascii_string_to_signed (text, 10, -G_MAXINT64, G_MAXINT64, NULL, NULL);
  else
    fits = isfinite (g_ascii_strtod (text, NULL));
  return fits ||
         reject (self, _ ("%.40s%s does not fit 64 bits"), text, strlen (text) > 40 ? "…" : "");
}

static gboolean
check_array (Checker *self)
{
  gsize length = self->path->len;
  skip_space (self);
  if (take (self, ']'))
    return TRUE;
  for (guint i = 0;; i++) {
    g_string_append_printf (self->path, "[%u]", i);
    if (!check_value (self))
      return FALSE;
    g_string_truncate (self->path, length);
    if (take (self, ']'))
      return TRUE;
    if (!take (self, ','))
      return expected (self, _ ("',' or ']'"));
  }
}

static gboolean
check_object (Checker *self)
{
  gsize length = self->path->len;
  g_autoptr (GHashTable) keys = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GString) key = g_string_new (NULL);
  skip_space (self);
  if (take (self, '}'))
    return TRUE;
  for (;;) {
    skip_space (self);
    if (!check_string (self, key))
      return FALSE;
    lig_json_append_key (self->path, key->str);
    if (!g_hash_table_add (keys, g_strdup (key->str)))
      return reject (self, _ ("the key is given twice"));
    skip_space (self);
    if (!take (self, ':'))
      return expected (self, _ ("':'"));
    if (!check_value (self))
      return FALSE;
    g_string_truncate (self->path, length);
    if (take (self, '}'))
      return TRUE;
    if (!take (self, ','))
      return expected (self, _ ("',' or '}'"));
  }
}

static gboolean
check_word (Checker *self)
{
  static const char *const words[] = {"true", "false", "null"};
  gsize left = (gsize) (self->end - self->at);
  for (guint i = 0; i < G_N_ELEMENTS (words); i++) {
    gsize length = strlen (words[i]);
    if (length <= left && memcmp (self->at, words[i], length) == 0) {
      self->at += length;
      return TRUE;
    }
  }
  return expected (self, _ ("a value"));
}

static gboolean
check_inside (Checker *self, gboolean object)
{
  self->at++;
  if (++self->depth > LIG_JSON_MAX_DEPTH)
    return reject (self, _ ("arrays and objects nest %u deep, at most %d levels are allowed"),
                   self->depth, LIG_JSON_MAX_DEPTH);
  if (!(object ? check_object (self) : check_array (self)))
    return FALSE;
  self->depth--;
  return TRUE;
}

/* Reads a value and the surrounding white space. */
static gboolean
check_value (Checker *self)
{
  gboolean good;
  skip_space (self);
  if (++self->n_values > LIG_JSON_MAX_VALUES)
    return reject (self, _ ("there are more than %d values"), LIG_JSON_MAX_VALUES);
  if (peek (self) == '{' || peek (self) == '[')
    good = check_inside (self, peek (self) == '{');
  else if (peek (self) == '"') {
    g_autoptr (GString) string = g_string_new (NULL);
    good = check_string (self, string);
  } else if (peek (self) == '-' || g_ascii_isdigit (peek (self)))
    good = check_number (self);
  else
    good = check_word (self);
  skip_space (self);
  return good;
}

static JsonNode *
read_checked (const char *text, gsize length, const char *file, gboolean changeable, GError **error)
{
  g_autoptr (GString) path = g_string_new ("$");
  Checker checker = {text, text, text + length, file, path, 0, 0, error};
  if (!check_value (&checker))
    return NULL;
  if (checker.at < checker.end) {
    expected (&checker, _ ("the end"));
    return NULL;
  }
  g_autoptr (GError) local = NULL;
  g_autoptr (JsonParser) parser = changeable ? json_parser_new () : json_parser_new_immutable ();
  if (!json_parser_load_from_data (parser, text, (gssize) length, &local)) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_FORMAT, "%s%s%s", file ? file : "", file ? ": " : "",
                 local->message);
    return NULL;
  }
  return json_parser_steal_root (parser);
}

JsonNode *
lig_json_read (const char *text, gsize length, const char *file, GError **error)
{
  return read_checked (text, length, file, FALSE, error);
}

JsonNode *
lig_json_from_text (const char *text, GError **error)
{
  g_return_val_if_fail (text, NULL);
  gsize length = strlen (text);
  if (length > LONGEST_TEXT) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_FORMAT,
                 _ ("the JSON has %zu bytes, at most %d are read"), length, LONGEST_TEXT);
    return NULL;
  }
  if (!g_utf8_validate (text, -1, NULL)) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_FORMAT, _ ("the JSON is not UTF-8"));
    return NULL;
  }
  return read_checked (text, length, NULL, TRUE, error);
}

/* Returns the member if its value has that type, else null. */
static JsonNode *
get_member (JsonObject *object, const char *name, GType type)
{
  JsonNode *value = json_object_get_member (object, name);
  return value && JSON_NODE_HOLDS_VALUE (value) && json_node_get_value_type (value) == type ? value
                                                                                            : NULL;
}

const char *
lig_json_get_string (JsonObject *object, const char *name, const char *fallback)
{
  JsonNode *value = get_member (object, name, G_TYPE_STRING);
  return value ? json_node_get_string (value) : fallback;
}

JsonArray *
lig_json_get_array (JsonObject *object, const char *name)
{
  JsonNode *node = object ? json_object_get_member (object, name) : NULL;
  return node && JSON_NODE_HOLDS_ARRAY (node) ? json_node_get_array (node) : NULL;
}

JsonObject *
lig_json_get_element (JsonArray *array, guint i)
{
  JsonNode *node = json_array_get_element (array, i);
  return JSON_NODE_HOLDS_OBJECT (node) ? json_node_get_object (node) : NULL;
}

gint64
lig_json_get_int (JsonObject *object, const char *name, gint64 fallback)
{
  JsonNode *value = get_member (object, name, G_TYPE_INT64);
  return value ? json_node_get_int (value) : fallback;
}

void
lig_json_append_key (GString *path, const char *key)
{
  gboolean plain = *key != '\0';
  for (const char *at = key; *at; at++)
    plain = plain && (g_ascii_isalnum (*at) || *at == '-' || *at == '_');
  if (plain && strlen (key) <= 80) {
    g_string_append_c (path, '.');
    g_string_append (path, key);
    return;
  }
  g_autofree char *start = g_utf8_substring (key, 0, MIN (g_utf8_strlen (key, -1), 40));
  g_string_append_c (path, '[');
  lig_json_append_string (path, start);
  g_string_append (path, strlen (start) < strlen (key) ? "…]" : "]");
}

/* Returns the number of leading ASCII characters that need no escape: nearly all of a document. */
static gsize
count_plain (const char *text)
{
  gsize count = 0;
  while (text[count] >= ' ' && text[count] < 0x7f && text[count] != '"' && text[count] != '\\')
    count++;
  return count;
}

void
lig_json_append_string (GString *text, const char *string)
{
  static const char letters[] = "\"\\bfnrt", meanings[] = "\"\\\b\f\n\r\t";
  gsize first = count_plain (string);
  if (!string[first]) {
    g_string_append_c (text, '"');
    g_string_append_len (text, string, (gssize) first);
    g_string_append_c (text, '"');
    return;
  }
  /* The name of a file may have any bytes, but a document is UTF-8. */
  g_autofree char *valid =
    g_utf8_validate (string, -1, NULL) ? NULL : g_utf8_make_valid (string, -1);
  g_string_append_c (text, '"');
  for (const char *at = valid ? valid : string; *at; at = g_utf8_next_char (at)) {
    gsize plain = count_plain (at);
    g_string_append_len (text, at, (gssize) plain);
    if (!*(at += plain))
      break;
    const char *meaning = strchr (meanings, *at);
    gunichar character = g_utf8_get_char (at);
    if (meaning) {
      g_string_append_c (text, '\\');
      g_string_append_c (text, letters[meaning - meanings]);
    } else if (!lig_is_printable (character)) /* a document may be shown on a terminal */
      g_string_append_printf (text, "\\u%04x", character);
    else
      g_string_append_unichar (text, character);
  }
  g_string_append_c (text, '"');
}

static void append_until (GString *text, JsonNode *value, gsize end);

static void
append_array (GString *text, JsonArray *array, gsize end)
{
  g_string_append_c (text, '[');
  for (guint i = 0; i < json_array_get_length (array) && text->len <= end; i++) {
    g_string_append (text, i > 0 ? ", " : "");
    append_until (text, json_array_get_element (array, i), end);
  }
  g_string_append_c (text, ']');
}

static void
append_object (GString *text, JsonObject *object, gsize end)
{
  JsonObjectIter iter;
  const char *key, *separator = "";
  JsonNode *value;
  g_string_append_c (text, '{');
  json_object_iter_init_ordered (&iter, object);
  while (text->len <= end && json_object_iter_next_ordered (&iter, &key, &value)) {
    g_string_append (text, separator);
    lig_json_append_string (text, key);
    g_string_append (text, ": ");
    append_until (text, value, end);
    separator = ", ";
  }
  g_string_append_c (text, '}');
}

/* Appends a value on one line, but stops once the text is longer than `end`: most values of a large
 * document do not fit on a line. */
static void
append_until (GString *text, JsonNode *value, gsize end)
{
  if (JSON_NODE_HOLDS_OBJECT (value))
    append_object (text, json_node_get_object (value), end);
  else if (JSON_NODE_HOLDS_ARRAY (value))
    append_array (text, json_node_get_array (value), end);
  else if (JSON_NODE_HOLDS_NULL (value))
    g_string_append (text, "null");
  else if (json_node_get_value_type (value) == G_TYPE_STRING)
    lig_json_append_string (text, json_node_get_string (value));
  else if (json_node_get_value_type (value) == G_TYPE_BOOLEAN)
    g_string_append (text, json_node_get_boolean (value) ? "true" : "false");
  else if (json_node_get_value_type (value) == G_TYPE_INT64)
    g_string_append_printf (text, "%" G_GINT64_FORMAT, json_node_get_int (value));
  else if (!isfinite (json_node_get_double (value)))
    g_string_append (text, "null");
  else {
    gsize length = text->len;
    lig_number_append (text, json_node_get_double (value), FALSE);
    /* Without the point, 7.0 would be read back as an integer. */
    if (!strpbrk (text->str + length, ".e"))
      g_string_append (text, ".0");
  }
}

void
lig_json_append (GString *text, JsonNode *value)
{
  append_until (text, value, G_MAXSIZE);
}

/* Starts a line after a separator. */
static void
begin_line (GString *text, const char *separator, int depth)
{
  static const char spaces[] = "                                ";
  g_string_append (text, separator);
  g_string_append_c (text, '\n');
  for (int left = 2 * depth, max = (int) sizeof spaces - 1; left > 0; left -= max)
    g_string_append_len (text, spaces, MIN (left, max));
}

static void append_lines (GString *text, JsonNode *value, int depth);

static void
append_members (GString *text, JsonObject *object, int depth)
{
  JsonObjectIter iter;
  const char *key, *separator = "";
  JsonNode *value;
  json_object_iter_init_ordered (&iter, object);
  while (json_object_iter_next_ordered (&iter, &key, &value)) {
    begin_line (text, separator, depth);
    lig_json_append_string (text, key);
    g_string_append (text, ": ");
    append_lines (text, value, depth);
    separator = ",";
  }
}

static void
append_elements (GString *text, JsonArray *array, int depth)
{
  for (guint i = 0; i < json_array_get_length (array); i++) {
    begin_line (text, i > 0 ? "," : "", depth);
    append_lines (text, json_array_get_element (array, i), depth);
  }
}

/* Returns whether the array contains arrays or objects. */
static gboolean
is_nested (JsonArray *array)
{
  for (guint i = 0; i < json_array_get_length (array); i++) {
    JsonNode *value = json_array_get_element (array, i);
    if (JSON_NODE_HOLDS_OBJECT (value) || JSON_NODE_HOLDS_ARRAY (value))
      return TRUE;
  }
  return FALSE;
}

/* Writes a non-empty object or array on one line if it fits or has only plain values; otherwise,
 * and for the document itself, writes one line per member or element. */
static void
append_container (GString *text, JsonNode *value, gboolean object, int depth)
{
  gsize length = text->len;
  gboolean plain = !object && !is_nested (json_node_get_array (value));
  if (depth > 0 || plain) {
    append_until (text, value, plain ? G_MAXSIZE : length + 72);
    if (plain || text->len - length + (gsize) (2 * depth) <= 72)
      return;
    g_string_truncate (text, length);
  }
  g_string_append_c (text, object ? '{' : '[');
  if (object)
    append_members (text, json_node_get_object (value), depth + 1);
  else
    append_elements (text, json_node_get_array (value), depth + 1);
  begin_line (text, "", depth);
  g_string_append_c (text, object ? '}' : ']');
}

static void
append_lines (GString *text, JsonNode *value, int depth)
{
  const JsonNodeType type = json_node_get_node_type (value);
  guint size = type == JSON_NODE_OBJECT  ? json_object_get_size (json_node_get_object (value))
               : type == JSON_NODE_ARRAY ? json_array_get_length (json_node_get_array (value))
                                         : 0;
  if (size > 0)
    append_container (text, value, type == JSON_NODE_OBJECT, depth);
  else
    append_until (text, value, G_MAXSIZE);
}

char *
lig_json_to_text (JsonNode *document)
{
  GString *text = g_string_new (NULL);
  append_lines (text, document, 0);
  return g_string_free (text, FALSE);
}

/* --- Large documents ----------------------------------------------------------------------- */

/* The maximum number of bytes buffered for a sink, not counting one element. */
enum { PART = 1 << 16 };

static void
hand_on (GString *text, gsize min, LigJsonSink sink, gpointer data)
{
  if (text->len < min)
    return;
  sink (text->str, text->len, data);
  g_string_truncate (text, 0);
}

static void
write_elements (GString *text, const LigJsonElements *elements, LigJsonSink sink, gpointer data)
{
  g_string_append_c (text, '[');
  for (guint i = 0; i < elements->count; i++) {
    g_autoptr (JsonNode) element = elements->make (i, elements->data);
    begin_line (text, i > 0 ? "," : "", 2);
    append_lines (text, element, 2);
    hand_on (text, PART, sink, data);
  }
  g_string_append (text, elements->count > 0 ? "\n  ]" : "]");
}

void
lig_json_write (JsonNode *document,
                const LigJsonElements *elements,
                LigJsonSink sink,
                gpointer data)
{
  g_autoptr (GString) text = g_string_new ("{");
  JsonObjectIter iter;
  const char *key, *separator = "";
  JsonNode *value;
  json_object_iter_init_ordered (&iter, json_node_get_object (document));
  while (json_object_iter_next_ordered (&iter, &key, &value)) {
    begin_line (text, separator, 1);
    lig_json_append_string (text, key);
    g_string_append (text, ": ");
    if (g_str_equal (key, elements->member))
      write_elements (text, elements, sink, data);
    else
      append_lines (text, value, 1);
    hand_on (text, PART, sink, data);
    separator = ",";
  }
  g_string_append (text, "\n}");
  hand_on (text, 0, sink, data);
}
