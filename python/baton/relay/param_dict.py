"""Parameters as bytes."""
from ..runtime import load_param_dict, save_param_dict

__all__ = ["load_param_dict", "save_param_dict"]
