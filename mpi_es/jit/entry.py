"""How a function is compiled for Python: the copies of the functions that it calls are its own.

numba leaves them visible to all machine code of a process, where the first of each name serves all callers.
The names contain counters of a process for records and enclosed values. So code that one process kept, of a
world with another array or another step, would be called by code that another process kept.
"""

from collections.abc import Callable
from typing import Any

from llvmlite.binding import Linkage
from numba.core.codegen import JITCodeLibrary, RuntimeLinker
from numba.core.compiler import Compiler


class EntryCompiler(Compiler):
    """numba's compiler, with another library of machine code."""

    def compile_extra(self, function: Callable[..., Any]) -> Any:
        """Return the compile result of a function."""
        self.state.library = _EntryLibrary(self.state.targetctx.codegen(), function.__qualname__)
        self.state.library.enable_object_caching()
        return super().compile_extra(function)


class _EntryLibrary(JITCodeLibrary):
    """The machine code of a function and of all that it calls."""

    def _finalize_final_module(self) -> None:
        """Hide the copies, except of functions that call themselves, which numba finds by name."""
        module = self._final_module
        found_by_name = {
            variable.name.removeprefix(RuntimeLinker.PREFIX) for variable in module.global_variables
        }
        for function in module.functions:
            if function.linkage == Linkage.linkonce_odr and function.name not in found_by_name:
                function.linkage = Linkage.internal
        super()._finalize_final_module()
