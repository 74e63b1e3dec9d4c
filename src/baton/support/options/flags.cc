#include "baton/support/options/flags.h"

#include <algorithm>
#include <charconv>
#include <sstream>

#include "baton/support/error.h"

namespace baton {

namespace {

template <class T>
std::string set_items(std::vector<T>& items, const std::string& text) {
  items.clear();
  std::istringstream stream(text);
  for (std::string item; std::getline(stream, item, ',');) {
    if constexpr (std::is_same_v<T, std::string>) {
      items.push_back(item);
    } else if (!item.empty()) {
      const auto [end, failed] =
          std::from_chars(item.data(), item.data() + item.size(), items.emplace_back());
      if (failed != std::errc() || *end) return item + " is no number";
    }
  }
  return "";
}

}  // namespace

std::string Flag::set_items(const std::string& text) const {
  return std::visit(
      [&](auto* items) -> std::string {
        if constexpr (requires { items->emplace_back(); }) return baton::set_items(*items, text);
        BATON_CHECK(false, "--" + name + " is no list");
        return "";
      },
      value);
}

std::string Flag::long_name() const { return name.substr(name.find(',') + 1); }

std::string Flag::keyword() const {
  if (!python_name.empty()) return python_name;
  std::string text = long_name().substr(kind == Kind::kNegated ? 3 : 0);
  std::ranges::replace(text, '-', '_');
  return text;
}

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

Flag& Flags::list(std::string name, Flag::Value value, std::string doc) {
  return list_.emplace_back(Flag{Flag::Kind::kList, std::move(name), value, std::move(doc)});
}

Flag& Flags::negated(std::string name, bool* value, std::string doc) {
  return list_.emplace_back(Flag{Flag::Kind::kNegated, "no-" + std::move(name), value, std::move(doc)});
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

}  // namespace baton
