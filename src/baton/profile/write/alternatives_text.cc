#include "baton/profile/write/alternatives_text.h"

#include "baton/profile/report/report_text.h"
#include "baton/profile/write/table_format.h"

namespace baton {

namespace {

/// " (2 transfers more, of 1.2 MB, 30.0 us; 3 operators move with it)".
std::string beside_text(const MappedAlternative& other) {
  std::string text;
  if (other.transfers > 0)
    text += std::to_string(other.transfers) + (other.transfers == 1 ? " transfer" : " transfers") +
            " more, of " + bytes_text(other.transfer_bytes) + ", " + us_with_unit(other.transfer_us);
  if (other.moves > 0)
    text += (text.empty() ? "" : "; ") + std::to_string(other.moves) +
            (other.moves == 1 ? " operator moves" : " operators move") + " with it";
  return text.empty() ? "" : " (" + text + ")";
}

}  // namespace

std::string alternatives_text(const MappedOperator& mapped) {
  if (mapped.backend.empty()) return mapped.label + "\n  no kernel computes it: it was folded or dropped\n";
  const auto place = [](const std::string& backend, const std::string& variant) {
    return variant.empty() ? backend : backend + ", " + variant;
  };
  std::string text = mapped.label + "\n  on " + place(mapped.backend, mapped.variant);
  if (mapped.us > 0) text += ", where it takes " + us_with_unit(mapped.us) + " of its kernel";
  text += "\n";
  bool any = false;
  for (const MappedAlternative& other : mapped.alternatives) {
    if (other.backend == mapped.backend && (other.variant == mapped.variant || other.more_us <= 0)) continue;
    any = true;
    text += "  on " + place(other.backend, other.variant) + " its kernel would take " +
            us_with_unit(other.us) + ", and the whole model ";
    if (other.more_us <= 0) {
      text += "no longer: it could as well be there\n";
      continue;
    }
    text +=
        us_with_unit(other.more_us) + " more, with the copies and what else would move" + beside_text(other);
    text += other.us > other.more_us
                ? ": it would go there if that kernel took " + us_with_unit(other.us - other.more_us) + "\n"
                : ": no kernel is fast enough there, the copies cost more\n";
  }
  if (!any) text += "  no other backend is known to take it\n";
  return text;
}

}  // namespace baton
