"""Expressions common to all of Baton."""
from .._load import core

RelayExpr = core.RelayExpr
GlobalVar = core.GlobalVar
