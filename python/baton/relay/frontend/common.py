"""Helpers of importers: attributes, renamed operators, types and values while a model is read, recurrent cells."""
import numpy as np

from ...ir import IRModule
from .. import analysis, expr as _expr, op as _op, transform as _transform
from ..function import Function


class RequiredAttr:
    """Marks an attribute that must be there."""


class StrAttrsDict:
    """Attributes that are given as str, read with the type that is asked for. A missing one without a default is an AttributeError."""

    def __init__(self, attrs):
        self.attrs = attrs

    def has_attr(self, key):
        """Whether it is there."""
        return key in self.attrs

    def _get(self, key, default, read):
        if key in self.attrs:
            return read(self.attrs[key])
        if isinstance(default, RequiredAttr):
            raise AttributeError(f"attribute {key} is missing and has no default; there are: {', '.join(self.attrs) or 'none'}")
        return default

    def get_float(self, key, default=RequiredAttr()):
        """A float."""
        return self._get(key, default, float)

    def get_int(self, key, default=RequiredAttr()):
        """An int; None for "None"."""
        return self._get(key, default, lambda text: None if text == "None" else int(text))

    def get_str(self, key, default=RequiredAttr()):
        """The str."""
        return self._get(key, default, str)

    def get_int_tuple(self, key, default=RequiredAttr()):
        """Ints, of "(1, 2)" or "[1, 2]"; None in it is left out."""
        return self._get(key, default, lambda text: tuple(int(each) for each in _words(text) if each != "None"))

    def get_float_tuple(self, key, default=RequiredAttr()):
        """Floats, of "(1.0, 2.0)"."""
        return self._get(key, default, lambda text: tuple(map(float, _words(text))))

    def get_tuple_tuple_int(self, key, default=RequiredAttr()):
        """Tuples of ints, of "((1, 2), (3, 4))"."""
        import ast

        return self._get(key, default, lambda text: tuple(map(tuple, ast.literal_eval(text))))

    def get_int_list(self, key, default=RequiredAttr()):
        """A list of ints."""
        return self._get(key, default, lambda text: list(map(int, _words(text))))

    def get_bool(self, key, default=RequiredAttr()):
        """"True", "true", "1" against the rest."""
        return self._get(key, default, lambda text: str(text) in ("True", "true", "1"))


def _words(text):
    return [each.strip() for each in str(text).strip("()[] ").split(",") if each.strip()]


class ExprTable:
    """Expressions and parameters by the names of a model; names of constants are made by new_const()."""

    def __init__(self):
        self.exprs, self.params, self.const_ctr, self.in_padding = {}, {}, 1, False

    def new_const(self, value, shape=None, dtype="float32", source_name=None):
        """A new parameter of that value; the variable for it."""
        from ...runtime import ndarray

        name = f"_param_{self.const_ctr}" if source_name is None else f"{source_name}_param_{self.const_ctr}"
        value = np.asarray(value.numpy() if hasattr(value, "numpy") else value)
        self.const_ctr += 1
        self.params[name] = value if hasattr(value, "copyto") else ndarray.array(value.astype(dtype) if shape is None else value)
        self.exprs[name] = _expr.var(name_hint=name, shape=value.shape if shape is None else shape, dtype=dtype)
        return self.exprs[name]

    def get_expr(self, name):
        """The expression of that name."""
        return self.exprs[name]

    def set_expr(self, name, expr, force_override=False):
        """Sets it; one that is there stays unless force_override."""
        if name not in self.exprs or force_override:
            self.exprs[name] = expr

    def has_expr(self, name):
        """Whether there is one."""
        return name in self.exprs

    def set_padding(self, paddings):
        """Keeps the padding of a layer that is to be merged with the next one."""
        self.paddings, self.in_padding = paddings, True

    def get_padding(self):
        """That padding, once."""
        self.in_padding = False
        return self.paddings

    def clear_padding(self):
        """Forgets it."""
        self.in_padding = False


