"""Samples that a step chooses, or groups, by a value of each: as many as there happen to be."""

from __future__ import annotations

from pathlib import Path

from marked_files import SETUP, agree


def test_samples_chosen_by_a_condition(tmp_path: Path) -> None:
    program = (
        SETUP
        + """
    for x, y in torch.utils.data.DataLoader(samples, batch_size=8, drop_last=True):
        above = [i for i in range(len(y)) if y[i] > 1]  # TPU202
        first = [i for i, label in enumerate(y) if label == 0]  # TPU202
        rows = [row for row, label in zip(x, y) if int(label) != 0]  # TPU202
        others = [i for i in range(8) if i != 3]
        by_table = [i for i in range(8) if table[i] > 1]
        optimizer.zero_grad()
        out = model(x[above].to(device)).mean() + model(x[first].to(device)).mean()
        out = out + model(torch.stack(rows).to(device)).mean()
        (out + model(x[others].to(device)).mean() + model(x[by_table].to(device)).mean()).backward()
        optimizer.step()
    """
    )
    agree(tmp_path, "TPU202", main=program)


GROUPS = (
    SETUP
    + """
    import collections

    for x, y in torch.utils.data.DataLoader(samples, batch_size=8, drop_last=True{more}):
        groups, halves = collections.defaultdict(list), collections.defaultdict(list)
        by_label = collections.defaultdict(list)
        for i, label in enumerate(y):
            by_label[int(label)].append(x[i])
        halves = collections.defaultdict(list)
        for i in range(8):
            halves[i % 2].append(x[i])
        optimizer.zero_grad()
        for label in by_label:
            model(torch.stack(by_label[label]).to(device)).mean().backward(){mark}
        for half in halves:
            model(torch.stack(halves[half]).to(device)).mean().backward()
        optimizer.step()
    """
)


def test_samples_put_into_groups(tmp_path: Path) -> None:
    agree(tmp_path, "TPU202", main=GROUPS.format(more="", mark="  # TPU202"))


def test_a_sampler_may_balance_the_groups(tmp_path: Path) -> None:
    agree(tmp_path, "TPU202", main=GROUPS.format(more=", sampler=BalancedSampler(samples)", mark=""))


LOOKED_UP = (
    SETUP
    + """
    import collections

    def known(rows):
        found = collections.defaultdict(list)
        for row in rows:
            found[row[0], row[1]].append(row[2])
        return found

    def evaluate(rows):
        tails = known(rows)
        by_head = {}
        one_each = {}
        by_class = {}
        given = {}
        for head, relation, tail in rows:
            by_head.setdefault(head, []).append(tail)
            for n in range(4):
                given.setdefault(relation, []).append(n)
        for row in rows:
            one_each.setdefault(row, []).append(1)
        for name, label in rows:
            by_class.setdefault(label, []).append(name)
        with torch.no_grad():
            for i in range(len(rows)):
                row = rows[i]
                scores = model(row[3].to(device))
                others = tails[row[0], row[1]]
                scores[others] = 0  # TPU201
                scores[by_head[row[0]]] = 0  # TPU201
                out = model(torch.tensor(by_head[row[0]]).to(device))  # TPU202
                scores[by_head[3]] = 0
                scores[one_each[row]] = 0
                scores[by_class[row[0]]] = 0
                scores[given[row[1]]] = 0
                print(scores.argmax().item(), out.sum().item())

    model.eval()
    evaluate(samples)
    """
)


def test_lists_that_were_grouped_before(tmp_path: Path) -> None:
    agree(tmp_path, "TPU201,TPU202", main=LOOKED_UP)
