#include "baton/codegen/debug/map_listing.h"

#include <algorithm>
#include <map>

#include "baton/codegen/debug/assembly.h"
#include "baton/codegen/debug/elf_object.h"
#include "baton/codegen/debug/place_of.h"
#include "baton/codegen/kernel/kernel_key.h"

namespace baton {
namespace {

/// Labels kept in the symbol table: at basic blocks, and around padding.
std::string block_label(size_t function, size_t block) {
  return "baton.b" + std::to_string(function) + "." + std::to_string(block);
}
std::string padding_label(size_t function, size_t padding, bool end) {
  return (end ? "baton.q" : "baton.p") + std::to_string(function) + "." + std::to_string(padding);
}

std::string labelled(const Assembly& assembly) {
  std::map<size_t, std::string> before;
  for (size_t f = 0; f < assembly.functions.size(); ++f) {
    const AssemblyFunction& function = assembly.functions[f];
    for (size_t b = 0; b < function.blocks.size(); ++b)
      before[function.blocks[b].first] += block_label(f, b) + ":\n";
    for (size_t p = 0; p < function.paddings.size(); ++p) {
      before[function.paddings[p]] += padding_label(f, p, false) + ":\n";
      std::string& behind = before[function.paddings[p] + 1];
      behind = padding_label(f, p, true) + ":\n" + behind;
    }
  }
  return with_inserted(assembly, before);
}

struct Labels {
  std::map<std::string, uint64_t> values;
  uint32_t offset(const std::string& label, const ElfSymbol& function) const {
    const auto at = values.find(label);
    BATON_CHECK(at != values.end() && at->second >= function.value, "the assembler lost the label " + label);
    return static_cast<uint32_t>(at->second - function.value);
  }
};

}  // namespace

Result<LabelledCode> label_code(const Assembly& assembly, const std::string& object) {
  const Result<std::string> assembled = assemble(labelled(assembly));
  if (!assembled.ok()) return assembled.status();
  const Result<ElfObject> theirs = ElfObject::parse(*assembled), ours = ElfObject::parse(object);
  if (!theirs.ok()) return theirs.status();
  if (!ours.ok()) return ours.status();
  Labels labels;
  for (const ElfSymbol& symbol : theirs->symbols)
    if (symbol.name.starts_with("baton.")) labels.values[symbol.name] = symbol.value;
  LabelledCode code;
  for (size_t f = 0; f < assembly.functions.size(); ++f) {
    const AssemblyFunction& function = assembly.functions[f];
    const ElfSymbol *in_theirs = theirs->symbol(function.symbol), *in_ours = ours->symbol(function.symbol);
    const auto differs = [&](const std::string& how) {
      return Status::unavailable("the assembler `" + find_assembler() + "` makes other code than Halide of " +
                                 function.symbol + " (" + how +
                                 "): the map from instructions to operators cannot be made with it");
    };
    if (!in_theirs || !in_ours) return differs("a function is missing");
    std::string mine(theirs->code(*in_theirs));
    const std::string_view shipped = ours->code(*in_ours);
    if (mine.size() != shipped.size() || mine.empty())
      return differs(std::to_string(mine.size()) + " bytes instead of " + std::to_string(shipped.size()));
    LabelledFunction labelled_function{static_cast<uint32_t>(shipped.size()), {}, {}};
    // Assemblers pad with different no-op instructions; the padding must equal that of the shipped kernel.
    for (size_t p = 0; p < function.paddings.size(); ++p) {
      const uint32_t from = labels.offset(padding_label(f, p, false), *in_theirs);
      const uint32_t to = labels.offset(padding_label(f, p, true), *in_theirs);
      BATON_CHECK(from <= to && to <= mine.size(), "padding outside of " + function.symbol);
      mine.replace(from, to - from, shipped.substr(from, to - from));
      labelled_function.paddings.push_back({from, std::string(shipped.substr(from, to - from))});
    }
    if (mine != shipped) {
      const auto at = std::mismatch(mine.begin(), mine.end(), shipped.begin()).first - mine.begin();
      return differs("at byte " + std::to_string(at));
    }
    for (size_t b = 0; b < function.blocks.size(); ++b)
      labelled_function.blocks.push_back(labels.offset(block_label(f, b), *in_theirs));
    code.functions.push_back(std::move(labelled_function));
  }
  return code;
}

CodeMap map_of(const Assembly& assembly, const LabelledCode& code, const KernelListing& listing) {
  CodeMap map;
  for (size_t f = 0; f < assembly.functions.size(); ++f) {
    const AssemblyFunction& function = assembly.functions[f];
    const LabelledFunction& labelled_function = code.functions[f];
    CodeFunction out{function.symbol, labelled_function.bytes, {}};
    const std::vector<CodePlace> places = places_of(function, listing.shape);
    for (size_t b = 0; b < function.blocks.size(); ++b) {
      const uint32_t begin = b == 0 ? 0 : labelled_function.blocks[b];
      const uint32_t end = b + 1 < function.blocks.size() ? labelled_function.blocks[b + 1] : out.bytes;
      if (begin == end) continue;  // empty
      auto at = std::find(map.places.begin(), map.places.end(), places[b]);
      if (at == map.places.end()) at = map.places.insert(at, places[b]);
      out.ranges.push_back({begin, end, static_cast<int>(at - map.places.begin()), function.blocks[b].depth,
                            shown_label(function.blocks[b].name, listing.symbol)});
    }
    map.functions.push_back(std::move(out));
  }
  return map;
}

Result<CodeMap> map_listing(const KernelListing& listing, const std::string& object) {
  const Assembly assembly = parse_assembly(listing.assembly);
  const Result<LabelledCode> code = label_code(assembly, object);
  if (!code.ok()) return code.status();
  return map_of(assembly, *code, listing);
}

}  // namespace baton