def get_relay_op(op_name):
    """The builder of an operator: "conv2d" and "nn.conv2d" both are relay.nn.conv2d."""
    if "." in op_name:
        found = _op
        for part in op_name.split("."):
            found = getattr(found, part)
        return found
    for place in (_op, _op.nn, _op.image, _op.vision, _op.contrib):
        try:
            found = getattr(place, op_name)
        except (AttributeError, NotImplementedError):
            continue
        if callable(found):
            return found
    raise NotImplementedError(f"Relay has no operator {op_name}: convert it by a function of your own")


class AttrCvt:
    """Makes an operator from another framework's: the attributes renamed, given defaults, left out, or refused.

    transforms: {name: new name, or (new name, default), or (new name, default, function)}; excludes: names for which Baton has
    nothing, an error; disables: names that do not matter; ignores: those without a message; extras: attributes to add;
    custom_check: (function of the attributes, message).
    """

    def __init__(self, op_name, transforms=None, excludes=None, disables=None, ignores=None, extras=None, custom_check=None):
        self._op_name, self._transforms = op_name, transforms or {}
        self._excludes, self._disables, self._ignores = excludes or [], disables or [], ignores or []
        self._extras, self._custom_check = extras or {}, custom_check

    def __call__(self, inputs, attrs, *args):
        if self._custom_check is not None:
            check, message = self._custom_check
            if not check(attrs, *args):
                raise RuntimeError(f"Check failed: {message}")
        op_name = self._op_name if isinstance(self._op_name, str) else self._op_name(attrs)
        made = {}
        for name, value in attrs.items():
            if name in self._excludes:
                raise NotImplementedError(f"{op_name}: attribute {name} has no counterpart in Relay")
            if name in self._disables or name in self._ignores or name in ("_output_shapes", "_target_layout", "_input_shapes"):
                continue
            given = self._transforms.get(name, name)
            if isinstance(given, str):
                made[given] = value
            else:
                made[given[0]] = given[2](value) if len(given) > 2 else value
        for name, given in self._transforms.items():
            if name not in attrs and not isinstance(given, str):
                made.setdefault(given[0], given[1])
        return get_relay_op(op_name)(*inputs, **made, **self._extras)


class Renamer:
    """Makes an operator of another name, with its attributes as they are."""

    def __init__(self, new_name):
        self._new_name = new_name

    def __call__(self, inputs, attrs, *args):
        return get_relay_op(self._new_name)(*inputs, **(attrs if self._new_name == "tile" else {}))


def get_name(node):
    """The name of a variable; "" for other expressions."""
    return getattr(node, "name_hint", "")


def new_var(name_hint, type_annotation=None, shape=None, dtype="float32"):
    """relay.var()."""
    return _expr.var(name_hint, type_annotation, shape, dtype)


def infer_type(node, mod=None):
    """The expression with its type inferred; `mod` holds the functions that it calls."""
    module = IRModule() if mod is None else mod.copy()
    if isinstance(node, Function):
        module["main"] = node
        return _transform.InferType()(module)["main"]
    module["main"] = Function(analysis.free_vars(node), node)
    return _transform.InferType()(module)["main"].body


def infer_shape(inputs, mod=None):
    """The shape of a tensor expression, ints and Any; that of a data type's tensor arrays is not known."""
    checked = infer_type(inputs, mod=mod).checked_type
    return tuple(checked.shape) if hasattr(checked, "shape") else checked


def infer_channels(inputs, transpose=False):
    """The channels that a weight OIHW makes (IOHW where `transpose`)."""
    return infer_shape(inputs)[1 if transpose else 0]


def fold_constant(node, mod=None):
    """The expression with constants folded."""
    return _transform.FoldConstantExpr(node, IRModule() if mod is None else mod)


def infer_value(input_val, params, mod=None):
    """The value of an expression, an NDArray, where `params` gives its variables. AssertionError for others."""
    from ...runtime import cpu
    from ..build_module import create_executor

    names = [each.name_hint for each in analysis.free_vars(input_val)]
    assert all(each in params for each in names), "All inputs to infer must be available in params."
    module = IRModule() if mod is None else mod.copy()
    module["main"] = Function(analysis.free_vars(input_val), input_val)
    return create_executor("debug", mod=module, device=cpu(), target="llvm").evaluate()(**{each: params[each] for each in names})


