"""CMA-ES (arXiv:1604.00772) as pycma computes it, with a state of plain values that continues exactly."""

import contextlib
import functools
import io
import math
import threading
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from mpi_es.arrays import Vector
from mpi_es.config.fields import Count
from mpi_es.errors import RolloutError, expected, one_line
from mpi_es.run_file.rules import Rule, numbers, require
from mpi_es.seeds import Stream, rng
from mpi_es.strategies import base
from mpi_es.strategies.base import Dense, Noise, Population, Strategy
from mpi_es.strategies.import_without import import_without
from mpi_es.strategies.integer_centering import Grid, centre_integers

SMALLEST_POPULATION = 4  # with 3 there is only one parent, and the VD and VkD updates divide zero by zero
# Of the covariance (full): pycma would stop there. If some parameters have no effect and the others have
# converged, it would grow further, until rounding makes a variance negative.
LARGEST_CONDITION = 1e14

# Rank 0 updates while all other ranks wait. A tenth of a second is little in the seconds that a generation of
# CarRacing or MuJoCo takes: 200 s in a run of 2000 generations. Where full costs more, it also gains little:
# at popsize 256 that is above 690 parameters, whose covariance takes some 3600 generations to learn,
# (n + 2)^2 / 2 mu_eff. The time and memory of separable are proportional to n. The limit of memory is for
# small populations, with which thousands of parameters take little time: a checkpoint holds three eighths.
AUTO_SECONDS = 0.1
AUTO_BYTES = 256e6

# The attributes of pycma's objects on which a run depends. All others are constants, follow from these, or
# matter only to pycma's own loop, log and stopping rules, which are not used.
_COMMON = (
    "mean sigma pc "
    "adapt_sigma.ps adapt_sigma.s "  # the paths of cumulative and of two-point step-size adaptation
    "pop_injection_directions"  # rows (0 or 2, dim) in the next population, for two-point adaptation
)
_DIAGONAL = "sigma_vec.scaling sm.standard_deviations"  # standard_deviations: once sigma has grown 1e9-fold
_STATE = {
    # C changes in every generation; B and D are its eigenvectors and axes some generations ago.
    "full": "sm.C sm.B sm.D sm.last_update sm.count_tell",
    "separable": _DIAGONAL,
    "isotropic": _DIAGONAL,
    # C = D (I + v v') D (GECCO 2014): v, its norms, and its own evolution path.
    "vd": "sm.dvec sm.vvec sm.norm_v2 sm.norm_v sm.vn sm.vnn sm.pc",
    # C = D (I + V S V') D (PPSN 2016), its own step size and path, and what the rank k depends on.
    "vkd": "sm.D sm.V sm.S sm.k sm.k_active sm.pc sm.dx sm.sigma sm.sigma_fac sm.ps sm.flg_injection "
    "sm.itr_after_k_inc sm.last_log_sigma sm.last_log_d sm.last_log_cond_corr "
    "sm.ema_log_sigma.M sm.ema_log_d.M sm.ema_log_s.M",
}
_PROCESS_WIDE = threading.RLock()  # held while standard output or the filters of warnings are replaced
_RESTRICTED = ("vd", "vkd")  # variants with their own samplers, which take fewer of pycma's options

Value = NDArray[Any] | float | int | bool | str


@dataclass(frozen=True)
class CMAState:
    """The state between two generations: pycma's attributes by path, such as sm.C."""

    generation: int
    variant: str
    values: dict[str, Value]


def predict_full(dim: int, popsize: int) -> tuple[float, float]:
    """Return the seconds and bytes of a generation of the full variant, with one thread of LAPACK."""
    # Measured with n = 588 to 3667 and popsize 16 and 256: n^2 (popsize + 20) / 4e9 s for ask and tell,
    # n^3 / 5e9 s for an eigendecomposition, eight n x n arrays.
    update = dim**2 * (popsize + 20) / 4e9
    # pycma decomposes every 1 / (10 n (c_1 + c_mu)) generations; mu_eff is 0.26 popsize, c_mu 2 mu_eff / n^2
    period = math.ceil(dim / (5.2 * popsize))
    return update + dim**3 / 5e9 / period, 64.0 * dim**2


