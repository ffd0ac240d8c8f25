"""A deep algorithm of one's own is a loss: of the labeled and of the unlabeled rows of a batch.

cd examples
robustssl check own_deep_algorithm:EntropyMinimization
robustssl run quickstart --algorithm own_deep_algorithm:EntropyMinimization
"""

from dataclasses import dataclass

from robustssl.deep import Batch, DeepClassifier, Loss, Net, State, Tensor, cross_entropy


@dataclass(eq=False, repr=False, kw_only=True)
class EntropyMinimization(DeepClassifier):
    """Be sure of the unlabeled rows (Grandvalet and Bengio, 2005): CE + weight r entropy."""

    weight: float = 0.5
    warmup: float = 0.4

    views = ("weak",)  # the unlabeled rows as they come

    def loss(self, net: Net, params: Tensor, batch: Batch, state: State) -> Loss:
        logits = net(params, batch.weak)
        entropy = -(logits.softmax(-1) * logits.log_softmax(-1)).sum(-1).mean()
        weight = self.weight * self.ramp(batch, self.warmup)
        return cross_entropy(net(params, batch.x), batch.y), weight * entropy, state
