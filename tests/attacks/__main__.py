"""Random attacks on trainings: python -m tests.attacks [--seed N] [--minutes 10] [--attack ID].

Each is decided by the seed and its number: a process is killed, a signal sent, a terminal closed, a system
call fails, a disk is full. The run is then continued, and its history must be the undisturbed one, bit for
bit. No program may print a traceback, hang, leave a process behind or take more than 1 GiB.
"""

import argparse
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.attacks import processes
from tests.attacks.kinds import KINDS
from tests.attacks.training import Attack, check, check_continued, undisturbed


def strike(seed: int, number: int, place: Path, kind: str = "") -> tuple[str, Attack, str]:
    """Make an attack; return its kind, what it did, and what is wrong, which is empty if all held.

    Args:
        kind: instead of one by chance.
    """
    chance = random.Random(f"{seed}/{number}")
    by_chance = chance.choice(sorted(KINDS))
    kind = kind or by_chance
    attack = Attack(number, chance, place)
    try:
        check(KINDS[kind](attack))
        check_continued(attack, undisturbed(place, attack.strategy))
    except Exception as error:
        return kind, attack, " ".join(f"{type(error).__name__}: {error}".split())[:300]
    finally:
        processes.end(attack.name)
    shutil.rmtree(attack.run)
    for log in place.glob(f"log-{number}*"):
        log.unlink()
    return kind, attack, ""


def table(made: Counter[str], lost: Counter[str]) -> list[str]:
    """Return a line for each kind."""
    lines = [f"{'attack':<14}  number  failed"]
    lines += [f"{kind:<14}  {made[kind]:>6}  {lost[kind]:>6}" for kind in sorted(made)]
    return [*lines, f"{'all':<14}  {made.total():>6}  {lost.total():>6}"]


def main() -> int:
    """Attack until the time is over; return 1 if anything failed."""
    parser = argparse.ArgumentParser(
        "python -m tests.attacks", description="Random attacks on trainings, each continued to its end."
    )
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--attack", type=int, metavar="ID", help="make this one alone, and keep its files")
    parser.add_argument("--kind", choices=sorted(KINDS), default="", help="make attacks of this kind only")
    chosen = parser.parse_args()
    place = Path(tempfile.mkdtemp(prefix="attacks-"))
    print(f"seed {chosen.seed}, files in {place}", flush=True)
    made, lost = Counter[str](), Counter[str]()
    end = time.monotonic() + 60 * chosen.minutes
    number = chosen.attack or 0
    while chosen.attack is not None or time.monotonic() < end:
        number += chosen.attack is None
        kind, attack, wrong = strike(chosen.seed, number, place, chosen.kind)
        made[kind] += 1
        lost[kind] += bool(wrong)
        if wrong or chosen.attack is not None:
            same = f"--kind '{chosen.kind}' " if chosen.kind else ""
            print(f"attack {number}, {kind}: {wrong or 'held'}", *attack.story, sep="\n  ")
            print(
                f"  again: python -m tests.attacks --seed {chosen.seed} {same}--attack {number}", flush=True
            )
        if chosen.attack is not None:
            break
    print(*table(made, lost), sep="\n")
    return int(lost.total() > 0)


if __name__ == "__main__":
    sys.exit(main())
