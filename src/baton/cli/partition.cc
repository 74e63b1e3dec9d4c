// Annotates a part of a model for an external compiler, before optimization.
#include <map>

#include "baton/cli/selection.h"
#include "baton/driver/case_file.h"
#include "baton/driver/cut/cut_text.h"
#include "baton/driver/cut/mark_region.h"
#include "baton/driver/initialize.h"
#include "baton/driver/mapping/mapping.h"
#include "baton/ir/inspect.h"
#include "baton/pass/origin_verifier.h"
#include "baton/pass/pass.h"
#include "baton/support/error.h"
#include "baton/support/json.h"

namespace baton::cli {

namespace {

class PartitionVerb final : public Verb {
 public:
  PartitionVerb()
      : Verb("partition", "Mark operators of a model for another compiler (BYOC), before optimisation.") {}

  void flags(Flags& flags) override {
    flags_.add(flags);
    selection_.add(flags);
    flags.option("compiler", &compiler_, "who builds the region: relay.ext.NAME");
    flags.option("mapping", &mapping_,
                 "a file of `baton map -o`, perhaps edited: regions as it says, instead of --compiler and a "
                 "selection; weights become constants");
    flags.flag("partitioned", &partitioned_,
               "cut the region out as a function: MergeCompilerRegions, PartitionGraph");
    flags.option("o,output", &output_, "write the module to this .relay file instead of standard output");
    flags.flag("json", &json_,
               "what was marked, as JSON on standard output; the module is in it unless it goes to a file");
  }

  int run(Io& io) override {
    if (!mapping_.empty()) return by_mapping(io);
    if (compiler_.empty()) throw UsageError("--compiler is required, or --mapping");
    const BuildContext context = flags_.context();
    context.passes->instruments = {std::make_shared<OriginVerifier>()};
    const CutModel model = load_for_cut(flags_);
    CutProgram& program = *model.program;
    const std::vector<int> nodes = program.nodes(selection_.selection);
    const CutChoice choice = program.choose(selection_.selection);
    MarkedModule marked;
    {
      const InstrumentScope scope(context.passes);
      marked = mark_region(program.graph(), choice, compiler_, context);
      if (partitioned_) marked.module = partition_marked(marked.module, context);
    }
    const std::string text = readable_text(*marked.module);
    if (!output_.empty()) write_text_file(output_, text);
    if (json_) {
      Json summary{
          {"schema", 1}, {"model", model.model.name}, {"compiler", compiler_}, {"partitioned", partitioned_}};
      if (output_.empty())
        summary["text"] = text;
      else
        summary["module"] = output_;
      const OriginTable& table = model.model.module->origins();
      summary["nodes"] = nodes;
      summary["operators"] = operators_json(table, marked.operators);
      summary["left_out"] = operators_json(table, marked.left_out);
      io.out << summary.dump() << '\n';
      return 0;
    }
    // The annotated operators are listed separately from the module's text.
    std::ostream& told = output_.empty() ? io.err : io.out;
    if (!output_.empty()) told << output_ << ": ";
    told << marked.operators.size() << " operator" << (marked.operators.size() == 1 ? "" : "s") << " of "
         << model.model.name << " for `" << compiler_ << "`\n"
         << operator_lines(marked.operators);
    if (!marked.left_out.empty()) told << "left out\n" << operator_lines(marked.left_out);
    if (output_.empty()) io.out << text;
    return 0;
  }

 private:
  int by_mapping(Io& io) {
    if (!compiler_.empty() || selection_.any())
      throw UsageError("--mapping says what goes where: leave --compiler and the selection out");
    initialize();
    const BuildContext context = flags_.context();
    context.passes->instruments = {std::make_shared<OriginVerifier>()};
    const Mapping mapping = load_mapping(mapping_);
    const LoadedModel model = load_model(flags_.model, flags_.shapes);
    check_mapping(mapping, model.module, mapping_);
    for (const std::string& note : mapping_notes(mapping, context)) io.err << "note: " << note << '\n';
    IRModule split = bind_params(model.module, load_params(model, flags_.params, flags_.inputs));
    {
      const InstrumentScope scope(context.passes);
      split = apply_mapping(split, mapping, context);
    }
    const std::string text = readable_text(*split);
    if (!output_.empty()) write_text_file(output_, text);
    std::map<std::string, int> operators, regions;
    for (const MappedOperator& each : mapping.operators)
      if (!each.backend.empty()) ++operators[each.backend];
    for (const auto& [name, function] : split->functions())
      if (function->attr("Compiler")) ++regions[text_attr(*function, "Compiler")];
    if (json_) {
      Json summary{{"schema", 1}, {"model", model.name}, {"mapping", mapping_}};
      if (output_.empty())
        summary["text"] = text;
      else
        summary["module"] = output_;
      summary["operators"] = operators;
      summary["regions"] = regions;
      io.out << summary.dump() << '\n';
      return 0;
    }
    std::ostream& told = output_.empty() ? io.err : io.out;
    if (!output_.empty()) told << output_ << ":\n";
    for (const auto& [backend, count] : operators)
      told << "  " << backend << ": " << count << " operators" << (regions.count(backend) ? " in " : "")
           << (regions.count(backend) ? std::to_string(regions[backend]) + " regions" : "") << '\n';
    if (output_.empty()) io.out << text;
    return 0;
  }

  ModelFlags flags_;
  SelectionFlags selection_;
  std::string compiler_, mapping_, output_;
  bool partitioned_ = false, json_ = false;
};

}  // namespace

std::unique_ptr<Verb> partition_verb() { return std::make_unique<PartitionVerb>(); }

}  // namespace baton::cli
