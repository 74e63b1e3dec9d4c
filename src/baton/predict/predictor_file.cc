#include "baton/predict/predictor_file.h"

#include <cmath>
#include <cstring>
#include <memory>
#include <optional>

#include <zlib.h>

#include "baton/support/base/checksum.h"
#include "baton/support/base/files.h"
#include "baton/support/error.h"
#include "baton/support/json.h"

namespace baton {

namespace {

constexpr const char* kFileKind = "baton predictor, format ";
constexpr size_t kMostScores = 2000;
constexpr size_t kMostBytes = size_t{1} << 30;  // of a predictor, unpacked

/// Its size in a line, then zlib's bytes.
std::string compressed(const std::string& text) {
  uLongf size = compressBound(text.size());
  std::string packed(size, 0);
  if (compress2(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(text.data()),
                text.size(), Z_BEST_COMPRESSION) != Z_OK)
    throw Error("the predictor cannot be compressed");
  packed.resize(size);
  return std::to_string(text.size()) + '\n' + packed;
}

/// Nullopt when it is damaged.
std::optional<std::string> uncompressed(const std::string& packed) {
  const size_t end = packed.find('\n');
  const size_t size = std::strtoull(packed.c_str(), nullptr, 10);
  if (end == std::string::npos || size > kMostBytes) return {};
  std::string text(size, 0);
  uLongf made = size;
  if (uncompress(reinterpret_cast<Bytef*>(text.data()), &made,
                 reinterpret_cast<const Bytef*>(packed.data() + end + 1), packed.size() - end - 1) != Z_OK ||
      made != size)
    return {};
  return text;
}

/// Evenly thinned; the greatest is kept.
std::vector<double> thinned(const std::vector<double>& sorted) {
  if (sorted.size() <= kMostScores) return sorted;
  std::vector<double> kept;
  for (size_t i = 0; i < kMostScores; ++i)
    kept.push_back(sorted[i * (sorted.size() - 1) / (kMostScores - 1)]);
  return kept;
}

}  // namespace

Json card_json(const ModelCard& card) {
  Json held_out = Json::object();
  for (const auto& [of, errors] : card.held_out)
    held_out[of] = {
        {"count", errors.count}, {"median_error", errors.median}, {"within_10", errors.within_10}};
  return {{"name", card.name},
          {"version", card.version},
          {"date", card.date},
          {"machines", card.machines},
          {"campaigns", card.campaigns},
          {"backends", card.backends},
          {"precisions", card.precisions},
          {"threads", card.threads},
          {"families", card.families},
          {"rows", card.rows},
          {"kernels", card.kernels},
          {"models", card.models},
          {"left_out", card.left_out},
          {"without_clock", card.without_clock},
          {"held_out", held_out},
          {"accuracy", card.accuracy},
          {"carried_from", card.carried_from}};
}

namespace {

ModelCard card_of(const Json& json) {
  ModelCard card;
  json.at("name").get_to(card.name);
  json.at("version").get_to(card.version);
  json.at("date").get_to(card.date);
  json.at("machines").get_to(card.machines);
  json.at("campaigns").get_to(card.campaigns);
  json.at("backends").get_to(card.backends);
  if (json.contains("precisions")) json.at("precisions").get_to(card.precisions);
  json.at("threads").get_to(card.threads);
  json.at("families").get_to(card.families);
  json.at("rows").get_to(card.rows);
  json.at("kernels").get_to(card.kernels);
  json.at("models").get_to(card.models);
  json.at("left_out").get_to(card.left_out);
  card.without_clock = json.value("without_clock", int64_t{0});
  for (const auto& [of, errors] : json.at("held_out").items())
    card.held_out[of] = {errors.at("count").get<int64_t>(), errors.at("median_error").get<double>(),
                         errors.at("within_10").get<double>()};
  card.accuracy = json.at("accuracy");
  json.at("carried_from").get_to(card.carried_from);
  return card;
}

class PredictorWriter {
 public:
  std::string bytes;

  Json write(const Regressor& of) {
    Json json{{"features", of.space.text()},
              {"features_hash", of.space.hash()},
              {"base", {{"terms", base_terms()}, {"factors", of.base.factors}}},
              {"centre", of.centre},
              {"members", of.members.size()},
              {"spreads", of.spreads.size()},
              {"scores", thinned(of.scores)},
              {"trained_on", of.trained_on},
              {"range",
               {{"columns", of.range.columns},
                {"kinds", of.range.kinds},
                {"low", of.range.low},
                {"high", of.range.high},
                {"scale", of.range.scale},
                {"limit", of.range.limit}}}};
    for (const Trees& each : of.members) each.append_to(bytes);
    for (const Trees& each : of.spreads) each.append_to(bytes);
    Json& kinds = json["range"]["neighbours"] = Json::array();
    for (const auto& [kind, values] : of.range.neighbours) {
      kinds.push_back({kind, values.size()});
      // Column by column, whose values repeat.
      for (size_t column = 0; column < of.range.columns.size(); ++column)
        for (size_t i = column; i < values.size(); i += of.range.columns.size()) {
          const auto steps = static_cast<int16_t>(std::lround(values[i] / RangeCheck::kStep));
          bytes.append(reinterpret_cast<const char*>(&steps), sizeof steps);
        }
    }
    Json& limits = json["kinds"] = Json::object();
    for (const auto& [kind, each] : of.kinds)
      limits[kind] = {each.kernels, each.low, each.high, each.fastest};
    json["source"] = of.source ? write(*of.source) : Json(nullptr);
    return json;
  }
};

class PredictorReader {
 public:
  explicit PredictorReader(const std::string& bytes) : bytes_(bytes) {}

