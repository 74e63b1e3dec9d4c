"""Walking and rewriting types by classes of one's own."""
from .._load import core
from ..ir import TypeRelation
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
}


class TypeFunctor:
    """A function over types, by kind. Override visit_x(self, typ)."""

    def visit(self, typ):
        """The result for `typ`, by the method for its kind."""
        name = _METHODS.get(type(typ))
        if name is None and type(typ).__name__ == "TypeRelation":
            name = "visit_type_relation"
        if name is None:
            raise TypeError(f"a type is expected, not a {type(typ).__name__}")
        return getattr(self, name)(typ)

    def visit_type_var(self, _):
        raise NotImplementedError("visit_type_var")

    def visit_incomplete_type(self, _):
        raise NotImplementedError("visit_incomplete_type")

    def visit_tensor_type(self, _):
        raise NotImplementedError("visit_tensor_type")

    def visit_func_type(self, _):
        raise NotImplementedError("visit_func_type")

    def visit_tuple_type(self, _):
        raise NotImplementedError("visit_tuple_type")

    def visit_type_relation(self, _):
        raise NotImplementedError("visit_type_relation")

    def visit_ref_type(self, _):
        raise NotImplementedError("visit_ref_type")

    def visit_global_type_var(self, _):
        raise NotImplementedError("visit_global_type_var")

    def visit_type_call(self, _):
        raise NotImplementedError("visit_type_call")

    def visit_type_data(self, _):
        raise NotImplementedError("visit_type_data")


class TypeVisitor(TypeFunctor):
    """Visits every part of a type, by default. Results are None."""

    def visit_type_var(self, tv):
        pass

    def visit_incomplete_type(self, it):
        pass

    def visit_tensor_type(self, tt):
        pass

    def visit_func_type(self, ft):
        for each in ft.arg_types:
            self.visit(each)
        self.visit(ft.ret_type)
        for each in ft.type_params:
            self.visit(each)

    def visit_tuple_type(self, tt):
        for each in tt.fields:
            self.visit(each)

    def visit_type_relation(self, tr):
        for each in tr.args:
            self.visit(each)

    def visit_ref_type(self, rt):
        self.visit(rt.value)

    def visit_global_type_var(self, gtv):
        pass

    def visit_type_call(self, tc):
        self.visit(tc.func)
        for each in tc.args:
            self.visit(each)

    def visit_type_data(self, td):
        self.visit(td.header)
        for each in td.type_vars:
            self.visit(each)
        for constructor in td.constructors:
            for each in constructor.inputs:
                self.visit(each)


class TypeMutator(TypeFunctor):
    """Rebuilds a type over rewritten parts: override visit_x to return another type in the place of one."""

    def visit_type_var(self, tv):
        return tv

    def visit_incomplete_type(self, it):
        return it

    def visit_tensor_type(self, tt):
        return tt

    def visit_func_type(self, ft):
        params = [self.visit(each) for each in ft.type_params]
        return FuncType([self.visit(each) for each in ft.arg_types], self.visit(ft.ret_type), params)

    def visit_tuple_type(self, tt):
        return TupleType([self.visit(each) for each in tt.fields])

    def visit_type_relation(self, tr):
        return tr

    def visit_ref_type(self, rt):
        return RefType(self.visit(rt.value))

    def visit_global_type_var(self, gtv):
        return gtv

    def visit_type_call(self, tc):
        return TypeCall(self.visit(tc.func), [self.visit(each) for each in tc.args])

    def visit_type_data(self, td):
        constructors = [core.Constructor(each.name_hint, [self.visit(one) for one in each.inputs], each.belong_to)
                        for each in td.constructors]
        return TypeData(self.visit(td.header), [self.visit(each) for each in td.type_vars], constructors)
