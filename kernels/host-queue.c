/* SPDX-License-Identifier: MIT */
/* A ring buffer of calls between the launching thread and the queue's thread. */
#include "kernels/host-queue.h"

#include <pthread.h>
#include <stdlib.h>

#define MAX_PENDING 256

typedef struct {
  LigKernelFunc function;
  LigLaunch *launch;
} Call;

struct LigHostQueue {
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  Call calls[MAX_PENDING];
  uint64_t appended, ended;
  LigStatus status;
  bool closing;
};

static void *
work (void *data)
{
  LigHostQueue *self = data;
  pthread_mutex_lock (&self->lock);
  while (true) {
    while (self->ended == self->appended && !self->closing)
      pthread_cond_wait (&self->changed, &self->lock);
    if (self->ended == self->appended)
      break;
    Call call = self->calls[self->ended % MAX_PENDING];
    bool failed = self->status != LIG_OK;
    pthread_mutex_unlock (&self->lock);
    LigStatus status = failed ? LIG_OK : call.function (call.launch);
    pthread_mutex_lock (&self->lock);
    if (status != LIG_OK)
      self->status = status;
    self->ended++;
    pthread_cond_broadcast (&self->changed);
  }
  pthread_mutex_unlock (&self->lock);
  return NULL;
}

LigHostQueue *
lig_host_queue_new (void)
{
  LigHostQueue *self = calloc (1, sizeof *self);
  if (!self)
    return NULL;
  pthread_mutex_init (&self->lock, NULL);
  pthread_cond_init (&self->changed, NULL);
  if (pthread_create (&self->thread, NULL, work, self) == 0)
    return self;
  pthread_mutex_destroy (&self->lock);
  pthread_cond_destroy (&self->changed);
  free (self);
  return NULL;
}

void
lig_host_queue_free (LigHostQueue *self)
{
  if (!self)
    return;
  pthread_mutex_lock (&self->lock);
  self->closing = true;
  pthread_cond_broadcast (&self->changed);
  pthread_mutex_unlock (&self->lock);
  pthread_join (self->thread, NULL);
  pthread_mutex_destroy (&self->lock);
  pthread_cond_destroy (&self->changed);
  free (self);
}

void
lig_host_queue_append (LigHostQueue *self, LigKernelFunc function, LigLaunch *launch)
{
  pthread_mutex_lock (&self->lock);
  while (self->appended - self->ended == MAX_PENDING)
    pthread_cond_wait (&self->changed, &self->lock);
  launch->where = NULL;
  self->calls[self->appended++ % MAX_PENDING] = (Call){function, launch};
  pthread_cond_broadcast (&self->changed);
  pthread_mutex_unlock (&self->lock);
}

uint64_t
lig_host_queue_place (LigHostQueue *self)
{
  pthread_mutex_lock (&self->lock);
  uint64_t place = self->appended;
  pthread_mutex_unlock (&self->lock);
  return place;
}

LigStatus
lig_host_queue_wait (LigHostQueue *self, uint64_t place)
{
  pthread_mutex_lock (&self->lock);
  while (self->ended < place)
    pthread_cond_wait (&self->changed, &self->lock);
  LigStatus status = self->status;
  self->status = LIG_OK;
  pthread_mutex_unlock (&self->lock);
  return status;
}
