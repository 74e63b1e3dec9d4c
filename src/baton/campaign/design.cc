#include "baton/campaign/design.h"

#include <algorithm>
#include <sstream>

#include "baton/frontend/variations/variations.h"
#include "baton/support/diagnostic.h"
#include "baton/support/error.h"
#include "baton/support/json.h"

namespace baton {

namespace {

/// Reads the fields of an object; whatever nobody asked for is an error.
class Fields {
 public:
  Fields(const Json& json, std::string where) : json_(json), where_(std::move(where)) {
    if (!json.is_object()) throw UsageError("design: " + where_ + " is no JSON object");
  }

  template <class T>
  void read(const char* name, T& value) {
    known_.push_back(name);
    const auto at = json_.find(name);
    if (at == json_.end()) return;
    try {
      value = at->template get<T>();
    } catch (const JsonError&) {
      throw UsageError("design: \"" + std::string(name) + "\" in " + where_ + " is " + at->dump() +
                       ", which is of another type than expected");
    }
  }
  const Json* child(const char* name) {
    known_.push_back(name);
    const auto at = json_.find(name);
    return at == json_.end() ? nullptr : &*at;
  }
  void finish() const {
    for (const auto& [name, value] : json_.items()) {
      if (std::ranges::find(known_, name) != known_.end()) continue;
      const std::string near = did_you_mean(name, known_);
      throw UsageError("design: there is no \"" + name + "\" in " + where_ +
                       (near.empty() ? "" : "; did you mean \"" + near + "\"?"));
    }
  }

