"""The names that scripts import from ``modelscope``, and who serves them once :mod:`adapter.drop_in` asks for it."""
