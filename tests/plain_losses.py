"""Every deep method as plain loops over rows, for comparison with the engine.

A function has the name of its method, and that of an earlier stage also the name of the stage. It
takes the model, a torch module, the module's average, one batch and `memory`, a dict that it may
write to and in which it finds all rows and the module that each earlier stage ended with; it
returns the labeled and the unlabeled loss. If the method adds parts to the net, they are attributes
of the module, and so is the net itself. COMBINED names the methods that do not add their gradients.

They were written from the code of the methods' authors and from the departures that each method
lists, not from the methods here. Small numbers that only keep a logarithm finite are left out.
"""

import math
from collections import deque
from dataclasses import replace
from types import SimpleNamespace

import torch

from robustssl import registry
from robustssl.spec import parse


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


def crossed(target, p):
    return -sum(a * torch.log(b) for a, b in zip(target, p, strict=True))


def coin(p, target):
    """The cross-entropy of two classes."""
    return -target * torch.log(p) - (1 - target) * torch.log(1 - p)


def begun(model, batch):
    return float(batch.step) >= model.start * model.steps


def trusted(guesses, answers, threshold):
    """FixMatch's loss of every row; 0 if the guess is not confident."""
    losses = []
    for guess, answer in zip(guesses, answers, strict=True):
        best = int(guess.argmax())
        losses.append(surprise(answer, best) if guess[best] >= threshold else 0.0)
    return losses


def supervised(module, batch):
    p = probabilities(module, batch.x)
    return mean(surprise(p[i], int(k)) for i, k in enumerate(batch.y))


def grown(model, batch):
    return min(1.0, float(batch.step) / (model.warmup * model.steps)) if model.warmup else 1.0


def slowly_grown(model, batch):
    return math.exp(-5 * (1 - grown(model, batch)) ** 2)


def supervised_net(model, module, average, batch, memory):
    return supervised(module, batch), 0.0


def supervised_strong(model, module, average, batch, memory):
    strong = replace(batch, x=batch.x_strong)
    return (supervised(module, batch) + supervised(module, strong)) / 2, 0.0


def pseudo_label(model, module, average, batch, memory):
    loss, first = 0, model.start * model.steps
    for p in probabilities(module, batch.weak):
        best = int(p.argmax())
        if p[best] >= model.threshold:
            loss = loss + surprise(p, best)
    growth = max(0.0, (float(batch.step) - first) / (model.steps - first))
    return supervised(module, batch), model.weight * growth * loss / len(batch.weak)


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


def moved_along_one_feature(views, others):
    """The deviation of a view from its row in one feature: two views differ by sqrt(2) times it."""
    return math.sqrt(mean(float(squares(a, b)) / 2 for a, b in zip(views, others, strict=True)))


def vat(model, module, average, batch, memory):
    length = model.radius * moved_along_one_feature(batch.weak, batch.other)
    loss = 0
    for row, start in zip(batch.weak, batch.noise, strict=True):
        p = softmax(module(row[None])[0])
        q = p.detach()

        def divergence(step, row=row, q=q):
            answer = softmax(module((row + step)[None])[0])
            return sum(a * (torch.log(a) - torch.log(b)) for a, b in zip(q, answer, strict=True))

        # The gradient of the divergence in a step of no length is its second derivative times it.
        curvature = torch.autograd.functional.hessian(divergence, torch.zeros_like(row))
        g = curvature @ (start / start.norm())
        entropy = -sum(a * torch.log(a) for a in p)
        direction = g / g.norm() if g.norm() > 0 else g  # the authors, too, leave a zero as it is
        attack = model.weight * grown(model, batch) * divergence(length * direction)
        loss = loss + attack + model.entropy * entropy
    return supervised(module, batch), loss / len(batch.weak)


def ict(model, module, average, batch, memory):
    share, rows = float(batch.noise[0]), batch.x
    labeled = 0
    for i in range(len(rows)):
        p = softmax(module((share * rows[i] + (1 - share) * rows[i - 1])[None])[0])
        mine, its = surprise(p, int(batch.y[i])), surprise(p, int(batch.y[i - 1]))
        labeled = labeled + (share * mine + (1 - share) * its) / len(rows)
    share, rows = float(batch.noise[1]), batch.weak
    with torch.no_grad():
        logits = average(rows)
    loss = 0
    for i in range(len(rows)):
        p = softmax(module((share * rows[i] + (1 - share) * rows[i - 1])[None])[0])
        loss = loss + squares(p, softmax(share * logits[i] + (1 - share) * logits[i - 1]))
    return labeled, model.weight * slowly_grown(model, batch) * loss / len(rows)


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
    growths = {"linear": done, "exp": math.exp(5 * (done - 1)), "log": 1 - math.exp(-5 * done)}
    eta = growths.get(model.signal, 1.0)
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
    classes, rows = len(guesses[0]), int(batch.rows)
    betas = memory.setdefault("betas", [0.0] * classes)
    loss = 0
    for guess, answer in zip(guesses, probabilities(module, batch.strong), strict=True):
        best = int(guess.argmax())
        if guess[best] >= model.threshold * betas[best] / (2 - betas[best]):
            loss = loss + surprise(answer, best)
    for row, guess in zip(batch.index, guesses, strict=True):
        if guess.max() >= model.threshold:
            known[int(row)] = int(guess.argmax())
    counts = [list(known.values()).count(k) for k in range(classes)]
    most = max(*counts, rows - len(known))
    if most < rows:
        memory["betas"] = [count / most for count in counts]
    return supervised(module, batch), model.weight * loss / len(guesses)


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
    tau = averaged(memory, "tau", 1 / classes, sure, model.memory)
    p = averaged(memory, "p", even, guesses.mean(0), model.memory)
    tops = mean(identity[int(g.argmax())] for g in guesses)
    h = averaged(memory, "h", even, tops, model.memory)
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

    target, answer, fair = scaled(p, h), scaled(asked, chosen), 0
    if chosen.sum() > 0:
        fair = sum(a * torch.log(b + 1e-12) for a, b in zip(target, answer, strict=True))
    return supervised(module, batch), model.weight * loss / len(guesses) + model.fairness * fair


