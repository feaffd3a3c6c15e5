"""What do all tests share? The folder of the naive oracles on the path."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