  Regressor read(const Json& json) {
    Regressor of;
    of.space = FeatureSpace::from_text(json.at("features").get<std::string>());
    read_base(json.at("base"), of.base);
    json.at("centre").get_to(of.centre);
    const size_t columns = of.space.size();
    for (size_t i = json.at("members").get<size_t>(); i > 0; --i)
      of.members.push_back(Trees::read(bytes_, at_, columns));
    for (size_t i = json.at("spreads").get<size_t>(); i > 0; --i)
      of.spreads.push_back(Trees::read(bytes_, at_, columns));
    json.at("scores").get_to(of.scores);
    json.at("trained_on").get_to(of.trained_on);
    const Json& range = json.at("range");
    range.at("columns").get_to(of.range.columns);
    range.at("kinds").get_to(of.range.kinds);
    range.at("low").get_to(of.range.low);
    range.at("high").get_to(of.range.high);
    range.at("scale").get_to(of.range.scale);
    range.at("limit").get_to(of.range.limit);
    check_range(of.range, columns);
    for (const Json& each : range.at("neighbours")) {
      const auto count = each.at(1).get<size_t>();
      if ((bytes_.size() - at_) / sizeof(int16_t) < count || count % of.range.columns.size())
        throw Error("its training kernels end early");
      std::vector<float>& values = of.range.neighbours[each.at(0).get<uint32_t>()];
      values.resize(count);
      for (size_t column = 0; column < of.range.columns.size(); ++column)
        for (size_t i = column; i < count; i += of.range.columns.size(), at_ += sizeof(int16_t)) {
          int16_t steps = 0;
          std::memcpy(&steps, bytes_.data() + at_, sizeof steps);
          values[i] = steps * RangeCheck::kStep;
        }
    }
    for (const auto& [kind, each] : json.at("kinds").items())
      of.kinds[kind] = {each.at(0).get<int64_t>(), each.at(1).get<double>(), each.at(2).get<double>(),
                        each.at(3).get<double>()};
    if (!json.at("source").is_null()) of.source = std::make_shared<const Regressor>(read(json.at("source")));
    return of;
  }

 private:
  static void read_base(const Json& json, TermBase& base) {
    const std::vector<std::string> terms = base_terms();
    if (json.at("terms").get<std::vector<std::string>>() != terms)
      throw Error("its base has other terms than this version of Baton: train it again with `baton train`");
    json.at("factors").get_to(base.factors);
    for (const auto& [kind, factors] : base.factors)
      if (factors.size() != terms.size()) throw Error("its base of " + kind + " lacks factors");
  }

  static void check_range(const RangeCheck& range, size_t columns) {
    const size_t n = range.columns.size();
    bool fits = n > 0 && range.low.size() == n && range.high.size() == n && range.scale.size() == n;
    for (const std::vector<int>* all : {&range.columns, &range.kinds})
      for (const int each : *all) fits = fits && each >= 0 && static_cast<size_t>(each) < columns;
    if (!fits) throw Error("its ranges of features do not fit");
  }

