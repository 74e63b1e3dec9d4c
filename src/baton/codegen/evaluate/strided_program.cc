// Runs strided programs tile by tile. Offsets within a tile, relative to an access's first element, are
// constant, so they are computed once per program and tile shape.
#include "baton/codegen/evaluate/strided_program.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <type_traits>

#include "baton/runtime/thread_pool.h"

#pragma GCC optimize("O3")

namespace baton {
namespace {

using Element = LoadTable::Element;

constexpr int kCopied = 1024;               // elements per tile of a pure copy
constexpr double kElementsPerTask = 16384;  // fewer are not worth a thread's wake-up

template <class F>
void with_element(Element element, F f) {
  switch (element) {
    case Element::kF32:
      return f(float());
    case Element::kF64:
      return f(double());
    case Element::kI8:
      return f(int8_t());
    case Element::kU8:
      return f(uint8_t());
    case Element::kI16:
      return f(int16_t());
    case Element::kU16:
      return f(uint16_t());
    case Element::kI32:
      return f(int32_t());
    case Element::kU32:
      return f(uint32_t());
    case Element::kI64:
      return f(int64_t());
  }
}

/// The register type that holds an element of type T.
template <class T>
using Held = std::conditional_t<std::is_floating_point_v<T> || sizeof(T) == 8, T,
                                std::conditional_t<std::is_same_v<T, uint32_t>, int64_t, int32_t>>;

/// Offsets of a tile's elements, relative to its first.
struct Pattern {
  std::vector<int64_t> offsets;
  int64_t stride = -1;  ///< when all elements have one stride
};

/// The tiling of the axes, and the patterns of full and partial tiles.
class Tiles {
 public:
  Tiles(const StridedProgram& program, int lanes)
      : program_(program), tile_(program.extents.size(), 1), counts_(tile_) {
    choose(lanes);
    for (size_t k = 0; k < tile_.size(); ++k) counts_[k] = (program.extents[k] + tile_[k] - 1) / tile_[k];
  }

  int64_t count() const {
    int64_t count = 1;
    for (int64_t n : counts_) count *= n;
    return count;
  }
  const std::vector<int64_t>& counts() const { return counts_; }
  int64_t step(int group, size_t axis) const { return program_.strides[group][axis] * tile_[axis]; }

  /// Patterns by access group of the tile at `at`.
  const std::vector<Pattern>& patterns(const std::vector<int64_t>& at) {
    uint64_t ends = 0;
    for (size_t k = 0; k < at.size(); ++k)
      if (at[k] + 1 == counts_[k] && program_.extents[k] % tile_[k] != 0) ends |= uint64_t{1} << k;
    const auto [found, fresh] = patterns_.try_emplace(ends);
    if (fresh) {
      std::vector<int64_t> extents = tile_;
      for (size_t k = 0; k < at.size(); ++k)
        if (ends >> k & 1) extents[k] = program_.extents[k] % tile_[k];
      for (const auto& along : program_.strides) found->second.push_back(pattern(extents, along));
    }
    return found->second;
  }

 private:
  /// Chooses the tile axes: the axis along which the output is dense, then one along which the input is, then
  /// the next.
  void choose(int lanes) {
    const std::vector<int64_t>& extents = program_.extents;
    if (extents.empty()) return;
    int64_t room = lanes;
    const auto grow = [&](size_t axis, int64_t most) {
      const int64_t extent = std::min({tile_[axis] * room, extents[axis], most});
      room = room * tile_[axis] / extent;
      tile_[axis] = extent;
    };
    size_t reads = 0;
    int64_t nearest = INT64_MAX;
    for (size_t group = 1; group < program_.strides.size(); ++group)
      for (size_t k = 0; k < extents.size(); ++k) {
        const int64_t stride = std::abs(program_.strides[group][k]);
        if (stride > 0 && stride < nearest) {
          nearest = stride;
          reads = k;
        }
      }
    if (reads != 0) grow(0, 16);
    grow(reads, reads == 0 ? INT64_MAX : std::max(16, lanes / 16));
    for (size_t k = 0; k < extents.size() && room > 1; ++k) grow(k, INT64_MAX);
  }