def choose(variant: str, dim: int, popsize: int) -> tuple[str, str]:
    """Return the variant to run, and a line that says why, with the cost of full."""
    seconds, size = predict_full(dim, popsize)
    cost = f"{seconds:.2g} s and {size / 1e6:.0f} MB per generation"
    if variant != "auto":
        advice = "; pycma advises against vd below 10 parameters" if variant == "vd" and dim < 10 else ""
        return variant, f"CMA-ES, {variant} as requested; full covariance takes about {cost}{advice}"
    if seconds < AUTO_SECONDS and size < AUTO_BYTES:
        return "full", f"CMA-ES, full: covariance of {dim} parameters takes about {cost}"
    limit = f"{AUTO_SECONDS:g} s and {AUTO_BYTES / 1e6:.0f} MB"
    return "separable", (
        f"CMA-ES, separable: full covariance of {dim} parameters would take about {cost}; "
        f"auto uses it only below {limit}, --cma-variant full always"
    )


@dataclass(frozen=True)
class CMAESOptions(base.Options):
    """Options of the covariance, the step size, restarts and threads."""

    cma_variant: Literal["auto", "full", "separable", "isotropic", "vd", "vkd"] = "auto"
    """Covariance matrix; auto: full if its update is cheap, else separable; isotropic: fixed"""
    sigma_rule: Literal["auto", "csa", "two-point"] = "auto"
    """Step-size rule: path length (csa) or two points; auto: csa below 300 parameters"""
    restarts: Literal["none", "ipop", "bipop"] = "none"
    """Restart after convergence, with twice the candidates; bipop: alternately many and few"""
    root_threads: Count = 1
    """Threads for linear algebra on rank 0; their number changes the rounding"""

    def of_later_start(self, dim: int, sigma: float, popsize: int) -> Self:
        """Return the options of a restart, with the variant of the first start."""
        variant: Any = choose(self.cma_variant, dim, self.population_size)[0]
        return replace(super().of_later_start(dim, sigma, popsize), cma_variant=variant)

    def __post_init__(self) -> None:
        """Refuse values that no run can have."""
        super().__post_init__()
        if self.sigma_rule != "auto" and self.cma_variant in _RESTRICTED:
            raise expected("--sigma-rule", f"auto with --cma-variant {self.cma_variant}", self.sigma_rule)


@functools.cache
def pycma() -> Any:
    """Return pycma, imported when it is first needed: only rank 0 needs it.

    Nine tenths of its import time are for plots and surrogate models.
    """
    with import_without("scipy.stats", "matplotlib"):
        import cma
        import cma.restricted_gaussian_sampler
        import cma.sigma_adaptation
    return cma


