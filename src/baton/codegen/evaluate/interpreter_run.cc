// The interpreter loop: executes one instruction at a time over a chunk of values.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "baton/codegen/evaluate/interpreter_program.h"

#pragma GCC optimize("O3")  // all loops run over a chunk and should be vectorised

namespace baton {
namespace {

thread_local bool undefined_conversion = false;

template <class T>
T* values(std::vector<int64_t>& registers, int reg) {
  return reinterpret_cast<T*>(registers.data() + static_cast<size_t>(reg) * kChunk);
}

/// Integer overflow wraps, as in Halide's code.
template <class T>
using Wide = std::conditional_t<std::is_same_v<T, int32_t>, uint32_t,
                                std::conditional_t<std::is_same_v<T, int64_t>, uint64_t, T>>;

template <class T>
T divide(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return a / b;
  } else {
    if (b == 0) return 0;
    if (b == -1) return static_cast<T>(Wide<T>(0) - Wide<T>(a));
    const T quotient = a / b, rest = a % b;
    return rest < 0 ? (b > 0 ? quotient - 1 : quotient + 1) : quotient;  // the remainder is never negative
  }
}

template <class T>
T modulo(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return a - b * std::floor(a / b);
  } else {
    if (b == 0 || b == -1) return 0;
    const T rest = a % b;
    return rest < 0 ? (b > 0 ? rest + b : rest - b) : rest;
  }
}

template <class T, class F>
void binary(std::vector<int64_t>& r, const Instruction& i, F f) {
  const T *a = values<T>(r, i.a), *b = values<T>(r, i.b);
  T* out = values<T>(r, i.dst);
  for (int k = 0; k < kChunk; ++k) out[k] = f(a[k], b[k]);
}

template <class T, class F>
void compare(std::vector<int64_t>& r, const Instruction& i, F f) {
  const T *a = values<T>(r, i.a), *b = values<T>(r, i.b);
  int32_t* out = values<int32_t>(r, i.dst);
  for (int k = 0; k < kChunk; ++k) out[k] = f(a[k], b[k]);
}

template <class T>
void arithmetic(std::vector<int64_t>& r, const Instruction& i) {
  switch (i.op) {
    case Opcode::kAdd:
      return binary<T>(r, i, [](T a, T b) { return static_cast<T>(Wide<T>(a) + Wide<T>(b)); });
    case Opcode::kSub:
      return binary<T>(r, i, [](T a, T b) { return static_cast<T>(Wide<T>(a) - Wide<T>(b)); });
    case Opcode::kMul:
      return binary<T>(r, i, [](T a, T b) { return static_cast<T>(Wide<T>(a) * Wide<T>(b)); });
    case Opcode::kDiv:
      return binary<T>(r, i, divide<T>);
    case Opcode::kMod:
      return binary<T>(r, i, modulo<T>);
    case Opcode::kMin:
      return binary<T>(r, i, [](T a, T b) { return b < a ? b : a; });
    case Opcode::kMax:
      return binary<T>(r, i, [](T a, T b) { return a < b ? b : a; });
    default:
      break;
  }
  if constexpr (std::is_integral_v<T>) {
    using U = Wide<T>;
    constexpr T kBits = sizeof(T) * 8;
    switch (i.op) {
      case Opcode::kBitAnd:
        return binary<T>(r, i, [](T a, T b) { return a & b; });
      case Opcode::kBitOr:
        return binary<T>(r, i, [](T a, T b) { return a | b; });
      case Opcode::kBitXor:
        return binary<T>(r, i, [](T a, T b) { return a ^ b; });
      case Opcode::kShiftLeft:
        return binary<T>(r, i,
                         [](T a, T b) { return b < 0 || b >= kBits ? T(0) : static_cast<T>(U(a) << b); });
      case Opcode::kShiftRight:
        return binary<T>(r, i, [](T a, T b) { return static_cast<T>(a >> std::clamp<T>(b, 0, kBits - 1)); });
      default:
        break;
    }
  }
}

