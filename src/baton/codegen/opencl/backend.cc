// The compile-time half of `opencl`: OpenCL C by Halide's code generator, with the launches that compute each
// kernel. Its runtime half, runtime/plugins/opencl, needs a driver and nothing of Halide.
#include "baton/codegen/backend.h"

#include <algorithm>
#include <chrono>
#include <unordered_map>

#include "baton/codegen/compiler.h"
#include "baton/ir/build.h"
#include "baton/ir/inspect.h"
#include "baton/pass/pass.h"
#include "baton/schedule/kernel_choice.h"
#include "baton/schedule/template.h"
#include "baton/support/error.h"

namespace baton {
namespace {

constexpr int kOpenClKind = 4;  // DLPack's kDLOpenCL
constexpr char kMagic[] = "baton opencl";
constexpr uint32_t kBlobVersion = 1;

/// What is known of a device without asking a driver, which the machine that compiles need not have. Layouts
/// come in blocks of this many channels, read by as many neighbouring threads.
DeviceSheet any_opencl_device(const DeviceSheet& host) {
  DeviceSheet sheet = host;
  sheet.kind = "opencl";
  sheet.device_type = kOpenClKind;
  sheet.name = "OpenCL device";
  sheet.code_target = "x86-64-linux-opencl-cl_doubles";
  sheet.float_lanes = 16;
  sheet.vector_registers = 32;
  sheet.halves_at_full_rate = false;
  sheet.peaks.reset();
  sheet.links.clear();
  return sheet;
}

/// Element types that OpenCL has on every device. Half precision is an extension that few drivers for
/// processors have, and bfloat16 has no OpenCL type.
std::string type_reason(const Type& type) {
  for (const TensorTypeNode* tensor : flat_types(type))
    if (tensor->dtype().is_bfloat() || (tensor->dtype().is_float() && tensor->dtype().bits < 32))
      return "elements of type " + tensor->dtype().str() + " need an extension of OpenCL";
  return "";
}

std::string takes(const FunctionNode& function, const DeviceSheet&) {
  for (const Var& param : function.params())
    if (std::string why = type_reason(type_of(*param)); !why.empty()) return why;
  for (const KernelBlock& block : kernel_blocks(function))
    if (std::string why = type_reason(block.call->checked_type()); !why.empty()) return why;
  return "";
}

void put(std::string& bytes, uint64_t number, int size) {
  for (int i = 0; i < size; ++i) bytes += static_cast<char>(number >> (8 * i));
}
void put_text(std::string& bytes, std::string_view text) {
  put(bytes, text.size(), 8);
  bytes += text;
}

/// All kernels in one blob; docs/design/0028-opencl.md has the format.
std::string blob_of(const NamedKernels& named) {
  std::string units, names;
  std::unordered_map<KernelKey, uint32_t> unit_of;
  for (const auto& [name, kernel] : named) {
    const auto [at, fresh] = unit_of.try_emplace(kernel->key, static_cast<uint32_t>(unit_of.size()));
    if (fresh) put_text(units, kernel->object);
    put_text(names, name);
    put(names, at->second, 4);
  }
  std::string blob(kMagic, sizeof kMagic - 1);
  put(blob, kBlobVersion, 4);
  put(blob, unit_of.size(), 4);
  blob += units;
  put(blob, named.size(), 4);
  return blob + names;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// That of the context's choice where it names a GPU template: a choice for the processor has nothing to say
/// here.
KernelSchedule chosen_schedule(const Function& function, const DeviceSheet& sheet,
                               const BuildContext& context) {
  KernelSchedule schedule = choice_or_default(context.choice)->schedule(function, sheet);
  const bool known = std::ranges::any_of(
      gpu_templates(), [&](const ScheduleTemplate* each) { return schedule.template_name == each->name; });
  return known ? std::move(schedule) : KernelSchedule();
}

Built compile_for_opencl(std::span<const BackendFunction> functions, const DeviceSheet& sheet,
                         const BuildContext& context) {
  const auto start = std::chrono::steady_clock::now();
  std::vector<KernelRequest> requests;
  for (const BackendFunction& each : functions) {
    KernelSchedule schedule = chosen_schedule(each.function, sheet, context);
    requests.push_back({each.function, {}, std::move(schedule.template_name), std::move(schedule.params)});
    requests.back().strict = is_strict(context.passes->config);
  }
  Built built;
  const std::vector<KernelRef> kernels = compile_kernels(requests, sheet, context);
  NamedKernels named;
  for (size_t i = 0; i < kernels.size(); ++i) {
    built.kernels.push_back({functions[i].func_name, functions[i].function, requests[i], kernels[i]});
    named.emplace_back(functions[i].func_name, kernels[i]);
  }
  built.blob = blob_of(named);
  built.kernels_s = seconds_since(start);
  return built;
}

/// Plain sums of products: Winograd's transforms would be many short launches.
std::shared_ptr<const KernelChoice> opencl_layouts() {
  static const auto choice = strict_choice(cost_model_choice());
  return choice;
}

}  // namespace

Backend opencl() {
  return {
      .name = "opencl",
      .kind = "opencl",
      .doc = "kernels in OpenCL C for GPUs, and for processors by PoCL",
      .device_type = kOpenClKind,
      .device = any_opencl_device,
      .takes = takes,
      .layouts = opencl_layouts,
      .compile = compile_for_opencl,
      .region = fused_region,
  };
}

}  // namespace baton
