from mpi_es.config.presets import PRESETS

DIMENSIONS = {
    "carracing": 3667,
    "carracing-exp1": 2483,
    "carracing-exp3": 1184,
    "carracing-exp3.1": 588,
    "carracing-exp4": 707,
    "carracing-exp4-4frames": 1347,
    "carracing-exp5": 659,
}


def test_the_presets_of_the_experiments_are_all_there():
    fast = {name.replace("carracing", "carracing-fast") for name in DIMENSIONS}
    assert {name for name in PRESETS if name.startswith("carracing")} == DIMENSIONS.keys() | fast
