"""The version of Solstice: the one place. CMakeLists.txt and pyproject.toml read this line."""

__version__ = "0.1.0"
