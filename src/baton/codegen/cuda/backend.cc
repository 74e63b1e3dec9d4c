// The compile-time half of `cuda`: PTX by Halide's code generator, with the launches that compute each
// kernel. No toolkit takes part: Halide's library has LLVM's back end for PTX, and the driver of the device
// that runs a model compiles PTX when it is loaded. The runtime half is runtime/plugins/cuda.
#include <algorithm>
#include <charconv>

#include "baton/codegen/gpu_kernels.h"
#include "baton/support/error.h"

namespace baton {
namespace {

constexpr int kDlpackCuda = 2;

/// The compute capabilities that Halide generates code for. PTX for one runs on all later ones.
constexpr int kCapabilities[] = {30, 32, 35, 50, 61, 70, 75, 80, 86};

/// Where no architecture is asked for: the oldest that drivers since CUDA 12 run, so on all that they run.
constexpr int kDefaultCapability = 50;

/// Multiprocessors of a usual device for computing: an A100 has 108, an H100 132. It decides into how many
/// threads a kernel is split, so the device need not have just as many.
constexpr int kMultiprocessors = 128;

/// What TVM's target says when neither its user nor a device says anything.
constexpr std::string_view kUnasked = "sm_20";

std::string code_target(int capability) {
  return "x86-64-linux-cuda-cuda_capability_" + std::to_string(capability);
}

/// The latest capability of Halide's that a device of architecture `arch`, such as "sm_90", has.
int capability_of(std::string_view arch) {
  if (arch == kUnasked) return kDefaultCapability;
  int asked = 0;
  const std::string_view number = arch.substr(std::min<size_t>(3, arch.size()));
  const auto [end, failed] = std::from_chars(number.data(), number.data() + number.size(), asked);
  // sm_90a: what is special to one architecture is not used, but code for it runs there.
  const std::string_view rest(end, number.data() + number.size());
  if (!arch.starts_with("sm_") || failed != std::errc() || !(rest.empty() || rest == "a" || rest == "f") ||
      asked > 999)
    throw UsageError("target cuda: -arch=" + std::string(arch) +
                     " is no architecture; write for example -arch=sm_80");
  const int* const after = std::upper_bound(std::begin(kCapabilities), std::end(kCapabilities), asked);
  if (after == std::begin(kCapabilities))
    throw NotSupported("target cuda: -arch=" + std::string(arch) + " is older than sm_" +
                       std::to_string(kCapabilities[0]) + ", the first that code can be made for");
  return after[-1];
}

DeviceSheet with_options(const DeviceSheet& sheet, const Target& target) {
  DeviceSheet chosen = sheet;
  for (const auto& [name, value] : target.attrs)
    if (name == "arch") {
      const auto* text = std::get_if<std::string>(&value);
      chosen.code_target =
          code_target(capability_of(text ? *text : std::to_string(std::get<int64_t>(value))));
    }
  return chosen;
}

std::string cuda_takes(const FunctionNode& function, const DeviceSheet&) {
  return refused_type(function, [](const TensorTypeNode& type) -> std::string {
    const DType dtype = type.dtype();
    if (!dtype.is_bfloat() && !(dtype.is_float() && dtype.bits < 32)) return "";
    return "elements of type " + dtype.str() + " are not computed by `cuda` yet";
  });
}

}  // namespace

Backend cuda() {
  return {
      .name = "cuda",
      .kind = "cuda",
      .doc = "kernels in PTX for GPUs by NVIDIA",
      .device_type = kDlpackCuda,
      .device =
          [](const DeviceSheet& host) {
            DeviceSheet sheet =
                gpu_sheet(host, "cuda", kDlpackCuda, "CUDA device", code_target(kDefaultCapability));
            sheet.cores = kMultiprocessors;
            return sheet;
          },
      .with_options = with_options,
      .takes = cuda_takes,
      .layouts = gpu_layouts,
      .compile =
          [](std::span<const BackendFunction> functions, const DeviceSheet& sheet,
             const BuildContext& context) {
            return compile_gpu_kernels(functions, sheet, context, kCudaCode);
          },
      .schedules = gpu_schedules,
      .region = fused_region,
      .source = [](const std::string& blob) { return gpu_source(blob, kCudaCode); },
  };
}

}  // namespace baton
