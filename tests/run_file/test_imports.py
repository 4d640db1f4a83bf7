from dataclasses import replace

import pytest

from mpi_es.config.parts import suited
from mpi_es.config.presets import PRESETS as OF_RUNS
from mpi_es.config.run import Config, configured
from mpi_es.errors import UserError
from mpi_es.run_file import imports
from pbt.config import Config as Population
from pbt.presets import PRESETS as OF_POPULATIONS

PRESETS = {name: suited(Config, values) for name, values in OF_RUNS.items()}
PRESETS |= {f"pbt {name}": Population(**values) for name, values in OF_POPULATIONS.items()}


def names(config, fields=imports.TRAINING):
    return [name for _, name in imports.named(config, fields)]


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ({}, []),
        ({"env": "my_env:make"}, ["my_env:make"]),
        ({"env": "my_package.envs:Walker-v1"}, ["my_package.envs:Walker-v1"]),
        ({"env": "vector:my_env:make_many"}, ["my_env:make_many"]),
        ({"env": "vector:CartPole-v1"}, []),
        ({"env": "envpool:Pong-v5"}, []),
        ({"env": "pbt.papers.centres:make"}, []),
        ({"env": "mpi_es:mpi_es/CarRacing-v3"}, []),
        ({"env": "mpi_es.config.user_objects:load_module"}, ["mpi_es.config.user_objects:load_module"]),
        ({"env": "mpi_es.papers.atari_networks:load"}, ["mpi_es.papers.atari_networks:load"]),
        ({"policy": "n:N", "policy_options": ("of=[{'a': ('x.y:\u00e9',)}]",)}, ["n:N", "x.y:\u00e9"]),
        (
            {"policy": "mpi_es.papers.atari_networks:Stacked", "policy_options": ("of=a.b:make",)},
            ["a.b:make"],
        ),
        ({"policy": "nets:Net", "strategy": "search:Mine"}, ["nets:Net", "search:Mine"]),
        ({"callback": "spy:Spy"}, ["spy:Spy"]),
        ({"function": "f:f", "x0": (1.0,)}, ["f:f"]),
        ({"function": "script.py:f"}, []),
        ({"env": "script.py:make", "policy": "script.py:Net"}, []),
    ],
)  # fmt: skip
def test_what_a_config_names_outside_of_our_packages_is_found(options, found):
    assert names(suited(Config, options, imports=False)) == found


def test_members_and_their_options_are_found():
    config = Population(
        member="mine:Member",
        member_options=("policy_kwargs={'features_extractor_class': 'nets:Features', 'net_arch': []}", "n=3"),
    )
    assert names(config) == ["mine:Member", "nets:Features"]
    hidden = replace(config, member="sb3", member_options=(r"policy_kwargs={'a': 'nets\x3aFeatures'}",))
    assert names(hidden) == ["nets:Features"]
    assert names(Population(member="sb3", env="CartPole-v1", member_options=("device=cuda:0",))) == []


@pytest.mark.parametrize("name", PRESETS)
def test_presets_name_no_code_of_others(name):
    assert names(PRESETS[name]) == []


def test_an_agent_is_made_without_strategy_and_callback():
    assert names(suited(Config, {"strategy": "a:A", "callback": "b:B"}, imports=False), imports.AGENT) == []


def test_what_is_imported_is_printed_or_refused(capsys):
    config = configured(env="my_env:make")
    imports.check(config, "runs/x", allowed=True)
    assert capsys.readouterr().err == "runs/x names code, which is imported: my_env:make (--env)\n"
    with pytest.raises(UserError, match=r"^runs/x: expected no names of code to import, got my_env"):
        imports.check(config, "runs/x", allowed=False)
    imports.check(configured(), "runs/x", allowed=False)
    assert capsys.readouterr().err == ""
