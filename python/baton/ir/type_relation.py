"""Relations between types, as values. Baton types programs by the relations of its operators (C++); these only name one."""
from .._wanted import listed, wanted
from .adt import TypeCall
from .type import Type


class TypeConstraint:
    """A constraint between types."""


class TypeRelation(TypeConstraint):
    """`func`, an operator's relation, holds between the types `args`, of which the first `num_inputs` are inputs."""

    def __init__(self, func, args, num_inputs, attrs):
        args = [wanted("TypeRelation: an argument", each, (Type, TypeConstraint), "a type") for each in listed("args", args)]
        wanted("num_inputs", num_inputs, int, "an int")
        if not 0 <= num_inputs <= len(args):
            raise ValueError(f"TypeRelation: num_inputs is {num_inputs}, but there are {len(args)} types")
        self.func, self.args, self.num_inputs, self.attrs = func, args, num_inputs, attrs

    def _parts(self):
        return self.func, tuple(self.args), self.num_inputs, self.attrs

    def __eq__(self, other):
        return isinstance(other, TypeRelation) and self._parts() == other._parts()

    def __hash__(self):
        return hash((tuple(self.args), self.num_inputs))

    def same_as(self, other):
        """Whether they are one object."""
        return self is other

    def __repr__(self):
        return f"TypeRelation({self.func}, [{', '.join(map(str, self.args))}], {self.num_inputs}, {self.attrs})"


__all__ = ["TypeCall", "TypeConstraint", "TypeRelation"]
