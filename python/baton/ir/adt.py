"""Definitions of algebraic data types, and their use as types."""
from .._load import core

Constructor = core.Constructor
TypeCall = core.TypeCall
TypeData = core.TypeData