def softmatch(model, module, average, batch, memory):
    with torch.no_grad():
        guesses = torch.stack(probabilities(module, batch.weak))
    p = averaged(memory, "p", guesses.mean(0), guesses.mean(0), model.memory)
    sure = []
    for guess in guesses:
        aligned = guess / (p + 1e-6)
        sure.append((aligned / aligned.sum()).max())
    centre = averaged(memory, "mean", 1 / guesses.shape[1], mean(sure), model.memory)
    spread = sum((c - mean(sure)) ** 2 for c in sure) / (len(sure) - 1)
    spread = averaged(memory, "variance", 1.0, spread, model.memory)
    loss = 0
    for guess, c, answer in zip(guesses, sure, probabilities(module, batch.strong), strict=True):
        trust = 1.0
        if c < centre:
            trust = torch.exp(-((c - centre) ** 2) / (2 * spread / model.sigmas**2))
        loss = loss + trust * surprise(answer, int(guess.argmax()))
    return supervised(module, batch), model.weight * loss / len(guesses)


def temporal_ensembling(model, module, average, batch, memory):
    loss = 0
    for row, p in zip(batch.index, probabilities(module, batch.weak), strict=True):
        said = memory.setdefault(int(row), [])
        if said:
            ages = range(len(said) - 1, -1, -1)
            shares = [model.memory**age for age in ages]
            target = sum(s * q for s, q in zip(shares, said, strict=True)) / sum(shares)
            loss = loss + squares(p, target)
        memory[int(row)] = [*said, p.detach()]
    loss = loss / len(batch.weak)
    return supervised(module, batch), model.weight * slowly_grown(model, batch) * loss


def mixtures(model, module, batch, kept=None):
    """Predictions for mixtures and their targets: of labeled rows, and of both views of unlabeled
    rows.

    Of the unlabeled rows, `kept` ones are mixed with each other and with labeled ones.
    """
    if kept is None:
        kept = [True] * len(batch.weak)
    with torch.no_grad():
        first, second = probabilities(module, batch.weak), probabilities(module, batch.other)
    q = []
    for a, b in zip(first, second, strict=True):
        powers = ((a + b) / 2) ** (1 / model.temperature)
        q.append(powers / powers.sum())
    identity = torch.eye(len(q[0]), dtype=q[0].dtype)
    rows = [*batch.x, *batch.weak, *batch.other]
    targets = [*(identity[int(k)] for k in batch.y), *q, *q]
    mixes = [*[True] * len(batch.y), *kept, *kept]
    able = [i for i in range(len(rows)) if mixes[i]]
    drawn = iter(sorted(able, key=lambda i: float(batch.noise[1][i])))
    found = []
    for i in range(len(rows)):
        share, j = batch.noise[0][i], next(drawn) if mixes[i] else 0
        p = softmax(module((share * rows[i] + (1 - share) * rows[j])[None])[0])
        found.append((p, share * targets[i] + (1 - share) * targets[j]))
    return found[: len(batch.y)], found[len(batch.y) :]


def mixmatch(model, module, average, batch, memory):
    labeled, unlabeled = mixtures(model, module, batch)
    labeled = mean(crossed(target, p) for p, target in labeled)
    unlabeled = mean(squares(p, target) for p, target in unlabeled)
    return labeled, model.weight * grown(model, batch) * unlabeled


def uasd(model, module, average, batch, memory):
    """Strong views of labeled rows stand for the authors' validation rows."""
    said, checked = memory.setdefault("said", {}), memory.setdefault("checked", {})
    threshold = mean(mean(past).max() for past in checked.values()) if checked else 0.9
    kept = []
    for row, p in zip(batch.index.tolist(), probabilities(module, batch.weak), strict=True):
        if row in said and mean(said[row]).max() >= threshold:
            kept.append(crossed(mean(said[row]), p))
        said[row] = [*said.get(row, []), p.detach()]
    for row, p in zip(batch.x_index.tolist(), probabilities(module, batch.x_strong), strict=True):
        checked[row] = [*checked.get(row, []), p.detach()]
    loss = mean(kept) if kept and begun(model, batch) else 0.0
    return supervised(module, batch), model.weight * slowly_grown(model, batch) * loss


