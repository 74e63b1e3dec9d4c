#include "baton/profile/inside/inside_variants.h"

#include <algorithm>

#include "baton/codegen/compiler.h"
#include "baton/codegen/kernel/ablation.h"

namespace baton {

namespace {

// The shipped kernel's own template and parameters: every variant differs from it in one aspect only.
KernelRequest request_of(const BuiltKernel& built) {
  KernelRequest request = built.request;
  request.template_name = built.kernel->template_name;
  request.params = built.kernel->params;
  return request;
}

template <class Change>
void add_variant(MeasuredKernel& kernel, Change change) {
  kernel.variants.push_back({request_of(*kernel.built), nullptr, nullptr, nullptr});
  change(kernel.variants.back().request.variant);
}

// Compiles and loads missing variants of all kernels in parallel.
void compile_variants(const std::vector<MeasuredKernel*>& kernels, const BuildContext& context) {
  std::vector<KernelRequest> requests;
  std::vector<Variant*> targets;
  for (MeasuredKernel* kernel : kernels) {
    for (Variant& variant : kernel->variants) {
      if (variant.function) continue;
      requests.push_back(variant.request);
      targets.push_back(&variant);
    }
  }
  if (requests.empty()) return;
  const std::vector<KernelRef> made = compile_kernels(requests, context);
  NamedKernels named;
  for (size_t i = 0; i < made.size(); ++i) {
    targets[i]->kernel = made[i];
    named.emplace_back("v" + std::to_string(i), made[i]);
  }
  const auto library = load_library(named, requests, context);
  for (size_t i = 0; i < made.size(); ++i) {
    targets[i]->library = library;
    targets[i]->function = library->find(named[i].first);
    BATON_CHECK(targets[i]->function, "no function " + named[i].first);
  }
}

std::unique_ptr<MeasuredKernel> measured(const BuiltKernel& built, uint32_t node, bool watch_threads) {
  auto kernel = std::make_unique<MeasuredKernel>();
  kernel->built = &built;
  kernel->node = node;
  kernel->blocks = kernel_blocks(*built.function);
  add_variant(*kernel, [](KernelVariant&) {});
  kernel->stages = built.kernel->stages;
  if (kernel->blocks.size() > 1 || (!kernel->stages.empty() && kernel->stages.front().size() > 1) ||
      watch_threads) {
    add_variant(*kernel, [](KernelVariant& v) { v.twin = 1; });
    add_variant(*kernel, [](KernelVariant& v) { v.marked = v.within = true; });
    add_variant(*kernel, [](KernelVariant& v) { v.marked = v.within = v.doubled = true; });
  }
  return kernel;
}

}  // namespace

std::vector<std::unique_ptr<MeasuredKernel>> make_variants(const BuildResult& built, bool watch_threads,
                                                           const BuildContext& context) {
  std::vector<std::unique_ptr<MeasuredKernel>> kernels;
  std::vector<MeasuredKernel*> all;
  for (const BuiltKernel& kernel : built.kernels) {
    if (!built.plan.graph->nodes[kernel.first_node].backend.empty()) continue;  // not a host kernel
    kernels.push_back(measured(kernel, kernel.first_node, watch_threads));
    all.push_back(kernels.back().get());
  }
  compile_variants(all, context);
  // The marked build shows which blocks are in registers: they have no site there.
  for (MeasuredKernel* kernel : all) {
    if (kernel->variants.size() == 1) continue;
    kernel->marks = kernel->variants[kMarked].kernel->marks;
    if (kernel->whole() && !watch_threads)
      kernel->variants.resize(1);  // its stages were inlined, or cannot be used
    kernel->ablated = ablatable(*kernel);
    for (const std::vector<int>& blocks : kernel->ablated)
      add_variant(*kernel, [&](KernelVariant& v) { v.ablated.insert(blocks.begin(), blocks.end()); });
    for (const int block : movable(*kernel)) {
      Function without = without_move(*kernel->built->request.function, kernel->blocks, block);
      if (!without) continue;
      kernel->ablated.push_back({block});
      add_variant(*kernel, [](KernelVariant&) {});
      // Another function, whose loops run otherwise: its own template.
      KernelRequest& request = kernel->variants.back().request;
      request.function = std::move(without);
      request.template_name.clear();
      request.params.clear();
    }
  }
  compile_variants(all, context);
  return kernels;
}

void mark_again(const std::vector<MeasuredKernel*>& kernels, const BuildContext& context) {
  for (MeasuredKernel* kernel : kernels) {
    for (size_t variant : {kMarked, kDoubled}) {
      kernel->variants[variant].request.variant.merged = kernel->merged;
      kernel->variants[variant].request.variant.within = kernel->within;
      kernel->variants[variant].function = nullptr;
    }
  }
  compile_variants(kernels, context);
  for (MeasuredKernel* kernel : kernels) kernel->marks = kernel->variants[kMarked].kernel->marks;
}

}  // namespace baton
