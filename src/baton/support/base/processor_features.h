#pragma once
// What the processor of this process can execute, by the names that code generators give it. Part of the
// runtime, which must refuse code of other processors before it runs.
#include <string>
#include <string_view>
#include <vector>

namespace baton {

/// "x86-64-linux": the machine whose code this process runs.
std::string_view processor_machine();

/// LLVM's scheduling model for this processor, in Halide's spelling ("tune_znver4"); empty for the generic
/// one.
std::string processor_tuning();

/// Features by Halide's names, each a group of CPU features that requires all of its members; only those
/// whose registers the operating system saves.
std::vector<std::string> processor_features();

/// What code compiled for `code_target` ("x86-64-linux-tune_znver3-sse41-avx") needs and this processor
/// lacks: names of features, or the machine; empty when it runs here.
std::vector<std::string> missing_features(std::string_view code_target);

/// The same as a sentence for users: "the kernels were built for aarch64 (arm-64-linux), this machine is
/// x86-64"; empty when the code runs here.
std::string why_not_here(std::string_view code_target);

}  // namespace baton
