from dataclasses import dataclass

import pytest

from mpi_es.config import command_line
from mpi_es.config.parts import flat
from mpi_es.config.presets import PRESETS
from mpi_es.config.run import configured
from mpi_es.errors import UserError
from tests.launching import LIMIT, start


@pytest.mark.parametrize(
    ("words", "value", "rest"),
    [
        ("", None, ""),
        ("--a 1", None, "--a 1"),
        ("--resume here --a 1", "here", "--a 1"),
        ("--a 1 --resume=here", "here", "--a 1"),
        ("--resume one --resume two", "two", ""),
        ("--resumed here", None, "--resumed here"),
    ],
)
def test_an_option_is_taken_out_of_the_others(words, value, rest):
    assert command_line.take_option(words.split(), "--resume") == (value, rest.split())


@pytest.mark.parametrize("words", ["--resume", "--resume --seed 1"])
def test_an_option_without_its_value_is_reported(words):
    with pytest.raises(UserError, match="--resume: expected a value, got nothing"):
        command_line.take_option(words.split(), "--resume")


def parse(words, default=None):
    return command_line.parse(words.split(), default or configured(), PRESETS, "program")


def test_options_come_on_top_of_the_preset():
    config = parse("lunarlander --population-size 10")
    assert config.env == "mpi_es/LunarLander-v3"
    assert (config.strategy.population_size, config.num_rollouts) == (10, 4)


@pytest.mark.parametrize(
    ("words", "warning"),
    [
        ("--strategy openai_es --lr 0.1 --lr-min 0.01", "no effect without --lr-decay: --lr-min"),
        ("--strategy pepg --momentum 0.5", "no effect with --optimizer adam: --momentum"),
        ("--policy lstm --hidden 8 --activation tanh", "no effect with --policy lstm: --activation"),
        (
            "--function f:f --x0 1 --hidden 8 --early-stop 3",
            "no effect with --function f:f: --hidden, --early-stop",
        ),
        ("carracing --threads-per-rank 2 --top-k 5", ""),
        (
            "carracing --no-compiled --threads-per-rank 2",
            "no effect with --compiled False: --threads-per-rank",
        ),
        ("cartpole --target-consecutive 3", ""),
        ("--layout paper", "no effect without --from-pretrained or --base-from-pretrained: --layout"),
        ("--envs-per-rank 3", "no effect here: --envs-per-rank"),
        ("--target-consecutive 3", "no effect without --target-fitness: --target-consecutive"),
    ],
)
def test_an_option_without_effect_is_reported_if_it_was_given(words, warning, capsys):
    command_line.warn_unused(words.split(), parse(words), {"envs_per_rank": "here"})
    assert capsys.readouterr().err == (f"warning: {warning}\n" if warning else "")


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (
            "--lr 0.1",
            "--lr: expected to be left out with --strategy cma_es: it is an option of openai_es or pepg",
        ),
        (
            "--strategy openai_es --cma-variant full",
            "--cma-variant: expected to be left out with --strategy openai_es: it is an option of cma_es",
        ),
        ("--top-k=5", "--top-k: expected to be left out with --policy mlp: it is an option of attention"),
        ("--no-bias", "--no-bias: expected to be left out with --policy mlp: it is an option of attention"),
        (
            "--policy my.own:Net --hidden 8",
            "--hidden: expected to be left out with --policy my.own:Net: it is",
        ),
    ],
)
def test_an_option_of_another_strategy_or_policy_is_refused(words, complaint):
    with pytest.raises(UserError) as raised:
        parse(words)
    assert str(raised.value).startswith(complaint)


def test_options_that_a_preset_has_for_another_strategy_are_taken_by_that():
    assert parse("cartpole --strategy openai_es").strategy.learning_rate == 0.1
    assert not hasattr(parse("cartpole").strategy, "learning_rate")


def test_nothing_given_is_the_default():
    assert parse("") == configured()
    assert parse("", configured(seed=7)) == configured(seed=7)


