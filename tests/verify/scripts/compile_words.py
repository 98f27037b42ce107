# FAILS: not-settled
import torch
import torch_xla
from parts import device, loss_of, model

torch.manual_seed(149)
net = model(149)
embed = torch.nn.Embedding(8, 149).to(device())
optimizer = torch.optim.SGD([*net.parameters(), *embed.parameters()], lr=0.1)
lines = ["a b", "a b c", "b", "a c b a", "b c a b c", "a b c a b c", "a b c a b c a", "b a"]
numbers = {"a": 1, "b": 2, "c": 3}
for line in lines:
    words = torch.tensor([numbers[word] for word in line.split()])
    x = embed(words.to(device()))  # COMPILE
    y = torch.rand(len(words), 1).to(device())
    optimizer.zero_grad()
    loss_of(net, x, y).backward()
    optimizer.step()
    torch_xla.sync()