template <class T>
void comparison(std::vector<int64_t>& r, const Instruction& i) {
  switch (i.op) {
    case Opcode::kEq:
      return compare<T>(r, i, [](T a, T b) { return a == b; });
    case Opcode::kNe:
      return compare<T>(r, i, [](T a, T b) { return a != b; });
    case Opcode::kLt:
      return compare<T>(r, i, [](T a, T b) { return a < b; });
    default:
      return compare<T>(r, i, [](T a, T b) { return a <= b; });
  }
}

template <class T>
void select(std::vector<int64_t>& r, const Instruction& i) {
  const int32_t* condition = values<int32_t>(r, i.a);
  const T *b = values<T>(r, i.b), *c = values<T>(r, i.c);
  T* out = values<T>(r, i.dst);
  for (int k = 0; k < kChunk; ++k) out[k] = condition[k] ? b[k] : c[k];
}

/// Whether all of the chunk are numbers that the integer type To holds, or its part for uint32, which is held
/// in 64 bits. Otherwise C++ defines no result, and processors have several.
template <class To, class From>
bool all_fit(const From* a, bool is_uint32) {
  const From below = is_uint32 ? From(-1) : static_cast<From>(std::numeric_limits<To>::min()),
             above = is_uint32 ? From(4294967296) : -static_cast<From>(std::numeric_limits<To>::min());
  int fit = 0;
  for (int k = 0; k < kChunk; ++k) fit += a[k] > below && a[k] < above;
  return fit == kChunk;
}

template <class To, class From>
void cast(std::vector<int64_t>& r, const Instruction& i) {
  const From* a = values<From>(r, i.a);
  To* out = values<To>(r, i.dst);
  if (i.truth) {
    for (int k = 0; k < kChunk; ++k) out[k] = a[k] != From(0);
    return;
  }
  if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    if (!all_fit<To>(a, i.wrap_unsigned && i.wrap_bits == 32)) {
      undefined_conversion = true;
      return;
    }
  }
  for (int k = 0; k < kChunk; ++k) out[k] = static_cast<To>(a[k]);
}

template <class To>
void cast_from(std::vector<int64_t>& r, const Instruction& i) {
  switch (i.from) {
    case RegKind::kF32:
      return cast<To, float>(r, i);
    case RegKind::kF64:
      return cast<To, double>(r, i);
    case RegKind::kI32:
      return cast<To, int32_t>(r, i);
    case RegKind::kI64:
      return cast<To, int64_t>(r, i);
  }
}

/// The bits of values; those of uint32, which is held in 64 bits, are the lower half.
template <class To, class From>
void reinterpret(std::vector<int64_t>& r, const Instruction& i) {
  const From* a = values<From>(r, i.a);
  To* out = values<To>(r, i.dst);
  for (int k = 0; k < kChunk; ++k) {
    To bits{};
    std::memcpy(&bits, &a[k], std::min(sizeof bits, sizeof a[k]));
    out[k] = bits;
  }
}

template <class To>
void reinterpret_from(std::vector<int64_t>& r, const Instruction& i) {
  switch (i.from) {
    case RegKind::kF32:
      return reinterpret<To, float>(r, i);
    case RegKind::kF64:
      return reinterpret<To, double>(r, i);
    case RegKind::kI32:
      return reinterpret<To, int32_t>(r, i);
    case RegKind::kI64:
      return reinterpret<To, int64_t>(r, i);
  }
}

template <class T>
void wrap(std::vector<int64_t>& r, const Instruction& i) {
  T* out = values<T>(r, i.dst);
  using U = std::make_unsigned_t<T>;
  const int spare = static_cast<int>(sizeof(T) * 8) - i.wrap_bits;
  for (int k = 0; k < kChunk; ++k)
    out[k] = i.wrap_unsigned ? static_cast<T>(static_cast<U>(static_cast<U>(out[k]) << spare) >> spare)
                             : static_cast<T>(static_cast<T>(static_cast<U>(out[k]) << spare) >> spare);
}

template <class T>
void mathematics(std::vector<int64_t>& r, const Instruction& i) {
  const T* a = values<T>(r, i.a);
  T* out = values<T>(r, i.dst);
  if (i.op == Opcode::kBinaryMath) {
    const T* b = values<T>(r, i.b);
    for (int k = 0; k < kChunk; ++k) out[k] = static_cast<T>(i.binary(a[k], b[k]));
  } else {
    for (int k = 0; k < kChunk; ++k) out[k] = static_cast<T>(i.unary(a[k]));
  }
}

