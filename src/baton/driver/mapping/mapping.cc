#include "baton/driver/mapping/mapping.h"

#include <algorithm>
#include <cstdio>

#include "baton/codegen/backend.h"
#include "baton/driver/partition_for.h"
#include "baton/driver/pipeline.h"
#include "baton/ir/structural.h"
#include "baton/ir/visit.h"
#include "baton/support/base/files.h"
#include "baton/support/diagnostic.h"
#include "baton/support/error.h"
#include "baton/support/json.h"
#include "baton/text/origin_label.h"
#include "baton/transform/layout/alter_op_layout.h"

namespace baton {

namespace {

constexpr int kMappingSchema = 2;  // 2: variants of layers

[[noreturn]] void refuse_mapping(const std::string& name, const std::string& why) {
  throw Error("mapping " + name + ": " + why);
}

std::string hexadecimal(uint64_t value) {
  char text[20];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(value));
  return text;
}

std::string label_of(const OriginTable& table, uint32_t id) { return origin_label(table.at(OriginId(id))); }

void require_backend(const std::string& backend, const std::string& name, const std::string& label) {
  if (backend.empty() || find_region_backend(backend)) return;
  std::vector<std::string> known;
  for (const BackendRef& each : backends()) known.push_back(each->name);
  const std::string near = did_you_mean(backend, known);
  refuse_mapping(name, label + " is given to `" + backend + "`, and there is no such backend" +
                           (near.empty() ? "" : "; did you mean `" + near + "`?"));
}

void require_variant(const MappedOperator& each, const std::string& host, const std::string& name) {
  if (each.variant.empty()) return;
  if (!parse_variant(each.variant))
    refuse_mapping(name, each.label + " is to be computed in the variant `" + each.variant +
                             "`: there are plain, blocked and winograd");
  if (each.backend != host)
    refuse_mapping(name, each.label + " has a variant, `" + each.variant + "`, but is given to " +
                             each.backend + ": only " + host + " has variants");
}

/// The first id of a call's operators, or of those that it was made for, for which `found` is true.
template <class Found>
std::optional<uint32_t> operator_of(const CallNode& call, const OriginTable& table, Found&& found) {
  for (const auto& origins : {call.origins().origins(), call.origins().causes()})
    for (const Origin* origin : origins)
      if (const auto id = table.find(origin); id && found(index(*id))) return index(*id);
  return std::nullopt;
}

IRModule with_variants(const IRModule& split, const std::vector<LayerVariant>& variant_of,
                       const BuildContext& context) {
  if (!context.passes->pass_enabled(fast_layouts()->info()))
    throw Error(
        "the mapping chooses layouts of layers, and this build changes none: use opt level 3, and let "
        "AlterOpLayout be enabled");
  const OriginTable& table = split->origins();
  return with_layouts_of(
      split,
      [&](const CallNode& call) {
        const auto id = operator_of(call, table, [&](uint32_t each) {
          return each < variant_of.size() && variant_of[each] != LayerVariant::kByCost;
        });
        return id ? variant_of[*id] : LayerVariant::kByCost;
      },
      context);
}

/// Whether the layers of `laid` are computed as `variant_of` says: the mapping has to be what is built.
void require_variants(const IRModule& laid, const Mapping& mapping,
                      const std::vector<LayerVariant>& variant_of) {
  const OriginTable& table = laid->origins();
  post_order(laid->find("main")->body(), [&](const Expr& node) {
    const auto* call = as<CallNode>(node);
    const LayerVariant now = call && call->op() ? variant_of_call(*call) : LayerVariant::kByCost;
    if (now == LayerVariant::kByCost) return;
    const auto id =
        operator_of(*call, table, [&](uint32_t each) { return variant_of[each] != LayerVariant::kByCost; });
    if (id && variant_of[*id] != now)
      throw Error("the mapping asks for " + mapping.operators[*id].label + " in the variant " +
                  variant_name(variant_of[*id]) + ", and it can only be computed in the variant " +
                  variant_name(now) +
                  " (Winograd's algorithm needs kernels of up to 7 taps, strides of 1 and "
                  "16 channels; blocks need channels with divisors)");
  });
}

}  // namespace

