import logging
import math
import sys

import torch
import torch.nn.functional as F
import torch_xla
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.tensorboard import SummaryWriter
from tqdm import tqdm

device = torch_xla.device()
dataset = TensorDataset(torch.randn(64, 8), torch.randint(0, 4, (64,)))
loader = DataLoader(dataset, batch_size=16, drop_last=True)
test_loader = DataLoader(dataset, batch_size=16)
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 4)).to(device)
critic = nn.Linear(8, 1).to(device)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
critic_optimizer = torch.optim.Adam(critic.parameters(), lr=1e-4)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 10)
scaler = torch.amp.GradScaler("cpu", enabled=False)
writer = SummaryWriter()
logger = logging.getLogger(__name__)

# example
