#include "baton/farm/job/expectations.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "baton/support/base/float16.h"
#include "baton/support/require.h"

namespace baton {
namespace {

constexpr int64_t kSampled = 4096;

template <class T>
double at(const NDArray& array, int64_t index) {
  return static_cast<double>(array.as<T>()[static_cast<size_t>(index)]);
}

using ReadElement = double (*)(const NDArray&, int64_t);

/// How elements of a type are read; null for types that no output has.
ReadElement reader_of(DType type) {
  const auto size = type.bytes();
  if (type.is_bfloat())
    return [](const NDArray& a, int64_t i) {
      return static_cast<double>(bfloat_to_float(a.as<uint16_t>()[static_cast<size_t>(i)]));
    };
  if (type.is_float()) {
    if (size == 2)
      return [](const NDArray& a, int64_t i) {
        return static_cast<double>(half_to_float(a.as<uint16_t>()[static_cast<size_t>(i)]));
      };
    return size == 4 ? &at<float> : size == 8 ? &at<double> : nullptr;
  }
  if (type.is_int())
    return size == 1 ? &at<int8_t> : size == 2 ? &at<int16_t> : size == 4 ? &at<int32_t> : &at<int64_t>;
  if (type.is_uint())
    return size == 1 ? &at<uint8_t> : size == 2 ? &at<uint16_t> : size == 4 ? &at<uint32_t> : &at<uint64_t>;
  return nullptr;
}

BundleOutput summary(const NDArray& array) {
  BundleOutput output{array.shape(), array.dtype(), 1, 0, 0};
  const ReadElement read = reader_of(array.dtype());
  if (!read) throw Error("outputs of type " + array.dtype().str() + " cannot be compared");
  const int64_t count = array.size();
  output.stride = std::max<int64_t>(1, (count + kSampled - 1) / kSampled);
  double sum = 0;
  for (int64_t i = 0; i < count; ++i) {
    const double value = read(array, i);
    if (std::isfinite(value))
      sum += std::abs(value);
    else
      ++output.not_finite;
  }
  if (count > output.not_finite) output.mean = sum / static_cast<double>(count - output.not_finite);
  return output;
}

bool same_kind(double a, double b) {
  return std::isnan(a) ? std::isnan(b) : std::isinf(a) ? a == b : std::isfinite(b);
}

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.7g", value);
  return text;
}

std::string difference_of(const std::string& name, const NDArray& array, const BundleOutput& expected,
                          std::span<const double> sampled, const Tolerance& tolerance) {
  if (array.shape() != expected.shape || array.dtype() != expected.dtype)
    return name + " is " + describe(array.shape(), array.dtype()) + ", expected " +
           describe(expected.shape, expected.dtype);
  const BundleOutput found = summary(array);
  if (static_cast<int64_t>(sampled.size()) != (array.size() + expected.stride - 1) / expected.stride)
    return name + " has another number of expected elements than its shape says";
  double largest = 0;
  for (const double value : sampled)
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  const ReadElement read = reader_of(array.dtype());
  size_t wrong = 0;
  std::string first;
  for (size_t i = 0; i < sampled.size(); ++i) {
    const auto index = static_cast<int64_t>(i) * expected.stride;
    const double value = read(array, index), wanted = sampled[i];
    const bool close =
        same_kind(wanted, value) &&
        (!std::isfinite(wanted) ||
         std::abs(value - wanted) <= tolerance.relative * std::abs(wanted) + tolerance.absolute * largest);
    if (close || wrong++) continue;
    first = name + "[" + std::to_string(index) + "] is " + number(value) + ", expected " + number(wanted);
  }
  if (wrong)
    return first + " (" + std::to_string(wrong) + " of " + std::to_string(sampled.size()) +
           " elements that were compared)";
  if (found.not_finite != expected.not_finite)
    return name + " has " + std::to_string(found.not_finite) + " elements that are not finite, expected " +
           std::to_string(expected.not_finite);
  // Sums of integers are exact below 2^53; rounding of the sum itself is far below any tolerance of floats.
  const double slack = (tolerance.relative + tolerance.absolute + 1e-9) * std::max(expected.mean, found.mean);
  if (std::abs(found.mean - expected.mean) > slack)
    return "the mean magnitude of " + name + " is " + number(found.mean) + ", expected " +
           number(expected.mean);
  return {};
}

}  // namespace

void set_bundle_inputs(Executor& executor, const std::vector<BundleInput>& inputs) {
  if (inputs.size() != executor.num_inputs())
    throw Error("the manifest has " + std::to_string(inputs.size()) + " inputs, the model " +
                std::to_string(executor.num_inputs()));
  for (size_t i = 0; i < inputs.size(); ++i) {
    const BundleInput& input = inputs[i];
    const PlanEntry& entry = executor.input_entry(i);
    if (executor.input_node(i).name != input.name || entry.shape != input.shape || entry.dtype != input.dtype)
      throw Error("input \"" + input.name + "\" of the manifest is not the model's input \"" +
                  executor.input_node(i).name + "\", " + describe(entry.shape, entry.dtype));
    const NDArray value = tensor_value(input.name, input.shape, input.dtype, input.range);
    if (!value) throw Error("no memory for input \"" + input.name + "\"");
    require(executor.set_input(i, value));
  }
}

std::vector<NDArray> outputs_of(const Executor& executor) {
  std::vector<NDArray> outputs;
  for (size_t i = 0; i < executor.num_outputs(); ++i) {
    outputs.push_back(executor.output(i));
    if (!outputs.back().defined())
      throw Error("output " + std::to_string(i) + " cannot be read from its device");
  }
  return outputs;
}

Expectations expect(const std::vector<NDArray>& outputs) {
  Expectations expectations;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const BundleOutput& output = expectations.outputs.emplace_back(summary(outputs[i]));
    const ReadElement read = reader_of(output.dtype);
    std::vector<double> values;
    for (int64_t at = 0; at < outputs[i].size(); at += output.stride) values.push_back(read(outputs[i], at));
    expectations.sampled.emplace_back(
        "output" + std::to_string(i),
        NDArray::from_bytes({static_cast<int64_t>(values.size())}, DType::float_(64), values.data()));
  }
  return expectations;
}

std::string difference(const std::vector<NDArray>& outputs, const std::vector<BundleOutput>& expected,
                       const NamedArrays& sampled, const Tolerance& tolerance) {
  if (outputs.size() != expected.size() || sampled.size() != expected.size())
    return "the model has " + std::to_string(outputs.size()) + " outputs, expected " +
           std::to_string(expected.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    const NDArray& values = sampled[i].second;
    if (values.dtype() != DType::float_(64)) return "the expected elements are not of type float64";
    std::string found = difference_of("output" + std::to_string(i), outputs[i], expected[i],
                                      std::as_const(values).as<double>(), tolerance);
    if (!found.empty()) return found;
  }
  return {};
}

}  // namespace baton
