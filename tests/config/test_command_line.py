from dataclasses import dataclass

import pytest

from mpi_es.config import command_line
from mpi_es.config.presets import PRESETS
from mpi_es.config.run import Config
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
    return command_line.parse(words.split(), default or Config(), PRESETS, "program")


def test_options_come_on_top_of_the_preset():
    config = parse("lunarlander --population-size 10")
    assert (config.env, config.population_size, config.num_rollouts) == ("LunarLander-v3", 10, 4)


@pytest.mark.parametrize(
    ("words", "warning"),
    [
        ("--lr 0.1", "no effect with --strategy cma_es: --learning-rate"),
        ("--strategy openai_es --lr 0.1 --lr-min 0.01", "no effect with --lr-decay 1.0: --lr-min"),
        (
            "--strategy openai_es --cma-variant full --sigma-learning-rate 0.2",
            "no effect with --strategy openai_es: --cma-variant, --sigma-learning-rate",
        ),
        ("--strategy pepg --momentum 0.5", "no effect with --optimizer adam: --momentum"),
        ("--strategy my.own:Best --momentum 0.5 --lr 1 --optimizer sgd --cma-variant full", ""),
        ("--policy my.own:Net --hidden 8 --no-bias", "no effect with --policy my.own:Net: --hidden, --bias"),
        ("--policy lstm --hidden 8 --activation tanh", "no effect with --policy lstm: --activation"),
        (
            "--top-k=5 --strategy pepg --cma-variant full",
            "no effect with --policy mlp: --top-k; no effect with --strategy pepg: --cma-variant",
        ),
        ("carracing --threads-per-rank 2 --top-k 5", ""),
        (
            "carracing --no-compiled --threads-per-rank 2",
            "no effect with --compiled False: --threads-per-rank",
        ),
        (
            "carracing --env CarRacing-v3 --threads-per-rank 2",
            "no effect with --env CarRacing-v3: --threads-per-rank",
        ),
        ("cartpole --target-consecutive 3", ""),
        ("--layout torch", "no effect without --from-pretrained or --base-from-pretrained: --layout"),
        ("--envs-per-rank 3", "no effect here: --envs-per-rank"),
        ("--target-consecutive 3", "no effect without --target-fitness: --target-consecutive"),
    ],
)
def test_an_option_without_effect_is_reported_if_it_was_given(words, warning, capsys):
    command_line.warn_idle(words.split(), parse(words), {"envs_per_rank": "here"})
    assert capsys.readouterr().err == (f"warning: {warning}\n" if warning else "")


def test_nothing_given_is_the_default():
    assert parse("") == Config()
    assert parse("", Config(seed=7)) == Config(seed=7)


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
        ("--no-track-mean", "track_mean", False),
        ("--target-fitness None", "target_fitness", None),
        ("--run_dir x", "run_dir", "x"),
    ],
)
def test_names_of_the_systems_that_we_replace_and_forms_of_values(words, field, value):
    assert getattr(parse(words), field) == value


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ("--seed", "Missing value for argument '--seed'"),
        ("--seed x", "--seed: invalid literal for int"),
        ("--stratgy pepg", r"Unrecognized options: --stratgy, pepg; did you mean --strategy\?"),
        ("--polulation-size 3", r"--polulation-size, 3; did you mean --population-size\?"),
        ("--learning-rat 3", r"did you mean --learning-rate\?"),
        ("--dispatch both", "invalid choice 'both' for argument '--dispatch'"),
    ],
)
def test_a_complaint_is_one_line(words, complaint):
    with pytest.raises(UserError, match=complaint) as caught:
        parse(words)
    assert "\n" not in str(caught.value)
    assert str(caught.value).endswith("(--help lists the options)")


def test_a_box_is_condensed_to_its_first_part():
    box = """╭─ Parsing error ───╮
│ Expected 1 value, │
│ got none.         │
│ ───────────────── │
│ Perhaps you meant: --run-dir │
╰───────────────────╯"""
    assert command_line.condensed(box) == (
        "Expected 1 value, got none.; did you mean --run-dir? (--help lists the options)"
    )


def test_what_is_no_box_is_kept():
    assert command_line.condensed("all\nwrong") == "all wrong (--help lists the options)"


def test_help_whose_reader_has_left_ends_without_a_word():
    process = start(0, "-m", "mpi_es.train", "--help")
    process.stdout.close()
    assert (process.stderr.read(), process.wait(LIMIT)) == ("", 1)


def test_a_resumed_run_may_change_what_is_free_only():
    command_line.check_resumed(Config(), Config(max_iter=5, console="lines", dispatch="static"))
    with pytest.raises(UserError, match=r"--num-rollouts: expected 1, with which the run began, got 2"):
        command_line.check_resumed(Config(), Config(max_iter=5, num_rollouts=2))


@dataclass(frozen=True)
class Plain:
    """Do something."""

    size: int = 1


def test_a_program_without_presets_takes_options_only():
    assert command_line.parse(["--size", "3"], Plain(), {}, "program") == Plain(3)
    with pytest.raises(UserError, match="program: expected options only, got 'word'"):
        command_line.parse(["word"], Plain(), {}, "program")
