#pragma once
#include <cstdint>
#include <string>

namespace baton::properties {

/// A well-typed program as Relay text and how far its results may be off.
struct QuantizedProgram {
  std::string text;
  /// Quanta that integer arithmetic may be off from the floats; negative: more than can be told, as numbers
  /// may saturate on the way.
  double quanta = -1;
};

/// Regions between qnn.dequantize and qnn.quantize. Scales and zero points are literals, parameters,
/// expressions, shared by several operators, of shape () and (1), or one per channel. Parameters: %q.. are
/// quantised numbers, %s.. scales (positive), %z.. zero points (small), others floats. The same seed gives
/// the same program.
QuantizedProgram random_quantized(uint64_t seed);

}  // namespace baton::properties
