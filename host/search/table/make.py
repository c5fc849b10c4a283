"""Makes words.bin: see README.md."""

import argparse
import collections
import pathlib
import struct

import numpy as np

import texts as sources
from model import Model

MAGIC, VERSION = b"ASWT", 1
DIMENSIONS = 256
# How many texts of each kind: more help a little, and the model needs some milliseconds for each.
DEFINITIONS, COMMANDS = 45_000, 24_000
# How often a word that is no piece must occur in the texts to get an entry of its own.
OWN_ENTRY = 6
# A word that makes up this part of all words weighs one half.
HALF_WEIGHT = 1e-3
# How strongly a vector is held to that of its piece alone.
RIDGE = 0.1


def vocabulary(folder, counts):
    """Pieces of the model's vocabulary that can occur in English, and whole words that it would take apart."""
    pieces = (folder / "vocab.txt").read_text("utf8").splitlines()
    is_kept = lambda piece: piece.removeprefix("##").isalnum() and piece.isascii() and not piece.startswith("[")
    kept = [piece for piece in pieces if is_kept(piece)]
    known = set(kept)
    own = [word for word, count in counts.items() if count >= OWN_ENTRY and word.isascii() and word.isalpha() and word not in known]
    return sorted(known.union(own), key=lambda entry: entry.encode())


def split(word, places):
    """A word's entries, longest first, as `../src/table.rs` takes them."""
    entries, start = [], 0
    while start < len(word):
        for end in range(len(word), start, -1):
            entry = ("##" if start else "") + word[start:end]
            if entry in places:
                entries.append(places[entry])
                break
        else:
            break
        start = end
    return entries


def fit(rows, targets, start, weights, rounds=12, chunk=4000):
    """Vectors whose weighted mean over a text's entries is the model's vector of the text: least squares with a ridge towards
    `start`, by conjugate gradients."""
    parts = []
    for first in range(0, len(rows), chunk):
        some = rows[first : first + chunk]
        flat, lengths = np.concatenate(some), np.array([len(row) for row in some])
        starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
        share = weights[flat] / np.repeat(np.add.reduceat(weights[flat], starts), lengths)
        order = np.argsort(flat, kind="stable")
        used, edges = np.unique(flat[order], return_index=True)
        owner = np.repeat(np.arange(len(some)), lengths)[order]
        parts.append((targets[first : first + chunk], flat, starts, share[:, None], owner, share[order][:, None], used, edges))

    def product(vectors, is_residual=False):
        total = np.zeros_like(start)
        for target, flat, starts, share, owner, ordered, used, edges in parts:
            means = np.add.reduceat(vectors[flat] * share, starts, axis=0)
            means = target - means if is_residual else means
            total[used] += np.add.reduceat(means[owner] * ordered, edges, axis=0)
        return total

    residual = product(start, is_residual=True)
    moved, direction, size = np.zeros_like(start), residual.copy(), float((residual**2).sum())
    for _ in range(rounds):
        image = product(direction) + RIDGE * direction
        step = size / float((direction * image).sum())
        moved += step * direction
        residual -= step * image
        before, size = size, float((residual**2).sum())
        direction = residual + (size / before) * direction
    return start + moved


def unit(vectors):
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)


def packed(vectors):
    """Two dimensions to a byte, from -7 to 7, each vector with a scale of its own that is not kept: only directions count."""
    scaled = np.round(vectors / np.maximum(np.abs(vectors).max(1, keepdims=True), 1e-9) * 7).astype(np.int8)
    return ((scaled[:, 0::2] + 8) | ((scaled[:, 1::2] + 8) << 4).astype(np.uint8)).astype(np.uint8)


def encoded(model, texts, cache):
    """The model's vectors, kept between runs: this takes almost all of the time."""
    known = {}
    if cache and cache.exists():
        with np.load(cache) as file:
            known = dict(zip(file["texts"].tolist(), file["vectors"]))
    missing = [text for text in texts if text not in known]
    for first in range(0, len(missing), 5000):
        some = missing[first : first + 5000]
        known.update(zip(some, model.encode(some).astype(np.float16)))
        print(f"encoded {first + len(some)} of {len(missing)}", flush=True)
    if cache and missing:
        np.savez(cache, texts=np.array(list(known)), vectors=np.array(list(known.values())))
    return np.array([known[text] for text in texts], np.float32)


def write(path, entries, weights, vectors):
    text = "".join(entry + "\n" for entry in entries).encode()
    with open(path, "wb") as file:
        file.write(MAGIC + struct.pack("<4I", VERSION, len(entries), vectors.shape[1], len(text)))
        file.write(text)
        file.write(np.round(weights * 255).astype(np.uint8).tobytes())
        file.write(packed(vectors).tobytes())


def main():
    arguments = argparse.ArgumentParser()
    for name in ("model", "wordnet", "tldr"):
        arguments.add_argument(f"--{name}", type=pathlib.Path, required=True)
    arguments.add_argument("--out", type=pathlib.Path, default=pathlib.Path(__file__).with_name("words.bin"))
    arguments.add_argument("--cache", type=pathlib.Path)
    given = arguments.parse_args()

    model = Model(given.model)
    groups = [sources.wordnet(given.wordnet)[:DEFINITIONS], sources.tldr(given.tldr)[:COMMANDS]]
    counts = collections.Counter(word for group in groups for text in group for word in sources.words(text))
    entries = vocabulary(given.model, counts)
    places = {entry: at for at, entry in enumerate(entries)}

    rows, targets = [], []
    for group in groups:
        vectors = encoded(model, group, given.cache)
        # Each kind of text about its own mean: what all of them share says nothing.
        vectors -= vectors.mean(0)
        for text, vector in zip(group, vectors):
            row = [entry for word in sources.words(text) for entry in split(word, places)]
            if row:
                rows.append(np.array(row))
                targets.append(vector)
    targets = np.array(targets)
    frequency = np.bincount(np.concatenate(rows), minlength=len(entries)).astype(np.float32)
    weights = HALF_WEIGHT / (HALF_WEIGHT + frequency / frequency.sum())

    alone = encoded(model, [entry.removeprefix("##") for entry in entries], given.cache)
    _, _, axes = np.linalg.svd(targets[::4], full_matrices=False)
    axes = axes[: DIMENSIONS].T
    start = unit(alone - alone.mean(0)) @ axes / 2
    vectors = fit(rows, targets @ axes, start, weights)
    write(given.out, entries, weights, vectors)
    print(f"{len(entries)} entries, {len(rows)} texts, {given.out.stat().st_size} bytes")


if __name__ == "__main__":
    main()
