#pragma once

namespace baton::variations {

struct VariationOptions {
  /// Normalisations behind convolutions as what building makes of them, a bias: fused functions without
  /// weights' values can be read off such a program.
  bool folded = false;
};

}  // namespace baton::variations
