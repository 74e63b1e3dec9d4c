#pragma once
// Tiles along symbolic extents, the last of which is shorter. For .cc files of schedule and codegen only
// (needs Halide.h).
#include <string>
#include <vector>

#include <Halide.h>

namespace baton {

/// The loops over `var` of a Func that is computed in tiles, which have `most` iterations but in the last
/// tile. The schedule leaves them as they are: neither unrolled nor vectorised.
struct OpenTile {
  std::string func, var;
  int most = 1;
};

/// Writes out how such a Func is computed for each number of iterations, so that its values stay in registers
/// in all of them; a custom lowering pass of a Halide pipeline. A kernel then has one schedule for all
/// extents, and computes nothing in vain: tiles that are shifted inwards compute rows twice, and schedules
/// for shorter tiles are lowered each on its own.
class OpenTilesPass final : public Halide::Internal::IRMutator {
 public:
  explicit OpenTilesPass(std::vector<OpenTile> tiles) : tiles_(std::move(tiles)) {}

 private:
  using IRMutator::visit;
  Halide::Internal::Stmt visit(const Halide::Internal::ProducerConsumer* node) override;

  std::vector<OpenTile> tiles_;
};

}  // namespace baton
