/* SPDX-License-Identifier: MIT */
/* How element-wise kernels reach their operands: 16 bytes at a time where all operands have one
 * type and are aligned, else one element at a time, of any floating types. A kernel is written
 * once, with one of these two as its parameter. */
#pragma once

#include "kernels/cuda/common/cuda.cuh"

#include <initializer_list>

namespace lig
{
/* Launch arguments that the compiler is to ask for where they are used. Otherwise it would make a
 * copy of the unrolled loop for each combination of what they may be, which takes it minutes. */
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
__device__ inline bool
present (const Target &operand)
{
  uint64_t address = (uint64_t) operand.data;
  asm volatile("" : "+l"(address));
  return address != 0;
}

/* 16 bytes of elements of type T, whatever the operands say. */
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
    /* The compiler takes some assignments apart into words. */
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
  /* Rounded to the type of `like`. */
  static __device__ Value
  narrow (const float (&values)[W], const Target &)
  {
    Words<T> words;
    pack (values, words);
    return words.bits;
  }
};

/* One element. It stays as it was read until it is used: a thread that converted at once would wait
 * for each element before it reads the next. */
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
    float wide_half = __half2float (__ushort_as_half ((uint16_t) value));
    uint32_t bits = dtype == LIG_BF16 ? value << 16 : value;
    values[0] = dtype == LIG_FP16 ? wide_half : __uint_as_float (bits);
  }
  static __device__ Value
  narrow (const float (&values)[1], const Target &like)
  {
    int dtype = uncertain (like.dtype);
    uint32_t as_half = __half_as_ushort (__float2half_rn (values[0]));
    uint32_t as_bf16 = __bfloat16_as_ushort (__float2bfloat16_rn (values[0]));
    return dtype == LIG_FP16 ? as_half : dtype == LIG_BF16 ? as_bf16 : __float_as_uint (values[0]);
  }
};

/* Independent loads of a thread that are under way at once, where it reads `streams` arrays. */
template <class A>
constexpr int
depth (int streams)
{
  return streams < 3 ? 4 : 2;
}

/* Values of absent operands are rounded to the type of `like`, the kernel's main input. */
inline Target
target_like (const LigOperand *operand, const LigOperand *like)
{
  return Target{operand->data, operand->data ? operand->dtype : like->dtype};
}

inline bool
all_floating (const LigLaunch *launch, int count)
{
  for (int i = 0; i < count; i++)
    if (launch->operands[i].data && !lig_dtype_is_floating (launch->operands[i].dtype))
      return false;
  return true;
}

/* Whether the operands, those that are present, are fit for 16-byte accesses to elements of the
 * first one's type. */
inline bool
packable (std::initializer_list<const LigOperand *> operands)
{
  LigDtype dtype = (*operands.begin ())->dtype;
  for (const LigOperand *operand : operands)
    if (operand->data && (operand->dtype != dtype || !aligned (operand)))
      return false;
  return true;
}

/* Calls `f` with a Single or, if it `packs`, with the Packed of the type. */
template <class F>
inline LigStatus
dispatch_access (LigLaunch *launch, LigDtype dtype, bool packs, F f)
{
  if (!packs)
    return f (Single{});
  return dispatch (launch, dtype, [=] (auto one) { return f (Packed<decltype (one)>{}); });
}

/* The function that an access is to call. One element at a time, a whole family shares a kernel
 * that chooses among its functions at run time, `any ()`: as many kernels again would take their
 * time to compile, and there the choice costs little. */
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