def infer_value_simulated(input_val, params):
    """infer_value() where variables without a value are random."""
    from ...runtime import ndarray

    known = dict(params)
    for each in analysis.free_vars(input_val):
        if each.name_hint not in known:
            shape = infer_shape(each)
            known[each.name_hint] = ndarray.array(np.random.rand(*shape).astype(each.type_annotation.dtype))
    return infer_value(input_val, known)


def try_infer_value(val, on_success=None, on_failure=None, parameters=None):
    """(value, True), the value passed through on_success; or (on_failure() or `val`, False) where it is not known."""
    try:
        found = infer_value(val, parameters or {}).numpy()
        return (on_success(found) if on_success else found), True
    except Exception:  # whatever keeps the value from being known
        return (on_failure() if on_failure else val), False


def shape_of(x, dtype="int64", start=None, end=None):
    """The shape as a constant where it is known, else as an expression; `start` and `end` select a part."""
    shape = infer_shape(x)
    if all(isinstance(each, int) for each in shape):
        return _expr.const(np.array(shape[slice(start, end)], dtype), dtype)
    found = _op.shape_of(x, dtype)
    if start is None and end is None:
        return found
    first, last, _ = slice(start, end).indices(len(shape))
    return _op.strided_slice(found, [first], [last])


def unbind(data, axis=0):
    """A TupleWrapper of the slices along an axis, which they do not have any more."""
    shape = infer_shape(data)
    if axis >= len(shape):
        raise AttributeError("Please check input dim, it shouldn't be greater than or equal to rank.")
    parts = _op.split(data, shape[axis], axis=axis)
    return _expr.TupleWrapper(_expr.Tuple([_op.squeeze(each, axis=[axis]) for each in parts]), shape[axis])


def to_int_list(np_array):
    """The elements of an array as ints."""
    return [int(each) for each in np_array]


def to_int_tuple(np_array):
    """The elements of an array as ints."""
    return tuple(to_int_list(np_array))


def ensure_scalar_shape(x):
    """A tensor of one element as one of rank 0."""
    shape = infer_shape(x)
    if len(shape) == 0:
        return x
    if int(np.prod(shape)) != 1:
        raise ValueError(f"a tensor of one element is expected, not of shape {shape}")
    return _op.squeeze(x, axis=list(range(len(shape))))


def set_span(sym, span):
    """`sym`: spans are those of the calls in the importer, which Baton records itself."""
    return sym


