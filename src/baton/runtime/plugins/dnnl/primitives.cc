#include "baton/runtime/plugins/dnnl/primitives.h"

#include <algorithm>
#include <stdexcept>

#include "baton/runtime/plugins/dnnl/exact_sums.h"
#include "baton/runtime/plugins/dnnl/layouts.h"

namespace baton::dnnl_plugin {

using namespace dnnl_blob;
using dnnl::algorithm;
using dnnl::memory;

namespace {

constexpr auto kInference = dnnl::prop_kind::forward_inference;

algorithm algorithm_of(Algorithm of) {
  switch (of) {
    case Algorithm::kPoolMax:
      return algorithm::pooling_max;
    case Algorithm::kPoolAverage:
      return algorithm::pooling_avg_exclude_padding;
    case Algorithm::kPoolAveragePadded:
      return algorithm::pooling_avg_include_padding;
    case Algorithm::kSoftmax:
      return algorithm::softmax_accurate;
    case Algorithm::kLogSoftmax:
      return algorithm::softmax_log;
    case Algorithm::kRelu:
      return algorithm::eltwise_relu;
    case Algorithm::kSigmoid:
      return algorithm::eltwise_logistic;
    case Algorithm::kTanh:
      return algorithm::eltwise_tanh;
    case Algorithm::kExp:
      return algorithm::eltwise_exp;
    case Algorithm::kLog:
      return algorithm::eltwise_log;
    case Algorithm::kSqrt:
      return algorithm::eltwise_sqrt;
    case Algorithm::kAbs:
      return algorithm::eltwise_abs;
    case Algorithm::kClip:
      return algorithm::eltwise_clip;
    case Algorithm::kGelu:
      return algorithm::eltwise_gelu_erf;
    case Algorithm::kLinear:
      return algorithm::eltwise_linear;
    case Algorithm::kRound:
      return algorithm::eltwise_round;
    case Algorithm::kAdd:
      return algorithm::binary_add;
    case Algorithm::kSubtract:
      return algorithm::binary_sub;
    case Algorithm::kMultiply:
      return algorithm::binary_mul;
    case Algorithm::kDivide:
      return algorithm::binary_div;
    case Algorithm::kMaximum:
      return algorithm::binary_max;
    case Algorithm::kMinimum:
      return algorithm::binary_min;
    case Algorithm::kNone:
    case Algorithm::kCount:
      break;
  }
  return algorithm::undef;
}

const char* name_of(StepKind kind) {
  static const char* const names[] = {"convolution",
                                      "deconvolution",
                                      "inner product",
                                      "matmul",
                                      "pooling",
                                      "softmax",
                                      "eltwise",
                                      "binary",
                                      "concat",
                                      "reorder",
                                      "layer normalization",
                                      "batch normalization"};
  return names[static_cast<size_t>(kind)];
}

/// As oneDNN's verbose mode writes layouts: axes from the outermost, those in blocks as capitals, then the
/// blocks.
std::string layout_text(const memory::desc& layout) {
  const int axes = layout.get_ndims(), blocks = layout.get_inner_nblks();
  const Dims strides = layout.get_strides(), inner = layout.get_inner_blks(), of = layout.get_inner_idxs();
  std::vector<int> order(static_cast<size_t>(axes));
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
  std::ranges::stable_sort(order, std::greater<>(),
                           [&](int axis) { return strides[static_cast<size_t>(axis)]; });
  std::string text;
  for (const int axis : order) {
    const bool blocked = std::ranges::find(of.begin(), of.begin() + blocks, axis) != of.begin() + blocks;
    text += static_cast<char>((blocked ? 'A' : 'a') + axis);
  }
  for (int i = 0; i < blocks; ++i)
    text +=
        std::to_string(inner[static_cast<size_t>(i)]) + static_cast<char>('a' + of[static_cast<size_t>(i)]);
  return text;
}

std::string implementation_of(const dnnl::primitive& primitive) {
  const char* text = nullptr;
  const bool known = dnnl_primitive_desc_query(primitive.get_primitive_desc(), dnnl_query_impl_info_str, 0,
                                               static_cast<void*>(&text)) == dnnl_success;
  return known && text ? text : "";
}

memory copied(const memory& from, const memory::desc& layout) {
  memory to(layout, cpu());
  dnnl::stream stream(cpu());
  dnnl::reorder(from, to).execute(stream, const_cast<memory&>(from), to);
  stream.wait();
  return to;
}

dnnl::primitive primitive_of(const dnnl::convolution_forward::primitive_desc& pd) {
  return dnnl::convolution_forward(pd);
}
dnnl::primitive primitive_of(const dnnl::deconvolution_forward::primitive_desc& pd) {
  return dnnl::deconvolution_forward(pd);
}
dnnl::primitive primitive_of(const dnnl::inner_product_forward::primitive_desc& pd) {
  return dnnl::inner_product_forward(pd);
}
dnnl::primitive primitive_of(const dnnl::matmul::primitive_desc& pd) { return dnnl::matmul(pd); }

/// Whether a convolution that stands alone is better computed as matrix products over plain layouts than in
/// oneDNN's blocks, with `moved` bytes of data and result reordered for these. A deterministic estimate in
/// units of moved bytes: a core has about 10 operations of a product per byte that a reorder moves. Blocks
/// fill up to 16 channels; products copy each window, but for windows of one pixel.
bool plain_is_faster(const Step& step, const Dims& result, double moved) {
  constexpr double kOperationsPerByte = 10, kProductsAreSlower = 1.1;
  constexpr int64_t kLanes = 16, kFewestOutputs = 4;
  const Dims& weights = step.inputs[1].dims;
  const Dims& over = step.kind == StepKind::kConvolution ? result : step.inputs[0].dims;  // windows
  const size_t rank = over.size(), first = weights.size() - rank;  // 1: an axis of groups before
  const int64_t outputs = weights[first];
  if (outputs < kFewestOutputs) return false;  // products of few rows, depthwise ones among them
  const double windows = static_cast<double>(elements(over)) / static_cast<double>(over[1]);
  const double work = 2 * windows * static_cast<double>(elements(weights)) / kOperationsPerByte;
  const double padded =
      static_cast<double>((outputs + kLanes - 1) / kLanes * kLanes) / static_cast<double>(outputs);
  const bool one_pixel = std::all_of(weights.end() - static_cast<ptrdiff_t>(rank - 2), weights.end(),
                                     [](int64_t extent) { return extent == 1; }) &&
                         std::ranges::all_of(step.strides, [](int64_t stride) { return stride == 1; });
  // A convolution copies what each window reads; a transposed one adds what each window makes to a result
  // that is cleared before.
  const bool transposed = step.kind == StepKind::kDeconvolution;
  const int64_t other_channels = transposed ? weights[first + 1] : outputs;
  double copied = one_pixel ? 0
                            : windows * static_cast<double>(elements(weights) / other_channels) *
                                  static_cast<double>(sizeof(float));
  if (transposed) copied += static_cast<double>(elements(result)) * sizeof(float);
  return kProductsAreSlower * work + copied < padded * work + moved;
}

/// Takes the first implementation that adds products of bytes in 32 bits: the others saturate in 16, or
/// halve their weights.
template <class Description>
void make_wide(const Step& step, const Dims& result, Description& pd) {
  std::string tried;
  do {
    const std::string name = pd.impl_info_str();
    if (name.find("vnni") != std::string::npos || name.find("amx") != std::string::npos) return;
    tried += (tried.empty() ? "" : ", ") + name;
  } while (pd.next_impl());
  throw std::runtime_error("oneDNN has no " + std::string(name_of(step.kind)) + " of " +
                           text_of(step.inputs[0].dims) + " to " + text_of(result) +
                           " of bytes with sums of 32 bits on this processor (there are: " + tried + ")");
}

/// A program as it grows: where tensors lie, in which layouts, and the commands that read and write them.
class ProgramSlots {
 public:
  ProgramSlots(const Region& region, Constants& constants) : region_(region), constants_(constants) {
    main_.assign(region.tensors.size(), kNone);
    last_read_.assign(region.tensors.size(), 0);
    for (size_t s = 0; s < region.steps.size(); ++s) {
      const Step& step = region.steps[s];
      for (const View& view : step.inputs) last_read_[static_cast<size_t>(view.tensor)] = s;
      for (const PostOp& post : step.posts)
        for (const View& view : post.operand) last_read_[static_cast<size_t>(view.tensor)] = s;
    }
    for (size_t t = 0; t < region.tensors.size(); ++t)
      if (region.tensors[t].kind == TensorKind::kInput)
        main_[t] = add_slot(layout_of(region.tensors[t]),
                            add_storage({.place = Storage::kInput, .index = region.tensors[t].index}));
  }

