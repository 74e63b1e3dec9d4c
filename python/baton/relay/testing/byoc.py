"""Annotators of regions for external compilers, as TVM's tests use them: each marks the regions of one kind of test network."""
from ..expr import Call, Var
from ..expr_functor import ExprMutator
from ..op.annotation import compiler_begin, compiler_end


class CcompilerAnnotator(ExprMutator):
    """Marks multiply(subtract(add(a, b), c), d) and the like, all of whose inputs are variables, as one region of "ccompiler"."""

    def __init__(self):
        super().__init__()
        self.in_compiler = 0  # 1: below a multiply; 2: its region has begun

    def visit_call(self, call):
        name = getattr(call.op, "name", "")
        if name == "multiply":
            self.in_compiler = 1
            args = [self.visit(each) for each in call.args]
            begun, self.in_compiler = self.in_compiler == 2, 0
            made = Call(call.op, [self._begun(each) for each in args] if begun else args, call.attrs)
            return compiler_end(made, "ccompiler") if begun else made
        if name == "add" and self.in_compiler == 1:
            self.in_compiler = 2
            return Call(call.op, [compiler_begin(self.visit(each), "ccompiler") for each in call.args], call.attrs)
        if name == "subtract" and self.in_compiler == 1:
            return Call(call.op, [self._begun(self.visit(each)) for each in call.args], call.attrs)
        return super().visit_call(call)

    def _begun(self, value):
        return compiler_begin(value, "ccompiler") if isinstance(value, Var) else value


class WholeGraphAnnotator(ExprMutator):
    """Marks a whole function as one region of `compiler`: it begins at variables and ends at the last call."""

    def __init__(self, compiler):
        super().__init__()
        self.compiler, self.last_call = compiler, True

    def visit_call(self, call):
        is_last, self.last_call = self.last_call, False
        args = [self.visit(each) for each in call.args]
        args = [compiler_begin(each, self.compiler) if isinstance(each, Var) else each for each in args]
        made = Call(call.op, args, call.attrs)
        return compiler_end(made, self.compiler) if is_last else made


class MobileNetAnnotator(ExprMutator):
    """Marks all that stands before nn.global_avg_pool2d as one region of `compiler`: the features of a classifier."""

    def __init__(self, compiler):
        super().__init__()
        self.compiler, self.compiler_open = compiler, False

    def visit_call(self, call):
        is_pool = getattr(call.op, "name", "") == "nn.global_avg_pool2d"
        self.compiler_open = self.compiler_open or is_pool
        inside, args = self.compiler_open, []
        for each in call.args:
            made = self.visit(each)
            if is_pool:
                made = compiler_end(made, self.compiler)
            if inside and isinstance(made, Var):
                made = compiler_begin(made, self.compiler)
            args.append(made)
        return Call(call.op, args, call.attrs)
