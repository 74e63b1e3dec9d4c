#include "baton/profile/report/asm_listing.h"

#include <algorithm>
#include <cstdio>
#include <map>

#include "baton/codegen/code_maps.h"
#include "baton/codegen/debug/assembly.h"
#include "baton/codegen/debug/place_of.h"
#include "baton/ir/op.h"
#include "baton/support/error.h"
#include "baton/support/json.h"

namespace baton {

namespace {

bool has_padding(const AssemblyFunction& function, const AssemblyBlock& block) {
  return std::any_of(function.paddings.begin(), function.paddings.end(),
                     [&](size_t line) { return line >= block.first && line < block.last; });
}

/// The non-empty blocks of a function: those of the map, in the same order.
ListedFunction listed(const Assembly& assembly, const AssemblyFunction& function, const CodeFunction& mapped,
                      const AsmListing& listing) {
  ListedFunction out{function.symbol, {}};
  size_t range = 0;
  for (const AssemblyBlock& block : function.blocks) {
    ListedBlock fresh;
    for (size_t line = block.first; line < block.last; ++line)
      if (std::string text = instruction_of(assembly.lines[line]); !text.empty())
        fresh.instructions.push_back(std::move(text));
    if (fresh.instructions.empty() && !has_padding(function, block)) continue;
    if (range >= mapped.ranges.size() || mapped.ranges[range].begin == mapped.ranges[range].end) break;
    const CodeRange& at = mapped.ranges[range++];
    const std::string& head = assembly.lines[block.first];
    fresh.label = at.label;
    fresh.target = head.starts_with(".LBB") ? head.substr(0, head.find(':')) : "";
    fresh.depth = at.depth;
    fresh.place = listing.places[static_cast<size_t>(at.place)];
    fresh.line = line_of(fresh.place, listing.source);
    out.blocks.push_back(std::move(fresh));
  }
  BATON_CHECK(range == mapped.ranges.size() && out.blocks.size() == range,
              "the map of " + function.symbol + " is of another text");
  return out;
}

std::string percent(uint64_t part, uint64_t whole) {
  char text[32];
  std::snprintf(text, sizeof text, "%5.1f %%",
                whole ? 100.0 * static_cast<double>(part) / static_cast<double>(whole) : 0);
  return text;
}

std::string stage_text(const CodePlace& place) {
  std::string text = place.stage;
  for (const HeldStage& held : place.holds) text += "+" + held.stage;
  return text.empty() ? "-" : text;
}

void padded(std::ostream& out, std::string text, size_t width) {
  if (text.size() < width) text.resize(width, ' ');
  out << text;
}

/// One row per operator with its own instructions; others show whose they share.
void write_totals(std::ostream& out, const AsmListing& listing) {
  struct Total {
    size_t instructions = 0;
    uint64_t samples = 0;
  };
  std::map<int, Total> totals;  // by line
  for (const ListedFunction& function : listing.functions) {
    for (const ListedBlock& block : function.blocks) {
      totals[block.line].instructions += block.instructions.size();
      totals[block.line].samples += block.samples;
    }
  }
  size_t width = 8;
  for (const std::string& name : listing.operators) width = std::max(width, name.size());
  const auto row = [&](int line, const std::string& name) {
    char text[64];
    const Total total = totals[line];
    std::snprintf(text, sizeof text, "%6d  ", line);
    out << text;
    padded(out, name, width);
    if (total.instructions == 0) {
      out << "     0";
    } else {
      std::snprintf(text, sizeof text, "  %4zu", total.instructions);
      out << text;
      if (listing.sampled) out << "  " << percent(total.samples, listing.samples);
    }
  };
  out << "  line  ";
  padded(out, "operator", width);
  out << "  instructions" << (listing.sampled ? ", time" : "") << "\n";
  for (size_t b = 0; b < listing.operators.size(); ++b) {
    const int line = listing.source.lines[b];
    row(line, listing.operators[b]);
    std::vector<int> in;
    for (const CodePlace& place : listing.places)
      if (place.block >= 0 && place.block != static_cast<int>(b) &&
          std::count(place.blocks.begin(), place.blocks.end(), static_cast<int>(b)))
        in.push_back(listing.source.lines[static_cast<size_t>(place.block)]);
    std::sort(in.begin(), in.end());
    in.erase(std::unique(in.begin(), in.end()), in.end());
    for (size_t i = 0; i < in.size(); ++i)
      out << (i ? ", " : totals[line].instructions ? "   also in line " : "   in line ") << in[i];
    out << "\n";
  }
  row(listing.source.header_line, "no operator");
  out << "\n";
}

}  // namespace

Result<AsmListing> asm_listing(const KernelRequest& request, const Kernel& kernel, const DeviceSheet& sheet,
                               const SampleCounts* counts) {
  if (find_assembler().empty()) return assemble("").status();
  KernelListing text;
  Result<CodeMap> map = listed_as_shipped(request, kernel, sheet, &text);
  if (!map.ok()) return map.status();
  AsmListing listing;
  listing.symbol = kernel.symbol;
  listing.places = map->places;
  listing.source =
      kernel_source(*request.function, kernel.symbol + ", template " + kernel.template_name, map->places);
  for (const KernelBlock& block : kernel_blocks(*request.function))
    listing.operators.push_back(block.call->op()->name);
  const Assembly assembly = parse_assembly(text.assembly);
  for (size_t f = 0; f < assembly.functions.size(); ++f)
    listing.functions.push_back(listed(assembly, assembly.functions[f], map->functions[f], listing));
  if (!counts) return listing;
  listing.sampled = true;
  listing.samples = counts->in_kernel;
  for (const SampledRange& range : counts->ranges) {
    for (size_t f = 0; f < listing.functions.size(); ++f) {
      if (listing.functions[f].symbol != range.symbol) continue;
      for (size_t b = 0; b < listing.functions[f].blocks.size(); ++b)
        if (map->functions[f].ranges[b].begin == range.begin)
          listing.functions[f].blocks[b].samples = range.samples;
    }
  }
  return listing;
}

void write_listing(std::ostream& out, const AsmListing& listing) {
  int number = 0;
  for (size_t at = 0; at < listing.source.text.size();) {
    const size_t end = std::min(listing.source.text.find('\n', at), listing.source.text.size());
    char text[16];
    std::snprintf(text, sizeof text, "%6d  ", ++number);
    out << text << listing.source.text.substr(at, end - at) << "\n";
    at = end + 1;
  }
  out << "\n";
  write_totals(out, listing);
  size_t width = 5;
  for (const CodePlace& place : listing.places)
    width = std::max(width, std::min<size_t>(24, stage_text(place).size()));
  for (const ListedFunction& function : listing.functions) {
    out << "\n" << function.symbol << "\n";
    for (const ListedBlock& block : function.blocks) {
      std::string loops;
      for (int i = 0; i < block.depth; ++i) loops += "| ";
      out << "                ";
      padded(out, "", width);
      out << loops << "# " << (block.label.empty() ? "(no name)" : block.label);
      if (!block.target.empty()) out << ", " << block.target;
      if (listing.sampled) out << "  " << percent(block.samples, listing.samples);
      if (block.place.blocks.size() > 1) {
        out << "  lines";
        for (size_t i = 0; i < block.place.blocks.size(); ++i)
          out << (i ? ", " : " ") << listing.source.lines[static_cast<size_t>(block.place.blocks[i])];
      }
      out << "\n";
      for (std::string instruction : block.instructions) {
        std::replace(instruction.begin(), instruction.end(), '\t', ' ');
        char text[16];
        std::snprintf(text, sizeof text, "%6d  ", block.line);
        out << text;
        padded(out, stage_text(block.place).substr(0, 24), width);
        out << "        " << loops << instruction << "\n";
      }
    }
  }
}

Json to_json(const AsmListing& listing) {
  Json operators = Json::array(), functions = Json::array();
  for (size_t b = 0; b < listing.operators.size(); ++b)
    operators.push_back({{"op", listing.operators[b]}, {"line", listing.source.lines[b]}});
  for (const ListedFunction& function : listing.functions) {
    Json blocks = Json::array();
    for (const ListedBlock& block : function.blocks) {
      Json held = Json::array();
      for (const HeldStage& each : block.place.holds) held.push_back(each.stage);
      blocks.push_back({{"label", block.label},
                        {"depth", block.depth},
                        {"line", block.line},
                        {"stage", block.place.stage},
                        {"holds", std::move(held)},
                        {"operators", block.place.blocks},
                        {"samples", listing.sampled ? Json(block.samples) : Json()},
                        {"instructions", block.instructions}});
    }
    functions.push_back({{"symbol", function.symbol}, {"blocks", std::move(blocks)}});
  }
  return {{"symbol", listing.symbol},
          {"source", listing.source.text},
          {"operators", std::move(operators)},
          {"samples", listing.sampled ? Json(listing.samples) : Json()},
          {"functions", std::move(functions)}};
}

}  // namespace baton