def stretched(scores):
    """Scaled linearly to [0, 1]."""
    low, high = min(scores), max(scores)
    return [(score - low) / (high - low) for score in scores]


def shift(model, module, row):
    """How much a small step towards a row's guess changes twice its probability. The authors take
    twice the probabilities as the logits of the loss that the step lowers.
    """
    row = row.clone().requires_grad_()
    twice = 2 * softmax(module(row[None])[0])
    best = int(twice.argmax())
    (slope,) = torch.autograd.grad(surprise(softmax(twice), best), row)
    with torch.no_grad():
        moved = row - model.step * torch.where(slope >= 0, 1.0, -1.0)
        return float((twice.max() - 2 * softmax(module(moved[None])[0]).max()).abs())


def partners(labels, logits):
    """For each labeled row the place of an unlabeled one. The unlabeled row with the largest logit
    goes to the first labeled row of that class, and so on; who gets none takes that at its place.
    """
    found = []
    for i, k in enumerate(labels):
        like = [j for j, row in enumerate(logits) if int(row.argmax()) == k]
        like.sort(key=lambda j: -float(logits[j].max()))
        rank = labels[:i].count(k)
        found.append(like[rank] if rank < len(like) else i)
    return found


def cafa(model, module, average, batch, memory):
    def unlabeled_by(part, z):
        return torch.sigmoid(getattr(module, part)(z[None])[0])

    here, there = list(module.net.features(batch.x)), list(module.net.features(batch.weak))
    weights = []
    for rows, features, sign in ((batch.x, here, 1), (batch.weak, there, -1)):
        shifts = stretched([shift(model, module, row) for row in rows])
        domains = [float(unlabeled_by("domain", z.detach()).detach()) for z in features]
        found = stretched([sign * (d - s) for d, s in zip(domains, shifts, strict=True)])
        weights.append([w / mean(found) for w in found])

    logits = module(batch.weak).detach()
    v = memory.setdefault("classes", [1.0] * len(logits[0]))
    for k in range(len(v)):
        own = [w for w, label in zip(weights[0], batch.y, strict=True) if int(label) == k]
        if own:
            v[k] = model.memory * v[k] + (1 - model.memory) * mean(own)
    shared = stretched(v) if max(v) > min(v) else [1.0] * len(v)
    agree = 0
    answers = probabilities(module, batch.other)
    for row, answer, w in zip(logits, answers, weights[1], strict=True):
        target = torch.stack([p * c for p, c in zip(softmax(row), shared, strict=True)])
        agree = agree + w * squares(answer, target / target.sum()) / len(answers)
    agree = model.weight * slowly_grown(model, batch) * agree

    labels, share = batch.y.tolist(), float(batch.noise)
    tells = mean(coin(unlabeled_by("domain", z.detach()), 0) for z in here)
    tells = tells + mean(coin(unlabeled_by("domain", z.detach()), 1) for z in there)
    pairs = [(here[i].detach(), there[j].detach()) for i, j in enumerate(partners(labels, logits))]
    alike = stretched([float(a @ b / (a.norm() * b.norm())) for a, b in pairs])
    for (a, b), similarity in zip(pairs, alike, strict=True):
        mixture = unlabeled_by("domain", share * a + (1 - share) * b)
        tells = tells + similarity * coin(mixture, 1 - share) / len(pairs)

    def misled(here, there):
        pairs = zip(weights[0], here, strict=True), zip(weights[1], there, strict=True)
        told = mean(w * coin(unlabeled_by("misled", z), 0) for w, z in pairs[0])
        return told + mean(w * coin(unlabeled_by("misled", z), 1) for w, z in pairs[1])

    # The features follow the opposite gradient, at first a small part of it.
    alone = [[z.detach().requires_grad_() for z in features] for features in (here, there)]
    slopes = torch.autograd.grad(misled(*alone), [*alone[0], *alone[1]])
    unlearned = sum(g @ z for g, z in zip(slopes, [*here, *there], strict=True))
    part = 2 / (1 + math.exp(-3 * float(batch.step) / model.steps)) - 1
    misleads = misled(*alone) - part * unlearned
    late = replace(batch, step=batch.step / 2)
    fight = model.adversary * slowly_grown(model, late) * (tells + misleads)
    return supervised(module, batch), agree + fight


def otsu(scores):
    """The least score of the upper group, for the two groups that differ most."""
    scores, best, threshold = sorted(scores), -1.0, 0.5
    for count in range(1, len(scores)):
        low, high = scores[:count], scores[count:]
        apart = len(low) * len(high) * (mean(low) - mean(high)) ** 2
        if apart > best:
            best, threshold = apart, high[0]
    return threshold


