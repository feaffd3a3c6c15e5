"""Which features does a random forest really use?"""

from nullforest.engine import Forest, grow, grow_many
from nullforest.errors import InputError
from nullforest.tallies import Tally

__all__ = ["Forest", "InputError", "Tally", "grow", "grow_many"]
__version__ = "0.1.0"
