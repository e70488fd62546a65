"""Fine-tune a model on conversations with PyTorch: messages in JSON lines → ids with masks → rows → a training loop.

    python examples/finetune.py chats.jsonl TOKENIZER [STEPS]

TOKENIZER is what `Tokenizer.from_pretrained` takes; it needs a chat template. The model is a small transformer with
random weights: put yours in its place. What matters is what it gets: ids, positions that begin anew in each
document, a mask of attention that does not cross documents, and targets that are -100 wherever the mask says so.
"""

from __future__ import annotations

import sys
import tempfile

import torch
from torch import Tensor, nn
from torch.nn import functional

import toksmith
from toksmith.data.rows import Row

LENGTH, WIDTH = 256, 64


def batch(rows: list[Row]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return ids, positions and documents, shape (rows, LENGTH), and targets: the ids behind, or -100 for no loss."""
    ids, positions, documents = (torch.zeros(len(rows), LENGTH, dtype=torch.long) for _ in range(3))
    targets = torch.full((len(rows), LENGTH), -100)
    for number, row in enumerate(rows):
        count = len(row.ids)
        ids[number, :count] = torch.from_numpy(row.ids)
        positions[number, :count] = torch.from_numpy(row.positions)
        lengths = torch.from_numpy(row.cu_seqlens).diff()
        documents[number, :count] = torch.repeat_interleave(torch.arange(1, len(lengths) + 1), lengths)
        learned = torch.from_numpy(row.mask & (row.positions > 0))  # the first id of a document follows nothing
        targets[number, : count - 1] = torch.where(learned, ids[number, :count], -100)[1:]
    return ids, positions, documents, targets


class Model(nn.Module):
    """A transformer of two layers."""

    def __init__(self, vocab_size: int) -> None:
        super().__init__()
        self.tokens, self.places = nn.Embedding(vocab_size, WIDTH), nn.Embedding(LENGTH, WIDTH)
        layer = nn.TransformerEncoderLayer(WIDTH, nhead=4, dim_feedforward=4 * WIDTH, dropout=0.0, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, num_layers=2, enable_nested_tensor=False)

    def forward(self, ids: Tensor, positions: Tensor, documents: Tensor) -> Tensor:
        """Return logits; an id attends to ids before it in its own document."""
        is_other = documents[:, :, None] != documents[:, None, :]
        is_later = torch.ones(LENGTH, LENGTH, dtype=torch.bool).triu(1)
        hidden = self.tokens(ids) + self.places(positions)
        hidden = self.layers(hidden, mask=(is_other | is_later).repeat_interleave(4, 0))
        return hidden @ self.tokens.weight.T


def main(chats: str, name: str, steps: int = 50) -> float:
    """Train, and return the loss of the last step."""
    tokenizer = toksmith.Tokenizer.from_pretrained(name)
    with tempfile.TemporaryDirectory() as folder:
        manifest = toksmith.tokenize(chats, tokenizer, folder, messages=True)
        print(f"{manifest['totals']['documents']} conversations, {manifest['totals']['tokens']} ids")
        rows = toksmith.data.open(folder).rows(LENGTH, seed=1)
        loader = torch.utils.data.DataLoader(rows, batch_size=8, collate_fn=batch)
        torch.manual_seed(0)
        model = Model(tokenizer.max_id + 1)
        optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
        step, loss = 0, torch.zeros(())
        while step < steps:
            for *inputs, targets in loader:
                loss = functional.cross_entropy(model(*inputs).flatten(0, 1), targets.flatten())
                loss.backward()
                optimizer.step()
                optimizer.zero_grad()
                step += 1
                print(f"step {step}: loss {loss.item():.3f}")
    return loss.item()


if __name__ == "__main__":
    main(*sys.argv[1:3], *map(int, sys.argv[3:]))
