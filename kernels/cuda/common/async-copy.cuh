/* SPDX-License-Identifier: MIT */
/* Asynchronous copies from global to shared memory (cp.async). A thread starts
 * copies of 16 bytes, closes them to a group by commit_copies (), and waits for its oldest groups.
 * A thread that reads only what it copied itself needs no barrier. */
#pragma once

#include <stdint.h>

namespace lig
{
/* Starts a copy of 16 bytes to an address in shared memory; where `inside` is false nothing is read
 * and they become 0. */
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

/* Starts a copy of 16 bytes that the L2 cache drops first. */
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

/* Makes a group of the copies that the thread started since the last call. */
__device__ inline void
commit_copies ()
{
  asm volatile("cp.async.commit_group;" ::: "memory");
}

/* Waits for all groups of this thread but the last PENDING. */
template <int PENDING>
__device__ inline void
await_copies ()
{
  asm volatile("cp.async.wait_group %0;" ::"n"(PENDING) : "memory");
}

/* The same for a number known at run time: 1 to 3. */
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
