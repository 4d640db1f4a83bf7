"""A torch module as a policy, whatever it computes: a user's, or one of ours that is not compiled."""

import copy
import hashlib
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from mpi_es.arrays import Candidate
from mpi_es.errors import UserError, expected, one_line
from mpi_es.policies import networks
from mpi_es.policies.actions import Outputs, actions_for
from mpi_es.policies.base import Memory, Policy
from mpi_es.policies.batched_module import BatchedModule
from mpi_es.policies.features import require_array
from mpi_es.policies.tiles import Refused, Tile
from mpi_es.seeds import Stream, rng
from mpi_es.strategies.low_rank import Layout

# The program for tiles of networks (None: one network at a time), and the tensors of each tile or network
Weights = tuple[BatchedModule | None, list[Tile]]
Buffers = dict[tuple[str, str], Tensor]  # by the path of the layer and the name
Network = Callable[[Any, Any], nn.Module]  # of observation space and action space


def network_of(found: Any, options: Mapping[str, Any], name: str) -> Network:
    """Return the function that makes the user's modules: Class(spaces, **options), or copies of a module.

    Args:
        found: a class of modules, or a module.
        name: how errors name it.
    """
    if isinstance(found, nn.Module):
        if options:
            raise expected("--policy-options", "none with a module instead of a class", dict(options))
        return lambda *spaces: copy.deepcopy(found)
    if not (isinstance(found, type) and issubclass(found, nn.Module)):
        raise expected("--policy", "a subclass of torch.nn.Module, or a class with a kernel", name)
    return partial(found, **options)


class _EpisodeState(NamedTuple):
    """The state of a running episode."""

    # The module's memory, in a tile the tuple of its tensors; None at an episode's start
    content: Any = None
    seed: int = 0  # torch's generator gets the seed plus the step
    step: int = 0


