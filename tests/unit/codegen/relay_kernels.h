#pragma once
// Kernels as a build makes them, from Relay text, one per template: for tests of what is known of their code.
#include <map>
#include <string>
#include <vector>

#include "baton/codegen/compiler.h"

namespace baton::test {

/// The kernels that a build of `text` (the body of main and its parameters) at opt level 3 would compile.
std::vector<KernelRequest> kernels_of(const std::string& text);

/// Small programs by name; together they take every template but those that only large kernels take.
const std::map<std::string, std::string>& template_programs();

/// As builds get it: compiled once in this process.
const Kernel& compiled(const KernelRequest& request);

/// The first kernel that `template_name` makes of a program; fails the test when there is none.
KernelRequest kernel_with(const std::string& program, const std::string& template_name);

}  // namespace baton::test
