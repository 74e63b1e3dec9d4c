"""Relay's prelude: lists, options, trees, and lists of tensors."""
import itertools

from .._load import core
from .._refused import refused
from .._wanted import wanted
from ..ir import Constructor, GlobalTypeVar, GlobalVar, IRModule, TensorType, TypeCall, TypeData
from .adt import Clause, Match, PatternConstructor, PatternVar, PatternWildcard
from .analysis import free_vars
from .expr import If, Var, const
from .function import Function
from .op import add, equal, subtract
from .transform import ToANormalFormExpr
from .ty import Any, scalar_type


_ADDED = itertools.count()  # of element types, in this process: as in TVM, fresh variables of every prelude differ
_FUNCTIONS = ("compose", "concat", "filter", "flip", "foldl", "foldr", "foldr1", "hd", "id", "iterate", "length", "map",
              "map_accuml", "map_accumr", "nth", "rev", "size", "sum", "tl", "tmap", "unfoldl", "unfoldr", "update", "zip")  # of prelude.rly
_DTYPES = ("float32", "float16", "float64", "int32", "uint8", "int8", "int16", "uint16", "int64")


class Prelude:
    """Adds the prelude to `mod` (default: a new module), and looks up its definitions by name.

    Names of what exists once for each element type are made of a canonical name and a dtype: "tensor_array" and
    "float32" are `tensor_array_float32`; the data type is "tensor_t".
    """

    def __init__(self, mod=None):
        self.mod = IRModule() if mod is None else wanted("mod", mod, IRModule, "an IRModule")
        self.load_prelude()

    def load_prelude(self):
        """Adds prelude.rly and, for nine element types, lists of tensors; nothing when they are there already.

        The GlobalVars of prelude.rly's functions become attributes: `prelude.map`, `prelude.hd`, ..
        """
        names = {var.name_hint for var in self.mod.get_global_vars()}
        if "id" not in names:
            self.mod.import_from_std("prelude.rly")
        for name in _FUNCTIONS:
            setattr(self, name, self.mod.get_global_var(name))
        for dtype in _DTYPES:
            if f"tensor_array_{dtype}" not in names:
                core.import_tensor_array(self.mod, dtype, next(_ADDED))

    def get_name(self, canonical, dtype):
        """The name for an element type."""
        return f"tensor_{dtype}_t" if canonical == "tensor_t" else f"{canonical}_{dtype}"

    def get_global_var(self, canonical, dtype):
        """The GlobalVar of a function for an element type."""
        return self.mod.get_global_var(self.get_name(canonical, dtype))

    def get_type(self, canonical, dtype):
        """The GlobalTypeVar and the constructors of a data type for an element type: [type, constructor, ...]."""
        return self.mod.get_type(self.get_name(canonical, dtype))

    def get_ctor(self, ty_name, canonical, dtype):
        """A constructor of data type `ty_name`, by its canonical name."""
        return self._constructor(ty_name, self.get_name(canonical, dtype))

    def get_tensor_ctor(self, canonical, dtype):
        """A constructor of the tensors of an element type: "tensor_nil", "tensor0", ..., "tensor6"."""
        return self._constructor(self.get_name("tensor_t", dtype), self.get_name(canonical, dtype))

    def _constructor(self, type_name, name):
        for constructor in self.mod.get_type(type_name)[1:]:
            if constructor.name_hint == name:
                return constructor
        raise ValueError(f"data type {type_name} has no constructor {name}")

    def _static(self, *_, **__):
        """Tensor arrays of a static shape are not provided yet: NotImplementedError."""
        raise NotImplementedError(f"Prelude: {_STATIC} (docs/compatibility.md)")

    get_name_static = get_global_var_static = get_type_static = get_ctor_static = get_tensor_ctor_static = _static


_STATIC = "tensor arrays of a static shape are not provided yet"


class TensorArrayOps:
    """The functions and data types of tensor arrays of an element type. Prelude defines them when it is made."""

    def __init__(self, prelude, dtype):
        self.prelude, self.dtype = prelude, dtype

    def get_name(self, canonical):
        """The name for the element type."""
        return self.prelude.get_name(canonical, self.dtype)

    def get_global_var(self, canonical):
        """The GlobalVar of a function."""
        return self.prelude.get_global_var(canonical, self.dtype)

    def get_type(self, canonical):
        """[type, constructor, ...] of a data type."""
        return self.prelude.get_type(canonical, self.dtype)

    def get_ctor(self, canonical):
        """A constructor of the tensors of the element type."""
        return self.prelude.get_tensor_ctor(canonical, self.dtype)

    def register(self):
        """Defines all of it, unless it is there."""
        if f"tensor_array_{self.dtype}" not in {var.name_hint for var in self.prelude.mod.get_global_vars()}:
            core.import_tensor_array(self.prelude.mod, self.dtype, next(_ADDED))


def get_tensor_array_shape(expr, dtype, prelude):
    """The static shape of a tensor array's tensors; None, which is right as none has one."""
    return None


StaticTensorArrayOps = refused(__name__, "StaticTensorArrayOps", _STATIC)
