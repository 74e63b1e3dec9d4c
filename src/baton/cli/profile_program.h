#pragma once
// Models that `profile` and `explain --bytecode` run on the virtual machine, at one or several shapes of
// their inputs.
#include <functional>
#include <string>
#include <vector>

#include "baton/cli/common.h"
#include "baton/driver/shape_points.h"
#include "baton/profile/report/program_times.h"

namespace baton::cli {

struct ProgramFlags {
  std::string inputs, executor = "auto";

  void add(Flags& flags);
  /// Whether one build is for all shapes: because it is told so, or because of a range. Throws UsageError for
  /// what contradicts.
  bool leaves_shapes_open(const ModelFlags& model) const;
};

/// A model that is built for the machine, and what it is run on.
class ProfiledProgram {
 public:
  /// `built`: with a program, from build_model().
  ProfiledProgram(BuiltModel built, ModelFlags flags, const ProgramFlags& program);
  /// Builds it, with all shapes open.
  static ProfiledProgram open(const ModelFlags& flags, const ProgramFlags& program, Io& io);

  const BuiltModel& built() const { return built_; }
  /// One without a name where no shape is a range.
  const std::vector<ShapePoint>& points() const { return points_; }
  /// Values for the inputs at a point.
  ProgramCall call_at(const ShapePoint& point, int threads, Io& io) const;

 private:
  BuiltModel built_;
  ModelFlags flags_;
  GivenInputs given_;
  std::vector<ShapePoint> points_;
};

}  // namespace baton::cli