  static Pattern pattern(const std::vector<int64_t>& extents, const std::vector<int64_t>& along) {
    Pattern result;
    result.offsets = {0};
    for (size_t k = 0; k < extents.size(); ++k) {
      const size_t inner = result.offsets.size();
      for (int64_t n = 1; n < extents[k]; ++n)
        for (size_t i = 0; i < inner; ++i) result.offsets.push_back(result.offsets[i] + n * along[k]);
    }
    const int64_t stride = result.offsets.size() > 1 ? result.offsets[1] : 0;
    bool even = stride >= 0;
    for (size_t i = 0; i < result.offsets.size() && even; ++i)
      even = result.offsets[i] == stride * static_cast<int64_t>(i);
    if (even) result.stride = stride;
    return result;
  }

  const StridedProgram& program_;
  std::vector<int64_t> tile_, counts_;
  std::map<uint64_t, std::vector<Pattern>> patterns_;
};

template <class T>
T* register_values(std::vector<int64_t>& registers, int reg) {
  return reinterpret_cast<T*>(registers.data() + static_cast<size_t>(reg) * kChunk);
}

template <class T, class Stored>
void gather(T* out, const Stored* data, const Pattern& pattern) {
  const auto count = static_cast<int64_t>(pattern.offsets.size());
  if (pattern.stride == 1) {
    for (int64_t k = 0; k < count; ++k) out[k] = static_cast<T>(data[k]);
  } else if (pattern.stride == 0) {
    std::fill_n(out, count, static_cast<T>(*data));
  } else if (pattern.stride > 0) {
    for (int64_t k = 0; k < count; ++k) out[k] = static_cast<T>(data[k * pattern.stride]);
  } else {
    const int64_t* offsets = pattern.offsets.data();
    for (int64_t k = 0; k < count; ++k) out[k] = static_cast<T>(data[offsets[k]]);
  }
}

template <class T, class Stored>
void scatter(Stored* data, const T* from, const Pattern& pattern) {
  const auto count = static_cast<int64_t>(pattern.offsets.size());
  if (pattern.stride == 1) {
    for (int64_t k = 0; k < count; ++k) data[k] = static_cast<Stored>(from[k]);
  } else {
    const int64_t* offsets = pattern.offsets.data();
    for (int64_t k = 0; k < count; ++k) data[offsets[k]] = static_cast<Stored>(from[k]);
  }
}

template <class T>
void copy(T* to, const Pattern& written, const T* from, const Pattern& read) {
  const size_t count = written.offsets.size();
  if (written.stride == 1 && read.stride == 1) {
    std::memcpy(to, from, count * sizeof(T));
  } else if (written.stride == 1) {
    gather(to, from, read);
  } else {
    const int64_t *w = written.offsets.data(), *r = read.offsets.data();
    for (size_t k = 0; k < count; ++k) to[w[k]] = from[r[k]];
  }
}

struct Run {
  const StridedProgram& program;
  Element element;
  void* output;
  bool copies;  ///< each position copies one element
  int64_t tiles = 0, tasks = 0;
  std::atomic<bool> undefined = false;

  static int run_task(void*, int task, uint8_t* closure) {
    Run& run = *reinterpret_cast<Run*>(closure);
    run.some(run.tiles * task / run.tasks, run.tiles * (task + 1) / run.tasks);
    if (take_undefined_conversion()) run.undefined = true;
    return 0;
  }

