"""The registry of members: a config names a built-in one, or the user's as package.module:Class."""

from mpi_es.config import user_objects
from mpi_es.config.fields import option
from mpi_es.errors import UserError, expected, one_line, unknown
from pbt.config import Config
from pbt.explore import Hyperparameter, tuned
from pbt.members.base import Member

MEMBERS = {
    "es": "pbt.members.es:ES",
    "sb3": "pbt.members.sb3.member:SB3",
    "toy": "pbt.members.toy:Toy",
}
_USED_BY = {  # hints on options that the members do not have
    "env": "use --member sb3 or --member es, which play environments",
    "algorithm": "use --member sb3, which has algorithms",
}


def find(config: Config) -> type[Member]:
    """Return the class of the config's members; no other member is imported."""
    if ":" not in config.member and config.member not in MEMBERS:
        raise unknown("--member", config.member, [*MEMBERS, "package.module:Class"])
    found = user_objects.load("--member", MEMBERS.get(config.member, config.member))
    if not (isinstance(found, type) and issubclass(found, Member)):
        raise expected("--member", "a subclass of pbt.Member", config.member)
    if missing := sorted(found.__abstractmethods__):
        raise expected("--member", f"a class that defines {', '.join(missing)}", config.member)
    return found


def space(config: Config) -> list[Hyperparameter]:
    """Return the hyperparameters to tune, or refuse options that the config's members do not have."""
    member = find(config)
    if config.ranks_per_member > 1 and not member.collective:
        rule = f"1, since one rank trains a member {config.member}"
        raise expected("--ranks-per-member", rule, config.ranks_per_member)
    for name in member.unused:
        if getattr(config, name) != getattr(Config, name):
            raise unused(config, name)
    try:
        declared = member.declared(config)
    except UserError:
        raise
    except Exception as error:  # a user's code
        raise UserError(f"--member {config.member}: declared failed: {one_line(error)}") from error
    if not (isinstance(declared, list | tuple) and all(isinstance(one, Hyperparameter) for one in declared)):
        raise expected("--member", "a class whose declared returns Hyperparameters", config.member)
    chosen = tuned(declared, config.tune, config.trained)
    names = {name for one in chosen for name in member.options.get(one.name, [one.name])}
    for word in config.member_options:
        if word.partition("=")[0] in names:
            raise expected("--member-options", "no tuned hyperparameter (see --tune)", word)
    if not chosen and config.explore != "none" and config.selection != "none":
        raise UserError("--tune: expected hyperparameters to explore, or --selection none or --explore none")
    return chosen


def unused(config: Config, name: str) -> UserError:
    """Build the error for an option that the config's members do not use."""
    rule = f"to be left out, since members {config.member} do not use it"
    return expected(option(name), rule, getattr(config, name), _USED_BY.get(name, ""))
