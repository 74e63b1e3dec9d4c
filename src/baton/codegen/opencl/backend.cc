// The compile-time half of `opencl`: OpenCL C by Halide's code generator, with the launches that compute each
// kernel. Its runtime half, runtime/plugins/opencl, needs a driver and nothing of Halide.
#include "baton/codegen/gpu_kernels.h"

namespace baton {
namespace {

constexpr int kDlpackOpenCl = 4;

/// Element types that OpenCL has on every device. Half precision is an extension that few drivers for
/// processors have, and bfloat16 has no OpenCL type.
std::string opencl_takes(const FunctionNode& function, const DeviceSheet&) {
  return refused_type(function, [](const TensorTypeNode& type) -> std::string {
    const DType dtype = type.dtype();
    if (!dtype.is_bfloat() && !(dtype.is_float() && dtype.bits < 32)) return "";
    return "elements of type " + dtype.str() + " need an extension of OpenCL";
  });
}

}  // namespace

Backend opencl() {
  return {
      .name = "opencl",
      .kind = "opencl",
      .doc = "kernels in OpenCL C for GPUs, and for processors by PoCL",
      .device_type = kDlpackOpenCl,
      .device =
          [](const DeviceSheet& host) {
            return gpu_sheet(host, "opencl", kDlpackOpenCl, "OpenCL device",
                             "x86-64-linux-opencl-cl_doubles");
          },
      .takes = opencl_takes,
      .layouts = gpu_layouts,
      .compile =
          [](std::span<const BackendFunction> functions, const DeviceSheet& sheet,
             const BuildContext& context) {
            return compile_gpu_kernels(functions, sheet, context, kOpenClCode);
          },
      .schedules = gpu_schedules,
      .region = fused_region,
      .source = [](const std::string& blob) { return gpu_source(blob, kOpenClCode); },
  };
}

}  // namespace baton
