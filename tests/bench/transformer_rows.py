# SPDX-License-Identifier: MIT
"""The rows of the benchmark of transformers: shapes, scores, and required ratios."""
import dataclasses


@dataclasses.dataclass
class Row:
    kind: str  # model, layer or attention
    batch: int
    length: int
    features: int
    heads: int
    kv_heads: int
    required: float  # of the fastest peer's time
    deterministic: float = 0  # likewise of the deterministic way, if it may take longer
    aim: float = 0
    inner: int = 0  # of a Llama layer
    layers: int = 0  # of a model
    vocabulary: int = 0
    memory: float = 0  # of the peer's peak
    quantized: float = 0  # of its time, with matmuls in fp8

    @property
    def each(self):
        return self.features // self.heads

    @property
    def packed(self):
        return (self.heads + 2 * self.kv_heads) * self.each

    @property
    def llama(self):
        return self.heads != self.kv_heads

    def expression(self):
        if self.kind == "attention":
            return f"attention({self.heads}, kv-heads={self.kv_heads})"
        if self.llama:
            return (f"transformer-layer({self.heads}, kv-heads={self.kv_heads}, "
                    f"ffn-features={self.inner}, activation=swiglu, normalization=rms-norm, "
                    "bias=false, rotary=true, rotary-base=500000)")
        if self.kind == "layer":
            return f"transformer-layer({self.heads})"
        return (f"embedding({self.features}, vocabulary={self.vocabulary}) ! "
                f"position-embedding({self.length}) ! block({self.layers}){{ "
                f"transformer-layer({self.heads}) }} ! layer-norm ! "
                f"linear({self.vocabulary}, bias=false, tied=0) ! cross-entropy")

    def shape(self, dtype):
        """The shape of the score's input, as an option of `lig`."""
        if self.kind == "model":
            return f"{self.batch}x{self.length}:int32"
        columns = self.packed if self.kind == "attention" else self.features
        return f"{self.batch}x{self.length}x{columns}:{dtype}"

    def types(self, dtype):
        """Compute and parameter types: a model keeps fp32 master weights, a layer does not."""
        return f"{dtype}:fp32" if self.kind == "model" else f"{dtype}:{dtype}"


ROWS = {
    "gpt2": Row("model", 64, 1024, 768, 12, 12, 0.87, aim=0.80, layers=12, vocabulary=50304,
                memory=0.70),
    "gpt2-layer": Row("layer", 64, 1024, 768, 12, 12, 0.88, quantized=0.80),
    "llama-8x2048": Row("layer", 8, 2048, 4096, 32, 8, 0.95, inner=14336, quantized=0.60),
    "llama-2x8192": Row("layer", 2, 8192, 4096, 32, 8, 0.90, inner=14336),
    "attention-gpt2": Row("attention", 64, 1024, 768, 12, 12, 1.02, deterministic=1.15),
    "attention-8x2048": Row("attention", 8, 2048, 4096, 32, 8, 1.02, deterministic=1.15),
    "attention-2x8192": Row("attention", 2, 8192, 4096, 32, 8, 1.02, deterministic=1.15),
}


def tiny(row):
    """The row in a size that any CPU computes immediately."""
    small = dict(batch=2, length=16, features=48, heads=4, kv_heads=2 if row.llama else 4)
    if row.kind == "model":
        small |= dict(layers=2, vocabulary=97)
    if row.inner:
        small |= dict(inner=80)
    return dataclasses.replace(row, **small)