 private:
  const Json& json_;
  std::string where_;
  std::vector<std::string> known_;
};

CacheState cache_of(const std::string& name) {
  const std::optional<CacheState> state = cache_state_named(name);
  if (!state || *state == CacheState::kInModel)
    throw UsageError("design: the state of caches \"" + name + "\" is neither hot nor flushed");
  return *state;
}

std::string known_families() {
  std::string list;
  for (const variations::Family& family : variations::families())
    list += (list.empty() ? "" : ", ") + std::string(family.name);
  return list;
}

FamilyDesign family_of(const std::string& name, int count) {
  if (!variations::find_family(name)) {
    std::vector<std::string> names;
    for (const variations::Family& family : variations::families()) names.emplace_back(family.name);
    const std::string near = did_you_mean(name, names);
    throw UsageError("there is no family \"" + name + "\"" +
                     (near.empty() ? "" : "; did you mean \"" + near + "\"?") + "\n  there are " +
                     known_families());
  }
  return {name, count, 0};
}

}  // namespace

std::vector<FamilyDesign> families_named(const std::string& list, int count) {
  std::vector<FamilyDesign> families;
  std::istringstream words(list);
  for (std::string name; std::getline(words, name, ',');) {
    if (name == "all") {
      for (const variations::Family& family : variations::families())
        families.push_back({family.name, count, 0});
    } else {
      families.push_back(family_of(name, count));
    }
  }
  return families;
}

Design design_from_json(const Json& json) {
  if (json.is_discarded()) throw UsageError("design: this is no JSON");
  Design design;
  Fields fields(json, "the design");
  fields.read("models", design.models);
  if (const Json* families = fields.child("families")) {
    if (!families->is_array()) throw UsageError("design: \"families\" is no list");
    for (const Json& each : *families) {
      if (each.is_string()) {
        for (FamilyDesign& family : families_named(each.get<std::string>(), FamilyDesign().count))
          design.families.push_back(std::move(family));
        continue;
      }
      FamilyDesign family;
      Fields own(each, "a family");
      own.read("family", family.family);
      own.read("count", family.count);
      own.read("first", family.first);
      own.finish();
      for (FamilyDesign& named : families_named(family.family, family.count)) {
        named.first = family.first;
        design.families.push_back(std::move(named));
      }
    }
  }
  fields.read("patterns", design.patterns);
  fields.read("transfer_bytes", design.transfer_bytes);
  fields.read("backends", design.backends);
  fields.read("threads", design.threads);
  fields.read("opt_level", design.opt_level);
  std::vector<std::string> caches;
  fields.read("caches", caches);
  if (!caches.empty()) design.caches.clear();
  for (const std::string& name : caches) design.caches.push_back(cache_of(name));
  fields.read("inside", design.inside);
  fields.read("seed", design.seed);
  fields.read("visits", design.visits);
  fields.read("uncertainty", design.uncertainty);
  if (const Json* json = fields.child("protocol")) {
    Fields own(*json, "\"protocol\"");
    own.read("min_samples", design.protocol.min_samples);
    own.read("cv", design.protocol.cv);
    own.read("max_seconds", design.protocol.max_seconds);
    own.read("warm_up_s", design.protocol.warm_up_s);
    own.read("time_limit_s", design.protocol.time_limit_s);
    own.finish();
  }
  fields.finish();
  return design;
}

Json design_json(const Design& design) {
  Json families = Json::array(), caches = Json::array();
  for (const FamilyDesign& each : design.families)
    families.push_back({{"family", each.family}, {"count", each.count}, {"first", each.first}});
  for (const CacheState cache : design.caches) caches.push_back(std::string(cache_state_name(cache)));
  const Protocol& protocol = design.protocol;
  return Json{{"models", design.models},
              {"families", families},
              {"patterns", design.patterns},
              {"transfer_bytes", design.transfer_bytes},
              {"backends", design.backends},
              {"threads", design.threads},
              {"opt_level", design.opt_level},
              {"caches", caches},
              {"inside", design.inside},
              {"seed", design.seed},
              {"visits", design.visits},
              {"uncertainty", design.uncertainty},
              {"protocol",
               {{"min_samples", protocol.min_samples},
                {"cv", protocol.cv},
                {"max_seconds", protocol.max_seconds},
                {"warm_up_s", protocol.warm_up_s},
                {"time_limit_s", protocol.time_limit_s}}}};
}

void check_design(const Design& design) {
  const auto require = [](bool holds, const std::string& what) {
    if (!holds) throw UsageError("design: " + what);
  };
  require(!design.models.empty() || !design.families.empty() || design.patterns > 0 ||
              !design.transfer_bytes.empty(),
          "there is nothing to measure: give models, --families, --patterns or a --design");
  require(design.patterns >= 0 && design.patterns <= 1000000, "patterns must be 0 to 1000000");
  require(!design.backends.empty(), "there is no backend");
  require(!design.threads.empty(), "there is no number of threads");
  require(!design.caches.empty(), "there is no state of caches");
  for (const int threads : design.threads)
    require(threads >= 1 && threads <= 256, "threads must be 1 to 256, not " + std::to_string(threads));
  require(design.opt_level >= 0 && design.opt_level <= 4, "opt_level must be 0 to 4");
  for (const FamilyDesign& each : design.families)
    require(each.count >= 0 && each.count <= 100000 && each.first >= 0,
            "variations of " + each.family + " must be 0 to 100000, from a number >= 0");
  for (const int64_t bytes : design.transfer_bytes)
    require(bytes >= 4 && bytes <= int64_t{1} << 32, "bytes of a transfer must be 4 to 4294967296");
  for (const auto& [op, weight] : design.uncertainty)
    require(weight >= 0 && weight <= 1e6, "the uncertainty of " + op + " must be 0 to 1000000");
  const Protocol& protocol = design.protocol;
  require(protocol.min_samples >= 1 && protocol.min_samples <= 10000, "min_samples must be 1 to 10000");
  require(protocol.cv > 0 && protocol.max_seconds > 0 && protocol.time_limit_s > 0 && protocol.warm_up_s >= 0,
          "cv, max_seconds and time_limit_s must be positive");
  require(design.visits >= 1 && design.visits <= 10, "visits must be 1 to 10");
}

}  // namespace baton
