#pragma once
// A report as one self-contained HTML file: graph, tables, roofline and treemap, linked with each other.
#include <string>
#include <string_view>

#include "baton/profile/report/diff.h"
#include "baton/profile/report/rows.h"

namespace baton {

/// The whole file. Sections without data (no split, no peaks, no unfused build) are omitted.
std::string page(const ProfileReport& report);

/// The difference of two profiles of one model: operators are joined by id, name and line, kernels by their
/// operators. `before` gives the old times, `after` the new ones and all other data. Faster and slower is
/// what `difference` says. Without one the profiles were measured apart; of two models nothing is said but
/// what the intervals of both do.
std::string page(const ProfileReport& before, const ProfileReport& after, const ProfileDiff& difference);
std::string page(const ProfileReport& before, const ProfileReport& after);

/// page.html with its style and scripts, generated from profile/page/ and page/ when Baton is built. page()
/// replaces `@title@` and `@data@`.
std::string_view page_template();

}  // namespace baton
