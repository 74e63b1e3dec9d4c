#include "baton/profile/measure/peak_loops.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace baton {

namespace {

// Enough to hide the latency of a multiply-add (4 to 5 cycles, two at a time), and few enough for 16
// registers.
constexpr int kChains = 12;
constexpr int kSums = 8;
constexpr float kFactor = 0.9999f, kTerm = 1e-4f;  // keeps values near 1

#if defined(__x86_64__)

__attribute__((target("avx512f"))) float multiply_add_512(int64_t rounds) {
  __m512 chain[kChains];
#pragma GCC unroll 12
  for (int i = 0; i < kChains; ++i) chain[i] = _mm512_set1_ps(1.0f + static_cast<float>(i) * 0.01f);
  const __m512 factor = _mm512_set1_ps(kFactor), term = _mm512_set1_ps(kTerm);
  for (int64_t r = 0; r < rounds; ++r)
#pragma GCC unroll 12
    for (int i = 0; i < kChains; ++i) chain[i] = _mm512_fmadd_ps(chain[i], factor, term);
#pragma GCC unroll 12
  for (int i = 1; i < kChains; ++i) chain[0] = _mm512_add_ps(chain[0], chain[i]);
  return chain[0][0];
}

__attribute__((target("avx512f"))) float read_512(const float* data, int64_t count) {
  __m512 sum[kSums];
  for (__m512& each : sum) each = _mm512_setzero_ps();
  for (int64_t at = 0; at < count; at += 16 * kSums)
#pragma GCC unroll 12
    for (int i = 0; i < kSums; ++i) sum[i] = _mm512_add_ps(sum[i], _mm512_load_ps(data + at + 16 * i));
#pragma GCC unroll 12
  for (int i = 1; i < kSums; ++i) sum[0] = _mm512_add_ps(sum[0], sum[i]);
  return sum[0][0];
}

__attribute__((target("avx2,fma"))) float multiply_add_256(int64_t rounds) {
  __m256 chain[kChains];
#pragma GCC unroll 12
  for (int i = 0; i < kChains; ++i) chain[i] = _mm256_set1_ps(1.0f + static_cast<float>(i) * 0.01f);
  const __m256 factor = _mm256_set1_ps(kFactor), term = _mm256_set1_ps(kTerm);
  for (int64_t r = 0; r < rounds; ++r)
#pragma GCC unroll 12
    for (int i = 0; i < kChains; ++i) chain[i] = _mm256_fmadd_ps(chain[i], factor, term);
#pragma GCC unroll 12
  for (int i = 1; i < kChains; ++i) chain[0] = _mm256_add_ps(chain[0], chain[i]);
  return chain[0][0];
}

__attribute__((target("avx2"))) float read_256(const float* data, int64_t count) {
  __m256 sum[kSums];
  for (__m256& each : sum) each = _mm256_setzero_ps();
  for (int64_t at = 0; at < count; at += 8 * kSums)
#pragma GCC unroll 12
    for (int i = 0; i < kSums; ++i) sum[i] = _mm256_add_ps(sum[i], _mm256_load_ps(data + at + 8 * i));
#pragma GCC unroll 12
  for (int i = 1; i < kSums; ++i) sum[0] = _mm256_add_ps(sum[0], sum[i]);
  return sum[0][0];
}

#endif

using Four = float __attribute__((vector_size(16)));

// A multiply and an add, which the compiler fuses where the CPU always supports that.
float multiply_add_128(int64_t rounds) {
  Four chain[kChains];
#pragma GCC unroll 12
  for (int i = 0; i < kChains; ++i) chain[i] = Four{1, 1, 1, 1} + static_cast<float>(i) * 0.01f;
  for (int64_t r = 0; r < rounds; ++r)
#pragma GCC unroll 12
    for (int i = 0; i < kChains; ++i)
      for (int k = 0; k < 4; ++k)
#if defined(__aarch64__)
        chain[i][k] = __builtin_fmaf(chain[i][k], kFactor, kTerm);
#else
        chain[i][k] = chain[i][k] * kFactor + kTerm;
#endif
#pragma GCC unroll 12
  for (int i = 1; i < kChains; ++i) chain[0] += chain[i];
  return chain[0][0];
}

float read_128(const float* data, int64_t count) {
  Four sum[kSums] = {};
  const auto* from = reinterpret_cast<const Four*>(data);
  for (int64_t at = 0; at < count / 4; at += kSums)
#pragma GCC unroll 12
    for (int i = 0; i < kSums; ++i) sum[i] += from[at + i];
#pragma GCC unroll 12
  for (int i = 1; i < kSums; ++i) sum[0] += sum[i];
  return sum[0][0];
}

}  // namespace

PeakLoops peak_loops([[maybe_unused]] int float_lanes) {
#if defined(__x86_64__)
  if (float_lanes >= 16 && __builtin_cpu_supports("avx512f"))
    return {multiply_add_512, kChains * 16 * 2, read_512};
  if (float_lanes >= 8 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return {multiply_add_256, kChains * 8 * 2, read_256};
#endif
  return {multiply_add_128, kChains * 4 * 2, read_128};
}

}  // namespace baton