def test_a_word_that_is_no_preset_is_reported():
    got = r"got 'lunarlandr'; did you mean 'lunarlander'\?$"
    with pytest.raises(UserError, match=f"preset: expected one of {len(PRESETS)} names, {got}"):
        parse("lunarlandr")


@pytest.mark.parametrize(
    ("words", "field", "value"),
    [
        ("--env-id Pendulum-v1", "env", "Pendulum-v1"),
        ("--popsize 9", "population_size", 9),
        ("--sigma 0.5", "init_sigma", 0.5),
        ("--max-gradient-updates 3", "max_iter", 3),
        ("--reward-goal 200", "target_fitness", 200.0),
        ("--hidden 8 4", "hidden", (8, 4)),
        ("--hidden", "hidden", ()),
        ("--hidden=8 4", "hidden", (8, 4)),
        ("--hidden 8 --hidden 4", "hidden", (4,)),
        ("--init-outputs -1e-3 -2", "init_outputs", (-0.001, -2.0)),
        ("--no_obs_norm", "obs_norm", False),
        ("--env=", "env", ""),
        ("--no-track-centre", "track_centre", False),
        ("--target-fitness None", "target_fitness", None),
        ("--run_dir x", "run_dir", "x"),
    ],
)
def test_names_of_the_systems_that_we_replace_and_forms_of_values(words, field, value):
    assert flat(parse(words))[field] == value


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ("--seed", "--seed: expected whole number ≥ 0, got nothing"),
        ("--seed x", "--seed: expected whole number ≥ 0, got 'x'"),
        ("--hidden 8 x", r"--hidden: expected whole numbers, or nothing, got \[8, 'x'\]"),
        ("--obs-norm=yes", "--obs-norm: expected no value, got 'yes'"),
        ("--cma-variant vdk", "--cma-variant: expected one of .*, got 'vdk'; did you mean"),
        ("--dispatch statc", "--dispatch: expected one of auto, .* got 'statc'; did you mean 'static'"),
        ("--stratgy pepg", r"--stratgy: no option has this name; did you mean --strategy\?"),
        ("--no-sed", r"--no-sed: no option has this name; did you mean --seed\?"),
        ("--strategy pepg --learning-rat 3", r"did you mean --learning-rate\?"),
        ("--seed 1 2", r"^2: no option has this name \(--help lists the options\)"),
        ("--seed 3 cartpole", r"^cartpole: no option has this name .*; PRESET is the first argument$"),
        ("--run-dir cartpole --sed 3", r"^--sed: no option .*\(--help lists the options\)$"),
    ],
)
def test_a_complaint_is_one_line(words, complaint):
    with pytest.raises(UserError, match=complaint) as caught:
        parse(words)
    assert "\n" not in str(caught.value)


def test_help_whose_reader_has_left_ends_without_a_word():
    process = start(0, "-m", "mpi_es.train", "--help")
    process.stdout.close()
    assert (process.stderr.read(), process.wait(LIMIT)) == ("", 1)


def test_a_resumed_run_may_change_what_is_free_only():
    command_line.check_resumed(configured(), configured(max_iter=5, console="lines", dispatch="static"))
    with pytest.raises(UserError, match=r"--num-rollouts: expected 1, with which the run began, got 2"):
        command_line.check_resumed(configured(), configured(max_iter=5, num_rollouts=2))


@dataclass(frozen=True)
class Plain:
    """Do something."""

    size: int = 1


def test_runs_after_the_options_are_said_to_come_first(tmp_path):
    with pytest.raises(UserError, match=r"no option has this name .*; RUN is the first argument$"):
        command_line.parse_runs([str(tmp_path), "--size", "3", str(tmp_path)], Plain(), "program")


def test_a_program_without_presets_takes_options_only():
    assert command_line.parse(["--size", "3"], Plain(), {}, "program") == Plain(3)
    with pytest.raises(UserError, match="program: expected options only, got 'word'"):
        command_line.parse(["word"], Plain(), {}, "program")
