#include <algorithm>

#include "baton/cli/verb.h"
#include "baton/frontend/workloads/networks.h"
#include "baton/support/json.h"

namespace baton::cli {

namespace {

class ModelsVerb final : public Verb {
 public:
  ModelsVerb() : Verb("models", "List the workloads: the names that MODEL may be.") {}

  void flags(Flags& flags) override {
    flags.flag("json", &json_, "one JSON list of {name, doc} on standard output");
  }

  int run(Io& io) override {
    const std::vector<workloads::Workload>& all = workloads::all_workloads();
    if (json_) {
      Json list = Json::array();
      for (const workloads::Workload& each : all) list.push_back({{"name", each.name}, {"doc", each.doc}});
      io.out << list.dump() << '\n';
      return 0;
    }
    size_t width = 0;
    for (const workloads::Workload& each : all) width = std::max(width, std::string(each.name).size());
    for (const workloads::Workload& each : all)
      io.out << each.name << std::string(width + 2 - std::string(each.name).size(), ' ') << each.doc << '\n';
    return 0;
  }

 private:
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Verb> models_verb() { return std::make_unique<ModelsVerb>(); }

}  // namespace baton::cli
