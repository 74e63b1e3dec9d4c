#include "baton/support/base/tensor_rule.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "baton/support/base/float16.h"

// `fp-contract=off`: with FMA, lo + (hi - lo) * u would be rounded once instead of twice, and the last bit
// would depend on the machine. `O3`: these loops must be vectorised, also in builds with less optimisation.
#define BATON_EXACT __attribute__((optimize("O3", "fp-contract=off")))

namespace baton {
namespace {

constexpr uint64_t kGolden = 0x9E3779B97F4A7C15;
constexpr int kBlock = 512;  // elements generated at a time: fits L1, and amortises the call

[[gnu::always_inline]] inline void uniform_body(uint64_t seed, uint64_t first, double* out) {
  for (int i = 0; i < kBlock; ++i) {
    uint64_t z = seed + (first + static_cast<uint64_t>(i) + 1) * kGolden;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    z ^= z >> 31;
    // 53 bits fit int64, whose conversion has a vector instruction on more machines.
    out[i] = static_cast<double>(static_cast<int64_t>(z >> 11)) * 0x1p-53;
  }
}

BATON_EXACT void uniform_plain(uint64_t seed, uint64_t first, double* out) { uniform_body(seed, first, out); }

using Uniform = void (*)(uint64_t seed, uint64_t first, double* out);

#if defined(__x86_64__)
__attribute__((target("avx512f,avx512dq,avx512vl,prefer-vector-width=512"))) BATON_EXACT void uniform_avx512(
    uint64_t seed, uint64_t first, double* out) {
  uniform_body(seed, first, out);
}

Uniform pick_uniform() { return __builtin_cpu_supports("avx512dq") ? uniform_avx512 : uniform_plain; }
#else
Uniform pick_uniform() { return uniform_plain; }
#endif

/// Calls `store(first index, count, u)` for every block of uniform numbers.
template <typename Store>
void generate(uint64_t seed, int64_t count, Store store) {
  static const Uniform uniform = pick_uniform();
  alignas(64) double u[kBlock];
  for (int64_t first = 0; first < count; first += kBlock) {
    uniform(seed, static_cast<uint64_t>(first), u);
    store(first, static_cast<int>(std::min<int64_t>(kBlock, count - first)), u);
  }
}

template <typename T>
BATON_EXACT void fill_float(uint64_t seed, int64_t count, ValueRange range, T* out) {
  const double lo = range.lo, width = range.hi - range.lo;
  generate(seed, count, [=](int64_t first, int n, const double* u) BATON_EXACT {
    T* to = out + first;
    for (int i = 0; i < n; ++i) to[i] = static_cast<T>(lo + width * u[i]);
  });
}

template <typename Round>
BATON_EXACT void fill_narrow(uint64_t seed, int64_t count, ValueRange range, uint16_t* out, Round round) {
  const double lo = range.lo, width = range.hi - range.lo;
  generate(seed, count, [=](int64_t first, int n, const double* u) BATON_EXACT {
    for (int i = 0; i < n; ++i) out[first + i] = round(lo + width * u[i]);
  });
}

template <typename T>
BATON_EXACT void fill_int(uint64_t seed, int64_t count, ValueRange range, T* out) {
  const double lo = range.lo, width = range.hi - range.lo;
  generate(seed, count, [=](int64_t first, int n, const double* u) BATON_EXACT {
    for (int i = 0; i < n; ++i) {
      // Through int64, so that negative ranges are defined for unsigned types too (they wrap, as in numpy).
      out[first + i] = static_cast<T>(static_cast<int64_t>(lo + std::floor(width * u[i])));
    }
  });
}

bool fill(uint64_t seed, DType dtype, ValueRange range, NDArray& array) {
  const int64_t count = array.size();
  void* data = array.data();
  if (dtype.is_bool()) {
    generate(seed, count, [=](int64_t first, int n, const double* u) {
      for (int i = 0; i < n; ++i) static_cast<uint8_t*>(data)[first + i] = u[i] < 0.5;
    });
    return true;
  }
  if (dtype.is_bfloat() && dtype.bits == 16) {
    fill_narrow(seed, count, range, static_cast<uint16_t*>(data), bfloat_from_double);
    return true;
  }
  if (dtype.is_float()) {
    switch (dtype.bits) {
      case 16:
        fill_narrow(seed, count, range, static_cast<uint16_t*>(data), half_from_double);
        return true;
      case 32:
        fill_float(seed, count, range, static_cast<float*>(data));
        return true;
      case 64:
        fill_float(seed, count, range, static_cast<double*>(data));
        return true;
      default:
        return false;
    }
  }
  if (!dtype.is_int() && !dtype.is_uint()) return false;
  // The stored bits do not depend on signedness.
  switch (dtype.bytes()) {
    case 1:
      fill_int(seed, count, range, static_cast<uint8_t*>(data));
      return true;
    case 2:
      fill_int(seed, count, range, static_cast<uint16_t*>(data));
      return true;
    case 4:
      fill_int(seed, count, range, static_cast<uint32_t*>(data));
      return true;
    case 8:
      fill_int(seed, count, range, static_cast<uint64_t*>(data));
      return true;
    default:
      return false;
  }
}

}  // namespace

ValueRange default_range(DType dtype) {
  return dtype.is_float() || dtype.is_bfloat() ? ValueRange{-1, 1} : ValueRange{0, 10};
}

uint64_t tensor_seed(std::string_view name, std::span<const int64_t> shape, DType dtype) {
  std::string key(name);
  key += "|" + dtype.str() + "|";
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i) key += "x";
    key += std::to_string(shape[i]);
  }
  uint64_t hash = 0xCBF29CE484222325;
  for (const char c : key) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001B3;
  return hash;
}

NDArray tensor_value(std::string_view name, const Shape& shape, DType dtype, ValueRange range) {
  if (dtype.is_void() || dtype.lanes != 1) return {};
  NDArray array = NDArray::empty(shape, dtype);
  if (!array.defined() || !fill(tensor_seed(name, shape, dtype), dtype, range, array)) return {};
  return array;
}

NDArray tensor_value(std::string_view name, const Shape& shape, DType dtype) {
  return tensor_value(name, shape, dtype, default_range(dtype));
}

NDArray parameter_value(std::string_view name, const Shape& shape, DType dtype) {
  if (!dtype.is_float() && !dtype.is_bfloat()) return tensor_value(name, shape, dtype);
  const bool positive = name.ends_with("_var") || name.ends_with("gamma");
  return tensor_value(name, shape, dtype, positive ? ValueRange{0.5, 1.5} : ValueRange{-0.1, 0.1});
}

}  // namespace baton
