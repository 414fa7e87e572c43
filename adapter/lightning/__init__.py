"""From a plan to Lightning objects: one module, one data module, one callback that runs the hooks."""
