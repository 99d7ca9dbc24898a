"""llmc_model.py FOLDER: writes a tiny random model for llm.c, and tokens to train it with, where llm.c's programs look for them.
llmc_model.py compare ONE OTHER: do the outputs of two of its programs have the same losses in their first steps?

The formats are those that train_gpt2_fp32.cu and llmc/dataloader.h read: 256 words of a header, then parameters as f32 (tensor by tensor, of all
layers each), or tokens as u16.
"""
import os
import random
import re
import struct
import sys

LENGTH, VOCABULARY, LAYERS, HEADS, CHANNELS = 64, 256, 2, 2, 128  # kernels take 128 columns at a time
TOKENS = 4 * 64 * 50 + 1


def header(*words):
    return struct.pack("256i", *words, *[0] * (256 - len(words)))


def model():
    """Tensors in the file's order: embeddings; of the layers: norms, attention, norms, feed-forward; the last norm."""
    c, n = CHANNELS, LAYERS
    weights = [("w", VOCABULARY * c), ("w", LENGTH * c), ("1", n * c), ("0", n * c), ("w", n * 3 * c * c), ("0", n * 3 * c), ("w", n * c * c), ("0", n * c),
               ("1", n * c), ("0", n * c), ("w", n * 4 * c * c), ("0", n * 4 * c), ("w", n * 4 * c * c), ("0", n * c), ("1", c), ("0", c)]
    draw = random.Random(1)
    values = [draw.gauss(0, 0.02) if kind == "w" else float(kind) for kind, count in weights for _ in range(count)]
    return header(20240326, 3, LENGTH, VOCABULARY, LAYERS, HEADS, CHANNELS, VOCABULARY) + struct.pack(f"{len(values)}f", *values)


def tokens(seed):
    draw = random.Random(seed)
    values = [(7 * i + draw.randrange(4)) % VOCABULARY for i in range(TOKENS)]
    return header(20240520, 1, TOKENS) + struct.pack(f"{TOKENS}H", *values)


def losses(path):
    with open(path) as f:
        return [float(loss) for loss in re.findall(r"train loss ([\d.]+)", f.read())]


def compare(one, other):
    """Products by tf32 differ from those by f32 in the fifth digit."""
    pairs = list(zip(losses(one), losses(other)))[:10]
    differ = max((abs(a - b) for a, b in pairs), default=1)
    print(f"{len(pairs)} steps differ by {differ:.2g}: " + ("All results match" if len(pairs) >= 5 and differ < 1e-3 else "Mismatch"))


def main():
    if sys.argv[1] == "compare":
        compare(*sys.argv[2:])
        return
    folder = sys.argv[1]
    data = os.path.join(folder, "dev", "data", "tinyshakespeare")
    os.makedirs(data, exist_ok=True)
    for path, contents in {os.path.join(folder, "gpt2_124M.bin"): model(), os.path.join(data, "tiny_shakespeare_train.bin"): tokens(2),
                           os.path.join(data, "tiny_shakespeare_val.bin"): tokens(3)}.items():
        with open(path, "wb") as f:
            f.write(contents)


if __name__ == "__main__":
    main()
