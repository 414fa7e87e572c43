"""``ls FOLDER`` and ``cat FILE``, for the pages that show what lies there."""

from __future__ import annotations

import sys
from pathlib import Path

program, *names = sys.argv[1:]
for name in names:
    lines = sorted(path.name for path in Path(name).iterdir()) if program == "ls" else [Path(name).read_text().rstrip()]
    print("\n".join(lines))