def mtcf(model, module, average, batch, memory):
    """The row of a common batch has a label as often as the rows of both sets have one."""
    said = memory.setdefault("said", {})
    lately = {row: mean(told[-model.window :]) for row, told in said.items()}
    if int(batch.step) % 10 == 0:
        memory["threshold"] = otsu(lately.values())
    members, guests = (
        [torch.sigmoid(z[0]) for z in module.g(module.net.features(rows))]
        for rows in (batch.x, batch.weak)
    )
    share = len(memory["labeled"]) / (len(memory["labeled"]) + int(batch.rows))
    labeled, unlabeled, kept = share * mean(coin(p, 1) for p in members), 0, []
    for row, p in zip(batch.index.tolist(), guests, strict=True):
        waits = len(said.get(row, [])) < model.window
        target = 0.0 if waits else lately[row]
        unlabeled = unlabeled + (1 - share) * coin(p, target) / len(guests)
        kept.append(lately.get(row, 0.0) >= memory["threshold"])
        said[row] = [*said.get(row, []), float(p.detach())]
    if begun(model, batch):
        known, others = mixtures(model, module, batch, kept)
        labeled = labeled + mean(crossed(target, p) for p, target in known)
        seen = zip(others, kept * 2, strict=True)
        differ = [squares(p, target) for (p, target), keep in seen if keep]
        first = model.start * model.steps
        growth = min(1.0, (float(batch.step) - first) / (model.warmup * model.steps))
        if differ:
            unlabeled = unlabeled + model.weight * growth * mean(differ)
    return labeled, unlabeled


def fix_a_step(model, module, average, batch, memory):
    """One share for all mixtures of a step."""
    guesses = [p.detach() for p in probabilities(module, batch.weak)]
    few = replace(batch, weak=batch.weak[: len(batch.x)], other=batch.other[: len(batch.x)])
    few = replace(few, noise=(batch.noise[0, :1].expand_as(batch.noise[0]), batch.noise[1]))
    labeled, _ = mixtures(model, module, few)
    unlabeled = mean(trusted(guesses, probabilities(module, batch.strong), model.threshold))
    return mean(crossed(target, p) for p, target in labeled), model.weight * unlabeled


def defixmatch(model, module, average, batch, memory):
    x, x_strong = probabilities(module, batch.x), probabilities(module, batch.x_strong)
    weak, strong = probabilities(module, batch.weak), probabilities(module, batch.strong)
    labeled = 0
    for p, q, k in zip(x, x_strong, batch.y, strict=True):
        labeled = labeled + (surprise(p, int(k)) + surprise(q, int(k))) / (2 * len(x))
    there, here = trusted(weak, strong, model.threshold), trusted(x, x_strong, model.threshold)
    return labeled, model.weight * (mean(there) - mean(here))


def ggr(model, *seen):
    """The loss of its base."""
    name, options = parse(model.base)
    known = {**registry.defaults("algorithm", name), **model.get_params(), **options}
    return globals()[name](SimpleNamespace(**known), *seen)


def adamatch(model, module, average, batch, memory):
    rows = [batch.x, batch.x_strong, batch.weak, batch.strong]
    joint, count = module(torch.cat(rows)), len(batch.x)
    alone = module(torch.cat(rows[:2]))
    weak = [softmax(row).detach() for row in joint[2 * count :][: len(batch.weak)]]
    strong = [softmax(row) for row in joint[2 * count :][len(batch.weak) :]]
    answers = []
    for i, share in enumerate(batch.noise):
        answers.append(softmax(alone[i] + (joint[i] - alone[i]) * share))
    labeled = mean(surprise(p, int(batch.y[i % count])) for i, p in enumerate(answers))

    known = [p.detach() for p in answers[:count]]
    even = torch.full_like(weak[0], 1 / len(weak[0]))
    here = averaged(memory, "here", even, mean(known), model.memory)
    there = memory.setdefault("there", deque([even] * model.window, model.window))
    there.append(mean(weak))
    threshold = model.threshold * mean(p.max() for p in known)
    loss = 0
    for guess, answer in zip(weak, strong, strict=True):
        aligned = guess * (here + 1e-6) / (mean(there) + 1e-6)
        aligned = aligned / aligned.sum()
        if aligned.max() >= threshold:
            loss = loss + surprise(answer, int(aligned.argmax()))
    turn = min(math.pi, 2 * math.pi * float(batch.step) / model.steps)
    return labeled, model.weight * (0.5 - 0.5 * math.cos(turn)) * loss / len(weak)


def bidirectional_adaptation_adapt(model, module, average, batch, memory):
    here, there = (list(module.shared(module.net.features(rows))) for rows in (batch.x, batch.weak))
    answers = [softmax(module.labeler(z)) for z in here]
    labeled = mean(surprise(p, int(k)) for p, k in zip(answers, batch.y, strict=True))
    rows = [*here, *there]
    count = len(rows)
    distances = [float(((a - b) ** 2).sum().detach()) for a in rows for b in rows]
    width = sum(distances) / (count**2 - count)

    def alike(some, others):
        found = []
        for a in some:
            for b in others:
                d = ((a - b) ** 2).sum()
                found.append(sum(torch.exp(-d / (width / 4 * 2**i)) for i in range(5)))
        return mean(found)

    apart = alike(here, here) + alike(there, there) - alike(here, there) - alike(there, here)
    return labeled, model.transfer * apart


