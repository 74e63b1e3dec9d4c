#pragma once
// A mapping as one self-contained HTML file: the graph by backend, alternatives, timeline, sweeps, and what
// other prices of transfers would change.
#include <string>
#include <string_view>
#include <vector>

#include "baton/map/model/map_model.h"
#include "baton/map/model/sweep.h"
#include "baton/profile/write/files.h"

namespace baton {

/// The files that a mapping is written to: .json (the mapping) and .html (the page).
const std::vector<FileKind>& map_file_kinds();

/// The sweep that the page's slider goes along: links from 1/100 to 100 times as fast, in steps that have one
/// at the speed as it is.
SweepRange transfer_prices();
SweepOptions transfer_price_options();

/// The whole file. `prices`: sweep() over transfer_prices().
std::string map_page(const MapResult& result, const std::vector<MapSweep>& sweeps, const MapSweep& prices);

/// map.html with its style and scripts, generated from map/page/ and page/ when Baton is built.
std::string_view map_page_template();

}  // namespace baton
