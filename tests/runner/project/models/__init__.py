from .tiny import ProjectModel

__all__ = ["ProjectModel"]
