"""Every constant that can move a p-value is documented."""

import inspect
import re

from nullforest.nulls import constants
from studies.sensitivity import documented


def test_every_constant_has_a_unit_a_reason_its_data_and_its_models():
    names = re.findall(r"^([A-Z_]+) = ", inspect.getsource(constants), re.M)
    found = documented()
    assert sorted(found) == sorted(names)
    for constant in found.values():
        assert constant.reason.endswith(".")
        assert constant.set_on in ("simulated", "correlated", "none")
        assert set(constant.models) <= {"probes", "shadows", "bagged", "groups"}
