#include "baton/cli/profile_program.h"

#include "baton/cli/run/program_arguments.h"
#include "baton/cli/run/run_program.h"
#include "baton/driver/vm/build_program.h"
#include "baton/support/error.h"
#include "baton/transform/freeze_shapes.h"

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

bool ProgramFlags::is_program(const ModelFlags& model) const {
  const bool ranges = has_ranges(model.shapes);
  if (executor == "graph" && ranges)
    throw UsageError(
        "--executor graph takes constant shapes, and --shape has a range: leave one of them out");
  if (executor == "graph" || model.model.ends_with(".baton")) return false;
  return executor == "vm" || ranges || needs_program(model);
}

ProfiledProgram::ProfiledProgram(const ModelFlags& flags, const ProgramFlags& program, Io& io)
    : flags_(flags), given_(read_given_inputs(program.inputs)), points_(shape_points(flags.shapes)) {
  ModelFlags open = flags;
  open.shapes.clear();  // one build for all shapes
  built_ = build_model(open, io, nullptr, build_program, /*programs=*/true);
  const Function main = built_.model.module->find("main");
  check_names(given_.arrays, given_.path, main->params());
  if (points_.size() == 1 && !has_ranges(flags.shapes)) points_.front().name.clear();
}

ProgramCall ProfiledProgram::call_at(const ShapePoint& point, int threads, Io& io) const {
  std::vector<GivenShape> shapes;
  for (const std::string& shape : point.shapes) shapes.push_back(parse_given_shape(shape));
  IRModule module = built_.model.module;
  if (!shapes.empty()) module = freeze_shapes(module->copy(), shapes);
  std::vector<Var> left;  // weights are constants of the program
  for (const Var& param : module->find("main")->params())
    if (!find_array(built_.params, param->name())) left.push_back(param);
  return {"main",
          program_arguments(left, given_, {}, "", program_inputs(flags_, module->find("main")->params()), io),
          threads};
}

}  // namespace baton::cli
