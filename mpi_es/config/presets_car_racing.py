"""The attention agent on CarRacing: the paper's run, its experiments, and faster variants."""

from mpi_es.config.run import Preset

# The attention agent's paper, arXiv:2003.08165. Its 1000 steps are the environment's own limit.
CARRACING: Preset = dict(
    env="mpi_es/CarRacing-v3",
    policy="attention",
    hidden=(16,),
    population_size=256,
    init_sigma=0.1,
    max_iter=2000,
    num_rollouts=16,
    early_stop=20,
    eval_every=10,
    num_eval_rollouts=100,
)
# One part learns; the others stay fixed, taken from a trained agent.
CONTROLLER = CARRACING | dict(evolve="controller", eval_every=25, num_eval_rollouts=64)
ATTENTION = CONTROLLER | dict(evolve="attention")
EXPERIMENTS = {
    "carracing-exp1": CONTROLLER,
    "carracing-exp3": ATTENTION,
    "carracing-exp3.1": ATTENTION | dict(query_dim=2, bias=False),
    "carracing-exp4": CONTROLLER | dict(controller="mlp", num_frames=2),
    "carracing-exp4-4frames": CONTROLLER | dict(controller="mlp", num_frames=4),
    "carracing-exp5": CONTROLLER | dict(controller="rnn"),
}


# It learns in minutes on two cores: two episodes on common seeds rank the candidates. Of population sizes
# from 32 to 256, 64 learnt fastest (docs/carracing/tried.md).
FAST: Preset = dict(
    cma_variant="separable",
    population_size=64,
    num_rollouts=2,
    episode_seeds="common",
    eval_every=CARRACING["eval_every"],
    num_eval_rollouts=CARRACING["num_eval_rollouts"],
)


# With outputs of 0 the brake is pressed by half, and some seeds never leave the start. SNES hardly reduces
# sigma, and its centre becomes better than that of CMA-ES (docs/carracing.md). A held-out evaluation takes
# as long as a generation or two.
SNES: Preset = dict(strategy="snes", init_sigma=0.05, init_outputs=(0.0, 0.0, -1.5), eval_every=50)
CAR_RACING = {
    "carracing": CARRACING,
    **EXPERIMENTS,
    "carracing-fast": CARRACING | FAST | SNES,
    **{name.replace("-", "-fast-", 1): part | FAST for name, part in EXPERIMENTS.items()},
}
