#pragma once
// Models that `profile` and `explain --bytecode` run on the virtual machine, at one or several shapes of
// their inputs.
#include <functional>
#include <memory>
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

/// A model that is built for the machine, or the program of a file, and what it is run on.
class ProfiledProgram {
 public:
  /// `built`: with a program, from build_model().
  ProfiledProgram(BuiltModel built, const ModelFlags& flags, const ProgramFlags& program);
  /// Builds it, with all shapes open; or loads it from an artifact.
  static ProfiledProgram open(const ModelFlags& flags, const ProgramFlags& program, Io& io);

  /// Null: it is from a file.
  const BuiltModel* built() const { return built_.get(); }
  const ProgramSource& source() const { return source_; }
  /// One without a name where no shape is a range.
  const std::vector<ShapePoint>& points() const { return points_; }
  /// Values for the inputs at a point.
  ProgramCall call_at(const ShapePoint& point, int threads, Io& io) const;

 private:
  ProfiledProgram(std::unique_ptr<const BuiltModel> built, ProgramSource source, ModelFlags flags,
                  const ProgramFlags& program);

  std::unique_ptr<const BuiltModel> built_;  // the source refers to it
  std::shared_ptr<const Artifact> file_;     // null: it is built
  ProgramSource source_;
  ModelFlags flags_;
  GivenInputs given_;
  std::vector<ShapePoint> points_;
};

}  // namespace baton::cli
