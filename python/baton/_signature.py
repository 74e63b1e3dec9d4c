"""Signatures from text."""
import ast
import inspect


def signature_of(text):
    """The inspect.Signature of "name(a, b=1)"."""
    arguments = ast.parse(f"def {text}: pass").body[0].args
    kind, without = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.empty
    defaults = [without] * (len(arguments.args) - len(arguments.defaults)) + [ast.literal_eval(each) for each in arguments.defaults]
    return inspect.Signature([inspect.Parameter(each.arg, kind, default=default)
                              for each, default in zip(arguments.args, defaults)])
