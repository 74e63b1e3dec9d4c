#include "baton/cli/explain/explain_asm.h"

#include <algorithm>
#include <optional>

#include "baton/profile/inside/sampling.h"
#include "baton/profile/report/asm_listing.h"
#include "baton/runtime/gpu/device_code.h"
#include "baton/runtime/thread_pool.h"
#include "baton/support/error.h"
#include "baton/support/json.h"

namespace baton::cli {

namespace {

/// Samples the shipped kernel in the model's memory, on one thread.
SampleCounts sampled(Io& io, const ModelFlags& flags, const std::string& func_name, uint32_t node) {
  const BuiltModel built = build_model(flags, io);
  const std::unique_ptr<Executor> executor = make_executor(built.build);
  set_inputs(*executor, {});
  const auto kernel = std::find_if(built.build.kernels.begin(), built.build.kernels.end(),
                                   [&](const BuiltKernel& each) { return each.func_name == func_name; });
  BATON_CHECK(kernel != built.build.kernels.end(), "the build has no kernel " + func_name);
  require(executor->run_range(0, node + 1));
  const InterruptScope interrupt;
  const ThreadScope one_thread(1);
  SampleOptions options(flags.context());
  options.compile.interrupt = interrupt.flag();
  return require(sample_kernel(kernel->request, *kernel->kernel, *built.build.host_code().library,
                               executor->node_args(node), options));
}

/// The source of a kernel for a device whose driver compiles it.
void write_source(Io& io, const std::string& func_name, const Kernel& kernel, const std::string& kind,
                  bool json) {
  DeviceCode code;
  if (!unpack(kernel.object, code) || code.source.empty())
    throw NotSupported("kernels for " + kind + " have no source text to show");
  const std::string& source = code.source;
  if (json)
    io.out << Json{{"schema", 1}, {"kernel", func_name}, {"target", kind}, {"source", source}}.dump() << '\n';
  else
    io.out << func_name << ", for " << kind << '\n' << source << (source.ends_with('\n') ? "" : "\n");
}

}  // namespace

void AsmFlags::add(Flags& flags) {
  flags.flag(
      "asm", &on,
      "the kernel's instructions, beside the operators that they compute; with --target opencl its source");
  flags.flag("time", &timed,
             "of --asm: the time of each basic block, by sampling the kernel for a second; of --bytecode: of "
             "each kernel");
}

void write_asm(Io& io, const Subject& subject, const ModelFlags& flags, const AsmFlags& wanted, uint32_t node,
               const std::string& debug_folder, bool json) {
  if (subject.artifact)
    throw Error(
        "an artifact does not keep how its kernels were made: explain --asm takes the model it was built "
        "from");
  const std::string& func_name = subject.map.kernel_node(node).func_name;
  std::optional<KernelRequest> request = subject.request(node);
  if (!request)
    throw Error("node " + std::to_string(node) +
                " runs no code: its result is its input under another shape");
  request->variant.debug_lines = debug_folder;
  const std::vector<KernelRequest> requests = {*request};
  const BuildContext context = flags.context();
  if (subject.device()->kind != context.host().kind) {
    if (wanted.timed)
      throw UsageError("--time samples kernels of the processor; this one is for " + subject.device()->kind);
    return write_source(io, func_name, *compile_kernels(requests, *subject.device(), context)[0],
                        subject.device()->kind, json);
  }
  const std::vector<KernelRef> kernels = compile_kernels(requests, context);
  std::optional<SampleCounts> counts;
  if (wanted.timed) counts = sampled(io, flags, func_name, node);
  const AsmListing listing =
      require(asm_listing(*request, *kernels[0], context.host(), counts ? &*counts : nullptr));
  if (json) {
    Json out = {{"schema", 1}, {"kernel", func_name}};
    out.update(to_json(listing));
    io.out << out.dump() << '\n';
    return;
  }
  io.out << func_name << "\n";
  if (!debug_folder.empty()) io.out << "lines lead to " << source_path(debug_folder, listing.symbol) << "\n";
  write_listing(io.out, listing);
}

}  // namespace baton::cli
