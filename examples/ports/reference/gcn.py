import torch
import torch.nn as nn
import torch.nn.functional as F

from ports import Generator, Log

MEMBERS, HIDDEN, GROUPS = 34, 8, 2
random, log = Generator(0), Log()
group = torch.arange(MEMBERS) % GROUPS
knows = random.rand(MEMBERS, MEMBERS) < torch.where(group.unsqueeze(0) == group.unsqueeze(1), 0.25, 0.03)
pairs = knows.triu(1)
with_self = pairs | pairs.t() | (torch.eye(MEMBERS) > 0)
sender, to = with_self.nonzero().t()
degree = with_self.sum(1).float()
weight = (degree[sender] * degree[to]).rsqrt().unsqueeze(1)


class GraphConv(nn.Module):
    def __init__(self, inside, out):
        super().__init__()
        self.linear, self.bias = nn.Linear(inside, out, bias=False), nn.Parameter(torch.zeros(out))

    def forward(self, x):
        h = self.linear(x)
        return torch.zeros_like(h).index_add(0, to, weight * h[sender]) + self.bias


conv1, conv2 = GraphConv(MEMBERS, HIDDEN), GraphConv(HIDDEN, GROUPS)
model = random.initialize(nn.ModuleList([conv1, conv2]))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
for step in range(20):
    scores = conv2(torch.tanh(conv1(torch.eye(MEMBERS))))
    loss = F.cross_entropy(scores[:2], group[:2])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    log(loss=loss, right=(scores.argmax(1) == group).float().mean())
log.save(__file__)
