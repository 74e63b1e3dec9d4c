#pragma once
// The options of a command as plain records: names, documentation, and the variables that they set, whose
// initial values are the defaults. A command declares each once; the command line (cli/command_line.h) and
// Python's keyword arguments (python/keywords.h) are read by the same records. See docs/design/0043.
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace baton {

/// One flag. Setters return it for chaining.
struct Flag {
  enum class Kind {
    kPositional,   ///< MODEL
    kOption,       ///< --name VALUE; of a vector: --name VALUE VALUE ...
    kList,         ///< --name VALUE,VALUE,...
    kFlag,         ///< --name
    kNegated,      ///< --no-name: false
    kFlagOrValue,  ///< --name (means `implied`), or --name=VALUE
    kFiles,        ///< --name FILE, repeatable; of other things than files: shown_as()
  };
  using Value = std::variant<bool*, int*, double*, std::string*, std::optional<int>*, std::optional<double>*,
                             std::optional<std::string>*, std::vector<std::string>*, std::vector<int>*,
                             std::vector<int64_t>*>;

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
  std::string python_name{};                          ///< see keyword()

  Flag& required(bool is = true) { return is_required = is, *this; }
  /// --help shows the initial value as default.
  Flag& show_default() { return shows_default = true, *this; }
  Flag& shown_as(std::string what) { return placeholder = std::move(what), *this; }
  Flag& range(double least, double most) { return limits = {least, most}, *this; }
  Flag& choices(std::vector<std::string> all) { return members = std::move(all), *this; }
  Flag& needs(std::string other) { return needed = std::move(other), *this; }
  /// Its name in Python, where that is another one.
  Flag& in_python(std::string its_name) { return python_name = std::move(its_name), *this; }

  /// Its values are integers.
  bool is_whole() const {
    return std::holds_alternative<int*>(value) || std::holds_alternative<std::optional<int>*>(value);
  }
  /// Sets a list to the items of "1,2"; returns what is wrong with them, or an empty text.
  std::string set_items(const std::string& text) const;

  std::string long_name() const;  ///< "output"
  /// The name of the argument in Python: "max_hours" of "max-hours", "inside" of "no-inside".
  std::string keyword() const;
};

/// The flags of a verb, in the order of --help. Variables of flags that are not given keep their value; they
/// must outlive the parsing.
class Flags {
 public:
  Flag& positional(std::string name, std::string* value, std::string doc);
  /// One or more values.
  Flag& positionals(std::string name, std::vector<std::string>* values, std::string doc);
  Flag& option(std::string name, Flag::Value value, std::string doc);
  /// `value`: a vector.
  Flag& list(std::string name, Flag::Value value, std::string doc);
  Flag& flag(std::string name, bool* value, std::string doc);
  /// --no-NAME, which sets `value` to false.
  Flag& negated(std::string name, bool* value, std::string doc);
  Flag& flag_or_value(std::string name, double* value, std::string implied, std::string doc);
  Flag& files(std::string name, std::vector<std::string>* value, std::string doc);
  /// A --help section of mutually exclusive flags.
  Flags& one_of(std::string name, std::string doc);

  /// The flag of that name, which must exist.
  Flag& at(const std::string& name);

  const std::deque<Flag>& all() const { return list_; }
  const std::deque<Flags>& groups() const { return groups_; }
  const std::string& name() const { return name_; }  ///< of a group
  const std::string& doc() const { return doc_; }    ///< of a group

 private:
  std::string name_, doc_;
  std::deque<Flag> list_;  // a deque, so that references stay valid
  std::deque<Flags> groups_;
};

}  // namespace baton
