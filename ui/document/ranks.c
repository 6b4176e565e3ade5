/* SPDX-License-Identifier: MIT */
#include "ui/document/ranks.h"

#include "ui/document/private.h"
#include "ui/session/child-run.h"

#include <glib/gi18n.h>
#include <json-glib/json-glib.h>
#include <ligature/json.h>
#include <ligature/store-sweeps.h>
#include <string.h>

/* The maximum number of ranks of plans for described devices. */
enum { MAX_DESCRIBED = 1024 };

static gboolean
is_described (LigDocument *doc)
{
  return lig_device_name_has (lig_document_get_device (doc), LIG_DEVICE_DESCRIBED);
}

/* Returns the number of ranks for which this machine has GPUs, counted from the document's device,
 * at least one; 0 if that is not a GPU. */
static int
count_accelerators (LigDocument *doc)
{
  const char *name = lig_document_get_device (doc);
  if (!lig_device_name_has (name, LIG_DEVICE_ACCELERATOR))
    return 0;
  g_auto (GStrv) accelerators = lig_device_list_accelerators (name);
  return MAX ((int) g_strv_length (accelerators), 1);
}

/* Each rank has its own GPU; more ranks than CPUs would wait for each other. */
int
lig_ranks_get_max (LigDocument *doc)
{
  if (is_described (doc))
    return MAX_DESCRIBED;
  int accelerators = count_accelerators (doc);
  return accelerators > 0 ? accelerators : (int) MAX (g_get_num_processors (), 2);
}

static gboolean
has_program (const char *name)
{
  g_autofree char *found = g_find_program_in_path (name);
  return found != NULL;
}

const char *
lig_ranks_find_obstacle (LigDocument *doc)
{
  if (is_described (doc))
    return NULL;
  g_autofree char *program = lig_child_run_find_program ();
  if (count_accelerators (doc) == 1)
    return _ ("Each rank needs its own GPU, and there is none after this one");
  if (!has_program ("mpirun") && !has_program ("mpirun.openmpi"))
    return _ ("Install the package openmpi-bin to train on several ranks");
  return program ? NULL : _ ("Install the program lig to train on several ranks");
}

int
lig_ranks_get (LigDocument *doc)
{
  int wanted = doc->ranks;
  return wanted > 1 && !lig_ranks_find_obstacle (doc) ? MIN (wanted, lig_ranks_get_max (doc)) : 1;
}

void
lig_ranks_set (LigDocument *doc, int count)
{
  if (count == doc->ranks)
    return;
  doc->ranks = count;
  lig_document_emit (doc, LIG_DOCUMENT_SETTINGS);
}

/* Returns whether an op of the list, or of a block in it, divides its experts. */
static gboolean
divides_experts (LigSequence *list)
{
  guint length = lig_sequence_get_length (list);
  for (guint i = 0; i < length; i++) {
    LigOp *op = lig_sequence_get (list, (int) i, NULL);
    GParamSpec *spec = g_object_class_find_property (G_OBJECT_GET_CLASS (op), "parallel");
    g_autofree char *parallel = NULL;
    if (spec && G_PARAM_SPEC_VALUE_TYPE (spec) == G_TYPE_STRING)
      g_object_get (op, "parallel", &parallel, NULL);
    if (g_strcmp0 (parallel, "expert") == 0 ||
        (lig_op_get_body (op) && divides_experts (lig_op_get_body (op))))
      return TRUE;
  }
  return FALSE;
}

gboolean
lig_ranks_share_experts (LigDocument *doc)
{
  return divides_experts (lig_document_get_sequence (doc));
}

/* Group sizes that do not divide the number of ranks were chosen for another number. */
LigLayout
lig_ranks_choose_layout (LigDocument *doc)
{
  LigLayout layout;
  int ranks = lig_ranks_get (doc), context = doc->context, tensor = doc->tensor;
  lig_layout_init (&layout, ranks);
  if (ranks % context == 0 && ranks / context % tensor == 0)
    layout = (LigLayout){.sizes = {[LIG_GROUP_DATA] = ranks / context / tensor,
                                   [LIG_GROUP_CONTEXT] = context,
                                   [LIG_GROUP_TENSOR] = tensor},
                         .expert = 1};
  if (context * tensor == 1 && ranks % doc->expert == 0 && lig_ranks_share_experts (doc))
    layout.expert = doc->expert;
  return layout;
}

void
lig_ranks_set_layout (LigDocument *doc, const LigLayout *layout)
{
  int context = lig_layout_size (layout, LIG_GROUP_CONTEXT);
  int tensor = lig_layout_size (layout, LIG_GROUP_TENSOR);
  int expert = lig_layout_size (layout, LIG_GROUP_EXPERT);
  if (context == doc->context && tensor == doc->tensor && expert == doc->expert)
    return;
  doc->context = context;
  doc->tensor = tensor;
  doc->expert = expert;
  lig_document_emit (doc, LIG_DOCUMENT_SETTINGS);
}

LigLayout
lig_ranks_find_layout (LigDocument *doc, const char *run)
{
  LigLayout layout;
  LigStore *store = lig_session_get_store (lig_document_get_session (doc));
  g_autofree char *inputs = run && store ? lig_store_get_inputs (store, run, NULL) : NULL;
  g_autoptr (JsonNode) root = inputs ? lig_json_from_text (inputs, NULL) : NULL;
  JsonObject *object = root && JSON_NODE_HOLDS_OBJECT (root) ? json_node_get_object (root) : NULL;
  gint64 ranks = object ? lig_json_get_int (object, "ranks", 1) : 1;
  const char *parallel = object ? lig_json_get_string (object, "parallel", NULL) : NULL;
  if (ranks < 2 || ranks > lig_ranks_get_max (doc) || lig_ranks_find_obstacle (doc) ||
      !lig_layout_parse (&layout, parallel, (int) ranks, NULL))
    lig_layout_init (&layout, 1);
  return layout;
}

/* The device defines a plan's parallelism, so another layout needs another device. */
gboolean
lig_ranks_has_device (LigDevice *device, const char *name, const LigLayout *layout)
{
  LigLayout one;
  lig_layout_init (&one, 1);
  const LigLayout *present = device ? lig_device_get_layout (device) : NULL;
  return device && g_str_equal (lig_device_get_name (device), name) &&
         memcmp (present ? present : &one, layout, sizeof *layout) == 0;
}

LigDevice *
lig_ranks_open_device (const char *name, const LigLayout *layout, GError **error)
{
  LigDevice *device = lig_device_open (name, error);
  if (device && lig_layout_size (layout, LIG_GROUP_ALL) > 1)
    lig_device_assume_ranks (device, 0, layout);
  return device;
}
