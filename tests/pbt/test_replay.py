import re

import pytest

from mpi_es.errors import UserError
from mpi_es.parallel.collectives import SerialComm
from pbt import replay, train
from pbt.packing import pack
from tests.pbt.runs import WALKERS

WALK = ("--member", WALKERS + "Walker", "--num-agents", 6, "--steps", 5, "--max-iter", 6)
SMALL = (*WALK, "--num-eval-rollouts", 7)


def planned(stored):
    return replay.schedule(stored, train.checkpoint.from_plain(train.Config, stored["config"]))


def test_with_the_runs_seed_the_agent_is_the_winner_to_the_bit(trained, tmp_path):
    stored = trained(tmp_path, *SMALL, "--selection", "winner-takes-all")
    plan = planned(stored)
    scores = []
    agent = replay.replay(plan, lambda generation, score: scores.append(score))
    assert len(set(plan.chain.tolist())) > 1  # the winner moved
    history = stored["history"]["score"]
    assert scores == [history[generation, member] for generation, member in enumerate(plan.chain)]
    assert pack(agent.get_state()).tobytes() == pack(stored["best"]["state"]).tobytes()


def test_the_schedule_is_what_the_winner_was_trained_with(trained, tmp_path):
    stored = trained(tmp_path, *SMALL)
    plan = planned(stored)
    rates = stored["history"]["hyperparameters"]["rate"]
    assert plan.values[:, 0].tolist() == [rates[g, member] for g, member in enumerate(plan.chain)]


def test_it_prints_the_schedule_and_the_held_out_score(trained, tmp_path, capsys):
    stored = trained(tmp_path, *SMALL)
    assert replay.main(SerialComm(), [str(tmp_path), "--episodes", "7"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "generation member score rate kind"
    assert len(lines) == 8
    mean = float(re.search(r"held-out: mean (\S+)", lines[-1])[1])
    assert mean == pytest.approx(stored["best"]["fitness"], abs=0.01)


def test_another_seed_gives_another_agent(trained, tmp_path, capsys):
    trained(tmp_path, *SMALL)
    replay.main(SerialComm(), [str(tmp_path)])
    own = capsys.readouterr().out
    replay.main(SerialComm(), [str(tmp_path), "--seed", "5"])
    assert capsys.readouterr().out != own


@pytest.mark.parametrize("option", ["--episodes 0", "--seed -5"])
def test_numbers_that_there_are_not(option, tmp_path):
    with pytest.raises(UserError, match=f"{option.split()[0]}: expected a number"):
        replay.main(SerialComm(), [str(tmp_path), *option.split()])


def test_a_run_must_be_named():
    with pytest.raises(UserError, match="RUN: expected the directory of a run as the first argument"):
        replay.main(SerialComm(), [])
