/* SPDX-License-Identifier: MIT */
/* Asynchronous copies from global to shared memory (cp.async). A thread issues copies of 16 bytes,
 * commits them as a group with commit_copies (), and waits for its oldest groups. A thread that
 * reads only its own copies needs no barrier. */
#pragma once

#include <stdint.h>

namespace lig
{
/* Issues a copy of 16 bytes to an address in shared memory; if `inside` is false nothing is read
 * and the bytes are zero-filled. */
__device__ inline void
copy_async (uint32_t to, const void *from, bool inside)
{
  uint32_t bytes = inside ? 16 : 0;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes)
               : "memory");
}
__device__ inline void
copy_async (uint4 *to, const void *from, bool inside)
{
  copy_async ((uint32_t) __cvta_generic_to_shared (to), from, inside);
}

/* Issues a copy of 16 bytes with the L2 policy evict-first. */
__device__ inline void
copy_async_streaming (uint4 *to, const void *from)
{
  uint64_t policy;
  asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  asm volatile("cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2;"
               :
               : "r"((uint32_t) __cvta_generic_to_shared (to)), "l"(from), "l"(policy)
               : "memory");
}

/* Commits the copies that the thread has issued since the last call as a group. */
__device__ inline void
commit_copies ()
{
  asm volatile("cp.async.commit_group;" ::: "memory");
}

/* Waits for all groups of this thread except the last PENDING. */
template <int PENDING>
__device__ inline void
await_copies ()
{
  asm volatile("cp.async.wait_group %0;" ::"n"(PENDING) : "memory");
}

/* The same for a run-time number: 1 to 3. */
__device__ inline void
await_copies (int pending)
{
  if (pending == 1)
    await_copies<1> ();
  else if (pending == 2)
    await_copies<2> ();
  else
    await_copies<3> ();
}
} /* namespace lig */