 protected:
  static constexpr size_t kNone = ~size_t{0};

  const TensorInfo& info(int64_t tensor) const { return region_.tensors[static_cast<size_t>(tensor)]; }
  memory::desc layout_of_view(const View& view) const {
    return layout_of(view.dims, view.strides, info(view.tensor).type);
  }
  memory::desc any(const View& view) const {
    return {view.dims, data_type_of(info(view.tensor).type), memory::format_tag::any};
  }
  memory::desc any(const TensorInfo& tensor) const {
    return {tensor.dims, data_type_of(tensor.type), memory::format_tag::any};
  }

  size_t add_storage(Storage storage) {
    program_->storages.push_back(std::move(storage));
    return program_->storages.size() - 1;
  }
  size_t add_slot(const memory::desc& layout, size_t storage) {
    program_->slots.push_back({layout, storage});
    return program_->slots.size() - 1;
  }
  size_t temporary(const memory::desc& layout) {
    const size_t command = program_->commands.size();
    return add_slot(layout, add_storage({.bytes = layout.get_size(), .first = command, .last = command}));
  }
  const memory::desc& layout(size_t slot) const { return program_->slots[slot].layout; }

  /// `reason`: of a change of layout, which no step of the region asks for.
  void command(dnnl::primitive primitive, std::vector<std::pair<int, size_t>> args,
               const memory::desc& scratch, const char* reason = "") {
    for (const auto& [arg, slot] : args) {
      Storage& used = program_->storages[program_->slots[slot].storage];
      used.last = std::max(used.last, program_->commands.size());
    }
    program_->scratch_bytes = std::max(program_->scratch_bytes, scratch.get_size());
    std::string implementation = implementation_of(primitive), layouts = layouts_of(args);
    const char* const name = *reason ? name_of(StepKind::kReorder) : name_of(region_.steps[now_].kind);
    program_->commands.push_back({std::move(primitive), std::move(args), scratch, now_, name, reason,
                                  std::move(implementation), std::move(layouts)});
  }

