# SPDX-License-Identifier: MIT
"""PyTorch's side of the benchmark of transformers: several variants of each row, each with
torch.compile and replayed as one CUDA graph if the device supports that."""
import contextlib
import time

import torch
from torch.nn import attention, functional

import transformer_models as models

BACKENDS = {"cudnn": attention.SDPBackend.CUDNN_ATTENTION,
            "flash": attention.SDPBackend.FLASH_ATTENTION}


def ways(row, device):
    """The variants of a row, the likely fastest first: the attention backend, which PyTorch chooses
    itself in `default`, and for a model also how it keeps 16-bit weights: `masters` has bf16
    weights with fp32 master weights, `autocast` fp32 weights that are converted in each step."""
    if device == "cpu":
        return ["eager"]
    if row.kind == "model":
        return ["masters-cudnn", "masters-default", "autocast-cudnn", "masters-flash"]
    return ["cudnn", "default", "flash"]


class Peer:
    """One variant of one row. `passes` runs forward and backward, `step` a whole training step."""

    def __init__(self, row, way, device, dtype, compiled=True, record=None):
        self.row, self.way, self.device, self.dtype = row, way, device, dtype
        self.backend = BACKENDS.get(way.split("-")[-1])
        self.autocast = way.startswith("autocast")
        torch.manual_seed(0)
        torch._dynamo.reset()  # else later models meet the limit of recompilations
        self.before = self.allocated()
        with self.chosen():
            self.make_data()
            self.make_model()
            compiled = compiled and row.kind != "attention"  # one call has nothing to gain from it
            self.call = (torch.compile(self.function, dynamic=False) if compiled
                         else self.function)
            self.once = self.step
            if row.kind == "attention":
                self.lay_out_gradient()
            for _ in range(3):
                self.step()
        self.wait()
        self.peak = self.measure_peak()
        self.plain = self.run(3)
        if record:  # before another peer makes torch.compile forget this one
            record(self)
        self.note = "captured"
        if device != "cpu":
            self.capture()

    # --- The computation ---

    def make_data(self):
        row, device = self.row, self.device
        if row.kind == "model":
            self.x, self.dy = (torch.randint(0, row.vocabulary, (row.batch, row.length), device=device)
                               for _ in range(2))  # tokens and targets
            return
        width = row.packed if row.kind == "attention" else row.features
        self.x = torch.rand(row.batch, row.length, width, device=device) * 2 - 1
        self.dy = torch.rand(row.batch, row.length, row.features, device=device) * 2 - 1
        self.x, self.dy = self.x.to(self.dtype), self.dy.to(self.dtype)
        self.x.requires_grad_()

    def make_model(self):
        row = self.row
        self.model = self.optimizer = None
        self.expand = row.llama and not self.takes_groups()
        if row.kind == "attention":
            # Separate queries, keys and values, each contiguous as this backend may require.
            self.parts = [part.detach().clone().requires_grad_() for part in self.split(self.x)]
            self.function = lambda: models.attend(*self.parts, self.expand)
            return
        if row.kind == "model":
            self.model = models.Gpt2(row.vocabulary, row.length, row.features, row.layers, row.heads)
        elif row.llama:
            self.model = models.LlamaLayer(row.features, row.heads, row.kv_heads, row.inner,
                                           row.length, 500000.0, self.expand)
        else:
            self.model = models.Gpt2Layer(row.features, row.heads)
        self.model.to(self.device)
        self.parameters = list(self.model.parameters())
        if row.kind == "model" and not self.autocast:
            self.masters = [one.detach().clone().requires_grad_() for one in self.parameters]
            for one in self.masters:
                one.grad = torch.zeros_like(one)
        if not self.autocast:
            self.model.to(self.dtype)
        if row.kind == "model":
            trained = self.parameters if self.autocast else self.masters
            self.optimizer = torch.optim.AdamW(
                [{"params": [p for p in trained if p.dim() > 1], "weight_decay": 0.01},
                 {"params": [p for p in trained if p.dim() < 2], "weight_decay": 0}],
                lr=1e-4, betas=(0.9, 0.95), eps=1e-8, fused=True, capturable=self.device != "cpu")
        self.function = self.forward

    def forward(self, *inputs):
        if not self.autocast:
            return self.model(*inputs)
        with torch.autocast(torch.device(self.device).type, torch.bfloat16, cache_enabled=False):
            return self.model(*inputs)

    def split(self, x):
        row = self.row
        parts = x.view(row.batch, row.length, -1, row.each).split(
            (row.heads, row.kv_heads, row.kv_heads), dim=2)
        return [part.transpose(1, 2) for part in parts]

    def lay_out_gradient(self):
        """A gradient whose strides differ from the output's would be copied in each pass."""
        row = self.row
        dy = self.dy.view(row.batch, row.length, row.heads, row.each).transpose(1, 2)
        self.gradient = torch.empty_like(self.call()).copy_(dy).detach()

    def takes_groups(self):
        """Whether the backend supports grouped-query attention, in both passes."""
        try:
            q, k = (torch.randn(1, heads, 128, self.row.each, device=self.device, dtype=self.dtype,
                                requires_grad=True) for heads in (self.row.heads, self.row.kv_heads))
            functional.scaled_dot_product_attention(q, k, k, is_causal=True,
                                                    enable_gqa=True).sum().backward()
            return True
        except RuntimeError:
            return False

    # --- Running it ---

    def chosen(self):
        return attention.sdpa_kernel(self.backend) if self.backend else contextlib.nullcontext()

    def passes(self):
        """Runs forward and backward, and returns the output."""
        if self.row.kind == "attention":
            y = self.call()
            self.gradients = torch.autograd.grad(y, self.parts, self.gradient)
            return y
        for parameter in self.parameters:
            parameter.grad = None
        if self.row.kind == "model":
            y = self.call(self.x, self.dy)
            y.backward()
            return y
        self.x.grad = None
        y = self.call(self.x)
        y.backward(self.dy)
        return y

    def step(self):
        self.passes()
        if not self.optimizer:
            return
        if self.autocast:
            torch.nn.utils.clip_grad_norm_(self.parameters, 1.0)
            self.optimizer.step()
            return
        with torch.no_grad():
            torch._foreach_copy_([one.grad for one in self.masters],
                                 [one.grad for one in self.parameters])
        torch.nn.utils.clip_grad_norm_(self.masters, 1.0)
        self.optimizer.step()
        with torch.no_grad():
            torch._foreach_copy_(self.parameters, self.masters)

    def capture(self):
        """Replays the step as one graph from now on; if that fails, it stays uncaptured."""
        try:
            stream = torch.cuda.Stream()
            stream.wait_stream(torch.cuda.current_stream())
            with self.chosen(), torch.cuda.stream(stream):
                for _ in range(2):
                    self.step()
            torch.cuda.current_stream().wait_stream(stream)
            torch.cuda.synchronize()
            torch.cuda.empty_cache()
            graph = torch.cuda.CUDAGraph()
            with self.chosen(), torch.cuda.graph(graph):
                self.step()
            self.once = graph.replay
            self.run(1)
        except RuntimeError as error:
            self.note = f"not captured: {str(error).splitlines()[0][:150]}"
            self.once = self.step

    def wait(self):
        if self.device != "cpu":
            torch.cuda.synchronize()

    def run(self, count):
        """Returns the microseconds per step of several consecutive steps."""
        with self.chosen():
            if self.device == "cpu":
                begin = time.perf_counter()
                for _ in range(count):
                    self.once()
                return (time.perf_counter() - begin) * 1e6 / count
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
            for _ in range(count):
                self.once()
            end.record()
            end.synchronize()
            return begin.elapsed_time(end) * 1e3 / count

    # --- Memory, weights and results ---

    def allocated(self):
        return torch.cuda.memory_allocated() if self.device != "cpu" else 0

    def measure_peak(self):
        """Returns the peak of allocated bytes in a step, including the model and its optimizer
        state."""
        if self.device == "cpu":
            return 0
        torch.cuda.reset_peak_memory_stats()
        with self.chosen():
            self.step()
        self.wait()
        return torch.cuda.max_memory_allocated() - self.before

    def weights(self):
        return models.paths(self.model) if self.model else {}

    def inputs(self):
        if self.row.kind == "model":
            return {"input": self.x.int(), "extra.0": self.dy.int()}
        return {"input": self.x, "gradient": self.dy}

    def values(self):
        """Runs both passes and returns the same tensors that a score's program writes."""
        row = self.row
        with self.chosen():
            y = self.passes()
        if row.kind == "attention":
            parts = [part.transpose(1, 2) for part in self.gradients]
            return {"output": y.transpose(1, 2).reshape(row.batch, row.length, -1),
                    "grad.input": torch.cat(parts, dim=2).reshape(row.batch, row.length, -1)}
        result = {"output": y}
        if row.kind == "layer":
            result["grad.input"] = self.x.grad
        return result | {f"grad.{path}": one.grad for path, one in self.weights().items()}

    def kernels(self, count=12):
        """The slowest kernels in a step without the graph, with microseconds."""
        from torch import profiler
        with self.chosen(), profiler.profile(activities=[profiler.ProfilerActivity.CUDA]) as profile:
            self.step()
            self.wait()
        rows = sorted(profile.key_averages(), key=lambda one: -one.self_device_time_total)
        return [[one.key[:100], one.count, one.self_device_time_total] for one in rows[:count]]
