#include "baton/cli/flags.h"

#include <algorithm>

#include "baton/support/error.h"

namespace baton::cli {

Flag& Flags::positional(std::string name, std::string* value, std::string doc) {
  return list_.emplace_back(Flag{Flag::Kind::kPositional, std::move(name), value, std::move(doc)}).required();
}

Flag& Flags::positionals(std::string name, std::vector<std::string>* values, std::string doc) {
  return list_.emplace_back(Flag{Flag::Kind::kPositional, std::move(name), values, std::move(doc)})
      .required();
}

Flag& Flags::option(std::string name, Flag::Value value, std::string doc) {
  return list_.emplace_back(Flag{Flag::Kind::kOption, std::move(name), value, std::move(doc)});
}

Flag& Flags::flag(std::string name, bool* value, std::string doc) {
  return list_.emplace_back(Flag{Flag::Kind::kFlag, std::move(name), value, std::move(doc)});
}

Flag& Flags::flag_or_value(std::string name, double* value, std::string implied, std::string doc) {
  Flag& flag = list_.emplace_back(Flag{Flag::Kind::kFlagOrValue, std::move(name), value, std::move(doc)});
  flag.implied = std::move(implied);
  return flag;
}

Flag& Flags::files(std::string name, std::vector<std::string>* value, std::string doc) {
  return list_.emplace_back(Flag{Flag::Kind::kFiles, std::move(name), value, std::move(doc)});
}

Flags& Flags::one_of(std::string name, std::string doc) {
  Flags& group = groups_.emplace_back();
  group.name_ = std::move(name);
  group.doc_ = std::move(doc);
  return group;
}

Flag& Flags::at(const std::string& name) {
  const auto found = std::ranges::find(list_, name, &Flag::name);
  BATON_CHECK(found != list_.end(), "the verb has no flag " + name);
  return *found;
}

}  // namespace baton::cli
