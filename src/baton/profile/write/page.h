#pragma once
// A report as one HTML file that needs nothing else: graph, tables, roofline and treemap, linked with each
// other.
#include <string>
#include <string_view>

#include "baton/profile/report/rows.h"

namespace baton {

/// The whole file. Whatever the report lacks (no split, no peaks, no build without fusion) the page leaves
/// out.
std::string page(const ProfileReport& report);

/// The difference of two profiles of one model: operators joined by id, name and line, kernels by their
/// operators. `before` gives the old times, `after` the new ones and everything that is drawn.
std::string page(const ProfileReport& before, const ProfileReport& after);

/// page.html with its style and scripts, made from profile/page/ when Baton is built. `@title@` and `@data@`
/// stand for what page() puts in.
std::string_view page_template();

}  // namespace baton
