"""The ``adapter`` command line: one file a command, found by walking this folder.

A module is a command when it defines ``EXAMPLE`` (shown below its help), ``add_arguments(parser)`` and
``run(args) -> int`` (the exit status); its name is the command's, the first line of its docstring the help.
"""
