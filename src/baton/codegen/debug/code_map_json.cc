#include "baton/codegen/debug/code_map_json.h"

#include "baton/support/json.h"

namespace baton {

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
  const Json in = Json::parse_or_discard(text);
  if (in.is_discarded()) return std::nullopt;
  try {
    CodeMap map;
    for (const Json& place : in.at("places")) {
      CodePlace out{
          place.at(0).get<std::string>(), place.at(1).get<int>(), {}, place.at(3).get<std::vector<int>>()};
      for (const Json& held : place.at(2))
        out.holds.push_back({held.at(0).get<int>(), held.at(1).get<std::string>()});
      map.places.push_back(std::move(out));
    }
    for (const Json& function : in.at("functions")) {
      CodeFunction out{function.at(0).get<std::string>(), function.at(1).get<uint32_t>(), {}};
      for (const Json& range : function.at(2)) {
        out.ranges.push_back({range.at(0).get<uint32_t>(), range.at(1).get<uint32_t>(),
                              range.at(2).get<int>(), range.at(3).get<int>(),
                              range.at(4).get<std::string>()});
        const int place = out.ranges.back().place;
        if (place < 0 || place >= static_cast<int>(map.places.size())) return std::nullopt;
      }
      map.functions.push_back(std::move(out));
    }
    return map;
  } catch (const JsonError&) {
    return std::nullopt;
  }
}

}  // namespace baton