uint64_t program_hash(const IRModule& module) {
  const Function main = module->find("main");
  if (!main) throw Error("the program has no function main to map");
  return structural_hash(Expr(main));
}

Json mapping_value(const Mapping& mapping) {
  Json json{{"schema", kMappingSchema},
            {"baton", mapping.version},
            {"model", mapping.model},
            {"program", hexadecimal(mapping.program)},
            {"machine", mapping.machine},
            {"threads", mapping.threads},
            {"opt_level", mapping.opt_level},
            {"host", mapping.host},
            {"modelled_us", mapping.modelled_us},
            {"measured_us", mapping.measured_us},
            {"operators", Json::array()}};
  for (const MappedOperator& each : mapping.operators) {
    Json row{{"id", each.id}, {"operator", each.label}, {"backend", each.backend}};
    if (!each.variant.empty()) row["variant"] = each.variant;
    row["us"] = each.us;
    for (const MappedAlternative& other : each.alternatives) {
      Json there{{"backend", other.backend}};
      if (!other.variant.empty()) there["variant"] = other.variant;
      there["us"] = other.us;
      there["more_us"] = other.more_us;
      there["transfers"] = other.transfers;
      there["transfer_bytes"] = other.transfer_bytes;
      there["transfer_us"] = other.transfer_us;
      there["moves"] = other.moves;
      row["alternatives"].push_back(std::move(there));
    }
    json["operators"].push_back(std::move(row));
  }
  return json;
}

// One operator per line: it is to be edited.
std::string mapping_json(const Mapping& mapping) {
  const Json json = mapping_value(mapping);
  std::string text = "{\n";
  for (const auto& [key, value] : json.items()) {
    if (key == "operators") continue;
    text += "  " + Json(key).dump() + ": " + value.dump() + ",\n";
  }
  text += "  \"operators\": [";
  for (size_t i = 0; i < json["operators"].size(); ++i)
    text += (i ? ",\n    " : "\n    ") + json["operators"][i].dump();
  return text + "\n  ]\n}\n";
}

Mapping mapping_of(const Json& json, const std::string& name) {
  Mapping mapping;
  try {
    if (!json.is_object() || !json.contains("operators") || !json.contains("program"))
      refuse_mapping(name, "this is no mapping: `baton map MODEL -o FILE` writes one");
    if (const int schema = json.at("schema").get<int>(); schema > kMappingSchema)
      refuse_mapping(name, "its schema is " + std::to_string(schema) + ", this Baton reads up to " +
                               std::to_string(kMappingSchema) + ": update Baton");
    mapping.version = json.value("baton", "");
    mapping.model = json.value("model", "");
    const std::string program = json.at("program").get<std::string>();
    size_t used = 0;
    try {
      mapping.program = std::stoull(program, &used, 16);
    } catch (const std::exception&) {
    }
    if (used == 0 || used != program.size())
      refuse_mapping(name, "`program` is `" + program + "`, not a hash in hexadecimal");
    mapping.machine = json.value("machine", "");
    mapping.threads = json.value("threads", 0);
    mapping.opt_level = json.value("opt_level", 3);
    mapping.host = json.value("host", "llvm");
    mapping.modelled_us = json.value("modelled_us", 0.0);
    mapping.measured_us = json.value("measured_us", 0.0);
    for (const Json& each : json.at("operators")) {
      MappedOperator row{.id = each.at("id").get<uint32_t>(),
                         .label = each.at("operator").get<std::string>(),
                         .backend = each.at("backend").get<std::string>(),
                         .variant = each.value("variant", ""),
                         .us = each.value("us", 0.0)};
      for (const Json& other : each.value("alternatives", Json::array()))
        row.alternatives.push_back({.backend = other.at("backend").get<std::string>(),
                                    .variant = other.value("variant", ""),
                                    .us = other.at("us").get<double>(),
                                    .more_us = other.at("more_us").get<double>(),
                                    .transfers = other.value("transfers", 0),
                                    .transfer_bytes = other.value("transfer_bytes", 0.0),
                                    .transfer_us = other.value("transfer_us", 0.0),
                                    .moves = other.value("moves", 0)});
      mapping.operators.push_back(std::move(row));
    }
  } catch (const JsonError& error) {
    refuse_mapping(name, std::string("it is not the JSON of a mapping: ") + error.what());
  }
  std::ranges::sort(mapping.operators, {}, &MappedOperator::id);
  for (uint32_t i = 0; i < mapping.operators.size(); ++i) {
    const MappedOperator& each = mapping.operators[i];
    if (each.id != i)
      refuse_mapping(name, each.id < i ? "operator " + std::to_string(each.id) + " is there twice"
                                       : "operator " + std::to_string(i) + " is missing");
    require_backend(each.backend, name, each.label);
    require_variant(each, mapping.host, name);
  }
  require_backend(mapping.host, name, "what is outside regions");
  return mapping;
}

