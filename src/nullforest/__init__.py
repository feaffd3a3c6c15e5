"""Which features does a random forest really use?

The path of the data: forest → Tally → Null → Decision → Selection.
"""

from nullforest.errors import InputError
from nullforest.forests import tally
from nullforest.nulls import null
from nullforest.selection import Selection, select
from nullforest.tallies import Tally

__all__ = ["InputError", "Selection", "Tally", "null", "select", "tally"]
__version__ = "0.1.0"
