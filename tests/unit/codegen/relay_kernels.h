#pragma once
// Kernels of a build, from Relay text, one per template: for tests of facts about their code.
#include <map>
#include <string>
#include <vector>

#include "baton/codegen/compiler.h"

namespace baton::test {

/// The kernels that a build of `text` (the body of main and its parameters) at opt level 3 would compile.
std::vector<KernelRequest> kernels_of(const std::string& text);

/// Small programs by name; together they use every template except those for large kernels only.
const std::map<std::string, std::string>& template_programs();

/// Compiled as in builds, once per process.
const Kernel& compiled(const KernelRequest& request);

/// The first kernel of a program that uses `template_name`; fails the test when there is none.
KernelRequest kernel_with(const std::string& program, const std::string& template_name);

}  // namespace baton::test
