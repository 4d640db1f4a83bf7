"""Jobs of several runs, and those that look at runs."""

import pytest

from mpi_es.status import generations
from tests.slurm.jobs import OPTIONS

pytestmark = pytest.mark.timeout(900)
ONE = ["--ntasks=1"]


@pytest.mark.slow
def test_a_sweep_over_seeds_and_its_summary(cluster, submit, place):
    job = submit([*ONE, "--array=3,5"], "sweep.sh", "my sweep", *OPTIONS, "--max-iter", 2)
    cluster.until(lambda: (place / "my sweep" / "report.html").exists(), 300)
    logs = [(place / f"sweep-{job.number}_{task}.log").read_text() for task in (3, 5)]
    assert [log.splitlines()[-1] for log in logs] == [
        "slurm: finished: my sweep/seed-3",
        "slurm: finished: my sweep/seed-5",
    ]
    assert sum("when all tasks have ended" in log for log in logs) == 1
    summary = (place / "my sweep" / "summary.txt").read_text()
    assert summary.count("last generation done") == 2


@pytest.mark.slow
@pytest.mark.parametrize("signalled", [3, 5])
def test_a_task_of_a_sweep_is_requeued_without_the_others(cluster, submit, place, signalled):
    job = submit([*ONE, "--array=3,5"], "sweep.sh", "s", *OPTIONS, "--max-iter", 40)
    cluster.until(lambda: min(generations(place / "s" / f"seed-{task}") for task in (3, 5)) > 2)
    cluster.ask("scancel", "--batch", "--signal=USR1", f"{job.number}_{signalled}")
    cluster.until(lambda: (place / "s" / "report.html").exists(), 300)
    logs = {task: (place / f"sweep-{job.number}_{task}.log").read_text() for task in (3, 5)}
    assert [task for task, log in logs.items() if "requeued" in log] == [signalled]
    assert all(log.splitlines()[-1] == f"slurm: finished: s/seed-{task}" for task, log in logs.items())


@pytest.mark.slow
def test_a_sweep_over_a_table_of_options(cluster, submit, place):
    (place / "table").write_text("\t# rates\r\n--strategy openai_es\r\n\t\r\n--init-sigma 0.5 --seed 8\r\n")
    job = submit([*ONE, "--array=0,2-3"], "sweep.sh", "s", "--table", "table", *OPTIONS, "--max-iter", 1)
    cluster.until(lambda: (place / "s" / "2" / "run.h5").exists(), 300)
    for task, told in ((0, "expected tasks from 1"), (3, "number 3 in table")):
        log = place / f"sweep-{job.number}_{task}.log"
        cluster.until(lambda log=log, told=told: log.exists() and told in log.read_text(), 300)
    cluster.until(lambda: (place / "s" / "report.html").exists(), 300)
    assert "got 's/3'" in (place / "s" / "summary.txt").read_text()


@pytest.mark.slow
def test_a_population_and_an_evaluation(cluster, submit, place):
    job = submit(["--ntasks=2"], "pbt.sh", "toy", "--max-iter", 2, "--run-dir", "population")
    assert cluster.end(job) == "COMPLETED"
    assert job.log.splitlines()[-1] == "slurm: finished: population"
    job = submit(ONE, "train.sh", *OPTIONS, "--max-iter", 1, "--run-dir", "run")
    assert cluster.end(job) == "COMPLETED"
    job = submit(["--ntasks=2"], "evaluate.sh", "run", "--episodes", 3)
    assert cluster.end(job) == "COMPLETED"
    assert "bit-identical" in job.log