template <class T, class Stored>
void load(std::vector<int64_t>& r, const Instruction& i, const LoadTable& table) {
  const int32_t* offset = values<int32_t>(r, i.a);
  const Stored* data = static_cast<const Stored*>(table.data);
  const auto last = static_cast<int32_t>(table.count - 1);
  T* out = values<T>(r, i.dst);
  // Both sides of a select are computed, so unused offsets may be out of range.
  for (int k = 0; k < kChunk; ++k) out[k] = static_cast<T>(data[std::clamp(offset[k], 0, last)]);
}

void load(std::vector<int64_t>& r, const Instruction& i, const LoadTable& table) {
  switch (table.element) {
    case LoadTable::Element::kF32:
      return load<float, float>(r, i, table);
    case LoadTable::Element::kF64:
      return load<double, double>(r, i, table);
    case LoadTable::Element::kI8:
      return load<int32_t, int8_t>(r, i, table);
    case LoadTable::Element::kU8:
      return load<int32_t, uint8_t>(r, i, table);
    case LoadTable::Element::kI16:
      return load<int32_t, int16_t>(r, i, table);
    case LoadTable::Element::kU16:
      return load<int32_t, uint16_t>(r, i, table);
    case LoadTable::Element::kI32:
      return load<int32_t, int32_t>(r, i, table);
    case LoadTable::Element::kU32:
      return load<int64_t, uint32_t>(r, i, table);
    case LoadTable::Element::kI64:
      return load<int64_t, int64_t>(r, i, table);
  }
}

template <class T>
void fill(std::vector<int64_t>& r, int reg, T value) {
  std::fill_n(values<T>(r, reg), kChunk, value);
}

void logic(std::vector<int64_t>& r, const Instruction& i) {
  const int32_t *a = values<int32_t>(r, i.a), *b = i.op == Opcode::kNot ? a : values<int32_t>(r, i.b);
  int32_t* out = values<int32_t>(r, i.dst);
  for (int k = 0; k < kChunk; ++k)
    out[k] = i.op == Opcode::kNot ? !a[k] : i.op == Opcode::kAnd ? (a[k] && b[k]) : (a[k] || b[k]);
}

/// Calls f with a value of the C++ type behind `kind`.
template <class F>
void with_type(RegKind kind, F f) {
  switch (kind) {
    case RegKind::kF32:
      return f(float());
    case RegKind::kF64:
      return f(double());
    case RegKind::kI32:
      return f(int32_t());
    case RegKind::kI64:
      return f(int64_t());
  }
}

void run_block(const ElementProgram& program, const std::vector<Instruction>& block, std::vector<int64_t>& r);

void run_loop(const ElementProgram& program, const Loop& loop, std::vector<int64_t>& r) {
  int64_t iterations = 1;
  for (const Loop::Variable& variable : loop.variables) iterations *= variable.extent;
  std::vector<int32_t> at(loop.variables.size(), 0);
  for (int64_t n = 0; n < iterations; ++n) {
    for (size_t v = 0; v < at.size(); ++v)
      fill<int32_t>(r, loop.variables[v].reg, loop.variables[v].min + at[v]);
    run_block(program, loop.body, r);
    const int32_t* condition = loop.predicate >= 0 ? values<int32_t>(r, loop.predicate) : nullptr;
    for (size_t i = 0; i < loop.accumulators.size(); ++i)
      with_type(loop.kinds[i], [&](auto zero) {
        using T = decltype(zero);
        T* to = values<T>(r, loop.accumulators[i]);
        const T* from = values<T>(r, loop.next[i]);
        for (int k = 0; k < kChunk; ++k) to[k] = !condition || condition[k] ? from[k] : to[k];
      });
    for (size_t v = 0; v < at.size() && ++at[v] == loop.variables[v].extent; ++v) at[v] = 0;
  }
}

// Compiled for wider vectors, too: weights of Winograd's algorithm are millions of elements. AVX2 without
// FMA, so that all processors give the same bits.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_THREAD__) && \
    !defined(__SANITIZE_ADDRESS__)
