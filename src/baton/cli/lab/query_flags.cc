#include "baton/cli/lab/query_flags.h"

#include <charconv>

#include "baton/store/store.h"
#include "baton/support/diagnostic.h"
#include "baton/support/error.h"
#include "baton/support/json.h"

namespace baton::cli {

void QueryFlags::add(Flags& flags) {
  flags.option("kind", &kind_, "what was measured")
      .choices({"kernel", "part", "model", "transfer", "reference"});
  flags
      .files("op", &operators_,
             "what computes this operator of a model, or was built as this one: nn.conv2d, or '*conv2d*' for "
             "all whose name has that; may be given several times")
      .shown_as("NAME");
  flags.files("fused-with", &fused_with_, "and fused with this one: nn.relu; may be given several times")
      .shown_as("NAME");
  flags
      .files(
          "attr", &attributes_,
          "works with an operator of this attribute: strides=2,2, kernel_size=3,3; of the operator of --op, "
          "or of "
          "one that is named: nn.conv2d.groups=1; all that are given for one hold of one call; may be given "
          "several times")
      .shown_as("NAME=VALUE");
  flags.option("backend", &query_.backend, "llvm, dnnl, opencl, ...");
  flags.option("target", &query_.target, "as it was given to the build: \"llvm -mcpu=znver4\"");
  flags.option("precision", &query_.precision, "of the build").choices({"f32", "strict", "bf16"});
  flags.option("threads", &threads_, "of the runs");
  flags.option("cache", &cache_, "state of the caches").choices({"hot", "flushed", "in model"});
  flags.option("machine", &query_.machine, "name of the machine");
  flags.option("device", &query_.device, "name of the device: \"AMD EPYC 9R14\"");
  flags.option("sheet", &query_.sheet, "id of the device's sheet");
  flags.option("model", &query_.model, "name of the model that it was measured in");
  flags.option("family", &query_.family, "of that model: resnet");
  flags.option("campaign", &query_.campaign, "name of the campaign");
  flags.flag("reliable", &query_.reliable_only, "only times that other programs did not disturb");
  flags.option("limit", &limit_, "rows at most; 0: all").range(0, 1e9);
}

StoreQuery QueryFlags::query() const {
  StoreQuery query = query_;
  if (!kind_.empty()) query.kind = work_kind_named(kind_);
  if (!cache_.empty()) query.cache = cache_state_named(cache_);
  if (!threads_.empty()) {
    int threads = 0;
    const auto [end, failed] = std::from_chars(threads_.data(), threads_.data() + threads_.size(), threads);
    if (failed != std::errc() || *end || threads < 1)
      throw UsageError("--threads " + threads_ + " is no number of threads");
    query.threads = threads;
  }
  query.operators = operators_;
  query.operators.insert(query.operators.end(), fused_with_.begin(), fused_with_.end());
  for (const std::string& text : attributes_) {
    AttributeQuery attribute = attribute_query(text);
    // The attribute is one of the operator that was asked for, not of one that it is fused with.
    if (attribute.op.empty() && operators_.size() == 1) attribute.op = operators_[0];
    query.attributes.push_back(std::move(attribute));
  }
  query.limit = limit_;
  return query;
}

AttributeQuery attribute_query(const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    throw UsageError("--attr " + text + ": NAME=VALUE is expected, as in strides=2,2");
  AttributeQuery query;
  const size_t dot = text.rfind('.', equals);
  if (dot != std::string::npos) query.op = text.substr(0, dot);
  query.name =
      text.substr(dot == std::string::npos ? 0 : dot + 1, equals - (dot == std::string::npos ? 0 : dot + 1));
  query.value = text.substr(equals + 1);
  // 2,2 is a list; so are numbers only.
  if (query.value.find(',') != std::string::npos && !Json::accept(query.value) &&
      Json::accept("[" + query.value + "]"))
    query.value = "[" + query.value + "]";
  return query;
}

std::string store_path(const std::string& given) { return given == "default" ? default_store_path() : given; }

}  // namespace baton::cli
