# ruff: noqa: E501 - a table, a row for each idiom
"""Training loops put together at random from what real ones do with their losses and outputs.

Each is a whole script that shows, in the end, everything that it has kept. Which one a seed makes never changes with
the libraries at hand.
"""

from __future__ import annotations

import random
import re
import textwrap
from typing import NamedTuple

START = """\
import collections
import csv
import io

import numpy
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
device = torch.device("cuda")
noted = []
counted = 0


class Meter:
    def __init__(self):
        self.reset()

    def reset(self):
        self.sum, self.count, self.average, self.value = 0.0, 0, 0.0, 0.0

    def update(self, value, n=1):
        self.value = value
        self.sum += value * n
        self.count += n
        self.average = self.sum / self.count


class State:
    def __init__(self):
        self.last, self.count, self.history = None, 0, []

    def trim(self):
        self.history = self.history[-2:]


class Writer:
    def __init__(self):
        self.rows = []

    def add_scalar(self, name, value, step):
        self.rows.append((name, round(float(value), 3), step))


def check(value):
    if value > 1.65:
        raise ValueError(value)


def note(value):
    noted.append(value)


def count(value):
    global counted
    counted += value


def shown(value):
    if isinstance(value, torch.Tensor):
        return shown(value.detach().cpu().tolist())
    if isinstance(value, dict):
        return {key: shown(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, collections.deque)):
        return [shown(item) for item in value]
    if isinstance(value, set):
        return sorted(value)
    if isinstance(value, numpy.ndarray):
        return value.tolist()
    if isinstance(value, io.StringIO):
        return value.getvalue()
    if isinstance(value, (Meter, State, Writer)):
        return shown(vars(value))
    return value if value is None or isinstance(value, (int, str)) else float(value)


"""

PARTS = """\
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
criterion = nn.CrossEntropyLoss()
dataset = TensorDataset(torch.randn(48, 8), torch.randint(0, 4, (48,)))
loader = DataLoader(dataset, batch_size=4)
"""

EPOCHS = 2


class Idiom(NamedTuple):
    """What a loop does with a loss. ``@name`` is a variable that outlives a turn, or an attribute."""

    setup: str
    turn: str
    epoch: str = ""
    """What it does when an epoch ends."""


_SHOWS_ALL = "print(step, ' '.join(f'{key} {kept.average:.4f}' for key, kept in @meters.items()))"
_TWO_METERS = (
    "@meters['loss'].update(loss.item(), x.size(0))\n"
    "@meters['right'].update((out.argmax(1) == y).float().mean().item(), x.size(0))\n"
)