  /// "aBcd16b ABcd16b16a -> aBcd16b": operands, then the result.
  std::string layouts_of(const std::vector<std::pair<int, size_t>>& args) const {
    std::string operands, result;
    for (const auto& [arg, slot] : args) {
      if (arg == DNNL_ARG_DST)
        result = layout_text(layout(slot));
      else
        operands += layout_text(layout(slot)) + " ";
    }
    return operands + "-> " + result;
  }

  size_t reordered(size_t from, const memory::desc& wanted) {
    const size_t to = temporary(wanted);
    copy(from, to, "the step reads another layout");
    return to;
  }
  void copy(size_t from, size_t to, const char* reason = "") {
    const dnnl::reorder::primitive_desc pd(cpu(), layout(from), cpu(), layout(to), attributes());
    command(dnnl::reorder(pd), {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}}, pd.scratchpad_desc(), reason);
  }

  static dnnl::primitive_attr attributes() {
    dnnl::primitive_attr attr;
    attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    return attr;
  }

  bool is_constant(const View& view) const { return info(view.tensor).kind == TensorKind::kConstant; }
  bool is_whole(const View& view) const {
    return view.dims == info(view.tensor).dims && view.strides == info(view.tensor).strides;
  }

  /// The operand in the layout in which it lies, or the one that its view says.
  size_t read(const View& view) {
    const auto t = static_cast<size_t>(view.tensor);
    if (is_constant(view)) return constant(view, layout_of_view(view));
    if (main_[t] == kNone) throw std::runtime_error("its steps read a tensor before it is computed");
    if (is_whole(view)) return main_[t];
    const size_t plain = read_as(main_[t], layout_of(info(view.tensor)));
    return add_slot(layout_of_view(view), program_->slots[plain].storage);
  }
  size_t read(const View& view, const memory::desc& wanted) {
    return is_constant(view) ? constant(view, wanted) : read_as(read(view), wanted);
  }
  /// The operand in its plain layout.
  size_t read_plain(const View& view) { return read(view, layout_of_view(view)); }

  size_t read_as(size_t slot, const memory::desc& wanted) {
    if (layout(slot) == wanted) return slot;
    for (const auto& [from, to] : conversions_)
      if (from == slot && layout(to) == wanted) return to;
    const size_t made = reordered(slot, wanted);
    conversions_.emplace_back(slot, made);
    return made;
  }
  size_t constant(const View& view, const memory::desc& wanted) {
    return add_slot(wanted, add_storage({.place = Storage::kConstant,
                                         .constant = constants_.get(info(view.tensor), view, wanted)}));
  }

  /// A slot for the result of a step in `layout`: the caller's memory where that is its layout.
  size_t result(int64_t tensor, const memory::desc& layout) {
    const TensorInfo& of = info(tensor);
    const bool in_place = of.kind == TensorKind::kOutput && layout == layout_of(of);
    const size_t slot = in_place
                            ? add_slot(layout, add_storage({.place = Storage::kOutput, .index = of.index}))
                            : temporary(layout);
    main_[static_cast<size_t>(tensor)] = slot;
    return slot;
  }
  /// After the step: copies an output to the caller's memory if it was made elsewhere.
  void finish(int64_t tensor) {
    const TensorInfo& of = info(tensor);
    const size_t slot = main_[static_cast<size_t>(tensor)];
    if (slot == kNone) throw std::runtime_error("its steps do not compute every output");
    if (of.kind != TensorKind::kOutput ||
        program_->storages[program_->slots[slot].storage].place == Storage::kOutput)
      return;
    copy(slot, add_slot(layout_of(of), add_storage({.place = Storage::kOutput, .index = of.index})),
         "the region returns another layout");
  }

