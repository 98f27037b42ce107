"""A loader whose workers send tensors through sockets in the folder for temporary files."""

import torch
import torch_xla

if __name__ == "__main__":
    device = torch_xla.device()
    model = torch.nn.Linear(4, 3).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    dataset = torch.utils.data.TensorDataset(torch.randn(256, 4), torch.randint(0, 3, (256,)))
    for inputs, labels in torch.utils.data.DataLoader(dataset, 8, num_workers=1):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(inputs.to(device)), labels.to(device)).backward()
        optimizer.step()
        torch_xla.sync()