IDIOMS = (
    # sums
    Idiom("@total = 0.0", "@total += loss.item()", "print('epoch', epoch, @total / len(loader))\n@total = 0.0"),
    Idiom("@total = 0.0", "@total += loss.item() * x.size(0)"),
    Idiom("@total = 0.0", "@total += loss.item()\nif step % 4 == 3:\n    print('mean', @total / 4)\n    @total = 0.0"),
    Idiom("@total = 0.0\n@resets = 0", "@total += loss.item()\nif @total > 7:\n    @total = 0.0\n    @resets += 1"),
    Idiom("@total = 0.0", "@total += loss.detach()"),
    Idiom("@total = 0", "@total = @total + loss.data.item()\nif step % 5 == 4:\n    print(f'{@total / (step + 1):.4f}')"),
    Idiom("@sums = {}", "@sums['n'] = @sums.get('n', 0) + loss.item()\nif @sums['n'] > 5:\n    @sums['n'] = 0.0"),
    Idiom(
        "@sums = {}",
        "parts = {'cross': loss, 'square': out.pow(2).mean()}\n"
        "for name, part in parts.items():\n    @sums[name] = @sums.get(name, 0.0) + part.item()",
    ),
    Idiom("@mean = 0.0", "@mean = 0.9 * @mean + 0.1 * loss.item()"),
    Idiom("@mean = None", "@mean = loss.item() if @mean is None else 0.9 * @mean + 0.1 * loss.item()"),
    Idiom("@mean = None", "@mean = loss.detach() if @mean is None else 0.9 * @mean + 0.1 * loss.detach()"),
    Idiom("", "count(y.size(0) * loss.item())"),
    # counts
    Idiom(
        "@right = 0\n@seen = 0",
        "@right += (out.argmax(1) == y).sum().item()\n@seen += y.size(0)",
        "print(f'{@right}/{@seen} {100.0 * @right / max(@seen, 1):.2f}')",
    ),
    Idiom("@right = 0.0", "@right += (out.argmax(1) == y).float().sum()"),
    Idiom("@right = 0", "@right += (out.argmax(1) == y).sum().item()\nif @right > 9:\n    @right = 0"),
    Idiom("@right = 0", "_, said = torch.max(out.data, 1)\n@right += said.eq(y).sum().item()\nprint(f'{@right:d}')"),
    Idiom("@counts = [0] * 4", "@counts[int(out[0].argmax())] += 1"),
    Idiom("@counts = [0] * 4", "best = out[0].argmax().item()\n@counts[best] += 1"),
    Idiom("@counts = [0] * 4", "@counts[int(y[0])] += 1\nif sum(@counts) > 7:\n    @counts = [0] * 4"),
    Idiom("@counts = collections.Counter()", "@counts.update(out.argmax(1).tolist())"),
    Idiom(
        "@hits = [0.0] * 4\n@all = [0.0] * 4",
        "same = (out.argmax(1) == y).squeeze()\nfor at in range(4):\n"
        "    label = y[at]\n    @hits[label] += same[at].item()\n    @all[label] += 1",
    ),
    Idiom("@table = numpy.zeros((4, 4))", "for true, said in zip(y.tolist(), out.argmax(1).tolist()):\n    @table[true, said] += 1"),
    # lists
    Idiom("@losses = []", "@losses.append(loss.item())", "print(sum(@losses) / (len(@losses) or 1))"),
    Idiom("@losses = []", "@losses.append(loss.item())\nif len(@losses) == 4:\n    print(sum(@losses) / 4)\n    @losses.clear()"),
    Idiom("@losses = []", "@losses.append(loss.item())\ndel @losses[:-3]"),
    Idiom("@losses = []\n@sizes = []", "@sizes.append(len(@losses))\n@losses.append(loss.item())"),
    Idiom("@losses = []\n@at = -1", "@losses.append(loss.item())\nif @losses[-1] == max(@losses):\n    @at = step"),
    Idiom("@losses = []", "@losses += [loss.item()]\n@losses.sort()"),
    Idiom("@losses = []", "@losses.extend([loss.item(), step])\n@losses.pop(0)"),
    Idiom("@losses = []", "@losses.append(loss.detach())", "if @losses:\n    print(torch.stack(@losses).mean().item())\n@losses = []"),
    Idiom("@window = []", "@window.append(loss.item())\nif len(@window) > 3:\n    @window.pop(0)\nprint(sum(@window) / len(@window))"),
    Idiom("@recent = collections.deque(maxlen=4)", "@recent.append(loss.item())\nif step % 5 == 4:\n    print(sum(@recent) / len(@recent))"),
    Idiom("@recent = collections.deque()", "@recent.append(loss.item())\n@recent.rotate(1)"),
    Idiom("@rows = []", "@rows.append((step, loss.item(), out.max().item()))"),
    Idiom("@rows = []", "@rows.append([loss.item()])\n@rows[-1].append(out.max().item())"),
    Idiom("@rows = []", "first, second = loss.item(), out.mean().item()\n@rows.append((first, second))\n@rows.reverse()"),
    Idiom("@rows = []", "row = [step, loss.item()]\nrow.append(out.sum().item())\n@rows.append(row)\nif step % 6 == 5:\n    print(row)"),
    Idiom(
        "@rows = []",
        "@rows.append({'step': step, 'loss': loss.item()})\n"
        "if step % 4 == 1:\n    print(max(@rows, key=lambda row: row['loss']))",
    ),
    Idiom("@said = []", "@said += out.argmax(1).tolist()"),
    Idiom("@said = []", "@said.append(out.detach().argmax(1))", "if @said:\n    print(torch.cat(@said).tolist())\n@said = []"),
    Idiom("@said = []\n@true = []", "@said.extend(out.argmax(1).cpu().numpy())\n@true.extend(y.cpu().numpy())"),
    Idiom("@said = []", "@said += [value for value in out[0].tolist() if value > 0]"),
    Idiom("@signs = []", "@signs.append(1 if out.mean().item() > 0 else -1)"),
    Idiom("@flags = []", "@flags.append((out > 0.5).any().item())"),
    Idiom("@norms = []", "@norms.append(sum(part.abs().sum().item() for part in model.parameters()))"),
    Idiom("@accuracies = []", "with torch.no_grad():\n    accuracy = (out.argmax(1) == y).float().mean()\n    @accuracies.append(accuracy.item())"),
    Idiom("@kept = set()", "@kept.add(round(loss.item(), 3))\nif len(@kept) > 5:\n    @kept.clear()"),
    Idiom("", "note(loss.item())"),
    Idiom("", "noted.append(step)\nnote(loss.item())\nif len(noted) > 6:\n    noted.clear()"),
    # dictionaries
    Idiom("@history = {'loss': []}", "@history['loss'].append(loss.item())\n@history['loss'] = @history['loss'][-3:]"),
    Idiom("@history = {}", "@history.setdefault('mean', []).append(out.mean().item())"),
    Idiom("@history = collections.defaultdict(list)", "@history['loss'].append(loss.item())\n@history['top'].append(out.max().item())"),
    Idiom("@logs = {}", "@logs['loss'] = loss.item()\n@logs['step'] = step\nif step % 5 == 0:\n    print(@logs)"),
    Idiom("@logs = {}", "@logs['spread'] = out.std().item()\nif step % 3 == 2:\n    @logs.pop('spread')"),
    Idiom("@logs = {}", "if step % 3 == 0:\n    @logs['third'] = loss.item()\nelse:\n    @logs['other'] = out.max().item()"),
    Idiom("@logs = {}", "@logs.update(loss=loss.item(), top=out.max().item())\n@logs.pop('top')"),
    Idiom("", "stats = {'loss': loss.item(), 'out': out.mean().item()}\nif step % 3 == 2:\n    print(stats)"),
    # tensors and arrays
    Idiom("@values = torch.zeros(16, device=device)", "@values[step] = loss.detach()"),
    Idiom("@values = torch.zeros(2, 16, device=device)", "@values[0, step] = loss.detach()"),
    Idiom("@values = torch.zeros(4, 16, device=device)", "@values[:, step] = out.detach().mean(1)"),
    Idiom("@ring = torch.zeros(5, device=device)\n@at = 0", "@ring[@at] = loss.detach()\n@at = (@at + 1) % 5"),
    Idiom("@table = numpy.zeros(16)", "@table[step] = loss.item()"),
    Idiom("@highest = -9.0", "@highest = max(@highest, out.max().item())"),
    Idiom("@highest = torch.tensor(-9.0, device=device)", "@highest = torch.max(@highest, out.detach().max())"),
    Idiom("@last = None", "@last = loss"),
    Idiom("@aux = None", "if step % 2:\n    @aux = out.abs().mean()\nif @aux is not None:\n    print('aux', @aux.item())"),
    Idiom("@before = None", "if @before is not None and step % 2 == 0:\n    print(loss.item() - @before.item())\n@before = loss.detach()"),
    # decisions
    Idiom("@best = 1e9\n@at = -1", "value = loss.item()\nif value < @best:\n    @best, @at = value, step"),
    Idiom("@best = None", "if @best is None or loss.item() < @best:\n    @best = loss.item()"),
    Idiom(
        "@best = float('inf')\n@bad = 0",
        "if loss.item() < @best:\n    @best = loss.item()\n    @bad = 0\nelse:\n    @bad += 1\n"
        "if @bad > 6:\n    print('patience', step)\n    @bad = 0",
    ),
    Idiom(
        "@best = -1.0\n@kept = {}",
        "score = (out.argmax(1) == y).float().mean().item()\nif score > @best:\n    @best = score\n"
        "    @kept = {name: value.detach().cpu().clone() for name, value in model.state_dict().items()}",
    ),
    Idiom("@skipped = 0", "if loss.item() > 1.6:\n    @skipped += 1\n    continue"),
    Idiom("@skipped = 0", "if loss.item() > 1.7:\n    @skipped += 1"),
    Idiom("", "if torch.isnan(loss):\n    print('not a number')\n    break"),
    Idiom("", "if loss.item() < 1.2:\n    print('early', step)\n    break"),
    Idiom("", "assert loss.item() < 100"),
    Idiom("", "if step % 5 == 3:\n    continue"),
    Idiom("", "if step == 9:\n    break"),
    Idiom("", "if y[0].item() == 2:\n    print('two', loss.item())"),
    Idiom("", "if (value := loss.item()) > 1.5:\n    print('above', value)"),
    Idiom("", "try:\n    check(loss.item())\nexcept ValueError:\n    print('high', step)"),
    Idiom("", "try:\n    check(loss.item())\nexcept ValueError:\n    print('high', step)\n    continue"),
    Idiom("@done = 0", "try:\n    check(loss.item())\nexcept ValueError:\n    print('high', step)\nelse:\n    @done += 1\nfinally:\n    print('end', step)"),
    # meters
    Idiom("@meter = Meter()", "@meter.update(loss.item(), x.size(0))", "print(@meter.average)\n@meter.reset()"),
    Idiom("@meter = Meter()", "@meter.update(loss.item(), x.size(0))\nif @meter.count > 30:\n    @meter.reset()"),
    Idiom("@meter = Meter()", "@meter.update(loss.item())\nprint(step, @meter.count)"),
    Idiom("@meter = Meter()", "@meter.update(loss.item())\nif step % 3 == 2:\n    print(f'{@meter.value:.3f} ({@meter.average:.3f})')"),
    Idiom("@meters = collections.defaultdict(Meter)", f"{_TWO_METERS}if step % 4 == 3:\n    {_SHOWS_ALL}"),
    Idiom("@state = State()", "@state.last = loss.item()\n@state.count += 1"),
    Idiom("@state = State()", "@state.history.append(loss.item())\n@state.trim()"),
    # displays
    Idiom("", "print(step, loss.item())"),
    Idiom("", "message = f'{step} {loss.item():.4f}'\nif step % 3 == 0:\n    print(message)"),
    Idiom("", "if step % 4 == 0:\n    print(f'{step}: {loss:.4f} {out.mean().item():.3f}')"),
    Idiom("@lines = io.StringIO()", "csv.writer(@lines).writerow([step, round(loss.item(), 3)])"),
    Idiom("@writer = Writer()", "@writer.add_scalar('loss', loss.item(), step)"),
    Idiom("", "if step % 6 == 5:\n    model.eval()\n    with torch.no_grad():\n        print('now', criterion(model(x), y).item())\n    model.train()"),
)  # fmt: skip
_VARIABLE = re.compile(r"@(\w+)")
_PARTS = re.compile(r"(?<![\w.'])(model|optimizer|criterion|loader|device)\b(?!=)")


