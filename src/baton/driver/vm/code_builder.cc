#include "baton/driver/vm/code_builder.h"

#include <algorithm>

#include "baton/support/error.h"

namespace baton::vm {

namespace {

bool is_read(Role role, int32_t word) {
  return role == Role::kRead || (role == Role::kItselfOrRead && word != kItself);
}

/// A set of registers.
class Registers {
 public:
  explicit Registers(size_t count) : bits_((count + 63) / 64) {}
  bool has(Register each) const { return bits_[index(each)] >> (each & 63) & 1; }
  void add(Register each) { bits_[index(each)] |= uint64_t{1} << (each & 63); }
  void remove(Register each) { bits_[index(each)] &= ~(uint64_t{1} << (each & 63)); }
  void add(const Registers& other) {
    for (size_t i = 0; i < bits_.size(); ++i) bits_[i] |= other.bits_[i];
  }
  /// Those that `other` does not have.
  std::vector<Register> without(const Registers& other) const {
    std::vector<Register> found;
    for (size_t i = 0; i < bits_.size(); ++i)
      for (uint64_t left = bits_[i] & ~other.bits_[i]; left; left &= left - 1)
        found.push_back(static_cast<Register>(i * 64 + static_cast<size_t>(__builtin_ctzll(left))));
    return found;
  }