class ModulePolicy(Policy):
    """A torch module in evaluation mode.

    It is called as `module(observations, memory) -> (outputs, memory)`, with memory None at an episode's
    start, or, if its forward takes one argument, as `module(observations) -> outputs`. Observations
    (1, *shape) are float32, or the environment's own integers (uint8 pictures); outputs are (1, n).
    The parameters evolve; buffers (running statistics) stay as the module makes them.

    Small networks and low-rank candidates are evaluated in batches if `BatchedModule` accepts the module, the
    others one after another; `description` says which and why. The choice depends only on the module, torch
    and the type of processor, so equal machines, and a resumed run, make the same choice.

    Args:
        name: of the policy, as the user gave it.
        network: the function that makes the module.
        output: from outputs to actions, see `actions_for`.
        squashed: whether the outputs are in [-1, 1] already.
        rank: of the candidates' perturbations; 0: full rank.
        device: torch's name of the device of parameters, observations and memory.
    """

    def __init__(
        self,
        name: str,
        network: Network,
        observation_space: Any,
        action_space: Any,
        output: str = "auto",
        squashed: bool = False,
        rank: int = 0,
        device: str = "cpu",
    ) -> None:
        self.name, self.network = name, network
        require_array(observation_space, name)
        self.spaces = observation_space, action_space
        self.size, self.to_actions = actions_for(action_space, output, name, squashed)
        self.device = torch.device(device)
        self._module = networks.seeded(self._build, 0).requires_grad_(False)
        if device != "cpu":
            self._module = self._checked_on(self._module, self.device)
        self._remembers = remembers(self._module)
        self._parameters = list(self._module.parameters())
        self.shapes = {name: tuple(p.shape) for name, p in self._module.named_parameters()}
        if not self.dim:
            raise expected("--policy", "a module that has parameters", name)
        for called, parameter in self._module.named_parameters():
            if parameter.is_complex():
                hint = "torch.view_as_complex makes complex numbers of pairs of real ones"
                raise expected("--policy", "real parameters", f"{called} of {parameter.dtype}", hint)
        self._buffers = _copies(_buffers_of(self._module))
        self.batched: BatchedModule | None = None
        self.factored: BatchedModule | None = None
        not_by_factors = not_together = ""
        with self.one_thread():
            self._require_repeatable()
            if rank:
                self.factored, not_by_factors = self._choose(rank)
            if not self.factored:
                self.batched, not_together = self._choose(0)
        way = f"one after another: {not_together}" if not_together else "in batches"
        self.description = f"networks are evaluated {way}"
        if not_by_factors:
            self.description += f"; not by their factors: {not_by_factors}"
        if device != "cpu":
            self.description += f", on {self.device.type}"
        self.layout = Layout(self.shapes.values(), rank) if self.factored else None

    @property
    def buffers(self) -> str:
        """A digest of the module's buffers; empty without any."""
        digest = hashlib.blake2b(digest_size=16)
        for (_, name), buffer in self._buffers.items():
            digest.update(f"{name} {buffer.dtype} {tuple(buffer.shape)}".encode())
            digest.update(buffer.cpu().flatten().view(torch.uint8).numpy().tobytes())
        return digest.hexdigest() if self._buffers else ""

    @contextmanager
    def one_thread(self) -> Iterator[None]:
        """Return a context in which torch has one thread.

        Sums that are split between threads depend on the number of threads. The program's own limit does not
        reach torch if it was set before torch was loaded.
        """
        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            yield
        finally:
            torch.set_num_threads(threads)

    @contextmanager
    def apart(self) -> Iterator[None]:
        """Return a context with one thread at whose end torch's generator is restored."""
        devices = [self.device] if self.device.type == "cuda" else []
        with self.one_thread(), torch.random.fork_rng(devices=devices):
            yield

    def initial(self, seed: int) -> Candidate:
        """Return torch's default initialisation, (dim,), drawn from the run's seed."""
        return networks.flat(networks.seeded(self.module, seed))

    def module(self) -> nn.Module:
        """Return a new module of the user's class, in evaluation mode."""
        module = self._build().to(self.device)
        _set_buffers(module, self._buffers)  # one may have been drawn at random
        return module.cpu()

    def unpack(self, parameters: NDArray[np.float32]) -> Weights:
        """Return the parameters (k, dim) as tensors of the module's shapes."""
        if self.batched:
            return self.batched, self.batched.unpack(self._tensor(parameters))
        sizes = [parameter.numel() for parameter in self._parameters]
        rows = self._tensor(parameters)
        return None, [[*map(self._own, row.split(sizes), self._parameters)] for row in rows]

    def unpack_factors(self, centre: Candidate, numbers: NDArray[np.float32]) -> Weights:
        """Return the centre (dim,) and the networks' factors as tensors."""
        assert self.factored is not None, "it takes factors"
        return self.factored, self.factored.unpack(self._tensor(numbers), self._tensor(centre))

    def initial_memory(self, k: int) -> Memory:
        """Return an _EpisodeState for each network, (k,)."""
        return _objects([_EpisodeState()] * k)

    def start(self, episode_seed: int, candidate: int) -> Memory:
        """Return the memory (1,) of an episode; its random numbers depend on these arguments only."""
        seed = rng(episode_seed, Stream.MODULE, candidate).integers(2**62)
        return _objects([_EpisodeState(seed=int(seed))])

    def outputs(self, weights: Weights, observations: NDArray[Any], memory: Memory) -> tuple[Outputs, Memory]:
        """Return the outputs (k, n) before they become actions, and the memory afterwards."""
        assert memory is not None, "each network has a state of its episode"
        batch = self._tensor(observations)
        batched, tiles = weights
        with torch.inference_mode():
            if batched is None:
                answers, contents = self._in_sequence(tiles, batch, memory)
            else:
                answers, contents = batched(tiles, batch, [episode.content for episode in memory])
        pairs = zip(contents, memory, strict=True)
        after = [_EpisodeState(content, episode.seed, episode.step + 1) for content, episode in pairs]
        return answers.float().cpu().numpy(), _objects(after)

    def _in_sequence(
        self, networks: list[list[Tensor]], batch: Tensor, memory: NDArray[Any]
    ) -> tuple[Tensor, list[Any]]:
        """Return the outputs (k, n) of one network after another, and the contents of their memories."""
        outputs = torch.empty((len(networks), self.size), device=self.device)
        after = []
        for i, tensors in enumerate(networks):
            for parameter, tensor in zip(self._parameters, tensors, strict=True):
                parameter.data = tensor
            _set_buffers(self._module, self._buffers)  # a forward may have changed them for another candidate
            observation = batch[i : i + 1].clone()  # at an address of its own, see _own
            episode: _EpisodeState = memory[i]
            self._seed(episode.seed + episode.step)
            content = episode.content
            if self._remembers:
                answer, content = self._module(observation, content)
            else:
                answer = self._module(observation)
            outputs[i] = answer[0]
            after.append(content)
        return outputs, after

    def _require_repeatable(self) -> None:
        """Refuse a module whose answer depends on its calls before: ranks call it for other episodes."""
        observe = self._observe()
        first, other = observe(), observe()
        own = [[parameter.detach().clone() for parameter in self._parameters]]
        begun = _objects([_EpisodeState()])
        try:
            with torch.inference_mode(), torch.random.fork_rng(devices=[]):
                answers = [self._in_sequence(own, seen, begun)[0] for seen in (first, other, first)]
        except (Exception, SystemExit) as error:
            raise self._failed(first, error) from error
        if answers[0].cpu().numpy().tobytes() != answers[2].cpu().numpy().tobytes():
            hint = "return what it keeps as its memory, and draw from torch's generator only"
            rule = "the same answer to the same observation after other calls"
            raise expected(f"--policy {self.name}", rule, "another", hint)

    def _seed(self, seed: int) -> None:
        """Seed torch's generators, so that a module draws as if its episode were alone."""
        torch.default_generator.manual_seed(seed)  # 4 us
        if self.device.type == "cuda":
            torch.cuda.default_generators[self.device.index].manual_seed(seed)

    def _choose(self, rank: int) -> tuple[BatchedModule | None, str]:
        """Return the program that evaluates networks side by side, or None and the reason."""
        try:
            return BatchedModule(self._module, self._observe(), self._remembers, rank), ""
        except Refused as refused:
            return None, str(refused)

    def _observe(self) -> Callable[[], Tensor]:
        """Return a function that draws observations (1, *shape) of the space: normal numbers, or integers."""
        space = copy.deepcopy(self.spaces[0])
        space.seed(0)
        generator = np.random.default_rng(0)

        def observe() -> Tensor:
            if np.issubdtype(space.dtype, np.floating):
                drawn = generator.standard_normal((1, *space.shape), np.float32)
                return self._tensor(drawn.clip(space.low, space.high))
            return self._tensor(np.asarray(space.sample(), space.dtype)[None])

        return observe

    @staticmethod
    def _own(part: Tensor, parameter: Tensor) -> Tensor:
        # Torch aligns its allocations; sums over memory with another alignment may round differently.
        return part.view_as(parameter).to(parameter.dtype, copy=True)

    def _tensor(self, array: NDArray[Any]) -> Tensor:
        """Return the array as a tensor on the device, floats in single precision."""
        return _tensor(array).to(self.device)

    def _build(self) -> nn.Module:
        """Return a module after a first valid forward, which completes a lazy module."""
        try:
            module = self.network(*self.spaces).eval()
        except (Exception, SystemExit) as error:
            raise UserError(f"--policy {self.name}: its constructor failed: {one_line(error)}") from error
        return self._checked_on(module, torch.device("cpu"))

    def _checked_on(self, module: nn.Module, device: torch.device) -> nn.Module:
        """Return the module on a device, after a first valid forward there."""
        space = self.spaces[0]
        zeros = np.zeros(space.shape, space.dtype)
        observation = _tensor(zeros[None]) if space.contains(zeros) else self._observe()()
        observation = observation.to(device)
        try:
            module = module.to(device)
            before = _copies({place: one for place, one in _buffers_of(module).items() if not is_lazy(one)})
            with torch.no_grad():
                answer = module(observation, None) if remembers(module) else (module(observation), None)
            _set_buffers(module, before)  # the forward may have changed them
        except (Exception, SystemExit) as error:
            raise self._failed(observation, error) from error
        if not (isinstance(answer, tuple) and len(answer) == 2):
            hint = "a second argument by position is the memory; others are by keyword only"
            raise expected(f"--policy {self.name}", "(outputs, memory)", type(answer).__name__, hint)
        outputs = answer[0]
        shape = tuple(outputs.shape) if isinstance(outputs, Tensor) else type(outputs).__name__
        if shape != (1, self.size):
            rule = f"outputs {(1, self.size)} for {_shown(observation)}"
            raise expected(f"--policy {self.name}", rule, shape)
        return module

    def _failed(self, observation: Tensor, error: BaseException) -> UserError:
        """Return the error of a module whose forward raises one."""
        return UserError(f"--policy {self.name}: failed on {_shown(observation)}: {one_line(error)}")


