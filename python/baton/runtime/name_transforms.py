"""Names of things that a build makes; more of them in relay.backend.name_transforms."""
from ..relay.backend.name_transforms import sanitize_name

__all__ = ["sanitize_name"]
