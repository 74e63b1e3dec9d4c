#pragma once
// For tests only: breaks the handling of origins, to see that the verifier notices.
#include <functional>

#include "baton/ir/origin.h"

namespace baton {

/// While it lives, nodes that this thread makes get `replace(origins)` for their origins, and retire() does
/// nothing when it is to be silenced. One at a time.
class OriginFault {
 public:
  using Replace = std::function<OriginSet(const OriginSet&)>;
  explicit OriginFault(Replace replace, bool silence_retire = false);
  ~OriginFault();
  OriginFault(const OriginFault&) = delete;
  OriginFault& operator=(const OriginFault&) = delete;

  static const OriginFault* current();
  OriginSet replace(const OriginSet& origins) const { return replace_ ? replace_(origins) : origins; }
  bool silences_retire() const { return silence_retire_; }

 private:
  Replace replace_;
  bool silence_retire_;
};

}  // namespace baton
