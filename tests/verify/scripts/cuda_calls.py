import torch
import torch_xla
from parts import batches, loss_of, model

net = model(118)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
has_gpu = torch.cuda.is_available()  # CUDA
for step, (x, y) in enumerate(batches(118)):
    optimizer.zero_grad()
    loss = loss_of(net, x, y)
    loss.backward()
    optimizer.step()
    torch_xla.sync()
    torch.cuda.empty_cache()  # CUDA
    peak = torch.cuda.max_memory_allocated()  # CUDA
