"""Hooks: code that runs at the documented stages of training. One file a hook, named after it."""