  const std::string& bytes_;
  size_t at_ = 0;
};

Json total_json(const ModelTotal& of) {
  return {{"scale", of.scale},
          {"per_call_us", of.per_call_us},
          {"once_us", of.once_us},
          {"scores", thinned(of.scores)},
          {"doubts", {thinned(of.range.doubts[0]), thinned(of.range.doubts[1]), thinned(of.range.doubts[2])}},
          {"limit", of.range.limit},
          {"trained_on", of.trained_on}};
}

Json transfer_json(const TransferTime& of) {
  return {{"latency_us", of.latency_us},
          {"us_per_byte", of.us_per_byte},
          {"scores", thinned(of.scores)},
          {"least_bytes", of.least_bytes},
          {"most_bytes", of.most_bytes}};
}

Predictor predictor_of(const Json& json, const std::string& blob) {
  Predictor made;
  made.card = card_of(json.at("card"));
  PredictorReader reader(blob);
  for (const auto& [backend, each] : json.at("kernels").items())
    made.kernels.emplace(backend, reader.read(each));
  for (const auto& [backend, each] : json.at("parts").items()) made.parts.emplace(backend, reader.read(each));
  for (const auto& [backend, each] : json.at("totals").items()) {
    ModelTotal& total = made.totals[backend];
    each.at("scale").get_to(total.scale);
    each.at("per_call_us").get_to(total.per_call_us);
    each.at("once_us").get_to(total.once_us);
    each.at("scores").get_to(total.scores);
    for (size_t i = 0; i < total.range.doubts.size(); ++i)
      each.at("doubts").at(i).get_to(total.range.doubts[i]);
    each.at("limit").get_to(total.range.limit);
    each.at("trained_on").get_to(total.trained_on);
  }
  for (const auto& [link, each] : json.at("transfers").items()) {
    TransferTime& time = made.transfers[link];
    each.at("latency_us").get_to(time.latency_us);
    each.at("us_per_byte").get_to(time.us_per_byte);
    each.at("scores").get_to(time.scores);
    each.at("least_bytes").get_to(time.least_bytes);
    each.at("most_bytes").get_to(time.most_bytes);
  }
  for (const Json& each : json.at("machines")) {
    TrainedMachine& machine = made.machines.emplace_back();
    each.at("name").get_to(machine.name);
    each.at("kernels").get_to(machine.kernels);
    for (const auto& [backend, text] : each.at("sheets").items()) {
      const auto sheet = DeviceSheet::from_text(text.get<std::string>());
      if (!sheet) throw Error("its device sheet of " + backend + " cannot be read");
      machine.sheets.emplace(backend, *sheet);
    }
  }
  return made;
}

}  // namespace

std::string predictor_bytes(const Predictor& predictor) {
  PredictorWriter writer;
  Json json;
  json["card"] = card_json(predictor.card);
  for (const char* name : {"kernels", "parts", "totals", "transfers"}) json[name] = Json::object();
  for (const auto& [backend, each] : predictor.kernels) json["kernels"][backend] = writer.write(each);
  for (const auto& [backend, each] : predictor.parts) json["parts"][backend] = writer.write(each);
  for (const auto& [backend, each] : predictor.totals) json["totals"][backend] = total_json(each);
  for (const auto& [link, each] : predictor.transfers) json["transfers"][link] = transfer_json(each);
  Json& machines = json["machines"] = Json::array();
  for (const TrainedMachine& machine : predictor.machines) {
    Json sheets = Json::object();
    for (const auto& [backend, sheet] : machine.sheets) sheets[backend] = sheet.text();
    machines.push_back({{"name", machine.name}, {"kernels", machine.kernels}, {"sheets", sheets}});
  }
  const std::string text = json.dump();
  const std::string body = compressed(std::to_string(text.size()) + '\n' + text + writer.bytes);
  return kFileKind + std::to_string(kPredictorFormat) + '\n' + digest128(body.data(), body.size()).hex() +
         '\n' + body;
}

Predictor parse_predictor(const std::string& bytes, const std::string& shown) {
  if (!bytes.starts_with(kFileKind))
    throw Error(shown + " is no predictor: `baton train -o FILE` writes one");
  const size_t kind_end = bytes.find('\n');
  const std::string damaged = shown + " is damaged: train it again, or copy it again from where it came";
  if (kind_end == std::string::npos) throw Error(damaged);
  const int format = std::atoi(bytes.c_str() + std::strlen(kFileKind));
  if (format > kPredictorFormat)
    throw Error(shown + " was written by a newer Baton (format " + std::to_string(format) +
                ", this one reads up to " + std::to_string(kPredictorFormat) +
                "): use that one, or train again");
  if (format < kPredictorFormat)
    throw Error(shown + " was written by an older Baton (format " + std::to_string(format) + ", now " +
                std::to_string(kPredictorFormat) + "): train it again with `baton train`");
  const size_t digest_end = bytes.find('\n', kind_end + 1);
  if (digest_end == std::string::npos) throw Error(damaged);
  const std::string packed = bytes.substr(digest_end + 1);
  if (digest128(packed.data(), packed.size()).hex() != bytes.substr(kind_end + 1, digest_end - kind_end - 1))
    throw Error(damaged);
  const std::optional<std::string> unpacked = uncompressed(packed);
  if (!unpacked) throw Error(damaged);
  const std::string& body = *unpacked;
  const size_t size_end = body.find('\n');
  const size_t size = std::strtoull(body.c_str(), nullptr, 10);
  if (size_end == std::string::npos || size > body.size() - size_end - 1) throw Error(damaged);
  try {
    const Json json = Json::parse(std::string_view(body).substr(size_end + 1, size));
    return predictor_of(json, body.substr(size_end + 1 + size));
  } catch (const JsonError& error) {
    throw Error(shown + " cannot be read (" + error.what() + "): train it again");
  } catch (const Error& error) {
    throw Error(shown + ": " + error.what());
  }
}

void save_predictor(const Predictor& predictor, const std::string& path) {
  const std::string bytes = predictor_bytes(predictor);
  if (const Status status = replace_file(path, {bytes}); !status.ok())
    throw Error(path + " cannot be written: " + status.message);
}

Predictor load_predictor(const std::string& path) {
  const Result<std::string> bytes = read_file(path);
  if (!bytes.ok()) throw Error(path + " cannot be read: " + bytes.status().message);
  return parse_predictor(*bytes, path);
}

}  // namespace baton