class Chosen(NamedTuple):
    """An idiom of one loop, whose variables have a number of their own."""

    idiom: Idiom
    number: int

    def written(self, text: str, prefix: str) -> str:
        return _VARIABLE.sub(lambda match: f"{prefix}{match[1]}_{self.number}", text)

    @property
    def variables(self) -> list[str]:
        return list(dict.fromkeys(_VARIABLE.findall(self.idiom.setup)))


def compose(seed: int) -> str:
    """A script for a GPU."""
    draw = random.Random(seed)
    idioms = [Chosen(draw.choice(IDIOMS), number) for number in range(draw.randint(2, 5))]
    form = draw.choice((_as_module, _as_function, _as_trainer))
    return START + form(draw, idioms)


def _as_module(draw: random.Random, idioms: list[Chosen]) -> str:
    return f"{PARTS}{_setups(idioms, '')}{_epochs(draw, idioms, '')}{_report(idioms, '')}"


def _as_function(draw: random.Random, idioms: list[Chosen]) -> str:
    body = f"{_setups(idioms, '')}{_epochs(draw, idioms, '')}{_report(idioms, '')}"
    return f"{PARTS}\n\ndef main():\n{_indented(body)}\n\nmain()\n"


def _as_trainer(draw: random.Random, idioms: list[Chosen]) -> str:
    made = "".join(f"self.{name} = {name}\n" for name in ("model", "optimizer", "criterion", "loader", "device"))
    epoch = _of_self(_epoch(draw, idioms, "self."))
    methods = [
        f"def __init__(self, model, optimizer, criterion, loader, device):\n{_indented(made + _setups(idioms, 'self.'))}",
        f"def train(self, epoch):\n{_indented(epoch)}",
        f"def report(self):\n{_indented(_report(idioms, 'self.'))}",
    ]
    body = "\n".join(methods)
    runs = f"for epoch in range({EPOCHS}):\n    trainer.train(epoch)\ntrainer.report()\n"
    return f"class Trainer:\n{_indented(body)}\n\n{PARTS}trainer = Trainer(model, optimizer, criterion, loader, device)\n{runs}"


