#include "baton/pass/pass_args.h"

#include "baton/support/diagnostic.h"

namespace baton {

const AttrValue* PassArgReader::value(const std::string& name) {
  known_.push_back(name);
  const AttrValue* found = nullptr;
  for (size_t i = 0; i < args_.size(); ++i) {
    if (args_[i].first != name) continue;
    if (found) throw UsageError(pass_ + ": argument `" + name + "` is given twice");
    found = &args_[i].second;
    read_[i] = true;
  }
  return found && !found->is_none() ? found : nullptr;
}

void PassArgReader::wrong(const std::string& name, const std::string& expects, const AttrValue& value) const {
  throw UsageError(pass_ + ": argument `" + name + "` expects " + expects + ", got " + attr_text(value));
}

int64_t PassArgReader::integer(const std::string& name, int64_t fallback) {
  const AttrValue* given = value(name);
  if (!given) return fallback;
  if (const int64_t* number = given->as<int64_t>()) return *number;
  wrong(name, "an integer", *given);
}

int64_t PassArgReader::integer(const std::string& name, int64_t fallback, int64_t least, int64_t most) {
  const int64_t number = integer(name, fallback);
  if (number >= least && number <= most) return number;
  const std::string range = most == INT64_MAX
                                ? "an integer that is at least " + std::to_string(least)
                                : "an integer from " + std::to_string(least) + " to " + std::to_string(most);
  wrong(name, range, AttrValue(number));
}

bool PassArgReader::flag(const std::string& name, bool fallback) {
  const AttrValue* given = value(name);
  if (!given) return fallback;
  if (const bool* flag = given->as<bool>()) return *flag;
  if (const int64_t* number = given->as<int64_t>(); number && (*number == 0 || *number == 1))
    return *number == 1;
  wrong(name, "True or False", *given);
}

std::string PassArgReader::text(const std::string& name, const std::string& fallback) {
  const AttrValue* given = value(name);
  if (!given) return fallback;
  if (const std::string* text = given->as<std::string>()) return *text;
  wrong(name, "a string", *given);
}

std::vector<std::string> PassArgReader::texts(const std::string& name, std::vector<std::string> fallback) {
  const AttrValue* given = value(name);
  if (!given) return fallback;
  if (const std::string* text = given->as<std::string>()) return {*text};
  const AttrList* list = given->as<AttrList>();
  if (!list) wrong(name, "a list of strings", *given);
  std::vector<std::string> texts;
  for (const AttrValue& item : *list) {
    if (!item.as<std::string>()) wrong(name, "a list of strings", *given);
    texts.push_back(*item.as<std::string>());
  }
  return texts;
}

void PassArgReader::finish() {
  for (size_t i = 0; i < args_.size(); ++i) {
    if (read_[i]) continue;
    const std::string near = did_you_mean(args_[i].first, known_);
    throw UsageError(pass_ + " has no argument `" + args_[i].first + "`" +
                     (near.empty() ? "" : "; did you mean `" + near + "`?"));
  }
}

}  // namespace baton
