#pragma once
// The flags of a verb as plain records: names, documentation, and target variables. Only command_line.cc
// depends on the parsing library.
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace baton::cli {

/// One flag. Setters return it for chaining.
struct Flag {
  enum class Kind {
    kPositional,   ///< MODEL
    kOption,       ///< --name VALUE; of a vector: --name VALUE VALUE ...
    kFlag,         ///< --name
    kFlagOrValue,  ///< --name (means `implied`), or --name=VALUE
    kFiles,        ///< --name FILE, repeatable; of other things than files: shown_as()
  };
  using Value = std::variant<bool*, int*, double*, std::string*, std::optional<std::string>*,
                             std::vector<std::string>*>;

  Kind kind = Kind::kOption;
  std::string name;  ///< "output", with a short form "o,output"; of a positional as it is shown: "MODEL"
  Value value = static_cast<bool*>(nullptr);
  std::string doc;

  bool is_required = false, shows_default = false;
  std::optional<std::pair<double, double>> limits{};  ///< inclusive
  std::vector<std::string> members{};                 ///< not empty: the allowed values
  std::string implied{};                              ///< of kFlagOrValue
  std::string placeholder = "FILE";                   ///< of kFiles
  std::string needed{};                               ///< another flag that is required with it

  Flag& required(bool is = true) { return is_required = is, *this; }
  /// --help shows the initial value as default.
  Flag& show_default() { return shows_default = true, *this; }
  Flag& shown_as(std::string what) { return placeholder = std::move(what), *this; }
  Flag& range(double least, double most) { return limits = {least, most}, *this; }
  Flag& choices(std::vector<std::string> all) { return members = std::move(all), *this; }
  Flag& needs(std::string other) { return needed = std::move(other), *this; }
};

/// The flags of a verb, in the order of --help. Variables of flags that are not given keep their value; they
/// must outlive the parsing.
class Flags {
 public:
  Flag& positional(std::string name, std::string* value, std::string doc);
  /// One or more values.
  Flag& positionals(std::string name, std::vector<std::string>* values, std::string doc);
  Flag& option(std::string name, Flag::Value value, std::string doc);
  Flag& flag(std::string name, bool* value, std::string doc);
  Flag& flag_or_value(std::string name, double* value, std::string implied, std::string doc);
  Flag& files(std::string name, std::vector<std::string>* value, std::string doc);
  /// A --help section of mutually exclusive flags.
  Flags& one_of(std::string name, std::string doc);

  /// The flag of that name, which must exist.
  Flag& at(const std::string& name);

  const std::deque<Flag>& list() const { return list_; }
  const std::deque<Flags>& groups() const { return groups_; }
  const std::string& name() const { return name_; }  ///< of a group
  const std::string& doc() const { return doc_; }    ///< of a group

 private:
  std::string name_, doc_;
  std::deque<Flag> list_;  // a deque, so that references stay valid
  std::deque<Flags> groups_;
};

}  // namespace baton::cli