  /// Gives offsets to temporaries, the largest first, so that those in use at a time do not overlap.
  void place_in_arena() {
    std::vector<Storage*> all;
    for (Storage& storage : program_->storages)
      if (storage.place == Storage::kArena) all.push_back(&storage);
    std::ranges::stable_sort(all, std::greater<>(), [](const Storage* each) { return each->bytes; });
    std::vector<const Storage*> placed;
    for (Storage* storage : all) {
      const size_t bytes = (storage->bytes + kDataAlignment - 1) / kDataAlignment * kDataAlignment;
      std::vector<const Storage*> others;
      for (const Storage* other : placed)
        if (other->first <= storage->last && storage->first <= other->last) others.push_back(other);
      std::ranges::sort(others, {}, [](const Storage* each) { return each->offset; });
      size_t offset = 0;
      for (const Storage* other : others) {
        if (offset + bytes <= other->offset) break;
        offset = std::max(offset, other->offset + other->bytes);
      }
      storage->offset = offset;
      storage->bytes = bytes;
      placed.push_back(storage);
      program_->arena_bytes = std::max(program_->arena_bytes, offset + bytes);
    }
  }

  const Region& region_;
  Constants& constants_;
  std::shared_ptr<Program> program_ = std::make_shared<Program>();
  std::vector<size_t> main_;       // by tensor: the slot that its step wrote
  std::vector<size_t> last_read_;  // by tensor: the last step that reads it
  std::vector<std::pair<size_t, size_t>> conversions_;
  size_t now_ = 0;
};

/// Adds the primitives of one step after the other.
class Builder : ProgramSlots {
 public:
  using ProgramSlots::ProgramSlots;

  std::shared_ptr<const Program> run(int threads) {
    for (now_ = 0; now_ < region_.steps.size(); ++now_) {
      const Step& step = region_.steps[now_];
      try {
        add(step);
      } catch (const dnnl::error& error) {
        throw std::runtime_error("oneDNN has no " + std::string(name_of(step.kind)) + " of " +
                                 (step.inputs.empty() ? "" : text_of(step.inputs[0].dims)) + " to " +
                                 text_of(info(step.output).dims) + " (" + error.what() + ")");
      }
    }
    program_->threads = threads;
    place_in_arena();
    return program_;
  }

