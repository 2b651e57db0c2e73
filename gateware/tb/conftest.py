"""What all benches need: the tools of the Python environment on the path, and one module to each name.

Every folder of benches is on Python's path, so that a bench may import its neighbours by name. Of two modules of one
name the first on the path would answer for both, and which one that is depends on what else runs.
"""

import os
import sys
from collections import Counter
from pathlib import Path

import pytest

os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"

counted = Counter(module.name for module in Path(__file__).parent.rglob("*.py"))
if twice := sorted(name for name, times in counted.items() if times > 1):
    raise pytest.UsageError(f"two modules of benches have one name, rename one of each: {', '.join(twice)}")
