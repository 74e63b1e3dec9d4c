// ConvertLayout({"nn.conv2d": ["NHWC", "default"]}): convolutions and pools compute in the layouts asked for;
// what lies between them follows. "default" is the kernel layout that usually goes with the data's. Inside a
// LayoutConfig some convolutions are skipped.
#include <map>
#include <set>

#include "baton/ir/build.h"
#include "baton/ir/layout.h"
#include "baton/ir/rules/layer_kind.h"
#include "baton/ir/rules/pass_traits.h"
#include "baton/pass/pass.h"
#include "baton/support/log.h"
#include "baton/transform/layout/layout_flow.h"
#include "baton/transform/layout/skipped_layers.h"

namespace baton {

namespace {

using DesiredLayouts = std::map<std::string, std::vector<std::string>>;

Layout parsed(const std::string& text, const std::string& what) {
  const auto layout = Layout::parse(text);
  if (!layout) throw UsageError("ConvertLayout: \"" + text + "\" is no layout for " + what);
  return *layout;
}

/// The convolutions that have a form in blocks of channels, and that LayoutConfig counts.
bool is_conv2d(const OpDef& op) {
  const auto* layer = op.rules.get<LayerKind>();
  return layer && *layer == LayerKind::kConvolution2D;
}

bool is_depthwise(const CallNode& conv) {
  const TensorTypeNode* data = static_type_of(conv.args()[0]);
  const auto layout = Layout::parse(text_attr(conv, "data_layout"));
  if (!data || !layout || layout->find('C') < 0) return false;
  const int64_t groups = int_attr(conv, "groups");
  return groups > 1 && groups == data->extents()[layout->find('C')];
}

std::string default_kernel(const std::string& data, bool depthwise, const std::string& op) {
  if (data == "NCHW") return "OIHW";
  if (data == "NHWC") return depthwise ? "HWOI" : "HWIO";
  if (data == "HWNC") return "HWOI";
  if (data == "NCDHW") return "OIDHW";
  if (data == "NDHWC") return "DHWIO";
  throw UsageError("ConvertLayout: " + data + " has no default kernel layout; name one for " + op);
}

/// nn.conv2d in blocks of channels becomes nn.contrib_conv2d_NCHWc, where the blocks divide input and output
/// channels; else it stays.
std::optional<WantedCall> convert_to_blocks(const CallNode& call, const Layout& data,
                                            const std::string& kernel) {
  if (kernel == "default")
    throw UsageError("ConvertLayout: " + data.str() + " has no default kernel layout; name one");
  const auto was = Layout::parse(text_attr(call, "data_layout"));
  const TensorTypeNode* in = static_type_of(call.args()[0]);
  const auto* out = as_type<TensorTypeNode>(call.checked_type());
  const int at = was ? was->find('C') : -1;
  if (at < 0 || !in || !out || at >= in->rank() || out->shape().at(at).is_any()) return std::nullopt;
  const int64_t block = data.factor('C');
  if (in->extents()[at] % block != 0 || out->shape()[at].value() % block != 0) return std::nullopt;
  const OpDef* op = find_op("nn.contrib_conv2d_NCHWc");
  BATON_CHECK(op, "packed convolutions");
  return WantedCall{
      op,
      carry_attrs(*op, call, {{"data_layout", data.str()}, {"kernel_layout", kernel}, {"out_layout", ""}}),
      "was converted to " + data.str()};
}

std::optional<WantedCall> convert_conv(const CallNode& call, const std::vector<std::string>& desired) {
  const std::string& op = call.op()->name;
  const Layout was = parsed(text_attr(call, "data_layout"), op),
               kernel_was = parsed(text_attr(call, "kernel_layout"), op);
  const Layout data = parsed(desired.at(0), op);
  const std::string out = text_attr(call, "out_layout");
  std::string kernel = desired.size() > 1 ? desired[1] : "default";
  if (!was.convertible(data) || !(out.empty() || out == was.str())) return std::nullopt;
  if (is_conv2d(*call.op()) && data.primal() == "NCHW" && data.is_split('C'))
    return convert_to_blocks(call, data, kernel);
  if (kernel == "default") kernel = default_kernel(data.str(), is_depthwise(call), op);
  if (!kernel_was.convertible(parsed(kernel, op))) return std::nullopt;
  return WantedCall{
      call.op(),
      with_fields(call.attrs(), {{"data_layout", data.str()}, {"kernel_layout", kernel}, {"out_layout", ""}}),
      "was converted to " + data.str()};
}

std::optional<WantedCall> convert_windows(const CallNode& call, const std::vector<std::string>& desired) {
  const std::string& op = call.op()->name;
  const Layout data = parsed(desired.at(0), op);
  if (!parsed(text_attr(call, "layout"), op).convertible(data)) return std::nullopt;
  NamedAttrs values{{"layout", desired[0]}};
  if (call.attrs()->schema().find("out_layout")) values.emplace_back("out_layout", desired[0]);
  return WantedCall{call.op(), with_fields(call.attrs(), values), "was converted to " + desired[0]};
}

/// One run of the pass over one function.
class Converter {
 public:
  Converter(const DesiredLayouts& layouts, SkippedLayers* skipped) : layouts_(layouts), skipped_(skipped) {}