 private:
  void add(const Step& step) {
    switch (step.kind) {
      case StepKind::kConvolution:
        add_layer(step, [&](const memory::desc& from, const memory::desc& to, const memory::desc& bias,
                            const dnnl::primitive_attr& attr) {
          return dnnl::convolution_forward::primitive_desc(cpu(), kInference, algorithm::convolution_direct,
                                                           from, any(step.inputs[1]), bias, to, step.strides,
                                                           step.dilates, step.before, step.after, attr);
        });
        break;
      case StepKind::kDeconvolution:
        add_layer(step, [&](const memory::desc& from, const memory::desc& to, const memory::desc& bias,
                            const dnnl::primitive_attr& attr) {
          return dnnl::deconvolution_forward::primitive_desc(
              cpu(), kInference, algorithm::deconvolution_direct, from, any(step.inputs[1]), bias, to,
              step.strides, step.dilates, step.before, step.after, attr);
        });
        break;
      case StepKind::kInnerProduct:
        add_layer(step, [&](const memory::desc& from, const memory::desc& to, const memory::desc& bias,
                            const dnnl::primitive_attr& attr) {
          return dnnl::inner_product_forward::primitive_desc(cpu(), kInference, from, any(step.inputs[1]),
                                                             bias, to, attr);
        });
        break;
      case StepKind::kMatmul:
        add_layer(step, [&](const memory::desc&, const memory::desc&, const memory::desc& bias,
                            const dnnl::primitive_attr& attr) {
          const auto operand = [&](const View& view) {
            return is_constant(view) ? any(view) : layout(read(view));
          };
          return dnnl::matmul::primitive_desc(cpu(), operand(step.inputs[0]), operand(step.inputs[1]), bias,
                                              layout_of(info(step.output)), attr);
        });
        break;
      case StepKind::kPooling: {
        const size_t from = read(step.inputs[0]);
        const dnnl::pooling_forward::primitive_desc pd(
            cpu(), kInference, algorithm_of(step.algorithm), layout(from), any(info(step.output)),
            step.strides, step.window, step.dilates, step.before, step.after, attributes());
        map(step, pd, dnnl::pooling_forward(pd), from);
        break;
      }
      case StepKind::kSoftmax: {
        const size_t from = read(step.inputs[0]);
        const dnnl::softmax_forward::primitive_desc pd(cpu(), kInference, algorithm_of(step.algorithm),
                                                       layout(from), layout(from),
                                                       static_cast<int>(step.axis), attributes());
        map(step, pd, dnnl::softmax_forward(pd), from);
        break;
      }
      case StepKind::kEltwise: {
        const size_t from = read(step.inputs[0]);
        const dnnl::eltwise_forward::primitive_desc pd(
            cpu(), kInference, algorithm_of(step.algorithm), layout(from), layout(from),
            static_cast<float>(step.alpha), static_cast<float>(step.beta), attributes());
        map(step, pd, dnnl::eltwise_forward(pd), from);
        break;
      }
      case StepKind::kBinary:
        add_binary(step);
        break;
      case StepKind::kConcat:
        add_concat(step);
        break;
      case StepKind::kReorder: {
        const size_t from = read_plain(step.inputs[0]);
        copy(from, result(step.output, layout_of(info(step.output))));
        break;
      }
      case StepKind::kLayerNorm: {
        // Its kernels go along rows; other layouts have reference loops only.
        const size_t from = read_plain(step.inputs[0]);
        const auto flags = step.inputs.size() == 3
                               ? dnnl::normalization_flags::use_scale | dnnl::normalization_flags::use_shift
                               : dnnl::normalization_flags::none;
        const dnnl::layer_normalization_forward::primitive_desc pd(
            cpu(), kInference, layout(from), layout(from), static_cast<float>(step.alpha), flags,
            attributes());
        std::vector<std::pair<int, size_t>> args = {{DNNL_ARG_SRC, from}};
        if (step.inputs.size() == 3) {
          args.emplace_back(DNNL_ARG_SCALE, read_plain(step.inputs[1]));
          args.emplace_back(DNNL_ARG_SHIFT, read_plain(step.inputs[2]));
        }
        args.emplace_back(DNNL_ARG_DST, result(step.output, pd.dst_desc()));
        command(dnnl::layer_normalization_forward(pd), std::move(args), pd.scratchpad_desc());
        break;
      }
      case StepKind::kBatchNorm: {
        const size_t from = read(step.inputs[0]);
        using Flags = dnnl::normalization_flags;
        const dnnl::batch_normalization_forward::primitive_desc pd(
            cpu(), kInference, layout(from), layout(from), static_cast<float>(step.alpha),
            Flags::use_global_stats | Flags::use_scale | Flags::use_shift, attributes());
        std::vector<std::pair<int, size_t>> args = {{DNNL_ARG_SRC, from}};
        const int vectors[] = {DNNL_ARG_SCALE, DNNL_ARG_SHIFT, DNNL_ARG_MEAN, DNNL_ARG_VARIANCE};
        for (size_t i = 0; i < std::size(vectors); ++i)
          args.emplace_back(vectors[i], read_plain(step.inputs[i + 1]));
        args.emplace_back(DNNL_ARG_DST, result(step.output, pd.dst_desc()));
        command(dnnl::batch_normalization_forward(pd), std::move(args), pd.scratchpad_desc());
        break;
      }
      case StepKind::kCount:
        break;
    }
    finish(step.output);
  }

  /// A primitive of one source and one destination.
  template <class Description>
  void map(const Step& step, const Description& pd, dnnl::primitive primitive, size_t from) {
    const size_t to = result(step.output, pd.dst_desc());
    command(std::move(primitive), {{DNNL_ARG_SRC, from}, {DNNL_ARG_DST, to}}, pd.scratchpad_desc());
  }

  void add_binary(const Step& step) {
    const View &a = step.inputs[0], &b = step.inputs[1];
    const size_t left = is_constant(a) ? read_plain(a) : read(a);
    std::vector<std::pair<int, size_t>> args;
    const View* sum = nullptr;
    const dnnl::primitive_attr attr = posts_of(step, args, &sum);
    if (sum) throw std::runtime_error("its element-wise step adds to its result in place");
    // `any`: the blocks of the left operand also for one that broadcasts, without which oneDNN has reference
    // loops only.
    const dnnl::binary::primitive_desc pd(cpu(), algorithm_of(step.algorithm), layout(left), any(b),
                                          layout(left), attr);
    args.emplace_back(DNNL_ARG_SRC_0, left);
    args.emplace_back(DNNL_ARG_SRC_1, read(b, pd.src1_desc()));
    args.emplace_back(DNNL_ARG_DST, result(step.output, pd.dst_desc()));
    command(dnnl::binary(pd), std::move(args), pd.scratchpad_desc());
  }

