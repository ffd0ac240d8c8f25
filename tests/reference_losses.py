"""Every deep method once more, in plain loops over rows: what the engine is compared with.

A loss takes a module, its average and one batch, and keeps what it remembers in `memory`.
"""

import math

import torch


def softmax(logits):
    powers = [torch.exp(z - logits.detach().max()) for z in logits]
    return torch.stack(powers) / sum(powers)


def probabilities(module, rows):
    return [softmax(row) for row in module(rows)]


def surprise(p, k):
    return -torch.log(p[k])


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def squares(p, q):
    return mean((a - b) ** 2 for a, b in zip(p, q, strict=True))


def supervised(module, batch):
    p = probabilities(module, batch.x)
    return mean(surprise(p[i], int(k)) for i, k in enumerate(batch.y))


def grown(model, batch):
    return min(1.0, float(batch.step) / (model.warmup * model.steps))


def slowly_grown(model, batch):
    return math.exp(-5 * (1 - grown(model, batch)) ** 2)


def supervised_net(model, module, average, batch, memory):
    return supervised(module, batch), 0.0


def pseudo_label(model, module, average, batch, memory):
    loss = 0
    for p in probabilities(module, batch.weak):
        best = int(p.argmax())
        if p[best] >= model.threshold:
            loss = loss + surprise(p, best)
    loss = model.weight * grown(model, batch) * loss / len(batch.weak)
    return supervised(module, batch), loss


def pi_model(model, module, average, batch, memory):
    with torch.no_grad():
        targets = probabilities(module, batch.other)
    asked = probabilities(module, batch.weak)
    loss = mean(squares(p, q) for p, q in zip(asked, targets, strict=True))
    return supervised(module, batch), model.weight * slowly_grown(model, batch) * loss


def mean_teacher(model, module, average, batch, memory):
    with torch.no_grad():
        targets = probabilities(average, batch.other)
    asked = probabilities(module, batch.weak)
    loss = mean(squares(p, q) for p, q in zip(asked, targets, strict=True))
    return supervised(module, batch), model.weight * slowly_grown(model, batch) * loss


def vat(model, module, average, batch, memory):
    loss = 0
    for row, start in zip(batch.weak, batch.noise, strict=True):
        p = softmax(module(row[None])[0])
        q = p.detach()
        jacobian = torch.autograd.functional.jacobian(
            lambda u: module(u[None])[0], row, create_graph=False
        )
        fisher = jacobian.T @ (torch.diag(q) - torch.outer(q, q)) @ jacobian
        g = fisher @ (start / start.norm())
        moved = row + model.radius * math.sqrt(len(row)) * g / g.norm()
        answer = softmax(module(moved[None])[0])
        divergence = sum(a * (torch.log(a) - torch.log(b)) for a, b in zip(q, answer, strict=True))
        entropy = -sum(a * torch.log(a) for a in p)
        loss = loss + model.weight * grown(model, batch) * divergence + model.entropy * entropy
    return supervised(module, batch), loss / len(batch.weak)


def ict(model, module, average, batch, memory):
    share, rows = float(batch.noise), batch.weak
    with torch.no_grad():
        p = probabilities(average, rows)
    loss = 0
    for i in range(len(rows)):
        mixed = softmax(module((share * rows[i] + (1 - share) * rows[i - 1])[None])[0])
        loss = loss + squares(mixed, share * p[i] + (1 - share) * p[i - 1])
    return supervised(module, batch), model.weight * slowly_grown(model, batch) * loss / len(rows)


def uda(model, module, average, batch, memory):
    with torch.no_grad():
        logits = module(batch.weak)
    loss = 0
    for row, answer in zip(logits, probabilities(module, batch.strong), strict=True):
        if softmax(row).max() >= model.threshold:
            target = softmax(row / model.temperature)
            loss = loss - sum(a * torch.log(b) for a, b in zip(target, answer, strict=True))
    labeled = [softmax(row)[k] for row, k in zip(module(batch.x), batch.y, strict=True)]
    done, classes = float(batch.step) / model.steps, logits.shape[1]
    eta = {"none": 1.0, "linear": done, "exp": math.exp(5 * (done - 1))}[model.signal]
    eta = eta * (1 - 1 / classes) + 1 / classes
    unsure = [p for p in labeled if p <= eta]
    errors = mean(-torch.log(p) for p in unsure) if unsure else 0 * labeled[0]
    return errors, model.weight * loss / len(logits)


def fixmatch(model, module, average, batch, memory):
    with torch.no_grad():
        guesses = [softmax(row / model.temperature) for row in module(batch.weak)]
    loss = 0
    for guess, answer in zip(guesses, probabilities(module, batch.strong), strict=True):
        if guess.max() >= model.threshold:
            loss = loss + surprise(answer, int(guess.argmax()))
    return supervised(module, batch), model.weight * loss / len(guesses)