  void some(int64_t begin, int64_t end) const {
    Tiles cut(program, copies ? kCopied : kChunk);
    std::vector<int64_t> registers(copies ? 0 : static_cast<size_t>(program.num_registers) * kChunk);
    if (!copies)
      for (const Instruction& constant : program.constants) run_simple(constant, registers);
    const size_t groups = program.strides.size(), axes = program.extents.size();
    std::vector<int64_t> at(axes), offset(groups, 0);
    int64_t rest = begin;
    for (size_t k = 0; k < axes; ++k) {
      at[k] = rest % cut.counts()[k];
      rest /= cut.counts()[k];
      for (size_t g = 0; g < groups; ++g) offset[g] += at[k] * cut.step(static_cast<int>(g), k);
    }
    for (int64_t tile = begin; tile < end; ++tile) {
      const std::vector<Pattern>& patterns = cut.patterns(at);
      if (copies)
        copy_tile(patterns, offset);
      else
        compute_tile(patterns, offset, registers);
      for (size_t k = 0; k < axes; ++k) {
        const bool on = ++at[k] < cut.counts()[k];
        const int64_t steps = on ? 1 : 1 - at[k];
        for (size_t g = 0; g < groups; ++g) offset[g] += steps * cut.step(static_cast<int>(g), k);
        if (on) break;
        at[k] = 0;
      }
    }
  }

  void copy_tile(const std::vector<Pattern>& patterns, const std::vector<int64_t>& offset) const {
    const StridedProgram::Step& load = program.steps[0];
    with_element(element, [&](auto zero) {
      using T = decltype(zero);
      copy(
          static_cast<T*>(output) + program.steps[1].base + offset[0], patterns[0],
          static_cast<const T*>(program.tables[load.instruction.table].data) + load.base + offset[load.group],
          patterns[load.group]);
    });
  }

  void compute_tile(const std::vector<Pattern>& patterns, const std::vector<int64_t>& offset,
                    std::vector<int64_t>& registers) const {
    for (const StridedProgram::Step& step : program.steps) {
      const Instruction& i = step.instruction;
      const int64_t first = step.base + offset[step.group];
      if (step.kind == StridedProgram::Step::Kind::kCompute) {
        run_simple(i, registers);
      } else if (step.kind == StridedProgram::Step::Kind::kLoad) {
        const LoadTable& table = program.tables[i.table];
        with_element(table.element, [&](auto zero) {
          using T = decltype(zero);
          gather(register_values<Held<T>>(registers, i.dst), static_cast<const T*>(table.data) + first,
                 patterns[step.group]);
        });
      } else {
        with_element(element, [&](auto zero) {
          using T = decltype(zero);
          scatter(static_cast<T*>(output) + first, register_values<Held<T>>(registers, i.a), patterns[0]);
        });
      }
    }
  }
};

}  // namespace

double StridedProgram::work() const {
  double work = 0;
  for (const Step& step : steps) {
    const Opcode op = step.instruction.op;
    const bool slow =
        op == Opcode::kUnary || op == Opcode::kBinaryMath || op == Opcode::kDiv || op == Opcode::kMod;
    if (step.kind == Step::Kind::kCompute) work += slow ? 8 : 1;
  }
  return work;
}

int64_t StridedProgram::positions() const {
  int64_t count = 1;
  for (int64_t extent : extents) count *= extent;
  return count;
}

bool StridedProgram::run(LoadTable::Element element, void* output) const {
  const bool copies = steps.size() == 2 && steps[0].kind == Step::Kind::kLoad &&
                      tables[steps[0].instruction.table].element == element;
  Run run{*this, element, output, copies};
  run.tiles = Tiles(*this, copies ? kCopied : kChunk).count();
  const double elements = static_cast<double>(positions()) * (work() + static_cast<double>(steps.size()));
  run.tasks = std::clamp<int64_t>(static_cast<int64_t>(elements / kElementsPerTask), 1,
                                  std::min<int64_t>(run.tiles, 4 * current_threads()));
  parallel_for(Run::run_task, nullptr, 0, static_cast<int>(run.tasks), reinterpret_cast<uint8_t*>(&run));
  return !run.undefined;
}

}  // namespace baton