  void add_concat(const Step& step) {
    std::vector<std::pair<int, size_t>> args;
    std::vector<memory::desc> layouts;
    for (const View& view : step.inputs) {
      args.emplace_back(DNNL_ARG_MULTIPLE_SRC + static_cast<int>(args.size()), read(view));
      layouts.push_back(layout(args.back().second));
    }
    const dnnl::concat::primitive_desc pd(cpu(), static_cast<int>(step.axis), layouts, attributes());
    args.emplace_back(DNNL_ARG_DST, result(step.output, pd.dst_desc()));
    command(dnnl::concat(pd), std::move(args), pd.scratchpad_desc());
  }

  /// The post-operations of a step. Their operands are added to `args`, and the one of a sum is `*sum`.
  dnnl::primitive_attr posts_of(const Step& step, std::vector<std::pair<int, size_t>>& args,
                                const View** sum) {
    dnnl::post_ops posts;
    for (const PostOp& post : step.posts) {
      const int index = posts.len();
      switch (post.kind) {
        case PostKind::kSum:
          posts.append_sum(static_cast<float>(post.alpha));
          *sum = &post.operand[0];
          break;
        case PostKind::kEltwise:
          posts.append_eltwise(algorithm_of(post.algorithm), static_cast<float>(post.alpha),
                               static_cast<float>(post.beta));
          break;
        case PostKind::kBinary: {
          const size_t operand = read_plain(post.operand[0]);
          posts.append_binary(algorithm_of(post.algorithm), layout(operand));
          args.emplace_back(DNNL_ARG_ATTR_MULTIPLE_POST_OP(index) | DNNL_ARG_SRC_1, operand);
          break;
        }
        case PostKind::kCount:
          break;
      }
    }
    dnnl::primitive_attr attr = attributes();
    attr.set_post_ops(posts);
    return attr;
  }

  /// A layer with weights, a bias (an empty layout: none) and post-operations. `describe` makes its
  /// description.
  template <class Describe>
  void add_layer(const Step& step, Describe&& describe) {
    std::vector<std::pair<int, size_t>> args;
    const View* sum = nullptr;
    dnnl::primitive_attr attr = posts_of(step, args, &sum);
    add_scales(step, attr, args);
    const bool biased = step.inputs.size() == 3;
    const memory::desc bias = biased ? layout_of_view(step.inputs[2]) : memory::desc();
    auto pd = describe(any(step.inputs[0]), any(info(step.output)), bias, attr);
    if (step.largest)
      make_exact(step, pd);
    else if (!step.scales.empty())
      make_wide(step, info(step.output).dims, pd);
    else if (stands_alone(step)) {
      const size_t in = read(step.inputs[0]);
      const memory::desc out = layout_of(info(step.output));
      const size_t moved = (layout(in) == pd.src_desc() ? 0 : layout(in).get_size()) +
                           (out == pd.dst_desc() ? 0 : out.get_size());
      if (moved && plain_is_faster(step, info(step.output).dims, static_cast<double>(moved))) {
        const auto plain = describe(layout(in), out, bias, attr);
        if (std::string(plain.impl_info_str()).find("ref") == std::string::npos) pd = plain;
      }
    }
    args.emplace_back(DNNL_ARG_SRC, read(step.inputs[0], pd.src_desc()));
    args.emplace_back(DNNL_ARG_WEIGHTS, read(step.inputs[1], pd.weights_desc()));
    if (biased) args.emplace_back(DNNL_ARG_BIAS, read_plain(step.inputs[2]));
    args.emplace_back(DNNL_ARG_DST,
                      sum ? summed(step, *sum, pd.dst_desc()) : result(step.output, pd.dst_desc()));
    command(primitive_of(pd), std::move(args), pd.scratchpad_desc());
  }

  /// The factors and the zero point of a product of bytes.
  void add_scales(const Step& step, dnnl::primitive_attr& attr, std::vector<std::pair<int, size_t>>& args) {
    for (const View& view : step.scales) {
      // oneDNN multiplies weights by them: along their outputs, which are their last axis in a matrix product
      // and the first one, or that behind the groups, else.
      const size_t rank = step.inputs[1].dims.size();
      int mask = step.kind == StepKind::kMatmul ? 1 << (rank - 1) : 1;
      if (step.kind != StepKind::kMatmul && rank > step.inputs[0].dims.size()) mask = 3;
      attr.set_scales_mask(DNNL_ARG_WEIGHTS, elements(view.dims) == 1 ? 0 : mask);
      args.emplace_back(DNNL_ARG_ATTR_SCALES | DNNL_ARG_WEIGHTS, read_plain(view));
    }
    for (const View& view : step.zeros) {
      attr.set_zero_points_mask(DNNL_ARG_SRC, 0);
      args.emplace_back(DNNL_ARG_ATTR_ZERO_POINTS | DNNL_ARG_SRC, read_plain(view));
    }
  }

