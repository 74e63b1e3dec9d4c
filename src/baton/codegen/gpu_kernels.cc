#include "baton/codegen/gpu_kernels.h"

#include <algorithm>
#include <chrono>
#include <unordered_map>

#include "baton/codegen/compile.h"
#include "baton/codegen/compiler.h"
#include "baton/ir/build.h"
#include "baton/ir/inspect.h"
#include "baton/pass/pass.h"
#include "baton/schedule/gpu/shared.h"
#include "baton/schedule/kernel_choice.h"
#include "baton/schedule/template.h"
#include "baton/support/error.h"

namespace baton {
namespace {

/// Layouts come in blocks of this many channels, read by as many neighbouring threads.
constexpr int kNeighbours = 16;

double seconds_from(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::string blob_of(const NamedKernels& named, const DeviceCodeFormat& format) {
  DeviceBlob blob;
  std::unordered_map<KernelKey, uint32_t> unit_of;
  for (const auto& [name, kernel] : named) {
    const auto [at, fresh] = unit_of.try_emplace(kernel->key, static_cast<uint32_t>(unit_of.size()));
    if (fresh) blob.units.emplace_back(kernel->object);
    blob.unit_of[name] = at->second;
  }
  return packed(blob, format);
}

/// That of the context's choice where it names a GPU template: a choice for the processor has nothing to say
/// here.
KernelSchedule schedule_of_choice(const Function& function, const DeviceSheet& sheet,
                                  const BuildContext& context) {
  KernelSchedule schedule = choice_or_default(context.choice)->schedule(function, sheet);
  const bool known = std::ranges::any_of(
      gpu_templates(), [&](const ScheduleTemplate* each) { return schedule.template_name == each->name; });
  return known ? std::move(schedule) : KernelSchedule();
}

std::vector<KernelRequest> requests_of(std::span<const BackendFunction> functions, const DeviceSheet& sheet,
                                       const BuildContext& context) {
  std::vector<KernelRequest> requests;
  for (const BackendFunction& each : functions) {
    KernelSchedule schedule = schedule_of_choice(each.function, sheet, context);
    requests.push_back({each.function, {}, std::move(schedule.template_name), std::move(schedule.params)});
    requests.back().strict = is_strict(context.passes->config);
  }
  return requests;
}

}  // namespace

DeviceSheet gpu_sheet(const DeviceSheet& host, const std::string& kind, int device_type,
                      const std::string& name, const std::string& code_target) {
  DeviceSheet sheet = host;
  sheet.kind = kind;
  sheet.device_type = device_type;
  sheet.name = name;
  sheet.code_target = code_target;
  sheet.float_lanes = kNeighbours;
  sheet.vector_registers = 32;
  sheet.halves_at_full_rate = false;
  sheet.peaks.reset();
  sheet.links.clear();
  return sheet;
}

std::string refused_type(const FunctionNode& function,
                         const std::function<std::string(const TensorTypeNode& type)>& refuses) {
  const auto refused = [&](const Type& type) {
    for (const TensorTypeNode* tensor : flat_types(type))
      if (std::string why = refuses(*tensor); !why.empty()) return why;
    return std::string();
  };
  for (const Var& param : function.params())
    if (std::string why = refused(type_of(*param)); !why.empty()) return why;
  for (const KernelBlock& block : kernel_blocks(function))
    if (std::string why = refused(block.call->checked_type()); !why.empty()) return why;
  return "";
}

std::vector<KernelSchedule> gpu_schedules(std::span<const BackendFunction> functions,
                                          const DeviceSheet& sheet, const BuildContext& context) {
  std::vector<KernelSchedule> all;
  for (const KernelRequest& request : requests_of(functions, sheet, context))
    all.push_back(chosen_schedule(request, sheet));
  return all;
}

Built compile_gpu_kernels(std::span<const BackendFunction> functions, const DeviceSheet& sheet,
                          const BuildContext& context, const DeviceCodeFormat& format) {
  const auto start = std::chrono::steady_clock::now();
  const std::vector<KernelRequest> requests = requests_of(functions, sheet, context);
  Built built;
  const std::vector<KernelRef> kernels = compile_kernels(requests, sheet, context);
  NamedKernels named;
  for (size_t i = 0; i < kernels.size(); ++i) {
    built.kernels.push_back({functions[i].func_name, functions[i].function, requests[i], kernels[i]});
    named.emplace_back(functions[i].func_name, kernels[i]);
  }
  built.blob = blob_of(named, format);
  built.kernels_s = seconds_from(start);
  return built;
}

namespace {

/// Weights that blocks of threads copy to shared memory are read as they are given.
class GpuLayouts final : public KernelChoice {
 public:
  bool packs_dense(const DenseShape& shape, const DeviceSheet& sheet) const override {
    if (sheet.kind == "cuda" && has_shared_tiles(shape.rows, shape.units, shape.depth)) return false;
    return KernelChoice::packs_dense(shape, sheet);
  }
  /// In plain layouts the sums are one reduction, which threads can share; in blocks it is one after the
  /// other for each tap, so that a processor reads no padding.
  ConvChoice conv_transpose(const ConvShape& shape, const DeviceSheet& sheet) const override {
    return sheet.kind == "cuda" ? ConvChoice{} : KernelChoice::conv_transpose(shape, sheet);
  }
};

}  // namespace

std::shared_ptr<const KernelChoice> gpu_layouts() {
  static const auto choice = strict_choice(std::make_shared<const GpuLayouts>());
  return choice;
}

std::string gpu_source(const std::string& blob, const DeviceCodeFormat& format) {
  DeviceBlob units;
  if (const std::string why = unpack(blob, format, units); !why.empty()) throw Error(why);
  std::string text;
  for (const std::string_view unit : units.units) {
    DeviceCode code;
    if (!unpack(unit, code)) throw Error("the code for " + std::string(format.shown) + " is damaged");
    text += code.source;
    if (!text.ends_with('\n')) text += '\n';
  }
  return text;
}

}  // namespace baton
