from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.plugins.hparams import metadata

from mpi_es.config.run import configured
from mpi_es.telemetry.tensorboard import TensorBoard
from tests.telemetry.records import curves, evaluation, held_out, numbers


def write(directory, generations, done=0, shift=0.0):
    board = TensorBoard(configured(), directory)
    board.start([], done)
    for generation in generations:
        held = held_out(generation) if generation == 2 else None
        board.generation(numbers(generation, shift, held=held))
    return board


def test_tensorboard_can_be_read_while_it_is_written(tmp_path):
    write(tmp_path, [1, 2])
    read = curves(tmp_path)
    assert read["fitness/mean"] == [(1, 4), (2, 4)]
    assert read["held_out/mean"] == [(2, 5)]
    assert read["speed/episodes_per_second"] == [(1, 8), (2, 8)]
    assert "generation" not in read


def test_tensorboard_shows_the_evaluation_after_the_end(tmp_path):
    write(tmp_path, []).generation(evaluation(3))
    assert curves(tmp_path)["held_out/max"] == [(3, 6)]


def test_curves_do_not_double_when_a_run_is_resumed(tmp_path):
    write(tmp_path, [1, 2, 3, 4]).close()  # killed when the run file held 2
    write(tmp_path, [3, 4, 5], done=2, shift=10.0).close()
    assert curves(tmp_path)["fitness/mean"] == [(1, 4), (2, 4), (3, 14), (4, 14), (5, 14)]
    write(tmp_path, [1], shift=20.0).close()  # killed before its first save
    assert curves(tmp_path)["fitness/mean"] == [(1, 24)]


def test_the_options_are_tensorboard_s_hyperparameters(tmp_path):
    write(tmp_path, [1]).close()
    events = EventAccumulator(str(tmp_path)).Reload()
    content = events.SummaryMetadata(metadata.SESSION_START_INFO_TAG).plugin_data.content
    found = metadata.parse_session_start_info_plugin_data(content).hparams
    assert found["population_size"].number_value == 32
    assert found["env"].string_value == "CartPole-v1"
    assert found["obs_norm"].bool_value is False
    assert found["hidden"].string_value == "(64, 64)"
