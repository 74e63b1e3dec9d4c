#include "baton/codegen/kernel/stable_names.h"

#include <cctype>
#include <map>

namespace baton {

namespace hi = Halide::Internal;

namespace {

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)); }

// "pad$3.s0.y"  ->  "pad.s0.y"
std::string without_counts(const std::string& name) {
  std::string text;
  for (size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '$' && i + 1 < name.size() && is_digit(name[i + 1])) {
      while (i + 1 < name.size() && is_digit(name[i + 1])) ++i;
    } else {
      text += name[i];
    }
  }
  return text;
}

// "kernel_par_for_pad__3"  ->  "kernel_par_for_pad": "$" is encoded as "__" in symbols.
std::string without_last_count(const std::string& name) {
  size_t end = name.size();
  while (end > 0 && is_digit(name[end - 1])) --end;
  return end < name.size() && end > 2 && name.compare(end - 2, 2, "__") == 0 ? name.substr(0, end - 2) : name;
}

// `name`, with underscores appended until it is unique.
std::string claim(std::string name, std::set<std::string>& taken) {
  while (!taken.insert(name).second) name += "_";
  return name;
}

class Renamer final : public hi::IRMutator {
 public:
  explicit Renamer(const std::map<std::string, std::string>& names) : names_(names) {}

 private:
  using IRMutator::visit;
  Halide::Expr visit(const hi::Variable* node) override {
    const bool global = node->name.rfind("::", 0) == 0;  // the name of a function's address
    const auto at = names_.find(global ? node->name.substr(2) : node->name);
    return at == names_.end() ? IRMutator::visit(node)
                              : hi::Variable::make(node->type, (global ? "::" : "") + at->second);
  }
  const std::map<std::string, std::string>& names_;
};

}  // namespace

hi::Stmt StableLoopNames::visit(const hi::For* node) {
  if (node->for_type != hi::ForType::Parallel) return IRMutator::visit(node);
  const std::string name = claim(without_counts(node->name), taken_);
  hi::Stmt body = mutate(node->body);
  if (name != node->name) body = hi::substitute(node->name, hi::Variable::make(Halide::Int(32), name), body);
  return hi::For::make(name, node->min, node->extent, node->for_type, node->partition_policy,
                       node->device_api, body);
}

Halide::Module with_stable_names(const Halide::Module& module) {
  std::map<std::string, std::string> names;
  std::set<std::string> taken;
  for (const hi::LoweredFunc& function : module.functions())
    if (function.linkage != Halide::LinkageType::Internal) taken.insert(function.name);
  for (const hi::LoweredFunc& function : module.functions()) {
    if (function.linkage != Halide::LinkageType::Internal) continue;
    const std::string name = claim(without_last_count(function.name), taken);
    if (name != function.name) names[function.name] = name;
  }
  if (names.empty()) return module;
  Halide::Module renamed(module.name(), module.target());
  renamed.set_any_strict_float(module.any_strict_float());
  for (const Halide::Buffer<>& buffer : module.buffers()) renamed.append(buffer);
  for (hi::LoweredFunc function : module.functions()) {
    function.body = Renamer(names).mutate(function.body);
    if (const auto at = names.find(function.name); at != names.end()) function.name = at->second;
    renamed.append(function);
  }
  return renamed;
}

}  // namespace baton