def _of_self(text: str) -> str:
    return _PARTS.sub(r"self.\1", text)


def _setups(idioms: list[Chosen], prefix: str) -> str:
    return "".join(f"{chosen.written(chosen.idiom.setup, prefix)}\n" for chosen in idioms if chosen.idiom.setup)


def _report(idioms: list[Chosen], prefix: str) -> str:
    names = [f"{prefix}{name}_{chosen.number}" for chosen in idioms for name in chosen.variables]
    return "".join(f"print('{name}', shown({name}))\n" for name in names) + "print(shown(noted), shown(counted))\n"


def _epochs(draw: random.Random, idioms: list[Chosen], prefix: str) -> str:
    return f"for epoch in range({EPOCHS}):\n{_indented(_epoch(draw, idioms, prefix))}"


def _epoch(draw: random.Random, idioms: list[Chosen], prefix: str) -> str:
    ends = "".join(f"{chosen.written(chosen.idiom.epoch, prefix)}\n" for chosen in idioms if chosen.idiom.epoch)
    turn = _indented(_turn(draw, idioms, prefix))
    if draw.random() < 0.15:
        advance = "try:\n    x, y = next(batches)\nexcept StopIteration:\n    break\nstep += 1\n"
        return f"step = -1\nbatches = iter(loader)\nwhile True:\n{_indented(advance)}{turn}{ends}"
    otherwise = "else:\n    print('whole', loss.item())\n" if draw.random() < 0.15 else ""
    return f"for step, (x, y) in enumerate(loader):\n{turn}{otherwise}{ends}"