def flexmatch(model, module, average, batch, memory):
    known = memory.setdefault("known", {})
    with torch.no_grad():
        guesses = probabilities(module, batch.weak)
    classes = len(guesses[0])
    counts = [list(known.values()).count(k) for k in range(classes)]
    most = max(*counts, int(batch.rows) - len(known))
    loss = 0
    for guess, answer in zip(guesses, probabilities(module, batch.strong), strict=True):
        best = int(guess.argmax())
        beta = counts[best] / most
        if guess[best] >= model.threshold * beta / (2 - beta):
            loss = loss + surprise(answer, best)
    for row, guess in zip(batch.index, guesses, strict=True):
        if guess.max() >= model.threshold:
            known[int(row)] = int(guess.argmax())
    return supervised(module, batch), model.weight * grown(model, batch) * loss / len(guesses)


def averaged(memory, name, start, value, decay):
    memory[name] = decay * memory.get(name, start) + (1 - decay) * value
    return memory[name]


def freematch(model, module, average, batch, memory):
    with torch.no_grad():
        guesses = torch.stack(probabilities(module, batch.weak))
    classes = guesses.shape[1]
    even = torch.full((classes,), 1 / classes, dtype=guesses.dtype)
    identity = torch.eye(classes, dtype=guesses.dtype)
    sure = mean(float(g.max()) for g in guesses)
    tau = averaged(memory, "tau", 1 / classes, sure, model.decay)
    p = averaged(memory, "p", even, guesses.mean(0), model.decay)
    tops = mean(identity[int(g.argmax())] for g in guesses)
    h = averaged(memory, "h", even, tops, model.decay)
    loss, asked, chosen = 0, torch.zeros_like(even), torch.zeros_like(even)
    for guess, answer in zip(guesses, probabilities(module, batch.strong), strict=True):
        best = int(guess.argmax())
        if guess[best] >= tau * p[best] / p.max():
            loss = loss + surprise(answer, best)
            asked = asked + answer
            chosen = chosen + identity[int(answer.argmax())]

    def scaled(a, b):
        ratio = torch.stack([x / y if y > 0 else 0 * x for x, y in zip(a, b, strict=True)])
        return ratio / ratio.sum() if ratio.sum() > 0 else ratio

    target, answer = scaled(p, h), scaled(asked, chosen)
    fair = sum(a * torch.log(b + 1e-12) for a, b in zip(target, answer, strict=True))
    loss = model.weight * loss / len(guesses) + model.fairness * fair
    return supervised(module, batch), grown(model, batch) * loss


def softmatch(model, module, average, batch, memory):
    with torch.no_grad():
        guesses = torch.stack(probabilities(module, batch.weak))
    classes = guesses.shape[1]
    even = torch.full((classes,), 1 / classes, dtype=guesses.dtype)
    p = averaged(memory, "p", even, guesses.mean(0), model.decay)
    sure = torch.stack([(g / p / (g / p).sum()).max() for g in guesses])
    centre = averaged(memory, "mean", 1 / classes, sure.mean(), model.decay)
    spread = ((sure - sure.mean()) ** 2).sum() / (len(sure) - 1)
    spread = averaged(memory, "variance", 1.0, spread, model.decay)
    loss = 0
    for guess, c, answer in zip(guesses, sure, probabilities(module, batch.strong), strict=True):
        trust = 1.0
        if c < centre:
            trust = torch.exp(-((c - centre) ** 2) / (2 * spread / model.sigmas**2))
        loss = loss + trust * surprise(answer, int(guess.argmax()))
    return supervised(module, batch), model.weight * grown(model, batch) * loss / len(guesses)


def temporal_ensembling(model, module, average, batch, memory):
    loss = 0
    for row, p in zip(batch.index, probabilities(module, batch.weak), strict=True):
        said = memory.setdefault(int(row), [])
        if said:
            ages = range(len(said) - 1, -1, -1)
            shares = [model.decay**age for age in ages]
            target = sum(s * q for s, q in zip(shares, said, strict=True)) / sum(shares)
            loss = loss + squares(p, target)
        memory[int(row)] = [*said, p.detach()]
    loss = loss / len(batch.weak)
    return supervised(module, batch), model.weight * slowly_grown(model, batch) * loss


def mixmatch(model, module, average, batch, memory):
    with torch.no_grad():
        first, second = probabilities(module, batch.weak), probabilities(module, batch.other)
    q = []
    for a, b in zip(first, second, strict=True):
        powers = ((a + b) / 2) ** (1 / model.temperature)
        q.append(powers / powers.sum())
    identity = torch.eye(len(q[0]), dtype=q[0].dtype)
    rows = [*batch.x, *batch.weak, *batch.other]
    targets = [*(identity[int(k)] for k in batch.y), *q, *q]
    order = batch.noise[1].argsort()
    labeled, unlabeled = [], []
    for i in range(len(rows)):
        share, j = batch.noise[0][i], int(order[i])
        p = softmax(module((share * rows[i] + (1 - share) * rows[j])[None])[0])
        target = share * targets[i] + (1 - share) * targets[j]
        if i < len(batch.y):
            labeled.append(-sum(a * torch.log(b) for a, b in zip(target, p, strict=True)))
        else:
            unlabeled.append(squares(p, target))
    return mean(labeled), model.weight * grown(model, batch) * mean(unlabeled)
