import pytest

from mpi_es import errors


def test_an_expectation_has_name_rule_value_and_hint():
    assert str(errors.expected("--seed", "a number", "x")) == "--seed: expected a number, got 'x'"
    assert str(errors.expected("--seed", "a number", 3, "give one")).endswith("got 3; give one")


def test_an_exception_of_several_lines_becomes_one():
    assert errors.one_line(ValueError("all\n  is\twrong")) == "ValueError: all is wrong"


def test_a_warning_goes_to_standard_error(capsys):
    errors.warn("so far so good")
    assert capsys.readouterr() == ("", "warning: so far so good\n")


MANY = [f"name-{letter}" for letter in "abcdefghij"]


def test_an_exception_whose_text_fails_still_has_one_line():
    class Odd(Exception):
        def __str__(self):
            raise AttributeError

    assert errors.one_line(Odd()) == "Odd: <exception str() failed>"


@pytest.mark.parametrize(
    ("got", "choices", "text"),
    [
        ("mpl", ["rnn", "mlp"], "--x: expected one of mlp, rnn, got 'mpl'; did you mean 'mlp'?"),
        ("q", ["rnn", "mlp"], "--x: expected one of mlp, rnn, got 'q'"),
        ("nam-c", MANY, "--x: expected one of 10 names, got 'nam-c'; did you mean 'name-c'?"),
        ("q", MANY, f"--x: expected one of 10 names, got 'q'; use one of {', '.join(MANY)}"),
    ],
)
def test_the_near_miss_comes_before_a_long_list(got, choices, text):
    assert str(errors.unknown("--x", got, choices)) == text


@pytest.mark.parametrize("kind", [errors.UserError, errors.RolloutError])
def test_an_exception_without_a_text_has_a_first_line_all_the_same(kind):
    for error in (kind(), kind(""), kind("\n")):
        assert str(error).splitlines()[0] == f"a {kind.__name__} without text"


def test_options_are_arguments_in_a_script():
    told = errors.UserError("--init-sigma: expected less, with --noise-rank and non--options")
    with pytest.raises(errors.UserError) as raised, errors.in_words_of_scripts({"init-sigma": "sigma"}):
        raise told
    assert str(raised.value) == "sigma: expected less, with noise_rank and non--options"
