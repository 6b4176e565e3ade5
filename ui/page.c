/* SPDX-License-Identifier: MIT */
/* The base class of all pages, and their list. */
#include "ui/page.h"
#include "ui/document/document.h"
#include "ui/session/session.h"

typedef struct {
  LigDocument *document;
  LigSession *session;
  GActionMap *actions; /* weak */
} LigPagePrivate;

G_DEFINE_ABSTRACT_TYPE_WITH_PRIVATE (LigPage, lig_page, ADW_TYPE_BIN)

#define LIG_PAGE(name) extern LIG_PAGE_INFO (name);
#include "page-list.h"
#undef LIG_PAGE

static const LigPageInfo *const infos[] = {
#define LIG_PAGE(name) &lig_page_##name,
#include "page-list.h"
#undef LIG_PAGE
};

enum { PROP_DOCUMENT = 1, PROP_SESSION, N_PROPS };
static GParamSpec *props[N_PROPS];

const LigPageInfo *
lig_page_info_nth (guint n)
{
  return n < G_N_ELEMENTS (infos) ? infos[n] : NULL;
}

static void
set_property (GObject *object, guint id, const GValue *value, GParamSpec *spec)
{
  LigPagePrivate *private = lig_page_get_instance_private (LIG_PAGE (object));
  if (id == PROP_DOCUMENT)
  private->document = g_value_dup_object (value);
  else private->session = g_value_dup_object (value);
}

static void
dispose (GObject *object)
{
  LigPagePrivate *private = lig_page_get_instance_private (LIG_PAGE (object));
  G_OBJECT_CLASS (lig_page_parent_class)->dispose (object);
  g_clear_object (&private->document);
  g_clear_object (&private->session);
  g_clear_weak_pointer (&private->actions);
}

static void
lig_page_class_init (LigPageClass *class)
{
  const GParamFlags flags = G_PARAM_WRITABLE | G_PARAM_CONSTRUCT_ONLY | G_PARAM_STATIC_STRINGS;
  G_OBJECT_CLASS (class)->set_property = set_property;
  G_OBJECT_CLASS (class)->dispose = dispose;
  props[PROP_DOCUMENT] = g_param_spec_object ("document", NULL, NULL, LIG_TYPE_DOCUMENT, flags);
  props[PROP_SESSION] = g_param_spec_object ("session", NULL, NULL, LIG_TYPE_SESSION, flags);
  g_object_class_install_properties (G_OBJECT_CLASS (class), N_PROPS, props);
  g_signal_new ("edited", LIG_TYPE_PAGE, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
}

static void
lig_page_init (LigPage *self)
{
}

LigDocument *
lig_page_get_document (LigPage *self)
{
  LigPagePrivate *private = lig_page_get_instance_private (self);
  return private->document;
}

LigSession *
lig_page_get_session (LigPage *self)
{
  LigPagePrivate *private = lig_page_get_instance_private (self);
  return private->session;
}

void
lig_page_add_actions (LigPage *self, GActionMap *map)
{
  LigPagePrivate *private = lig_page_get_instance_private (self);
  g_set_weak_pointer (&private->actions, map);
  if (LIG_PAGE_GET_CLASS (self)->add_actions)
    LIG_PAGE_GET_CLASS (self)->add_actions (self, map);
}

GActionMap *
lig_page_get_actions (LigPage *self)
{
  LigPagePrivate *private = lig_page_get_instance_private (self);
  return private->actions;
}

gboolean
lig_page_has_edits (LigPage *self)
{
  return LIG_PAGE_GET_CLASS (self)->list_edits != NULL;
}

GStrv
lig_page_list_edits (LigPage *self, gboolean redo)
{
  return LIG_PAGE_GET_CLASS (self)->list_edits (self, redo);
}

void
lig_page_step (LigPage *self, int steps)
{
  LIG_PAGE_GET_CLASS (self)->step (self, steps);
}

gboolean
lig_page_find (LigPage *self)
{
  LigPageClass *class = LIG_PAGE_GET_CLASS (self);
  if (class->find)
    class->find (self);
  return class->find != NULL;
}

char *
lig_page_find_run (LigPage *self, char **title)
{
  *title = NULL;
  return LIG_PAGE_GET_CLASS (self)->find_run ? LIG_PAGE_GET_CLASS (self)->find_run (self, title)
                                             : NULL;
}

char *
lig_page_find_sweep (LigPage *self, char **title)
{
  *title = NULL;
  return LIG_PAGE_GET_CLASS (self)->find_sweep ? LIG_PAGE_GET_CLASS (self)->find_sweep (self, title)
                                               : NULL;
}

char *
lig_page_to_command (LigPage *self)
{
  if (LIG_PAGE_GET_CLASS (self)->to_command)
    return LIG_PAGE_GET_CLASS (self)->to_command (self);
  return lig_document_to_command (lig_page_get_document (self), "fuse");
}

AdwBin *
lig_page_get_toast_place (LigPage *self)
{
  LigPageClass *class = LIG_PAGE_GET_CLASS (self);
  return class->get_toast_place ? class->get_toast_place (self) : NULL;
}
