"""Lint code that is right on XLA already: what torch_xla ships, and the XLA paths of frameworks and public scripts.

    python benchmarks/right_code.py CLONES [--fetch] [--preview] [--list error]

``CLONES`` is a folder with a checkout per repository, called ``owner+name``; ``--fetch`` makes them with git, at the
commits below. Of each repository the files that mention ``torch_xla`` are taken and those of some folders, without what
is made for GPUs or for JAX alone. Files lie in their project, so that imports are followed. Prints a Markdown table.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import NamedTuple


class Source(NamedTuple):
    """What is taken of one repository."""

    name: str
    commit: str
    folders: tuple[str, ...] = ()
    """Taken as a whole, beside files that mention torch_xla."""
    left_out: tuple[str, ...] = ()
    """Beginnings of paths."""


GPU_EXAMPLES = tuple(
    f"examples/{name}"
    for name in (
        "inference/", "alst_", "torch_native_parallelism/", "multigpu_", "by_feature/deepspeed", "by_feature/megatron",
        "by_feature/fsdp", "by_feature/ddp_comm", "slurm/",
    )
)  # fmt: skip
SOURCES = (
    Source("pytorch/xla", "5fab7053df", ("examples", "test", "torch_xla", "contrib", "docs"), ("benchmarks/",)),
    Source(
        "huggingface/accelerate", "16cb6eb80d", ("examples",), (*GPU_EXAMPLES, "tests/test_", "tests/fsdp", "tests/tp")
    ),
    Source("Lightning-AI/pytorch-lightning", "7f0c3436cd"),
    Source("pytorch/ignite", "de08e799cf"),
    Source("vealocia/torchprime", "5ab9730e6e", ("torchprime",), ("torchprime/experimental/",)),
    Source("huggingface/optimum-tpu", "27f8edea3c", ("",)),
    Source("huggingface/pytorch-image-models", "a25bf974a9", ("timm/bits",)),
    Source("pytorch-tpu/transformers", "f51ac9e059", ("examples/pytorch",)),
    Source("ronghanghu/vit_10b_fsdp_example", "d672ec7fa6", ("",)),
    Source("facebookresearch/fairseq", "3d262bb256"),
)


def fetch(source: Source, into: Path) -> None:
    """Check a repository out at its commit."""
    subprocess.run(["git", "clone", "--filter=blob:none", f"https://github.com/{source.name}", str(into)], check=True)
    subprocess.run(["git", "-C", str(into), "checkout", "-q", source.commit], check=True)


def files(source: Source, top: Path) -> list[Path]:
    """The files of a repository that are to be right, sorted."""
    found = []
    for path in sorted(top.rglob("*.py")):
        place = path.relative_to(top).as_posix()
        if place.startswith(source.left_out) if source.left_out else False:
            continue
        if any(place.startswith(folder) for folder in source.folders):
            if source.name != "pytorch-tpu/transformers" or "no_trainer" in place or "xla" in place:
                found.append(path)
        elif "torch_xla" in path.read_text(encoding="utf-8", errors="replace"):
            found.append(path)
    return found


def lint(paths: list[Path], top: Path, options: list[str]) -> list[dict[str, object]]:
    """Findings in some files, linted together."""
    command = [sys.executable, "-P", "-m", "tpulint", "check", "--no-cache", "--output-format", "json", *options]
    done = subprocess.run([*command, *map(str, paths)], capture_output=True, text=True, cwd=top.parent)
    if done.stderr.startswith("error"):
        raise SystemExit(done.stderr)
    found: list[dict[str, object]] = json.loads(done.stdout)
    return found


def main() -> None:
    """Print the table, and the findings of a severity when asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clones", type=Path)
    parser.add_argument("--fetch", action="store_true")
    parser.add_argument("--preview", action="store_true")
    parser.add_argument("--list", default="", metavar="SEVERITY")
    args = parser.parse_args()
    listed, whole = [], Counter[str]()
    print("| repository | commit | files | errors | warnings | infos |")
    print("|---|---|---:|---:|---:|---:|")
    for source in SOURCES:
        top = (args.clones / source.name.replace("/", "+")).resolve()
        if args.fetch and not top.exists():
            fetch(source, top)
        paths = files(source, top)
        findings = lint(paths, top, ["--preview"] if args.preview else [])
        counted = Counter(str(finding["severity"]) for finding in findings)
        whole.update(counted, files=len(paths))
        row = f"{len(paths)} | {counted['error']} | {counted['warning']} | {counted['info']}"
        print(f"| {source.name} | `{source.commit}` | {row} |", flush=True)
        listed += [finding for finding in findings if finding["severity"] == args.list]
    print(f"| all | | {whole['files']} | {whole['error']} | {whole['warning']} | {whole['info']} |")
    for finding in sorted(listed, key=lambda item: (str(item["code"]), str(item["filename"]))):
        place = str(finding["filename"]).removeprefix(f"{args.clones.resolve()}/")
        location = finding["location"]
        assert isinstance(location, dict)
        print(f"{finding['code']} {place}:{location['row']}: {finding['message']}")


if __name__ == "__main__":
    main()
