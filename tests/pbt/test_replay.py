import re

import pytest

from mpi_es.errors import UserError
from mpi_es.parallel.collectives import SerialComm
from pbt import replay
from pbt.packing import pack
from pbt.record import load
from tests.pbt.runs import WALKERS

WALK = ("--member", WALKERS + "Walker", "--num-agents", 6, "--steps", 5, "--max-iter", 6)
SMALL = (*WALK, "--num-eval-rollouts", 7)


def recorded(run):
    config, stored = load(run)
    return replay.schedule(stored, config)


def test_with_the_runs_seed_the_agent_is_bit_identical_to_the_winner(trained, tmp_path):
    stored = trained(tmp_path, *SMALL, "--selection", "winner-takes-all")
    schedule = recorded(tmp_path)
    scores = []
    agent = replay.agent_of(schedule)
    replay.replay(schedule, agent, lambda generation, score: scores.append(score))
    assert len(set(schedule.chain.tolist())) > 1  # the winner moved
    history = stored["history"]["score"]
    assert scores == [history[generation, member] for generation, member in enumerate(schedule.chain)]
    assert pack(agent.get_state()).tobytes() == pack(stored["best"]["state"]).tobytes()


def test_the_schedule_has_the_hyperparameters_of_the_winner(trained, tmp_path):
    stored = trained(tmp_path, *SMALL)
    schedule = recorded(tmp_path)
    rates = stored["history"]["hyperparameters"]["rate"]
    assert schedule.values[:, 0].tolist() == [rates[g, member] for g, member in enumerate(schedule.chain)]


def test_it_prints_the_schedule_and_the_held_out_score(trained, tmp_path, capsys):
    stored = trained(tmp_path, *SMALL)
    assert replay.main(SerialComm(), [str(tmp_path), "--episodes", "7"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "generation member score rate kind"
    assert len(lines) == 8
    schedule, history = recorded(tmp_path), stored["history"]["score"]
    for generation, (line, member) in enumerate(zip(lines[1:7], schedule.chain, strict=True)):
        numbers = [generation + 1, member, history[generation, member], *schedule.values[generation]]
        assert [*map(float, line.split())] == pytest.approx(numbers, rel=1e-5)
    mean = float(re.search(r"held-out: mean (\S+)", lines[-1])[1])
    assert mean == pytest.approx(stored["best"]["fitness"], abs=0.01)


def test_another_seed_gives_another_agent(trained, tmp_path, capsys):
    trained(tmp_path, *SMALL)
    replay.main(SerialComm(), [str(tmp_path)])
    own = capsys.readouterr().out
    replay.main(SerialComm(), [str(tmp_path), "--seed", "5"])
    assert capsys.readouterr().out != own


@pytest.mark.parametrize("option", ["--episodes 0", "--seed -5"])
def test_a_number_out_of_range_raises(option, tmp_path):
    with pytest.raises(UserError, match=f"{option.split()[0]}: expected a number"):
        replay.main(SerialComm(), [str(tmp_path), *option.split()])


def test_a_run_whose_file_names_code_is_refused_without_imports(trained, tmp_path):
    trained(tmp_path, *SMALL)
    with pytest.raises(UserError, match=r"expected no names of code .*, got tests\S*:Walker \(--member\)"):
        replay.main(SerialComm(), [str(tmp_path), "--no-imports"])


def test_a_run_must_be_named():
    with pytest.raises(UserError, match="RUN: expected the directory of a run as the first argument"):
        replay.main(SerialComm(), [])
