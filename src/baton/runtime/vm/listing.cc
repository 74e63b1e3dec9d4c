#include "baton/runtime/vm/listing.h"

#include <algorithm>
#include <map>
#include <optional>

#include "baton/runtime/vm/instructions.h"

namespace baton::vm {
namespace {

// Opcodes of TVM 0.11.1; from kOwn on those of Baton.
enum Listed : int32_t {
  kMoveCode = 0,
  kRet = 1,
  kInvoke = 2,
  kInvokeClosure = 3,
  kInvokePacked = 4,
  kAllocTensor = 5,
  kAllocTensorReg = 6,
  kAllocData = 7,
  kAllocClosure = 8,
  kGetField = 9,
  kIf = 10,
  kLoadConst = 11,
  kGoto = 12,
  kGetTag = 13,
  kLoadConsti = 14,
  kFatalCode = 15,
  kAllocStorage = 16,
  kReshapeTensor = 18,
  kDeviceCopy = 19,
  kKillRegister = 20,
  kOwn = 21,
};

struct Line {
  std::vector<int64_t> words;
  std::string text, comment;
  std::string count = {};  ///< ListingComments::count
};

std::string reg(int64_t number) { return "$" + std::to_string(number); }

template <class List>
std::string regs(const List& list) {
  std::string text;
  for (const auto each : list) text += (text.empty() ? "" : ", ") + reg(each);
  return text;
}

/// What an instruction is in the source: "if, line 12"; empty: not known.
std::string source_text(const FunctionCode& function, uint32_t word) {
  for (const CodeLine& each : function.lines) {
    if (each.word != word) continue;
    const std::string place = each.line ? "line " + std::to_string(each.line) : "";
    return each.what + (each.what.empty() || place.empty() ? "" : ", ") + place;
  }
  return {};
}

/// "[1, ?]", where extents are known when the piece begins only.
std::string shape_text(const Piece& piece, const PieceTensor& tensor) {
  std::string text;
  for (const uint32_t step : tensor.extents) {
    const ExtentStep& of = piece.steps[step];
    text += (text.empty() ? "" : ", ") +
            (of.op == ExtentStep::Op::kNumber ? std::to_string(of.number) : std::string("?"));
  }
  return "[" + text + "]";
}

/// Lines of one function. Targets are resolved when all lines are known.
class FunctionListing {
 public:
  FunctionListing(const Program& program, const FunctionCode& function, const ListingComments& comments)
      : program_(program), function_(function), comments_(comments), registers_(function.registers) {}

  std::string run(size_t number) {
    Instruction each;
    std::map<uint32_t, size_t> first_line;  // of the instruction at a word
    std::vector<std::pair<size_t, uint32_t>> jumps;
    for (uint32_t at = 0; at < function_.code.size(); at = each.end) {
      if (!decode(program_, function_.code, at, each)) break;
      const size_t first = lines_.size();
      first_line[at] = first;
      add(each, jumps);
      if (comments_.count && first < lines_.size()) lines_[first].count = comments_.count(number, at);
      if (comments_.node && first < lines_.size() && lines_[first].comment.empty())
        lines_[first].comment = source_text(function_, at);
    }
    for (const auto& [line, target] : jumps) {
      const auto offset = static_cast<int64_t>(first_line[target]) - static_cast<int64_t>(line);
      Line& of = lines_[line];
      of.words.push_back(offset);
      of.text += " " + std::to_string(offset);
    }
    std::string text = "VM Function[" + std::to_string(number) + "]: " + function_.name + "(";
    for (size_t i = 0; i < function_.parameter_names.size(); ++i)
      text += (i ? ", " : "") + function_.parameter_names[i];
    text += ")\n# reg file size = " + std::to_string(registers_) +
            "\n# instruction count = " + std::to_string(lines_.size()) + "\nopcode, fields # inst(text):\n";
    for (size_t i = 0; i < lines_.size(); ++i) {
      std::string line = (i < 10 ? " " : "") + std::to_string(i) + ": ";
      for (const int64_t word : lines_[i].words) line += std::to_string(word) + " ";
      line.resize(std::max<size_t>(line.size(), 40), ' ');
      text += line + "  # " + lines_[i].text;
      const std::string between = lines_[i].count.empty() || lines_[i].comment.empty() ? "" : ", ";
      const std::string comment = lines_[i].count + between + lines_[i].comment;
      if (!comment.empty()) text += "  ; " + comment;
      text += "\n";
    }
    return text;
  }

 private:
  void line(std::vector<int64_t> words, std::string text, std::string comment = {}) {
    lines_.push_back({std::move(words), std::move(text), std::move(comment)});
  }
  std::string comment_of(uint32_t node) const { return comments_.node ? comments_.node(node) : ""; }