def bidirectional_adaptation(model, module, average, batch, memory):
    first = memory["after adapt"]
    if "guesses" not in memory:
        logits = first.labeler(first.shared(first.net.features(memory["unlabeled"])))
        memory["guesses"] = [softmax(row).detach() for row in logits]
        memory["confidences"] = [[] for _ in logits[0]]
    guesses, past = memory["guesses"], memory["confidences"]
    classes = [int(guess.argmax()) for guess in guesses]
    real = memory["labels"].tolist()
    answers = probabilities(module, batch.weak)
    labels = [classes[row] for row in batch.index]
    sure = [float(p[k].detach()) for p, k in zip(answers, labels, strict=True)]
    for k, c in zip(labels, sure, strict=True):
        past[k].append(c)
    weights = [c / mean(past[k]) for k, c in zip(labels, sure, strict=True)]
    loss = 0
    for row, p, k, weight in zip(batch.index, answers, labels, weights, strict=True):
        shares = real.count(k) / len(real), classes.count(k) / len(classes)
        weight = weight / mean(weights) * shares[0] / shares[1]
        loss = loss + weight * crossed(guesses[row], p) / len(labels)
    return supervised(module, batch), model.weight * loss


def one_against_all(o, k):
    """The loss of a row of class k: of its own detector, and of the worst other one."""
    return -torch.log(o[k]) + max(-torch.log(1 - o[j]) for j in range(len(o)) if j != k)


def uncertainty(one, two):
    """The mean entropy of the detectors in two views."""
    return mean(coin(a, a) for o in (*one, *two) for a in o)


def disagreement(one, two):
    """How much the detectors differ between two views, as the sum over both answers of each."""
    found = 0
    for first, second in zip(one, two, strict=True):
        for a, b in zip(first, second, strict=True):
            found = found + ((a - b) ** 2 + ((1 - a) - (1 - b)) ** 2) / len(one)
    return found


def openmatch(model, module, average, batch, memory):
    def detected(net, rows):
        return list(torch.sigmoid(net.detector(net.net.features(rows))))

    labeled = 0
    for rows in (batch.x, batch.x_other):
        seen = zip(probabilities(module, rows), detected(module, rows), batch.y, strict=True)
        for p, o, k in seen:
            loss = surprise(p, int(k)) + one_against_all(o, int(k))
            labeled = labeled + loss / (2 * len(rows))
    one, two = detected(module, batch.weak), detected(module, batch.other)
    loss = model.entropy * uncertainty(one, two) + model.agreement * disagreement(one, two)
    fixed = []
    if begun(model, batch):
        with torch.no_grad():
            theirs = probabilities(average, batch.weak)
            accepts = detected(average, batch.weak)
            guesses = probabilities(module, batch.weak)
        losses = trusted(guesses, probabilities(module, batch.strong), model.threshold)
        for their, o, of_row in zip(theirs, accepts, losses, strict=True):
            if o[int(their.argmax())] > 0.5:
                fixed.append(of_row)
    return labeled, loss + model.weight * (mean(fixed) if fixed else 0.0)


def iomatch(model, module, average, batch, memory):
    def projected(rows):
        return module.projection(module.net.features(rows))

    labeled = supervised(module, batch)
    for row, k in zip(module.detector(projected(batch.x)), batch.y, strict=True):
        labeled = labeled + one_against_all(torch.sigmoid(row), int(k)) / len(batch.y)
    with torch.no_grad():
        guesses = probabilities(module, batch.weak)
        inside = torch.sigmoid(module.detector(projected(batch.weak)))
    nothing = torch.zeros_like(guesses[0])
    lately = memory.setdefault("lately", deque([nothing] * model.queue, model.queue))
    lately.append(mean(guesses))
    answers = probabilities(module, batch.strong)
    opened = [softmax(row) for row in module.open(projected(batch.strong))]
    loss = 0
    for guess, o, answer, wide in zip(guesses, inside, answers, opened, strict=True):
        aligned = guess / (mean(lately) + 1e-6)
        aligned = aligned / aligned.sum()
        target = [a * b for a, b in zip(aligned, o, strict=True)]
        out = sum(a * (1 - b) for a, b in zip(aligned, o, strict=True))
        if out < 0.5 and aligned.max() >= model.threshold:
            loss = loss + model.weight * crossed(aligned, answer)
        if begun(model, batch) and max(*target, out) >= model.open_threshold:
            loss = loss + model.open_weight * crossed([*target, out], wide)
    return labeled, loss / len(guesses)


