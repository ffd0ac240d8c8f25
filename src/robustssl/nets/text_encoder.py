"""Text encoder (BERT: Devlin et al., 2019, arXiv:1810.04805), pretrained."""

from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from robustssl.deep.net import Headed
from robustssl.errors import InputError
from robustssl.nets._inputs import Shape
from robustssl.nets._pretrained import pretrained, token_ids
from robustssl.spec import Count


class TextEncoder(Headed):
    """A pretrained encoder with a new head on the mean of its last layer. It reads texts: rows are
    token ids, (rows, length), with padding.

    weights: minilm, mpnet, a folder or a name on the hub.
    tokens: the length of a row; longer texts are cut, shorter ones padded.
    frozen: train only the head. The embeddings of single tokens are never trained: methods that mix
    or move rows do so in that space.
    """

    stacks = False

    def __init__(
        self,
        shape: Shape,
        classes: int,
        *,
        weights: str,
        tokens: Count = 128,
        frozen: bool = False,
    ) -> None:
        super().__init__()
        if len(shape) != 1:
            raise InputError("text_encoder takes token ids: (rows, length)")
        self.body = pretrained(weights)
        self.padding: Any = getattr(self.body.config, "pad_token_id", None)
        self.body.pooler = None  # not used
        self.body.requires_grad_(not frozen)
        self.body.get_input_embeddings().requires_grad_(False)
        self.head = nn.Linear(self.body.config.hidden_size, classes)
        self._check(weights, shape[0])

    @staticmethod
    def read(
        texts: npt.NDArray[Any], *, weights: str, tokens: int = 128, **_: Any
    ) -> npt.NDArray[np.int32]:
        """The token ids of texts, (..., tokens)."""
        ids = token_ids([str(text) for text in texts.flat], weights, tokens, padding=True)
        return np.array(ids, np.int32).reshape(*texts.shape, tokens)

    def _check(self, weights: str, length: int) -> None:
        """Refuse a model that cannot read so many tokens, or that depends on masked ones."""
        try:
            width = self.body.get_input_embeddings().embedding_dim
            one = torch.zeros(1, length, width + 1)
            one[:, 0, -1] = 1
            other = one.clone()
            other[:, 1:, 0] = 1
            with torch.no_grad():
                fine = self.padding is not None and torch.equal(self(one), self(other))
        except Exception as error:
            raise InputError(f"{weights!r} cannot read {length} tokens: {error}") from error
        if not fine:
            raise InputError(f"{weights!r} is not an encoder that can leave out padding")

    def prepare(self, ids: Tensor) -> Tensor:
        """(rows, length, width + 1): the embedding of each token, and 1 if it is one, 0 if it is
        padding.
        """
        vectors: Tensor = self.body.get_input_embeddings()(ids.long())
        mask = torch.ne(ids, self.padding).to(vectors.dtype)
        return torch.cat([vectors, mask[..., None]], -1)

    def features(self, x: Tensor) -> Tensor:
        # An adversary may move the embedding of a token, but not whether it is there.
        vectors, mask = x[..., :-1], x[..., -1].detach().clamp(0, 1)
        limits = torch.finfo(mask.dtype)
        # Added to a logit, log(mask) multiplies the attention: half a token gets half of it.
        bias = torch.where(mask > 0, mask.clamp(min=limits.tiny).log(), limits.min)
        hidden = self.body(inputs_embeds=vectors, attention_mask=bias[:, None, None])
        weight = mask / mask.sum(1, keepdim=True).clamp(min=limits.tiny)
        features: Tensor = (hidden.last_hidden_state * weight[..., None]).sum(1)
        return features
