/* SPDX-License-Identifier: MIT */
/* Vectorized or scalar access to the operands of element-wise kernels: 16 bytes at a time if all
 * operands have one type and are aligned, else one element at a time, of any floating types. A
 * kernel is written once, templated on the access. */
#pragma once

#include "kernels/cuda/common/cuda.cuh"

#include <initializer_list>

namespace lig
{
/* Hides a launch argument from the optimizer until it is used. Otherwise the compiler would
 * specialize the unrolled loop for each combination of values, which takes minutes to compile. */
__device__ inline int
uncertain (int value)
{
  asm volatile("" : "+r"(value));
  return value;
}
__device__ inline int64_t
uncertain (int64_t value)
{
  asm volatile("" : "+l"(value));
  return value;
}
/* Returns whether an operand is present, without letting the compiler specialize the loop. */
__device__ inline bool
present (const Target &operand)
{
  uint64_t address = (uint64_t) operand.data;
  asm volatile("" : "+l"(address));
  return address != 0;
}

/* Access to 16 bytes of elements of type T, regardless of the types of the operands. */
template <class T> struct Packed {
  static constexpr int W = wide<T>;
  using Value = uint4;
  static __device__ const uint4 *
  address (const Target &from, int64_t at)
  {
    return reinterpret_cast<const uint4 *> ((const T *) from.data + at);
  }
  static __device__ Value
  read (const Target &from, int64_t at)
  {
    return __ldcs (address (from, at));
  }
  static __device__ void
  write (const Target &to, int64_t at, const Value &value)
  {
    /* A plain assignment may be split into word-sized accesses. */
    asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};"
                 :
                 : "l"(address (to, at)), "r"(value.x), "r"(value.y), "r"(value.z), "r"(value.w)
                 : "memory");
  }
  static __device__ void
  widen (const Value &value, const Target &, float (&values)[W])
  {
    unpack (Words<T>{value}, values);
  }
  /* Rounds values to the type of `like`. */
  static __device__ Value
  narrow (const float (&values)[W], const Target &)
  {
    Words<T> words;
    pack (values, words);
    return words.bits;
  }
};

/* Access to one element. It is converted only where it is used: otherwise the thread would stall on
 * each load before issuing the next. */
struct Single {
  static constexpr int W = 1;
  using Value = uint32_t;
  static __device__ Value
  read (const Target &from, int64_t at)
  {
    return uncertain (from.dtype) == LIG_FP32 ? ((const uint32_t *) from.data)[at]
                                              : (uint32_t) ((const uint16_t *) from.data)[at];
  }
  static __device__ void
  write (const Target &to, int64_t at, Value value)
  {
    if (uncertain (to.dtype) == LIG_FP32)
      ((uint32_t *) to.data)[at] = value;
    else
      ((uint16_t *) to.data)[at] = (uint16_t) value;
  }
  static __device__ void
  widen (Value value, const Target &from, float (&values)[1])
  {
    int dtype = uncertain (from.dtype);
    float wide_half = lig::widen (__ushort_as_half ((uint16_t) value));
    uint32_t bits = dtype == LIG_BF16 ? value << 16 : value;
    values[0] = dtype == LIG_FP16 ? wide_half : __uint_as_float (bits);
  }
  static __device__ Value
  narrow (const float (&values)[1], const Target &like)
  {
    int dtype = uncertain (like.dtype);
    uint32_t as_half = __half_as_ushort (lig::narrow<half> (values[0]));
    uint32_t as_bf16 = __bfloat16_as_ushort (lig::narrow<bf16> (values[0]));
    return dtype == LIG_FP16 ? as_half : dtype == LIG_BF16 ? as_bf16 : __float_as_uint (values[0]);
  }
};

/* Returns the number of independent loads that a thread has in flight if it reads `streams`
 * arrays. */
template <class A>
constexpr int
depth (int streams)
{
  return streams < 3 ? 4 : 2;
}

/* Returns an operand to be written. Values of an absent one are rounded to the type of `like`, the
 * kernel's main input. */
inline Target
target_like (const LigOperand *operand, const LigOperand *like)
{
  return Target{operand->data, operand->data ? operand->dtype : like->dtype};
}

/* Returns whether those of the first `count` operands that are present have types that kernels
 * compute in. */
inline bool
all_floating (const LigLaunch *launch, int count)
{
  for (int i = 0; i < count; i++)
    if (launch->operands[i].data && !lig_dtype_is_floating (launch->operands[i].dtype))
      return false;
  return true;
}

/* Returns whether all operands that are present allow 16-byte accesses to elements of the first
 * one's type. */
inline bool
packable (std::initializer_list<const LigOperand *> operands)
{
  LigDtype dtype = (*operands.begin ())->dtype;
  for (const LigOperand *operand : operands)
    if (operand->data && (operand->dtype != dtype || !aligned (operand)))
      return false;
  return true;
}

/* Calls `f` with a Single or, if `packs`, with the Packed of the type. */
template <class F>
inline LigStatus
dispatch_access (LigLaunch *launch, LigDtype dtype, bool packs, F f)
{
  if (!packs)
    return f (Single{});
  return dispatch (launch, dtype, [=] (auto one) { return f (Packed<decltype (one)>{}); });
}

/* Returns the function that a kernel with this access calls. For scalar access a whole family
 * shares one kernel that selects its function at run time, `any ()`: separate kernels would take
 * long to compile, and the selection costs little there. */
template <class A, class F>
inline auto
function_for (F f)
{
  if constexpr (A::W == 1)
    return f.any ();
  else
    return f;
}
} /* namespace lig */
