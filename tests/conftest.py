"""What do all tests share? The naive oracles on the path, and a Ctrl-C that is heard."""

import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

# A shell starts what runs in its background with this signal ignored, and so do its children.
signal.signal(signal.SIGINT, signal.default_int_handler)