__attribute__((target_clones("avx2", "default"), flatten))
#endif
void run_one(const ElementProgram& program, const Instruction& i, std::vector<int64_t>& r) {
  switch (i.op) {
    case Opcode::kConstant:
      with_type(i.kind, [&](auto zero) {
        using T = decltype(zero);
        fill<T>(r, i.dst, std::is_floating_point_v<T> ? static_cast<T>(i.real) : static_cast<T>(i.integer));
      });
      return;
    case Opcode::kCopy:
      std::memcpy(values<int64_t>(r, i.dst), values<int64_t>(r, i.a), kChunk * sizeof(int64_t));
      return;
    case Opcode::kEq:
    case Opcode::kNe:
    case Opcode::kLt:
    case Opcode::kLe:
      return with_type(i.from, [&](auto zero) { comparison<decltype(zero)>(r, i); });
    case Opcode::kAnd:
    case Opcode::kOr:
    case Opcode::kNot:
      return logic(r, i);
    case Opcode::kSelect:
      return with_type(i.kind, [&](auto zero) { select<decltype(zero)>(r, i); });
    case Opcode::kCast:
      return with_type(i.kind, [&](auto zero) { cast_from<decltype(zero)>(r, i); });
    case Opcode::kReinterpret:
      return with_type(i.kind, [&](auto zero) { reinterpret_from<decltype(zero)>(r, i); });
    case Opcode::kUnary:
    case Opcode::kBinaryMath:
      return i.kind == RegKind::kF32 ? mathematics<float>(r, i) : mathematics<double>(r, i);
    case Opcode::kLoad:
      return load(r, i, program.tables[i.table]);
    case Opcode::kLoop:
      return run_loop(program, program.loops[i.table], r);
    default:
      return with_type(i.kind, [&](auto zero) { arithmetic<decltype(zero)>(r, i); });
  }
}

void wrap_result(const Instruction& i, std::vector<int64_t>& r) {
  if (i.wrap_bits == 0) return;
  if (i.kind == RegKind::kI32)
    wrap<int32_t>(r, i);
  else if (i.kind == RegKind::kI64)
    wrap<int64_t>(r, i);
}

void run_block(const ElementProgram& program, const std::vector<Instruction>& block,
               std::vector<int64_t>& r) {
  for (const Instruction& i : block) {
    run_one(program, i, r);
    wrap_result(i, r);
  }
}

double work_of(const ElementProgram& program, const std::vector<Instruction>& block) {
  double work = 0;
  for (const Instruction& i : block) {
    work +=
        i.op == Opcode::kUnary || i.op == Opcode::kBinaryMath || i.op == Opcode::kDiv || i.op == Opcode::kMod
            ? 8
            : 1;
    if (i.op != Opcode::kLoop) continue;
    const Loop& loop = program.loops[i.table];
    double iterations = 1;
    for (const Loop::Variable& variable : loop.variables) iterations *= variable.extent;
    work += iterations * (work_of(program, loop.body) + static_cast<double>(loop.accumulators.size()));
  }
  return work;
}

}  // namespace

void run_simple(const Instruction& instruction, std::vector<int64_t>& registers) {
  static const ElementProgram none;
  run_one(none, instruction, registers);
  wrap_result(instruction, registers);
}

bool take_undefined_conversion() { return std::exchange(undefined_conversion, false); }

double ElementProgram::work() const { return work_of(*this, body); }

void ElementProgram::run(std::vector<int64_t>& registers, int64_t begin) const {
  // The first element's position is computed by division, the others by incrementing; wraps around at the
  // end.
  std::vector<int32_t> at(extents.size());
  int64_t rest = begin;
  for (size_t d = 0; d < extents.size(); ++d) {
    at[d] = static_cast<int32_t>(rest % extents[d]);
    rest /= extents[d];
  }
  for (int k = 0; k < kChunk; ++k) {
    for (size_t d = 0; d < at.size(); ++d) values<int32_t>(registers, variables[d])[k] = at[d];
    for (size_t d = 0; d < at.size() && ++at[d] == extents[d]; ++d) at[d] = 0;
  }
  run_block(*this, body, registers);
}

}  // namespace baton
