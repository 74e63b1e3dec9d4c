#pragma once
// Files with one bit flipped at random: what was written with a checksum is refused, or reads as before.
#include <cstdint>
#include <cstring>
#include <fstream>
#include <functional>
#include <random>
#include <string>

#include "baton/codegen/backend.h"
#include "baton/driver/build.h"
#include "baton/driver/initialize.h"
#include "baton/frontend/npz.h"
#include "baton/runtime/model.h"
#include "baton/support/base/params_blob.h"
#include "baton/support/base/tensor_rule.h"
#include "baton/text/parser.h"

namespace baton::test {

enum class Flipped { kRefused, kSame, kOther };

struct FlipCounts {
  int refused = 0, same = 0, other = 0;
  size_t first_other = 0;  ///< the bit of the first other reading
};

/// Reads `flips` copies of `bytes`, each with one bit flipped. The same bits in every run.
inline FlipCounts flip_bits(const std::string& bytes, int flips,
                            const std::function<Flipped(const std::string&)>& read) {
  std::mt19937_64 random(20261122);
  FlipCounts counts;
  for (int i = 0; i < flips; ++i) {
    const size_t bit = random() % (8 * bytes.size());
    std::string damaged = bytes;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
    switch (read(damaged)) {
      case Flipped::kRefused:
        ++counts.refused;
        break;
      case Flipped::kSame:
        ++counts.same;
        break;
      case Flipped::kOther:
        if (counts.other++ == 0) counts.first_other = bit;
        break;
    }
  }
  return counts;
}

inline Flipped as_flipped(bool same) { return same ? Flipped::kSame : Flipped::kOther; }

inline std::string bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline bool same_arrays(const NamedArrays& a, const NamedArrays& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i)
    if (a[i].first != b[i].first || !a[i].second.equal_bytes(b[i].second)) return false;
  return true;
}

/// What is flipped: a small model as artifact, its weights in both formats, and a kernel of it in a cache.
/// Files lie in `folder`.
class FlipSubjects {
 public:
  explicit FlipSubjects(const std::string& folder) : folder_(folder), cache_(folder) {
    initialize();
    const IRModule module = parse_module(R"(#[version = "0.0.5"]
def @main(%data: Tensor[(2, 24), float32], %weight: Tensor[(40, 24), float32], %bias: Tensor[(40), float32]) {
  %0 = nn.dense(%data, %weight, units=40);
  %1 = nn.bias_add(%0, %bias);
  nn.softmax(nn.relu(%1))
})");
    BuildOptions options{.context = host_context()};
    options.context.passes->opt_level = 3;
    options.context.cache = &cache_;
    for (const auto& [name, shape] : {std::pair<std::string, Shape>{"weight", {40, 24}}, {"bias", {40}}})
      weights_.emplace_back(name, parameter_value(name, shape, DType::float_(32)));
    options.params = weights_;
    built_ = build(module, options);
    write_artifact(built_, folder_ + "/model.baton");
    write_npz(folder_ + "/weights.npz", weights_);
    const auto executor = make_executor(built_);
    output_ = run(*executor);
  }

  FlipCounts artifact(int flips) const {
    return flip_bits(bytes_of(folder_ + "/model.baton"), flips, [&](const std::string& bytes) {
      const auto model = Model::load_memory({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
      if (!model.ok()) return Flipped::kRefused;
      const NDArray output = run((*model)->executor());
      return as_flipped(output && output.equal_bytes(output_));
    });
  }

  FlipCounts npz(int flips) const {
    const std::string path = folder_ + "/flipped.npz";
    return flip_bits(bytes_of(folder_ + "/weights.npz"), flips, [&](const std::string& bytes) {
      std::ofstream(path, std::ios::binary) << bytes;
      try {
        return as_flipped(same_arrays(read_npz(path), weights_));
      } catch (const Error&) {
        return Flipped::kRefused;
      }
    });
  }

  FlipCounts params(int flips) const {
    return flip_bits(write_params_blob(weights_), flips, [&](const std::string& bytes) {
      const auto read = read_params_blob({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
      return read.ok() ? as_flipped(same_arrays(*read, weights_)) : Flipped::kRefused;
    });
  }

  FlipCounts cache_entry(int flips) {
    const Kernel& kernel = *built_.kernels.at(0).kernel;
    const std::string path = cache_.path(kernel.key);
    return flip_bits(bytes_of(path), flips, [&](const std::string& bytes) {
      std::ofstream(path, std::ios::binary) << bytes;
      const auto read = cache_.load(kernel.key);
      if (!read) return Flipped::kRefused;
      return as_flipped(read->object == kernel.object && read->stages == kernel.stages &&
                        read->template_name == kernel.template_name && read->params == kernel.params);
    });
  }

 private:
  static NDArray run(Executor& executor) {
    executor.set_threads(1);
    const NDArray data = tensor_value("data", {2, 24}, DType::float_(32));
    if (!executor.set_input("data", data).ok() || !executor.run().ok()) return {};
    return executor.output(0).copy();
  }

  std::string folder_;
  KernelCache cache_;
  NamedArrays weights_;
  BuildResult built_;
  NDArray output_;
};

}  // namespace baton::test
