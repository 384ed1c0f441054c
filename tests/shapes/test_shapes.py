"""A way in for backends of every shape: sound ones pass, at the strictest level that they can."""

from __future__ import annotations

import inspect
import shlex
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from backend.frame import Frame
from harness import adapt, arguments, cli, isolate
from harness.errors import UsageError
from harness.result import Report
from harness.verify import verify
from tests.shapes import delayed, shapes

WORKLOAD = "32x32@25*14,48x48@25*12"
FRAME = Frame(np.full((4, 6, 3), 51, np.uint8), pts=2)


@pytest.fixture(scope="module", autouse=True)
def _end_helpers() -> Iterator[None]:
    yield
    isolate.shutdown()


def failed(report: Report) -> list[str]:
    found = [f"{rule.rule}: {rule.why}" for rule in report.rules if rule.status == "fail"]
    texts = [finding.text for rule in report.rules for finding in rule.findings]
    return [*found, *texts, *([report.failure.text] if report.failure else [])]


@pytest.mark.parametrize(
    "factory",
    [
        shapes.open_sent,
        shapes.open_drawn,
        shapes.open_several,
        shapes.open_coroutine,
        shapes.Temporal,
        shapes.open_warm,
        shapes.yielded,
        shapes.open_module,
    ],
)
def test_sound_backend_passes_every_rule(factory: Any) -> None:
    report = verify(factory, WORKLOAD)
    assert failed(report) == []
    assert {rule.status for rule in report.rules} == {"pass"}


@pytest.mark.parametrize(
    "factory", [delayed.Asynchronous, delayed.Callback, delayed.Pool, delayed.Batches]
)
def test_sound_backend_that_makes_its_results_anew_passes_zero_growth(factory: Any) -> None:
    report = verify(factory, WORKLOAD, level="zero-growth")
    assert failed(report) == []
    skipped = [rule.rule for rule in report.rules if rule.status == "skipped"]
    assert skipped == ["steady-allocations", "grow-only"]


kept: list[Any] = []


def open_leaking_coroutine() -> Any:
    async def infer(frame: Any) -> Any:
        kept.append(bytearray(5000))
        return frame.pts

    return infer


def leaking_generator(frame: Any) -> Iterator[Any]:
    kept.append(bytearray(5000))
    yield frame.pts


class LeakingModule(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        kept.append(x.clone())
        return x


@pytest.mark.parametrize("factory", [open_leaking_coroutine, leaking_generator, LeakingModule])
def test_leak_behind_an_adapter_is_found_at_its_line(factory: Any) -> None:
    report = verify(factory, "32x32@25*14", quick=True)
    lines, first = inspect.getsourcelines(factory)
    line = first + next(n for n, text in enumerate(lines) if "kept.append" in text)
    [growth] = [rule for rule in report.rules if rule.rule == "steady-growth"]
    assert [(finding.file, finding.line) for finding in growth.findings] == [(__file__, line)]


class KeepsItsInput(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        kept.append(x)
        return x


def test_model_that_keeps_its_input_is_seen() -> None:
    report = verify(KeepsItsInput, "32x32@25*14", quick=True)
    growth = next(rule for rule in report.rules if rule.rule == "steady-growth")
    assert [finding.kind for finding in growth.findings] == ["input-kept"]


# TorchScript files


@pytest.fixture
def model_file(tmp_path: Path) -> Path:
    path = tmp_path / "model.pt"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        torch.jit.script(torch.nn.Conv2d(3, 2, 3)).save(path)
    return path


def test_command_verifies_a_torchscript_file(
    model_file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(model_file.parent)
    assert cli.main(["verify", "model.pt", "--workload", "32x32@25*12", "--quiet"]) == 0
    assert "model.pt holds zero-owned" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("absent.pt", "there is no file 'absent.pt'"),
        ("text.pt", "text.pt is not a TorchScript"),
        ("cut.pt", "failed finding central directory: write it with torch.jit.save"),
    ],
)
def test_file_that_is_no_model_is_bad_usage(
    name: str,
    says: str,
    model_file: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "text.pt").write_text("no model")
    (tmp_path / "cut.pt").write_bytes(model_file.read_bytes()[:-1000])
    monkeypatch.chdir(tmp_path)
    assert cli.main(["verify", name, "--workload", "32x32@25*2", "--quiet"]) == 2
    err = capsys.readouterr().err
    assert says in err
    assert err.count("\n") == 1


def test_module_is_given_a_batch_of_one_from_0_to_1_in_evaluation_mode() -> None:
    class Looks(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> tuple[Any, ...]:
            return tuple(x.shape), x.dtype, float(x.max()), self.training, x.is_inference()

    for target in (Looks, Looks()):  # a factory, and a module that was imported
        backend = adapt.open_backend(target, {})
        backend.execute(FRAME)
        seen = backend.get_result()
        assert seen == ((1, 3, 4, 6), torch.float32, pytest.approx(0.2), False, True)


# other names of the methods


@pytest.mark.parametrize(
    ("name", "names"),
    [
        ("Infers", {"execute": "infer"}),
        ("Submits", {"execute": "submit", "get_result": "fetch", "close": "release"}),
    ],
)
def test_other_names_are_mapped_and_replayed(name: str, names: dict[str, str]) -> None:
    report = verify(getattr(shapes, name), WORKLOAD, methods=names)
    assert failed(report) == []
    told = arguments.read(arguments.make_parser(), shlex.split(report.replay)[1:])
    assert dict(told.map) == names


def test_name_that_the_object_lacks_is_bad_usage() -> None:
    with pytest.raises(UsageError, match="a Infers has no method 'run'"):
        verify(shapes.Infers, WORKLOAD, methods={"execute": "run"})
    with pytest.raises(UsageError, match="--map execute=NAME"):
        verify(shapes.Infers, WORKLOAD)
    with pytest.raises(UsageError, match="'infer' is no method of a backend"):
        verify(shapes.Infers, WORKLOAD, methods={"infer": "execute"})


# yielded backends


def test_rest_of_a_generator_function_runs_after_close_and_once() -> None:
    order: list[str] = []

    class Closes:
        def __call__(self, frame: Any) -> Any:
            return frame.pts

        def close(self) -> None:
            order.append("closed")

    def yields() -> Iterator[Any]:
        yield Closes()
        order.append("rest")

    backend = adapt.open_backend(yields, {})
    backend.execute(FRAME)
    assert backend.get_result() == FRAME.pts
    backend.close()
    backend.close()
    assert order == ["closed", "rest"]


def test_generator_function_yields_one_backend() -> None:
    def none() -> Iterator[Any]:
        yield from ()

    def two() -> Iterator[Any]:
        yield delayed.inverted
        yield delayed.inverted

    with pytest.raises(UsageError, match="yielded nothing"):
        adapt.open_backend(none, {})
    backend = adapt.open_backend(two, {})
    with pytest.raises(UsageError, match="more than once"):
        backend.close()


def test_factory_may_make_a_factory() -> None:
    backend = adapt.open_backend(lambda: shapes.open_warm, {})
    backend.execute(FRAME)
    assert backend.get_result()[0, 0, 0] == 204
