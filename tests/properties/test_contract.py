"""Under generated workloads, traced: no steady allocation, grow-only, and all given back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.batch import verify_batch
from tests.properties.drawing import FORMATS, batches, modes, times
from tests.properties.telling import require_pass

LEFT_OUT = frozenset({"steady-growth"})
"""It holds the high-water mark of a cycle's second half against the first half's. Under a workload
of no order that mark moves by the views of whichever sizes the requests served last. What is held
after each step is known to the byte instead: see test_memory_model."""


@pytest.mark.parametrize("model", ["identity", "small"])
@times(20)
@given(st.data())
def test_the_contract_holds(model: str, data: st.DataObject) -> None:
    """The levels' exact counts, over three cycles of each workload, many to a process."""
    options, drawn = data.draw(modes()), data.draw(batches(FORMATS[model]))
    for report in verify_batch(model, drawn, options=options):
        require_pass(report, f"contract-{model}", LEFT_OUT)
