"""The forward pass of all-MiniLM-L6-v2 in numpy: six layers of BERT, then the mean over all tokens."""

import numpy as np
from safetensors.numpy import load_file
from tokenizers import Tokenizer

HEADS, LAYERS, TOKENS = 12, 6, 32


class Model:
    def __init__(self, folder):
        weights = load_file(folder / "model.safetensors")
        self.weights = {name.removeprefix("bert."): value for name, value in weights.items()}
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(TOKENS)

    def linear(self, x, name):
        # Two dimensions, because numpy multiplies three as many small matrices.
        flat = x.reshape(-1, x.shape[-1]) @ self.weights[name + ".weight"].T + self.weights[name + ".bias"]
        return flat.reshape(*x.shape[:-1], -1)

    def norm(self, x, name):
        x = x - x.mean(-1, keepdims=True)
        x = x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-12)
        return x * self.weights[name + ".weight"] + self.weights[name + ".bias"]

    def attend(self, x, layer):
        batch, length, width = x.shape
        parts = (self.linear(x, f"{layer}attention.self.{part}") for part in ("query", "key", "value"))
        query, key, value = (p.reshape(batch, length, HEADS, -1).transpose(0, 2, 1, 3) for p in parts)
        scores = query @ key.transpose(0, 1, 3, 2) / np.float32(np.sqrt(width / HEADS))
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        scores /= scores.sum(-1, keepdims=True)
        joined = (scores @ value).transpose(0, 2, 1, 3).reshape(batch, length, width)
        return self.linear(joined, layer + "attention.output.dense")

    def forward(self, ids):
        w = self.weights
        x = w["embeddings.word_embeddings.weight"][ids]
        x = x + w["embeddings.position_embeddings.weight"][: ids.shape[1]] + w["embeddings.token_type_embeddings.weight"][0]
        x = self.norm(x, "embeddings.LayerNorm")
        for number in range(LAYERS):
            layer = f"encoder.layer.{number}."
            x = self.norm(x + self.attend(x, layer), layer + "attention.output.LayerNorm")
            inner = gelu(self.linear(x, layer + "intermediate.dense"))
            x = self.norm(x + self.linear(inner, layer + "output.dense"), layer + "output.LayerNorm")
        mean = x.mean(1)
        return mean / np.linalg.norm(mean, axis=1, keepdims=True)

    def encode(self, texts):
        """A unit vector to each text. Texts of one length go together, so that nothing has to be padded."""
        tokens = [encoding.ids for encoding in self.tokenizer.encode_batch(texts)]
        by_length = {}
        for at, ids in enumerate(tokens):
            by_length.setdefault(len(ids), []).append(at)
        vectors = np.zeros((len(texts), self.weights["embeddings.LayerNorm.weight"].shape[0]), np.float32)
        for length, places in by_length.items():
            step = max(8, 1500 // length)
            for start in range(0, len(places), step):
                chosen = places[start : start + step]
                vectors[chosen] = self.forward(np.array([tokens[at] for at in chosen]))
        return vectors


def gelu(x):
    """x * P(X < x). numpy has no error function; this one (Abramowitz and Stegun 7.1.26) is off by less than 2e-7."""
    z = np.abs(x) * np.float32(np.sqrt(0.5))
    t = 1 / (1 + np.float32(0.3275911) * z)
    series = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t
    return (0.5 * x * (1 + np.sign(x) * (1 - series * np.exp(-z * z)))).astype(np.float32)
