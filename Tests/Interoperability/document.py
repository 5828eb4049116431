"""The golden vectors of Documentation/wire-format.md, read from it."""
import pathlib
import re

PATH = pathlib.Path(__file__).resolve().parents[2] / "Documentation/wire-format.md"


def blocks(kind: str) -> list[dict[str, str]]:
    """The names and values in each fenced block of this kind."""
    found = []
    for body in re.findall(rf"^```{kind}\n(.*?)^```$", PATH.read_text(), flags=re.MULTILINE | re.DOTALL):
        lines = [line.partition("#")[0] for line in body.splitlines()]
        found.append({line.partition(":")[0].strip(): line.partition(":")[2].strip() for line in lines if line.strip()})
    return found


def vectors(kind: str) -> dict[str, bytes]:
    """The bytes in all blocks of this kind, by name."""
    return {name: bytes.fromhex(value) for block in blocks(kind) for name, value in block.items()}