  std::optional<WantedCall> operator()(const CallNode& call, const std::vector<Expr>& args) {
    const auto desired = layouts_.find(call.op()->name);
    if (desired == layouts_.end()) return desired_layouts_of(call, desired);
    return wish_of_user(OpQuestion::kConvertOpLayout, call, args, desired->second,
                        [&] { return desired_layouts_of(call, desired); });
  }

 private:
  std::optional<WantedCall> desired_layouts_of(const CallNode& call, DesiredLayouts::const_iterator desired) {
    const OpDef& op = *call.op();
    if (desired == layouts_.end()) {
      if (op.rules.get<ConvertedLayout>() && warned_.insert(op.name).second)
        log_line("ConvertLayout: Desired layout(s) not specified for op: " + op.name);
      return std::nullopt;
    }
    if (is_conv2d(op) && skipped_ && skipped_->next()) return std::nullopt;
    if (const auto* converted = op.rules.get<ConvertedLayout>()) {
      switch (*converted) {
        case ConvertedLayout::kConvolution:
          return convert_conv(call, desired->second);
        case ConvertedLayout::kWindows:
          return convert_windows(call, desired->second);
      }
    }
    if (warned_.insert(op.name).second)
      log_line("ConvertLayout: " + op.name + " has no layout to convert; it follows its inputs");
    return std::nullopt;
  }

  const DesiredLayouts& layouts_;
  SkippedLayers* skipped_;
  std::set<std::string> warned_;
};

DesiredLayouts read(const AttrValue& value) {
  DesiredLayouts layouts;
  const AttrList* items = value.as<AttrList>();
  if (!items)
    throw UsageError("ConvertLayout: desired_layouts is " + attr_text(value) + ", a dictionary is needed");
  for (const AttrValue& item : *items) {
    const AttrList* pair = item.as<AttrList>();
    const std::string* op = pair && pair->size() == 2 ? (*pair)[0].as<std::string>() : nullptr;
    const AttrList* names = op ? (*pair)[1].as<AttrList>() : nullptr;
    if (!names || names->empty())
      throw UsageError("ConvertLayout: layouts of an operator are a list of names, got " + attr_text(item));
    for (const AttrValue& name : *names) {
      const std::string* text = name.as<std::string>();
      if (!text) throw UsageError("ConvertLayout: a layout is a name, got " + attr_text(name));
      layouts[*op].push_back(*text);
    }
  }
  return layouts;
}

}  // namespace

Pass convert_layout(const PassArgs& args) {
  PassArgReader reader("ConvertLayout", args);
  const AttrValue* desired = reader.value("desired_layouts");
  reader.finish();
  const DesiredLayouts layouts = desired ? read(*desired) : DesiredLayouts();
  return function_pass({3, "ConvertLayout", {"InferType", "CanonicalizeOps"}},
                       [layouts](const Function& function, const IRModule&, const BuildContext& context) {
                         Converter converter(layouts, context.skipped_layers.get());
                         return let_layouts_flow(function,
                                                 [&](const CallNode& call, const std::vector<Expr>& args) {
                                                   return converter(call, args);
                                                 });
                       });
}

}  // namespace baton
