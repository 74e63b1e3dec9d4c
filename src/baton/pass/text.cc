// Text forms of passes, pass infos and contexts.
#include "baton/pass/pass.h"

namespace baton {

namespace {

std::string quoted(const std::vector<std::string>& names) {
  std::string text = "[";
  for (const auto& name : names) text += (text.size() > 1 ? ", \"" : "\"") + name + "\"";
  return text + "]";
}

std::string value_text(const AttrValue& value, bool dict = false) {
  if (const bool* flag = value.as<bool>()) return *flag ? "1" : "0";
  if (const std::string* text = value.as<std::string>()) return "\"" + *text + "\"";
  const AttrList* list = value.as<AttrList>();
  if (!list) return attr_text(value);
  std::string items;
  for (const AttrValue& item : *list) {
    if (!items.empty()) items += ", ";
    if (dict) {
      const AttrList& pair = *item.as<AttrList>();
      items += value_text(pair[0]) + ": " + value_text(pair[1]);
    } else {
      items += value_text(item);
    }
  }
  return dict ? "{" + items + "}" : "[" + items + "]";
}

}  // namespace

std::string pass_text(const PassNode& pass) {
  const std::string level =
      pass.info().name + " at the optimization level " + std::to_string(pass.info().opt_level);
  switch (pass.kind()) {
    case PassNode::Kind::kModule:
      return "Run Module pass: " + level;
    case PassNode::Kind::kFunction:
      return "Run Function pass: " + level;
    case PassNode::Kind::kSequential:
      break;
  }
  std::string text = "Run Sequential pass: " + level + ". The passes will be executed are: [";
  for (const Pass& inner : passes_of(pass)) text += inner->info().name + " ";
  return text + "]";
}

std::string pass_info_text(const PassInfo& info) {
  std::string text = "The meta data of the pass - pass name: " + info.name +
                     ", opt_level: " + std::to_string(info.opt_level) + ", required passes: [";
  if (!info.required.empty()) text += "\n";
  for (const auto& name : info.required) text += name + ", ";
  return text + "]\n";
}

std::string pass_context_text(const PassContext& context) {
  std::vector<std::string> instruments;
  for (const auto& instrument : context.instruments) instruments.push_back(instrument->name());
  std::string config = "{";
  for (const auto& [key, value] : context.config.values())
    config += (config.size() > 1 ? ", \"" : "\"") + key +
              "\": " + value_text(value, find_config_option(key)->is_dict());
  return "Pass context information: \n\topt_level: " + std::to_string(context.opt_level) +
         "\n\trequired passes: " + quoted(context.required_pass) +
         "\n\tdisabled passes: " + quoted(context.disabled_pass) + "\n\tinstruments: " + quoted(instruments) +
         "\n\tconfig: " + config + "}";
}

}  // namespace baton
