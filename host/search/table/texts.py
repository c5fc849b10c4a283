"""The texts that the vectors are fitted to: what words mean, and what commands do."""

import random
import re
import unicodedata


# Any fixed order of the texts would do; this is the one that the checked-in table was made with.


def wordnet(folder):
    """Definitions with their word, and examples, in a fixed random order."""
    texts = []
    for part in ("verb", "noun", "adj", "adv"):
        with open(folder / f"data.{part}", encoding="latin1") as file:
            texts += [(part == "noun", text) for line in file if not line.startswith("  ") for text in definitions(line)]
    random.Random(1).shuffle(texts)
    texts.sort(key=lambda text: text[0])
    random.Random(2).shuffle(texts)
    return [text for _, text in texts]


def definitions(line):
    head, gloss = line.split(" | ", 1)
    fields = head.split()
    words = [re.sub(r"\(.*", "", fields[4 + 2 * at]).replace("_", " ") for at in range(int(fields[3], 16))]
    # Names of people, places and species.
    if all(word[:1].isupper() for word in words):
        return []
    meaning, *examples = [text.strip().strip('"') for text in gloss.strip().split("; ")]
    meaning = re.sub(r"\(.*?\)", "", meaning).strip()
    return [f"{words[0]}: {meaning}"] + [example for example in examples[:2] if 3 <= len(example.split()) <= 16]


def tldr(folder):
    """What commands do, and what their examples do, in a fixed random order; every third with the command's name before it."""
    texts = []
    for page in sorted(folder.glob("*/[!.]*.md")):
        name = re.sub(r"[-_.]", " ", page.stem)
        with open(page, encoding="utf8") as file:
            texts += [(text, name) for line in file if (text := command(line.strip()))]
    random.Random(3).shuffle(texts)
    return list(dict.fromkeys(text if at % 3 else f"{name}: {text}" for at, (text, name) in enumerate(texts)))


def command(line):
    """What a line of a page says that a command does, if it says that."""
    if not line.startswith(("- ", "> ")):
        return None
    if line.startswith(("> More information", "> See also", "> Note", "> This command is an alias")):
        return None
    text = re.sub(r"[`*\[\]{}]", "", line[2:]).rstrip(":. ")
    return text if 3 <= len(text.split()) <= 25 else None


def words(text):
    """As `../src/tokenize.rs` does it."""
    text = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
    text = re.sub(r"['\u2019]s\b", " ", text)
    text = re.sub(r"['\u2019]", "", text)
    text = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", text)
    text = re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1 \2", text)
    return [word.lower() for word in re.findall(r"[^\W_]+", text)]
