"""How a function is compiled for compiled code that calls it: as LLVM's notation, which the caller takes in.

By itself numba optimises a function and makes machine code of it, then optimises its copy in each caller
again, and that one's copy in the caller's callers: ten times over in a nest like ours. So only what Python
calls is optimised, once and whole.
"""

from collections.abc import Callable
from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler


class CalleeCompiler(Compiler):
    """numba's compiler, less what comes after LLVM's notation."""

    def compile_extra(self, function: Callable[..., Any]) -> Any:
        """Return the result for a function."""
        context = self.state.targetctx
        self.state.library = _Notation(context.codegen(), function.__qualname__)
        self.state.targetctx = context.subtarget(get_executable=_finish)
        return super().compile_extra(function)


class _Notation(JITCodeLibrary):
    """A function with all that it calls, for its callers to copy."""

    def _optimize_final_module(self) -> None:
        """Leave it to the callers."""

    def _finalize_final_module(self) -> None:
        """Make no machine code."""
        self._finalized = True


def _finish(library: _Notation, *_: Any) -> Any:
    """Take in what a library calls; return what numba files it under: any builtin function of its own."""
    library.finalize()
    return [].append
