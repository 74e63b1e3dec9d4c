#include "baton/runtime/plugins/dnnl/exact_sums.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

#include "baton/runtime/plugins/dnnl/layouts.h"

namespace baton::dnnl_plugin {

using namespace dnnl_blob;
using dnnl::memory;

namespace {

bool is_matmul(const ProductOfBytes& product) { return product.step.kind == StepKind::kMatmul; }
size_t spatial_axes(const ProductOfBytes& product) {
  return is_matmul(product) ? 0 : product.step.inputs[0].dims.size() - 2;
}

/// The middle of the result, for output 0.
Dims middle_of(const ProductOfBytes& product) {
  Dims middle = product.result;
  for (int64_t& each : middle) each /= 2;
  return middle;
}

/// For each tap of the weights whether it is inside of the data at the middle of the result.
std::vector<bool> taps_inside(const ProductOfBytes& product) {
  const Step& step = product.step;
  const Dims &in = step.inputs[0].dims, &weights = step.inputs[1].dims, middle = middle_of(product);
  const size_t spatial = spatial_axes(product);
  std::vector<bool> inside = {true};
  for (size_t i = 0; i < spatial; ++i) {
    std::vector<bool> next;
    for (const bool before : inside)
      for (int64_t tap = 0; tap < weights[weights.size() - spatial + i]; ++tap) {
        const int64_t at = middle[2 + i] * step.strides[i] - step.before[i] + tap * (step.dilates[i] + 1);
        next.push_back(before && at >= 0 && at < in[2 + i]);
      }
    inside = std::move(next);
  }
  return inside;
}

/// Weights of one output, channels x taps, and the sum of those that are inside of the data.
struct HardWeights {
  std::vector<int8_t> values;
  int64_t sum = 0;
};

/// As large as their sum may be, those inside first, and the sum of these odd.
HardWeights hard_weights(const ProductOfBytes& product) {
  const Dims& weights = product.step.inputs[1].dims;
  const size_t spatial = spatial_axes(product);
  const int64_t channels =
      is_matmul(product) ? product.step.inputs[0].dims.back() : weights[weights.size() - spatial - 1];
  const std::vector<bool> inside = taps_inside(product);
  const auto taps = static_cast<int64_t>(inside.size());
  const auto is_inside = [&](int64_t tap) { return inside[static_cast<size_t>(tap)]; };
  HardWeights hard{std::vector<int8_t>(static_cast<size_t>(channels * taps))};
  int64_t left = product.step.largest / 255;
  for (const bool now : {true, false})
    for (int64_t tap = 0; tap < taps; ++tap)
      for (int64_t channel = 0; channel < channels && is_inside(tap) == now; ++channel) {
        const auto weight = static_cast<int8_t>(std::min<int64_t>(127, left));
        hard.values[static_cast<size_t>(channel * taps + tap)] = weight;
        left -= weight;
        if (now) hard.sum += weight;
      }
  for (int64_t tap = 0; tap < taps && hard.sum % 2 == 0 && hard.sum > 0; ++tap)
    if (int8_t& weight = hard.values[static_cast<size_t>(tap)]; is_inside(tap) && weight > 0)
      --weight, --hard.sum;
  return hard;
}

memory plain_memory(const Dims& dims, ElementType type) {
  Dims strides(dims.size(), 1);
  for (size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * dims[i];
  return memory(layout_of(dims, strides, type), cpu());
}

memory reordered(dnnl::stream& stream, memory from, const memory::desc& layout) {
  memory to(layout, cpu());
  dnnl::reorder(from, to).execute(stream, from, to);
  stream.wait();
  return to;
}

/// The sums of the hard weights with the largest data, in plain layout.
memory computed_sums(const ProductOfBytes& product, const HardWeights& hard, int64_t value) {
  dnnl::stream stream(cpu());
  const Dims &in = product.step.inputs[0].dims, &weights = product.step.inputs[1].dims;
  memory data = plain_memory(in, product.data_type), factors = plain_memory(weights, ElementType::kInt8);
  std::memset(data.get_data_handle(), static_cast<int>(value), static_cast<size_t>(elements(in)));
  auto* const factor = static_cast<int8_t*>(factors.get_data_handle());
  const int64_t columns = is_matmul(product) ? weights.back() : 1;
  for (int64_t i = 0; i < elements(weights); ++i)
    factor[i] = hard.values[static_cast<size_t>(i / columns) % hard.values.size()];
  memory from = reordered(stream, data, product.data), by = reordered(stream, factors, product.weights);
  memory to(product.sums, cpu()), scratch(product.scratch, cpu());
  product.primitive.execute(
      stream,
      {{DNNL_ARG_SRC, from}, {DNNL_ARG_WEIGHTS, by}, {DNNL_ARG_DST, to}, {DNNL_ARG_SCRATCHPAD, scratch}});
  stream.wait();
  return reordered(stream, to, plain_memory(product.result, ElementType::kInt32).get_desc());
}

bool passes_probe(const ProductOfBytes& product) {
  const int64_t value = product.data_type == ElementType::kUint8 ? 255 : 127;
  const HardWeights hard = hard_weights(product);
  const memory sums = computed_sums(product, hard, value);
  const auto* const found = static_cast<const int32_t*>(sums.get_data_handle());
  // All outputs at the middle.
  Dims position = middle_of(product);
  const size_t along = is_matmul(product) ? position.size() - 1 : 1;
  for (int64_t output = 0; output < product.result[along]; ++output) {
    position[along] = output;
    int64_t at = 0;
    for (size_t i = 0; i < position.size(); ++i) at = at * product.result[i] + position[i];
    if (found[at] != value * hard.sum) return false;
  }
  return true;
}

}  // namespace

bool sums_are_exact(const ProductOfBytes& product) {
  static std::mutex mutex;
  static std::map<std::string, bool> known;  // of this process, as its processor stays the same
  const Step& step = product.step;
  std::string key = product.implementation + " " + std::to_string(static_cast<int>(product.data_type)) + " " +
                    std::to_string(step.largest);
  for (const Dims* dims : {&step.inputs[0].dims, &step.inputs[1].dims, &product.result, &step.strides,
                           &step.dilates, &step.before, &step.after})
    key += " " + text_of(*dims);
  {
    const std::lock_guard lock(mutex);
    if (const auto at = known.find(key); at != known.end()) return at->second;
  }
  const bool exact = passes_probe(product);
  const std::lock_guard lock(mutex);
  return known[key] = exact;
}

}  // namespace baton::dnnl_plugin