 private:
  static size_t index(Register each) { return static_cast<size_t>(each) / 64; }
  std::vector<uint64_t> bits_;
};

}  // namespace

void CodeBuilder::place(int32_t label) { placed_.push_back({.label = label}); }

void CodeBuilder::emit(Opcode op, std::vector<int32_t> operands, std::optional<uint32_t> node) {
  operands.insert(operands.begin(), static_cast<int32_t>(op));
  Instruction decoded;
  BATON_CHECK(decode(program_, operands, 0, decoded) && decoded.end == operands.size(),
              "an instruction of the virtual machine with wrong operands");
  placed_.push_back({.words = std::move(operands), .node = node, .operands = std::move(decoded.operands)});
}

void CodeBuilder::emit_at(const Span& place, Opcode op, std::vector<int32_t> operands, std::string what) {
  emit(op, std::move(operands));
  placed_.back().place = {0, place.line, place.column, std::move(what)};
}

void CodeBuilder::append(std::vector<int32_t>& operands, const std::vector<Register>& list) {
  operands.push_back(static_cast<int32_t>(list.size()));
  operands.insert(operands.end(), list.begin(), list.end());
}

/// Marks last uses, and finds where registers that are not read again are released. All jumps go forward, so
/// one walk from the end sees the registers that live at each label before the jumps to it.
void CodeBuilder::find_last_uses() {
  const auto count = static_cast<size_t>(registers_);
  std::vector<Registers> at_label(static_cast<size_t>(labels_), Registers(count));
  std::vector<int> ways(static_cast<size_t>(labels_));  // that lead to a label
  std::vector<size_t> places(static_cast<size_t>(labels_));
  for (size_t i = 0; i < placed_.size(); ++i) {
    const Placed& each = placed_[i];
    if (each.label >= 0) {
      places[static_cast<size_t>(each.label)] = i;
      const bool falls = i > 0 && (placed_[i - 1].words.empty() ||
                                   !ends_block(static_cast<Opcode>(placed_[i - 1].words[0])));
      ways[static_cast<size_t>(each.label)] += falls;
    }
    for (const Operand& operand : each.operands)
      if (operand.role == Role::kTarget) ++ways[static_cast<size_t>(each.words[operand.word])];
  }
  Registers live(count);
  for (size_t i = placed_.size(); i-- > 0;) {
    Placed& each = placed_[i];
    if (each.label >= 0) {
      at_label[static_cast<size_t>(each.label)] = live;
      continue;
    }
    const auto op = static_cast<Opcode>(each.words[0]);
    const Registers next = live;  // where control goes on
    Registers after = ends_block(op) ? Registers(count) : next;
    for (const Operand& operand : each.operands)
      if (operand.role == Role::kTarget) after.add(at_label[static_cast<size_t>(each.words[operand.word])]);
    // What lives only on the other way is released on this one, where no third one joins it.
    for (const Operand& operand : each.operands) {
      if (operand.role != Role::kTarget || op == Opcode::kJump) continue;
      const auto label = static_cast<size_t>(each.words[operand.word]);
      each.released_after = after.without(next);
      if (ways[label] == 1) placed_[places[label]].released_before = after.without(at_label[label]);
    }
    live = after;
    for (const Operand& operand : each.operands) {
      if (operand.role != Role::kWritten) continue;
      const Register written = each.words[operand.word];
      if (!live.has(written)) each.released_after.push_back(written);  // nobody reads it
      live.remove(written);
    }
    // Of several reads of a register in one instruction the last one is marked.
    for (size_t o = each.operands.size(); o-- > 0;) {
      const Operand& operand = each.operands[o];
      int32_t& word = each.words[operand.word];
      if (!is_read(operand.role, word)) continue;
      const Register read = word;
      if (!live.has(read) && !after.has(read)) word |= kLastUse;
      live.add(read);
    }
  }
}

/// The register of the frame for each: values whose spans of instructions do not meet may share one.
/// Registers of parameters are their own.
std::vector<int32_t> CodeBuilder::allocate() const {
  const auto count = static_cast<size_t>(registers_);
  std::vector<int64_t> first(count, -1), last(count, -1);
  const auto touch = [&](Register each, size_t at) {
    const auto index = static_cast<size_t>(each);
    if (first[index] < 0) first[index] = static_cast<int64_t>(at);
    last[index] = static_cast<int64_t>(at);
  };
  for (size_t i = 0; i < placed_.size(); ++i) {
    for (const Register each : placed_[i].released_before) touch(each, i);
    for (const Operand& operand : placed_[i].operands) {
      const int32_t word = placed_[i].words[operand.word];
      if (operand.role == Role::kWritten) touch(word, i);
      if (is_read(operand.role, word)) touch(register_of(word), i);
    }
    for (const Register each : placed_[i].released_after) touch(each, i);
  }
  std::vector<std::vector<size_t>> starts(placed_.size()), ends(placed_.size());
  std::vector<int32_t> frame(count, -1), free;
  for (size_t r = 0; r < count; ++r) {
    if (r < inputs_) {
      frame[r] = static_cast<int32_t>(r);
    } else if (first[r] >= 0) {
      starts[static_cast<size_t>(first[r])].push_back(r);
      ends[static_cast<size_t>(last[r])].push_back(r);
    }
  }
  auto next = static_cast<int32_t>(inputs_);
  for (size_t i = 0; i < placed_.size(); ++i) {
    for (const size_t r : starts[i]) {
      if (free.empty()) free.push_back(next++);
      frame[r] = free.back();
      free.pop_back();
    }
    for (const size_t r : ends[i]) free.push_back(frame[r]);
  }
  return frame;
}

void CodeBuilder::finish(FunctionCode& function) {
  find_last_uses();
  const std::vector<int32_t> frame = allocate();
  const auto in_frame = [&](Register each) { return frame[static_cast<size_t>(each)]; };
  std::vector<int32_t> label_words(static_cast<size_t>(labels_));
  std::vector<std::pair<size_t, size_t>> targets;  // words, and the labels they stand for
  std::vector<int32_t>& code = function.code;
  code.clear();
  function.nodes.clear();
  function.lines.clear();
  const auto release = [&](const std::vector<Register>& list) {
    if (list.empty()) return;
    code.push_back(static_cast<int32_t>(Opcode::kRelease));
    code.push_back(static_cast<int32_t>(list.size()));
    for (const Register each : list) code.push_back(in_frame(each));
  };
  for (const Placed& each : placed_) {
    if (each.label >= 0) label_words[static_cast<size_t>(each.label)] = static_cast<int32_t>(code.size());
    release(each.released_before);
    const size_t start = code.size();
    if (each.node) function.nodes.emplace_back(static_cast<uint32_t>(start), *each.node);
    if (each.place.line || !each.place.what.empty()) {
      function.lines.push_back(each.place);
      function.lines.back().word = static_cast<uint32_t>(start);
    }
    code.insert(code.end(), each.words.begin(), each.words.end());
    for (const Operand& operand : each.operands) {
      int32_t& word = code[start + operand.word];
      if (operand.role == Role::kTarget)
        targets.emplace_back(start + operand.word, static_cast<size_t>(word));
      else if (operand.role == Role::kWritten)
        word = in_frame(word);
      else if (is_read(operand.role, word))
        word = in_frame(register_of(word)) | (word & kLastUse);
    }
    release(each.released_after);
  }
  for (const auto& [word, label] : targets) code[word] = label_words[label];
  function.registers = inputs_;
  for (const int32_t each : frame)
    function.registers = std::max(function.registers, static_cast<uint32_t>(each + 1));
}

}  // namespace baton::vm
