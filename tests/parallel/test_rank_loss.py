import os

import pytest

from mpi_es.errors import UserError
from mpi_es.parallel import rank_loss
from mpi_es.parallel.collectives import SerialComm


class Ranks(SerialComm):
    """The size of a larger world, which notes that it was revoked and how it handles errors."""

    size, revoked, handler = 4, False, None

    def Set_errhandler(self, handler):  # noqa: N802
        self.handler = handler

    def Revoke(self):  # noqa: N802
        self.revoked = True


@pytest.mark.parametrize(
    ("survivable", "option", "outcome"),
    [
        ("1", "auto", (True, "the other ranks continue if one dies")),
        ("1", "shrink", (True, "the other ranks continue if one dies")),
        ("0", "auto", (False, "a rank that dies ends the job")),
        ("0", "abort", (False, "a rank that dies ends the job")),
    ],
)
def test_what_happens_when_a_rank_dies(monkeypatch, survivable, option, outcome):
    monkeypatch.setenv("OMPI_MCA_mpi_ft_enable", survivable)
    assert rank_loss.apply_rank_loss_option(Ranks(), option) == outcome
    assert rank_loss.apply_rank_loss_option(SerialComm(), option) == (False, "")


def test_shrinking_is_refused_where_no_rank_outlives_another(monkeypatch):
    monkeypatch.delenv("OMPI_MCA_mpi_ft_enable", raising=False)
    with pytest.raises(UserError, match=r"--on-rank-loss: expected abort, .*, got 'shrink'; start with"):
        rank_loss.apply_rank_loss_option(Ranks(), "shrink")
    assert "OMPI_MCA_mpi_ft_enable" not in os.environ


@pytest.mark.parametrize("error", [ValueError, rank_loss.RankLost])
def test_only_a_loss_revokes_the_communicator(error):
    comm = Ranks()
    with pytest.raises(error), rank_loss.losses(comm):
        raise error
    assert comm.revoked == (error is rank_loss.RankLost)