  /// Takes the first implementation whose sums are those of integers.
  template <class Description>
  void make_exact(const Step& step, Description& pd) {
    std::string tried;
    do {
      const std::string name = pd.impl_info_str();
      if (name.starts_with("ref")) continue;  // far slower than any other backend
      const ProductOfBytes product{step,
                                   info(step.output).dims,
                                   info(step.inputs[0].tensor).type,
                                   primitive_of(pd),
                                   name,
                                   pd.src_desc(),
                                   pd.weights_desc(),
                                   pd.dst_desc(),
                                   pd.scratchpad_desc()};
      if (sums_are_exact(product)) return;
      tried += (tried.empty() ? "" : ", ") + name;
    } while (pd.next_impl());
    throw std::runtime_error(
        "oneDNN has no " + std::string(name_of(step.kind)) + " of " + text_of(step.inputs[0].dims) + " to " +
        text_of(info(step.output).dims) + " whose sums, of up to " + std::to_string(step.largest) +
        ", are exact on this processor" + (tried.empty() ? "" : " (inexact: " + tried + ")"));
  }

  /// Whether the step is a convolution whose data come from outside of the region and whose result leaves it.
  bool stands_alone(const Step& step) const {
    return step.kind <= StepKind::kDeconvolution && info(step.output).kind == TensorKind::kOutput &&
           info(step.inputs[0].tensor).kind == TensorKind::kInput;
  }

  /// The destination of a step that adds to what is there: the summand's own memory when this is the last
  /// step that reads it and its layout fits, else a copy of the summand.
  size_t summed(const Step& step, const View& sum, const memory::desc& wanted) {
    const auto t = static_cast<size_t>(sum.tensor);
    const TensorInfo& of = info(sum.tensor);
    const bool read_by_layer =
        std::ranges::any_of(step.inputs, [&](const View& view) { return view.tensor == sum.tensor; });
    if (main_[t] != kNone && of.kind == TensorKind::kTemporary && is_whole(sum) && last_read_[t] == now_ &&
        !read_by_layer && layout(main_[t]) == wanted && info(step.output).kind == TensorKind::kTemporary)
      return main_[static_cast<size_t>(step.output)] = add_slot(wanted, program_->slots[main_[t]].storage);
    const size_t from = is_constant(sum) ? read_plain(sum) : read(sum);
    const size_t to = result(step.output, wanted);
    copy(from, to, "the sum is made in place, and its operand is read again");
    return to;
  }
};

}  // namespace

memory Constants::get(const TensorInfo& tensor, const View& view, const memory::desc& wanted) {
  const std::lock_guard lock(mutex_);
  std::vector<memory>& known = packed_[{{tensor.data, tensor.type}, {view.dims, view.strides}}];
  for (const memory& each : known)
    if (each.get_desc() == wanted) return each;
  if (!known.empty()) {
    known.push_back(copied(known[0], wanted));
  } else if (data_) {
    const memory plain(layout_of(view.dims, view.strides, tensor.type), cpu(),
                       const_cast<char*>(data_ + tensor.data));
    known.push_back(copied(plain, wanted));
  } else {
    return {};
  }
  return known.back();
}

void Constants::forget_data() {
  const std::lock_guard lock(mutex_);
  data_ = nullptr;
}

std::shared_ptr<const Program> make_program(const Region& region, Constants& constants, int threads) {
  return Builder(region, constants).run(threads);
}