def scomatch(model, module, average, batch, memory):
    def logits(rows):
        z = module.net.features(rows)
        return [torch.cat(pair) for pair in zip(module.net.head(z), module.outlier(z), strict=True)]

    answers = [softmax(row) for row in logits(batch.x)]
    labeled = mean(surprise(p, int(k)) for p, k in zip(answers, batch.y, strict=True))
    weak, strong = logits(batch.weak), logits(batch.strong)
    guesses = [softmax(row).detach() for row in weak]
    last, step = len(guesses[0]) - 1, int(batch.step)

    sure = memory.setdefault("sure", [])  # confident guesses since the bar was last set
    bar = memory.setdefault("bar", 0.95)
    if step and step % (int(batch.rows) // (2 * len(weak))) == 0:
        known = len(sure) - sure.count(last)
        asked = model.threshold * sure.count(last) / known if known else 0.95
        bar = memory["bar"] = min(0.95, max(0.75, asked))
        sure.clear()
    for guess in guesses:
        if guess.max() > model.threshold:
            sure.append(int(guess.argmax()))

    queue = memory.setdefault("queue", [])
    if len(queue) >= len(batch.y):
        for share in batch.noise:
            row, confidence = queue[int(share * len(queue))]
            if confidence < model.threshold:
                p = softmax(logits(row[None])[0])
                labeled = labeled + surprise(p, last) / len(batch.y)
    least = min(range(len(guesses)), key=lambda i: guesses[i][:last].max())
    newest = (batch.weak[least], guesses[least][:last].max())
    length = max(model.queue, 8 * last)
    queue[step % length : step % length + 1] = [newest]

    loss = 0
    for guess, answer in zip(guesses, strong, strict=True):
        best = int(guess.argmax())
        if guess[best] >= (bar if best == last else model.threshold):
            loss = loss + surprise(softmax(answer), best) / len(weak)
        if best != last and guess[best] >= model.threshold:
            loss = loss + surprise(softmax(answer[:last]), best) / len(weak)
    return labeled, model.weight * loss


def ssb(model, module, average, batch, memory):
    def detected(rows):
        return list(torch.sigmoid(module.detector(module.net.features(rows))))

    labeled = supervised(module, batch)
    guesses = [p.detach() for p in probabilities(module, batch.weak)]
    fixed = trusted(guesses, probabilities(module, batch.strong), model.threshold)
    unlabeled = model.weight * mean(fixed)
    if not begun(model, batch):
        return labeled, unlabeled
    here = detected(batch.x)
    labeled = labeled + mean(-torch.log(o[int(k)]) for o, k in zip(here, batch.y, strict=True))
    negatives = []
    for answers in (here, detected(batch.x_strong)):
        for o, k in zip(answers, batch.y, strict=True):
            negatives.extend(-torch.log(1 - a) if j != int(k) else 0.0 for j, a in enumerate(o))
    labeled = labeled + mean(negatives)
    one, two = detected(batch.weak), detected(batch.other)
    unlabeled = unlabeled + model.entropy * uncertainty(one, two)
    unlabeled = unlabeled + model.agreement * disagreement(one, two)
    for weak, strong in zip(one, detected(batch.strong), strict=True):
        for a, b in zip(weak, strong, strict=True):
            if a <= model.negative:
                unlabeled = unlabeled - torch.log(1 - b) / len(one)
    return labeled, unlabeled


def scarf(model, module, average, batch, memory):
    if begun(model, batch):
        return supervised(module, batch), 0.0
    rows, corrupted = batch.weak, batch.weak.clone()
    for i in range(len(rows)):
        for j in range(rows.shape[1]):
            if batch.noise[0, i, j] < model.corruption:
                corrupted[i, j] = rows[int(batch.noise[1, i, j] * len(rows)), j]

    def directions(rows):
        return [z / z.norm() for z in module.projection(module.net.features(rows))]

    clean, changed, loss = directions(rows), directions(corrupted), 0
    for i, z in enumerate(clean):
        p = softmax(torch.stack([z @ other / model.temperature for other in changed]))
        loss = loss + surprise(p, i) / len(clean)
    return 0.0, model.weight * loss


def feature_dropout(model, module, average, batch, memory):
    centre = mean(memory["labeled"])
    strong = torch.cat([batch.x_strong, batch.strong]).clone()
    for i, lost in enumerate(batch.noise):
        for j in range(len(lost)):
            if lost[j] == 1:
                strong[i, j] = centre[j]
    count = len(batch.y)
    answers = probabilities(module, strong)
    labeled = supervised(module, batch) / 2
    for p, k in zip(answers[:count], batch.y, strict=True):
        labeled = labeled + surprise(p, int(k)) / (2 * count)
    guesses = [p.detach() for p in probabilities(module, batch.weak)]
    return labeled, model.weight * mean(trusted(guesses, answers[count:], model.threshold))


def shares_of_labels(memory):
    counts = [int((memory["labels"] == k).sum()) for k in sorted(set(memory["labels"].tolist()))]
    return [count / len(memory["labels"]) for count in counts]


def apart(p, q):
    """The mean of the Kullback-Leibler divergences of two distributions in both directions."""
    there = sum(b * math.log(b / a) for a, b in zip(p, q, strict=True))
    back = sum(a * math.log(a / b) for a, b in zip(p, q, strict=True))
    return 0.5 * there + 0.5 * back


def acr(model, module, average, batch, memory):
    py = shares_of_labels(memory)
    uniform = [1 / len(py)] * len(py)
    order = sorted(range(len(py)), key=lambda k: -py[k])  # classes of the authors are in this order
    backwards = dict(zip(order, [py[k] for k in reversed(order)], strict=True))
    backwards = [backwards[k] for k in range(len(py))]

    def adjusted(tau):
        return torch.tensor([math.log(p**tau + 1e-12) for p in py], dtype=batch.x.dtype)

    epoch = max(1, model.steps // model.epochs)
    estimating = float(batch.step) >= model.start * model.steps
    tau = memory.setdefault("tau", model.tau)
    distances = memory.setdefault("distances", [0.0, 0.0, 0.0])
    if estimating and int(batch.step) % epoch == 0:
        powers = [math.exp(distance / epoch) for distance in distances]
        tau = memory["tau"] = model.tau * powers[0] / sum(powers)
        distances = memory["distances"] = [0.0, 0.0, 0.0]

    def heads(rows):
        z = module.net.features(rows)
        return list(zip(module.standard(z), module.net.head(z), strict=True))

    labeled, unlabeled, now = 0, 0, [0.0] * len(py)
    for (one, other), k in zip(heads(batch.x), batch.y, strict=True):
        labeled = labeled + surprise(softmax(one), int(k)) / len(batch.y)
        labeled = labeled + surprise(softmax(other + adjusted(model.tau)), int(k)) / len(batch.y)
    for weak, strong in zip(heads(batch.weak), heads(batch.strong), strict=True):
        guess = softmax(weak[0].detach() - adjusted(tau))
        guess_h2 = softmax(weak[0].detach() - adjusted(model.tau))
        guess_b, guess_t = softmax(weak[1].detach()), softmax(weak[0].detach())
        if guess.max() >= model.threshold or guess_t.max() >= model.threshold:
            unlabeled = unlabeled + surprise(softmax(strong[0]), int(guess.argmax()))
        if guess_b.max() >= model.threshold or guess_h2.max() >= model.threshold:
            unlabeled = unlabeled + surprise(softmax(strong[1]), int(guess_h2.argmax()))
        now[int(guess_b.argmax())] = float(guess_b.max() >= model.threshold)  # the last one counts
    if estimating and sum(now) > 0:
        past = memory.get("estimated", uniform)
        now = [value / sum(now) for value in now]
        pairs = zip(past, now, strict=True)
        u = memory["estimated"] = [model.memory * a + (1 - model.memory) * b for a, b in pairs]
        for i, other in enumerate((py, uniform, backwards)):
            distances[i] += apart(other, u)
    return labeled, unlabeled / len(batch.weak)


def cpg(model, module, average, batch, memory):
    labels, classes = memory["labels"], len(set(memory["labels"].tolist()))
    known = [float((labels == k).sum()) for k in range(classes)]
    votes, selected = memory.setdefault("votes", {}), memory.setdefault("selected", {})
    step, warm_up = float(batch.step), model.start * model.steps
    period = max(1, round(model.period * model.steps))
    if step > warm_up and int(batch.step) % period == 0:
        selected.clear()
        for row, found in list(votes.items()):
            best = max(set(found), key=found.count)
            del votes[row]
            if len(found) >= model.votes and found.count(best) > 0.8 * len(found):
                selected[row] = best, [found.count(k) / len(found) for k in range(classes)]
                votes[row] = [best]
    chosen = [float(sum(best == k for best, _ in selected.values())) for k in range(classes)]
    of_all = torch.tensor([a + b for a, b in zip(known, chosen, strict=True)], dtype=batch.x.dtype)
    log_shares = torch.log(of_all / of_all.sum())

    def smooth(k, smoothing):
        target = [smoothing / (classes - 1)] * classes
        target[k] = 1 - smoothing
        return target

    # The rows that take the place of a batch from labeled and selected rows: each with its target
    # and with how many of those rows it stands for.
    here = [int(row) for row in batch.index if int(row) in selected]
    rows = [
        (x, smooth(int(k), model.smoothing), sum(known) / len(batch.y), True)
        for x, k in zip(batch.x, batch.y, strict=True)
    ]
    for x, row in zip(batch.weak, batch.index, strict=True):
        if int(row) in selected:
            rows.append((x, selected[int(row)][1], len(selected) / len(here), False))
    noise = [*batch.noise[: len(batch.y)]]
    noise += [
        e
        for e, row in zip(batch.noise[len(batch.y) :], batch.index, strict=True)
        if int(row) in selected
    ]
    features = [module.net.features(x[None])[0] for x, *_ in rows]
    tops = [max(range(classes), key=lambda k, target=target: target[k]) for _, target, *_ in rows]

    inverse = []
    for k in range(classes):
        mine = [
            (f.detach(), row[2])
            for f, row, top in zip(features, rows, tops, strict=True)
            if top == k
        ]
        if not mine:
            inverse.append(1.0)
            continue
        centre = sum(n * f for f, n in mine) / sum(n for _, n in mine)
        alike = [((f @ centre) / (f.norm() * centre.norm()) + 1) / 2 for f, _ in mine]
        inverse.append(
            float(
                sum(n for _, n in mine) / sum(n * a for a, (_, n) in zip(alike, mine, strict=True))
            )
        )
    augment_r = [value / sum(inverse) for value in inverse]

    begins = step >= warm_up
    losses, counts, seconds = {True: 0, False: 0}, 0, {True: 0, False: 0}
    for (_, target, stands, is_labeled), f, top, e in zip(rows, features, tops, noise, strict=True):
        times = 0
        if begins:
            third = float(of_all.sort().values[classes // 3])
            times = 10 if step < warm_up + period else int(10 * third / float(of_all[top]))
        copy = f + e * augment_r[top] * f / f.norm()
        loss = crossed(target, softmax(module.net.head(f) + log_shares))
        loss = loss + times * crossed(target, softmax(module.net.head(copy) + log_shares))
        losses[is_labeled] = losses[is_labeled] + stands * loss
        counts = counts + stands * (1 + times)
        hard = smooth(top, 0 if begins else model.smoothing)
        second = crossed(hard, softmax(module.second(f) + log_shares))
        seconds[is_labeled] = seconds[is_labeled] + stands * second
    whole = sum(stands for _, _, stands, _ in rows)
    labeled, unlabeled = (losses[k] / counts + seconds[k] / whole for k in (True, False))

    large = [n if n > min(known) else 0 for n in chosen]
    least = min([n for n in large if n] or [1])
    prior = torch.tensor([n or least for n in large], dtype=batch.x.dtype)
    prior = torch.log(prior / prior.sum())
    views = zip(batch.weak, batch.strong, batch.index, strict=True)
    for weak, strong, row in views:
        z, z_strong = module.net.features(weak[None])[0], module.net.features(strong[None])[0]
        guess = smooth(int(module.second(z).argmax()), 0 if begins else model.smoothing)
        loss = crossed(guess, softmax(module.second(z_strong)))
        unlabeled = unlabeled + loss / len(batch.weak)
        p, q = softmax(module.net.head(z) + prior), softmax(module.net.head(z_strong) + prior)
        enough = model.threshold * (1 - model.smoothing)
        if begins and p.argmax() == q.argmax() and p.max() >= enough and q.max() >= enough:
            votes.setdefault(int(row), []).append(int(p.argmax()))
    return labeled, unlabeled


def added(memory, labeled, unlabeled):
    return [a + b for a, b in zip(labeled, unlabeled, strict=True)]


def product(a, b):
    return sum((x * y).sum() for x, y in zip(a, b, strict=True))


def added_if_they_agree(memory, labeled, unlabeled):
    return added(memory, labeled, unlabeled) if product(labeled, unlabeled) >= 0 else labeled


def added_less_what_opposes(memory, labeled, unlabeled):
    """Added parts of the net follow both gradients."""
    pairs = zip(labeled, memory["of the net"], strict=True)
    anchor = [a if of_the_net else 0 * a for a, of_the_net in pairs]
    opposed = product(anchor, unlabeled)
    if opposed < 0:
        share = opposed / product(anchor, anchor)
        unlabeled = [b - share * a for a, b in zip(anchor, unlabeled, strict=True)]
    return added(memory, labeled, unlabeled)


filtered = ggr  # it changes which rows are seen, not how


def pp_ssl_teach(model, module, average, batch, memory):
    loss = 0
    for fold in (0, 1):
        answers = getattr(module, f"teacher{fold}")(batch.x)
        rows = zip(answers, batch.y, batch.x_index, strict=True)
        losses = [surprise(softmax(row), int(k)) for row, k, place in rows if place % 2 != fold]
        loss = loss + (mean(losses) if losses else 0)
    return loss, 0.0


def pp_ssl(model, module, average, batch, memory):
    teachers = [getattr(memory["after teach"], f"teacher{fold}") for fold in (0, 1)]
    truth, imitated, taught = [], [], []
    for row, k, place, answer in zip(
        batch.x, batch.y, batch.x_index, probabilities(module, batch.x), strict=True
    ):
        label = int(teachers[int(place) % 2](row[None])[0].argmax())  # it has not seen the row
        truth.append(surprise(answer, int(k)))
        imitated.append(surprise(answer, label))
    for row, answer in zip(batch.weak, probabilities(module, batch.weak), strict=True):
        both = [softmax(teacher(row[None])[0]) for teacher in teachers]
        taught.append(surprise(answer, int((both[0] + both[1]).argmax())))
    return mean(truth), mean(taught) - mean(imitated)


def ensemble_pseudo_labels_vote(model, module, average, batch, memory):
    loss = 0
    for k in range(model.voters):
        voter = getattr(module, f"voter{k}")
        loss = loss + supervised(voter, batch)
    return loss, 0.0


def ensemble_pseudo_labels(model, module, average, batch, memory):
    voters = [getattr(memory["after vote"], f"voter{k}") for k in range(model.voters)]
    loss = 0
    for i, place in enumerate(batch.index):
        row = memory["unlabeled"][place]
        counts = torch.zeros(3, dtype=row.dtype)
        for voter in voters:
            counts[voter(row[None])[0].argmax()] += 1
        for view in (batch.weak[i], batch.strong[i]):
            loss = loss + crossed(softmax(counts), softmax(module(view[None])[0]))
    return supervised(module, batch), loss / len(batch.index)


def added_with_a_weight_found_online(memory, labeled, unlabeled):
    share = memory.setdefault("lambda", 0.0)
    gradient = [a + share * b for a, b in zip(labeled, unlabeled, strict=True)]
    slope = 2 * float(product(gradient, unlabeled))
    memory.setdefault("slopes", []).append(slope)
    if slope:
        rate = 1 / math.sqrt(2 * sum(past**2 for past in memory["slopes"]))
        memory["lambda"] = min(1.0, max(0.0, share - rate * slope))
    return gradient


COMBINED = {
    "fix_a_step": added_if_they_agree,
    "ggr": added_less_what_opposes,
    "pp_ssl": added_with_a_weight_found_online,
}