  void add(const Instruction& each, std::vector<std::pair<size_t, uint32_t>>& jumps) {
    std::vector<int64_t> w;  // operands, without marks of last uses
    std::vector<int64_t> list;
    std::string comment;
    for (const auto& [at, node] : function_.nodes)
      if (at == each.at) comment = comment_of(node);
    for (const Operand& operand : each.operands) {
      const int32_t word = function_.code[operand.word];
      const bool read =
          operand.role == Role::kRead || (operand.role == Role::kItselfOrRead && word != kItself);
      const int64_t value = read ? register_of(word) : word;
      w.push_back(value);
      if (read || operand.role == Role::kItselfOrRead) list.push_back(value);
    }
    switch (each.op) {
      case Opcode::kMove:
        return line({kMoveCode, w[1], w[0]}, "move " + reg(w[0]) + " " + reg(w[1]));
      case Opcode::kReturn:
        return line({kRet, w[0]}, "ret " + reg(w[0]));
      case Opcode::kFatal:
        return line({kFatalCode}, "fatal", program_.texts[static_cast<size_t>(w[0])]);
      case Opcode::kCall:
      case Opcode::kTailCall: {
        const int64_t dst = each.op == Opcode::kCall ? w[1] : registers_++;
        std::vector<int64_t> words{kInvoke, w[0], static_cast<int64_t>(list.size())};
        words.insert(words.end(), list.begin(), list.end());
        words.push_back(dst);
        line(std::move(words),
             "invoke " + reg(dst) + " VMFunc[" + std::to_string(w[0]) + "](" + regs(list) + ")");
        if (each.op == Opcode::kTailCall) line({kRet, dst}, "ret " + reg(dst));
        return;
      }
      case Opcode::kCallValue:
      case Opcode::kTailCallValue: {
        const int64_t dst = each.op == Opcode::kCallValue ? w[1] : registers_++;
        list.erase(list.begin());
        std::vector<int64_t> words{kInvokeClosure, w[0], static_cast<int64_t>(list.size())};
        words.insert(words.end(), list.begin(), list.end());
        words.push_back(dst);
        line(std::move(words), "invoke_closure " + reg(dst) + " " + reg(w[0]) + "(" + regs(list) + ")");
        if (each.op == Opcode::kTailCallValue) line({kRet, dst}, "ret " + reg(dst));
        return;
      }
      case Opcode::kPiece:
        return add_piece(each, comment);
      case Opcode::kTryPiece: {
        // Whether its extents are as it needs them is an operator of its own, without a name in TVM.
        const int64_t fits = registers_++, one = registers_++;
        line({kLoadConsti, 1, one}, "load_consti " + reg(one) + " 1");
        jumps.emplace_back(lines_.size(), static_cast<uint32_t>(w.back()));
        line({kIf, fits, one, 1}, "if " + reg(fits) + " " + reg(one) + " 1",
             "the extents that are equal below");
        return add_piece(each, comment);
      }
      case Opcode::kOperator:
        return add_packed(static_cast<int64_t>(program_.kernels.size()) + w[0], list, {w[1]}, comment);
      case Opcode::kTuple:
      case Opcode::kData: {
        const int64_t tag =
            each.op == Opcode::kTuple ? 0 : program_.constructors[static_cast<size_t>(w[1])].tag;
        std::vector<int64_t> words{kAllocData, tag, static_cast<int64_t>(list.size())};
        words.insert(words.end(), list.begin(), list.end());
        words.push_back(w[0]);
        return line(
            std::move(words),
            "alloc_data " + reg(w[0]) + " tag(" + std::to_string(tag) + ") [" + regs(list) + "]",
            each.op == Opcode::kData ? program_.constructors[static_cast<size_t>(w[1])].info->name : "");
      }
      case Opcode::kClosure: {
        std::vector<int64_t> words{kAllocClosure, w[1], static_cast<int64_t>(list.size())};
        words.insert(words.end(), list.begin(), list.end());
        words.push_back(w[0]);
        return line(std::move(words), "alloc_closure " + reg(w[0]) + " VMFunc[" + std::to_string(w[1]) +
                                          "](" + regs(list) + ")");
      }
      case Opcode::kField:
        return line({kGetField, w[1], w[2], w[0]},
                    "get_field " + reg(w[0]) + " " + reg(w[1]) + "[" + std::to_string(w[2]) + "]");
      case Opcode::kUnlessTag: {
        const int64_t tag = registers_++, wanted = registers_++;
        line({kGetTag, w[0], tag}, "get_tag " + reg(tag) + " " + reg(w[0]));
        line({kLoadConsti, w[1], wanted}, "load_consti " + reg(wanted) + " " + std::to_string(w[1]));
        jumps.emplace_back(lines_.size(), static_cast<uint32_t>(w[2]));
        return line({kIf, tag, wanted, 1}, "if " + reg(tag) + " " + reg(wanted) + " 1");
      }
      case Opcode::kUnless: {
        const int64_t one = registers_++;
        line({kLoadConsti, 1, one}, "load_consti " + reg(one) + " 1");
        jumps.emplace_back(lines_.size(), static_cast<uint32_t>(w[1]));
        return line({kIf, w[0], one, 1}, "if " + reg(w[0]) + " " + reg(one) + " 1");
      }
      case Opcode::kJump:
        jumps.emplace_back(lines_.size(), static_cast<uint32_t>(w[0]));
        return line({kGoto}, "goto");
      case Opcode::kConstant:
        return line({kLoadConst, w[1], w[0]},
                    "load_const " + reg(w[0]) + " Const[" + std::to_string(w[1]) + "]", comment);
      case Opcode::kInteger: {
        const int64_t number =
            static_cast<int64_t>(static_cast<uint64_t>(w[3]) << 32 | static_cast<uint32_t>(w[2]));
        return line({kLoadConsti, number, w[0]}, "load_consti " + reg(w[0]) + " " + std::to_string(number),
                    comment);
      }
      case Opcode::kRelease:
        for (const int64_t each_register : list)
          line({kKillRegister, each_register}, "kill_register " + reg(each_register));
        return;
      default:
        return add_own(each, w, comment);
    }
  }

