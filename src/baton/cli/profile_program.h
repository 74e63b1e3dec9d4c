#pragma once
// `baton profile` of programs of the virtual machine, at one or several shapes of their inputs.
#include <string>
#include <vector>

#include "baton/cli/common.h"
#include "baton/driver/shape_points.h"
#include "baton/profile/report/program_times.h"

namespace baton::cli {

struct ProgramFlags {
  std::string inputs, executor = "auto";

  void add(Flags& flags);
  /// Whether the model is measured on the machine: because it is told so, has ranges in its shapes, or is no
  /// plan. Throws UsageError for what contradicts.
  bool is_program(const ModelFlags& model) const;
};

/// A model built once, with the extents open that differ between the points of its shapes.
class ProfiledProgram {
 public:
  ProfiledProgram(const ModelFlags& flags, const ProgramFlags& program, Io& io);

  const BuiltModel& built() const { return built_; }
  /// One without a name where no shape is a range.
  const std::vector<ShapePoint>& points() const { return points_; }
  /// Values for the inputs at a point.
  ProgramCall call_at(const ShapePoint& point, int threads, Io& io) const;

 private:
  ModelFlags flags_;
  GivenInputs given_;
  std::vector<ShapePoint> points_;
  BuiltModel built_;
};

}  // namespace baton::cli