Mapping load_mapping(const std::string& path) {
  const Result<std::string> text = read_file(path);
  if (!text.ok())
    throw Error("cannot read the mapping " + path + " (" + text.status().message +
                "): `baton map MODEL -o FILE` writes one");
  return mapping_of(Json::parse_or_discard(*text), path);
}

void check_mapping(const Mapping& mapping, const IRModule& module, const std::string& name) {
  const OriginTable& table = module->origins();
  if (mapping.operators.size() != table.size())
    refuse_mapping(name, "it is of another model (" + mapping.model + "): it has " +
                             std::to_string(mapping.operators.size()) + " operators, this program has " +
                             std::to_string(table.size()));
  for (uint32_t id = 0; id < table.size(); ++id)
    if (mapping.operators[id].label != label_of(table, id))
      refuse_mapping(name, "it is of another model (" + mapping.model + "): operator " + std::to_string(id) +
                               " is " + mapping.operators[id].label + " there, and " + label_of(table, id) +
                               " here");
  if (mapping.program != program_hash(module))
    refuse_mapping(name, "it is of another version of " + mapping.model +
                             ": shapes, attributes or connections differ; run `baton map` again");
}

std::vector<std::string> mapping_notes(const Mapping& mapping, const BuildContext& context) {
  std::vector<std::string> notes;
  const std::string& here = context.host().name;
  if (mapping.machine != here)
    notes.push_back("the mapping was found on " + mapping.machine + ", this is " + here +
                    ": another one may be faster here");
  if (const int level = context.passes->opt_level; mapping.opt_level != level)
    notes.push_back("the mapping was found at optimization level " + std::to_string(mapping.opt_level) +
                    ", this is " + std::to_string(level) + ": kernels and their times differ");
  return notes;
}

IRModule apply_mapping(const IRModule& module, const std::vector<std::string>& backend_of,
                       const std::vector<LayerVariant>& variant_of, const std::string& host,
                       const BuildContext& context) {
  const auto laid = [&](const IRModule& split) {
    const bool any =
        std::ranges::any_of(variant_of, [](LayerVariant each) { return each != LayerVariant::kByCost; });
    return any ? with_variants(split, variant_of, context) : split;
  };
  const OriginTable& table = module->origins();
  std::vector<std::string> used;
  for (const std::string& backend : backend_of)
    if (!backend.empty() && backend != host && std::ranges::count(used, backend) == 0)
      used.push_back(backend);
  if (used.empty()) return laid((*make_pass("InferType"))(module, context));
  const MayCompute may = [&](const CallNode& call, const std::string& backend) {
    for (const auto& origins : {call.origins().origins(), call.origins().causes()})
      for (const Origin* origin : origins)
        if (const auto id = table.find(origin); id && index(*id) < backend_of.size())
          if (const std::string& owner = backend_of[index(*id)]; !owner.empty()) return owner == backend;
    return false;
  };
  return laid(partition_among(module, used, may, context));
}

IRModule apply_mapping(const IRModule& module, const Mapping& mapping, const BuildContext& context) {
  std::vector<std::string> backend_of;
  std::vector<LayerVariant> variant_of;
  for (const MappedOperator& each : mapping.operators) {
    backend_of.push_back(each.backend);
    variant_of.push_back(parse_variant(each.variant).value_or(LayerVariant::kByCost));
  }
  const IRModule applied = apply_mapping(module, backend_of, variant_of, mapping.host, context);
  require_variants(applied, mapping, variant_of);
  return applied;
}

}  // namespace baton
