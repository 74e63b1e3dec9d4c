#include "baton/profile/report/diff.h"
#include "baton/profile/views/module_tree.h"
#include "baton/support/json.h"

namespace baton {
namespace {

constexpr int kDiffSchema = 1;

Json json_of(const Compared& us) {
  return {{"a", us.a},
          {"b", us.b},
          {"delta", us.delta()},
          {"ratio", us.a > 0 && us.b > 0 ? Json(us.b / us.a) : Json(nullptr)},
          {"interval", us.interval ? Json(*us.interval) : Json(nullptr)},
          {"differs", us.interval ? Json(us.differs()) : Json(nullptr)}};
}

// Sums have no interval of their own.
Json sum_of(const Compared& us) { return {{"a", us.a}, {"b", us.b}, {"delta", us.delta()}}; }

Json json_of(const DiffSide& side) {
  return {{"label", side.label},
          {"model", side.model},
          {"target", side.target},
          {"threads", side.threads},
          {"opt_level", side.opt_level < 0 ? Json(nullptr) : Json(side.opt_level)},
          {"precision", side.precision.empty() ? Json(nullptr) : Json(side.precision)},
          {"version", side.version},
          {"cv", side.cv},
          {"load", side.load}};
}

Json json_of(const DiffPlace& place) {
  return {{"kernels", place.nodes},
          {"by", place.has_kernel ? Json(portion_name(place.by)) : Json(nullptr)},
          {"instead", place.instead.empty() ? Json(nullptr) : Json(place.instead)}};
}

}  // namespace

Json to_json(const ProfileDiff& diff, const ProfileReport& a, const ProfileReport& b) {
  Json json{{"schema", kDiffSchema},
            {"a", json_of(diff.a)},
            {"b", json_of(diff.b)},
            {"paired", diff.paired},
            {"end_to_end_us", json_of(diff.end_to_end_us)},
            {"sum_us", json_of(diff.sum_us)},
            {"operators_us", sum_of(diff.operators_us)},
            {"rest_us", sum_of(diff.rest_us)},
            {"own_us", sum_of(diff.own_us)},
            {"notes", diff.notes},
            {"operators", Json::array()},
            {"modules", Json::array()},
            {"groups", Json::array()},
            {"own", Json::array()}};
  for (const DiffOperator& row : diff.operators)
    json["operators"].push_back({{"id", row.id},
                                 {"op", row.op},
                                 {"line", row.line},
                                 {"source", row.source.empty() ? Json(nullptr) : Json(row.source)},
                                 {"module", row.module.empty() ? Json(nullptr) : Json(row.module)},
                                 {"us", json_of(row.us)},
                                 {"a", json_of(row.a)},
                                 {"b", json_of(row.b)},
                                 {"only_a", row.only_a},
                                 {"only_b", row.only_b}});
  for (const ModulePair& row : module_pairs(a, b))
    json["modules"].push_back({{"module", row.path}, {"us", sum_of({row.a_us, row.b_us, {}})}});
  for (const DiffGroup& row : diff.groups)
    json["groups"].push_back({{"operators", row.operators},
                              {"a", row.a_nodes},
                              {"b", row.b_nodes},
                              {"us", json_of(row.us)},
                              {"rest_us", sum_of(row.rest)}});
  for (const DiffOwn& row : diff.own)
    json["own"].push_back({{"made_for", row.made_for},
                           {"reason", row.reason},
                           {"a", row.a_nodes},
                           {"b", row.b_nodes},
                           {"us", json_of(row.us)}});
  return json;
}

}  // namespace baton