namespace {

/// The least and the largest number of operands.
std::pair<size_t, size_t> operands_of(const Step& step) {
  switch (step.kind) {
    case StepKind::kConvolution:
    case StepKind::kDeconvolution:
    case StepKind::kInnerProduct:
    case StepKind::kMatmul:
      return {2, 3};
    case StepKind::kBinary:
      return {2, 2};
    case StepKind::kConcat:
      return {1, step.inputs.size()};
    case StepKind::kLayerNorm:
      return {1, 3};
    case StepKind::kBatchNorm:
      return {5, 5};
    default:
      return {1, 1};
  }
}

/// Checks the vectors whose sizes oneDNN takes for granted; names one that is not what it reads.
std::string fault_of_vectors(const Region& region, const Step& step) {
  const auto type_of = [&](int64_t tensor) { return region.tensors[static_cast<size_t>(tensor)].type; };
  const auto is_vector = [&](const View& view, int64_t extent, ElementType type) {
    return view.dims == Dims{extent} && type_of(view.tensor) == type;
  };
  const Dims &in = step.inputs[0].dims, &out = region.tensors[static_cast<size_t>(step.output)].dims;
  const bool matmul = step.kind == StepKind::kMatmul;
  bool fits = true;
  if (step.kind == StepKind::kLayerNorm || step.kind == StepKind::kBatchNorm) {
    const bool layer = step.kind == StepKind::kLayerNorm;
    fits = (layer ? in.size() == 2 && step.inputs.size() != 2 : in.size() >= 2) && in == out;
    for (size_t i = 1; i < step.inputs.size() && fits; ++i)
      fits = is_vector(step.inputs[i], in[1], ElementType::kFloat32);
  } else if (step.largest || !step.scales.empty() || !step.zeros.empty()) {
    const size_t spatial = in.size() - 2;
    fits = (matmul || step.kind == StepKind::kConvolution) && in.size() >= 2 && out.size() == in.size();
    if (matmul) {
      fits = fits && step.inputs[1].dims.size() == in.size();
    } else {
      fits = fits && step.inputs[1].dims.size() >= in.size() && step.inputs[1].dims.size() <= in.size() + 1;
      for (const Dims* each : {&step.strides, &step.dilates, &step.before, &step.after})
        fits = fits && each->size() == spatial;
    }
    if (step.scales.size() > 1 || step.zeros.size() > 1 || !fits)
      return "a product of bytes of no proper form";
    if (step.largest)
      fits = step.posts.empty() && step.scales.empty() && step.zeros.empty() && step.inputs.size() == 2 &&
             step.largest > 0 && type_of(step.inputs[1].tensor) == ElementType::kInt8 &&
             type_of(step.output) == ElementType::kInt32;
    for (const View& view : step.scales)
      fits = fits && (is_vector(view, 1, ElementType::kFloat32) ||
                      is_vector(view, matmul ? out.back() : out[1], ElementType::kFloat32));
    for (const View& view : step.zeros) fits = fits && is_vector(view, 1, ElementType::kInt32);
  }
  return fits ? "" : "a step whose vectors are not those that it needs";
}

}  // namespace

std::string fault_of(const Region& region, size_t data_bytes, bool check_only) {
  constexpr int64_t kMostElements = int64_t{1} << 40;
  const auto proper = [](const Dims& dims, const Dims& strides) {
    if (dims.empty() || dims.size() != strides.size() || static_cast<int64_t>(dims.size()) > kMostAxes)
      return false;
    int64_t count = 1;
    for (size_t i = 0; i < dims.size(); ++i) {
      if (dims[i] < 1 || dims[i] > kMostElements / count || strides[i] < 0 || strides[i] > kMostElements)
        return false;
      count *= dims[i];
    }
    return true;
  };
  std::vector<bool> written;
  for (const TensorInfo& tensor : region.tensors) {
    if (!proper(tensor.dims, tensor.strides) || tensor.index < 0) return "a tensor of no proper shape";
    const bool constant = tensor.kind == TensorKind::kConstant;
    const auto bytes = static_cast<size_t>(elements(tensor.dims)) * bytes_of(tensor.type);
    if (constant && !check_only &&
        (tensor.data < 0 || bytes > data_bytes || static_cast<size_t>(tensor.data) > data_bytes - bytes))
      return "a constant outside of the data";
    written.push_back(constant || tensor.kind == TensorKind::kInput);
  }
  const auto readable = [&](const View& view) {
    if (view.tensor < 0 || static_cast<size_t>(view.tensor) >= written.size() ||
        !written[static_cast<size_t>(view.tensor)] || !proper(view.dims, view.strides))
      return false;
    int64_t last = 0;
    for (size_t i = 0; i < view.dims.size(); ++i) {
      if (view.dims[i] - 1 > kMostElements / std::max<int64_t>(1, view.strides[i])) return false;
      last += (view.dims[i] - 1) * view.strides[i];
    }
    return last < elements(region.tensors[static_cast<size_t>(view.tensor)].dims);
  };
  for (const Step& step : region.steps) {
    const auto [least, most] = operands_of(step);
    if (step.inputs.size() < least || step.inputs.size() > most)
      return "a step with a wrong number of operands";
    for (const std::vector<View>* views : {&step.inputs, &step.scales, &step.zeros})
      for (const View& view : *views)
        if (!readable(view)) return "a step that reads what is not there";
    if (step.output < 0 || static_cast<size_t>(step.output) >= written.size())
      return "a step that writes what is not there";
    if (const std::string fault = fault_of_vectors(region, step); !fault.empty()) return fault;
    for (const PostOp& post : step.posts) {
      if (post.operand.size() != (post.kind == PostKind::kEltwise ? 0 : 1))
        return "a post-operation without operand";
      for (const View& view : post.operand)
        if (!readable(view)) return "a post-operation that reads what is not there";
    }
    if (written[static_cast<size_t>(step.output)]) return "a step that writes what is there already";
    written[static_cast<size_t>(step.output)] = true;
  }
  for (size_t t = 0; t < written.size(); ++t)
    if (region.tensors[t].kind == TensorKind::kOutput && !written[t]) return "a result that no step writes";
  return "";
}

}  // namespace baton::dnnl_plugin
