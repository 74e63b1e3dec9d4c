// The compile-time half of `mirror`, a simulated device: the CPU's code under another name. Its runtime half,
// runtime/plugins/mirror, runs that code in separate, protected memory. It ships with the tests, and shows
// what a second target requires: this folder, that one, and a line in backends.def.
#include "baton/codegen/backend.h"

#include "baton/ir/build.h"
#include "baton/pass/pass.h"
#include "baton/schedule/kernel_choice.h"
#include "baton/support/error.h"

namespace baton {
namespace {

constexpr int kOtherKind = 12;  // DLPack's kDLExtDev

DeviceSheet mirrored(const DeviceSheet& host) {
  DeviceSheet sheet = host;
  sheet.kind = "mirror";
  sheet.device_type = kOtherKind;
  sheet.name = "mirror of " + host.name;
  return sheet;
}

Built compile_as_processor(std::span<const BackendFunction> functions, const DeviceSheet& sheet,
                           const BuildContext& context) {
  Built built = backend_of_kind("llvm")->compile(functions, sheet, context);
  if (built.blob.empty()) throw NotSupported("mirror needs a linker, and none was found: install binutils");
  built.library = nullptr;  // not callable in the host's address space
  return built;
}

}  // namespace

Backend mirror() {
  return {
      .name = "mirror",
      .kind = "mirror",
      .doc = "the processor under another name, with memory of its own: what forgets a copy crashes",
      .device_type = kOtherKind,
      .device = mirrored,
      .takes = [](const FunctionNode&, const DeviceSheet&) { return std::string(); },
      .layouts = [] { return cost_model_choice(); },
      .compile = compile_as_processor,
      .region = fused_region,
  };
}

}  // namespace baton