def get_pad_value(data, kernel, stride):
    """(before, after): the padding of one axis with which the result has ceil(data / stride) elements."""
    pad = max((-(-data // stride) - 1) * stride + kernel - data, 0)
    return pad // 2, pad - pad // 2


def gru_cell(input_seqs, hidden_state, w_inp, w_hid, b_inp=None, b_hid=None, rz_act=None, n_act=None, backwards=False,
             linear_before_reset=True, sequence_lens=None):
    """([output of each step], last hidden state) of a GRU; the rows of weights are those of the reset, update and new gates."""
    _no_lengths("gru_cell", sequence_lens)
    rz_act, n_act = rz_act or _op.sigmoid, n_act or _op.tanh
    outputs = []
    for step in reversed(input_seqs) if backwards else input_seqs:
        inside = _dense(_op.squeeze(step, axis=[0]) if len(infer_shape(step)) == 3 else step, w_inp, b_inp)
        if linear_before_reset:
            reset_in, update_in, new_in = _op.split(inside, 3, axis=-1)
            reset_h, update_h, new_h = _op.split(_dense(hidden_state, w_hid, b_hid), 3, axis=-1)
            reset, update = rz_act(reset_in + reset_h), rz_act(update_in + update_h)
            new = n_act(new_in + reset * new_h)
        else:
            reset_in, update_in, new_in = _op.split(inside, 3, axis=-1)
            weights = list(_op.split(w_hid, 3, axis=0))
            biases = list(_op.split(b_hid, 3, axis=0)) if b_hid is not None else [None] * 3
            reset = rz_act(reset_in + _dense(hidden_state, weights[0], biases[0]))
            update = rz_act(update_in + _dense(hidden_state, weights[1], biases[1]))
            new = n_act(new_in + _dense(reset * hidden_state, weights[2], biases[2]))
        hidden_state = (hidden_state - new) * update + new
        outputs.append(hidden_state)
    return outputs, hidden_state


def rnn_cell(input_seqs, hidden_state, w_inp, w_hid, b_inp=None, b_hid=None, backwards=False, act=None, sequence_lens=None):
    """([output of each step], last hidden state) of a plain recurrent layer; `act`: tanh without one."""
    _no_lengths("rnn_cell", sequence_lens)
    outputs = []
    for step in reversed(input_seqs) if backwards else input_seqs:
        inside = _dense(_op.squeeze(step, axis=[0]) if len(infer_shape(step)) == 3 else step, w_inp, b_inp)
        hidden_state = (act or _op.tanh)(inside + _dense(hidden_state, w_hid, b_hid))
        outputs.append(hidden_state)
    return outputs, hidden_state


def lstm_cell(input_seqs, hidden_state, cell_state, w_inp, w_hid, b_inp=None, b_hid=None, proj=None, p_i=None, p_f=None, p_o=None,
              f_act=None, g_act=None, h_act=None, backwards=False):
    """([output of each step], last hidden state, last cell state) of an LSTM; the rows of weights are those of the input, forget,
    cell and output gates. proj: the weight of a projection of the hidden state; p_i, p_f, p_o: peepholes."""
    f_act, g_act, h_act = f_act or _op.sigmoid, g_act or _op.tanh, h_act or _op.tanh
    outputs = []
    for step in reversed(input_seqs) if backwards else input_seqs:
        inside = _dense(_op.squeeze(step, axis=[0]) if len(infer_shape(step)) == 3 else step, w_inp, b_inp)
        enter, forget, change, leave = _op.split(inside + _dense(hidden_state, w_hid, b_hid), 4, axis=-1)
        enter = f_act(enter if p_i is None else enter + p_i * cell_state)
        forget = f_act(forget if p_f is None else forget + p_f * cell_state)
        cell_state = forget * cell_state + enter * g_act(change)
        leave = f_act(leave if p_o is None else leave + p_o * cell_state)
        hidden_state = leave * h_act(cell_state)
        if proj is not None:
            hidden_state = _op.nn.dense(hidden_state, proj)
        outputs.append(hidden_state)
    return outputs, hidden_state, cell_state


def _dense(data, weight, bias):
    found = _op.nn.dense(data, weight)
    return found if bias is None else found + bias


def _no_lengths(name, sequence_lens):
    if sequence_lens is not None:
        raise NotImplementedError(f"{name}: sequences of different lengths are not provided: cut them before, or mask what follows")


def autopad(data, strides, kernel_shape, dilations=(1, 1), pad_type="constant", deconv=False, mode="SAME_UPPER", pad_value=0.0):
    """`data`, channels second, padded so that a window of these strides gives ceil(extent / stride) (transposed: extent * stride)
    elements. mode: "SAME_UPPER" or "SAME_LOWER", the side that gets an odd one."""
    shape = infer_shape(data)
    spatial = shape[2:]
    if not all(isinstance(each, int) for each in spatial):
        raise NotImplementedError("autopad: the extents of the image must be known")
    pads = [(0, 0), (0, 0)]
    for extent, stride, kernel, dilation in zip(spatial, strides, kernel_shape, dilations):
        reach = (kernel - 1) * dilation + 1
        total = max(reach - stride if deconv or extent % stride == 0 else reach - extent % stride, 0)
        half = total // 2
        pads.append((half, total - half) if "LOWER" not in mode else (total - half, half))
    return _op.nn.pad(data, pads, _expr.const(pad_value, infer_type(data).checked_type.dtype), pad_type)