def _buffers_of(module: nn.Module) -> Buffers:
    """Return the buffers of all layers; several may be one tensor."""
    return {
        (path, name): buffer
        for path, layer in module.named_modules()
        for name, buffer in layer.named_buffers(recurse=False, remove_duplicate=False)
    }


def _copies(buffers: Buffers) -> Buffers:
    """Return a copy of each tensor."""
    copies = {id(buffer): buffer.clone() for buffer in buffers.values()}
    return {place: copies[id(buffer)] for place, buffer in buffers.items()}


def _set_buffers(module: nn.Module, buffers: Buffers) -> None:
    """Give a module copies of the buffers."""
    for (path, name), buffer in _copies(buffers).items():
        setattr(module.get_submodule(path), name, buffer)


def _shown(observation: Tensor) -> str:
    """Return an observation as errors show it."""
    return f"observations {tuple(observation.shape)} {observation.dtype}"


def _objects(items: Sequence[Any]) -> NDArray[Any]:
    """Return an array (n,) of objects, whatever these are."""
    array: NDArray[Any] = np.empty(len(items), object)
    for i, item in enumerate(items):
        array[i] = item
    return array


def _tensor(array: NDArray[Any]) -> Tensor:
    """Return the array as a tensor, floats in single precision."""
    tensor = torch.from_numpy(np.require(array, requirements=("C", "W")))
    return tensor.float() if tensor.is_floating_point() else tensor


def remembers(module: nn.Module) -> bool:
    """Return whether a module's forward takes a memory: a second argument by position."""
    kinds = [parameter.kind for parameter in inspect.signature(module.forward).parameters.values()]
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(kind in positional for kind in kinds) > 1
