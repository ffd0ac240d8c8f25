"""What only a GPU can show."""

import numpy as np
import pytest
import torch
from test_deep import rows
from test_deep import test_the_adversarial_direction_is_exact_in_every_precision as _direction

from robustssl import registry

pytestmark = [
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU"),
    pytest.mark.filterwarnings("ignore"),  # of the first use of a library, and of the compiler
]
test_the_adversarial_direction_is_exact_on_a_gpu_too = _direction


@pytest.mark.parametrize(("tokens", "some"), [(14, 14), (14, 1), (40, 40)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_attention_of_few_tokens_is_attention(tokens, some, dtype):
    from robustssl.nets._attention import attention, plain_attention

    torch.backends.cuda.matmul.allow_tf32 = False
    given = torch.randn(5, 7, tokens, 3 * 48, device="cuda", dtype=dtype)
    found, exact = given.clone().requires_grad_(), given.double().requires_grad_()
    change = torch.randn(5, 7, some, 48, device="cuda", dtype=dtype)
    ours = torch.func.vmap(lambda x: attention(x, 2, some))(found)
    theirs = torch.func.vmap(lambda x: plain_attention(x, 2, some))(exact)
    near = 1e-5 if dtype == torch.float32 else 2e-2
    assert (ours - theirs).norm() < near * theirs.norm()
    (a,) = torch.autograd.grad(ours, found, change)
    (b,) = torch.autograd.grad(theirs, exact, change.double())
    assert (a - b).norm() < near * b.norm()


@pytest.mark.parametrize("mode", ["graph", "compile"])
def test_every_mode_on_a_gpu_is_the_same_training(mode):
    given = {"net": "ft_transformer[layers=2,width=24,heads=2]", "steps": 8, "precision": "fp64"}
    answers = []
    for how in ("eager", mode):
        models = [registry.estimator("fixmatch", random_state=s, **given) for s in range(3)]
        assert models[0].fit_together(models, [rows(s) for s in range(3)], mode=how) == [None] * 3
        answers.append(models[1].predict_proba(rows(1)[0]))
    assert np.abs(answers[0] - answers[1]).max() < 1e-9
