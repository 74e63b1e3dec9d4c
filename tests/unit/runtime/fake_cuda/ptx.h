// Interprets PTX: what LLVM makes of Halide's GPU kernels, one thread after the other, exactly as far as IEEE
// arithmetic goes. Every access to global memory is checked by the caller's function. For tests: it shows
// that the text computes what it should, and says nothing of a device's speed.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace ptx {

struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Throws Error when `bytes` from `address` on are not the device's memory.
using CheckAccess = std::function<void(uint64_t address, size_t bytes)>;

struct Block {
  std::array<uint32_t, 3> index{}, threads{}, blocks{};
  std::vector<uint8_t> shared;
  const CheckAccess* check = nullptr;
  const uint8_t* parameters = nullptr;
};

struct Thread {
  std::vector<uint64_t> registers;
  std::vector<uint8_t> local;
  std::array<uint32_t, 3> index{};
  size_t next = 0;     ///< the instruction after this one
  uint32_t carry = 0;  ///< of .cc
  bool waits = false;  ///< at a barrier
  bool done = false;
  Block* block = nullptr;
};

using Step = std::function<void(Thread&)>;
using Read = std::function<uint64_t(Thread&)>;

template <class To, class From>
To bits_as(From bits) {
  To value{};
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
template <class From>
uint64_t bits_of(From value) {
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}

struct Kernel {
  std::vector<size_t> parameter_at, parameter_bytes;  ///< offsets and sizes of parameters
  size_t parameters_size = 0, local_size = 0;
  size_t registers = 0;
  std::vector<Step> steps;
};

class Module {
 public:
  explicit Module(std::string_view text) { parse(text); }

  std::map<std::string, Kernel> kernels;

 private:
  struct Place {  // of a name in memory
    enum class Space { kParameter, kLocal, kConst, kShared } space;
    uint64_t at = 0;
  };

  [[noreturn]] static void fail(const std::string& what) { throw Error("ptx: " + what); }

  static std::string trimmed(std::string_view text) {
    const size_t begin = text.find_first_not_of(" \t\n");
    if (begin == std::string_view::npos) return "";
    return std::string(text.substr(begin, text.find_last_not_of(" \t\n") - begin + 1));
  }

  static std::vector<std::string> split(const std::string& text, char at) {
    std::vector<std::string> parts;
    int depth = 0;
    std::string part;
    for (const char c : text) {
      depth += (c == '{' || c == '[') - (c == '}' || c == ']');
      if (c == at && depth == 0) {
        parts.push_back(trimmed(part));
        part.clear();
      } else {
        part += c;
      }
    }
    if (!trimmed(part).empty()) parts.push_back(trimmed(part));
    return parts;
  }

  static size_t bytes_of_type(const std::string& type) {
    if (type == "pred") return 1;
    return std::stoul(type.substr(1)) / 8;
  }

  // ---- Statements

  void parse(std::string_view text) {
    std::string statement;
    Kernel* kernel = nullptr;
    std::string header;
    bool in_header = false;
    std::istringstream lines{std::string(text)};
    for (std::string line; std::getline(lines, line);) {
      line = trimmed(line.substr(0, line.find("//")));
      if (line.empty()) continue;
      if (line.find(".func") != std::string::npos) fail("calls of functions are not interpreted");
      if (!kernel && (line[0] == '.' || in_header)) {
        if (line.find(".entry") != std::string::npos) in_header = true;
        if (in_header) {
          header += " " + line;
          if (line.find('{') == std::string::npos && line.back() != ')') continue;
          if (line.back() == ')') continue;
          kernel = begin_kernel(header);
          header.clear();
          in_header = false;
          continue;
        }
        if (line.starts_with(".const") || line.starts_with(".global")) {
          statement += line;
          if (line.back() == ';') add_array(statement), statement.clear();
        }
        continue;
      }
      if (!kernel) {
        if (line == "{") {
          kernel = begin_kernel(header);
          header.clear();
          in_header = false;
          continue;
        }
        if (!statement.empty()) {
          statement += line;
          if (line.back() == ';') add_array(statement), statement.clear();
          continue;
        }
        fail("cannot read `" + line + "`");
      }
      if (line == "{" || (line == "}" && scopes_ > 0)) {
        scopes_ += line == "{" ? 1 : -1;
        continue;
      }
      if (line[0] == '{' && line.back() == '}') {
        for (const std::string& each : split(line.substr(1, line.size() - 2), ';'))
          add_statement(*kernel, each);
        continue;
      }
      if (line == "}") {
        end_kernel(*kernel);
        kernel = nullptr;
        continue;
      }
      if (line.back() == ':') {
        labels_[line.substr(0, line.size() - 1)] = pending_.size();
        continue;
      }
      statement += (statement.empty() ? "" : " ") + line;
      if (line.back() != ';') continue;
      statement.pop_back();
      add_statement(*kernel, trimmed(statement));
      statement.clear();
    }
  }

  Kernel* begin_kernel(const std::string& header) {
    const size_t name_at = header.find(".entry") + 6, open = header.find('(', name_at);
    Kernel& kernel = kernels[trimmed(header.substr(name_at, open - name_at))];
    for (const std::string& parameter : split(header.substr(open + 1, header.rfind(')') - open - 1), ',')) {
      std::istringstream words(parameter);
      std::string word, type, name;
      while (words >> word) {
        if (type.empty() && word.size() > 2 && word[0] == '.' &&
            std::isdigit(static_cast<unsigned char>(word[2])))
          type = word.substr(1);
        name = word;
      }
      const size_t bytes = bytes_of_type(type);
      kernel.parameters_size = (kernel.parameters_size + bytes - 1) / bytes * bytes;
      names_[name] = {Place::Space::kParameter, kernel.parameters_size};
      kernel.parameter_at.push_back(kernel.parameters_size);
      kernel.parameter_bytes.push_back(bytes);
      kernel.parameters_size += bytes;
    }
    registers_.clear();
    labels_.clear();
    pending_.clear();
    return &kernel;
  }

  void end_kernel(Kernel& kernel) {
    for (const std::string& each : pending_) kernel.steps.push_back(compiled(each));
    kernel.registers = registers_.size();
  }

  /// ".const .align 4 .b8 name[24] = {65, 144, ...};"
  void add_array(const std::string& text) {
    const size_t open = text.find('['), close = text.find(']'), values = text.find('{');
    const size_t name_at = text.find_last_of(" \t", open) + 1;
    const size_t type_at = text.rfind('.', name_at);
    const size_t bytes = bytes_of_type(trimmed(text.substr(type_at + 1, name_at - type_at - 1)));
    auto array = std::make_unique<std::vector<uint8_t>>(
        bytes * std::stoul(text.substr(open + 1, close - open - 1)) + 16);
    if (values != std::string::npos) {
      size_t at = 0;
      for (const std::string& each : split(text.substr(values + 1, text.rfind('}') - values - 1), ',')) {
        const uint64_t value = static_cast<uint64_t>(std::stoll(each, nullptr, 0));
        std::memcpy(array->data() + at, &value, bytes);
        at += bytes;
      }
    }
    names_[text.substr(name_at, open - name_at)] = {
        Place::Space::kConst, static_cast<uint64_t>(reinterpret_cast<uintptr_t>(array->data()))};
    constants_.emplace_back(reinterpret_cast<uintptr_t>(array->data()), array->size());
    arrays_.push_back(std::move(array));
  }

  void add_statement(Kernel& kernel, const std::string& text) {
    if (text.starts_with(".reg")) return;
    if (text.starts_with(".local")) {
      const size_t open = text.find('[');
      const size_t name_at = text.find_last_of(" \t", open) + 1;
      kernel.local_size = (kernel.local_size + 15) / 16 * 16;
      names_[text.substr(name_at, open - name_at)] = {Place::Space::kLocal, kernel.local_size};
      kernel.local_size += std::stoul(text.substr(open + 1));
      return;
    }
    if (text[0] == '.') return;  // .pragma, .loc
    pending_.push_back(text);
  }

  // ---- Operands

  size_t slot(const std::string& name) {
    return registers_.try_emplace(name, registers_.size()).first->second;
  }

  static uint64_t immediate(const std::string& text) {
    if (text.starts_with("0f") || text.starts_with("0F") || text.starts_with("0d") || text.starts_with("0D"))
      return std::stoull(text.substr(2), nullptr, 16);
    if (text[0] == '-') return static_cast<uint64_t>(std::stoll(text, nullptr, 0));
    return std::stoull(text, nullptr, 0);
  }

  Read read(const std::string& text) {
    static const std::map<std::string, std::array<uint32_t, 3> Block::*> kOfBlock = {
        {"ctaid", &Block::index}, {"ntid", &Block::threads}, {"nctaid", &Block::blocks}};
    if (text[0] == '%') {
      const size_t dot = text.find('.');
      if (dot != std::string::npos) {
        const std::string name = text.substr(1, dot - 1);
        const size_t axis = static_cast<size_t>(text.back() - 'x');
        if (name == "tid") return [axis](Thread& t) -> uint64_t { return t.index[axis]; };
        const auto member = kOfBlock.at(name);
        return [member, axis](Thread& t) -> uint64_t { return (t.block->*member)[axis]; };
      }
      const size_t at = slot(text);
      return [at](Thread& t) { return t.registers[at]; };
    }
    if (const auto name = names_.find(text); name != names_.end()) {
      const Place place = name->second;
      if (place.space == Place::Space::kLocal)
        return [place](Thread& t) {
          return static_cast<uint64_t>(reinterpret_cast<uintptr_t>(t.local.data())) + place.at;
        };
      return [place](Thread&) { return place.at; };
    }
    if (text == "true" || text == "false")
      return [value = uint64_t{text == "true"}](Thread&) { return value; };
    if (std::isalpha(static_cast<unsigned char>(text[0]))) {  // a register of an inner scope
      const size_t at = slot(text);
      return [at](Thread& t) { return t.registers[at]; };
    }
    const uint64_t value = immediate(text);
    return [value](Thread&) { return value; };
  }

  /// "[%rd1+16]": the address.
  Read address(const std::string& text) {
    const std::string inside = text.substr(1, text.size() - 2);
    const size_t plus = inside.find('+');
    Read base = read(trimmed(inside.substr(0, plus)));
    if (plus == std::string::npos) return base;
    const uint64_t offset = immediate(trimmed(inside.substr(plus + 1)));
    return [base, offset](Thread& t) { return base(t) + offset; };
  }

  /// Of "{%r1, %r2}" or "%r1".
  static std::vector<std::string> names_in(const std::string& text) {
    if (text[0] != '{') return {text};
    return split(text.substr(1, text.size() - 2), ',');
  }

  // ---- Instructions

  Step compiled(const std::string& text) {
    std::string rest = text, guard;
    bool negated = false;
    if (rest[0] == '@') {
      const size_t end = rest.find_first_of(" \t");
      guard = rest.substr(1, end - 1);
      if (guard[0] == '!') {
        negated = true;
        guard.erase(0, 1);
      }
      rest = trimmed(rest.substr(end));
    }
    const size_t end = rest.find_first_of(" \t");
    const std::vector<std::string> op = split(rest.substr(0, end), '.');
    const std::vector<std::string> args =
        end == std::string::npos ? std::vector<std::string>() : split(trimmed(rest.substr(end)), ',');
    Step step;
    try {
      step = instruction(op, args);
    } catch (const Error&) {
      throw;
    } catch (const std::exception& error) {
      fail("cannot read `" + text + "`: " + error.what());
    }
    if (!step) fail("no such instruction here: `" + text + "`");
    if (guard.empty()) return step;
    const size_t at = slot(guard);
    return [at, negated, step](Thread& t) {
      if ((t.registers[at] != 0) != negated) step(t);
    };
  }

  static bool has(const std::vector<std::string>& op, const char* word) {
    return std::find(op.begin(), op.end(), word) != op.end();
  }

  Step instruction(const std::vector<std::string>& op, const std::vector<std::string>& a) {
    const std::string &name = op[0], &type = op.back();
    if (name == "ret" || name == "exit") return [](Thread& t) { t.done = true; };
    if (name == "bar" || name == "barrier") return [](Thread& t) { t.waits = true; };
    if (name == "bra") {
      const size_t to = labels_.at(a.at(0));
      return [to](Thread& t) { t.next = to; };
    }
    if (name == "ld" || name == "st") return memory(op, a);
    if (name == "mov" && (a.at(0)[0] == '{' || a.at(1)[0] == '{')) return move_parts(a, bytes_of_type(type));
    if (name == "cvt") return conversion(op, a);
    if (name == "setp" || name == "set") return comparison(op, a);
    const size_t to = slot(a.at(0));
    if (name == "mov" || name == "cvta" || name == "cvt_pack") {
      const Read from = read(a.at(1));
      return [to, from](Thread& t) { t.registers[to] = from(t); };
    }
    if (name == "selp") {
      const Read x = read(a.at(1)), y = read(a.at(2)), p = read(a.at(3));
      return [=](Thread& t) { t.registers[to] = p(t) ? x(t) : y(t); };
    }
    if (type == "f32") return arithmetic_of_floats<float>(op, a);
    if (type == "f64") return arithmetic_of_floats<double>(op, a);
    if (type == "pred") return bitwise<uint8_t>(name, a, 1);
    if (type == "s16") return arithmetic<int16_t>(op, a);
    if (type == "u16" || type == "b16") return arithmetic<uint16_t>(op, a);
    if (type == "s32") return arithmetic<int32_t>(op, a);
    if (type == "u32" || type == "b32") return arithmetic<uint32_t>(op, a);
    if (type == "s64") return arithmetic<int64_t>(op, a);
    if (type == "u64" || type == "b64") return arithmetic<uint64_t>(op, a);
    return nullptr;
  }

  Step move_parts(const std::vector<std::string>& a, size_t bytes) {
    const std::vector<std::string> to = names_in(a[0]), from = names_in(a[1]);
    const size_t parts = std::max(to.size(), from.size()), width = 8 * bytes / parts;
    const uint64_t mask = width == 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
    if (to.size() == 1) {
      const size_t slot_of_whole = slot(to[0]);
      std::vector<Read> reads;
      for (const std::string& each : from) reads.push_back(read(each));
      return [=](Thread& t) {
        uint64_t whole = 0;
        for (size_t i = 0; i < parts; ++i) whole |= (reads[i](t) & mask) << (i * width);
        t.registers[slot_of_whole] = whole;
      };
    }
    const Read whole = read(from[0]);
    std::vector<size_t> slots;
    for (const std::string& each : to) slots.push_back(each == "_" ? SIZE_MAX : slot(each));
    return [=](Thread& t) {
      const uint64_t value = whole(t);
      for (size_t i = 0; i < parts; ++i)
        if (slots[i] != SIZE_MAX) t.registers[slots[i]] = value >> (i * width) & mask;
    };
  }

  Step memory(const std::vector<std::string>& op, const std::vector<std::string>& a) {
    const bool loads = op[0] == "ld";
    const std::string& type = op.back();
    const size_t bytes = bytes_of_type(type);
    const bool is_signed = type[0] == 's';
    const Read at = address(a.at(loads ? 1 : 0));
    std::vector<size_t> to;
    std::vector<Read> from;
    for (const std::string& each : names_in(a.at(loads ? 0 : 1)))
      loads ? (void)to.push_back(slot(each)) : (void)from.push_back(read(each));
    const bool parameter = has(op, "param"), shared = has(op, "shared");
    const bool of_thread = has(op, "local"), constant = has(op, "const");
    const size_t count = loads ? to.size() : from.size();
    const auto constants = &constants_;
    return [=](Thread& t) {
      const uint64_t start = at(t);
      uint8_t* data = nullptr;
      if (parameter) {
        data = const_cast<uint8_t*>(t.block->parameters) + start;
      } else if (shared) {
        if (start + count * bytes > t.block->shared.size()) fail("shared memory ends before this access");
        data = t.block->shared.data() + start;
      } else {
        data = reinterpret_cast<uint8_t*>(static_cast<uintptr_t>(start));
        const auto within = [&](const uint8_t* begin, size_t size) {
          return data >= begin && data + count * bytes <= begin + size;
        };
        const bool own = within(t.local.data(), t.local.size());
        bool in_constant = false;
        for (const auto& [begin, size] : *constants)
          in_constant |= within(reinterpret_cast<const uint8_t*>(begin), size);
        if (of_thread && !own) fail("local memory ends before this access");
        if (constant && !in_constant) fail("constants end before this access");
        if (!own && !in_constant) (*t.block->check)(start, count* bytes);
        if (start % (count * bytes)) fail("an address is not aligned");
      }
      for (size_t i = 0; i < count; ++i) {
        if (loads) {
          uint64_t value = 0;
          std::memcpy(&value, data + i * bytes, bytes);
          if (is_signed && bytes < 8 && value >> (8 * bytes - 1)) value |= ~uint64_t{0} << (8 * bytes);
          t.registers[to[i]] = value;
        } else {
          const uint64_t value = from[i](t);
          std::memcpy(data + i * bytes, &value, bytes);
        }
      }
    };
  }

  // ---- Conversions and comparisons

  /// The value of `bits` as a number of that type: exact, since no type here has more bits than its holder.
  static double float_of(const std::string& type, uint64_t bits) {
    return type == "f32" ? static_cast<double>(bits_as<float>(bits)) : bits_as<double>(bits);
  }
  static int64_t signed_of(size_t width, uint64_t bits) {
    return width == 64 ? static_cast<int64_t>(bits)
                       : static_cast<int64_t>(bits << (64 - width)) >> (64 - width);
  }
  static uint64_t masked(size_t width, uint64_t bits) {
    return width == 64 ? bits : bits & ((uint64_t{1} << width) - 1);
  }
  static double rounded(double value, char way) {
    switch (way) {
      case 'z':
        return std::trunc(value);
      case 'm':
        return std::floor(value);
      case 'p':
        return std::ceil(value);
      default:
        return std::nearbyint(value);
    }
  }

  Step conversion(const std::vector<std::string>& op, const std::vector<std::string>& a) {
    const std::string to_type = op[op.size() - 2], from_type = op.back();
    const size_t to = slot(a.at(0));
    const Read from = read(a.at(1));
    const size_t to_width = 8 * bytes_of_type(to_type), from_width = 8 * bytes_of_type(from_type);
    const bool to_float = to_type[0] == 'f', from_float = from_type[0] == 'f';
    const bool to_signed = to_type[0] == 's', from_signed = from_type[0] == 's';
    char way = 'n';
    bool to_integer = false;
    for (const std::string& word : op)
      if (word.size() == 3 && word.starts_with("r") && word[2] == 'i') {
        way = word[1];
        to_integer = true;
      }
    const bool saturates = has(op, "sat");
    if ((to_float && to_width < 32) || (from_float && from_width < 32)) return nullptr;
    if (from_float && to_float)
      return [=](Thread& t) {
        double value = float_of(from_type, from(t));
        if (to_integer) value = rounded(value, way);
        if (saturates) value = std::isnan(value) ? 0 : std::clamp(value, 0.0, 1.0);
        t.registers[to] = to_width == 32 ? bits_of(static_cast<float>(value)) : bits_of(value);
      };
    if (from_float)
      return [=](Thread& t) {
        const double value = rounded(float_of(from_type, from(t)), way);
        const double low = to_signed ? -std::ldexp(1.0, static_cast<int>(to_width) - 1) : 0;
        const double beyond = std::ldexp(1.0, static_cast<int>(to_width) - (to_signed ? 1 : 0));
        uint64_t bits = 0;
        if (std::isnan(value)) {
          bits = 0;
        } else if (value >= beyond) {
          bits = to_signed ? (uint64_t{1} << (to_width - 1)) - 1 : masked(to_width, ~uint64_t{0});
        } else if (value <= low) {
          bits = to_signed ? uint64_t{1} << (to_width - 1) : 0;
        } else {
          bits =
              to_signed ? static_cast<uint64_t>(static_cast<int64_t>(value)) : static_cast<uint64_t>(value);
        }
        t.registers[to] = masked(to_width, bits);
      };
    if (to_float)
      return [=](Thread& t) {
        const uint64_t bits = from(t);
        const int64_t whole = signed_of(from_width, bits);
        const uint64_t natural = masked(from_width, bits);
        if (to_width == 32)
          t.registers[to] = bits_of(from_signed ? static_cast<float>(whole) : static_cast<float>(natural));
        else
          t.registers[to] = bits_of(from_signed ? static_cast<double>(whole) : static_cast<double>(natural));
      };
    return [=](Thread& t) {
      const uint64_t bits = from(t);
      const uint64_t value =
          from_signed ? static_cast<uint64_t>(signed_of(from_width, bits)) : masked(from_width, bits);
      // A narrow signed value lies sign-extended in a wider register.
      t.registers[to] = to_signed ? masked(std::max<size_t>(to_width, 32),
                                           static_cast<uint64_t>(signed_of(to_width, value)))
                                  : masked(to_width, value);
    };
  }

  template <class Value>
  static bool compares(const std::string& how, Value x, Value y) {
    if constexpr (std::is_floating_point_v<Value>) {
      const bool unordered = std::isnan(x) || std::isnan(y);
      if (how == "num") return !unordered;
      if (how == "nan") return unordered;
      if (how.size() == 3) return unordered || compares(how.substr(0, 2), x, y);
      if (unordered) return false;
    }
    if (how == "eq") return x == y;
    if (how == "ne") return x != y;
    if (how == "lt" || how == "lo") return x < y;
    if (how == "le" || how == "ls") return x <= y;
    if (how == "gt" || how == "hi") return x > y;
    if (how == "ge" || how == "hs") return x >= y;
    fail("no such comparison: " + how);
  }

  template <class Value>
  Step comparison_of(const std::vector<std::string>& op, const std::vector<std::string>& a) {
    const std::string how = op[1];
    const std::string joined =
        op.size() > 3 && (op[2] == "and" || op[2] == "or" || op[2] == "xor") ? op[2] : "";
    const size_t to = slot(a.at(0));
    const Read x = read(a.at(1)), y = read(a.at(2));
    const Read other = joined.empty() ? Read() : read(a.at(3));
    compares<Value>(how, Value{}, Value{});  // an unknown one fails here
    return [=](Thread& t) {
      bool is = compares<Value>(how, bits_as<Value>(x(t)), bits_as<Value>(y(t)));
      if (joined == "and") is = is && other(t);
      if (joined == "or") is = is || other(t);
      if (joined == "xor") is = is != (other(t) != 0);
      t.registers[to] = is;
    };
  }

  Step comparison(const std::vector<std::string>& op, const std::vector<std::string>& a) {
    const std::string& type = op.back();
    if (op[0] != "setp") return nullptr;
    if (type == "f32") return comparison_of<float>(op, a);
    if (type == "f64") return comparison_of<double>(op, a);
    if (type == "s16") return comparison_of<int16_t>(op, a);
    if (type == "u16" || type == "b16") return comparison_of<uint16_t>(op, a);
    if (type == "s32") return comparison_of<int32_t>(op, a);
    if (type == "u32" || type == "b32") return comparison_of<uint32_t>(op, a);
    if (type == "s64") return comparison_of<int64_t>(op, a);
    if (type == "u64" || type == "b64") return comparison_of<uint64_t>(op, a);
    return nullptr;
  }

  // ---- Arithmetic

  template <class Value, class Compute>
  Step binary(const std::vector<std::string>& a, Compute compute) {
    const size_t to = slot(a.at(0));
    const Read x = read(a.at(1)), y = read(a.at(2));
    return [=](Thread& t) { t.registers[to] = bits_of(compute(bits_as<Value>(x(t)), bits_as<Value>(y(t)))); };
  }
  template <class Value, class Compute>
  Step unary(const std::vector<std::string>& a, Compute compute) {
    const size_t to = slot(a.at(0));
    const Read x = read(a.at(1));
    return [=](Thread& t) { t.registers[to] = bits_of(compute(bits_as<Value>(x(t)))); };
  }

  template <class F>
  Step arithmetic_of_floats(const std::vector<std::string>& op, const std::vector<std::string>& a) {
    const std::string& name = op[0];
    if (name == "add") return binary<F>(a, [](F x, F y) { return x + y; });
    if (name == "sub") return binary<F>(a, [](F x, F y) { return x - y; });
    if (name == "mul") return binary<F>(a, [](F x, F y) { return x * y; });
    if (name == "div") return binary<F>(a, [](F x, F y) { return x / y; });
    if (name == "min") return binary<F>(a, [](F x, F y) { return std::fmin(x, y); });
    if (name == "max") return binary<F>(a, [](F x, F y) { return std::fmax(x, y); });
    if (name == "copysign") return binary<F>(a, [](F x, F y) { return std::copysign(y, x); });
    if (name == "abs") return unary<F>(a, [](F x) { return std::fabs(x); });
    if (name == "neg") return unary<F>(a, [](F x) { return -x; });
    if (name == "sqrt") return unary<F>(a, [](F x) { return std::sqrt(x); });
    if (name == "rsqrt") return unary<F>(a, [](F x) { return F(1) / std::sqrt(x); });
    if (name == "rcp") return unary<F>(a, [](F x) { return F(1) / x; });
    if (name == "ex2") return unary<F>(a, [](F x) { return std::exp2(x); });
    if (name == "lg2") return unary<F>(a, [](F x) { return std::log2(x); });
    if (name == "sin") return unary<F>(a, [](F x) { return std::sin(x); });
    if (name == "cos") return unary<F>(a, [](F x) { return std::cos(x); });
    if (name == "tanh") return unary<F>(a, [](F x) { return std::tanh(x); });
    if (name == "fma" || name == "mad") {
      const size_t to = slot(a.at(0));
      const Read x = read(a.at(1)), y = read(a.at(2)), z = read(a.at(3));
      return [=](Thread& t) {
        t.registers[to] = bits_of(std::fma(bits_as<F>(x(t)), bits_as<F>(y(t)), bits_as<F>(z(t))));
      };
    }
    return nullptr;
  }

  template <class Value>
  Step bitwise(const std::string& name, const std::vector<std::string>& a, Value mask) {
    if (name == "and") return binary<Value>(a, [](Value x, Value y) { return static_cast<Value>(x & y); });
    if (name == "or") return binary<Value>(a, [](Value x, Value y) { return static_cast<Value>(x | y); });
    if (name == "xor") return binary<Value>(a, [](Value x, Value y) { return static_cast<Value>(x ^ y); });
    if (name == "not") return unary<Value>(a, [mask](Value x) { return static_cast<Value>(~x & mask); });
    return nullptr;
  }

  /// The upper and lower half of a product.
  template <class I>
  static std::pair<I, I> product(I x, I y) {
    using Wide = std::conditional_t<std::is_signed_v<I>, __int128, unsigned __int128>;
    const Wide whole = static_cast<Wide>(x) * static_cast<Wide>(y);
    return {static_cast<I>(whole >> (8 * sizeof(I))), static_cast<I>(whole)};
  }

  template <class I>
  Step arithmetic(const std::vector<std::string>& op, const std::vector<std::string>& a) {
    using U = std::make_unsigned_t<I>;
    constexpr unsigned kWidth = 8 * sizeof(I);
    const std::string& name = op[0];
    if (Step step = bitwise<I>(name, a, static_cast<I>(~I{0}))) return step;
    const bool sets_carry = has(op, "cc");
    if (name == "add" && !sets_carry)
      return binary<I>(a, [](I x, I y) { return static_cast<I>(static_cast<U>(x) + static_cast<U>(y)); });
    if (name == "sub" && !sets_carry)
      return binary<I>(a, [](I x, I y) { return static_cast<I>(static_cast<U>(x) - static_cast<U>(y)); });
    if ((name == "add" || name == "addc") && sizeof(I) >= 4) {
      const size_t to = slot(a.at(0));
      const Read x = read(a.at(1)), y = read(a.at(2));
      const bool takes = name == "addc";
      return [=](Thread& t) {
        const auto sum = static_cast<unsigned __int128>(static_cast<U>(x(t))) + static_cast<U>(y(t)) +
                         (takes ? t.carry : 0);
        if (sets_carry) t.carry = static_cast<uint32_t>(sum >> kWidth);
        t.registers[to] = bits_of(static_cast<U>(sum));
      };
    }
    if (name == "mul" || name == "mad" || name == "madc" || name == "mul24") {
      const size_t to = slot(a.at(0));
      const Read x = read(a.at(1)), y = read(a.at(2));
      const Read z = name.starts_with("mad") ? read(a.at(3)) : [](Thread&) { return uint64_t{0}; };
      const bool takes = name == "madc", wide = has(op, "wide"), high = has(op, "hi");
      return [=](Thread& t) {
        const auto [above, below] = product<I>(static_cast<I>(x(t)), static_cast<I>(y(t)));
        if (wide) {
          const uint64_t whole =
              static_cast<uint64_t>(static_cast<U>(below)) |
              (sizeof(I) < 8 ? static_cast<uint64_t>(static_cast<U>(above)) << kWidth % 64 : 0);
          t.registers[to] = masked(2 * kWidth, whole + z(t));
          return;
        }
        const auto sum = static_cast<unsigned __int128>(static_cast<U>(high ? above : below)) +
                         static_cast<U>(z(t)) + (takes ? t.carry : 0);
        if (sets_carry) t.carry = static_cast<uint32_t>(sum >> kWidth) & 1;
        t.registers[to] = bits_of(static_cast<U>(sum));
      };
    }
    if (name == "div")
      return binary<I>(a, [](I x, I y) {
        if (y == 0) return static_cast<I>(~I{0});
        if (std::is_signed_v<I> && y == static_cast<I>(-1)) return static_cast<I>(U{0} - static_cast<U>(x));
        return static_cast<I>(x / y);
      });
    if (name == "rem")
      return binary<I>(a, [](I x, I y) {
        if (y == 0) return x;
        if (std::is_signed_v<I> && y == static_cast<I>(-1)) return I{0};
        return static_cast<I>(x % y);
      });
    if (name == "min") return binary<I>(a, [](I x, I y) { return std::min(x, y); });
    if (name == "max") return binary<I>(a, [](I x, I y) { return std::max(x, y); });
    if (name == "neg") return unary<I>(a, [](I x) { return static_cast<I>(U{0} - static_cast<U>(x)); });
    if (name == "abs")
      return unary<I>(a, [](I x) { return x < 0 ? static_cast<I>(U{0} - static_cast<U>(x)) : x; });
    if (name == "popc")
      return unary<I>(a, [](I x) { return static_cast<uint32_t>(std::popcount(static_cast<U>(x))); });
    if (name == "clz")
      return unary<I>(a, [](I x) { return static_cast<uint32_t>(std::countl_zero(static_cast<U>(x))); });
    if (name == "shl" || name == "shr") {
      const size_t to = slot(a.at(0));
      const Read x = read(a.at(1)), by = read(a.at(2));
      const bool left = name == "shl";
      return [=](Thread& t) {
        const I value = static_cast<I>(x(t));
        const auto count = static_cast<uint32_t>(by(t));
        I result = 0;
        if (count < kWidth)
          result = left ? static_cast<I>(static_cast<U>(value) << count) : static_cast<I>(value >> count);
        else if (!left && std::is_signed_v<I> && value < 0)
          result = static_cast<I>(-1);
        t.registers[to] = bits_of(result);
      };
    }
    if constexpr (sizeof(I) == 4) {
      if (name == "shf") {
        const size_t to = slot(a.at(0));
        const Read low = read(a.at(1)), high = read(a.at(2)), by = read(a.at(3));
        const bool left = op.at(1) == "l", wraps = has(op, "wrap");
        return [=](Thread& t) {
          const uint64_t both = static_cast<uint32_t>(low(t)) | static_cast<uint64_t>(high(t)) << 32;
          const auto asked = static_cast<uint32_t>(by(t));
          const uint32_t count = wraps ? asked & 31 : std::min(asked, 32u);
          t.registers[to] = static_cast<uint32_t>(left ? both << count >> 32 : both >> count);
        };
      }
      if (name == "prmt") {
        const size_t to = slot(a.at(0));
        const Read low = read(a.at(1)), high = read(a.at(2)), chosen = read(a.at(3));
        return [=](Thread& t) {
          const uint64_t both = static_cast<uint32_t>(low(t)) | static_cast<uint64_t>(high(t)) << 32;
          uint32_t result = 0;
          for (unsigned i = 0; i < 4; ++i) {
            const uint64_t which = chosen(t) >> (4 * i) & 15;
            const auto byte = static_cast<uint8_t>(both >> (8 * (which & 7)));
            const uint8_t value = which & 8 ? (byte & 0x80 ? 0xff : 0) : byte;
            result |= static_cast<uint32_t>(value) << (8 * i);
          }
          t.registers[to] = result;
        };
      }
      if (name == "bfe" || name == "bfi") return bit_field<I>(name == "bfe", a);
    }
    return nullptr;
  }

  template <class I>
  Step bit_field(bool extract, const std::vector<std::string>& a) {
    const size_t to = slot(a.at(0));
    if (extract) {
      const Read x = read(a.at(1)), at = read(a.at(2)), length = read(a.at(3));
      return [=](Thread& t) {
        const auto count = std::min<uint32_t>(static_cast<uint32_t>(length(t)) & 255, 32);
        const uint64_t field = static_cast<uint32_t>(x(t)) >> (static_cast<uint32_t>(at(t)) & 31);
        const uint64_t bits = masked(std::max(1u, count), field) * (count > 0);
        t.registers[to] =
            std::is_signed_v<I> && count ? masked(32, static_cast<uint64_t>(signed_of(count, bits))) : bits;
      };
    }
    const Read x = read(a.at(1)), into = read(a.at(2)), at = read(a.at(3)), length = read(a.at(4));
    return [=](Thread& t) {
      const auto count = std::min<uint32_t>(static_cast<uint32_t>(length(t)) & 255, 32);
      const uint32_t from = static_cast<uint32_t>(at(t)) & 31;
      const auto mask = static_cast<uint32_t>(masked(std::max(1u, count), ~uint64_t{0}) * (count > 0))
                        << from;
      t.registers[to] =
          (static_cast<uint32_t>(into(t)) & ~mask) | (static_cast<uint32_t>(x(t)) << from & mask);
    };
  }

  std::map<std::string, Place> names_;
  std::map<std::string, size_t> registers_, labels_;
  std::vector<std::string> pending_;
  int scopes_ = 0;  // inside of a kernel
  std::vector<std::unique_ptr<std::vector<uint8_t>>> arrays_;
  std::vector<std::pair<uintptr_t, size_t>> constants_;
};

/// Runs a launch: all threads of a block up to the next barrier, block after block. Error for what a device
/// would trap on.
inline void launch(const Kernel& kernel, std::array<uint32_t, 3> blocks, std::array<uint32_t, 3> threads,
                   size_t shared_bytes, void** parameters, const CheckAccess& check) {
  std::vector<uint8_t> values(kernel.parameters_size + 8);
  for (size_t i = 0; i < kernel.parameter_at.size(); ++i)
    std::memcpy(values.data() + kernel.parameter_at[i], parameters[i], kernel.parameter_bytes[i]);
  Block block;
  block.threads = threads;
  block.blocks = blocks;
  block.check = &check;
  block.parameters = values.data();
  std::vector<Thread> all(size_t{threads[0]} * threads[1] * threads[2]);
  for (uint64_t b = 0; b < uint64_t{blocks[0]} * blocks[1] * blocks[2]; ++b) {
    block.index = {static_cast<uint32_t>(b % blocks[0]), static_cast<uint32_t>(b / blocks[0] % blocks[1]),
                   static_cast<uint32_t>(b / blocks[0] / blocks[1])};
    block.shared.assign(shared_bytes, 0xA5);
    for (size_t i = 0; i < all.size(); ++i) {
      Thread& t = all[i];
      t.registers.assign(kernel.registers, 0xDEADBEEFDEADBEEF);
      t.local.assign(kernel.local_size, 0xA5);
      t.index = {static_cast<uint32_t>(i % threads[0]), static_cast<uint32_t>(i / threads[0] % threads[1]),
                 static_cast<uint32_t>(i / threads[0] / threads[1])};
      t.next = 0;
      t.done = t.waits = false;
      t.block = &block;
    }
    for (bool left = true; left;) {
      left = false;
      for (Thread& t : all) {
        t.waits = false;
        while (!t.done && !t.waits) {
          if (t.next >= kernel.steps.size()) throw Error("ptx: a thread runs behind the last instruction");
          kernel.steps[t.next++](t);
        }
        left |= !t.done;
      }
    }
  }
}

}  // namespace ptx
