#include "baton/codegen/debug/code_map_json.h"

#include <nlohmann/json.hpp>

namespace baton {

using Json = nlohmann::ordered_json;

std::string code_map_text(const CodeMap& map) {
  Json out = {{"places", Json::array()}, {"functions", Json::array()}};
  for (const CodePlace& place : map.places) {
    Json holds = Json::array();
    for (const HeldStage& held : place.holds) holds.push_back({held.block, held.stage});
    out["places"].push_back({place.stage, place.block, std::move(holds), place.blocks});
  }
  for (const CodeFunction& function : map.functions) {
    Json ranges = Json::array();
    for (const CodeRange& range : function.ranges)
      ranges.push_back({range.begin, range.end, range.place, range.depth, range.label});
    out["functions"].push_back({function.symbol, function.bytes, std::move(ranges)});
  }
  return out.dump();
}

std::optional<CodeMap> parse_code_map(const std::string& text) {
  const Json in = Json::parse(text, nullptr, false);
  if (in.is_discarded()) return std::nullopt;
  try {
    CodeMap map;
    for (const Json& place : in.at("places")) {
      CodePlace out{place.at(0), place.at(1), {}, place.at(3)};
      for (const Json& held : place.at(2)) out.holds.push_back({held.at(0), held.at(1)});
      map.places.push_back(std::move(out));
    }
    for (const Json& function : in.at("functions")) {
      CodeFunction out{function.at(0), function.at(1), {}};
      for (const Json& range : function.at(2)) {
        out.ranges.push_back({range.at(0), range.at(1), range.at(2), range.at(3), range.at(4)});
        const int place = out.ranges.back().place;
        if (place < 0 || place >= static_cast<int>(map.places.size())) return std::nullopt;
      }
      map.functions.push_back(std::move(out));
    }
    return map;
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

}  // namespace baton
