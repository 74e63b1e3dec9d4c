"""One module for inputs of several sizes: a copy of main for each of them, and a main that chooses."""
from ..._wanted import listed, wanted
from ...ir import IRModule, TensorType, TupleType
from .. import op as _op
from ..expr import Call, If, Let, Tuple, TupleGetItem, Var, bind, const
from ..function import Function
from ..ty import Any


class FlexibleShapeDispatch:
    """A pass: main takes inputs of any extent along `axis` and calls its copy for the extent, or one for all extents.

    Parameters
    ----------
    buckets : list of int
        The extents that have a copy of their own, "main_<extent>"; "main_dynamic" is that for the others.
    axis : int
        The axis that varies, that of batches by default.
    auto_pad : bool
        Whether inputs are padded by `pad_value` to the next bucket; those beyond the last one have "main_dynamic".
    input_indices : list of int, optional
        The positions of the parameters that vary; all of them by default.
    affects_output : bool
        Whether results have the extent too: what padding added is then cut off.
    """

    def __init__(self, buckets, axis=0, auto_pad=False, pad_value=0, input_indices=None, affects_output=True):
        self.buckets = sorted({int(wanted("a bucket", each, int, "an int")) for each in listed("buckets", buckets)})
        if not self.buckets or self.buckets[0] < 1:
            raise ValueError("FlexibleShapeDispatch: buckets are positive extents, at least one")
        self.axis, self.auto_pad, self.pad_value = axis, auto_pad, pad_value
        self.input_indices, self.affects_output = input_indices, affects_output

    def __call__(self, mod):
        """The module with a main that chooses. ValueError where an input that varies is no tensor with such an axis."""
        from ..transform import InferType

        mod = InferType()(wanted("mod", mod, IRModule, "an IRModule"))
        main, made = mod["main"], mod.copy()
        varying = range(len(main.params)) if self.input_indices is None else self.input_indices
        for bucket in self.buckets:
            made[f"main_{bucket}"] = self._sized(main, varying, bucket)
        made["main_dynamic"] = self._sized(main, varying, Any())
        made = InferType()(made)
        params = [Var(each.name_hint, self._type(each, Any()) if i in varying else each.checked_type) for i, each in enumerate(main.params)]
        body = Call(made.get_global_var("main_dynamic"), params)
        for bucket in reversed(self.buckets):
            call = self._call(made, params, varying, bucket)
            # Bound to a variable of unknown extent: the branches have one type.
            result = Var("result", made["main_dynamic"].ret_type)
            body = If(self._fits(params, varying, bucket), Let(result, call, result), body)
        made["main"] = Function(params, body)
        return InferType()(made)

    def _type(self, param, extent):
        kind = param.checked_type
        if not isinstance(kind, TensorType) or not -len(kind.shape) <= self.axis < len(kind.shape):
            raise ValueError(f"FlexibleShapeDispatch: {param.name_hint} is {kind}, which has no axis {self.axis}")
        shape = list(kind.shape)
        shape[self.axis] = extent
        return TensorType(shape, kind.dtype)

    def _sized(self, main, varying, extent):
        params = [Var(each.name_hint, self._type(each, extent) if i in varying else each.checked_type) for i, each in enumerate(main.params)]
        return Function(params, bind(main.body, dict(zip(main.params, params))), attrs=main.attrs or None)

    def _extent(self, param):
        rank = len(param.type_annotation.shape)
        return _op.take(_op.shape_of(param, "int64"), const(self.axis % rank, "int64"), mode="fast")

    def _fits(self, params, varying, bucket):
        compare = _op.less_equal if self.auto_pad else _op.equal
        found = None
        for i in varying:
            one = compare(self._extent(params[i]), const(bucket, "int64"))
            found = one if found is None else _op.logical_and(found, one)
        return found

    def _call(self, mod, params, varying, bucket):
        function = mod.get_global_var(f"main_{bucket}")
        if not self.auto_pad:
            return Call(function, params)
        args = [self._padded(each, bucket) if i in varying else each for i, each in enumerate(params)]
        result = Call(function, args)
        return self._cut(result, mod[function].ret_type, self._extent(params[next(iter(varying))])) if self.affects_output else result

    def _padded(self, param, bucket):
        import numpy as np

        shape = [bucket if isinstance(each, Any) else each for each in param.type_annotation.shape]
        where = np.zeros((len(shape), 2), "int64")
        where[self.axis, 1] = 1
        width = _op.multiply(const(where), _op.subtract(const(bucket, "int64"), self._extent(param)))
        return _op.reshape(_op.nn.pad(param, width, const(self.pad_value, param.type_annotation.dtype)), shape)

    def _cut(self, value, kind, extent):
        if isinstance(kind, TupleType):
            return Tuple([self._cut(TupleGetItem(value, i), each, extent) for i, each in enumerate(kind.fields)])
        return _op.strided_slice(value, const([0] * len(kind.shape), "int64"), self._towards(kind.shape, extent),
                                 const([1] * len(kind.shape), "int64"))

    def _towards(self, shape, extent):
        """`shape`, a constant, with `extent`, an expression, along the axis."""
        one = [0] * len(shape)
        one[self.axis] = 1
        fixed = [0 if i else each for i, each in zip(one, shape)]
        return _op.add(const(fixed, "int64"), _op.multiply(const(one, "int64"), extent))
