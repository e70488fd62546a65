"""`VocabChange.apply_to_embedding` on a model of transformers, which needs PyTorch and is skipped without it."""

import copy
from typing import Any

import numpy as np
import pytest

import toksmith
from toksmith import Tokenizer
from toksmith.surgery import VocabChange, extend, prune

torch = pytest.importorskip("torch", reason="needs PyTorch")
transformers: Any = pytest.importorskip("transformers", reason="needs transformers")

TEXT = "low lower lowest newer newest wider widest "


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return toksmith.train(iter([TEXT]), 275)


@pytest.fixture(scope="module")
def model(tokenizer: Tokenizer) -> Any:
    torch.manual_seed(7)
    config = transformers.GPT2Config(vocab_size=tokenizer.max_id + 1, n_embd=16, n_layer=2, n_head=2, n_positions=64)
    return transformers.GPT2LMHeadModel(config).eval()


def changed(model: Any, change: VocabChange) -> Any:
    """Return the model with the embedding of another vocabulary, which is its output layer too."""
    model = copy.deepcopy(model)
    matrix = change.apply_to_embedding(model.get_input_embeddings().weight.detach().numpy())
    model.resize_token_embeddings(len(matrix), mean_resizing=False)
    with torch.no_grad():
        model.get_input_embeddings().weight.copy_(torch.from_numpy(matrix))
    assert model.get_output_embeddings().weight is model.get_input_embeddings().weight
    return model


def logits(model: Any, ids: list[int]) -> np.ndarray:
    with torch.no_grad():
        result: np.ndarray = model(torch.tensor([ids])).logits[0].numpy()
    return result


def test_a_pruned_model_predicts_what_it_predicted(tokenizer: Tokenizer, model: Any) -> None:
    ids = tokenizer.encode(TEXT)
    pruned, change = prune(tokenizer, keep=ids)
    before, after = logits(model, ids), logits(changed(model, change), pruned.encode(TEXT))
    assert after.shape == (len(ids), pruned.max_id + 1)
    assert np.allclose(after, before[:, change.new_to_old], atol=1e-5)


def test_an_extended_model_starts_new_tokens_at_the_mean(tokenizer: Tokenizer, model: Any) -> None:
    larger, change = extend(tokenizer, iter(["narrower narrowest " * 5]), 8)
    ids = tokenizer.encode(TEXT)
    extended = changed(model, change)
    before, after = logits(model, ids), logits(extended, ids)
    assert np.allclose(after[:, : tokenizer.max_id + 1], before, atol=1e-5)
    for id in change.added.tolist():  # the output layer is linear: a mean of rows is a mean of logits
        pieces = tokenizer.encode(larger.token_bytes(id).decode())
        assert np.allclose(after[:, id], before[:, pieces].mean(axis=1), atol=1e-5)
    assert logits(extended, larger.encode("narrowest")).shape[1] == larger.max_id + 1
