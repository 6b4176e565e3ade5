# SPDX-License-Identifier: MIT
"""Reads and writes safetensors files with only PyTorch."""
import json
import struct

NAMES = {"F32": "float32", "F16": "float16", "BF16": "bfloat16", "I32": "int32"}


def save(torch, path, tensors):
    kinds = {getattr(torch, name): kind for kind, name in NAMES.items()}
    header, bodies, at = {}, [], 0
    for name, tensor in tensors.items():
        flat = tensor.detach().to("cpu").contiguous()
        size = flat.numel() * flat.element_size()
        header[name] = {"dtype": kinds[flat.dtype], "shape": list(flat.shape),
                        "data_offsets": [at, at + size]}
        bodies.append(flat.reshape(-1).view(torch.uint8))
        at += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for body in bodies:
            file.write(memoryview(body.numpy()))


def load(torch, path):
    with open(path, "rb") as file:
        size, = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(size))
        body = bytearray(file.read())
    tensors = {}
    for name, entry in header.items():
        if name != "__metadata__":
            begin, end = entry["data_offsets"]
            dtype = getattr(torch, NAMES[entry["dtype"]])
            tensors[name] = torch.frombuffer(body, dtype=torch.uint8, count=end - begin,
                                             offset=begin).clone().view(dtype).view(entry["shape"])
    return tensors
