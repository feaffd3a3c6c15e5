"""An ARM processor grows the same forests as this one, bit for bit.

A small part of `make portable`: every fourth forest, compiled with few optimisations.
"""

from __future__ import annotations

import pytest

from native import processors

LACKING = processors.missing_programs()


@pytest.mark.skipif(bool(LACKING), reason=f"not installed: {', '.join(LACKING)}")
def test_an_emulated_arm_processor_grows_the_same_forests(tmp_path):
    options = ["-DNULLFOREST_OPTIMIZE=-O1"]
    here = processors.build(tmp_path / "here", [*options, "-DNULLFOREST_PORTABLE_ONLY=ON"])
    arm = processors.build(tmp_path / "arm", [*options, *processors.ARM])
    expected = processors.forests([here], "portable", 4)
    assert len(expected) > 100
    emulator = processors.program(processors.EMULATOR)
    assert processors.forests([emulator, arm], "neon", 4) == expected
