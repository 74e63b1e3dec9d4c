// The Halide CPU backend: compiles fused functions to object files and links them into one shared library.
#include "baton/codegen/backend.h"

#include <chrono>
#include <filesystem>

#include "baton/codegen/compile.h"
#include "baton/codegen/compiler.h"
#include "baton/codegen/debug/debug_lines.h"
#include "baton/codegen/kernel/link.h"
#include "baton/codegen/tuned_choice.h"
#include "baton/schedule/kernel_choice.h"
#include "baton/support/base/processor_features.h"
#include "baton/support/error.h"

namespace baton {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// The folder for Relay lines from PassContext's config (baton.debug_dir); empty when lines are not
/// requested.
std::string debug_folder(const PassConfig& config) {
  const std::string chosen = config.text("baton.debug_dir", "");
  if (!config.flag("baton.debug_lines", !chosen.empty())) return "";
  return chosen.empty() ? default_debug_folder()
                        : std::filesystem::absolute(chosen).lexically_normal().string();
}

std::vector<KernelRequest> requests_for(std::span<const BackendFunction> functions, const DeviceSheet& sheet,
                                        const BuildContext& context, const std::string& lines) {
  const bool tuned = context.passes->config.flag("baton.tuned", true);
  const auto choice =
      context.choice || !tuned ? choice_or_default(context.choice) : tuned_choice(context.cache);
  std::vector<KernelRequest> requests;
  for (const BackendFunction& each : functions) {
    KernelSchedule schedule = choice->schedule(each.function, sheet);
    requests.push_back({each.function, {}, std::move(schedule.template_name), std::move(schedule.params)});
    requests.back().variant.debug_lines = lines;
    requests.back().strict = is_strict(context.passes->config);
  }
  return requests;
}

void link_built(Built& built, const NamedKernels& named, std::span<const KernelRequest> requests,
                const std::string& lines, const DeviceSheet& sheet, const BuildContext& context) {
  if (context.progress) context.progress("link", 0, 1);
  const bool runs_here = missing_features(sheet.code_target).empty();
  if (find_linker().empty() && runs_here) {
    built.library = jit_library(named, requests, sheet, context);
  } else {
    try {
      built.blob = link_library(named, sheet.code_target);
    } catch (const Error&) {
      context.stop_if_asked();  // Ctrl-C also kills the linker
      throw;
    }
    if (runs_here) {
      auto library = KernelLibrary::from_memory(
          {reinterpret_cast<const uint8_t*>(built.blob.data()), built.blob.size()}, lines);
      if (!library.ok()) throw Error(library.status().message);
      built.library = *library;
    }
  }
  if (context.progress) context.progress("link", 1, 1);
}

Built compile(std::span<const BackendFunction> functions, const DeviceSheet& sheet,
              const BuildContext& context) {
  const std::string lines = debug_folder(context.passes->config);
  if (!lines.empty() && is_cross(sheet.code_target))
    throw NotSupported("kernels with lines of Relay are made for this machine only, not for " + sheet.name);
  if (!lines.empty() && find_linker().empty())
    throw Error("kernels with lines of Relay need an assembler and a linker: install binutils");
  Built built;
  Clock::time_point start = Clock::now();
  const std::vector<KernelRequest> requests = requests_for(functions, sheet, context, lines);
  built.choose_s = seconds_since(start);
  start = Clock::now();
  const std::vector<KernelRef> kernels = compile_kernels(requests, sheet, context);
  NamedKernels named;
  for (size_t i = 0; i < kernels.size(); ++i) {
    built.kernels.push_back({functions[i].func_name, functions[i].function, requests[i], kernels[i]});
    named.emplace_back(functions[i].func_name, kernels[i]);
  }
  built.kernels_s = seconds_since(start);
  start = Clock::now();
  context.stop_if_asked();
  link_built(built, named, requests, lines, sheet, context);
  built.link_s = seconds_since(start);
  return built;
}

std::vector<KernelSchedule> schedules(std::span<const BackendFunction> functions, const DeviceSheet& sheet,
                                      const BuildContext& context) {
  std::vector<KernelSchedule> all;
  for (const KernelRequest& request : requests_for(functions, sheet, context, {}))
    all.push_back(chosen_schedule(request, sheet));
  return all;
}

}  // namespace

Backend halide_cpu() {
  return {
      .name = "llvm",
      .kind = "llvm",
      .doc = "kernels for the processor of this machine, by Halide",
      .device_type = 1,
      .device = [](const DeviceSheet& host) { return host; },
      .takes = [](const FunctionNode&, const DeviceSheet&) { return std::string(); },
      .layouts = [] { return cost_model_choice(); },
      .cells = true,
      .compile = compile,
      .schedules = schedules,
  };
}

}  // namespace baton