class CMAES(Strategy):
    """A full or a restricted covariance; `description` says which one, and why.

    Its linear algebra may use several threads, since the other ranks wait. Their number affects the results:
    LAPACK's rounding depends on it, but not on the number of cores.

    Args:
        grid: which parameters are integers; None: all are continuous.
    """

    Options = CMAESOptions
    learning_rate = math.nan  # base's would copy the whole state to look for one

    def __init__(
        self, options: CMAESOptions, x0: Vector, seed: int, noise: Noise, grid: Grid | None = None
    ) -> None:
        super().__init__(options, x0, seed, noise)
        if grid is not None and options.cma_variant in _RESTRICTED:
            rule = "auto, full, separable or isotropic with --integers"
            raise expected("--cma-variant", rule, options.cma_variant)
        if grid is not None and len(x0) == 1:  # pycma cannot adapt a single integer
            raise expected("--integers", "none, since there is no other parameter", [0])
        self._grid = grid
        if self.popsize < SMALLEST_POPULATION:
            raise expected("--population-size", f"{SMALLEST_POPULATION} or more for cma_es", self.popsize)
        self._x0 = np.array(x0, np.float64)
        self._variant, self.description = choose(options.cma_variant, self._x0.size, self.popsize)
        self._es = self._build()
        self.first_deviations = self.deviations  # an integer's begins at its lower bound
        self._libraries = ThreadpoolController()

    @property
    def centre(self) -> Vector:
        """The centre of the search distribution, (dim,)."""
        return np.array(self._es.mean, np.float64)

    @property
    def sigma(self) -> float:
        """The overall standard deviation: the geometric mean of the parameters'."""
        return float(np.exp(np.log(self._es.stds).mean()))

    @property
    def deviations(self) -> Vector:
        """The standard deviation of each parameter, (dim,)."""
        return np.array(self._es.stds, np.float64)

    @property
    def is_exhausted(self) -> bool:
        """Whether floating-point precision ends the search:
        pycma's noeffectcoord, noeffectaxis, tolconditioncov.
        """
        es, mean = self._es, self._es.mean
        if (mean == mean + 0.2 * es.stds).any():
            return True
        if self._variant != "full":
            return False
        axis = es.countiter % len(mean)  # as in pycma, a different one in each generation
        step = 0.1 * es.sigma * es.sm.D[axis] * es.sigma_vec.scaling * es.sm.B[:, axis]
        return bool((mean == mean + step).all() or es.sm.condition_number > LARGEST_CONDITION)

    def ask(self) -> Population:
        """Sample the next generation."""
        self._rng = rng(self.seed, Stream.SAMPLE, self._es.countiter)
        with self._computing():
            # `ask` would also store each row under its hash, for transformations that we do not use
            rows = self._es.ask_geno()
            model = self._es.sm
            if self._variant == "full" and model.condition_number > LARGEST_CONDITION:
                model.limit_condition(LARGEST_CONDITION)
                model._inverse_root_C = None  # computed from the old C
            return Dense(rows)

    def tell(self, population: Population, fitness: Vector) -> None:
        """Update mean, covariance and step size."""
        assert isinstance(population, Dense)
        loss = (-np.asarray(fitness, np.float64)).tolist()
        with self._computing():
            self._es.tell(population.rows, loss, check_points=False)
        self._es.sigma = max(self._es.sigma, base.SMALLEST_SIGMA)  # pycma would have stopped long before

    @contextlib.contextmanager
    def _computing(self) -> Iterator[None]:
        """Around pycma's computations: set the threads, and raise a RolloutError if pycma fails."""
        # pycma warns of the long steps of two-point adaptation, without a remedy. Only there: catch_warnings
        # makes all other warnings of the process appear again.
        takes_long_steps = isinstance(self._es.adapt_sigma, pycma().sigma_adaptation.CMAAdaptSigmaTPA)
        try:
            with contextlib.ExitStack() as stack:
                if takes_long_steps:
                    stack.enter_context(_PROCESS_WIDE)
                    stack.enter_context(warnings.catch_warnings(action="ignore"))
                stack.enter_context(self._with_threads())
                stack.enter_context(np.errstate(all="ignore"))  # vd's underflows
                yield
        except (RuntimeError, AssertionError, ValueError, ArithmeticError, IndexError) as error:
            raise RolloutError(f"CMA-ES, {self._variant}, cannot continue: {one_line(error)}") from error

    def _with_threads(self) -> contextlib.AbstractContextManager[Any]:
        """Return a context with the threads of linear algebra; setting them takes 40 us, a check 3."""
        threads = self.options.root_threads
        if all(library.num_threads == threads for library in self._libraries.lib_controllers):
            return contextlib.nullcontext()
        limited: contextlib.AbstractContextManager[Any] = self._libraries.limit(limits=threads)
        return limited

    @property
    def state(self) -> CMAState:
        """Everything that the next generations depend on, as copies."""
        values = {path: _plain(attrgetter(path)(self._es)) for path in self._present()}
        return CMAState(self._es.countiter, self._variant, values)

    @state.setter
    def state(self, state: CMAState) -> None:
        if state.variant != self._variant:
            raise expected("state", f"the state of variant {self._variant}", state.variant)
        size = np.size(state.values.get("mean", []))
        if size != self._x0.size:
            raise expected("state", f"a mean of {self._x0.size} parameters", size)
        self._es = self._build()
        if state.generation > 0:  # a dummy generation creates the attributes that pycma creates late
            self.tell(self.ask(), np.arange(self.popsize, dtype=np.float64))
        missing = set(self._present()) - state.values.keys()
        if missing:
            raise expected("state", "all values of cma_es", f"none for {', '.join(sorted(missing))}")
        for path in self._paths():
            if path in state.values:
                require(f"/state/values/{path}", state.values[path], self._rule(path))
                _place(self._es, path, state.values[path])
        self._es.countiter = state.generation

    def _rule(self, path: str) -> Rule:
        """Return the rule of a value of the state: its current shape, with exceptions."""
        dim = self._x0.size
        if path == "pop_injection_directions":
            return numbers((0,), (2, dim))
        if path == "sm.V":  # one row for each rank, whose number adapts
            return numbers(*((rank, dim) for rank in range(dim + 1)))
        try:
            return numbers(np.shape(attrgetter(path)(self._es)))
        except AttributeError:  # the deviations, which pycma creates only once sigma has grown much
            return numbers((dim,))

    def _present(self) -> Iterator[str]:
        """Yield the paths of the state that exist so far."""
        for path in self._paths():
            with contextlib.suppress(AttributeError):
                attrgetter(path)(self._es)
                yield path

    def _paths(self) -> list[str]:
        """Return the paths of the state; the lower bound of an integer's deviation scales its parameter."""
        scaling = ["sigma_vec.scaling"] if self._grid is not None and self._variant == "full" else []
        return [*_COMMON.split(), *_STATE[self._variant].split(), *scaling]

    def _draw(self, *shape: int) -> Vector:
        return self._rng.standard_normal(shape)

    def _build(self) -> Any:
        """Return pycma's object before its first generation."""
        self._rng = rng(self.seed, Stream.SAMPLE, 0, 1)  # vd draws its first direction during construction
        cma = pycma()
        rules = {  # pycma's choice for auto depends on the number of parameters
            "auto": True,
            "csa": cma.sigma_adaptation.CMAAdaptSigmaCSA,
            "two-point": cma.sigma_adaptation.CMAAdaptSigmaTPA,
        }
        options = {
            "popsize": self.popsize,
            "randn": self._draw,
            "seed": math.nan,  # so that pycma does not seed numpy's global generator
            "verbose": -9,
            "CMA_mirrors": 0,  # below popsize 6 pycma would mirror, which needs more state
            "conditioncov_alleviate": False,  # at 1e12 pycma would change C and the meaning of mean
            "AdaptSigma": rules[self.options.sigma_rule],
        }
        if self._variant in ("separable", "isotropic"):
            options["CMA_diagonal"] = True
        if self._variant == "isotropic":
            options["CMA_on"] = 0  # the rate of every update of the covariance
        if self._variant in _RESTRICTED:
            samplers = cma.restricted_gaussian_sampler
            sampler = samplers.GaussVDSampler if self._variant == "vd" else samplers.GaussVkDSampler
            options = sampler.extend_cma_options(options)
            options["CMA_sampler_options"] = {"randn": self._draw}
        # vd prints its advice, which is in `description`; pycma adds filters of warnings.
        with _PROCESS_WIDE, contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            es = cma.CMAEvolutionStrategy(self._x0, self.options.init_sigma, options)
        es.timer = cma.utilities.utils.ElapsedWCTime()  # tell requires one; nothing depends on it
        # Two-point adaptation, from 300 parameters on, checks points that numpy's global generator chooses.
        es.adapt_sigma.check_consistency = lambda es: None
        # These archives look up a row's genotype, which is the row itself, by its hash: half the time of a
        # tell.
        es.sent_solutions = cma.evolution_strategy.get_CMASolutionDict(False)()
        es._injected_solutions_archive = cma.evolution_strategy.get_CMASolutionDict(False)()
        if self._grid is not None:
            self._add_integers(es, self._grid)
        return es

    def _add_integers(self, es: Any, grid: Grid) -> None:
        """Make pycma's object handle integers as with its option integer_variables, but with any distance."""
        bound = pycma().options_parameters.integer_std_lower_bound
        lowest = bound(es.N, es.sp.weights.mueff, np.count_nonzero(grid.distance))
        es.opts["minstd"] = lowest * grid.distance
        # A vector from the first generation on, since its shape is part of the state.
        es.sigma_vec._init_(es.N).is_identity = False
        es._stds_into_limits()
        es.integer_centering = functools.partial(centre_integers, grid=grid)


def _plain(value: Any) -> Value:
    """Return a copy: an array in C order, or a Python number for a scalar."""
    copy = np.array(value, order="C")
    plain: Value = copy if copy.ndim else copy.item()
    return plain


def _place(es: Any, path: str, value: Value) -> None:
    """Assign a copy of a value of the state to the attribute at `path`, which comes from our own table."""
    parent, _, name = path.rpartition(".")
    owner = attrgetter(parent)(es) if parent else es
    old: Any = getattr(owner, name, None)
    new: Any = _plain(value)
    if isinstance(old, list):
        new = list(new)
    elif isinstance(old, np.ndarray) and old.flags.fnc:
        # B is stored by columns, and BLAS's rounding depends on the order in memory.
        new = np.asfortranarray(new)
    setattr(owner, name, new)
