// Follows operators of the source through every pass of a build, to the kernel that computes them.
#include <map>
#include <set>

#include "baton/cli/common.h"
#include "baton/driver/pipeline.h"
#include "baton/driver/plan.h"
#include "baton/pass/pass.h"
#include "baton/pass/trace.h"
#include "baton/support/diagnostic.h"
#include "baton/support/error.h"
#include "baton/text/origin_label.h"

namespace baton::cli {

namespace {

/// Which nodes of the plan compute an operator, and which read a constant that it was folded into.
struct Places {
  std::vector<const PlannedNode*> computed, folded;
};

std::map<const Origin*, Places> places_of(const GraphPlan& plan) {
  std::map<const Origin*, Places> places;
  for (const PlannedNode& node : plan.nodes) {
    if (!node.function) continue;
    for (const Origin* origin : node.origins.origins()) places[origin].computed.push_back(&node);
    for (const int input : node.inputs) {
      const PlannedNode& source = plan.nodes[static_cast<size_t>(input)];
      if (source.function) continue;
      for (const Origin* origin : source.origins.origins()) places[origin].folded.push_back(&node);
    }
  }
  return places;
}

class ExplainVerb final : public Verb {
 public:
  ExplainVerb() : Verb("explain", "Follow an operator through the passes of a build, to the kernel that computes it.") {}

  void flags(CLI::App& app) override {
    flags_.add(app);
    app.add_option("--operator", wanted_,
                   "%12 (as `baton print` numbers it), a line, line:column, a source name or an operator's name; without it "
                   "one line for each operator");
  }

  int run(Io& io) override {
    const LoadedModel model = load_model(flags_.model);
    const auto trace = std::make_shared<PassTrace>();
    auto context = std::make_shared<PassContext>();
    context->opt_level = flags_.opt_level;
    context->instruments = {trace};
    IRModule module = bind_params(model.module, load_params(model, flags_.params, flags_.inputs));
    const std::vector<const Origin*> origins = find(model);
    {
      const PassContextScope scope(context);
      module = optimize(module);
    }
    const GraphPlan plan = make_plan(module);
    const std::map<const Origin*, Places> places = places_of(plan);
    for (const Origin* origin : origins) {
      const auto at = places.find(origin);
      const Places none;
      const std::string end = end_of(*origin, at == places.end() ? none : at->second, module->origins());
      if (wanted_.empty()) {
        io.out << origin_label(*origin) << ": " << end << "\n";
        continue;
      }
      const Span& span = origin->span();
      io.out << origin_label(*origin) << ", line " << span.line << "\n";
      if (span.source) io.out << "  " << trimmed(span.source->line(span.line)) << "\n";
      for (const PassStep& step : trace->steps()) {
        for (const OriginChange& change : step.changes)
          if (concerns(change, origin)) io.out << "  " << step.pass << "\n    " << change_text(change) << "\n";
      }
      io.out << "  in the end " << end << "\n";
    }
    return 0;
  }

 private:
  std::vector<const Origin*> find(const LoadedModel& model) const {
    std::vector<const Origin*> found;
    const OriginTable& table = model.module->origins();
    std::vector<std::string> names;
    for (uint32_t i = 0; i < table.size(); ++i) {
      const Origin& origin = table.at(OriginId(i));
      if (wanted_.empty() || means_origin(wanted_, origin)) found.push_back(&origin);
      names.push_back(origin_name(origin));
      names.push_back(origin.op());
    }
    if (found.empty() && !wanted_.empty()) {
      const std::string near = did_you_mean(wanted_, names);
      throw UsageError("no operator of " + model.name + " is called `" + wanted_ + "`" +
                       (near.empty() ? "" : "; did you mean `" + near + "`?") +
                       "\n  `baton print` shows the names (%12), `baton explain` without --operator lists all");
    }
    return found;
  }

  static bool concerns(const OriginChange& change, const Origin* origin) {
    for (const auto& each : change.origins)
      if (each.get() == origin) return true;
    return false;
  }

  static std::string trimmed(std::string_view line) {
    constexpr size_t kShown = 160;
    while (!line.empty() && line.front() == ' ') line.remove_prefix(1);
    return std::string(line.substr(0, kShown)) + (line.size() > kShown ? " ..." : "");
  }

  static std::string names_of(const std::vector<const PlannedNode*>& nodes) {
    std::string text;
    std::set<std::string> seen;
    for (const PlannedNode* node : nodes)
      if (seen.insert(node->name).second) text += (text.empty() ? "" : ", ") + node->name;
    return text;
  }

  static std::string end_of(const Origin& origin, const Places& places, const OriginTable& table) {
    std::string text;
    const auto add = [&](const std::string& part) { text += (text.empty() ? "" : "; ") + part; };
    if (!places.computed.empty()) add("computed by " + names_of(places.computed));
    if (!places.folded.empty()) add("folded into a constant of " + names_of(places.folded));
    const auto id = table.find(&origin);
    if (const Retired* retired = id ? table.retired(*id) : nullptr) add("retired by " + retired->pass + ": " + retired->reason);
    return text.empty() ? "part of the result only" : text;
  }

  ModelFlags flags_;
  std::string wanted_;
};

}  // namespace

std::unique_ptr<Verb> explain_verb() { return std::make_unique<ExplainVerb>(); }

}  // namespace baton::cli