def _turn(draw: random.Random, idioms: list[Chosen], prefix: str) -> str:
    """One training step, with the idioms in front of it, within and behind it."""
    accumulates = draw.random() < 0.2
    start = ["x, y = x.to(device), y.to(device)"]
    forward = ["out = model(x)", "loss = criterion(out, y)"]
    if accumulates:
        backward, update = (
            ["loss.backward()"],
            ["if (step + 1) % 2 == 0:\n    optimizer.step()\n    optimizer.zero_grad()"],
        )
    else:
        backward, update = ["optimizer.zero_grad()", "loss.backward()"], ["optimizer.step()"]
    places: list[list[str]] = [[], [], []]
    for chosen in idioms:
        for _ in range(draw.choice((1, 1, 1, 2))):
            text = _sometimes(draw, chosen.written(chosen.idiom.turn, prefix))
            places[draw.choice((0, 1, 2, 2, 2))].append(text)
        if chosen.variables and draw.random() < 0.3:
            name = f"{prefix}{draw.choice(chosen.variables)}_{chosen.number}"
            places[2].append(_sometimes(draw, f"print(step, shown({name}))", 0.7))
    return "\n".join([*start, *forward, *places[0], *backward, *places[1], *update, *places[2]]) + "\n"


def _sometimes(draw: random.Random, text: str, share: float = 0.2) -> str:
    """The same, at times under a condition that the loop knows without the device."""
    if draw.random() >= share:
        return text
    test = draw.choice(("step % 2 == 0", "step % 3 == 1", "step > 4", "epoch == 1"))
    return f"if {test}:\n{_indented(text)}".rstrip("\n")


def _indented(text: str) -> str:
    return textwrap.indent(text if text.endswith("\n") else f"{text}\n", "    ")
