// ConvertLayout({"nn.conv2d": ["NHWC", "default"]}): convolutions and pools compute in the layouts asked for; what lies
// between them follows. "default" is the kernel layout that usually goes with the data's.
#include <map>

#include "baton/transform/build.h"
#include "baton/transform/layout_rewriter.h"
#include "baton/pass/pass.h"

namespace baton {

namespace {

using DesiredLayouts = std::map<std::string, std::vector<std::string>>;

Layout parsed(const std::string& text, const std::string& what) {
  const auto layout = Layout::parse(text);
  if (!layout) throw UsageError("ConvertLayout: \"" + text + "\" is no layout for " + what);
  return *layout;
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
  if (data == "NCW") return "OIW";
  if (data == "NWC") return "WIO";
  if (data == "NCDHW") return "OIDHW";
  if (data == "NDHWC") return "DHWIO";
  throw UsageError("ConvertLayout: " + data + " has no default kernel layout; name one for " + op);
}

std::optional<AlteredCall> convert_conv(const CallNode& call, const std::vector<std::string>& desired) {
  const std::string& op = call.op()->name;
  const std::string was = text_attr(call, "data_layout"), kernel_was = text_attr(call, "kernel_layout");
  const std::string out = text_attr(call, "out_layout");
  const std::string& data = desired.at(0);
  std::string kernel = desired.size() > 1 ? desired[1] : "default";
  if (kernel == "default") kernel = default_kernel(data, is_depthwise(call), op);
  const LayoutState before{parsed(was, op), parsed(data, op)};
  const LayoutState weight{parsed(kernel_was, op), parsed(kernel, op)};
  if (!before.was->convertible(*before.now) || !weight.was->convertible(*weight.now) || !(out.empty() || out == was))
    return std::nullopt;
  AlteredCall altered;
  altered.op = op;
  altered.plan = {{before, weight}, {before},
                  with_fields(call.attrs(), {{"data_layout", data}, {"kernel_layout", kernel}, {"out_layout", ""}})};
  altered.wants = "was converted to " + data;
  return altered;
}

std::optional<AlteredCall> convert_pool(const CallNode& call, const std::vector<std::string>& desired) {
  const std::string& op = call.op()->name;
  const LayoutState data{parsed(text_attr(call, "layout"), op), parsed(desired.at(0), op)};
  if (!data.was->convertible(*data.now)) return std::nullopt;
  AlteredCall altered;
  altered.op = op;
  altered.plan = {{data}, {data}, with_fields(call.attrs(), {{"layout", desired[0]}, {"out_layout", desired[0]}})};
  altered.wants = "was converted to " + desired[0];
  return altered;
}

std::optional<AlteredCall> convert(const CallNode& call, const DesiredLayouts& layouts) {
  const auto desired = layouts.find(call.op()->name);
  if (desired == layouts.end() || !call.attrs()) return std::nullopt;
  const AttrSchema& schema = call.attrs()->schema();
  if (schema.find("kernel_layout")) return convert_conv(call, desired->second);
  if (schema.find("layout") && schema.find("out_layout")) return convert_pool(call, desired->second);
  throw UsageError("ConvertLayout: " + desired->first + " has no layout to convert");
}

DesiredLayouts read(const AttrValue& value) {
  DesiredLayouts layouts;
  const AttrList* items = value.as<AttrList>();
  if (!items) throw UsageError("ConvertLayout: desired_layouts is " + attr_text(value) + ", a dictionary is needed");
  for (const AttrValue& item : *items) {
    const AttrList* pair = item.as<AttrList>();
    const std::string* op = pair && pair->size() == 2 ? (*pair)[0].as<std::string>() : nullptr;
    const AttrList* names = op ? (*pair)[1].as<AttrList>() : nullptr;
    if (!names || names->empty()) throw UsageError("ConvertLayout: layouts of an operator are a list of names, got " + attr_text(item));
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
                       [layouts](const Function& function, const IRModule&, const PassContext&) {
                         return change_layouts(function, [&](const CallNode& call) { return convert(call, layouts); });
                       });
}

}  // namespace baton
