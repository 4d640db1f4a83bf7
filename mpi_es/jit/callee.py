"""How a function is compiled for compiled code that calls it: to LLVM IR, which the caller copies.

By default numba optimises each function and compiles it to machine code, and does so again with its copies in
all callers. Here it optimises only the functions that Python calls, each once and as a whole. With an empty
cache, CarRacing's simulator and agent then compile in half the processor time (31 s instead of 61 s). numba
has no option for this: with `inline="always"` a function loses its own fastmath.
"""

from collections.abc import Callable
from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler


class CalleeCompiler(Compiler):
    """numba's compiler without the steps after LLVM IR."""

    def compile_extra(self, function: Callable[..., Any]) -> Any:
        """Return the compile result of a function."""
        context = self.state.targetctx
        self.state.library = _IRLibrary(context.codegen(), function.__qualname__)
        self.state.targetctx = context.subtarget(get_executable=_finish)
        return super().compile_extra(function)


class _IRLibrary(JITCodeLibrary):
    """The IR of a function and of all that it calls, for its callers to copy."""

    def _optimize_final_module(self) -> None:
        """Leave the optimisation to the callers."""

    def _finalize_final_module(self) -> None:
        """Make no machine code."""
        self._finalized = True


def _finish(library: _IRLibrary, *_: Any) -> Any:
    """Link the IR of a library's callees; return numba's key for it: a builtin function, new each time."""
    library.finalize()
    return [].append
