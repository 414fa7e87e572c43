"""``python -m adapter`` is the ``adapter`` command."""

from __future__ import annotations

import sys

from adapter.cli.main import main

sys.exit(main())
