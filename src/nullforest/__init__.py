"""Which features does a random forest really use?"""

from nullforest.errors import InputError
from nullforest.tallies import Tally

__all__ = ["InputError", "Tally"]
__version__ = "0.1.0"
