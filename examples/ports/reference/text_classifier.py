import torch
import torch.nn as nn
import torch.nn.functional as F

from ports import Generator, Log

BATCH, SIZE = 16, 16
WORDS = [s.split() for s in ("match goal team coach season league win", "market shares bank profit price trade win",
                             "cell orbit energy theory probe gene price", "the a of in new said after with for on")]
numbers = {}
for list_ in WORDS:
    for word in list_:
        numbers.setdefault(word, len(numbers) + 1)
random, log = Generator(0), Log()


def make_batch(texts):
    topics, lengths = random.randint(0, 3, (texts,)), random.randint(4, 12, (texts,))
    words, offsets = [], []
    for topic, length in zip(topics.tolist(), lengths.tolist()):
        offsets.append(len(words))
        for own, word in random.randint(0, 1 << 20, (length, 2)).tolist():
            list_ = WORDS[topic if own % 2 else 3]
            words.append(numbers[list_[word % len(list_)]])
    return torch.tensor(words), torch.tensor(offsets), topics


embedding, fc = nn.EmbeddingBag(len(numbers) + 1, SIZE), nn.Linear(SIZE, 3)
model = random.initialize(nn.ModuleList([embedding, fc]))
optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
schedule = torch.optim.lr_scheduler.StepLR(optimizer, 50)
for step in range(6):
    words, offsets, topics = make_batch(BATCH)
    loss = F.cross_entropy(fc(embedding(words, offsets)), topics)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 0.5)
    optimizer.step()
    schedule.step()
    log(loss=loss)
log.save(__file__)
