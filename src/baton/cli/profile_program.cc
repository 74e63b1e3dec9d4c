#include "baton/cli/profile_program.h"

#include "baton/cli/run/program_arguments.h"
#include "baton/driver/vm/build_program.h"
#include "baton/support/error.h"

namespace baton::cli {

void ProgramFlags::add(Flags& flags) {
  flags.option("inputs", &inputs,
               "values of inputs from an .npz, for programs of the virtual machine; the others by the tensor "
               "rule (docs/guide.md)");
  flags
      .option("executor", &executor,
              "graph: straight-line models of constant shapes; vm: one build for all shapes, and control "
              "flow; auto: graph, and vm for what it does not take, or for a --shape with a range: "
              "n=1:512:x2, n=16:64:16")
      .choices({"auto", "graph", "vm"})
      .show_default();
}

bool ProgramFlags::leaves_shapes_open(const ModelFlags& model) const {
  const bool ranges = has_ranges(model.shapes);
  if (executor == "graph" && ranges)
    throw UsageError(
        "--executor graph takes constant shapes, and --shape has a range: leave one of them out");
  return executor == "vm" || ranges;
}

ProfiledProgram::ProfiledProgram(std::unique_ptr<const BuiltModel> built, ProgramSource source,
                                 ModelFlags flags, const ProgramFlags& program)
    : built_(std::move(built)),
      source_(std::move(source)),
      flags_(std::move(flags)),
      given_(read_given_inputs(program.inputs)),
      points_(shape_points(flags_.shapes)) {
  if (built_) check_names(given_.arrays, given_.path, built_->model.module->find("main")->params());
  if (!has_ranges(flags_.shapes)) points_.front().name.clear();
}

namespace {

std::unique_ptr<const BuiltModel> kept(BuiltModel built) {
  return std::make_unique<const BuiltModel>(std::move(built));
}

}  // namespace

ProfiledProgram::ProfiledProgram(BuiltModel built, const ModelFlags& flags, const ProgramFlags& program)
    : ProfiledProgram(kept(std::move(built)), {}, flags, program) {
  source_ = program_source(built_->build);
}

ProfiledProgram ProfiledProgram::open(const ModelFlags& flags, const ProgramFlags& program, Io& io) {
  if (flags.model.ends_with(".baton")) {
    refuse_build_options(io, flags.model + " is an artifact, which `baton build` made; build the model again",
                         /*shapes=*/false);
    const std::shared_ptr<const Artifact> file = require(Artifact::open(flags.model, !flags.no_verify));
    ProfiledProgram opened(nullptr, program_source(file, flags.model), flags, program);
    opened.file_ = file;
    return opened;
  }
  ModelFlags open = flags;
  open.shapes.clear();
  return {build_model(open, io, nullptr, build_program, /*programs=*/true), flags, program};
}

ProgramCall ProfiledProgram::call_at(const ShapePoint& point, int threads, Io& io) const {
  if (built_) return {"main", arguments_of(*built_, flags_, given_, point.shapes, io), threads};
  return {"main", file_arguments(*source_.program, *file_, flags_.model, given_, point.shapes), threads};
}

}  // namespace baton::cli
