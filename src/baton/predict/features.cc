#include "baton/predict/features.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <sstream>

#include "baton/ir/rules/cost.h"
#include "baton/predict/kernel_facts.h"
#include "baton/support/base/checksum.h"
#include "baton/support/error.h"

namespace baton {

namespace {

constexpr float kUnknown = std::numeric_limits<float>::quiet_NaN();
constexpr int kRegisterTile = 6;  // rows of the register tile of products on processors

double log2_of(double value) { return std::log2(std::max(value, 1.0)); }
double of_model(double bytes, double unit = 1) {
  return bytes > 0 ? std::log2(bytes / unit) : static_cast<double>(kUnknown);
}

struct Feature {
  const char *name, *doc;
  bool is_shape, is_near;
  double (*value)(const KernelFacts&);
};

// The list: docs/prediction.md shows it. Extents in log2, so that doubling is a step of one everywhere.
constexpr bool kShape = true, kNear = true;
constexpr Feature kFeatures[] = {
    {"log2 flops", "operations by the cost rules", kShape, kNear,
     [](const KernelFacts& f) { return log2_of(f.of.kernel.flops); }},
    {"log2 bytes", "read and written at least once", kShape, kNear,
     [](const KernelFacts& f) { return log2_of(f.of.kernel.bytes); }},
    {"log2 intensity", "operations per byte", kShape, false,
     [](const KernelFacts& f) {
       return std::log2((f.of.kernel.flops + 1) / std::max(f.of.kernel.bytes, 1.0));
     }},
    {"log2 weight bytes", "of the constant operands of the anchor", kShape, kNear,
     [](const KernelFacts& f) { return log2_of(f.weight_bytes); }},
    {"log2 activation bytes", "of all other inputs", kShape, kNear,
     [](const KernelFacts& f) { return log2_of(f.in_bytes); }},
    {"log2 result bytes", "", kShape, kNear, [](const KernelFacts& f) { return log2_of(f.out_bytes); }},
    {"log2 batch", "", kShape, kNear, [](const KernelFacts& f) { return log2_of(f.e.batch); }},
    {"log2 in channels", "", kShape, kNear, [](const KernelFacts& f) { return log2_of(f.e.in); }},
    {"log2 out channels", "", kShape, kNear, [](const KernelFacts& f) { return log2_of(f.e.out); }},
    {"log2 groups", "", kShape, kNear, [](const KernelFacts& f) { return log2_of(f.e.groups); }},
    {"log2 in height", "", kShape, kNear, [](const KernelFacts& f) { return log2_of(f.e.in_h); }},
    {"log2 in width", "", kShape, kNear, [](const KernelFacts& f) { return log2_of(f.e.in_w); }},
    {"log2 out height", "", kShape, kNear, [](const KernelFacts& f) { return log2_of(f.e.out_h); }},
    {"log2 out width", "", kShape, kNear, [](const KernelFacts& f) { return log2_of(f.e.out_w); }},
    {"kernel height", "window of a convolution or pool", kShape, kNear,
     [](const KernelFacts& f) { return f.e.kernel_h; }},
    {"kernel width", "", kShape, kNear, [](const KernelFacts& f) { return f.e.kernel_w; }},
    {"stride height", "", kShape, kNear, [](const KernelFacts& f) { return f.e.stride_h; }},
    {"stride width", "", kShape, kNear, [](const KernelFacts& f) { return f.e.stride_w; }},
    {"dilation height", "", kShape, kNear, [](const KernelFacts& f) { return f.e.dilation_h; }},
    {"dilation width", "", kShape, kNear, [](const KernelFacts& f) { return f.e.dilation_w; }},
    {"padding", "top and left", kShape, false,
     [](const KernelFacts& f) { return f.e.padding_h + f.e.padding_w; }},
    {"log2 reduction", "elements that a result sums", kShape, kNear,
     [](const KernelFacts& f) { return log2_of(f.e.reduction); }},
    {"log2 rows", "of the product, or of all axes but the last", kShape, kNear,
     [](const KernelFacts& f) { return log2_of(f.e.rows); }},
    {"log2 columns", "of the product, or the last axis", kShape, kNear,
     [](const KernelFacts& f) { return log2_of(f.e.columns); }},
    {"in block", "channels per block of the data's layout", false, kNear,
     [](const KernelFacts& f) { return f.e.in_block; }},
    {"out block", "of the result's", false, kNear, [](const KernelFacts& f) { return f.e.out_block; }},
    {"log2 inner extent", "the last axis of the result", false, false,
     [](const KernelFacts& f) { return log2_of(f.e.inner); }},
    {"rank", "of the result", false, false,
     [](const KernelFacts& f) {
       return f.anchor && !f.anchor->results.empty()
                  ? static_cast<double>(f.anchor->results[0].extents.size())
                  : 0.0;
     }},
    {"lanes rounding", "channels in full vectors over channels", false, false,
     [](const KernelFacts& f) { return rounding(f.e.columns, f.lanes()); }},
    {"tile rounding", "rows in full register tiles over rows", false, false,
     [](const KernelFacts& f) { return rounding(f.e.rows, kRegisterTile); }},
    {"width remainder", "width modulo the register tile", false, false,
     [](const KernelFacts& f) { return std::fmod(f.e.out_w, kRegisterTile); }},
    {"tile_x rounding", "width in tiles of the schedule over width", false, false,
     [](const KernelFacts& f) { return rounding(f.e.out_w, f.loops.width_step); }},
    {"tile_c rounding", "channels in tiles of the schedule over channels", false, false,
     [](const KernelFacts& f) { return rounding(f.e.columns, f.loops.channel_step * f.lanes()); }},
    {"tile_m rounding", "rows in tiles of the schedule over rows", false, false,
     [](const KernelFacts& f) { return rounding(f.e.rows, f.loops.row_step); }},
    {"winograd tile", "outputs of a tile by Winograd's algorithm, along both axes; 0: another algorithm",
     false, kNear, [](const KernelFacts& f) { return f.winograd.down * f.winograd.across; }},
    {"log2 winograd multiplies", "in its products of tiles", false, false,
     [](const KernelFacts& f) { return log2_of(f.winograd.multiplies); }},
    {"winograd waste", "outputs of whole tiles over outputs", false, false,
     [](const KernelFacts& f) { return f.winograd.waste(f.e); }},
    {"tile_t rounding", "Winograd's tiles in register tiles of the schedule over tiles", false, false,
     [](const KernelFacts& f) {
       const double rows = std::min(f.loops.row_step, std::max(1.0, f.winograd.tiles_down));
       return rounding(rows * f.winograd.tiles_across, f.loops.tile_step);
     }},
    {"log2 winograd tiles", "of the whole result: rows of its products", false, false,
     [](const KernelFacts& f) {
       return f.winograd.multiplies > 0 ? log2_of(f.e.batch * f.winograd.tiles_down * f.winograd.tiles_across)
                                        : static_cast<double>(kUnknown);
     }},
    {"log2 winograd saving", "operations by the cost rules over those of its products", false, false,
     [](const KernelFacts& f) {
       return f.winograd.multiplies > 0 ? std::log2((f.of.kernel.flops + 1) / (2 * f.winograd.multiplies))
                                        : 0.0;
     }},
    {"log2 transformed bytes", "data and results in Winograd's tiles", false, false,
     [](const KernelFacts& f) { return log2_of(f.winograd.transformed_bytes(f.e)); }},
    {"block rounding", "a block of the result's channels in full vectors over the block", false, false,
     [](const KernelFacts& f) { return rounding(f.e.out_block, f.lanes()); }},
    {"log2 register tiles", "of the schedule, that cover the result", false, false,
     [](const KernelFacts& f) { return log2_of(f.loops.tiles); }},
    {"register tile intensity", "multiply-adds over loads of a register tile of the schedule", false, false,
     [](const KernelFacts& f) { return f.loops.rows * f.loops.columns / (f.loops.rows + f.loops.columns); }},
    {"log2 rounded compute us", "at the sheet's peak, whole register tiles and vectors", false, false,
     [](const KernelFacts& f) { return std::log2(f.rounded_compute_us() + 1e-4); }},
    {"log2 steps", "of all register tiles", false, false,
     [](const KernelFacts& f) { return log2_of(f.loops.steps()); }},
    {"log2 transforms", "vectors of Winograd's transforms", false, false,
     [](const KernelFacts& f) { return log2_of(f.loops.transforms); }},
    {"in block pieces", "loads of a block of the data's channels", false, false,
     [](const KernelFacts& f) { return pieces(f.e.in_block, f.lanes()); }},
    {"out block pieces", "stores of a block of the result's", false, false,
     [](const KernelFacts& f) { return pieces(f.e.out_block, f.lanes()); }},
    {"log2 tile weights over L1", "what a column of register tiles of the schedule reads again for each",
     false, false,
     [](const KernelFacts& f) {
       const double bytes = f.loops.depth * f.loops.columns * f.lanes() * sizeof(float);
       return std::log2(bytes / static_cast<double>(f.of.sheet->l1_bytes));
     }},
    {"log2 window rows over L1", "the rows of data that a row of results reads", false, false,
     [](const KernelFacts& f) {
       const double bytes = std::max(1.0, f.e.in * f.e.in_w * f.e.kernel_h) * sizeof(float);
       return std::log2(bytes / static_cast<double>(f.of.sheet->l1_bytes));
     }},
    {"halo", "data with its padding over data", false, false,
     [](const KernelFacts& f) {
       return (f.e.in_h + 2 * f.e.padding_h) * (f.e.in_w + 2 * f.e.padding_w) / (f.e.in_h * f.e.in_w);
     }},
    {"is convolution", "", kShape, kNear, [](const KernelFacts& f) { return f.is("conv"); }},
    {"is depthwise", "a group per channel", kShape, kNear,
     [](const KernelFacts& f) {
       return static_cast<double>(f.is("conv") && f.e.groups > 1 && f.e.groups == f.e.in);
     }},
    {"is transposed", "", kShape, kNear,
     [](const KernelFacts& f) {
       return static_cast<double>(f.anchor && f.anchor->op && f.anchor->op->cost == conv_transpose_cost);
     }},
    {"is product", "dense layers and matrix products", kShape, kNear,
     [](const KernelFacts& f) { return f.is("dense"); }},
    {"is pool", "", kShape, kNear, [](const KernelFacts& f) { return f.is("pool"); }},
    {"is reduction", "", kShape, kNear, [](const KernelFacts& f) { return f.is("reduce"); }},
    {"is elementwise", "", kShape, kNear, [](const KernelFacts& f) { return f.is("elementwise"); }},
    {"is move", "copies, concatenations, changes of layout", kShape, kNear,
     [](const KernelFacts& f) { return f.is("move"); }},
    {"is other", "softmax, normalisations, opaque operators", kShape, kNear,
     [](const KernelFacts& f) { return f.is("other"); }},
    {"calls", "operators in the kernel", false, kNear, [](const KernelFacts& f) { return f.calls; }},
    {"inputs", "tensors that it reads", false, kNear, [](const KernelFacts& f) { return f.inputs; }},
    {"fused elementwise", "beside the anchor", false, kNear,
     [](const KernelFacts& f) { return f.count("elementwise"); }},
    {"fused moves", "", false, false, [](const KernelFacts& f) { return f.count("move"); }},
    {"fused reductions", "", false, false, [](const KernelFacts& f) { return f.count("reduce"); }},
    {"element bytes", "of the anchor's data", false, kNear,
     [](const KernelFacts& f) { return static_cast<double>(f.dtype().bytes()); }},
    {"is float", "", false, kNear,
     [](const KernelFacts& f) { return static_cast<double>(f.dtype().is_float()); }},
    {"log2 bytes over L1", "", false, false,
     [](const KernelFacts& f) {
       return std::log2(std::max(f.of.kernel.bytes, 1.0) / static_cast<double>(f.of.sheet->l1_bytes));
     }},
    {"log2 bytes over L2", "", false, false,
     [](const KernelFacts& f) {
       return std::log2(std::max(f.of.kernel.bytes, 1.0) / static_cast<double>(f.of.sheet->l2_bytes));
     }},
    {"log2 bytes over L3", "", false, false,
     [](const KernelFacts& f) {
       return std::log2(std::max(f.of.kernel.bytes, 1.0) / static_cast<double>(f.of.sheet->l3_bytes));
     }},
    {"log2 weights over L2", "", false, false,
     [](const KernelFacts& f) {
       return std::log2(std::max(f.weight_bytes, 1.0) / static_cast<double>(f.of.sheet->l2_bytes));
     }},
    {"log2 model bytes", "weights and largest activations of the model that it runs in", false, false,
     [](const KernelFacts& f) { return of_model(f.of.model.working_set); }},
    {"log2 model distinct bytes", "its weights and the results of all calls, as if none shared memory", false,
     false, [](const KernelFacts& f) { return of_model(f.of.model.distinct); }},
    {"log2 model moved bytes", "inputs and results of all its calls", false, false,
     [](const KernelFacts& f) { return of_model(f.of.model.moved); }},
    {"log2 model over L2", "", false, false,
     [](const KernelFacts& f) { return of_model(f.of.model.working_set, double(f.of.sheet->l2_bytes)); }},
    {"log2 model over L3", "", false, false,
     [](const KernelFacts& f) { return of_model(f.of.model.working_set, double(f.of.sheet->l3_bytes)); }},
    {"log2 compute us", "at the sheet's peak", false, false,
     [](const KernelFacts& f) { return std::log2(f.roofline.compute_us + 1e-4); }},
    {"log2 memory us", "at the sheet's rates", false, false,
     [](const KernelFacts& f) { return std::log2(f.roofline.memory_us + 1e-4); }},
    {"log2 base us", "the roofline that the time is learned over", false, false,
     [](const KernelFacts& f) { return std::log2(f.roofline.us); }},
    {"threads", "", false, kNear, [](const KernelFacts& f) { return static_cast<double>(f.of.threads); }},
    {"thread rounding", "outer iterations in full rounds of the threads over iterations", false, false,
     [](const KernelFacts& f) {
       return rounding(f.e.batch * std::max(1.0, f.e.out / f.e.out_block), f.of.threads);
     }},
    {"cache hot", "the same call ran just before", false, kNear,
     [](const KernelFacts& f) { return static_cast<double>(f.of.cache == CacheState::kHot); }},
    {"cache flushed", "", false, kNear,
     [](const KernelFacts& f) { return static_cast<double>(f.of.cache == CacheState::kFlushed); }},
    {"device lanes", "float32 per vector", false, false, [](const KernelFacts& f) { return f.lanes(); }},
    {"log2 device gflops", "", false, false, [](const KernelFacts& f) { return std::log2(f.rates.gflops); }},
    {"log2 device memory rate", "", false, false,
     [](const KernelFacts& f) { return std::log2(f.rates.memory_gbytes); }},
    {"log2 device cache rate", "", false, false,
     [](const KernelFacts& f) { return std::log2(f.rates.cache_gbytes); }},
};

constexpr const char* kOperator = "operator ";
constexpr const char* kTemplate = "template ";
constexpr const char* kParameter = "parameter ";

size_t place_of(const std::vector<std::string>& sorted, const std::string& name) {
  const auto at = std::ranges::lower_bound(sorted, name);
  return at != sorted.end() && *at == name ? static_cast<size_t>(at - sorted.begin()) : sorted.size();
}

}  // namespace

FeatureSpace::FeatureSpace(std::span<const KernelCase* const> cases) {
  std::set<std::string> operators, templates, parameters;
  for (const KernelCase* each : cases) {
    for (const DescribedOperator& op : each->kernel.operators) operators.insert(op.name);
    if (!each->template_name.empty()) templates.insert(each->template_name);
    for (const auto& [name, value] : each->parameters) parameters.insert(name);
  }
  operators_.assign(operators.begin(), operators.end());
  templates_.assign(templates.begin(), templates.end());
  parameters_.assign(parameters.begin(), parameters.end());
  fixed_.resize(std::size(kFeatures));
  std::iota(fixed_.begin(), fixed_.end(), size_t{0});
  list();
}

void FeatureSpace::list() {
  for (const size_t at : fixed_) {
    const Feature& each = kFeatures[at];
    features_.push_back({each.name, each.doc, each.is_shape, each.is_near});
  }
  for (const std::string& name : operators_)
    features_.push_back({kOperator + name, "calls of it", true, false});
  for (const std::string& name : templates_)
    features_.push_back({kTemplate + name, "is its schedule", false, false});
  for (const std::string& name : parameters_)
    features_.push_back({kParameter + name, "of the schedule", false, false});
}

std::string FeatureSpace::text() const {
  std::string text = "version " + std::to_string(kFeatureVersion) + "\n";
  for (const FeatureInfo& each : features_) text += each.name + "\n";
  return text;
}

FeatureSpace FeatureSpace::from_text(const std::string& text) {
  std::istringstream lines(text);
  std::string line;
  std::getline(lines, line);
  FeatureSpace space;
  while (std::getline(lines, line)) {
    if (const auto at =
            std::ranges::find(kFeatures, line, [](const Feature& of) { return std::string(of.name); });
        at != std::end(kFeatures))
      space.fixed_.push_back(static_cast<size_t>(at - kFeatures));
    if (line.starts_with(kOperator)) space.operators_.push_back(line.substr(std::string(kOperator).size()));
    if (line.starts_with(kTemplate)) space.templates_.push_back(line.substr(std::string(kTemplate).size()));
    if (line.starts_with(kParameter))
      space.parameters_.push_back(line.substr(std::string(kParameter).size()));
  }
  std::ranges::sort(space.fixed_);
  space.list();
  if (space.text() != text)
    throw Error("the predictor reads other features of kernels than this version of Baton has (its " +
                text.substr(0, text.find('\n')) + ", here version " + std::to_string(kFeatureVersion) +
                "): train it again with `baton train`");
  return space;
}

uint64_t FeatureSpace::hash() const {
  const std::string all = text();
  return checksum64(all.data(), all.size());
}

void FeatureSpace::write(const KernelCase& kernel, float* to) const {
  const KernelFacts facts(kernel);
  for (const size_t at : fixed_) {
    const auto value = static_cast<float>(kFeatures[at].value(facts));
    *to++ = std::isfinite(value) ? value : kUnknown;  // XGBoost refuses infinite ones
  }
  float* counts = to;
  std::fill(counts, counts + operators_.size() + templates_.size(), 0.0F);
  for (const DescribedOperator& op : kernel.kernel.operators)
    if (const size_t at = place_of(operators_, op.name); at < operators_.size()) counts[at] += 1;
  to += operators_.size();
  if (const size_t at = place_of(templates_, kernel.template_name); at < templates_.size()) to[at] = 1;
  to += templates_.size();
  for (const std::string& name : parameters_) {
    const auto at = kernel.parameters.find(name);
    *to++ = at == kernel.parameters.end() ? kUnknown : static_cast<float>(at->second);
  }
}

std::vector<float> FeatureSpace::values(const KernelCase& kernel) const {
  std::vector<float> values(size());
  write(kernel, values.data());
  return values;
}

std::string FeatureSpace::unseen(const KernelCase& kernel) const {
  std::string text;
  std::set<std::string> named;
  const auto add = [&](const std::string& what) {
    if (named.insert(what).second) text += (text.empty() ? "" : ", ") + what;
  };
  for (const DescribedOperator& op : kernel.kernel.operators)
    if (place_of(operators_, op.name) == operators_.size()) add(kOperator + op.name);
  if (!kernel.template_name.empty() && place_of(templates_, kernel.template_name) == templates_.size())
    add(kTemplate + kernel.template_name);
  return text;
}

}  // namespace baton
