"""`VocabChange`: the maps, the pieces that spell new tokens, embeddings that follow, and files of it."""

from pathlib import Path

import numpy as np
import pytest
from training_data import END

import toksmith
from toksmith import PretokenCounts, Tokenizer
from toksmith.surgery import VocabChange, extend, prune

TEXT = "low lower lowest newer newest wider widest " * 3
ARRAYS = ("old_to_new", "new_to_old", "added", "starts", "pieces", "weights", "needed")


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return toksmith.train(iter([TEXT]), 275, special_tokens=[END])


def extended(tokenizer: Tokenizer) -> tuple[Tokenizer, VocabChange]:
    return extend(tokenizer, iter(["narrower narrowest " * 5]), 9, special_tokens=["<|new|>"])


def test_extended_is_trained_with_a_base(tokenizer: Tokenizer) -> None:
    larger, change = extended(tokenizer)
    texts = iter(["narrower narrowest " * 5])
    assert larger == toksmith.train(texts, 275 + 9, base=tokenizer, special_tokens=["<|new|>"])
    assert change.old_to_new.tolist() == list(range(275))
    assert change.new_to_old.tolist() == [*range(275), *[-1] * 9]
    assert change.added.tolist() == list(range(275, 284))
    assert not len(change.needed)
    for id, start, end in zip(change.added, change.starts, change.starts[1:], strict=False):
        token = larger.vocab[id]
        text = token.decode()
        assert change.pieces[start:end].tolist() == tokenizer.encode(text, special=False), token
        assert np.array_equal(change.weights[start:end], np.full(end - start, 1 / (end - start)))
    for n, message in ((-1, "n is at least 0, not -1"), (0, "less than the 276 tokens that are always there")):
        with pytest.raises(ValueError, match=message):
            extend(tokenizer, iter(["x"]), n, special_tokens=["<|new|>"])
    same, none = extend(tokenizer, PretokenCounts({}, special_tokens=[END]), 0)
    assert same == tokenizer
    assert not len(none.added)


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
def test_embeddings_follow(tokenizer: Tokenizer, dtype: str) -> None:
    """The definition, row by row; rows of a matrix beyond the ids, as padding has them, are left out."""
    rng = np.random.default_rng(5)
    matrix = rng.normal(size=(280, 7)).astype(dtype)
    for new, change in (extended(tokenizer), prune(tokenizer, drop=[260, 270, 271])):
        changed = change.apply_to_embedding(matrix)
        assert changed.shape == (new.max_id + 1, 7)
        assert changed.dtype == dtype
        for id, token in new.vocab.items():
            old_id = change.new_to_old[id]
            name = next((name for name, special in new.special_tokens.items() if special == id), None)
            ids = [old_id] if old_id >= 0 else tokenizer.encode(name or token, special=False)
            assert np.allclose(changed[id], matrix[ids].mean(axis=0), rtol=1e-3, atol=1e-3)
        assert np.allclose(change.apply_to_embedding(matrix[:, 0]), changed[:, 0], rtol=1e-3, atol=1e-3)
    with pytest.raises(ValueError, match=r"shape \(274, 7\), and there are 275 old ids"):
        change.apply_to_embedding(matrix[:274])
    with pytest.raises(ValueError, match=r"shape \(280, 7, 1\)"):
        change.apply_to_embedding(matrix[..., None])


def test_a_model_keeps_its_predictions(tokenizer: Tokenizer) -> None:
    """A model in NumPy: a mean of embeddings, a layer, and the same embeddings as output, with a bias."""
    rng = np.random.default_rng(6)
    embedding, bias, layer = rng.normal(size=(275, 8)), rng.normal(size=275), rng.normal(size=(8, 8))

    def predict(embedding: np.ndarray, bias: np.ndarray, ids: list[int]) -> np.ndarray:
        return np.tanh(embedding[ids].mean(axis=0) @ layer) @ embedding.T + bias

    text = "lower" + END
    keep = tokenizer.encode(text)
    pruned, change = prune(tokenizer, keep=keep)
    assert pruned.vocab_size < 270
    before = predict(embedding, bias, keep)
    after = predict(change.apply_to_embedding(embedding), change.apply_to_embedding(bias), pruned.encode(text))
    assert np.allclose(after, before[change.new_to_old])


def test_an_id_without_a_token_has_no_row() -> None:
    sparse = Tokenizer({**Tokenizer().vocab, 300: b"ab"}, [(b"a", b"b")])
    larger, change = extend(sparse, PretokenCounts({b"abc": 2}), 1)
    assert change.new_to_old[256:].tolist() == [*[-1] * 44, 300, -1]
    changed = change.apply_to_embedding(np.ones(301))
    assert changed[256:300].tolist() == [0] * 44
    assert (changed[larger.encode("abc")] == 1).all()


def test_a_saved_change_is_the_same(tokenizer: Tokenizer, tmp_path: Path) -> None:
    for _, change in (extended(tokenizer), prune(tokenizer, keep=[270])):
        change.save(tmp_path / "change.npz")
        first = (tmp_path / "change.npz").read_bytes()
        loaded = VocabChange.load(tmp_path / "change.npz")
        for name in ARRAYS:
            assert np.array_equal(getattr(loaded, name), getattr(change, name))
            assert getattr(loaded, name).dtype == getattr(change, name).dtype
        with np.load(tmp_path / "change.npz") as arrays:
            assert sorted(arrays) == sorted(ARRAYS)
        loaded.save(tmp_path / "change.npz")
        assert (tmp_path / "change.npz").read_bytes() == first


def test_a_damaged_change_is_refused(tokenizer: Tokenizer, tmp_path: Path) -> None:
    path = tmp_path / "change.npz"
    _, change = extended(tokenizer)
    arrays = {name: getattr(change, name) for name in ARRAYS}
    damage: list[dict[str, object]] = [
        {"pieces": arrays["pieces"] + 1000},
        {"old_to_new": arrays["old_to_new"] - 2},
        {"added": arrays["added"].astype(np.int32)},
        {"starts": arrays["starts"][1:]},
        {"starts": arrays["starts"][::-1]},
        {"weights": arrays["weights"][1:]},
        {"needed": arrays["old_to_new"][None]},
    ]
    for values in damage:
        np.savez(path, **{**arrays, **values})  # type: ignore[arg-type]
        with pytest.raises(ValueError, match=r"change\.npz: not a file of VocabChange\.save"):
            VocabChange.load(path)
    change.save(path)
    content = path.read_bytes()
    np.save(tmp_path / "change.npy", arrays["pieces"])
    for bad in (b"", b"text", content[:90], content[: len(content) // 2], (tmp_path / "change.npy").read_bytes()):
        path.write_bytes(bad)
        with pytest.raises(ValueError, match=r"change\.npz: not a file of VocabChange\.save") as failed:
            VocabChange.load(path)
        assert "pickle" not in str(failed.value)
    with pytest.raises(FileNotFoundError):
        VocabChange.load(tmp_path / "none.npz")
