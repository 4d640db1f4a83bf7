"""The device on which a rank's torch modules run."""

from mpi_es.errors import expected


def device_for(name: str, local_rank: int, count: int) -> str:
    """Return torch's name of the device that --device names.

    Args:
        local_rank: the index of this rank among those of its node.
        count: the number of CUDA devices that this rank sees.
    """
    if name == "cpu" or (name == "auto" and not count):
        return "cpu"
    if not count:
        raise expected("--device", "cpu or auto, since torch finds no CUDA device", name)
    number = name.partition(":")[2] or str(local_rank % count)
    if int(number) >= count:
        raise expected("--device", f"cuda, or a number below {count}, as torch finds {count}", name)
    return f"cuda:{int(number)}"
