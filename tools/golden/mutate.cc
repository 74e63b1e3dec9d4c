// Breaks the handling of origins while the last pass of a golden file runs, one node at a time.
#include <algorithm>
#include <functional>

#include "baton/ir/origin_fault.h"
#include "baton/pass/pass.h"
#include "baton/support/error.h"
#include "baton/text/printer.h"

#include "case.h"

namespace baton::golden {

namespace {

constexpr int kMaxNodes = 200;  // per file: beyond it only every n-th node

// Everything that is known of the origins of a module.
std::string all_origins(const IRModuleNode& module) {
  PrintOptions options;
  options.types = options.spans = false;
  options.metadata = PrintOptions::Metadata::kNone;
  options.origins = options.origin_table = true;
  return print(module, options);
}

using Replace = OriginFault::Replace;

/// What a mutant does to the origins of a node.
struct Kind {
  const char* name;
  Replace replace;
};

// An origin of the module that is not in the set, or null.
Ref<const Origin> other_origin(const OriginTable& table, const OriginSet& set) {
  for (uint32_t i = 0; i < table.size(); ++i) {
    const Origin* candidate = &table.at(OriginId(i));
    bool inside = false;
    for (const Origin* origin : set.origins()) inside |= origin == candidate;
    if (!inside) return Ref<const Origin>(candidate);
  }
  return {};
}

std::vector<Kind> kinds(const OriginTable& table) {
  const auto swap = [&table](const OriginSet& set) {
    const Ref<const Origin> other = other_origin(table, set);
    return other ? OriginSet::of(other) : set;
  };
  const auto overstate = [&table](const OriginSet& set) {
    const Ref<const Origin> other = other_origin(table, set);
    return other ? set.merge(OriginSet::of(other)) : set;
  };
  return {
      {"drop", [](const OriginSet&) { return OriginSet::none(); }}, {"swap", swap}, {"overstate", overstate}};
}

// As it is registered: what a pass calls itself may be another name.
std::string name_of_last(const std::string& passes) {
  size_t start = 0;
  int depth = 0;
  for (size_t i = 0; i < passes.size(); ++i) {
    if (passes[i] == '(' || passes[i] == '[') ++depth;
    if (passes[i] == ')' || passes[i] == ']') --depth;
    if (passes[i] == ',' && depth == 0) start = i + 1;
  }
  start = passes.find_first_not_of(' ', start);
  return passes.substr(start, passes.find_first_of(" (", start) - start);
}

class Mutator {
 public:
  explicit Mutator(const Case& which) : which_(which) {}

  Mutants run() {
    result_.pass = name_of_last(which_.passes);
    int nodes = 0;
    std::vector<Kind> all;
    clean_ = origins_after(
        [&](const IRModuleNode& input) -> Replace {
          all = kinds(input.origins());
          return [&nodes](const OriginSet& set) {
            nodes += !set.origins().empty();
            return set;
          };
        },
        false);
    const int stride = std::max(1, nodes / kMaxNodes);
    for (size_t kind = 0; kind < all.size(); ++kind) {
      try_mutant(
          std::string(all[kind].name) + " everywhere",
          [kind](const IRModuleNode& input) { return kinds(input.origins())[kind].replace; }, false);
      for (int at = 0; at < nodes; at += stride)
        try_mutant(std::string(all[kind].name) + " at node " + std::to_string(at), at_node(kind, at), false);
    }
    try_mutant("forget to retire", [](const IRModuleNode&) { return Replace(); }, true);
    return std::move(result_);
  }

 private:
  // Made anew for each run: some count the nodes that they have seen.
  using MakeFault = std::function<Replace(const IRModuleNode& input)>;

  static MakeFault at_node(size_t kind, int at) {
    return [kind, at](const IRModuleNode& input) -> Replace {
      return [replace = kinds(input.origins())[kind].replace, at, seen = 0](const OriginSet& set) mutable {
        if (set.origins().empty() || seen++ != at) return set;
        return replace(set);
      };
    };
  }

  // All origins of the last pass's result, not verified.
  std::string origins_after(const MakeFault& fault, bool silence) const {
    std::string text;
    golden::run(which_, [&](const Pass& pass, const IRModule& input, const BuildContext& context) {
      const auto unchecked = std::make_shared<PassContext>();
      unchecked->opt_level = which_.opt_level;
      try {
        const OriginFault injected(fault(*input), silence);
        text = all_origins(*(*pass)(input, context.with_passes(unchecked)));
      } catch (const InternalError& error) {
        text = error.what();
      }
      return input;
    });
    return text;
  }

  // A mutant that changes nothing in the result is none: the node was on the way only.
  void try_mutant(const std::string& name, const MakeFault& fault, bool silence) {
    if (origins_after(fault, silence) == clean_) return;
    ++result_.made;
    try {
      const Outcome outcome =
          golden::run(which_, [&](const Pass& pass, const IRModule& input, const BuildContext& context) {
            const OriginFault injected(fault(*input), silence);
            return (*pass)(input, context);
          });
      if (outcome.text == which_.expected) result_.survivors.push_back(name);
    } catch (const InternalError&) {  // the verifier noticed
    }
  }

  const Case& which_;
  std::string clean_;
  Mutants result_;
};

}  // namespace

Mutants mutate(const Case& which) { return Mutator(which).run(); }

}  // namespace baton::golden
