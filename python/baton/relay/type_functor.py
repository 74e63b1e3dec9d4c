"""Base classes to visit and rewrite types."""
from .._load import core
from ..ir import TypeRelation
from ._overridden import to_be_overridden
from .ty import (FuncType, GlobalTypeVar, IncompleteType, RefType, TensorType, TupleType, TypeCall, TypeData, TypeVar)

_METHODS = {
    TypeVar: "visit_type_var",
    IncompleteType: "visit_incomplete_type",
    TensorType: "visit_tensor_type",
    FuncType: "visit_func_type",
    TupleType: "visit_tuple_type",
    RefType: "visit_ref_type",
    GlobalTypeVar: "visit_global_type_var",
    TypeCall: "visit_type_call",
    TypeData: "visit_type_data",
    TypeRelation: "visit_type_relation",
}


class TypeFunctor:
    """A function over types, by kind. Override visit_x(self, typ)."""

    def visit(self, typ):
        """The result for `typ`, by the method for its kind."""
        name = _METHODS.get(type(typ))
        if name is None:
            raise TypeError(f"a type is expected, not a {type(typ).__name__}")
        return getattr(self, name)(typ)


to_be_overridden(TypeFunctor, _METHODS)


class TypeVisitor(TypeFunctor):
    """Visits every part of a type, by default. Results are None."""

    def visit_type_var(self, tv):
        """A type variable has no parts."""

    def visit_incomplete_type(self, it):
        """A hole has no parts."""

    def visit_tensor_type(self, tt):
        """A tensor type has no parts."""

    def visit_func_type(self, ft):
        """Visits the arguments, the result, the type parameters."""
        for each in ft.arg_types:
            self.visit(each)
        self.visit(ft.ret_type)
        for each in ft.type_params:
            self.visit(each)

    def visit_tuple_type(self, tt):
        """Visits the fields."""
        for each in tt.fields:
            self.visit(each)

    def visit_type_relation(self, tr):
        """Visits the arguments."""
        for each in tr.args:
            self.visit(each)

    def visit_ref_type(self, rt):
        """Visits the type of the value."""
        self.visit(rt.value)

    def visit_global_type_var(self, gtv):
        """A global type variable has no parts."""

    def visit_type_call(self, tc):
        """Visits what is called, then the arguments."""
        self.visit(tc.func)
        for each in tc.args:
            self.visit(each)

    def visit_type_data(self, td):
        """Visits the header, the type variables, the fields of constructors."""
        self.visit(td.header)
        for each in td.type_vars:
            self.visit(each)
        for constructor in td.constructors:
            for each in constructor.inputs:
                self.visit(each)


class TypeMutator(TypeFunctor):
    """Rebuilds a type over rewritten parts: override visit_x to return a replacement."""

    def visit_type_var(self, tv):
        """The same type variable."""
        return tv

    def visit_incomplete_type(self, it):
        """The same hole."""
        return it

    def visit_tensor_type(self, tt):
        """The same tensor type."""
        return tt

    def visit_func_type(self, ft):
        """A function type over rewritten parts."""
        params = [self.visit(each) for each in ft.type_params]
        return FuncType([self.visit(each) for each in ft.arg_types], self.visit(ft.ret_type), params)

    def visit_tuple_type(self, tt):
        """A tuple type over rewritten fields."""
        return TupleType([self.visit(each) for each in tt.fields])

    def visit_type_relation(self, tr):
        """The same relation."""
        return tr

    def visit_ref_type(self, rt):
        """A reference to the rewritten type."""
        return RefType(self.visit(rt.value))

    def visit_global_type_var(self, gtv):
        """The same global type variable."""
        return gtv

    def visit_type_call(self, tc):
        """A type call over rewritten parts."""
        return TypeCall(self.visit(tc.func), [self.visit(each) for each in tc.args])

    def visit_type_data(self, td):
        """A definition over rewritten parts, with constructors of its own."""
        constructors = [core.Constructor(each.name_hint, [self.visit(one) for one in each.inputs], each.belong_to)
                        for each in td.constructors]
        return TypeData(self.visit(td.header), [self.visit(each) for each in td.type_vars], constructors)
