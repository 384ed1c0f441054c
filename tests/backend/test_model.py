"""Where a model comes from, and in what state it is given back."""

import pickle
import warnings
from pathlib import Path

import pytest
import torch
from torch import nn

from backend.model import Model, load_module
from backend.models import SHIPPED_MODELS

CPU = torch.device("cpu")


def save(path, module, how=torch.jit.script):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        torch.jit.save(how(module), path)
    return path


@pytest.mark.parametrize("name", SHIPPED_MODELS)
def test_shipped_weights_are_the_same_every_time_and_leave_the_global_generator_alone(name):
    before = torch.random.get_rng_state()
    first, second = load_module(name, CPU), load_module(name, CPU)
    assert torch.equal(torch.random.get_rng_state(), before)
    assert first is not second
    for key, value in first.state_dict().items():
        assert torch.equal(value, second.state_dict()[key])


@pytest.mark.parametrize("name", ["small", "espcn", "srcnn", "dncnn"])
def test_shipped_models_make_something_to_see(name, make_frame, plain):
    frame = make_frame(32, 32, "rgb24" if name == "small" else "gray8")
    result = plain(load_module(name, CPU), frame)
    assert result.std() > 8
    assert ((result > 0) & (result < 255)).mean() > 0.5


def test_espcn_doubles_the_size(make_frame, plain):
    assert plain(load_module("espcn", CPU), make_frame(7, 5, "gray8")).shape == (10, 14)


@pytest.mark.parametrize("how", [str, Path])
def test_a_torchscript_file_is_loaded_without_a_warning(tmp_path, how, recwarn):
    path = save(tmp_path / "model.pt", nn.Sequential(nn.Conv2d(3, 5, 3)))
    model = Model(how(path), CPU)
    assert model.module(torch.zeros(1, 3, 4, 4)).shape == (1, 5, 2, 2)
    assert not model.module.training
    assert model.in_channels == 3
    assert not [warning for warning in recwarn if "jit.load" in str(warning.message)]


def test_input_channels_are_those_of_the_first_layer_that_says_so():
    layers = nn.Sequential(nn.ReLU(), nn.Conv2d(1, 2, 1), nn.Conv2d(2, 3, 1))
    assert Model(layers, CPU).in_channels == 1
    assert Model("identity", CPU).in_channels is None


@pytest.mark.parametrize("name", ["nonsense", "no/such/file.pt", ""])
def test_an_unknown_name_or_missing_file_lists_the_names(name):
    with pytest.raises(ValueError, match=r"neither a file nor .*small, espcn, srcnn, dncnn"):
        load_module(name, CPU)


def test_a_folder_is_not_a_model(tmp_path):
    with pytest.raises(ValueError, match=r"neither a file nor"):
        load_module(tmp_path, CPU)


class Trap:
    sprung = False

    def __reduce__(self):
        return setattr, (Trap, "sprung", True)


@pytest.mark.parametrize("kind", ["pickle", "torch.save", "text", "empty"])
def test_a_file_that_is_not_torchscript_is_refused_and_never_unpickled(tmp_path, kind):
    path = tmp_path / "model.pt"
    if kind == "pickle":
        path.write_bytes(pickle.dumps(Trap()))
    elif kind == "torch.save":
        torch.save(Trap(), path)
    else:
        path.write_text("weights, honestly" if kind == "text" else "")
    with pytest.raises(ValueError, match=r"model\.pt' is not a TorchScript file") as caught:
        load_module(path, CPU)
    assert "\n" not in str(caught.value)
    assert not Trap.sprung


@pytest.mark.parametrize("source", [None, 3, nn.Conv2d])
def test_anything_else_is_refused(source):
    with pytest.raises(ValueError, match=r"must be a name, a TorchScript file or an nn\.Module"):
        load_module(source, CPU)


def test_a_module_is_used_in_evaluation_mode_and_given_back_as_it_was():
    module = nn.Sequential(nn.Dropout(), nn.Sequential(nn.Dropout()), nn.BatchNorm2d(3))
    module[1].eval()
    before = [part.training for part in module.modules()]
    model = Model(module, CPU)
    assert model.module is module
    assert not any(part.training for part in module.modules())
    model.close()
    model.close()
    assert [part.training for part in module.modules()] == before
    assert model.module is None