  void add_packed(int64_t number, const std::vector<int64_t>& in, const std::vector<int64_t>& out,
                  std::string comment) {
    std::vector<int64_t> words{kInvokePacked, number, static_cast<int64_t>(in.size() + out.size()),
                               static_cast<int64_t>(out.size())};
    words.insert(words.end(), in.begin(), in.end());
    words.insert(words.end(), out.begin(), out.end());
    line(std::move(words),
         "invoke_packed PackedFunc[" + std::to_string(number) + "] (in: " + regs(in) + ", out: " + regs(out) +
             ")",
         std::move(comment));
  }

  void add_own(const Instruction& each, const std::vector<int64_t>& w, const std::string& comment) {
    static const std::map<Opcode, const char*> names = {{Opcode::kMakeCell, "make_ref"},
                                                        {Opcode::kReadCell, "read_ref"},
                                                        {Opcode::kWriteCell, "write_ref"},
                                                        {Opcode::kConstructor, "load_constructor"},
                                                        {Opcode::kAdd, "add"},
                                                        {Opcode::kSubtract, "subtract"},
                                                        {Opcode::kMultiply, "multiply"},
                                                        {Opcode::kMinimum, "minimum"},
                                                        {Opcode::kMaximum, "maximum"},
                                                        {Opcode::kAnd, "logical_and"},
                                                        {Opcode::kOr, "logical_or"},
                                                        {Opcode::kEqual, "equal"},
                                                        {Opcode::kNotEqual, "not_equal"},
                                                        {Opcode::kLess, "less"},
                                                        {Opcode::kLessEqual, "less_equal"},
                                                        {Opcode::kNot, "logical_not"},
                                                        {Opcode::kCast, "cast"},
                                                        {Opcode::kAppend, "append"}};
    const int64_t code = kOwn + static_cast<int64_t>(each.op) - static_cast<int64_t>(Opcode::kMakeCell);
    std::string text = names.at(each.op);
    for (size_t i = 0; i < w.size(); ++i) {
      const Role role = each.operands[i].role;
      if (role == Role::kIntegerKind)
        text.insert(text.find(' '), "." + dtype_of(static_cast<IntegerKind>(w[i])).str());
      else if (role == Role::kConstructor)
        text += " " + program_.constructors[static_cast<size_t>(w[i])].info->name;
      else
        text += " " + reg(w[i]);
    }
    std::vector<int64_t> words{code};
    words.insert(words.end(), w.begin(), w.end());
    line(std::move(words), text, comment);
  }

