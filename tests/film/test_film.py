import h5py
import numpy as np
import pytest
from PIL import Image

from mpi_es.config.parts import changed
from mpi_es.config.run import configured
from mpi_es.errors import UserError
from mpi_es.evaluation import build
from mpi_es.evaluation.rollout import Episode, EpisodeRules
from mpi_es.film.film import Footage
from tests.film.test_record import CARTPOLE, RACING, recorded, weights


def shot(directory, config, cap, **pixels):
    """Return the content of frames.h5 of an episode cut at `cap` steps."""
    policy = build.make_policy(config)
    footage = Footage(config, "", str(directory))
    footage.check()
    said = footage.shoot(policy, Episode(0, 0, 7, weights(policy)), EpisodeRules(cap=cap), "the last one")
    with h5py.File(directory / "frames.h5") as file:
        content = {name: values[...] for name, values in file.items()}
        facts = {"env": config.env, "episode_seed": 7, "policy": "the last one"}
        assert dict(file.attrs) == facts | pixels
    assert said == f"{directory}: episode seed 7, return {content['rewards'].sum():.2f}, {cap} steps"
    return content


def test_frames_and_numbers_of_every_step(tmp_path):
    content = shot(tmp_path / "new" / "frames", CARTPOLE, 4)
    steps, _, _ = recorded(CARTPOLE, EpisodeRules(cap=4))
    assert sorted(content) == ["actions", "rewards"]
    assert content["actions"].tolist() == [step.action for step in steps]
    assert content["rewards"].tolist() == [step.reward for step in steps]
    pictures = sorted((tmp_path / "new" / "frames").glob("*.png"))
    assert [path.name for path in pictures] == [f"frame_0000{i}.png" for i in range(4)]
    for path, step in zip(pictures, steps, strict=True):
        with Image.open(path) as image:
            assert np.array_equal(np.asarray(image)[:400], step.picture)


def test_the_numbers_of_the_attention_agent_tell_what_it_looked_at(tmp_path):
    content = shot(tmp_path / "frames", RACING, 3, patch=7, stride=4)
    steps, _, _ = recorded(RACING, EpisodeRules(cap=3))
    assert content["importances"].shape == (3, 529)
    assert content["chosen"].tolist() == [step.attention.chosen.tolist() for step in steps]
    assert np.array_equal(content["importances"], [step.attention.importance for step in steps])
    assert np.array_equal(content["actions"], [step.action for step in steps])
    ranked = np.argsort(-content["importances"], axis=1, kind="stable")[:, :10]
    assert content["chosen"].tolist() == ranked.tolist()


def test_what_a_form_in_torch_looked_at_is_reported_too(tmp_path):
    config = changed(RACING, patch_size=6, stride=5, top_k=3)
    content = shot(tmp_path / "frames", config, 3, patch=6, stride=5)
    assert content["importances"].shape == (3, 19**2)
    assert content["importances"].sum(axis=1) == pytest.approx(19**2, rel=1e-4)  # each gives one away
    ranked = np.argsort(-content["importances"], axis=1, kind="stable")[:, :3]
    assert content["chosen"].tolist() == ranked.tolist()


@pytest.mark.parametrize(
    ("video", "frames", "complaint"),
    [
        ("film.avi", "", r"^--video: expected a file that ends in .mp4 or .gif, got '.*film.avi'$"),
        ("gone/film.mp4", "", r"^--video: cannot write .*film.mp4 \(No such file or directory\)$"),
        ("full.mp4", "", r"^--video: expected a file, got '.*full.mp4'; it is a directory$"),
        ("", "full.mp4", "^--frames: expected a new or an empty directory, got"),
        ("", "file/frames", r"^--frames: cannot write .*frames \(Not a directory\)$"),
    ],
)
def test_a_path_that_cannot_be_written_is_refused(tmp_path, video, frames, complaint):
    (tmp_path / "full.mp4").mkdir()
    (tmp_path / "full.mp4" / "mine").touch()
    (tmp_path / "file").touch()
    places = [str(tmp_path / place) if place else "" for place in (video, frames)]
    with pytest.raises(UserError, match=complaint):
        Footage(CARTPOLE, *places).check()


def test_an_environment_without_pictures_is_refused(tmp_path):
    with pytest.raises(UserError, match="renders rgb_array, got 'mpi_es/CyclicMDP-v0'"):
        Footage(configured(env="mpi_es/CyclicMDP-v0"), str(tmp_path / "film.mp4"), "").check()
