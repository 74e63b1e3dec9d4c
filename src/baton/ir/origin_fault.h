#pragma once
// Fault injection for tests of the origin verifier.
#include <functional>

#include "baton/ir/origin.h"

namespace baton {

/// RAII: nodes built by this thread get origins `replace(origins)`; optionally retire() does nothing. At most
/// one at a time.
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