  void add_piece(const Instruction& each, const std::string& comment) {
    const Piece& piece = program_.pieces[static_cast<size_t>(function_.code[each.operands[0].word])];
    std::vector<int64_t> places(piece.tensors.size(), -1);
    for (size_t i = 0; i < piece.inputs.size(); ++i)
      places[piece.inputs[i]] = register_of(function_.code[each.operands[1 + i].word]);
    for (size_t o = 0; o < piece.outputs.size(); ++o)
      places[piece.outputs[o]] = function_.code[each.operands[1 + piece.inputs.size() + o].word];
    for (size_t t = 0; t < piece.tensors.size(); ++t) {
      if (places[t] < 0) places[t] = registers_++;
      if (piece.tensors[t].home == PieceTensor::Home::kConstant)
        line({kLoadConst, piece.tensors[t].place, places[t]},
             "load_const " + reg(places[t]) + " Const[" + std::to_string(piece.tensors[t].place) + "]",
             comment);
    }
    // A storage for each slot of the arena, and for each result.
    std::map<std::pair<int, uint32_t>, int64_t> storages;
    std::vector<bool> made(piece.tensors.size());
    const auto make = [&](uint32_t t, std::optional<uint32_t> node = {}) {
      const std::string made_for = node && comments_.made_for ? comments_.made_for(*node) : "";
      const PieceTensor& tensor = piece.tensors[t];
      if (made[t] || tensor.home == PieceTensor::Home::kInput || tensor.home == PieceTensor::Home::kConstant)
        return;
      made[t] = true;
      const DType type = tensor.dtype;
      if (tensor.home == PieceTensor::Home::kView) {
        const int64_t shape = registers_++;
        line({kReshapeTensor, places[tensor.place], shape, places[t]},
             "reshape_tensor " + reg(places[t]) + " " + reg(places[tensor.place]) + " " + reg(shape),
             shape_text(piece, tensor));
        return;
      }
      const auto [at, fresh] =
          storages.try_emplace({static_cast<int>(tensor.home), tensor.place}, registers_);
      if (fresh) {
        const int64_t size = registers_ + 1;
        registers_ += 2;
        line({kAllocStorage, size, NDArray::kAlignment, static_cast<int64_t>(type.code), type.bits,
              type.lanes, tensor.device, at->second},
             "alloc_storage " + reg(at->second) + " " + reg(size) + " " +
                 std::to_string(NDArray::kAlignment) + " " + type.str() + " " + std::to_string(tensor.device),
             made_for);
      }
      const bool is_static = std::ranges::all_of(
          tensor.extents, [&](uint32_t step) { return piece.steps[step].op == ExtentStep::Op::kNumber; });
      const int64_t offset = registers_++;
      std::vector<int64_t> words{is_static ? kAllocTensor : kAllocTensorReg, at->second, offset};
      if (!is_static) words.push_back(registers_++);
      for (const int64_t word : {static_cast<int64_t>(type.code), int64_t{type.bits}, int64_t{type.lanes}})
        words.push_back(word);
      if (is_static) {
        words.push_back(static_cast<int64_t>(tensor.extents.size()));
        for (const uint32_t step : tensor.extents) words.push_back(piece.steps[step].number);
      }
      const std::string shape = is_static ? shape_text(piece, tensor) : reg(words[3]);
      words.push_back(places[t]);
      line(std::move(words),
           (is_static ? "alloc_tensor " : "alloc_tensor_reg ") + reg(places[t]) + " " + reg(at->second) +
               " " + reg(offset) + " " + shape + " " + type.str(),
           (is_static ? "" : shape_text(piece, tensor)) + (is_static || made_for.empty() ? "" : ", ") +
               made_for);
    };
    for (const PieceCall& call : piece.calls) {
      std::vector<int64_t> in, out;
      for (const uint32_t t : call.inputs) make(t);
      for (const uint32_t t : call.outputs) make(t, call.node);
      for (const uint32_t t : call.inputs) in.push_back(places[t]);
      for (const uint32_t t : call.outputs) out.push_back(places[t]);
      if (call.kernel != PieceCall::kCopy) {
        add_packed(call.kernel, in, out, comment_of(call.node));
        continue;
      }
      const int64_t from = piece.tensors[call.inputs[0]].device, to = piece.tensors[call.outputs[0]].device;
      line({kDeviceCopy, in[0], from, to, out[0]},
           "device_copy " + reg(out[0]) + " " + reg(in[0]) + " " + std::to_string(from) + " " +
               std::to_string(to),
           comment_of(call.node));
    }
    for (uint32_t t = 0; t < piece.tensors.size(); ++t) make(t);
  }

  const Program& program_;
  const FunctionCode& function_;
  const ListingComments& comments_;
  int64_t registers_;
  std::vector<Line> lines_;
};

}  // namespace

std::string listing(const Program& program, const ListingComments& comments) {
  std::string text;
  for (size_t i = 0; i < program.functions.size(); ++i)
    text += FunctionListing(program, program.functions[i], comments).run(i) + "\n";
  return text;
}

}  // namespace baton::vm
