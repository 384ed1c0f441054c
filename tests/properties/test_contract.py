"""Under generated workloads, traced: no steady allocation, grow-only, and all given back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.batch import verify_batch
from tests.properties.drawing import FORMATS, batches, modes
from tests.properties.rounds import TRACED, in_rounds, ran, times
from tests.properties.telling import require_pass


@pytest.mark.parametrize("model", ["identity", "small"])
@in_rounds
@times(20)
@given(st.data())
def test_the_contract_holds(model: str, data: st.DataObject) -> None:
    """The levels' exact counts, over three cycles of each workload, many to a process."""
    options, drawn = data.draw(modes()), data.draw(batches(FORMATS[model]))
    for report in verify_batch(model, drawn, options=options):
        require_pass(report, f"contract-{model}")
    ran[TRACED] += len(drawn)
